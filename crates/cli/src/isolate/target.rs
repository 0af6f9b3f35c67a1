//! Somebody else's sandbox: runs the language-level probes and hands back what each printed and how it ended.

use std::path::{Path, PathBuf};

use anyhow::Context;
use veriplay_corpus::probes::judge::{self, ExternalExit, ExternalRun, Finding};
use veriplay_corpus::probes::run::fill_placeholders;
use veriplay_corpus::probes::{Probe, ProbeProgram, RunOrder};

use super::bait::Bait;

/// MiB a run may use, where the target can limit it.
pub(crate) const MEMORY_MIB: u64 = 256;

/// One run on a target.
pub(crate) struct ProbeRequest<'a> {
    /// Source text.
    pub(crate) program: &'a str,
    /// What it reads.
    pub(crate) stdin: &'a str,
    /// The name its file has.
    pub(crate) name: &'a str,
    /// Seconds it is allowed.
    pub(crate) seconds: u64,
    /// A directory the runs of one probe have in common: what a machine's temporary directory is to all its programs.
    pub(crate) common: &'a Path,
}

/// Something that runs a Python program.
pub(crate) trait Target: Sync {
    /// Runs it to its end.
    fn run(&self, asked: &ProbeRequest<'_>) -> ExternalRun;
}

/// Tries one language-level probe there.
pub(crate) fn attempt(target: &dyn Target, bait: &Bait, probe: &Probe) -> Finding {
    match runs(target, bait, probe) {
        Ok(texts) => judge::judge_external_runs(probe, &texts),
        Err(error) => Finding::new(judge::Containment::Unclear, &format!("{error:#}")),
    }
}

fn runs(target: &dyn Target, bait: &Bait, probe: &Probe) -> anyhow::Result<Vec<ExternalRun>> {
    let ProbeProgram::Python(programs) = &probe.program else {
        anyhow::bail!("a module runs in our own sandbox alone")
    };
    let common = tempfile::Builder::new().prefix("veriplay-isolate-").tempdir().context("cannot make a directory")?;
    let programs: Vec<String> =
        programs.iter().map(|program| fill_placeholders(program, &bait.port.to_string(), &bait.file())).collect();
    let run = |program: &String| {
        // Nothing but processor time is limited to so little: others wait for one another.
        let seconds = if probe.class == "cpu" { 1 } else { 10 };
        let (stdin, name) = (probe.stdin.as_str(), probe.name.as_str());
        target.run(&ProbeRequest { program, stdin, name, seconds, common: common.path() })
    };
    Ok(match probe.order {
        RunOrder::Sequential => programs.iter().map(run).collect(),
        RunOrder::Repeated(count) => (0..count).map(|_| run(&programs[0])).collect(),
        RunOrder::Concurrent(count) => std::thread::scope(|scope| {
            let threads: Vec<_> = (0..count).map(|_| scope.spawn(|| run(&programs[0]))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panicked())).collect()
        }),
    })
}

fn panicked() -> ExternalRun {
    ExternalRun { stdout: String::new(), ended: ExternalExit::Failed("the thread that ran it panicked".to_owned()) }
}

/// A directory of its own for one run, inside `common`.
pub(crate) fn own_directory(common: &Path) -> std::io::Result<PathBuf> {
    Ok(tempfile::Builder::new().prefix("run-").tempdir_in(common)?.keep())
}

//! Another sandbox as a target: it runs the language-level probes and returns what each printed and how it ended.

use std::path::{Path, PathBuf};

use anyhow::Context;
use veriplay_corpus::probes::judge::{self, ExternalExit, ExternalRun, Finding};
use veriplay_corpus::probes::run::fill_placeholders;
use veriplay_corpus::probes::{Probe, ProbeProgram, RunOrder};

use super::bait::Bait;

/// Memory limit of a run in MiB, where the target can set one.
pub(crate) const MEMORY_MIB: u64 = 256;

/// One run on a target.
pub(crate) struct ProbeRequest<'a> {
    /// Source text.
    pub(crate) program: &'a str,
    /// Its standard input.
    pub(crate) stdin: &'a str,
    /// Name of its file.
    pub(crate) name: &'a str,
    /// Its time limit in seconds.
    pub(crate) seconds: u64,
    /// A directory that all runs of one probe share, as programs share a machine's temporary directory.
    pub(crate) common: &'a Path,
}

/// Something that runs a Python program.
pub(crate) trait Target: Sync {
    /// Runs a program to its end.
    fn run(&self, request: &ProbeRequest<'_>) -> ExternalRun;
}

/// Runs one language-level probe on a target.
pub(crate) fn attempt(target: &dyn Target, bait: &Bait, probe: &Probe) -> Finding {
    match run_programs(target, bait, probe) {
        Ok(texts) => judge::judge_external_runs(probe, &texts),
        Err(error) => Finding::new(judge::Containment::Unclear, &format!("{error:#}")),
    }
}

fn run_programs(target: &dyn Target, bait: &Bait, probe: &Probe) -> anyhow::Result<Vec<ExternalRun>> {
    let ProbeProgram::Python(programs) = &probe.program else {
        anyhow::bail!("a WebAssembly module runs only in Veriplay's own sandbox")
    };
    let common = tempfile::Builder::new().prefix("veriplay-isolate-").tempdir().context("cannot make a directory")?;
    let programs: Vec<String> =
        programs.iter().map(|program| fill_placeholders(program, &bait.port.to_string(), &bait.file())).collect();
    let run = |program: &String| {
        // Only probes of processor time get so little: others wait for one another.
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

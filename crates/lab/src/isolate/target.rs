//! Another sandbox as a target: it runs the language-level probes and returns what each printed and how it ended.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::leftovers::TemporaryFolder;
use veriplay_corpus::probes::judge::{self, ExternalExit, ExternalRun, Finding};
use veriplay_corpus::probes::run::fill_placeholders;
use veriplay_corpus::probes::{Probe, ProbeProgram, RunOrder};

use super::bait::Bait;

/// Memory limit of a run in MiB, where the target can set one.
pub(crate) const MEMORY_MIB: u64 = 256;
/// The class of probes that compute for too long.
const CPU: &str = "cpu";
/// How the names of temporary directories begin.
const FOLDER: &str = "veriplay-isolate-";
/// The most characters of a stream that an error shows.
const SHOWN: usize = 500;

/// One run on a target.
pub struct ProbeRequest<'a> {
    /// Source text.
    pub program: &'a str,
    /// Its standard input.
    pub stdin: &'a str,
    /// Name of its file.
    pub name: &'a str,
    /// Its time limit in seconds.
    pub seconds: u64,
    /// A directory that all runs of one probe share, as programs share a machine's temporary directory.
    pub common: &'a Path,
    /// Whether the end of its standard error is wanted.
    pub keeps_stderr: bool,
}

/// Something that runs a Python program.
pub trait Target: Sync {
    /// Runs a program to its end.
    fn run(&self, request: &ProbeRequest<'_>) -> ExternalRun;
}

/// Runs one language-level probe on a target.
pub fn attempt(target: &dyn Target, bait: &Bait, probe: &Probe) -> Finding {
    let started = Instant::now();
    match run_programs(target, bait, probe) {
        Ok(texts) => believe_clock(judge::judge_external_runs(probe, &texts), probe, started.elapsed()),
        Err(error) => Finding::new(judge::Containment::Unclear, &format!("{error:#}")),
    }
}

/// Seconds of processor time that a probe of class `cpu` is allowed, and others.
const fn allowed_seconds(is_of_cpu: bool) -> u64 {
    if is_of_cpu { 1 } else { 10 }
}

/// A probe of processor time goes by the target's own clock. What says that it worked for longer than the run took has shown nothing.
fn believe_clock(finding: Finding, probe: &Probe, took: Duration) -> Finding {
    let is_of_cpu = probe.class == CPU;
    if !is_of_cpu || finding.verdict != judge::Containment::Escaped || took.as_secs() >= allowed_seconds(true) {
        return finding;
    }
    let why = format!(
        "it says that it worked for more than {} s, and the run took {:.1} s: the target's clock of processor time is not the machine's",
        allowed_seconds(true),
        took.as_secs_f64()
    );
    Finding::new(judge::Containment::Unclear, &why)
}

fn run_programs(target: &dyn Target, bait: &Bait, probe: &Probe) -> anyhow::Result<Vec<ExternalRun>> {
    let ProbeProgram::Programs(_, programs) = &probe.program else {
        anyhow::bail!("a WebAssembly module runs only in Veriplay's own sandbox")
    };
    let common = TemporaryFolder::new(FOLDER).context("cannot make a directory")?;
    let programs: Vec<String> =
        programs.iter().map(|program| fill_placeholders(program, &bait.port.to_string(), &bait.file())).collect();
    let run = |program: &String| {
        // Only probes of processor time get so little: others wait for one another.
        let seconds = allowed_seconds(probe.class == CPU);
        let (stdin, name) = (probe.stdin.as_str(), probe.name.as_str());
        target.run(&ProbeRequest { program, stdin, name, seconds, common: common.path(), keeps_stderr: false })
    };
    Ok(match probe.order {
        RunOrder::Sequential => programs.iter().map(run).collect(),
        RunOrder::Repeated(count) => (0..count).map(|_| run(&programs[0])).collect(),
        RunOrder::Concurrent(count) => std::thread::scope(|scope| {
            let threads: Vec<_> = (0..count).map(|_| scope.spawn(|| run(&programs[0]))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| failed("the thread that ran it panicked".to_owned())))
                .collect()
        }),
    })
}

pub(crate) fn failed(why: String) -> ExternalRun {
    ExternalRun { stdout: String::new(), stderr: String::new(), ended: ExternalExit::Failed(why) }
}

/// Whether the target runs a plain program at all: of one that does not, no probe would say anything.
pub fn check_plain_program(target: &dyn Target, name: &str) -> Result<(), Failure> {
    const PROGRAM: &str = "print(input(), 6 * 7)";
    let common = TemporaryFolder::new(FOLDER).context("cannot make a directory").or_fail(ExitCode::Host)?;
    let request = ProbeRequest {
        program: PROGRAM,
        stdin: "six\n",
        name: "plain",
        seconds: 10,
        common: common.path(),
        keeps_stderr: true,
    };
    let run = target.run(&request);
    if run.ended == ExternalExit::Exited(0) && run.stdout.trim() == "six 42" {
        return Ok(());
    }
    let ended = match &run.ended {
        ExternalExit::Exited(code) => format!("it exited with {code}"),
        ExternalExit::Stopped(how) => format!("it was stopped: {how}"),
        ExternalExit::StillRunning(seconds) => format!("it was still running after {seconds} s"),
        ExternalExit::Failed(why) => why.clone(),
    };
    let mut what =
        format!("--target `{name}` does not run a plain program (`{PROGRAM}` with `six` as its input): {ended}");
    for (stream, text) in [("printed", &run.stdout), ("wrote to standard error", &run.stderr)] {
        let text = text.trim();
        if !text.is_empty() {
            let end: String = text.chars().skip(text.chars().count().saturating_sub(SHOWN)).collect();
            what += &format!("; it {stream}: {end}");
        }
    }
    Err(Failure::message(ExitCode::Input, what).hint("try the target by hand first; nothing was attacked"))
}

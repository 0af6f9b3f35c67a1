//! Resident memory of an instance: what the next one adds, idle and at work.
//!
//! Measured as Pss (`/proc/<pid>/smaps_rollup`): pages that several mappings share, such as the image's own, count once.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use veriplay_sandbox::{Image, Sandbox, SandboxOptions};

use super::machine::Python;
use super::veriplay::run_script;

/// Instances whose growth is measured.
const INSTANCES: usize = 8;
/// Bytes the busy program holds.
const HELD_BYTES: u64 = 4 << 20;

/// Resident bytes by way.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Memory {
    /// Bytes the program of a busy instance holds; they are part of `busy`.
    held_bytes: u64,
    /// What one more instance adds to this process; `null` where the kernel does not say.
    veriplay: Option<Resident>,
    /// One `python3` process.
    subprocess: Option<Resident>,
}

/// Resident bytes of one instance.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Resident {
    /// Waiting for a job, after one.
    pub(crate) idle_bytes: u64,
    /// While its program holds `held_bytes`.
    pub(crate) busy_bytes: u64,
}

impl Memory {
    /// Measures both. Run it while nothing else of this process is at work.
    pub(crate) fn measure(image: &Arc<Image>, python: Option<&Python>) -> Self {
        Self {
            held_bytes: HELD_BYTES,
            veriplay: veriplay(image),
            subprocess: python.and_then(|python| {
                Some(Resident { idle_bytes: process(python, "")?, busy_bytes: process(python, &held("b"))? })
            }),
        }
    }

    /// By way, in words.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let line = |what: &str, resident: Option<Resident>| match resident {
            Some(Resident { idle_bytes, busy_bytes }) => format!(
                "{what}: {:.1} MiB idle, {:.1} MiB while its program holds {:.0} MiB",
                mib(idle_bytes),
                mib(busy_bytes),
                mib(self.held_bytes)
            ),
            None => format!("{what}: unknown"),
        };
        vec![line("one more veriplay instance", self.veriplay), line("one python3 process", self.subprocess)]
    }
}

fn held(name: &str) -> String {
    format!("{name} = bytearray(b'\\x01') * {HELD_BYTES}\n")
}

/// Sandboxes of one instance each, so that all of them exist whatever the scheduler does.
fn veriplay(image: &Arc<Image>) -> Option<Resident> {
    let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
    let sandbox = || Arc::new(Sandbox::new(Arc::clone(image), options));
    let used = |sandbox: &Arc<Sandbox>| run(sandbox, "pass\n".to_owned());
    // The first instance brings in what all share.
    let first = sandbox();
    used(&first)?;
    let before = pss("self")?;
    let sandboxes: Vec<Arc<Sandbox>> = (0..INSTANCES).map(|_| sandbox()).collect();
    sandboxes.iter().try_for_each(used)?;
    let idle = pss("self")?;
    let busy = peak_while(sandboxes.iter().map(|sandbox| {
        let sandbox = Arc::clone(sandbox);
        std::thread::spawn(move || run(&sandbox, format!("{}for i in range(1500000): pass\n", held("b"))))
    }))?;
    let each = |after: u64| after.saturating_sub(before) / INSTANCES as u64;
    Some(Resident { idle_bytes: each(idle), busy_bytes: each(busy) })
}

fn run(sandbox: &Sandbox, program: String) -> Option<()> {
    let outcome = run_script(sandbox, program, sandbox.image().default_limits()).ok()?;
    (outcome.exit == veriplay_core::Exit::Returned).then_some(())
}

/// The largest Pss of this process while the threads run; `None` if one of them fails.
fn peak_while(threads: impl Iterator<Item = JoinHandle<Option<()>>>) -> Option<u64> {
    let threads: Vec<_> = threads.collect();
    let mut peak = 0;
    while !threads.iter().all(JoinHandle::is_finished) {
        peak = peak.max(pss("self")?);
        std::thread::sleep(Duration::from_millis(5));
    }
    let all_ran = threads.into_iter().all(|thread| matches!(thread.join(), Ok(Some(()))));
    all_ran.then_some(peak)
}

/// Pss of a native interpreter that has run `program` and waits.
fn process(python: &Python, program: &str) -> Option<u64> {
    let program = format!("{program}import sys\nprint('ready', flush=True)\nsys.stdin.read()\n");
    let mut command = python.command();
    command.args(["-I", "-S", "-c", &program]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let mut line = String::new();
    let heard = child.stdout.take().map(|stdout| BufReader::new(stdout).read_line(&mut line));
    let bytes = matches!(heard, Some(Ok(n)) if n > 0).then(|| pss(&child.id().to_string())).flatten();
    drop(child.stdin.take());
    let _ = child.wait();
    bytes
}

/// A process's share of resident memory, in bytes.
pub(super) fn pss(pid: &str) -> Option<u64> {
    parse_pss(&std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?)
}

fn parse_pss(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::parse_pss;

    #[test]
    fn pss_is_read_in_bytes_and_nothing_else_is_taken_for_it() {
        let text =
            "55c0-7ffd ---p 00000000 00:00 0  [rollup]\nRss:  9000 kB\nPss:                4321 kB\nPss_Dirty:  7 kB\n";
        assert_eq!(parse_pss(text), Some(4321 << 10));
        assert_eq!(parse_pss("Pss_Dirty:  7 kB\n"), None);
        assert_eq!(parse_pss("Pss: many kB\n"), None);
    }
}

//! Resident memory per instance, idle and at work.
//!
//! Measured as Pss (`/proc/<pid>/smaps_rollup`): pages that several mappings share, such as the image's, count once.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use veriplay_console::free_memory::mib;
use veriplay_sandbox::{Image, Sandbox, SandboxOptions};

use super::machine::Python;
use super::veriplay::run_script;

/// Instances whose growth is measured.
const INSTANCES: usize = 8;
/// Bytes the busy program holds.
const HELD_BYTES: u64 = 4 << 20;

/// Resident bytes of an instance and of a process.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryReport {
    /// Bytes the program of a busy instance holds; they are part of `busy`.
    held_bytes: u64,
    /// What one more instance adds to this process; `null` where the kernel does not report it.
    veriplay: Option<Resident>,
    /// One `python3` process.
    subprocess: Option<Resident>,
}

/// Resident bytes of one instance.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Resident {
    /// Waiting for a job, after one.
    pub idle_bytes: u64,
    /// While its program holds `held_bytes`.
    pub busy_bytes: u64,
}

impl MemoryReport {
    /// Measures both. Nothing else of this process may run meanwhile.
    pub fn measure(image: &Arc<Image>, python: Option<&Python>) -> Self {
        Self {
            held_bytes: HELD_BYTES,
            veriplay: measure_instances(image),
            subprocess: python.and_then(|python| {
                Some(Resident {
                    idle_bytes: measure_process(python, "")?,
                    busy_bytes: measure_process(python, &allocation("b"))?,
                })
            }),
        }
    }

    /// One line for each.
    pub fn lines(&self) -> Vec<String> {
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

fn allocation(name: &str) -> String {
    format!("{name} = bytearray(b'\\x01') * {HELD_BYTES}\n")
}

/// Sandboxes of one instance each, so that all of them exist whatever the scheduler does.
fn measure_instances(image: &Arc<Image>) -> Option<Resident> {
    let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
    let sandbox = || Arc::new(Sandbox::new(Arc::clone(image), options));
    let used = |sandbox: &Arc<Sandbox>| run(sandbox, "pass\n".to_owned());
    // The first instance loads the pages that all share.
    let first = sandbox();
    used(&first)?;
    let before = pss("self")?;
    let sandboxes: Vec<Arc<Sandbox>> = (0..INSTANCES).map(|_| sandbox()).collect();
    sandboxes.iter().try_for_each(used)?;
    let idle = pss("self")?;
    let idle_bytes = idle.saturating_sub(before) / INSTANCES as u64;
    // One after another, and the largest growth counts: on a busy machine a sample may come too late for some of them. Each is compared with
    // the memory right before it, because those before keep copies of the pages that they have written.
    let program = format!("{}for i in range(3000000): pass\n", allocation("b"));
    let growth = |sandbox: &Arc<Sandbox>| {
        let before = pss("self")?;
        Some(peak_while_running(sandbox, &program)?.saturating_sub(before))
    };
    let growths: Vec<u64> = sandboxes.iter().map(growth).collect::<Option<_>>()?;
    Some(Resident { idle_bytes, busy_bytes: idle_bytes + growths.into_iter().max()? })
}

fn run(sandbox: &Sandbox, program: String) -> Option<()> {
    let outcome = run_script(sandbox, program, sandbox.image().default_limits()).ok()?;
    (outcome.exit == veriplay_core::Exit::Returned).then_some(())
}

/// The largest Pss of this process while `program` runs; `None` if it fails.
fn peak_while_running(sandbox: &Arc<Sandbox>, program: &str) -> Option<u64> {
    let (sandbox, program) = (Arc::clone(sandbox), program.to_owned());
    let thread = std::thread::spawn(move || run(&sandbox, program));
    let mut peak = 0;
    while !thread.is_finished() {
        peak = peak.max(pss("self")?);
        std::thread::sleep(Duration::from_millis(5));
    }
    thread.join().ok().flatten().map(|()| peak)
}

/// Pss of a native interpreter that has run `program` and waits.
fn measure_process(python: &Python, program: &str) -> Option<u64> {
    let program = format!("{program}import sys\nprint('ready', flush=True)\nsys.stdin.read()\n");
    let mut command = python.command();
    command.args(["-I", "-S", "-c", &program]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let mut line = String::new();
    let read = child.stdout.take().map(|stdout| BufReader::new(stdout).read_line(&mut line));
    let bytes = matches!(read, Some(Ok(n)) if n > 0).then(|| pss(&child.id().to_string())).flatten();
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
    fn pss_is_parsed_in_bytes_and_other_lines_are_ignored() {
        let text =
            "55c0-7ffd ---p 00000000 00:00 0  [rollup]\nRss:  9000 kB\nPss:                4321 kB\nPss_Dirty:  7 kB\n";
        assert_eq!(parse_pss(text), Some(4321 << 10));
        assert_eq!(parse_pss("Pss_Dirty:  7 kB\n"), None);
        assert_eq!(parse_pss("Pss: many kB\n"), None);
    }
}

//! Worker processes end with the program that started them, whatever ends that.

use std::process::{Child, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use super::commands::{read, send_signal};
use super::serve::children;
use super::veriplay;

/// The longest wait of a test that fails. The deadline of a job is far beyond it.
const PATIENCE: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };
/// Clock ticks of computing after which a worker is in the middle of its program.
const UNDER_WAY: u64 = 20;

fn read_proc(process: Pid, name: &str) -> String {
    read(format!("/proc/{}/{name}", process.as_raw_pid()))
}

/// Whether a worker has given up its rights, after which it runs nothing but programs.
fn is_locked_down(worker: Pid) -> bool {
    read_proc(worker, "status").lines().any(|line| line.starts_with("Seccomp:") && line.ends_with('2'))
}

/// Whether Ctrl-C in a terminal, which reaches the whole process group, leaves a worker alone.
fn ignores_interrupts(worker: Pid) -> bool {
    let status = read_proc(worker, "status");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("the signals it ignores");
    let mask = u64::from_str_radix(mask.trim(), 16).expect("a mask");
    mask & (1 << (Signal::INT.as_raw() - 1)) != 0
}

/// Clock ticks that a process has computed for.
fn ticks(process: Pid) -> u64 {
    let stat = read_proc(process, "stat");
    let (_, fields) = stat.rsplit_once(") ").expect("the name ends");
    fields.split(' ').nth(11).and_then(|ticks| ticks.parse().ok()).expect("a count")
}

/// The worker of a program that never ends by itself, once it computes.
fn computing_worker(parent: &mut Child) -> Pid {
    let worker = loop {
        assert!(parent.try_wait().expect("it is a child").is_none(), "it ended");
        if let Some(worker) = children(parent.id()).into_iter().find(|worker| is_locked_down(*worker)) {
            break worker;
        }
        std::thread::yield_now();
    };
    let before = ticks(worker);
    while ticks(worker) < before + UNDER_WAY {
        std::thread::yield_now();
    }
    worker
}

#[test]
fn a_worker_ends_with_its_program_whatever_ends_that() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("loop.py");
    std::fs::write(&file, "while True: pass").expect("the program is written");
    for signal in [Signal::KILL, Signal::TERM] {
        let mut command = veriplay();
        command.args(["run", "--fuel", "1e15", "--workers", "process"]).arg(&file);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
        let worker = computing_worker(&mut child);
        assert!(ignores_interrupts(worker), "Ctrl-C would end the worker, and its job with a fault of the host");
        let end = pidfd_open(worker, PidfdFlags::empty()).expect("it runs");
        send_signal(&child, signal);
        child.wait().expect("it ends");
        let ended = poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&PATIENCE));
        assert_eq!(ended, Ok(1), "{signal:?}: the worker goes on without its parent");
    }
}

//! `veriplay isolate` and `veriplay bench` leave no process, however they end, and no folder where a signal that they can handle ends them.

use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use tempfile::TempDir;

use super::veriplay;

/// The longest wait of a test that fails.
const PATIENCE: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };

/// A target that runs the first program, by which it is tried, and hangs with every other.
const SUITE: &[&str] = &[
    "isolate",
    "--probe",
    "secrets/planted_variable",
    "--target",
    "cmd:if grep -q '6 [*] 7' {file}; then exec python3 {file}; fi; echo $$ > $started; exec sleep 600",
];
const BENCH: &[&str] = &["bench", "--job", "empty", "--seconds", "0.05", "--threads", "1", "--peer"];

/// A command that hangs, and the process that it waits for.
struct Hanging {
    command: Child,
    process: OwnedFd,
    folder: TempDir,
}

impl Hanging {
    /// Starts a command whose process writes its id to the file `$started`.
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let (started, temporary) = (folder.path().join("started"), folder.path().join("tmp"));
        std::fs::create_dir(&temporary).expect("a folder");
        let mut command = veriplay();
        command.args(arguments).env("TMPDIR", temporary).env("started", &started);
        let mut command = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        loop {
            assert!(command.try_wait().expect("it is a child").is_none(), "it ended before it started what hangs");
            let text = std::fs::read_to_string(&started).unwrap_or_default();
            if text.ends_with('\n') {
                let process = text.trim().parse().ok().and_then(Pid::from_raw).expect("a process");
                return Self { command, process: pidfd_open(process, PidfdFlags::empty()).expect("it runs"), folder };
            }
            std::thread::yield_now();
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.command), signal).expect("it runs");
    }

    /// Waits for the command's end, and fails unless its process has ended too.
    fn assert_ended(&mut self, code: Option<i32>) {
        assert_eq!(self.command.wait().expect("it ends").code(), code);
        let ended = poll(&mut [PollFd::new(&self.process, PollFlags::IN)], Some(&PATIENCE));
        assert_eq!(ended, Ok(1), "the process goes on without the command");
    }

    fn assert_ended_by_signal(&mut self) {
        self.assert_ended(Some(130));
        let left = std::fs::read_dir(self.folder.path().join("tmp")).expect("it can be listed");
        assert_eq!(left.count(), 0, "folders are left");
    }
}

#[test]
fn a_signal_ends_the_processes_of_peers_and_leaves_no_folder() {
    for signal in [Signal::INT, Signal::TERM] {
        let peer = "hung=true {file}; sleep 600 & echo $! > $started; wait";
        let mut bench = Hanging::start(&[BENCH, &[peer]].concat());
        bench.signal(signal);
        bench.assert_ended_by_signal();
    }
}

#[test]
fn a_second_signal_leaves_no_process_and_no_folder() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut suite = Hanging::start(SUITE);
        suite.signal(signal);
        // Two signals at once may be one.
        let mut messages = BufReader::new(suite.command.stderr.take().expect("it is a pipe")).lines();
        let first = messages.find(|line| line.as_ref().is_ok_and(|line| line.contains("press Ctrl-C again")));
        assert!(first.is_some(), "the first signal is answered");
        suite.signal(signal);
        suite.assert_ended_by_signal();
    }
}

#[test]
fn a_command_that_is_killed_leaves_no_process() {
    let bench = [BENCH, &["hung=true {file}; echo $$ > $started; exec sleep 600"]].concat();
    for arguments in [SUITE, &bench] {
        let mut hanging = Hanging::start(arguments);
        hanging.command.kill().expect("it runs");
        hanging.assert_ended(None);
    }
}

//! `veriplay isolate` leaves no process, however it ends, and no folder where a signal that it can handle ends it.

use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::veriplay;

/// The longest wait of a test that fails.
const PATIENCE: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };

/// A suite whose target runs the first program, by which it is tried, and hangs with every other; and the target's process.
fn hanging_suite(folder: &Path) -> (Child, OwnedFd) {
    let (started, temporary) = (folder.join("started"), folder.join("tmp"));
    std::fs::create_dir(&temporary).expect("a folder");
    let file = started.display();
    let target =
        format!("cmd:if grep -q '6 [*] 7' {{file}}; then exec python3 {{file}}; fi; echo $$ > {file}; exec sleep 600");
    let mut command = veriplay();
    command.args(["isolate", "--probe", "secrets/planted_variable", "--target", &target]).env("TMPDIR", temporary);
    let mut suite = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let target = started_process(&mut suite, &started);
    (suite, target)
}

/// The process whose id something that `command` runs writes to `file`.
pub(super) fn started_process(command: &mut Child, file: &Path) -> OwnedFd {
    loop {
        assert!(command.try_wait().expect("it is a child").is_none(), "it ended before it started what hangs");
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if text.ends_with('\n') {
            let process = text.trim().parse().ok().and_then(Pid::from_raw).expect("a process");
            return pidfd_open(process, PidfdFlags::empty()).expect("it runs");
        }
        std::thread::yield_now();
    }
}

pub(super) fn assert_ended(process: &OwnedFd, what: &str) {
    assert_eq!(poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&PATIENCE)), Ok(1), "{what}");
}

#[test]
fn a_second_signal_leaves_no_process_and_no_folder() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let (mut suite, target) = hanging_suite(folder.path());
        let process = Pid::from_child(&suite);
        kill_process(process, signal).expect("it runs");
        // Two signals at once may be one.
        let mut messages = BufReader::new(suite.stderr.take().expect("it is a pipe")).lines();
        let first = messages.find(|line| line.as_ref().is_ok_and(|line| line.contains("press Ctrl-C again")));
        assert!(first.is_some(), "the first signal is answered");
        kill_process(process, signal).expect("it waits for its target");
        assert_eq!(suite.wait().expect("it ends").code(), Some(130));
        assert_ended(&target, "the target goes on without the suite");
        let left: Vec<_> = std::fs::read_dir(folder.path().join("tmp")).expect("it can be listed").collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_suite_that_is_killed_leaves_no_process() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (mut suite, target) = hanging_suite(folder.path());
    suite.kill().expect("it runs");
    suite.wait().expect("it ends");
    assert_ended(&target, "the target goes on without the suite");
}

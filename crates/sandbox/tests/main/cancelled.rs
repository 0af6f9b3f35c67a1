//! Cancelled jobs: they end, have no outcome, and leave nothing to the next job.

use veriplay_core::{Callee, CancellationToken, ExecuteError, Job, Limits};
use veriplay_sandbox::{Sandbox, SandboxOptions};

use crate::support::{calls, limits, python, run, sandbox, script};
use crate::workers::{processes, workers};

/// Jobs that only their deadline would end, in ten minutes.
fn endless() -> Vec<Job> {
    let limits = Limits { fuel: 1 << 60, deadline_ns: 600_000_000_000, ..limits() };
    let callee = Callee { program: "while True: pass".to_owned(), seed: 9, ..Callee::default() };
    let jobs = [
        script("while True: pass"),
        script("import time\nwhile True: time.time()"),
        calls("def f():\n    while True: pass", vec![vec![]]),
        Job { callee: Some(callee), ..script("print(1)") },
    ];
    jobs.into_iter().map(|job| Job { limits, ..job }).collect()
}

fn is_cancelled_beside_others(sandbox: &Sandbox) {
    let plain = script("print(sum(range(10)))");
    let expected = run(&plain);
    for job in endless() {
        let token = CancellationToken::new();
        let ended = std::thread::scope(|scope| {
            let running = scope.spawn(|| sandbox.run_cancellable(&job, &token));
            // It runs while these do.
            for _ in 0..20 {
                assert_eq!(sandbox.run(&plain).unwrap(), expected);
            }
            token.cancel();
            running.join().unwrap()
        });
        assert!(matches!(ended, Err(ExecuteError::Cancelled)), "{}: {ended:?}", job.program);
        // In its place, and in the other one.
        for _ in 0..4 {
            assert_eq!(sandbox.run(&plain).unwrap(), expected);
        }
    }
}

#[test]
fn a_cancelled_job_ends_and_the_next_one_is_as_ever() {
    let options = SandboxOptions { max_parallel: 2, ..SandboxOptions::fastest() };
    is_cancelled_beside_others(&Sandbox::new(python(), options));
}

#[test]
fn a_cancelled_job_in_a_process_ends_and_the_next_one_is_as_ever() {
    is_cancelled_beside_others(&processes(2, "cancelled"));
}

#[test]
fn a_job_that_is_cancelled_before_it_starts_costs_nothing() {
    let processes = processes(1, "spared");
    let before = workers("spared");
    let token = CancellationToken::new();
    token.cancel();
    for sandbox in [&processes, sandbox()] {
        let ended = sandbox.run_cancellable(&script("print(1)"), &token);
        assert!(matches!(ended, Err(ExecuteError::Cancelled)), "{ended:?}");
    }
    assert_eq!((workers("spared"), before.len()), (before.clone(), 1));
}

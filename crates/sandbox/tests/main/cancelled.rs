//! Cancelled jobs: they end, have no outcome, and leave nothing to the next job.

use std::collections::BTreeSet;

use veriplay_core::{Callee, CancellationToken, ExecuteError, Exit, Job, LimitKind, Limits};
use veriplay_sandbox::{Sandbox, SandboxOptions, WorkerProgram};

use crate::support::{calls, limits, python, run, sandbox, script};
use crate::workers::{processes, program, workers};

/// Jobs that only their deadline would end, in ten minutes.
fn endless() -> Vec<Job> {
    let limits = Limits { fuel: 1 << 53, deadline_ns: 600_000_000_000, ..limits() };
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

/// Ticks of the clock that these processes have run for.
fn ticks(processes: &BTreeSet<u32>) -> u64 {
    let of = |process: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        // Behind the name in brackets; the twelfth is the time in user mode (proc(5)).
        let behind = stat.rsplit_once(')').unwrap().1;
        behind.split_whitespace().nth(11).unwrap().parse::<u64>().unwrap()
    };
    processes.iter().map(of).sum()
}

#[test]
fn a_job_that_is_cancelled_leaves_its_worker_process_to_the_next_one() {
    let processes = processes(1, "kept");
    let before = workers("kept");
    for job in endless() {
        let (token, idle) = (CancellationToken::new(), ticks(&before));
        let ended = std::thread::scope(|scope| {
            let running = scope.spawn(|| processes.run_cancellable(&job, &token));
            while ticks(&before) == idle {
                std::thread::yield_now();
            }
            token.cancel();
            running.join().unwrap()
        });
        assert!(matches!(ended, Err(ExecuteError::Cancelled)), "{}: {ended:?}", job.program);
        let plain = script("print(sum(range(10)))");
        assert_eq!(processes.run(&plain).unwrap(), run(&plain), "after {}", job.program);
    }
    assert_eq!((workers("kept"), before.len()), (before.clone(), 1));
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

/// The worker starts on for the next job: first slices are shorter than a start may take, and none would ever come to its end.
#[test]
fn a_job_that_waits_for_its_worker_to_start_ends_when_it_is_cancelled() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("worker.py"), include_str!("never_ready_again.py")).unwrap();
    let arguments = vec!["python3".into(), path("worker.py").into_os_string(), directory.path().into()];
    let program = WorkerProgram { program: "/usr/bin/env".into(), arguments, ..program() };
    let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
    let sandbox = Sandbox::in_processes(python(), options, program).unwrap();
    let job = script("pass");
    for _ in 0..3 {
        let token = CancellationToken::new();
        let ended = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| sandbox.run_cancellable(&job, &token));
            // Its first worker has ended, so it waits for another one.
            while !path("again").exists() {
                std::thread::yield_now();
            }
            token.cancel();
            waiting.join().unwrap()
        });
        assert!(matches!(ended, Err(ExecuteError::Cancelled)), "{ended:?}");
    }
    assert_eq!(std::fs::read_to_string(path("starts")).unwrap(), "xx");
}

/// Turns that never call the host: a loop without memory, calls without a loop, and a loop that writes.
const SILENT: [&str; 3] = [
    "(loop $more (br $more))",
    "(call $twice (i32.const 60))",
    "(loop $more (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.const 1))) (br $more))",
];

/// The image of a module with that turn.
fn silent(turn: &str) -> Sandbox {
    let text = format!(
        r#"(module (memory (export "memory") 1)
             (func (export "_initialize"))
             (func (export "host_alloc") (param i32) (result i32) (i32.const 1024))
             (func $twice (param $deep i32)
               (if (local.get $deep) (then
                 (call $twice (i32.sub (local.get $deep) (i32.const 1)))
                 (call $twice (i32.sub (local.get $deep) (i32.const 1))))))
             (func (export "turn") (param $text i32) (param $len i32) (result i32)
               (if (local.get $len) (then (return (i32.const 0))))
               {turn}
               (i32.const 0)))"#
    );
    Sandbox::new(python().from_module("silent", &text).unwrap(), SandboxOptions::fastest())
}

#[test]
fn a_guest_that_never_calls_the_host_meets_its_deadline_and_can_be_cancelled() {
    for turn in SILENT {
        let sandbox = silent(turn);
        let limits = Limits { fuel: 1 << 53, deadline_ns: 1, ..limits() };
        let job = Job { image: "silent".to_owned(), limits, ..script("") };
        let late = sandbox.run(&job).unwrap();
        assert!(matches!(late.exit, Exit::Exceeded { limit: LimitKind::DeadlineNs, .. }), "{turn}: {:?}", late.exit);
        assert!((1..1 << 53).contains(&late.fuel), "{turn}: {}", late.fuel);

        let job = Job { limits: Limits { deadline_ns: u64::MAX, ..limits }, ..job };
        let token = CancellationToken::new();
        let ended = std::thread::scope(|scope| {
            let running = scope.spawn(|| sandbox.run_cancellable(&job, &token));
            token.cancel();
            running.join().unwrap()
        });
        assert!(matches!(ended, Err(ExecuteError::Cancelled)), "{turn}: {ended:?}");

        let job = Job { limits: Limits { fuel: 1_000_000, ..limits }, ..job };
        let used_up = sandbox.run(&Job { limits: Limits { deadline_ns: u64::MAX, ..job.limits }, ..job }).unwrap();
        let exceeded = Exit::Exceeded { limit: LimitKind::Fuel, allowed: 1_000_000, used: 1_000_000 };
        assert_eq!((used_up.exit, used_up.fuel), (exceeded, 1_000_000), "{turn}");
    }
}

/// Bytes are charged before they are moved, and what is left is looked at where the next stretch of code begins.
#[test]
fn a_guest_whose_last_act_costs_more_than_it_has_is_out_of_fuel() {
    let sandbox = silent("(memory.fill (i32.const 0) (i32.const 0) (i32.const 60000))");
    let end = |fuel: u64| {
        let job = Job { image: "silent".to_owned(), limits: Limits { fuel, ..limits() }, ..script("") };
        let outcome = sandbox.run(&job).unwrap();
        (outcome.exit, outcome.fuel)
    };
    // It gives no answer, which is against the protocol.
    let (exit, fuel) = end(1_000_000);
    assert!(exit == Exit::Trapped && fuel > 60_000, "{exit:?}, {fuel}");
    assert_eq!(end(fuel), (Exit::Trapped, fuel));
    let exceeded = |allowed: u64| Exit::Exceeded { limit: LimitKind::Fuel, allowed, used: allowed };
    for less in [fuel - 1, 1_000] {
        assert_eq!(end(less), (exceeded(less), less));
    }
}

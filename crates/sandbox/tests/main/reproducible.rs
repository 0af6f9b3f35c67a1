//! The same job has the same outcome, fuel included: again, on any number of threads, in any order, on a busy machine.

use std::sync::atomic::{AtomicBool, Ordering};

use veriplay_core::{Callee, Execute, Job, Limits, Outcome, Value};
use veriplay_sandbox::{ResetMode, Sandbox, SandboxOptions};

use crate::support::{calls, cases, limits, python, run, script};

/// Jobs of every kind of end.
pub(crate) fn jobs() -> Vec<Job> {
    let scripts = cases(include_str!("jobs.txt"));
    let mut jobs: Vec<Job> = scripts.iter().map(|case| script(&case.program)).collect();
    let list = Value::parse_repr("[3, 1, 2]").unwrap();
    jobs.push(calls("def f(x):\n    x.sort()\n    return x", vec![vec![list.clone()], vec![list]]));
    let values = "def f(x): return [x, {'a': (1.5, None)}, 2 ** 200]";
    jobs.push(calls(values, vec![vec![Value::Bool(true)], vec![]]));
    let asks = "import _veriplay\ndef f(): return _veriplay.ask_callee(('call', 'g', [[1]], {}))";
    let callee = Some(Callee {
        program: "def g(x):\n    x.append(len(x))\n    return x".to_owned(),
        seed: 1,
        ..Callee::default()
    });
    jobs.push(Job { callee, ..calls(asks, vec![vec![]]) });
    jobs.into_iter().map(|job| Job { limits: Limits { fuel: 30_000_000, ..limits() }, ..job }).collect()
}

/// Runs `jobs` on so many threads; outcomes in the order of the jobs.
fn run_on(sandbox: &Sandbox, threads: usize, jobs: &[(usize, &Job)]) -> Vec<(usize, Outcome)> {
    std::thread::scope(|scope| {
        let part = |start: usize| {
            let mine: Vec<_> = jobs.iter().skip(start).step_by(threads).copied().collect();
            scope.spawn(move || {
                mine.into_iter().map(|(index, job)| (index, sandbox.execute(job).unwrap())).collect::<Vec<_>>()
            })
        };
        let parts: Vec<_> = (0..threads).map(part).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

#[test]
fn outcomes_are_the_same_on_any_threads_in_any_order_beside_other_work() {
    let jobs = jobs();
    let fresh = Sandbox::new(python(), SandboxOptions { max_parallel: 1, reset: ResetMode::Fresh });
    let wanted: Vec<Outcome> = jobs.iter().map(|job| fresh.execute(job).unwrap()).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (round, threads) in [1, 2, 2, 3, 1, 2].into_iter().enumerate() {
            let sandbox = Sandbox::new(python(), SandboxOptions { max_parallel: threads, ..SandboxOptions::fastest() });
            let mut order: Vec<(usize, &Job)> = jobs.iter().enumerate().collect();
            order.rotate_left(3 * round);
            if round % 2 == 1 {
                order.reverse();
            }
            // From the fourth round on beside a thread that never rests.
            if round == 3 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            for (index, outcome) in run_on(&sandbox, threads, &order) {
                assert_eq!(outcome, wanted[index], "job {index}, round {round}");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_hundred_repeats_are_one_outcome() {
    for job in jobs().iter().filter(|job| !job.program.contains("while True")) {
        let wanted = run(job);
        let repeats = if wanted.fuel > 10_000_000 { 5 } else { 100 };
        for _ in 0..repeats {
            assert_eq!(run(job), wanted);
        }
    }
}

#[test]
fn a_job_that_meets_its_deadline_is_run_again_and_blocks_nobody_for_good() {
    let mut late = script("x = bytearray(32 << 20)\ny = bytearray(32 << 20)\nwhile True: x[:] = y");
    (late.limits.fuel, late.limits.deadline_ns) = (1 << 53, 50_000_000);
    let plain = script("print(1)");
    let sandbox = Sandbox::new(python(), SandboxOptions { max_parallel: 2, ..SandboxOptions::fastest() });
    let order: Vec<(usize, &Job)> =
        (0..40).map(|index| (index, if index % 10 == 0 { &late } else { &plain })).collect();
    for (index, outcome) in run_on(&sandbox, 3, &order) {
        assert_eq!(outcome.stdout, if index % 10 == 0 { b"".as_slice() } else { b"1\n" });
    }
}

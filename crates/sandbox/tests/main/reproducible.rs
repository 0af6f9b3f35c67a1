//! The same job has the same outcome, fuel included: again, on any number of threads, in any order, on a busy machine.

use std::sync::atomic::{AtomicBool, Ordering};

use veriplay_core::{Callee, Execute, Job, Limits, Outcome, Value};
use veriplay_sandbox::{ResetMode, Sandbox, SandboxOptions};

use crate::support::{calls, limits, python, run, script};

/// Jobs of every kind, among them those that use up a limit, crash, litter, or ask for randomness and time.
fn jobs() -> Vec<Job> {
    let fuel = |job: Job| Job { limits: Limits { fuel: 30_000_000, ..limits() }, ..job };
    let programs = [
        "pass",
        "print(sum(range(1000)))",
        "import random, time, os\nprint(random.random(), time.time(), os.urandom(4), id(object()))",
        "while True: pass",
        "def g(n): return g(n + 1)\ng(0)",
        "x = [bytearray(1 << 16) for _ in range(300)]",
        "x = 'a' * (1 << 30)",
        "import os\nos._exit(3)",
        "raise ValueError('é')",
        "def f(:",
        "open('x', 'w').write('y' * 10000)\nprint(open('x').read()[:5])",
        "import re\nre.match('(a*)*b', 'a' * 18)",
        "print({'a', 'b', 'c'}, hash('x'), {object() for _ in range(3)})",
        "import gc, sys\ngc.collect()\nprint(len(gc.get_objects()), sys.getrefcount(None))",
    ];
    let mut jobs: Vec<Job> = programs.iter().map(|program| fuel(script(program))).collect();
    let list = Value::parse_repr("[3, 1, 2]").unwrap();
    jobs.push(fuel(calls("def f(x):\n    x.sort()\n    return x", vec![vec![list.clone()], vec![list]])));
    let asks = "import _veriplay\ndef f(): return _veriplay.ask_callee(('call', 'g', [[1]], {}))";
    let callee = Some(Callee {
        program: "def g(x):\n    x.append(len(x))\n    return x".to_owned(),
        seed: 1,
        ..Callee::default()
    });
    jobs.push(Job { callee, ..fuel(calls(asks, vec![vec![]])) });
    jobs
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
            // Another order each round: an odd step goes through all of 16.
            assert_eq!(jobs.len(), 16);
            let at = |place: usize| (place * (2 * round + 3) + round) % jobs.len();
            let order: Vec<(usize, &Job)> = (0..jobs.len()).map(|place| (at(place), &jobs[at(place)])).collect();
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

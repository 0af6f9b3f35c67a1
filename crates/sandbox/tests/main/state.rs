//! Fresh state for every job, and the same outcome for the same job.

use std::sync::OnceLock;

use veriplay_core::{Execute, Job, Outcome};
use veriplay_sandbox::{ResetMode, Sandbox, SandboxOptions};

use crate::support::{Case, calls, cases, python, run, script, text};

/// A sandbox with one instance, so that the next job is sure to meet what the last one left.
fn one(reset: ResetMode) -> Sandbox {
    Sandbox::new(python(), SandboxOptions { max_parallel: 1, reset })
}

fn probe() -> Job {
    let mut job = script(include_str!("probe.py"));
    job.stdin = b"input".to_vec();
    job
}

/// What the probe says in an instance that never ran anything else.
fn clean() -> &'static Outcome {
    static CLEAN: OnceLock<Outcome> = OnceLock::new();
    CLEAN.get_or_init(|| one(ResetMode::Fresh).execute(&probe()).unwrap())
}

#[test]
fn nothing_a_job_leaves_behind_is_there_for_the_next_one_whatever_the_reset() {
    assert!(text(&clean().stdout).contains("3 3.14159"), "{:?}", clean());
    for reset in [ResetMode::Scan, ResetMode::Remap, ResetMode::Fresh] {
        let sandbox = one(reset);
        for Case { program, .. } in cases(include_str!("litter.txt")) {
            sandbox.execute(&script(&program)).unwrap();
            assert_eq!(&sandbox.execute(&probe()).unwrap(), clean(), "{reset:?} {program}");
        }
    }
}

#[test]
fn nothing_of_a_large_job_is_there_however_many_small_ones_come_after_it() {
    let sandbox = one(ResetMode::Scan);
    // Memory that is there from the start, so the instance stays; enough for its pages to be given back after a few jobs.
    let large = script("x = [b'x' * 3000 + bytes([i % 256]) for i in range(3000)]\nprint(len(set(x)))");
    for _ in 0..3 {
        assert_eq!(text(&sandbox.execute(&large).unwrap().stdout), "256\n");
        for _ in 0..20 {
            assert_eq!(&sandbox.execute(&probe()).unwrap(), clean());
        }
    }
}

#[test]
fn what_a_job_makes_lies_together() {
    // 48 KiB of them, and a list. Scattered over the memory of the interpreter they were on 566 pages.
    let program = "made = [what for i in range(1000) for what in (object(), bytes(8))]\nprint(len({id(what) // 4096 for what in made}))";
    let pages: usize = text(&run(&script(program)).stdout).trim().parse().unwrap();
    assert!(pages <= 60, "{pages} pages");
}

#[test]
fn the_jobs_that_ran_before_the_snapshot_have_left_nothing() {
    let program = "import gc, sys\ngc.unfreeze()\nof_jobs = [it for it in gc.get_objects() if getattr(it, '__module__', 0) == 'program']\n\
                   print(sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__, 'program' in sys.modules, of_jobs)";
    assert_eq!(text(&run(&script(program)).stdout), "True True False []\n");
}

#[test]
fn another_seed_is_another_random_source_and_clock_and_the_same_seed_the_same() {
    let drawing = "import random, os, time, uuid
def f(): return [random.random(), os.urandom(8), time.time(), str(uuid.uuid4()), time.localtime().tm_yday]";
    let with_seed = |seed| run(&Job { seed, ..calls(drawing, vec![vec![]]) });
    assert_eq!(with_seed(1), with_seed(1));
    let (a, b) = (with_seed(1), with_seed(2));
    assert_ne!(a.calls, b.calls);
    // What does not draw on them is the same under every seed, the order of sets included.
    let plain = "def f(): return [list({'a', 'b', 'c', 'd'}), hash('x')]";
    let with_seed = |seed| run(&Job { seed, ..calls(plain, vec![vec![]]) }).calls;
    assert_eq!(with_seed(1), with_seed(2));
}

#[test]
fn a_program_has_no_way_to_see_fuel_or_wall_time() {
    let program = "import time\ndef f():\n    a = time.perf_counter_ns()\n    sum(range(100000))\n    return time.perf_counter_ns() - a";
    let short = program.replace("100000", "1");
    assert_eq!(run(&calls(program, vec![vec![]])).calls, run(&calls(&short, vec![vec![]])).calls);
}

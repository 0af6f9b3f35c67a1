//! Fresh state for every job, and the same outcome for the same job.

use std::sync::OnceLock;

use veriplay_core::{Execute, Job, Outcome, Value};
use veriplay_sandbox::{ResetMode, Sandbox, SandboxOptions};

use crate::support::{calls, python, run, script, text};

/// A sandbox with one instance, so that the next job is sure to meet what the last one left.
fn one(reset: ResetMode) -> Sandbox {
    Sandbox::new(python(), SandboxOptions { max_parallel: 1, reset })
}

/// Programs that leave something behind, and one that tells whether anything is there.
const LITTER: &[&str] = &[
    "import builtins, math, sys, random, os, gc, json, re
builtins.len = lambda x: 0
math.pi = 3
math.leaked = sys.leaked = builtins.leaked = 1
sys.modules['leaked'] = math
sys.path.append('/leaked')
random.seed(5)
random.random()
open('leaked', 'w').write('x')
open('/tmp/leaked', 'w').write('x')
os.environ['LEAKED'] = '1'
os.chdir('/tmp')
sys.setrecursionlimit(77)
gc.disable()
json.dumps = None
re.compile('leaked.*')",
    "import sys, os\nsys.stdout.close()\nos.close(3)\nos.close(0)",
    "import sys\nsys.stdout.write('unflushed')\nimport os\nos._exit(1)",
    "import sys\nsys.settrace(lambda *a: 1/0)\nsys.setprofile(lambda *a: None)",
    "x = [bytearray(1 << 16) for _ in range(300)]",
    "while True: pass",
    "def g(n): return g(n + 1)\ng(0)",
    "x = 'a' * (1 << 30)",
    "import decimal, warnings, csv, logging\ndecimal.getcontext().prec = 3\nwarnings.simplefilter('error')\nlogging.basicConfig(level=10)",
];

const PROBE: &str = "import builtins, math, sys, random, os, gc, json, re, decimal, time
print(len('abc'), math.pi, hasattr(math, 'leaked'), hasattr(builtins, 'leaked'), 'leaked' in sys.modules, '/leaked' in sys.path)
print(random.random(), os.urandom(4).hex(), time.time(), os.listdir('.'), os.listdir('/tmp'), 'LEAKED' in os.environ)
print(os.getcwd(), sys.getrecursionlimit(), gc.isenabled(), json.dumps([1]), decimal.getcontext().prec, sys.gettrace())
print(sorted(sys.modules) == sorted(set(sys.modules)), len(sys.modules), id(object()), hash('seed'), list({'a', 'b', 'c'}))
print(sorted(globals()), sys.stdin.read())";

fn probe() -> Job {
    let mut job = script(PROBE);
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
        for litter in LITTER {
            sandbox.execute(&script(litter)).unwrap();
            assert_eq!(&sandbox.execute(&probe()).unwrap(), clean(), "{reset:?} {litter}");
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
fn the_same_job_has_the_same_outcome_and_fuel_in_a_new_or_used_instance_on_any_thread() {
    let job = calls("def f(n): return sorted(str(i * i) for i in range(n))", vec![vec![Value::int(50)]; 3]);
    let expected = one(ResetMode::Fresh).execute(&job).unwrap();
    let used = one(ResetMode::Scan);
    for _ in 0..20 {
        assert_eq!(used.execute(&job).unwrap(), expected);
    }
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| (0..5).for_each(|_| assert_eq!(run(&job), expected)));
        }
    });
}

#[test]
fn jobs_of_many_kinds_at_once_each_get_their_own_outcome() {
    let jobs: Vec<Job> = (0..40)
        .map(|n| match n % 4 {
            0 => script(&format!("print({n})")),
            1 => calls("def f(n): return n + 1", vec![vec![Value::int(n)]]),
            2 => script(&format!("x = bytearray({n} << 20)\nprint(len(x))")),
            _ => script("import os; os._exit(1)"),
        })
        .collect();
    let alone: Vec<Outcome> = jobs.iter().map(run).collect();
    std::thread::scope(|scope| {
        for (job, expected) in jobs.iter().zip(&alone) {
            scope.spawn(move || assert_eq!(&run(job), expected));
        }
    });
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

//! Images made of what a job left, and jobs with a preload: each job starts there, and only there.

use std::sync::Arc;

use veriplay_core::{
    Callee, Execute, Exit, Job, Layer, LayerMount, LayerRoot, LayerStack, Limits, Outcome, Preload, Value,
};
use veriplay_sandbox::{Image, Layers, ResetMode, Sandbox, SandboxOptions};

use crate::support::{calls, python, sandbox, script};
use crate::workers::program;

fn tools() -> Layer {
    Layer::new([("slow.py".to_owned(), b"import argparse, email.message\nWORD = 'warm'\n".to_vec())]).unwrap()
}

fn base() -> Option<LayerStack> {
    let layers = vec![LayerMount { layer: tools().digest().clone(), at: LayerRoot::Library }];
    Some(LayerStack { layers, without: Vec::new() })
}

fn layers() -> Layers {
    [tools()].into_iter().collect()
}

fn warmed(program: &str) -> Arc<Image> {
    python().warm_up("warm", &warming(program), &layers()).unwrap()
}

fn warming(program: &str) -> Job {
    Job { base: base(), ..script(program) }
}

const PROGRAM: &str = "import sys\nsys.path.insert(0, '/opt/lib')\nimport slow\nslow.seen = []\ngone = 1\n";

fn run(sandbox: &Sandbox, program: &str) -> Outcome {
    let job = Job { image: "warm".to_owned(), base: base(), ..script(program) };
    let outcome = sandbox.execute(&job).unwrap();
    assert_eq!(outcome.exit, Exit::Returned, "{:?}", outcome.error);
    outcome
}

#[test]
fn worker_processes_load_the_image_that_a_warm_one_was_made_of() {
    let (base, warm) = (python(), warmed(PROGRAM));
    assert_eq!((warm.name(), warm.cached_name(), base.cached_name()), ("warm", base.name(), base.name()));
}

#[test]
fn a_job_starts_where_the_program_ended_and_not_where_the_last_job_did() {
    let sandbox = Sandbox::new(warmed(PROGRAM), SandboxOptions::fastest());
    let sandbox = sandbox.with_layers(layers());
    let program = "import slow, sys\nslow.seen.append(1)\nprint(slow.WORD, slow.seen, 'gone' in globals(), 'program' in sys.modules)";
    let first = run(&sandbox, program);
    assert_eq!(String::from_utf8_lossy(&first.stdout), "warm [1] False False\n");
    for _ in 0..3 {
        assert_eq!(run(&sandbox, program), first);
    }
}

#[test]
fn worker_processes_are_handed_it_and_come_to_the_same() {
    let processes = |image| Sandbox::in_processes(image, SandboxOptions::fastest(), program()).unwrap();
    let program = "import slow\nslow.seen.append(1)\nprint(slow.WORD, slow.seen)";
    let here = Sandbox::new(warmed(PROGRAM), SandboxOptions::fastest()).with_layers(layers());
    let there = processes(warmed(PROGRAM)).with_layers(layers());
    for _ in 0..3 {
        assert_eq!(run(&there, program), run(&here, program));
    }
    // One that was made of it.
    let again = warmed(PROGRAM).warm_up(
        "warm",
        &Job { image: "warm".to_owned(), ..warming("import slow\nslow.WORD = 'hot'") },
        &layers(),
    );
    let outcome = run(&processes(again.unwrap()).with_layers(layers()), program);
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), "hot [1]\n");
}

#[test]
fn what_the_program_did_costs_a_job_nothing() {
    let warm = Sandbox::new(warmed(PROGRAM), SandboxOptions::fastest()).with_layers(layers());
    let cold = Sandbox::new(python(), SandboxOptions::fastest()).with_layers(layers());
    let cold = cold.execute(&warming("import sys\nsys.path.insert(0, '/opt/lib')\nimport slow")).unwrap();
    let warm = run(&warm, "import slow");
    assert!(warm.fuel * 20 < cold.fuel, "{} and {}", warm.fuel, cold.fuel);
}

#[test]
fn its_name_says_what_it_was_made_of() {
    let (one, again, other) = (warmed(PROGRAM), warmed(PROGRAM), warmed("import json"));
    assert_eq!(one.digest(), again.digest());
    assert_ne!(one.digest(), other.digest());
    assert_ne!(one.digest(), python().digest());
}

#[test]
fn a_program_that_fails_makes_no_image_and_says_why() {
    let refused = |job: &Job| python().warm_up("warm", job, &layers()).unwrap_err().to_string();
    assert!(refused(&warming("raise ValueError('no')")).contains("ValueError: no"));
    let mut job = warming("while True: pass");
    job.limits.fuel = 1_000_000;
    assert!(refused(&job).contains("Exceeded"), "{}", refused(&job));
    let with_preload = Job { base: base(), ..after("pass", "pass") };
    assert!(refused(&with_preload).contains("has a preload"), "{}", refused(&with_preload));
    let unknown = python().warm_up("warm", &warming("pass"), &Layers::default()).unwrap_err().to_string();
    assert!(unknown.contains("is not one of this sandbox"), "{unknown}");
}

fn after(preload: &str, program: &str) -> Job {
    let program_of_preload = format!("{preload}\ndef done(*said): print(*said, end='')\n");
    let preload = Preload { program: program_of_preload, function: "done".to_owned(), arguments: Vec::new() };
    Job { preload: Some(preload), ..script(program) }
}

const PRELOAD: &str = "import argparse, random\nargparse.seen = [random.random()]\ngone = 1\n";

const LOOK: &str = "import argparse, random, sys\nargparse.seen.append(2)\n\
    print(len(argparse.seen), 'gone' in globals(), 'program' in sys.modules, random.random())";

fn called(job: Job, function: &str, arguments: Vec<Value>) -> Job {
    let preload = job.preload.map(|preload| Preload { function: function.to_owned(), arguments, ..preload });
    Job { preload, ..job }
}

/// Runs each job four times in sandboxes of every kind, and expects what it comes to in a sandbox of its own.
fn assert_always_the_same(jobs: &[Job]) {
    let options = |reset| SandboxOptions { max_parallel: 1, reset };
    let [scan, remap, fresh] = [ResetMode::Scan, ResetMode::Remap, ResetMode::Fresh].map(options);
    let sandboxes = [
        Sandbox::new(python(), scan),
        Sandbox::new(python(), remap),
        Sandbox::new(python(), fresh),
        Sandbox::in_processes(python(), scan, program()).unwrap(),
    ];
    for job in jobs {
        let first = Sandbox::new(python(), scan).execute(job).unwrap();
        for sandbox in &sandboxes {
            for _ in 0..4 {
                assert_eq!(sandbox.execute(job).unwrap(), first, "{job:?}");
            }
        }
    }
}

fn limited(job: Job, fuel: u64) -> Job {
    Job { limits: Limits { fuel, ..job.limits }, ..job }
}

fn fuel_of(job: &Job) -> u64 {
    Sandbox::new(python(), SandboxOptions::fastest()).execute(job).unwrap().fuel
}

#[test]
fn a_job_comes_to_the_same_whether_its_program_is_compiled_or_kept() {
    let reads = "import os, random, time\nprint(os.listdir(), random.random(), time.time(), os.urandom(2), id([]))";
    let enough = fuel_of(&script(reads));
    let mut jobs: Vec<Job> = (1..=12).map(|twelfths| limited(script(reads), enough * twelfths / 12)).collect();
    jobs.extend([limited(script(reads), enough - 1), limited(script(reads), 1000)]);
    // The same text under other seeds, files and limits, and as programs that are called.
    jobs.extend([
        script(reads),
        Job { seed: 7, files: vec![("a.txt".to_owned(), b"a".to_vec())], ..script(reads) },
        Job { limits: Limits { output_bytes: 8, ..script(reads).limits }, ..script(reads) },
        Job { callee: Some(Callee { program: reads.to_owned(), seed: 3, ..Callee::default() }), ..script(reads) },
        Job { stdin: b"x".to_vec(), ..calls("def f(): return input()", vec![vec![], vec![]]) },
    ]);
    let nested = format!("x = {}1{}", "(".repeat(5000), ")".repeat(5000));
    let large = (0..40_000).map(|index| format!("x{index} = [{index}]\n")).collect::<String>();
    let texts = [
        "assert (1, 'always true')\nprint(1)",
        "print(1 is 1, '\\d')",
        "\u{feff}print(1)",
        "def f(:",
        "print('\0')",
        "import gc\nprint(gc.get_count(), len(gc.get_objects()))",
        "import sys\nprint(sys._getframe().f_code.co_consts)\nraise ValueError",
        &nested,
        &large,
    ];
    jobs.extend(texts.map(script));
    jobs.push(limited(script(&large), 50_000_000));
    assert_always_the_same(&jobs);
}

#[test]
fn a_job_comes_to_the_same_whether_its_preload_is_run_or_kept() {
    let enough = fuel_of(&after(PRELOAD, LOOK));
    assert_always_the_same(&[
        after(PRELOAD, LOOK),
        Job { seed: 7, ..after(PRELOAD, LOOK) },
        limited(after(PRELOAD, LOOK), enough),
        limited(after(PRELOAD, LOOK), enough - 1),
        limited(after(PRELOAD, LOOK), enough / 2),
        limited(after(PRELOAD, LOOK), 1000),
        after("print('said')", "print('this')"),
        after("held = bytearray(90 << 20)", "pass"),
        after("import sys\nsys.kept = bytearray(90 << 20)", "import sys\nprint(len(sys.kept))"),
        after("raise ValueError('no')", "pass"),
        after("import sys\nsys.exit(3)", "pass"),
        after("does not compile", "pass"),
        limited(after("while True: pass", "pass"), 5_000_000),
        after("def done(): return object()", "pass"),
        called(after("", "pass"), "no_such_function", Vec::new()),
        called(after("", "pass"), "done", vec![Value::str("said")]),
        called(after("def raising(): raise ValueError('no')", "pass"), "raising", Vec::new()),
        called(
            after("import sys\ndef keep(kept): sys.kept = kept", "import sys\nprint(sys.kept)"),
            "keep",
            vec![Value::int(7)],
        ),
    ]);
}

#[test]
fn a_preload_is_charged_and_what_it_changed_is_there() {
    let sandbox = Sandbox::new(python(), SandboxOptions::fastest());
    let outcome = sandbox.execute(&after(PRELOAD, LOOK)).unwrap();
    let said = String::from_utf8_lossy(&outcome.stdout).into_owned();
    assert!(said.starts_with("2 False False 0."), "{said}");
    let import = sandbox.execute(&script("import argparse")).unwrap();
    let empty = sandbox.execute(&script("pass")).unwrap();
    assert!(outcome.fuel > import.fuel + empty.fuel, "{} and {}", outcome.fuel, import.fuel);
    let failed = sandbox.execute(&after("raise ValueError('no')", "print(1)")).unwrap();
    assert_eq!((failed.exit, failed.error.unwrap().message.as_str()), (Exit::Raised, "no"));
    let raising =
        called(after("def f(xs): raise ValueError(xs[0])", "print(1)"), "f", vec![Value::List(vec![Value::int(5)])]);
    let failed = sandbox.execute(&raising).unwrap();
    assert_eq!((failed.exit, failed.error.unwrap().message.as_str()), (Exit::Raised, "5"));
    assert!(failed.stdout.is_empty() && failed.calls.is_empty());
}

#[test]
fn a_preload_that_draws_numbers_leaves_the_jobs_seed_alone() {
    // Two normal numbers are drawn at once, and one of them is kept.
    let drawn = "import random\nprint(random.gauss(0, 1), random.random())";
    let draws = |preload| sandbox().execute(&after(preload, drawn)).unwrap().stdout;
    assert_eq!(draws("import random\nrandom.gauss(0, 1)"), draws("import random"));
}

#[test]
fn a_callee_that_fails_costs_no_preload() {
    let sandbox = Sandbox::new(python(), SandboxOptions::fastest());
    let callee = |program: &str| Some(Callee { program: program.to_owned(), ..Callee::default() });
    let outcome =
        sandbox.execute(&Job { callee: callee("does not compile"), ..after("while True: pass", "pass") }).unwrap();
    assert_eq!((outcome.fuel, outcome.callee.unwrap().exit), (0, Exit::CompileError));
    let outcome = sandbox.execute(&Job { callee: callee("x = 1"), ..after("raise ValueError", "pass") }).unwrap();
    assert_eq!((outcome.exit, outcome.callee.unwrap().exit), (Exit::Raised, Exit::Returned));
}

#[test]
fn objects_of_the_image_are_immortal_and_those_of_jobs_are_not() {
    let program = "import json, sys, random\n\
        def f(): pass\n\
        image = [json, json.loads, json.loads.__code__, json.__dict__, json.decoder.JSONDecoder, json.loads.__doc__, random._inst]\n\
        print([sys._is_immortal(found) for found in image], [sys._is_immortal(found) for found in (f, [1], {}, f.__code__)])";
    let outcome = Sandbox::new(python(), SandboxOptions::fastest()).execute(&script(program)).unwrap();
    let said = "[True, True, True, True, True, True, True] [False, False, False, False]\n";
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), said, "{:?}", outcome.error);
}

#[test]
fn a_preload_sees_nothing_of_its_job() {
    let sandbox = Sandbox::new(python(), SandboxOptions::fastest()).with_layers(layers());
    let preload = "import os, sys\nsys.seen = os.listdir('.'), sys.stdin.read(), os.path.exists('/opt/lib')\n";
    let job = Job {
        base: base(),
        files: vec![("secret.txt".to_owned(), b"1".to_vec())],
        stdin: b"2".to_vec(),
        ..after(preload, "import os, sys\nprint(sys.seen, os.listdir('.'), os.path.exists('/opt/lib'))")
    };
    for _ in 0..2 {
        let outcome = sandbox.execute(&job).unwrap();
        assert_eq!(String::from_utf8_lossy(&outcome.stdout), "([], '', False) ['secret.txt'] True\n");
    }
}

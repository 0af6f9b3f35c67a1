//! `veriplay verify` with a verdict cache: the same bytes whatever state the cache is in, and only repeatable verdicts in it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use veriplay_tests::veriplay_program;

use super::commands::{ended, parse};
use super::verify::{Bench, FUEL, column, completion, lines, mixed, rows, task, with_references};
use super::{finished, stderr, stdout, veriplay};

const CACHE: [&str; 2] = ["--cache", "cache"];

/// The mixed attempts, judged with a cache.
fn mixed_bench() -> Bench {
    let (tasks, attempts) = mixed();
    Bench::new(&tasks, &attempts, &[FUEL, CACHE].concat())
}

/// The verdicts, and how many of them came from the cache. The output must be a good one.
fn judged(output: &Output) -> (String, u64) {
    let summary = parse(ended(output, 0, &[]).lines().last().expect("a summary"));
    (stdout(output), summary["cached"].as_u64().expect("a count"))
}

fn judge(bench: &Bench, more: &[&str]) -> (String, u64) {
    judged(&bench.run(&[more, &["--json"]].concat()))
}

fn without_cache() -> String {
    let (tasks, attempts) = mixed();
    judge(&Bench::new(&tasks, &attempts, &FUEL), &[]).0
}

#[test]
fn the_second_run_is_answered_from_the_cache_with_the_same_bytes() {
    let (bench, plain) = (mixed_bench(), without_cache());
    assert_eq!(judge(&bench, &[]), (plain.clone(), 0));
    assert_eq!(judge(&bench, &[]), (plain.clone(), 8));
    assert_eq!(judge(&bench, &["--jobs", "1"]), (plain.clone(), 8));
    // In a file as on stdout, and the rows of an earlier run are not asked for again.
    assert_eq!(bench.summary(0)["cached"], 8);
    assert_eq!(bench.out(), plain);
    let summary = bench.summary(0);
    assert_eq!((&summary["resumed"], &summary["cached"]), (&json!(8), &json!(0)));
    assert!(stderr(&bench.run(&[])).contains("8 verdicts from the cache"));
}

#[test]
fn whatever_a_verdict_depends_on_is_asked_for() {
    let (bench, plain) = (mixed_bench(), without_cache());
    judge(&bench, &[]);
    for other in [&["--early-stop"][..], &["--memory-mib", "300"], &["--judge", "evalplus"]] {
        assert_eq!(judge(&bench, other).1, 0, "{other:?}");
        assert_eq!(judge(&bench, other).1, 8, "{other:?}");
    }
    let (tasks, mut attempts) = mixed();
    attempts[2] = completion("one", "    return 3\n");
    bench.write("attempts.jsonl", &lines(&attempts));
    assert_eq!(judge(&bench, &[]).1, 7);
    // Half of the attempts are at the second task.
    bench.write("tasks.jsonl", &lines(&[tasks[0].clone(), task("two", 3)]));
    assert_eq!(judge(&bench, &[]).1, 4);
    let (tasks, attempts) = mixed();
    bench.write("tasks.jsonl", &lines(&tasks));
    bench.write("attempts.jsonl", &lines(&attempts));
    assert_eq!(judge(&bench, &[]), (plain, 8));
}

#[test]
fn another_binary_takes_nothing_from_this_ones_verdicts() {
    let (bench, plain) = (mixed_bench(), without_cache());
    judge(&bench, &[]);
    // The same rules, as it happens: a byte behind the end of a program does nothing. The cache cannot know.
    let other = bench.path("veriplay");
    // Written by another process: a test that forks meanwhile would inherit our descriptor, and the copy be busy.
    let copy = "cp \"$0\" \"$1\" && printf '\\0' >> \"$1\"";
    let copied = Command::new("sh").args(["-c", copy]).arg(veriplay_program()).arg(&other).status();
    assert!(copied.expect("sh runs").success());
    let run = || judged(&finished(&mut bench.command(Command::new(&other), &["--json"])));
    assert_eq!(run(), (plain.clone(), 0));
    assert_eq!(run(), (plain.clone(), 8));
    assert_eq!(judge(&bench, &[]), (plain, 8));
}

#[test]
fn what_another_run_might_not_repeat_is_not_kept() {
    // The first case is wrong, the second meets the deadline: its status alone would not tell.
    let limits = json!({"fuel": 1_u64 << 50, "memory_bytes": 1_u64 << 29, "output_bytes": 1 << 20,
        "file_bytes": 1 << 20, "deadline_ns": 1_000_000_000});
    let mut slow = task("slow", 1);
    slow["problem"]["limits"] = limits;
    slow["problem"]["checks"]["calls"]["fresh"] = json!(true);
    let attempt = completion("slow", "    while x == 5: pass\n    return 0\n");
    let bench = Bench::new(&[slow], &[attempt], &CACHE);
    for _ in 0..2 {
        let (verdicts, cached) = judge(&bench, &[]);
        assert_eq!((column(&rows(&verdicts), "status"), cached), (vec!["wrong_answer".to_owned()], 0));
    }

    // A reference that raises is no verdict on the attempt.
    let attempts = [completion("HumanEval/1", "    return x / 3\n"), completion("HumanEval/2", "    return x\n")];
    let bench = Bench::new(&with_references(), &attempts, &[&["--format", "evalplus"], &CACHE[..]].concat());
    for cached in [0, 2] {
        let summary = bench.summary(9);
        assert_eq!((&summary["cached"], &summary["unjudgeable"]), (&json!(cached), &json!(1)));
        std::fs::remove_file(bench.path("out.jsonl")).expect("it is there");
    }
}

#[test]
fn a_file_that_is_not_whole_is_set_aside_and_changes_no_verdict() {
    let (bench, plain) = (mixed_bench(), without_cache());
    judge(&bench, &[]);
    let path = bench.path("cache/verdicts.sqlite");
    let whole = std::fs::read(&path).expect("it is there");
    let mut turned = whole.clone();
    for status in ["wrong_answer", "runtime_error"] {
        let found = |bytes: &[u8]| bytes.windows(status.len()).position(|window| window == status.as_bytes());
        while let Some(at) = found(&turned) {
            turned[at..at + 8].copy_from_slice(b"accepted");
        }
    }
    assert_ne!(turned, whole);
    for bytes in [turned, whole[..whole.len() / 2].to_vec(), b"not a database".to_vec()] {
        std::fs::write(&path, bytes).expect("it can be written");
        let output = bench.run(&["--json"]);
        assert_eq!(judged(&output).0, plain);
        ended(&output, 0, &["warning: ", "verdicts.sqlite.bad"]);
        assert!(bench.path("cache/verdicts.sqlite.bad").exists());
        assert_eq!(judge(&bench, &[]).0, plain);
        assert_eq!(judge(&bench, &[]), (plain.clone(), 8));
    }
}

#[test]
fn a_cache_that_another_process_has_is_done_without() {
    let (bench, plain) = (mixed_bench(), without_cache());
    judge(&bench, &[]);
    let lock = std::fs::File::open(bench.path("cache/lock")).expect("it is there");
    lock.try_lock().expect("nobody has it");
    let output = bench.run(&["--json"]);
    assert_eq!(judged(&output), (plain.clone(), 0));
    assert_eq!(stderr(&output).matches("another process has").count(), 1, "{}", stderr(&output));
    drop(lock);
    assert_eq!(judge(&bench, &[]), (plain, 8));
}

#[test]
fn two_processes_at_once_judge_alike_and_leave_a_good_cache() {
    let (bench, plain) = (mixed_bench(), without_cache());
    let start = || {
        let mut command = bench.command(veriplay(), &["--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    };
    for process in [start(), start()] {
        assert_eq!(judged(&process.wait_with_output().expect("it ends")).0, plain);
    }
    // One of the two had it from the beginning to the end.
    assert_eq!(judge(&bench, &[]), (plain, 8));
}

#[test]
fn a_killed_run_leaves_a_cache_that_can_be_used() {
    let attempts: Vec<Value> = (0..400).map(|n| completion("one", &format!("    return x + 1 + 0 * {n}\n"))).collect();
    let bench = Bench::new(&[task("one", 1)], &attempts, &CACHE);
    for kept in [1, 60, 200] {
        let mut command = bench.command(veriplay(), &[]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts");
        let rows = BufReader::new(process.stdout.take().expect("it is a pipe")).lines();
        assert_eq!(rows.take(kept).count(), kept);
        process.kill().expect("it can be killed");
        process.wait().expect("it ends");
    }
    let (verdicts, _) = judge(&bench, &[]);
    assert_eq!(verdicts, judge(&Bench::new(&[task("one", 1)], &attempts, &[]), &[]).0);
    assert_eq!(judge(&bench, &[]), (verdicts, 400));
    assert!(!bench.path("cache/verdicts.sqlite.bad").exists());
}

#[test]
fn it_lies_beside_the_images_unless_another_folder_or_none_is_named() {
    let images = veriplay_sandbox::default_cache_dir().expect("the tests have an image").join("images");
    let (tasks, attempts) = mixed();
    let bench = Bench::new(&tasks, &attempts[..2], &FUEL);
    let user = bench.path("user");
    std::fs::create_dir(&user).expect("the temporary directory can be written");
    std::os::unix::fs::symlink(images, user.join("images")).expect("the temporary directory can be written");
    let run = |more: &[&str]| {
        let mut command = bench.command(veriplay(), &[&["--json"], more].concat());
        judged(&finished(command.env("VERIPLAY_CACHE", &user))).1
    };
    let there = |path: &Path| path.join("verdicts/verdicts.sqlite").exists();
    assert_eq!((run(&["--no-cache"]), there(&user)), (0, false));
    assert_eq!((run(&CACHE), there(&user)), (0, false));
    assert_eq!((run(&[]), there(&user)), (0, true));
    assert_eq!((run(&[]), run(&["--no-cache"]), run(&CACHE)), (2, 0, 2));
    ended(&bench.run(&["--no-cache", "--cache", "cache"]), 2, &[]);
}

//! The task file under bad lines, torn lines and many writers.

use std::path::Path;

use proptest::prelude::*;
use veriplay_core::{IoPair, Limits, Provenance, Question, Task, Value};
use veriplay_corpus::{append_tasks, read_tasks};

fn task(n: usize) -> Task {
    let pair =
        IoPair { input: vec![Value::int(n)], output: Value::List(vec![Value::str("naïve\n"), Value::Float(0.5)]) };
    Task {
        family: "tiny/one".into(),
        question: Question::Deduction { program: format!("def f(x):\n    return x + {n}"), pair },
        limits: Limits { fuel: 1, memory_bytes: 2, output_bytes: 3, file_bytes: 4, deadline_ns: 5 },
        provenance: Provenance::Proposed { step: 3, index: n as u64 },
    }
}

fn tasks(range: std::ops::Range<usize>) -> Vec<Task> {
    range.map(task).collect()
}

fn cut_to(path: &Path, length: u64) {
    std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
}

#[test]
fn what_is_appended_is_read_back_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tasks.jsonl");
    assert_eq!(append_tasks(&path, &tasks(0..3)).unwrap(), 0);
    assert_eq!(append_tasks(&path, &tasks(3..5)).unwrap(), 0);
    let file = read_tasks(&path).unwrap();
    assert_eq!(file.tasks, tasks(0..5));
    assert!(file.problems.is_empty() && file.duplicates == 0);
}

#[test]
fn a_task_that_asks_the_same_is_read_once_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tasks.jsonl");
    let again = Task { provenance: Provenance::Seed, ..task(1) };
    append_tasks(&path, &[task(1), task(2), again]).unwrap();
    let file = read_tasks(&path).unwrap();
    assert_eq!((file.tasks, file.duplicates), (tasks(1..3), 1));
}

#[test]
fn bad_lines_are_reported_by_number_and_the_rest_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tasks.jsonl");
    append_tasks(&path, &tasks(0..2)).unwrap();
    let whole = std::fs::read_to_string(&path).unwrap();
    let (first, second) = whole.split_once('\n').unwrap();
    let newer = second.replace("\"schema_version\":1", "\"schema_version\":99");
    let strange = second.replace("\"schema_version\":1", "\"schema_version\":1,\"colour\":1");
    std::fs::write(&path, format!("{first}\nnot json\n\n{newer}{strange}{second}")).unwrap();
    let file = read_tasks(&path).unwrap();
    assert_eq!(file.tasks, tasks(0..2));
    let lines: Vec<usize> = file.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 3, 4, 5]);
    assert!(file.problems.iter().all(|problem| !problem.torn));
    assert!(file.problems[2].reason.contains("`99`"), "{}", file.problems[2]);
    assert!(file.problems[3].reason.contains("colour"), "{}", file.problems[3]);
    assert!(file.problems[0].to_string().contains("tasks.jsonl:2: "), "{}", file.problems[0]);
}

#[test]
fn a_torn_line_longer_than_a_read_block_is_cut_off_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tasks.jsonl");
    append_tasks(&path, &tasks(0..1)).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(vec![b'{'; 200_000]);
    std::fs::write(&path, bytes).unwrap();
    let file = read_tasks(&path).unwrap();
    assert!(file.problems.len() == 1 && file.problems[0].torn && file.problems[0].line == 2);
    assert_eq!(append_tasks(&path, &tasks(1..2)).unwrap(), 200_000);
    assert_eq!(read_tasks(&path).unwrap().tasks, tasks(0..2));
}

#[test]
fn many_writers_at_once_lose_and_mix_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tasks.jsonl");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                (0..5).for_each(|k| assert_eq!(append_tasks(path, &[task(writer * 5 + k)]).unwrap(), 0))
            });
        }
    });
    let file = read_tasks(&path).unwrap();
    assert_eq!((file.tasks.len(), file.problems.len()), (20, 0));
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let error = append_tasks(dir.path(), &tasks(0..1)).unwrap_err().to_string();
    assert!(error.contains("cannot write") && error.contains("hint: "), "{error}");
    let error = read_tasks(&dir.path().join("none.jsonl")).unwrap_err().to_string();
    assert!(error.contains("none.jsonl"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Killed at any byte of the second append: every earlier row survives, and the next append loses nothing.
    #[test]
    fn a_write_torn_at_any_byte_costs_at_most_its_own_rows(at in 0.0..=1.0_f64) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tasks.jsonl");
        append_tasks(&path, &tasks(0..2)).unwrap();
        let kept = std::fs::metadata(&path).unwrap().len();
        append_tasks(&path, &tasks(2..4)).unwrap();
        let whole = std::fs::metadata(&path).unwrap().len();
        let length = kept + ((whole - kept) as f64 * at) as u64;
        cut_to(&path, length);
        let before = read_tasks(&path).unwrap();
        prop_assert!(before.tasks.len() >= 2 && before.problems.len() <= 1);
        prop_assert!(before.problems.iter().all(|problem| problem.torn));
        let cut = append_tasks(&path, &tasks(4..5)).unwrap();
        prop_assert_eq!(cut > 0, !before.problems.is_empty());
        let after = read_tasks(&path).unwrap();
        prop_assert!(after.problems.is_empty());
        let expected: Vec<Task> = before.tasks.into_iter().chain(tasks(4..5)).collect();
        prop_assert_eq!(after.tasks, expected);
    }
}

//! What is believed of a test run: records for tests that were asked for, each once, and nothing else.

use std::sync::Mutex;

use veriplay_core::{
    CallResult, Digest, Entry, Execute, ExecuteError, Exit, GuestError, Job, LayerRoot, LimitKind, Limits, Outcome,
    Value,
};
use veriplay_verifier::repository::{
    FileRun, ImportMode, PytestSettings, Repository, TestResult, baseline_of, run_file, warming,
};

const LIMITS: Limits =
    Limits { fuel: 100, memory_bytes: 1 << 20, output_bytes: 1 << 16, file_bytes: 64, deadline_ns: 1_000_000 };

/// Answers jobs in turn, and remembers them.
struct Script {
    answers: Mutex<Vec<Outcome>>,
    jobs: Mutex<Vec<Job>>,
}

impl Execute for Script {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.jobs.lock().unwrap().push(job.clone());
        Ok(self.answers.lock().unwrap().remove(0))
    }
}

fn outcome(exit: Exit, answers: &[Value]) -> Outcome {
    let error = (exit == Exit::Trapped).then(|| GuestError { kind: "proc_exit".to_owned(), message: "3".to_owned() });
    let calls = answers.iter().map(|value| CallResult::Returned(value.encode())).collect();
    Outcome { calls, error, stdout: b"5 passed".to_vec(), fuel: 10, ..Outcome::new(exit) }
}

fn tuple(parts: Vec<Value>) -> Value {
    Value::Tuple(parts)
}

fn records(rows: &[(&str, &str)]) -> Value {
    let row = |(id, word): &(&str, &str)| {
        tuple(vec![Value::str(*id), Value::str(*word), Value::str("why"), Value::List(Vec::new())])
    };
    tuple(vec![Value::str("records"), Value::List(rows.iter().map(row).collect())])
}

fn ids(ids: &[&str]) -> Value {
    tuple(vec![Value::str("ids"), Value::List(ids.iter().map(|id| Value::str(*id)).collect())])
}

fn repository<'a>(layer: &'a Digest, settings: &'a PytestSettings) -> Repository<'a> {
    Repository {
        image: "python",
        split_image: "python",
        pytest: layer,
        package: layer,
        dependencies: None,
        roots: &[],
        own: &[],
        tests: &[],
        settings,
        files: &[],
        without: &[],
        limits: LIMITS,
        seed: 1,
        max_jobs: 40,
    }
}

fn arguments(job: &Job) -> &[Vec<Value>] {
    let Entry::Calls { arguments, .. } = &job.entry else { panic!("a job without calls") };
    arguments
}

/// The run of a file by these answers, and how many calls each job had.
fn ran(answers: Vec<Outcome>) -> (FileRun, Vec<usize>) {
    let script = Script { answers: Mutex::new(answers), jobs: Mutex::default() };
    let (layer, settings) = (Digest::of(b""), PytestSettings::default());
    let run = run_file(&script, &repository(&layer, &settings), "test_x.py").unwrap();
    assert!(script.answers.into_inner().unwrap().is_empty(), "every answer was asked for");
    (run, script.jobs.into_inner().unwrap().iter().map(|job| arguments(job).len()).collect())
}

fn results(run: &FileRun) -> Vec<(&str, TestResult)> {
    run.tests.iter().map(|test| (test.id.as_str(), test.result)).collect()
}

#[test]
fn one_job_is_enough_where_it_ends() {
    let (run, calls) = ran(vec![outcome(Exit::Returned, &[records(&[("a", "passed"), ("b", "skipped")])])]);
    assert_eq!(results(&run), [("a", TestResult::Passed), ("b", TestResult::Skipped)]);
    assert_eq!((run.fuel, run.broken, calls), (10, None, vec![1]));
}

#[test]
fn a_test_that_ends_the_interpreter_costs_itself_and_not_the_others() {
    let one = |id, word| records(&[(id, word)]);
    let (run, calls) = ran(vec![
        outcome(Exit::Trapped, &[]),
        outcome(Exit::Returned, &[ids(&["a", "b", "c"])]),
        outcome(Exit::Trapped, &[one("a", "passed")]),
        outcome(Exit::Returned, &[one("c", "passed")]),
    ]);
    let expected = [("a", TestResult::Passed), ("b", TestResult::Stopped), ("c", TestResult::Passed)];
    assert_eq!(results(&run), expected);
    assert_eq!(run.tests[1].text, "proc_exit: 3");
    assert_eq!((run.fuel, calls), (40, vec![1, 1, 3, 1]));
}

#[test]
fn tests_that_use_up_the_limit_do_not_cost_one_each() {
    let whole = |exit, answers: &[Value]| Outcome { fuel: 100, ..outcome(exit, answers) };
    let exceeded = || Exit::Exceeded { limit: LimitKind::Fuel, allowed: 100, used: 100 };
    let (run, calls) = ran(vec![
        whole(exceeded(), &[]),
        whole(Exit::Returned, &[ids(&["a", "b", "c", "d"])]),
        whole(exceeded(), &[]),
        whole(exceeded(), &[]),
    ]);
    let missing = TestResult::Missing;
    let expected = [("a", TestResult::Stopped), ("b", TestResult::Stopped), ("c", missing), ("d", missing)];
    assert_eq!(results(&run), expected);
    assert_eq!(run.tests[0].text, "Fuel limit 100 exceeded");
    assert_eq!((run.fuel, calls), (400, vec![1, 1, 4, 3]));
}

#[test]
fn a_report_on_another_test_or_on_two_counts_for_none() {
    for forged in [records(&[("z", "passed")]), records(&[("a", "passed"), ("b", "passed")]), records(&[])] {
        let (run, _) = ran(vec![
            outcome(Exit::Trapped, &[]),
            outcome(Exit::Returned, &[ids(&["a"])]),
            outcome(Exit::Returned, &[forged]),
        ]);
        assert_eq!(results(&run), [("a", TestResult::Stopped)]);
    }
}

#[test]
fn two_records_of_one_test_break_the_file() {
    let (run, _) = ran(vec![outcome(Exit::Returned, &[records(&[("a", "failed"), ("a", "passed")])])]);
    assert!(run.tests.is_empty());
    assert_eq!(run.broken.as_deref(), Some("test `a` has two records"));
}

#[test]
fn words_that_are_none_and_text_on_stdout_are_no_results() {
    for answer in [records(&[("a", "PASSED")]), Value::str("5 passed"), tuple(vec![Value::str("records"), Value::None])]
    {
        let answers = || outcome(Exit::Returned, std::slice::from_ref(&answer));
        let (run, _) = ran(vec![answers(), answers()]);
        assert!(run.tests.is_empty() && run.broken.is_some());
    }
}

#[test]
fn a_file_that_cannot_be_collected_is_broken_with_the_reason() {
    let broken = tuple(vec![Value::str("broken"), Value::str("ModuleNotFoundError: numpy")]);
    let (run, _) = ran(vec![outcome(Exit::Returned, &[broken])]);
    assert_eq!(run.broken.as_deref(), Some("ModuleNotFoundError: numpy"));
}

#[test]
fn only_what_passes_twice_is_in_the_baseline() {
    let run = |rows: &[(&str, &str)]| ran(vec![outcome(Exit::Returned, &[records(rows)])]).0;
    let first = run(&[("a", "passed"), ("flaky", "passed"), ("gone", "passed"), ("b", "failed"), ("x", "xpassed")]);
    let second = run(&[("a", "passed"), ("flaky", "failed"), ("b", "passed"), ("x", "xpassed")]);
    let baseline = baseline_of("t.py", &first, &second);
    assert_eq!(baseline.passed, ["a"]);
    let reasons: Vec<_> = baseline.unsupported.iter().map(|test| (test.id.as_str(), test.reason.as_str())).collect();
    let expected = [
        ("flaky", "it passed once, and with another seed it was Failed"),
        ("gone", "with another seed it was not there"),
        ("b", "why"),
        ("x", "why"),
    ];
    assert_eq!(reasons, expected);
}

#[test]
fn dependencies_lie_in_a_place_of_their_own_and_settings_go_to_the_guest() {
    let (pytest, package, dependencies) = (Digest::of(b"p"), Digest::of(b"q"), Digest::of(b"d"));
    let settings = PytestSettings {
        python_functions: vec!["check_*".to_owned()],
        import_mode: Some(ImportMode::Importlib),
        ..PytestSettings::default()
    };
    let repository = Repository {
        package: &package,
        dependencies: Some(&dependencies),
        max_jobs: 0,
        ..repository(&pytest, &settings)
    };
    let answer = outcome(Exit::Returned, &[records(&[])]);
    let script = Script { answers: Mutex::new(vec![answer]), jobs: Mutex::default() };
    run_file(&script, &repository, "test_x.py").unwrap();
    let job = script.jobs.into_inner().unwrap().remove(0);
    let warm = warming("python", &pytest, &package, Some(&dependencies), &[], LIMITS);
    for base in [job.base.clone().unwrap(), warm.base.unwrap()] {
        let places: Vec<_> = base.layers.iter().map(|mounted| (mounted.at, &mounted.layer)).collect();
        let expected =
            [(LayerRoot::Library, &pytest), (LayerRoot::Dependencies, &dependencies), (LayerRoot::Work, &package)];
        assert_eq!(places, expected);
    }
    let given = Value::Dict(vec![
        (Value::str("python_functions"), Value::List(vec![Value::str("check_*")])),
        (Value::str("import_mode"), Value::str("importlib")),
    ]);
    assert_eq!(arguments(&job)[0][4], given);
}

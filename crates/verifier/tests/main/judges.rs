//! The judges as a whole: names, documents, options, and what they do with the wrong kind.

use std::path::Path;

use veriplay_core::{Comparison, Execute, ExecuteError, Job, Outcome, Tolerance, Value};
use veriplay_verifier::judges::{
    JUDGES, JudgeContext, JudgeFinding, OutputKind, ReturnedCall, ScriptRun, choose_judge, judge_by_name, judge_names,
    parse_judge,
};

use crate::cases::{is_yes, texts};
use crate::table::{LIMITS, read};

/// For judges that run nothing.
pub(crate) struct Nothing;

impl Execute for Nothing {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        Err(ExecuteError::Host(format!("ran `{}`", job.program)))
    }
}

fn context() -> JudgeContext<'static> {
    JudgeContext::new(&Nothing, "python", LIMITS, 1)
}

/// A call of `set/7` that returned this.
fn returned<'a>(comparison: &'a Comparison, expected: &'a Value, actual: &'a Value) -> ReturnedCall<'a> {
    ReturnedCall { task_id: "set/7", function: "g", input: &[], expected, actual: Some(actual), comparison }
}

/// `judge` with a tolerance of that absolute and relative part.
pub(crate) fn within(judge: &str, absolute: f64, relative: f64) -> Comparison {
    Comparison { tolerance: Some(Tolerance { absolute, relative }), ..Comparison::by(judge) }
}

/// Whether `actual` is right for a problem with that id and function, on those arguments.
pub(crate) fn call_is_right(
    comparison: &Comparison,
    task_id: &str,
    function: &str,
    input: &[Value],
    expected: &Value,
    actual: Option<&Value>,
) -> bool {
    let call = ReturnedCall { task_id, function, input, expected, actual, comparison };
    let judge = judge_by_name(&comparison.judge).unwrap();
    judge.compare_call(&mut context(), &call).unwrap() == JudgeFinding::Right
}

/// The same for values by their text and a problem without a rule of its own.
pub(crate) fn value_is_right(comparison: &Comparison, expected: &str, actual: &str) -> bool {
    call_is_right(comparison, "test/1", "g", &[], &read(expected), Some(&read(actual)))
}

/// Whether those bytes are right.
pub(crate) fn bytes_are_right(comparison: &Comparison, expected: &str, actual: &[u8]) -> bool {
    let run = ScriptRun { task_id: "test/1", stdin: "", expected, actual, comparison };
    let judge = judge_by_name(&comparison.judge).unwrap();
    judge.compare_script(&mut context(), &run).unwrap() == JudgeFinding::Right
}

pub(crate) fn text_is_right(comparison: &Comparison, expected: &str, actual: &str) -> bool {
    bytes_are_right(comparison, expected, actual.as_bytes())
}

#[test]
fn each_judge_takes_what_its_rule_says() {
    for [judge, kind, expected, actual, is_right] in texts(include_str!("cases/one_judge.txt")) {
        let judge = parse_judge(&judge).unwrap();
        let found = match kind.as_str() {
            "values" => value_is_right(&judge, &expected, &actual),
            _ => text_is_right(&judge, &expected, &actual),
        };
        assert_eq!(found, is_yes(&is_right), "{judge:?}: {actual} for {expected}");
    }
}

#[test]
fn every_file_is_a_judge_in_the_list_with_its_headings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/judges");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        files += 1;
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(judge_by_name(&name).is_some(), "{name} is not in JUDGES");
        let text = std::fs::read_to_string(&path).unwrap();
        let mut rest = text.as_str();
        assert!(rest.starts_with(&format!("//! Judge `{name}`: ")), "{name}");
        for heading in ["What it decides", "Why", "How it can be gamed", "Example"] {
            let (_, after) =
                rest.split_once(&format!("//! # {heading}\n//! ")).unwrap_or_else(|| panic!("{name}: {heading}"));
            rest = after;
        }
    }
    assert_eq!(files, JUDGES.len());
}

#[test]
fn names_are_distinct_and_find_their_judge() {
    for judge in JUDGES {
        assert_eq!(JUDGES.iter().filter(|other| other.name() == judge.name()).count(), 1);
        assert_eq!(judge_by_name(judge.name()).unwrap().name(), judge.name());
    }
    assert!(judge_by_name("Exact").is_none() && judge_by_name("").is_none());
    assert!(judge_names().starts_with("exact, lines, tokens, float, "));
    // As rows of earlier versions have them.
    assert_eq!(judge_by_name("stdio").unwrap().name(), "lines");
    assert_eq!(judge_by_name("common_oj").unwrap().name(), "nemo_gym");
}

#[test]
fn a_judge_is_chosen_by_a_name_that_there_is() {
    assert_eq!(parse_judge("tokens"), Ok(Comparison::by("tokens")));
    assert_eq!(parse_judge("float:atol=1"), Ok(within("float", 1.0, 0.0)));
    let why = parse_judge("diff").unwrap_err();
    assert!(why.contains("`diff`") && why.contains(&judge_names()), "{why}");
}

#[test]
fn a_choice_holds_where_the_row_leaves_it_to_others_and_the_judge_takes_the_outputs() {
    let chosen = |own: &Comparison, judge: &str, kind| {
        let mut own = own.clone();
        choose_judge(&mut own, &Comparison::by(judge), kind);
        own.judge
    };
    let of_set = Comparison::by_set("lines");
    assert_eq!(chosen(&of_set, "tokens", OutputKind::Texts), "tokens");
    assert_eq!(chosen(&Comparison::by("lines"), "tokens", OutputKind::Texts), "lines");
    assert_eq!(chosen(&Comparison::by_set("apps"), "tokens", OutputKind::Values), "apps");
}

#[test]
fn a_judge_on_what_it_does_not_take_is_dropped_by_name_and_task() {
    let (value, comparison) = (Value::int(1), Comparison::by("exact"));
    let call = returned(&comparison, &value, &value);
    let run = ScriptRun { task_id: "set/7", stdin: "", expected: "1", actual: b"1", comparison: &comparison };
    let context = &mut context();
    for judge in JUDGES.iter().filter(|judge| judge.name() != "checker") {
        let results = [
            (OutputKind::Values, judge.compare_call(context, &call)),
            (OutputKind::Texts, judge.compare_script(context, &run)),
        ];
        for (kind, result) in results {
            match result {
                Ok(finding) => assert!(judge.supports(kind) && finding == JudgeFinding::Right, "{}", judge.name()),
                Err(dropped) => {
                    assert!(!judge.supports(kind), "{}", dropped.why);
                    assert!(dropped.why.contains(judge.name()) && dropped.why.contains("set/7"), "{}", dropped.why);
                }
            }
        }
    }
}

#[test]
fn options_that_decide_nothing_are_refused() {
    let check_for =
        |kind, comparison: &Comparison| judge_by_name(&comparison.judge).unwrap().check_options(comparison, kind);
    let check = |comparison: &Comparison| check_for(OutputKind::Values, comparison);
    assert!(check(&Comparison::by("float")).is_ok() && check(&within("float", 0.0, 1e-9)).is_ok());
    for bad in [f64::NAN, f64::INFINITY, -1e-9] {
        for judge in ["float", "evalplus", "exact"] {
            assert!(check(&within(judge, bad, 0.0)).is_err() && check(&within(judge, 0.0, bad)).is_err(), "{judge}");
        }
    }
    let checker = |source: &str| Comparison { checker: Some(source.to_owned()), ..Comparison::by("checker") };
    assert!(check(&checker("def check(a, b, c): return True")).is_ok());
    assert!(check(&checker(" \n")).is_err() && check(&Comparison::by("checker")).is_err());
    let script = Comparison { checker_script: Some("print(1)".to_owned()), ..Comparison::by("checker") };
    assert!(check_for(OutputKind::Texts, &script).is_ok() && check(&script).is_err());
    let both = Comparison { checker: Some("c".to_owned()), ..script };
    assert!(check_for(OutputKind::Texts, &both).is_err());
    assert!(check(&Comparison::by("evalplus")).is_ok());
}

#[test]
fn what_is_no_plain_value_or_no_text_is_right_by_no_judge() {
    for judge in JUDGES.iter().filter(|judge| judge.supports(OutputKind::Values) && judge.name() != "checker") {
        let comparison = within(judge.name(), 1e9, 1e9);
        for expected in ["None", "True", "1.0", "[]"] {
            assert!(!call_is_right(&comparison, "test/1", "g", &[], &read(expected), None), "{}", judge.name());
        }
    }
    for judge in JUDGES.iter().filter(|judge| judge.supports(OutputKind::Texts) && judge.name() != "checker") {
        assert!(!bytes_are_right(&within(judge.name(), 1.0, 1.0), "1", b"1\xff"), "{}", judge.name());
        assert!(bytes_are_right(&within(judge.name(), 1.0, 1.0), "1", b"1\n"), "{}", judge.name());
    }
}

#[test]
fn a_difference_names_both_sides_and_is_cut() {
    let (expected, actual) = (Value::str("e".repeat(5_000)), Value::str("a".repeat(5_000)));
    let comparison = Comparison::by("exact");
    let call = returned(&comparison, &expected, &actual);
    match judge_by_name("exact").unwrap().compare_call(&mut context(), &call) {
        Ok(JudgeFinding::Wrong(detail)) => {
            assert!(detail.contains("aaa") && detail.contains("eee") && detail.len() < 300, "{detail}");
        }
        other => panic!("it is wrong: {other:?}"),
    }
}

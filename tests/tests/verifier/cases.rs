//! Cases in the Python files beside this one: programs, what judges them, and what must become of them.
//!
//! A line `# == KIND` begins what judges, whose source stands below it, and each `# -- CLAIM` a program that it judges. A line `## …` is a remark to
//! the reader. [`checks`] reads kinds and [`holds`] claims; `proposals.py` and `exceptions.py` have claims of their own.

use rayon::prelude::*;
use serde_json::{Value as Json, json};
use veriplay_core::{Checks, Evidence, Limits, Problem, Status, TestCode, TestStyle, Trust, Verdict};
use veriplay_tests::assert_none;

use super::{LONG, judge};

/// What judges, and the programs that it judges, each behind its claim.
pub(super) struct Subject<'a> {
    pub(super) kind: &'a str,
    pub(super) source: String,
    pub(super) programs: Vec<(&'a str, String)>,
}

pub(super) fn subjects(text: &str) -> Vec<Subject<'_>> {
    let mut subjects = Vec::new();
    for (kind, body) in parts(text, "\n# == ") {
        let source = source(body.split("\n# -- ").next().unwrap_or_default());
        subjects.push(Subject { kind, source, programs: programs(body) });
    }
    assert!(!subjects.is_empty());
    subjects
}

/// The programs of a text, each behind its claim.
pub(super) fn programs(text: &str) -> Vec<(&str, String)> {
    let programs: Vec<_> = parts(text, "\n# -- ").map(|(claim, body)| (claim, source(body))).collect();
    assert!(!programs.is_empty(), "{text}");
    programs
}

/// What stands behind each mark of a text, and the lines below it.
fn parts<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    text.split(mark).skip(1).map(|part| part.split_at(part.find('\n').unwrap_or(part.len())))
}

fn source(part: &str) -> String {
    let lines: Vec<&str> = part.lines().filter(|line| !line.starts_with("## ")).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// What a kind and its source judge by: test code, the value or the output that is wanted of `f(3)` or of a script, or checks as a row has them.
fn checks(kind: &str, source: &str) -> Checks {
    if kind.starts_with('{') {
        return serde_json::from_str(kind).unwrap_or_else(|error| panic!("{error}: {kind}"));
    }
    let (word, argument) = kind.split_once(' ').unwrap_or((kind, ""));
    match word {
        "asserts" => tests(TestStyle::Asserts(source.split("\n\n").map(str::to_owned).collect())),
        "functions" => tests(TestStyle::Functions(source.to_owned())),
        "check" => tests(TestStyle::Check { source: source.to_owned(), function: argument.to_owned() }),
        "shared" => match checks(argument, source) {
            Checks::Tests(code) => Checks::Tests(TestCode { trust: Trust::Shared, ..code }),
            other => panic!("{other:?} share no instance"),
        },
        "by" => {
            let (judge, value) = argument.split_once(' ').expect("a judge and a value");
            calls(value, json!({"judge": judge}))
        }
        "checker" => calls(argument, checker(source)),
        "printed" => stdio(
            json!({"cases": [{"stdin": "3\n", "stdout": format!("{argument}\n")}], "comparison": checker(source)}),
        ),
        "script" => stdio(json!({"cases": [{"stdin": "10\n", "stdout": "3 7\n"}],
            "comparison": {"judge": "checker", "checker_script": source}})),
        "interactor" => stdio(json!({"cases": [{"stdin": "42", "stdout": "secret answer"}], "interactor": source})),
        "verification" => read(json!({"environment": {"environment": {"name": "shelf", "source": SHELF},
            "verify": function("verify(before, after, answer)", source)}})),
        other => panic!("there is no kind `{other}`"),
    }
}

fn tests(style: TestStyle) -> Checks {
    Checks::Tests(TestCode::new(Trust::Split, style))
}

fn calls(expected: &str, comparison: Json) -> Checks {
    read(
        json!({"calls": {"function": "f", "cases": [{"input": ["3"], "expected": expected}], "comparison": comparison}}),
    )
}

fn stdio(checks: Json) -> Checks {
    read(json!({"stdio": checks}))
}

fn read(checks: Json) -> Checks {
    serde_json::from_value(checks).expect("checks")
}

fn checker(body: &str) -> Json {
    json!({"judge": "checker", "checker": function("check(input, expected, actual)", body)})
}

fn function(signature: &str, body: &str) -> String {
    format!("def {signature}:\n    {}\n", body.replace('\n', "\n    "))
}

/// The environment of verification functions.
const SHELF: &str = include_str!("shelf.py");

/// Whether a verdict is as a claim says: its status, and behind it how many have passed, ` 2/3`, its rule, ` by shared`, and words of its detail,
/// `: no file`. `refused` is any status but accepted where nothing has passed, and `failed` one that is the program's own fault.
pub(super) fn holds(claim: &str, verdict: &Verdict) -> bool {
    let Verdict { status: found, passed, total, evidence } = verdict;
    let (claim, words) = claim.split_once(": ").unwrap_or((claim, ""));
    let (claim, rule) = claim.split_once(" by ").unwrap_or((claim, &evidence.rule));
    let (status, counts) = claim.split_once(' ').unwrap_or((claim, ""));
    let is_accepted = *found == Status::Accepted;
    let ends_so = match status {
        "refused" => !is_accepted && *passed == 0,
        "failed" => !is_accepted && *found != Status::Unjudgeable,
        status => found.to_string() == status,
    };
    let is_whole = is_accepted == (passed == total) || *found == Status::Unjudgeable;
    let counted = counts.is_empty() || counts == format!("{passed}/{total}");
    ends_so && is_whole && counted && rule == evidence.rule && evidence.detail.contains(words)
}

/// One program of a file, and what judges it.
struct Case<'a> {
    kind: String,
    source: &'a str,
    claim: &'a str,
    program: &'a str,
}

/// The cases of a subject: those of test code in `both` trusts stand for two each.
fn cases<'a>(subject: &'a Subject<'_>) -> Vec<Case<'a>> {
    let kinds = match subject.kind.strip_prefix("both ") {
        Some(tests) => vec![tests.to_owned(), format!("shared {tests}")],
        None => vec![subject.kind.to_owned()],
    };
    let mut cases = Vec::new();
    for kind in kinds {
        for (claim, program) in &subject.programs {
            cases.push(Case { kind: kind.clone(), source: &subject.source, claim, program });
        }
    }
    cases
}

impl Case<'_> {
    /// What its verdict is where that is not as claimed, or for an interactor another the second time.
    fn fault(&self, limits: Limits) -> Option<String> {
        let Self { kind, source, claim, program } = self;
        let problem = Problem::new("t", checks(kind, source));
        let verdict = judge(&problem, program, limits);
        let is_same_again = || judge(&problem, program, limits) == verdict;
        let is_right = holds(claim, &verdict) && (kind != "interactor" || is_same_again());
        (!is_right).then(|| format!("{verdict:?}\n# == {kind}\n{source}\n# -- {claim}\n{program}"))
    }
}

/// Judges every program of a file.
#[track_caller]
fn judge_file(text: &str, limits: Limits) {
    let subjects = subjects(text);
    let cases: Vec<Case<'_>> = subjects.iter().flat_map(cases).collect();
    assert_none(cases.par_iter().filter_map(|case| case.fault(limits)).collect());
}

#[test]
fn attacks_on_what_compares_are_refused_and_right_answers_are_accepted() {
    judge_file(include_str!("checker_attacks.py"), LONG);
}

#[test]
fn judges_of_files_scripts_and_alternatives() {
    judge_file(include_str!("judges.py"), LONG);
}

#[test]
fn interactors_decide_and_nothing_else_does() {
    judge_file(include_str!("interactors.py"), LONG);
}

#[test]
fn test_code_tells_right_programs_from_wrong_ones() {
    judge_file(include_str!("test_code.py"), LONG);
}

#[test]
fn test_code_in_the_style_of_pytest_is_judged_or_found_at_fault() {
    judge_file(include_str!("pytest_code.py"), Limits { fuel: 20_000_000_000, ..LONG });
}

#[test]
fn a_claim_can_fail() {
    let verdict = Verdict { status: Status::WrongAnswer, passed: 1, total: 2, evidence: Evidence::default() };
    for claim in ["wrong_answer", "wrong_answer 1/2", "failed"] {
        assert!(holds(claim, &verdict), "{claim}");
    }
    for claim in ["accepted", "wrong_answer 2/2", "refused", "wrong_answer by shared", "wrong_answer: no file"] {
        assert!(!holds(claim, &verdict), "{claim}");
    }
}

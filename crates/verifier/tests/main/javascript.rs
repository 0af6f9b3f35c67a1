//! Triplets in JavaScript: what the gate lets through, which answers are right, and how responses are read.

use veriplay_core::{
    Attempt, Dropped, IoPair, JAVASCRIPT, Job, Language, Proposal, ProposalVerdict, Provenance, Question, Status, Task,
    TaskType, Value,
};
use veriplay_verifier::languages::language_named;
use veriplay_verifier::triplets::rules;
use veriplay_verifier::{
    AnswerRequest, Format, ProposalGate, ProposalRequest, ProposalShape, format_in, judge_answer, judge_proposal,
};

use crate::table::{Gives, LIMITS, Table, gate, int_of, read};

const SQUARE: &str = "function f(x) { return x * x; }";

fn javascript_gate() -> ProposalGate {
    ProposalGate { image: "javascript".to_owned(), ..gate() }
}

fn square() -> Table {
    Table::default().with(SQUARE, |call| Gives::Value(Value::int(int_of(&call.arguments[0]).pow(2))))
}

fn propose(table: &Table, program: &str) -> ProposalVerdict {
    let (task_type, program, input) = (TaskType::Deduction, program.to_owned(), vec![Value::int(7)]);
    let attempt = Attempt::Proposal(Proposal::Triplet { task_type, program, input });
    let request = ProposalRequest { attempt: &attempt, known: false, provenance: Provenance::Seed };
    judge_proposal(table, &javascript_gate(), &request).unwrap()
}

/// The rule that refuses a program; nothing runs where a rule on its text does.
fn refused_by(program: &str) -> String {
    let table = square().with(program, |call| Gives::Value(Value::int(int_of(&call.arguments[0]).pow(2))));
    let verdict = propose(&table, program).verdict;
    assert!(verdict.status == Status::Valid || table.jobs().is_empty(), "{program}");
    verdict.evidence.rule
}

#[test]
fn a_proposal_becomes_a_task_of_its_language_after_two_runs_without_a_preload() {
    let table = square();
    let task = propose(&table, SQUARE).task.unwrap();
    assert_eq!(task.language.as_deref(), Some("javascript"));
    let Question::Deduction { pair, .. } = &task.question else { panic!("{task:?}") };
    assert_eq!(pair.output, Value::int(49));
    let of = |job: &Job| (job.image.clone(), job.seed, job.preload.is_some(), job.limits);
    let jobs: Vec<_> = table.jobs().iter().map(of).collect();
    assert_eq!(jobs, [1, 2].map(|seed| ("javascript".to_owned(), seed, false, LIMITS)));
}

#[test]
fn a_program_that_differs_by_seed_is_refused() {
    let drawn = Table::default().with(SQUARE, |call| Gives::Value(Value::int(call.seed)));
    assert_eq!(propose(&drawn, SQUARE).verdict.evidence.rule, rules::NONDETERMINISTIC);
}

#[test]
fn an_array_of_the_arguments_is_what_went_in() {
    let same = Table::default().with(SQUARE, |call| Gives::Value(Value::List(call.arguments.to_vec())));
    assert_eq!(propose(&same, SQUARE).verdict.evidence.rule, rules::IDENTITY);
}

/// What becomes of a program that returns its argument under a key.
fn refused_under(key: &'static str) -> String {
    let table = Table::default()
        .with(SQUARE, move |call| Gives::Value(Value::Dict(vec![(Value::str(key), call.arguments[0].clone())])));
    propose(&table, SQUARE).verdict.evidence.rule
}

#[test]
fn an_output_without_a_literal_is_refused() {
    assert_eq!(refused_under("own"), "");
    assert_eq!(refused_under("__proto__"), rules::UNENCODABLE);
}

#[test]
fn a_program_says_function_f_and_no_forbidden_word() {
    for (program, rule) in [
        ("function f(x) { return x * x }", ""),
        ("const g = x => x * x;\nfunction f (x) { return g(x); }", ""),
        ("// no Date\nfunction f(x) { return 'Math.random' && \"eval\" && x * x }", ""),
        ("function f(x) { let dated = 1; return x * x / dated }", ""),
        ("const f = x => x * x", rules::ENTRY),
        ("function g(x) { return x * x }", rules::ENTRY),
        ("// function f(\nfunction g(x) { return x }", rules::ENTRY),
        ("function* f(x) { yield x }", rules::ENTRY),
        ("function f(x) { return Date.now() }", rules::FORBIDDEN),
        ("function f(x) { return Math.random() }", rules::FORBIDDEN),
        ("function f(x) { return `${process.pid}` }", rules::FORBIDDEN),
        ("const fs = require('fs'); function f(x) { return x }", rules::FORBIDDEN),
        ("import fs from 'fs'; function f(x) { return x }", rules::FORBIDDEN),
    ] {
        assert_eq!(refused_by(program), rule, "{program}");
    }
    let long = format!("function f(x) {{ return x * x }} // {}", "long ".repeat(40));
    assert_eq!(refused_by(&long), rules::PROGRAM_LENGTH);
}

#[test]
fn statements_are_not_counted() {
    assert!(javascript_gate().check().is_ok());
    for (gate, key) in [
        (ProposalGate { max_statements: Some(8), ..javascript_gate() }, "`max_statements` is `8`"),
        (ProposalGate { min_statements: Some(2), ..javascript_gate() }, "`min_statements` is `2`"),
    ] {
        let error = gate.check().unwrap_err().to_string();
        assert!(error.starts_with(key) && error.contains("max_program_bytes"), "{error}");
    }
}

fn task(abduction: bool, output: Value) -> Task {
    let (program, pair) = (SQUARE.to_owned(), IoPair { input: vec![Value::int(1)], output });
    let question =
        if abduction { Question::Abduction { program, pair } } else { Question::Deduction { program, pair } };
    let (family, language) = ("test".to_owned(), Some("javascript".to_owned()));
    Task { family, language, question, limits: LIMITS, provenance: Provenance::Seed }
}

fn answer(table: &Table, task: &Task, attempt: &Attempt) -> Result<(Status, String), Dropped> {
    let request = AnswerRequest { task, attempt, image: "javascript", seed: 9, judge_shown: true };
    judge_answer(table, &request).map(|verdict| (verdict.status, verdict.evidence.detail))
}

#[test]
fn a_predicted_output_is_right_by_type_and_value() {
    let of = |output: &str, value: &str| answer(&square(), &task(false, read(output)), &Attempt::Value(read(value)));
    for (output, value) in [("1", "1.0"), ("{'a': 1, 'b': None}", "{'b': None, 'a': 1}"), ("{1, 2}", "{2, 1}")] {
        assert_eq!(of(output, value).unwrap().0, Status::Accepted, "{output} {value}");
    }
    assert_eq!(of("True", "1").unwrap(), (Status::WrongAnswer, "`1` instead of `true`".to_owned()));
    assert_eq!(of("[0]", "[False]").unwrap().0, Status::WrongAnswer);
    assert_eq!(of("[1]", "(1,)").unwrap().0, Status::WrongAnswer);
}

#[test]
fn a_found_input_is_right_where_the_program_returns_the_output() {
    let of = |input: i64| answer(&square(), &task(true, Value::int(9)), &Attempt::Arguments(vec![Value::int(input)]));
    assert_eq!(of(-3).unwrap().0, Status::Accepted);
    assert_eq!(of(2).unwrap(), (Status::WrongAnswer, "`4` instead of `9`".to_owned()));
    let is_nine = Table::default().with(SQUARE, |_| Gives::Value(Value::Bool(true)));
    let truth = answer(&is_nine, &task(true, Value::int(1)), &Attempt::Arguments(vec![Value::int(1)]));
    assert_eq!(truth.unwrap().0, Status::WrongAnswer);
}

fn think() -> &'static dyn Format {
    format_in(&JAVASCRIPT, "think").unwrap()
}

fn answered(blocks: &str) -> String {
    format!("a plan</think>\n<answer>\n{blocks}</answer>")
}

fn proposed(label: &str, input: &str) -> Attempt {
    let shape = ProposalShape { task_type: TaskType::Abduction, given: None, inputs: 0 };
    let blocks = format!("```{label}\n{SQUARE}\n```\n```input\n{input}\n```\n");
    think().extract_proposal(&shape, &answered(&blocks))
}

fn predicted(output: &str) -> Attempt {
    think().extract_answer(TaskType::Deduction, &answered(&format!("```output\n{output}\n```\n")))
}

#[test]
fn responses_hold_programs_and_literals_of_javascript() {
    for label in ["javascript", "js"] {
        let input = vec![Value::Bool(true), read("{'a': [1]}")];
        let (task_type, program) = (TaskType::Abduction, SQUARE.to_owned());
        let wanted = Attempt::Proposal(Proposal::Triplet { task_type, program, input });
        assert_eq!(proposed(label, "true, {a: [1]}"), wanted, "{label}");
    }
    for (label, input, why) in [
        ("python", "1", "no block fenced as `javascript`"),
        ("js", "True", "no literal begins here"),
        ("js", "new Set([1])", "pass an array"),
        ("js", "", "the input is empty"),
    ] {
        let Attempt::Malformed { reason } = proposed(label, input) else { panic!("{label} {input}") };
        assert!(reason.contains(why), "{reason}");
    }
    assert_eq!(predicted("[undefined, 'a']"), Attempt::Value(read("[None, 'a']")));
    assert!(matches!(predicted("1, 2"), Attempt::Malformed { .. }));
}

#[test]
fn formats_are_those_of_the_language() {
    let has = |language: &dyn Language, format: &str| format_in(language, format).is_some();
    let [python, cpp] = ["python", "cpp"].map(|name| language_named(name).unwrap());
    assert!(has(python, "compact") && has(python, "think") && has(&JAVASCRIPT, "think"));
    assert!(!has(&JAVASCRIPT, "compact") && !has(&JAVASCRIPT, "direct") && !has(cpp, "think"));
}

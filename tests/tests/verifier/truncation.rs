//! Mistake 6: the release cuts outputs to 400 characters, which makes tasks that cannot be solved. Here an output is whole
//! or refused.

use veriplay_core::{
    Attempt, CallCase, CallChecks, Checks, Comparison, IoPair, Limits, Problem, Question, Status, StdioCase,
    StdioChecks, Value,
};
use veriplay_verifier::triplets::rules;
use veriplay_verifier::{ProblemRequest, ProposalGate, judge_program};

use super::{answer, gate, propose_to, python, task};

/// A text of `chars` letters that names its input.
fn long(chars: usize) -> String {
    format!("def f(x):\n    return (str(x) + 'abcdefghij' * {chars})[:{chars}]\n")
}

fn judge(chars: usize, max_output_bytes: usize) -> Result<Value, String> {
    let judged = propose_to(python(), &ProposalGate { max_output_bytes, ..gate() }, &long(chars), "7").unwrap();
    match judged.task.map(|task| task.question) {
        Some(Question::Deduction { pair, .. }) => Ok(pair.output),
        _ => Err(judged.verdict.evidence.rule),
    }
}

#[test]
fn an_output_is_whole_or_refused() {
    let whole = judge(5000, 5002).unwrap();
    assert_eq!(whole, Value::str(("7".to_owned() + &"abcdefghij".repeat(500))[..5000].to_owned()));
    assert_eq!(judge(5001, 5002), Err(rules::OUTPUT_LENGTH.to_owned()));
    assert_eq!(judge(200_000, 5002), Err(rules::OUTPUT_LENGTH.to_owned()));
}

#[test]
fn the_whole_output_is_the_right_answer_and_the_cut_one_is_not() {
    let output = judge(1000, 2000).unwrap();
    let Value::Str(text) = &output else { panic!("{output}") };
    let cut = Value::str(format!("{}...{}", &text[..200], &text[800..]));
    let pair = IoPair { input: vec![Value::int(7)], output: output.clone() };
    let task = task(Question::Deduction { program: long(1000), pair });
    assert_eq!(answer(&task, &Attempt::Value(output)).status, Status::Accepted);
    assert_eq!(answer(&task, &Attempt::Value(cut)).status, Status::WrongAnswer);
}

#[test]
fn an_output_of_many_kilobytes_crosses_whole_in_answers_too() {
    let program = "def f(n):\n    return list(range(n))\n";
    let wanted = Value::List((0..2_000).map(Value::int).collect());
    let verdict = super::abduce(program, &wanted.to_string(), &Attempt::Arguments(vec![Value::int(2_000)]));
    assert_eq!(verdict.status, Status::Accepted, "{verdict:?}");
    let verdict = super::abduce(program, &wanted.to_string(), &Attempt::Arguments(vec![Value::int(1_999)]));
    assert_eq!(verdict.status, Status::WrongAnswer);
}

fn verdict(checks: Checks, program: &str) -> Status {
    let problem = Problem::new("t", checks);
    let request = ProblemRequest { limits: Limits::large(), ..ProblemRequest::new(&problem, program) };
    judge_program(python(), &request).unwrap().status
}

#[test]
fn an_expected_result_beyond_the_default_output_is_no_limit_for_the_right_program() {
    let stdout = "7\n".repeat(650_000);
    let cases = vec![StdioCase::new("", stdout)];
    let script = Checks::Stdio(StdioChecks::new(cases, Comparison::by("lines")));
    assert_eq!(verdict(script.clone(), "print('7\\n' * 650_000, end='')"), Status::Accepted);
    assert_eq!(verdict(script.clone(), "print('7\\n' * 649_999)"), Status::WrongAnswer);
    assert_eq!(verdict(script, "print('7\\n' * 3_000_000)"), Status::OutputExceeded);
    let expected = Value::List((0..200_000).map(Value::int).collect());
    let cases = vec![CallCase::new(vec![Value::int(200_000)], expected)];
    let comparison = Comparison::by("exact");
    let call = Checks::Calls(CallChecks { function: "f".to_owned(), cases, fresh: false, comparison });
    assert_eq!(verdict(call.clone(), "def f(n):\n    return list(range(n))\n"), Status::Accepted);
    assert_eq!(verdict(call, "def f(n):\n    return list(range(1, n + 1))\n"), Status::WrongAnswer);
}

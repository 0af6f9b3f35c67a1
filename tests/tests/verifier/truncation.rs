//! Mistake 6: the release cuts outputs to 400 characters, which makes tasks that cannot be solved. Here an output is whole
//! or refused.

use veriplay_core::{Attempt, IoPair, Question, Status, Value};
use veriplay_verifier::ProposalGate;
use veriplay_verifier::triplets::rules;

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

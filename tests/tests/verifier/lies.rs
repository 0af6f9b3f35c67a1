//! Mistake 7: the release splices answers into scripts and lets the program's own objects decide what is equal. Here
//! answers are parsed as literals, and the host compares plain values of exact types.

use veriplay_core::{Attempt, IoPair, Question, Status, TaskType, Value};
use veriplay_verifier::FORMATS;

use super::{HONEST, abduce, answer, task};

fn answered(format: &str, kind: &str, text: &str) -> String {
    match format {
        "think" => format!("so</think>\n<answer>\n```{kind}\n{text}\n```\n</answer>"),
        _ => text.to_owned(),
    }
}

#[test]
fn an_answer_that_is_code_is_malformed_in_every_format() {
    let corpus = [
        "x) or (True", "f(3)", "__import__('os')._exit(0)", "1+1", "x := 3", "*[3]", "3 if 1 else 4", "x=3",
        "(lambda: 3)()",
    ];
    for format in FORMATS {
        for text in corpus {
            for (task_type, kind) in [(TaskType::Abduction, "input"), (TaskType::Deduction, "output")] {
                let attempt = format.extract_answer(task_type, &answered(format.name(), kind, text));
                assert!(matches!(attempt, Attempt::Malformed { .. }), "{} took `{text}` as {attempt:?}", format.name());
                assert_eq!(abduce(HONEST, "4", &attempt).status, Status::Malformed);
            }
        }
        let honest = format.extract_answer(TaskType::Abduction, &answered(format.name(), "input", "3"));
        assert_eq!(abduce(HONEST, "4", &honest).status, Status::Accepted);
    }
}

#[test]
fn text_that_evaluates_to_the_output_is_not_the_output() {
    let echo = "def f(x):\n    return x\n";
    let text = |text: &str| Attempt::Arguments(vec![Value::str(text)]);
    assert_eq!(abduce(echo, "'2'", &text("1+1")).status, Status::WrongAnswer);
    assert_eq!(abduce(echo, "'2'", &text("'2'")).status, Status::WrongAnswer);
    assert_eq!(abduce(echo, "2", &text("2")).status, Status::WrongAnswer);
    assert_eq!(abduce(echo, "'2'", &text("2")).status, Status::Accepted);
}

/// Looks through everything that can be reached from the stack, the harness included, for the number it is to return.
const SEARCH: &str = "import gc, sys
from collections import deque

def f(x):
    wanted, seen, frame = 10 ** 9 + x, set(), sys._getframe()
    near = deque()
    while frame:
        near.append(frame)
        frame = frame.f_back
    near.append(sys.modules)
    while near and len(seen) < 30000:
        value = near.popleft()
        if id(value) in seen or value is wanted: continue
        seen.add(id(value))
        if type(value) is int and value == wanted: return True
        if type(value) is bytes and (b'1000000007' in value or b'\\x07\\xca\\x9a\\x3b' in value): return True
        if type(value) is str and '1000000007' in value: return True
        near.extend(gc.get_referents(value))
    return len(seen) < 1000
";

/// What the search gives, with `line` before it.
fn searched(line: &str) -> String {
    let pair = IoPair { input: vec![Value::int(7)], output: Value::int(1_000_000_007) };
    let question =
        Question::Induction { visible: vec![], hidden: vec![pair], message: String::new(), reference: String::new() };
    let mut task = task(question);
    task.limits.fuel = 4_000_000_000;
    let verdict = answer(&task, &Attempt::Program(format!("{line}\n{SEARCH}")));
    assert_eq!(verdict.status, Status::WrongAnswer, "{verdict:?}");
    verdict.evidence.detail
}

#[test]
fn the_expected_output_is_nowhere_in_the_guest() {
    assert_eq!(searched(""), "`False` instead of `1000000007`");
    // The search works: it finds the program's own copy.
    for copy in ["copy = [10 ** 9 + 7]", "copy = {'a': (10 ** 9 + 7).to_bytes(8, 'little')}", "copy = str(10 ** 9 + 7)"]
    {
        assert_eq!(searched(copy), "`True` instead of `1000000007`", "{copy}");
    }
}

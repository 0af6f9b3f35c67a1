//! Mistake 7: the release splices answers into scripts and lets the program's own objects decide what is equal. Here
//! answers are parsed as literals, and the host compares plain values of exact types.

use veriplay_core::{Attempt, IoPair, Question, Status, TaskType, Value};
use veriplay_verifier::FORMATS;
use veriplay_verifier::triplets::rules;

use super::{HONEST, abduce, answer, induce, refused_by, task};

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

/// Programs that return an object that equals anything.
const LIARS: &[&str] = &[
    "class Liar:\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n    __hash__ = None\ndef f(x):\n    return Liar()\n",
    "class Liar(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\ndef f(x):\n    return Liar(0)\n",
    "class Liar(str):\n    __eq__ = lambda s, o: True\n    __hash__ = str.__hash__\ndef f(x):\n    return Liar()\n",
    "class Liar(list):\n    __eq__ = lambda s, o: True\ndef f(x):\n    return [Liar()]\n",
    "class Liar(dict):\n    __eq__ = lambda s, o: True\ndef f(x):\n    return Liar()\n",
    "class Liar(float):\n    __eq__ = lambda s, o: True\n    __hash__ = None\ndef f(x):\n    return Liar()\n",
    "class Liar(tuple):\n    __eq__ = lambda s, o: True\ndef f(x):\n    return {1: Liar()}\n",
    "class Liar:\n    __class__ = int\n    __index__ = lambda s: 0\n    __int__ = lambda s: 0\ndef f(x):\n    return Liar()\n",
    "def f(x):\n    return f\n",
    "def f(x):\n    return (y for y in [x + 1])\n",
    "def f(x):\n    return NotImplemented\n",
    "def f(x):\n    return ...\n",
    "def f(x):\n    return {}.keys()\n",
];

#[test]
fn objects_that_equal_everything_equal_nothing() {
    for program in LIARS {
        let verdict = induce(program, &[("3", "4")]);
        assert_ne!(verdict.status, Status::Accepted, "{program}");
        assert_eq!(verdict.passed, 0, "{program}");
        assert_ne!(
            abduce(program, "4", &Attempt::Arguments(vec![Value::int(3)])).status,
            Status::Accepted,
            "{program}"
        );
    }
    for program in LIARS {
        let rule = refused_by(program, "3");
        assert!([rules::UNENCODABLE, rules::RAISES].contains(&rule.as_str()), "{rule}: {program}");
    }
    assert_eq!(induce(HONEST, &[("3", "4")]).status, Status::Accepted);
}

#[test]
fn patching_the_interpreter_changes_no_verdict() {
    let patches = [
        "import builtins\nbuiltins.type = lambda v: int",
        "import builtins\nbuiltins.len = lambda v: 0\nbuiltins.isinstance = lambda a, b: True",
        "import sys\nfor name in list(sys.modules):\n    if name not in ('sys', '__main__'): del sys.modules[name]",
        "import struct\nstruct.Struct = None\nstruct.pack = lambda *a: b''",
        "import __main__\nfor name in list(vars(__main__)):\n    if 'veriplay' in name: setattr(__main__, name, None)",
        "import sys\nsys.exit = sys.stdout = sys.stderr = None",
        "int.__eq__ if False else None",
    ];
    for patch in patches {
        let wrong = format!("{patch}\ndef f(x):\n    return x + 2\n");
        let verdict = induce(&wrong, &[("3", "4"), ("4", "5")]);
        assert!(verdict.status != Status::Accepted && verdict.passed == 0, "{patch}: {verdict:?}");
        assert_eq!(induce(HONEST, &[("3", "4"), ("4", "5")]).status, Status::Accepted, "after {patch}");
    }
}

#[test]
fn a_program_that_speaks_to_the_host_itself_gains_nothing() {
    // It may say what it returned; that is all there is to say. Saying too much ends it.
    let frames = [
        "import _host\n_host.call(b'D')",
        "import _host\n_host.call(b'J')",
        "import _host\n_host.call(b'VT')\n_host.call(b'D')",
        "import _host\n_host.call(b'Vi\\x01\\0\\0\\0\\x04')\nimport os\nos._exit(0)",
        "import _host\n_host.call(b'Accepted')",
    ];
    for frame in frames {
        let verdict = induce(&format!("{frame}\ndef f(x):\n    return 0\n"), &[("3", "4"), ("4", "5")]);
        assert_ne!(verdict.status, Status::Accepted, "{frame}");
    }
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

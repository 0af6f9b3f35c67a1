//! Each way a program can end has its word, for answers and for proposals.

use veriplay_core::Status;
use veriplay_verifier::triplets::rules;

use super::{induce, refused_by};

#[test]
fn every_end_has_its_word() {
    let cases = [
        ("def f(x):\n    return x + 2\n", Status::WrongAnswer, rules::CONSTANT),
        ("def f(x:\n", Status::CompileError, rules::COMPILES),
        ("def f(x):\nreturn x\n", Status::CompileError, rules::COMPILES),
        ("", Status::RuntimeError, rules::ENTRY),
        ("def g(x):\n    return x + 1\n", Status::RuntimeError, rules::ENTRY),
        ("f = 3\n", Status::RuntimeError, rules::ENTRY),
        ("def f(x):\n    return x + 'a'\n", Status::RuntimeError, rules::RAISES),
        ("def f(x, y):\n    return x\n", Status::RuntimeError, rules::RAISES),
        ("def f():\n    return 1\n", Status::RuntimeError, rules::RAISES),
        ("def f(x):\n    while True: pass\n", Status::FuelExceeded, rules::LIMITS),
        (
            "def f(x):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass\n",
            Status::FuelExceeded,
            rules::LIMITS,
        ),
        ("def f(x):\n    return 'a' * 3_000_000\n", Status::OutputExceeded, rules::LIMITS),
        ("def f(x):\n    return open('a', 'w').write('a' * 3_000_000)\n", Status::OutputExceeded, rules::LIMITS),
    ];
    for (program, status, rule) in cases {
        let verdict = induce(program, &[("3", "4")]);
        assert_eq!((verdict.status, verdict.passed), (status, 0), "{program}: {verdict:?}");
        if status != Status::WrongAnswer {
            assert_eq!(refused_by(program, "3"), rule, "{program}");
        }
    }
}

#[test]
fn a_memory_bomb_is_an_error_of_the_program_or_met_its_limit() {
    let verdict = induce("def f(x):\n    return len(bytearray(10 ** 9))\n", &[("3", "4")]);
    assert!([Status::MemoryExceeded, Status::RuntimeError].contains(&verdict.status), "{verdict:?}");
    assert_eq!(induce(super::HONEST, &[("3", "4")]).status, Status::Accepted, "the next job is unaffected");
}

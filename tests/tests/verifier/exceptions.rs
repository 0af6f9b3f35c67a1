//! Error tasks: the release takes what stands before a colon in the last line of a traceback, which a program prints as it likes. Here the name is that
//! of the built-in type behind the exception, found by its identity in another instance.

use veriplay_core::{Attempt, Proposal, ProposalVerdict, Provenance, Question, Status, TaskType, Value};
use veriplay_verifier::triplets::rules;
use veriplay_verifier::{ProposalRequest, judge_proposal};

use super::{answer, gate, python};

/// The verdict on an error task of `program` at 3.
fn propose(program: &str) -> ProposalVerdict {
    let (task_type, program, input) = (TaskType::Error, program.to_owned(), vec![Value::int(3)]);
    let attempt = Attempt::Proposal(Proposal::Triplet { task_type, program, input });
    let request = ProposalRequest { attempt: &attempt, known: false, provenance: Provenance::Seed };
    judge_proposal(python(), &gate(), &request).unwrap()
}

fn gold(program: &str) -> String {
    let judged = propose(program);
    let Some(task) = judged.task else { panic!("not Valid: {:?}\n{program}", judged.verdict) };
    let Question::Error { exception, .. } = &task.question else { panic!("{:?}", task.question) };
    let status = |name: &str| answer(&task, &Attempt::Exception(name.to_owned())).status;
    assert_eq!((status(exception), status("AssertionError")), (Status::Accepted, Status::WrongAnswer));
    exception.clone()
}

fn refused_by(program: &str) -> String {
    let ProposalVerdict { verdict, task } = propose(program);
    assert!(verdict.status == Status::Invalid && task.is_none(), "taken, by {verdict:?}:\n{program}");
    verdict.evidence.rule
}

#[test]
fn the_name_is_that_of_the_built_in_type_that_is_raised() {
    let programs = [
        ("def f(x):\n    return 10 // (x - 3)\n", "ZeroDivisionError"),
        ("def f(x):\n    return {1: 2, 2: 4, 4: 5, 6: 7, 8: 9}[x]\n", "KeyError"),
        ("def f(x):\n    return x if x % 2 == 0 else x + 'a'\n", "TypeError"),
        ("import json\ndef f(x):\n    return json.loads('[' * (x % 2) or '1')\n", "ValueError"),
        ("class Odd(KeyError):\n    pass\ndef f(x):\n    if x % 2:\n        raise Odd(x)\n    return x\n", "KeyError"),
    ];
    for (program, want) in programs {
        assert_eq!(gold(program), want, "{program}");
    }
}

#[test]
fn a_program_cannot_forge_the_name() {
    let raises = "def f(x):\n    if x % 2:\n        raise E(x)\n    return x\n";
    let forgeries = [
        ("class ValueError(Exception):\n    pass\nE = ValueError\n", "Exception"),
        ("class E(KeyError):\n    pass\nE.__name__ = E.__qualname__ = 'ValueError'\n", "KeyError"),
        ("import builtins\nE = KeyError\nbuiltins.KeyError = ValueError\n", "KeyError"),
        ("import sys\nE = KeyError\nprint('ValueError: no')\nsys.stderr.write('ValueError: no\\n')\n", "KeyError"),
        ("class E(KeyError):\n    def __str__(self):\n        return 'x\\nValueError: no'\n", "KeyError"),
        ("import builtins\nE = KeyError\nbuiltins.type = lambda x: ValueError\n", "KeyError"),
        // A class's name is any object of a subclass of `str`.
        (
            "class S(str):\n    __hash__ = lambda self: 1\n    __eq__ = lambda self, other: False\n\
             E = type(S('ValueError'), (Exception,), {})\n",
            "Exception",
        ),
    ];
    for (before, want) in forgeries {
        assert_eq!(gold(&format!("{before}{raises}")), want, "{before}");
    }
    let encoded =
        "class S(str):\n    encode = lambda self, *how: b'ValueError'\nE = type(S('Odd'), (Exception,), {})\n";
    assert_eq!(refused_by(&format!("{encoded}{raises}")), rules::OWN_EXCEPTION);
}

#[test]
fn what_no_solver_could_know_is_refused() {
    let random = "import random\ndef f(x):\n    raise random.choice([KeyError, ValueError, IndexError, TypeError])\n";
    assert_eq!(refused_by(random), rules::NONDETERMINISTIC);
    let in_turn = "n = 0\ndef f(x):\n    global n\n    n += 1\n    raise [KeyError, ValueError][n % 2]\n";
    assert_eq!(refused_by(in_turn), rules::NONDETERMINISTIC);
    let own = "class Odd(Exception):\n    pass\ndef f(x):\n    if x % 2:\n        raise Odd(x)\n    return x\n";
    assert_eq!(refused_by(own), rules::OWN_EXCEPTION);
    assert_eq!(refused_by("def f(x):\n    raise ValueError(x)\n"), rules::CONSTANT);
}

#[test]
fn a_program_that_does_not_raise_in_a_call_is_refused() {
    let programs = [
        ("def f(x):\n    return x + 1\n", rules::NO_EXCEPTION),
        ("def f(x):\n    return ValueError(x)\n", rules::NO_EXCEPTION),
        ("def f(x):\n    print('Traceback')\n    print('ValueError: no')\n", rules::NO_EXCEPTION),
        ("raise ValueError\n", rules::RAISES),
        ("def f(x:\n", rules::COMPILES),
        ("def g(x):\n    raise ValueError\n", rules::ENTRY),
        ("def f(x):\n    while True:\n        pass\n", rules::LIMITS),
        ("import os\ndef f(x):\n    os._exit(1)\n", rules::TRAPPED),
    ];
    for (program, rule) in programs {
        assert_eq!(refused_by(program), rule, "{program}");
    }
}

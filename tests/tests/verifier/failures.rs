//! Mistake 5: the release calls a run failed when its last line contains "error", so programs that raise something else
//! pass, with an empty output. Here a call has a value or it has not.

use veriplay_core::Status;
use veriplay_verifier::triplets::rules;

use super::{HONEST, gold, induce, refused_by};

/// Ends that no "error" is seen in, each inside `f`.
const QUIET_ENDS: &[&str] = &[
    "raise Exception('Non-deterministic code')",
    "raise Exception",
    "raise StopIteration",
    "raise StopIteration('1')",
    "raise KeyboardInterrupt",
    "raise GeneratorExit",
    "raise SystemExit",
    "raise SystemExit(0)",
    "import sys; sys.exit(0)",
    "exit(0)",
    "raise Warning('fine')",
    "raise Done",
    "raise Done('first line\\nValueError: no\\nall is well')",
    "raise type('', (Exception,), {})",
    "next(iter([]))",
    "assert x < 0",
];

fn ending_in(end: &str) -> String {
    format!("class Done(BaseException):\n    pass\n\ndef f(x):\n    if x >= 0:\n        {end}\n    return x + 1\n")
}

#[test]
fn a_program_that_raises_is_no_proposal_and_no_answer_whatever_it_raises() {
    for end in QUIET_ENDS {
        let program = ending_in(end);
        // `exit` closes the streams as well, which may end the interpreter: a failure by another name.
        let rule = refused_by(&program, "3");
        assert!(rule == rules::RAISES || (*end == "exit(0)" && rule == rules::TRAPPED), "{rule}: {end}");
        let verdict = induce(&program, &[("3", "4"), ("-3", "-2")]);
        assert_eq!((verdict.status, verdict.passed), (Status::RuntimeError, 1), "{end}: {verdict:?}");
    }
    assert_eq!(gold(&ending_in("pass"), "3").to_string(), "4");
    assert_eq!(induce(HONEST, &[("3", "4"), ("-3", "-2")]).status, Status::Accepted);
}

#[test]
fn a_module_that_raises_before_its_function_is_called_is_no_program() {
    for end in ["raise StopIteration", "raise SystemExit(0)", "raise Exception('all is well')", "import no_such_module"]
    {
        let program = format!("{HONEST}\n{end}\n");
        assert_eq!(refused_by(&program, "3"), rules::RAISES, "{end}");
        assert_eq!(induce(&program, &[("3", "4")]).status, Status::RuntimeError, "{end}");
    }
}

#[test]
fn a_process_that_ends_itself_has_not_succeeded() {
    for end in ["import os; os._exit(0)", "import os; os.abort()"] {
        assert_eq!(refused_by(&ending_in(end), "3"), rules::TRAPPED, "{end}");
        let verdict = induce(&ending_in(end), &[("-3", "-2"), ("3", "4")]);
        assert_eq!((verdict.status, verdict.passed), (Status::RuntimeError, 1), "{end}: {verdict:?}");
    }
}

#[test]
fn a_memory_bomb_is_an_error_of_the_program_or_met_its_limit() {
    let verdict = induce("def f(x):\n    return len(bytearray(10 ** 9))\n", &[("3", "4")]);
    assert!([Status::MemoryExceeded, Status::RuntimeError].contains(&verdict.status), "{verdict:?}");
    assert_eq!(induce(HONEST, &[("3", "4")]).status, Status::Accepted, "the next job is unaffected");
}

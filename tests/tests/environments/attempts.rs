//! Executors' code: what it sees, what it leaves, and how it ends.

use veriplay_core::{Environment, Status, ToolCall, Value};
use veriplay_verifier::environments::CodeOutcome;

use super::{environment, episode, judged, python, ran_in, task};

fn ran_after(name: &str, history: &[ToolCall], code: &str) -> CodeOutcome {
    ran_in(environment(name), history, code, 3)
}

fn ran(name: &str, code: &str) -> CodeOutcome {
    ran_after(name, &[], code)
}

#[test]
fn code_sees_results_errors_and_documentation_and_its_calls_are_told() {
    let code = "print(get_product('NIB-F')['stock'])\ntry:\n    cancel_order(order_id='O999')\nexcept KeyError as error:\n    \
                print(error.args[0])\nprint(cancel_order.__doc__.splitlines()[0])\nanswer((1, {'a': [2.5, None]}))";
    let outcome = ran("orders", code);
    assert_eq!(outcome.failure, None);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!((lines[0], lines[2]), ("40", "cancel_order(order_id: str) -> dict"));
    assert!(lines[1].contains("there is no order 'O999'"), "{lines:?}");
    assert_eq!(outcome.answer.unwrap().to_string(), "(1, {'a': [2.5, None]})");
    let named = vec![("order_id".to_owned(), Value::str("O999"))];
    let calls = [
        ToolCall { name: "get_product".to_owned(), arguments: vec![Value::str("NIB-F")], keywords: Vec::new() },
        ToolCall { name: "cancel_order".to_owned(), arguments: Vec::new(), keywords: named },
    ];
    assert_eq!(outcome.calls, calls);
}

#[test]
fn every_run_starts_from_the_same_state_and_history_is_what_came_before() {
    let count = "print(get_product('PAD-A4')['stock'])\n";
    let cancelled = ran("orders", &format!("cancel_order('O101')\n{count}"));
    assert_eq!(cancelled.stdout, "8\n");
    assert_eq!(ran("orders", count).stdout, "7\n", "nothing is left of an earlier run");
    assert_eq!(ran_after("orders", &cancelled.calls, count).stdout, "8\n");
    let twice = ran_after("orders", &cancelled.calls, "cancel_order('O101')");
    let (status, detail) = twice.failure.unwrap();
    assert!(status == Status::RuntimeError && detail.contains("is cancelled, not placed (line 1)"), "{detail}");
}

#[test]
fn arguments_of_every_plain_type_cross_and_come_back_in_a_history() {
    let text = "'\\'\"\\n\\\\{}\\u00e9\\U0001f600\\0'";
    let first = ran("files", &format!("write_file('data/x.txt', {text})"));
    assert_eq!(first.failure, None);
    let read = ran_after("files", &first.calls, &format!("print(read_file('data/x.txt') == {text})"));
    assert_eq!(read.stdout, "True\n", "{read:?}");
    let odd = "for value in (float('nan'), float('inf'), -float('inf'), 10 ** 5000, b'\\xff', {1}, frozenset({2}), (), {(1,): 'x'}):\n    \
               try:\n        read_file(value)\n    except TypeError as error:\n        pass\n";
    let refused = ran("files", odd);
    assert_eq!((refused.failure.clone(), refused.calls.len()), (None, 9), "{refused:?}");
    let after = ran_after("files", &refused.calls, "print(len(list_folder('')))");
    assert_eq!(after.stdout, "4\n", "{after:?}");
}

#[test]
fn code_that_is_stopped_says_nothing_and_code_that_raises_says_what_it_did() {
    let stopped = ran("orders", "cancel_order('O101')\nwhile True: pass");
    assert_eq!((stopped.failure.unwrap().0, stopped.calls), (Status::FuelExceeded, Vec::new()));
    let raised = ran("orders", "cancel_order('O101')\nx = 1 / 0\n");
    let failure = (Status::RuntimeError, "ZeroDivisionError: division by zero (line 2)".to_owned());
    assert_eq!((raised.failure, raised.calls.len()), (Some(failure), 1));
    assert_eq!(ran("orders", "x = (").failure.unwrap().0, Status::CompileError);
}

#[test]
fn an_episode_is_judged_by_its_calls_and_its_last_answer() {
    let task = task("orders/cancel_the_letter_pad");
    let calls = ran("orders", "cancel_order('O101')").calls;
    // The second call of a list that is there twice is refused.
    let twice = [calls.clone(), calls.clone()].concat();
    for (calls, answer, status) in [
        (calls.as_slice(), Some(8), Status::Accepted),
        (&calls, Some(7), Status::WrongAnswer),
        (&calls, None, Status::WrongAnswer),
        (&[], Some(8), Status::WrongAnswer),
        (&twice, Some(8), Status::Accepted),
    ] {
        let verdict = episode(environment("orders"), &task.verify, calls, answer.map(Value::int).as_ref());
        assert_eq!(verdict.status, status, "{calls:?} {answer:?}");
    }
}

/// A hole in an environment pays nobody: what broke an invariant is not judged.
#[test]
fn calls_that_break_an_invariant_come_to_no_end() {
    let tools = "N = [0]\ndef add(n: int) -> int:\n    'Adds.'\n    N[0] += n\n    return N[0]\nTOOLS = [add]\n";
    let source = format!("{tools}def dump(): return {{'n': N[0]}}\ndef check(): assert N[0] < 10, 'ten or more'\n");
    let counter = Environment { name: "counter".to_owned(), source };
    let verify = "def verify(before, after, answer): return after['n'] > 3";
    let judged = |code: &str| episode(&counter, verify, &ran_in(&counter, &[], code, 3).calls, None);
    assert_eq!(judged("add(2)\nadd(n=2)").status, Status::Accepted);
    assert_eq!(judged("add(2)\ntry: add(True)\nexcept TypeError: pass").status, Status::WrongAnswer);
    let broken = judged("try: add(20)\nexcept BaseException: pass\nadd(-15)");
    assert_eq!((broken.status, broken.evidence.rule.as_str()), (Status::RuntimeError, "replay"));
    assert!(broken.evidence.detail.contains("ten or more"), "{broken:?}");
}

#[test]
fn a_verdict_is_the_same_again_and_rests_on_four_jobs() {
    let task = task("ledger/paid_twice");
    let first = judged(python(), task, &task.solution);
    assert_eq!((first.status, first.passed, first.total), (Status::Accepted, 1, 1));
    assert_eq!(first.evidence.jobs.len(), 4, "the compiler, the code, its calls once more, the verification function");
    assert_eq!(judged(python(), task, &task.solution), first);
}

#[test]
fn a_verification_function_that_cannot_decide_accepts_nothing_and_the_evidence_says_so() {
    let raising = veriplay_core::CodeTask {
        verify: "def verify(before, after, answer):\n    return answer['x']".to_owned(),
        ..task("orders/ship_to_kiel").clone()
    };
    let verdict = judged(python(), &raising, "answer(1)");
    assert_eq!((verdict.status, verdict.evidence.rule.as_str()), (Status::WrongAnswer, "verifier_failed"));
    assert!(verdict.evidence.detail.contains("TypeError"), "{verdict:?}");
}

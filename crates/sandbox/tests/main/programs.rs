//! What programs end as.

use veriplay_core::{CallResult, Exit, LimitKind, Value};

use crate::support::{calls, run, script, text, value_of};

#[test]
fn a_function_is_called_once_for_each_argument_list() {
    let outcome = run(&calls("def f(a, b):\n    return a + b", vec![
        vec![Value::int(1), Value::int(2)],
        vec![Value::str("a"), Value::str("b")],
        vec![Value::int(1), Value::None],
    ]));
    assert_eq!(outcome.exit, Exit::Returned, "{outcome:?}");
    assert_eq!(outcome.calls[0], CallResult::Returned(Value::int(3).encode()));
    assert_eq!(outcome.calls[1], CallResult::Returned(Value::str("ab").encode()));
    assert!(matches!(&outcome.calls[2], CallResult::Raised(error) if error.kind == "TypeError"), "{outcome:?}");
}

#[test]
fn a_script_reads_stdin_and_writes_stdout() {
    let mut job = script("import sys\nprint(sys.stdin.read().upper(), __name__)\nprint('e', file=sys.stderr)");
    job.stdin = b"hello".to_vec();
    let outcome = run(&job);
    assert_eq!((outcome.exit, text(&outcome.stdout)), (Exit::Returned, "HELLO __main__\n".to_owned()));
    assert_eq!(text(&outcome.stderr), "e\n");
}

#[test]
fn an_endless_loop_uses_up_its_fuel_even_when_it_catches_everything() {
    for program in ["while True: pass", "while True:\n    try:\n        while True: pass\n    except BaseException: pass"] {
        let outcome = run(&script(program));
        let fuel = crate::support::limits().fuel;
        assert_eq!(outcome.exit, Exit::Exceeded { limit: LimitKind::Fuel, allowed: fuel, used: fuel });
        assert_eq!(outcome.fuel, fuel);
        assert_eq!(value_of("def f(): return 1"), Value::int(1));
    }
}

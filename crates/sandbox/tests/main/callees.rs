//! Jobs with a callee: the job's program calls functions of another, in another instance, by plain values.

use veriplay_core::{CallResult, Callee, EncodeCaps, Exit, Job, Outcome, Value};

use crate::support::{calls, end_of, run};

/// `test` defines `f`; in it, `ask(name, …)` calls the callee's function of that name.
fn pair(test: &str, callee: &str) -> Job {
    let ask = "import _veriplay\ndef ask(name, *arguments, **keywords):\n    \
               return _veriplay.ask_callee((\"call\", name, list(arguments), keywords))\n";
    Job {
        callee: Some(Callee { program: callee.to_owned(), seed: 8, ..Callee::default() }),
        ..calls(&format!("{ask}{test}"), vec![vec![]])
    }
}

fn value(outcome: &Outcome) -> String {
    match outcome.calls.as_slice() {
        [CallResult::Returned(bytes)] => Value::decode(bytes, EncodeCaps::with_bytes(1 << 20)).unwrap().to_string(),
        [CallResult::Raised(error)] => format!("{}: {}", error.kind, error.message),
        _ => panic!("{outcome:?}"),
    }
}

fn answer(test: &str, callee: &str) -> String {
    value(&run(&pair(&format!("def f():\n    {test}"), callee)))
}

fn callee_end(test: &str, callee: &str) -> String {
    let outcome = run(&pair(&format!("def f():\n    {test}"), callee));
    assert_eq!(end_of(&outcome), "Trapped callee", "{outcome:?}");
    assert!(outcome.calls.is_empty());
    end_of(outcome.callee.as_ref().unwrap())
}

#[test]
fn calls_cross_as_plain_values_and_state_stays_on_its_side() {
    let callee = "n = 0\ndef count(x, by=1):\n    global n\n    n += by\n    return (x, n)\n";
    assert_eq!(answer("return [ask('count', {1: 'é'}), ask('count', 2, by=40)]", callee), "[({1: 'é'}, 1), (2, 41)]");
    assert_eq!(answer("return 'n' in globals()", callee), "False");
}

#[test]
fn the_callee_sees_neither_the_tests_nor_their_values() {
    let spy = "import gc, sys\nsecret = 'mar' + 'ker'\ndef look():\n    held = [o for o in gc.get_objects() if type(o) is dict]\n    \
               return any(secret in str(v)[:99] for d in held for k, v in list(d.items()) if k == 'expected')\n";
    assert_eq!(answer("expected = {'expected': 'mar' + 'ker'}\n    return ask('look')", spy), "False");
}

#[test]
fn what_the_callee_raises_is_raised_and_copies_cross() {
    assert_eq!(answer("return ask('g')", "def g(): raise KeyError('k')"), "CalleeError: ('KeyError', \"'k'\")");
    assert_eq!(answer("return ask('missing')", ""), "CalleeError: ('NameError', '`missing` is not defined')");
    assert_eq!(answer("xs = [3, 1]\n    return ask('g', xs), xs", "def g(a): a.sort()"), "(None, [3, 1])");
    let exits = "def g(): raise SystemExit(0)";
    assert_eq!(answer("return ask('g')", exits), "CalleeError: ('SystemExit', '0')");
}

#[test]
fn only_plain_values_cross_in_either_direction() {
    let lying = "class L(list):\n    def __eq__(self, other): return True\ndef g(): return L()";
    assert!(answer("return ask('g')", lying).starts_with("TypeError: only plain values cross: a value of type L"));
    assert!(answer("return ask('g', lambda: 1)", lying).starts_with("TypeError: only plain values"));
}

#[test]
fn a_callee_that_ends_ends_the_job_and_says_how() {
    for (callee, end) in [
        ("def g():\n    while True: pass", "Fuel"),
        ("while True: pass", "Fuel"),
        ("import os\ndef g(): os._exit(0)", "Trapped proc_exit"),
        ("raise ValueError(1)", "Raised ValueError"),
        ("def g(:", "CompileError CompileError"),
        ("def g(): return bytearray(1 << 29)", "MemoryBytes"),
        ("def g(): return 'x' * 100_000", "OutputBytes"),
    ] {
        assert_eq!(callee_end("return ask('g')", callee), end, "{callee}");
    }
}

#[test]
fn frames_the_callee_forges_end_it() {
    let forge = |frame: &str| format!("import _host\ndef g():\n    _host.call({frame})\n    return 1");
    for frame in ["b'V' + b'T'", "b'D'", "b'J'", "b'Q' + b'N'", "b'R\\x01ab'", "b''", "b'Z'"] {
        assert_eq!(callee_end("return ask('g')", &forge(frame)), "Trapped protocol", "{frame}");
    }
}

#[test]
fn a_job_without_a_callee_that_asks_for_one_is_trapped() {
    let outcome =
        run(&calls("import _veriplay\ndef f(): return _veriplay.ask_callee(('call', 'x', [], {}))", vec![vec![]]));
    assert_eq!(end_of(&outcome), "Trapped protocol");
}

#[test]
fn malformed_requests_to_a_callee_are_refused() {
    // The last is a request of the other kind of callee, well-formed.
    let shares = "b'Qt\\7\\0\\0\\0s\\5\\0\\0\\0shareNNl\\0\\0\\0\\0d\\0\\0\\0\\0l\\0\\0\\0\\0l\\0\\0\\0\\0'";
    for body in ["b'Q'", "b'QN'", "b'Qt\\x01\\0\\0\\0N'", "b'Qt\\xff\\xff\\xff\\xff'", shares] {
        let test = format!("import _host\ndef f(): return _host.call({body})");
        let outcome = run(&pair(&test, "def g(): return 1"));
        assert_eq!(end_of(&outcome), "Trapped protocol", "{body}");
        assert_eq!(outcome.callee.unwrap().exit, Exit::Returned);
    }
}

#[test]
fn a_pair_has_the_same_outcome_again_and_leaves_no_trace() {
    let first =
        pair("def f(): return ask('g', list(range(50)))", "s = []\ndef g(x):\n    s.extend(x)\n    return len(s)");
    let wanted = run(&first);
    assert_eq!(value(&wanted), "50");
    assert!(wanted.fuel > 0 && wanted.callee.as_ref().unwrap().fuel > 0);
    for _ in 0..3 {
        assert_eq!(run(&first), wanted);
        run(&pair("def f(): return ask('g')", "def g():\n    while True: pass"));
    }
}

/// The same with objects that are shared.
fn sharing(callee: &str) -> Outcome {
    let job = pair("def f(): return 1", "");
    let callee = Callee { program: callee.to_owned(), shares_objects: true, ..Callee::default() };
    run(&Job { callee: Some(callee), ..job })
}

#[test]
fn a_callee_that_shares_its_objects_tells_its_code_before_it_runs() {
    let runs = |outcome: &Outcome| {
        let [CallResult::Returned(code)] = outcome.callee.as_ref().unwrap().calls.as_slice() else {
            panic!("{outcome:?}")
        };
        let code = Value::decode(code, EncodeCaps::with_bytes(1 << 20)).unwrap();
        let again = "import marshal\ndef f(code):\n    names = {}\n    exec(marshal.loads(code), names)\n    return names['g'](2)";
        value(&run(&calls(again, vec![vec![code]])))
    };
    let program = "def g(x):\n    return [x, (1, 'é')]";
    assert_eq!(runs(&sharing(program)), "[2, (1, 'é')]");
    assert_eq!(sharing(program), sharing(program), "it is the same again, compiled or from the state behind that");
    // What the program does comes too late for it, and the program's own words for its code are out of turn.
    let reaching = "import sys\nframe = sys._getframe()\nwhile frame:\n    for name in [*frame.f_locals]:\n        if name == 'code': \
                    frame.f_locals[name] = compile('def g(x): return 0', '', 'exec')\n    frame = frame.f_back\ndef g(x): return x";
    assert_eq!(runs(&sharing(reaching)), "2");
    let forged = sharing("import _host\n_host.call(b'VT')");
    assert_eq!(end_of(forged.callee.as_ref().unwrap()), "Trapped protocol");
    let raising = sharing("def g(x): return x\nraise ValueError(1)");
    assert_eq!(end_of(raising.callee.as_ref().unwrap()), "Raised ValueError");
    assert_eq!(raising.callee.unwrap().calls.len(), 1);
    let large = sharing(&format!("def g(x): return '{}'", "é".repeat(60_000)));
    assert!(matches!(large.callee.unwrap().calls.as_slice(), [CallResult::Unencodable(_)]), "it has no room");
    assert!(run(&pair("def f(): return 1", program)).callee.unwrap().calls.is_empty(), "others tell none");
}

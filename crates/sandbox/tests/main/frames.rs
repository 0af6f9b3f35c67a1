//! Guests that talk to the host themselves. They may misreport what they returned, and nothing else.

use veriplay_core::{CallResult, Execute, Exit, Job, Value};
use veriplay_sandbox::{Sandbox, SandboxOptions};

use crate::support::{calls, end_of, ends_and_harms_nobody, python, run, script};

fn check_script(program: &str, end: &str) {
    assert_eq!(ends_and_harms_nobody(&script(program)), end, "{program}");
}

fn check_call(program: &str, end: &str) {
    assert_eq!(ends_and_harms_nobody(&calls(program, vec![vec![]])), end, "{program}");
}

#[test]
fn a_frame_out_of_turn_or_malformed_ends_the_job() {
    let frames = [
        "b''", "b'?'", "b'J'", "b'Jx'", "b'V'", "b'VN'", "b'v'", "b'vN'", "b'X'", "b'X\\x05ab'", "b'O'", "b'R'",
        "b'R\\x01'", "b'R\\xff' + b'a' * 3", "b'R\\x01\\xffmessage'", "b'R\\x01a\\xff'", "b'R\\x01' + b'a' * 2000",
        "b'Dx'", "b'\\xff' * 100",
    ];
    for frame in frames {
        check_script(&format!("import _host\n_host.call({frame})\nprint('went on')"), "Trapped protocol");
    }
}

/// The host reads each to its end before it can refuse it.
#[test]
fn frames_that_are_no_values_are_read_up_to_the_limit_of_output_together() {
    let program = "import _host\nframe = b'v(' + (3000).to_bytes(4, 'little') + b'N' * 2999 + b'?'\n\
                   def f(x):\n    for _ in range(40): _host.call(frame)";
    let outcome = run(&calls(program, vec![vec![Value::None]; 41]));
    assert_eq!(end_of(&outcome), "OutputBytes", "{outcome:?}");
}

#[test]
fn an_endless_or_huge_frame_ends_the_job() {
    check_script("import _host\n_host.call(b'R' * (1 << 25))", "OutputBytes");
    check_call("import _host\ndef f():\n    while True: _host.call(b'VN')", "Trapped protocol");
}

#[test]
fn saying_done_and_leaving_is_not_done() {
    check_script("import _host, os\n_host.call(b'D')\nos._exit(0)", "Trapped proc_exit");
    check_script("import _host\n_host.call(b'D')\nwhile True: pass", "Fuel");
    check_script("import _host\n_host.call(b'D')", "Trapped protocol");
    let program = "import _host, os\ndef f():\n    _host.call(b'VN')\n    _host.call(b'D')\n    os._exit(0)";
    check_call(program, "Trapped proc_exit");
}

#[test]
fn a_forged_result_is_a_claim_about_oneself_and_one_too_many_ends_the_job() {
    let forged = "import _host\ndef f():\n    _host.call(b'VT')\n    return 1";
    check_call(forged, "Trapped protocol");
    // The program could as well have returned True.
    let traded = "import _host\ndef f():\n    _host.call(b'VT')\n    raise SystemExit";
    check_call(traded, "Trapped protocol");
}

#[test]
fn a_program_that_replaces_the_harness_gets_no_further() {
    let program = "import __main__, sys, _host
__main__._veriplay_job = lambda: None
sys.modules.clear()
_host.call = lambda frame: b''
def f(): return 4";
    let outcome = run(&calls(program, vec![vec![]]));
    assert!(matches!(outcome.exit, Exit::Returned | Exit::Raised | Exit::Trapped), "{outcome:?}");
    if outcome.exit == Exit::Returned {
        assert_eq!(outcome.calls, [CallResult::Returned(Value::int(4).encode())]);
    }
}

#[test]
fn a_patched_stream_cannot_stop_the_harness_from_saying_how_it_ended() {
    let program = "import sys
class S:
    def flush(self): raise SystemExit(9)
    def write(self, text): raise SystemExit(9)
sys.stdout = sys.stderr = S()";
    check_script(program, "Returned");
    check_script(&format!("{program}\nraise ValueError"), "Raised ValueError");
    check_script("import sys\nsys.stdout.close()\nsys.stderr.close()\n1/0", "Raised ZeroDivisionError");
}

#[test]
fn printed_text_is_never_taken_for_a_result() {
    let outcome = run(&calls("print('VN')\nprint('D')\ndef f(): raise ValueError", vec![vec![]]));
    assert_eq!(end_of(&outcome), "Returned");
    assert!(matches!(&outcome.calls[..], [CallResult::Raised(error)] if error.kind == "ValueError"));
}

#[test]
fn a_frame_inside_a_frame_is_refused_even_where_it_is_due() {
    let image = python().from_module("nesting", include_str!("nesting.wat")).unwrap();
    let sandbox = Sandbox::new(image, SandboxOptions::fastest());
    // As many results are due as there are calls: without the rule each would take a native stack of its own.
    let job = Job { image: "nesting".to_owned(), ..calls("", vec![vec![]; 60_000]) };
    assert_eq!(end_of(&sandbox.execute(&job).unwrap()), "Trapped protocol");
}

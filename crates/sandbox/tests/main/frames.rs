//! Guests that talk to the host themselves. They may misreport what they returned, and nothing else.

use veriplay_core::{CallResult, Execute, Exit, Job, Value};
use veriplay_sandbox::{Sandbox, SandboxOptions};

use crate::support::{calls, end_of, ends_and_harms_nobody, python, run, script};

fn check(program: &str, arguments: usize, exit: &str, kind: &str) {
    let job = if arguments == 0 { script(program) } else { calls(program, vec![vec![]; arguments]) };
    let ended = ends_and_harms_nobody(&job);
    assert_eq!(ended, (exit.to_owned(), kind.to_owned()), "{program}");
}

#[test]
fn a_frame_out_of_turn_or_malformed_ends_the_job() {
    let frames = [
        "b''", "b'?'", "b'J'", "b'Jx'", "b'V'", "b'VN'", "b'v'", "b'vN'", "b'X'", "b'X\\x05ab'", "b'O'", "b'R'",
        "b'R\\x01'", "b'R\\xff' + b'a' * 3", "b'R\\x01\\xffmessage'", "b'R\\x01a\\xff'", "b'R\\x01' + b'a' * 2000",
        "b'Dx'", "b'\\xff' * 100",
    ];
    for frame in frames {
        check(&format!("import _host\n_host.call({frame})\nprint('went on')"), 0, "Trapped", "protocol");
    }
}

/// The host reads each to its end before it can refuse it.
#[test]
fn frames_that_are_no_values_are_read_up_to_the_limit_of_output_together() {
    let program = "import _host\nframe = b'v(' + (3000).to_bytes(4, 'little') + b'N' * 2999 + b'?'\n\
                   def f(x):\n    for _ in range(40): _host.call(frame)";
    let outcome = run(&calls(program, vec![vec![Value::None]; 41]));
    assert_eq!(end_of(&outcome).0, "OutputBytes", "{outcome:?}");
}

#[test]
fn an_endless_or_huge_frame_ends_the_job() {
    check("import _host\n_host.call(b'R' * (1 << 25))", 0, "OutputBytes", "");
    check("import _host\ndef f():\n    while True: _host.call(b'VN')", 1, "Trapped", "protocol");
}

#[test]
fn saying_done_and_leaving_is_not_done() {
    check("import _host, os\n_host.call(b'D')\nos._exit(0)", 0, "Trapped", "proc_exit");
    check("import _host\n_host.call(b'D')\nwhile True: pass", 0, "Fuel", "");
    check("import _host\n_host.call(b'D')", 0, "Trapped", "protocol");
    check(
        "import _host, os\ndef f():\n    _host.call(b'VN')\n    _host.call(b'D')\n    os._exit(0)",
        1,
        "Trapped",
        "proc_exit",
    );
}

#[test]
fn a_forged_result_is_a_claim_about_oneself_and_one_too_many_ends_the_job() {
    let forged = "import _host\ndef f():\n    _host.call(b'VT')\n    return 1";
    check(forged, 1, "Trapped", "protocol");
    // The program could as well have returned True.
    let traded = "import _host\ndef f():\n    _host.call(b'VT')\n    raise SystemExit";
    check(traded, 1, "Trapped", "protocol");
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
    check(program, 0, "Returned", "");
    check(&format!("{program}\nraise ValueError"), 0, "Raised", "ValueError");
    check("import sys\nsys.stdout.close()\nsys.stderr.close()\n1/0", 0, "Raised", "ZeroDivisionError");
}

#[test]
fn printed_text_is_never_taken_for_a_result() {
    let outcome = run(&calls("print('VN')\nprint('D')\ndef f(): raise ValueError", vec![vec![]]));
    assert_eq!(end_of(&outcome).0, "Returned");
    assert!(matches!(&outcome.calls[..], [CallResult::Raised(error)] if error.kind == "ValueError"));
}

/// Its allocator, which the host calls to place an answer, sends a frame, whose answer needs the allocator.
const NESTING: &str = r#"(module
  (import "host" "call" (func $call (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "J")
  (data (i32.const 16) "VN")
  (global $live (mut i32) (i32.const 0))
  (func (export "_initialize"))
  (func $frame (param $at i32) (param $len i32)
    (drop (call $call (local.get $at) (local.get $len) (i32.const 32) (i32.const 36))))
  (func (export "host_alloc") (param i32) (result i32)
    (if (global.get $live) (then (call $frame (i32.const 16) (i32.const 2))))
    (i32.const 1024))
  (func (export "turn") (param $text i32) (param $len i32) (result i32)
    (if (local.get $len) (then (return (i32.const 0))))
    (global.set $live (i32.const 1))
    (call $frame (i32.const 8) (i32.const 1))
    (i32.const 0)))"#;

#[test]
fn a_frame_inside_a_frame_is_refused_even_where_it_is_due() {
    let image = python().from_module("nesting", NESTING).unwrap();
    let sandbox = Sandbox::new(image, SandboxOptions::fastest());
    // As many results are due as there are calls: without the rule each would take a native stack of its own.
    let job = Job { image: "nesting".to_owned(), ..calls("", vec![vec![]; 60_000]) };
    assert_eq!(end_of(&sandbox.execute(&job).unwrap()), ("Trapped".to_owned(), "protocol".to_owned()));
}

//! What programs end as, each followed by a plain job that must not notice.

use veriplay_core::{CallResult, Execute, ExecuteError, Exit, Job, LimitKind, Limits, Value};

use crate::support::{Case, calls, cases, end_of, ends_and_harms_nobody, limits, run, sandbox, script, text};

/// Room for imports.
const MUCH_FUEL: u64 = 20_000_000_000;

/// Runs scripts that must print what their cases say, and the same a second time.
fn check_printed(text_of_cases: &str) {
    for case in cases(text_of_cases) {
        let limits = Limits { fuel: MUCH_FUEL, file_bytes: 16 << 20, ..limits() };
        let stdin = case.part("reads").unwrap_or_default().into();
        let job = Job { limits, sleep_fuel: 1000, stdin, ..script(&case.program) };
        let outcome = run(&job);
        let said = format!("{}: {}", case.title, text(&outcome.stderr));
        assert_eq!((&outcome.exit, Some(&text(&outcome.stdout)[..])), (&Exit::Returned, case.part("prints")), "{said}");
        assert_eq!(run(&job), outcome, "{}", case.title);
    }
}

/// Runs scripts that must end as their cases are called. `Raised *` is any error.
fn check_ends(text_of_cases: &str, fuel: u64) {
    for case in cases(text_of_cases) {
        let job = Job { limits: Limits { fuel, ..limits() }, ..script(&case.program) };
        let ended = ends_and_harms_nobody(&job);
        let is_right = ended == case.title || case.title == "Raised *" && ended.starts_with("Raised ");
        assert!(is_right, "{ended} instead of {}: {}", case.title, case.program);
        for part in case.part("says").into_iter().flat_map(str::lines) {
            let message = run(&job).error.unwrap().message;
            assert!(message.contains(part), "{message}: {}", case.program);
        }
    }
}

#[test]
fn scripts_print_what_they_do_under_python() {
    check_printed(include_str!("printed.txt"));
}

#[test]
fn threads_pools_and_event_loops_print_what_they_do_under_python() {
    check_printed(include_str!("threads.txt"));
}

#[test]
fn scripts_end_as_they_must_and_harm_nobody() {
    check_ends(include_str!("ends.txt"), limits().fuel);
}

#[test]
fn a_wait_that_nothing_can_end_and_a_process_are_errors_that_say_why() {
    check_ends(include_str!("deadlocks.txt"), MUCH_FUEL);
}

#[test]
fn a_function_is_called_once_for_each_argument_list_and_one_that_raises_keeps_nobody_from_running() {
    let arguments = [[Value::int(1), Value::None], [Value::int(1), Value::int(2)], [Value::str("a"), Value::str("b")]];
    let outcome = run(&calls("def f(a, b):\n    return a + b", arguments.map(Vec::from).to_vec()));
    assert_eq!(outcome.exit, Exit::Returned, "{outcome:?}");
    assert!(matches!(&outcome.calls[0], CallResult::Raised(error) if error.kind == "TypeError"), "{outcome:?}");
    assert_eq!(outcome.calls[1], CallResult::Returned(Value::int(3).encode()));
    assert_eq!(outcome.calls[2], CallResult::Returned(Value::str("ab").encode()));
}

#[test]
fn a_script_reads_stdin_and_writes_both_streams() {
    let mut job = script("import sys\nprint(sys.stdin.read().upper(), __name__)\nprint('e', file=sys.stderr)");
    job.stdin = "hé".into();
    let outcome = run(&job);
    assert_eq!((outcome.exit, text(&outcome.stdout)), (Exit::Returned, "HÉ __main__\n".to_owned()));
    assert_eq!((text(&outcome.stderr), outcome.truncated), ("e\n".to_owned(), false));
}

#[test]
fn standard_input_is_read_by_every_idiom() {
    for Case { program, .. } in cases(include_str!("stdin.txt")) {
        let job = Job { stdin: b"1 2\n3\n4".to_vec(), ..script(&format!("{program}\nprint(len(data), data)")) };
        let outcome = run(&job);
        assert_eq!(text(&outcome.stdout), "7 b'1 2\\n3\\n4'\n", "{program}: {outcome:?}");
    }
}

#[test]
fn an_endless_loop_uses_up_its_fuel() {
    let outcome = run(&script("while True: pass"));
    assert_eq!((outcome.fuel, outcome.error), (limits().fuel, None));
}

#[test]
fn a_memory_bomb_ends_at_the_memory_limit() {
    // Memory is paid for as it grows, and this much costs more than the small fuel of these tests.
    let mut bomb = script("x = []\nwhile True: x.append(bytearray(1 << 20))");
    bomb.limits.fuel *= 10;
    assert_eq!(ends_and_harms_nobody(&bomb), "MemoryBytes");
}

#[test]
fn endless_output_ends_at_the_output_limit_and_its_start_is_kept() {
    let outcome = run(&script("while True: print('ab')"));
    assert_eq!(outcome.stdout.len() as u64, limits().output_bytes);
    assert!(outcome.truncated && outcome.stdout.starts_with(b"ab\nab\n"));
}

#[test]
fn output_that_nobody_reads_to_its_end_is_cut() {
    let cap = usize::try_from(limits().output_bytes).unwrap();
    let complaints = run(&script(&format!("import sys\nprint('x' * {}, file=sys.stderr)\nprint('end')", 2 * cap)));
    assert_eq!(
        (complaints.stdout.as_slice(), complaints.stderr.len(), complaints.truncated),
        (b"end\n".as_slice(), cap, true)
    );
    let chatter = run(&calls(&format!("def f():\n    print('x' * {})\n    return 7", 2 * cap), vec![vec![]]));
    assert_eq!((chatter.value(), chatter.stdout.len(), chatter.truncated), (Ok(Value::int(7)), cap, true));
}

#[test]
fn a_value_larger_than_the_output_limit_ends_the_job() {
    let big = format!("def f(): return [7] * {}", limits().output_bytes);
    assert_eq!(end_of(&run(&calls(&big, vec![vec![]]))), "OutputBytes");
    let together = format!("def f(): return b'x' * {}", limits().output_bytes / 2);
    let outcome = run(&calls(&together, vec![vec![]; 3]));
    assert_eq!((end_of(&outcome).as_str(), outcome.calls.len()), ("OutputBytes", 1));
}

#[test]
fn deep_recursion_in_native_code_is_an_exception_or_a_stack_overflow() {
    let native =
        "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n    def __repr__(self): return repr(self)\nrepr(A())";
    let ended = ends_and_harms_nobody(&script(native));
    let known = ["Raised RecursionError", "Trapped stack_overflow", "MemoryBytes", "Fuel"];
    assert!(known.contains(&ended.as_str()), "{ended}");
}

/// CPython would raise at some 220 calls through C code on WASI.
#[test]
fn recursion_through_c_code_has_the_depth_that_memoised_functions_need() {
    let recursions = [
        "import functools\n@functools.lru_cache(None)\ndef f(n): return n and 1 + f(n - 1)",
        "def f(n): return n and 1 + sum(f(n - 1) for _ in [0])",
        "def f(n): return n and 1 + max(map(f, [n - 1]))",
        "class A:\n    def __init__(self, n): self.n = n\n    def __repr__(self): return repr(A(self.n - 1)) if self.n else ''\n\
         def f(n): return repr(A(n))",
    ];
    for recursion in recursions {
        let end = |depth: u32| {
            let program = format!("import sys\nsys.setrecursionlimit(10**6)\n{recursion}\nf({depth})");
            // Thousands of frames are unwound.
            let limits = Limits { fuel: MUCH_FUEL, ..limits() };
            ends_and_harms_nobody(&Job { limits, ..script(&program) })
        };
        assert_eq!(end(20_000), "Returned", "{recursion}");
        assert_eq!(end(60_000), "Raised RecursionError", "{recursion}");
    }
}

/// The interpreter's limit of 4,300 digits is for services whose time is not metered.
#[test]
fn integers_of_any_length_are_read_and_written() {
    let program = "import sys\nn = int(input())\nprint(str(n + 1) == '1' + '0' * 6000, sys.get_int_max_str_digits())";
    let outcome = run(&Job { stdin: "9".repeat(6000).into_bytes(), ..script(program) });
    assert_eq!(text(&outcome.stdout), "True 0\n", "{outcome:?}");
}

#[test]
fn the_status_of_an_exit_is_that_of_cpython() {
    let status = |code: &str| run(&script(&format!("import sys; sys.exit({code})"))).exit_code;
    for (code, wanted) in
        [("3", 3), ("-1", 255), ("256", 0), ("True", 1), ("'no'", 1), ("'3'", 1), ("[0]", 1), ("3.0", 1)]
    {
        assert_eq!(status(code), Some(wanted), "{code}");
    }
    let shown = run(&script("class C:\n    def __str__(self): return '0'\nraise SystemExit(C())"));
    assert_eq!(shown.exit_code, Some(1));
}

#[test]
fn a_program_with_a_zero_byte_does_not_compile() {
    assert_eq!(ends_and_harms_nobody(&script("a\0b")), "CompileError CompileError");
}

#[test]
fn an_entry_that_is_missing_or_no_function_is_named_so() {
    for program in ["g = 1", "f = 1", "def g(): pass"] {
        let outcome = run(&calls(program, vec![vec![]]));
        assert_eq!(end_of(&outcome), "MissingEntry MissingEntry", "{program}");
    }
}

#[test]
fn an_uncaught_exception_carries_kind_and_message_and_writes_a_traceback() {
    let outcome = run(&script("def g(): return {}['k']\ng()"));
    let error = outcome.error.unwrap();
    assert_eq!((outcome.exit, error.kind.as_str(), error.message.as_str()), (Exit::Raised, "KeyError", "'k'"));
    let stderr = text(&outcome.stderr);
    assert!(
        stderr.contains("File \"<program>\", line 1, in g") && stderr.contains("def g(): return {}['k']"),
        "{stderr}"
    );
}

#[test]
fn a_long_name_or_message_of_an_exception_is_cut() {
    let named = run(&script("raise type('E' * 100000, (Exception,), {})('m' * 100000)"));
    assert_eq!(end_of(&named), "Raised ".to_owned() + &"E".repeat(100));
    assert_eq!(run(&script("raise Exception('é' * 100000)")).error.unwrap().message, "é".repeat(200));
}

#[test]
fn files_of_the_job_lie_in_the_working_directory_and_can_be_changed() {
    let program = "import os
assert open('data/in.txt').read() == 'seed'
with open('data/in.txt', 'a') as f: f.write('!')
os.rename('data/in.txt', 'out.txt')
os.mkdir('d'); os.rmdir('d'); os.remove('data/other')
print(open('out.txt').read(), sorted(os.listdir('.')), os.listdir('data'), os.path.getsize('/work/out.txt'))";
    let mut job = script(program);
    job.files = vec![("data/in.txt".to_owned(), b"seed".to_vec()), ("data/other".to_owned(), vec![])];
    assert_eq!(text(&run(&job).stdout), "seed! ['data', 'out.txt'] [] 5\n");
    // The next job has its own.
    assert_eq!(text(&run(&script("import os\nprint(os.listdir('.'))")).stdout), "[]\n");
}

#[test]
fn a_job_that_cannot_be_run_as_written_is_refused() {
    for path in ["/abs", "../up", "a/../b", "", "a//b", "nul\0"] {
        let mut job = script("");
        job.files = vec![(path.to_owned(), vec![])];
        assert!(matches!(sandbox().execute(&job), Err(ExecuteError::BadJob(_))), "{path:?}");
    }
    let mut job = script("");
    job.files = vec![("a".to_owned(), vec![]), ("a/b".to_owned(), vec![])];
    assert!(matches!(sandbox().execute(&job), Err(ExecuteError::BadJob(_))));
    let mut job = script("");
    job.limits.memory_bytes = 1 << 20;
    assert!(matches!(sandbox().execute(&job), Err(ExecuteError::BadJob(_))));
    let mut job = script("");
    job.limits.fuel = (1 << 53) + 1;
    assert!(matches!(sandbox().execute(&job), Err(ExecuteError::BadJob(why)) if why.contains("9007199254740993")));
    job.limits.fuel = 0;
    assert!(matches!(run(&job).exit, Exit::Exceeded { limit: LimitKind::Fuel, .. }));
    let mut job = script("");
    job.image = "ruby".to_owned();
    assert!(matches!(sandbox().execute(&job), Err(ExecuteError::UnknownImage(name)) if name == "ruby"));
}

#[test]
fn the_deadline_ends_what_fuel_does_not_see() {
    let mut job = script("x = bytearray(32 << 20)\ny = bytearray(32 << 20)\nwhile True: x[:] = y");
    job.limits.fuel = 1 << 53;
    job.limits.deadline_ns = 300_000_000;
    assert_eq!(ends_and_harms_nobody(&job), "DeadlineNs");
    job.limits.deadline_ns = u64::MAX;
    job.limits.fuel = 20_000_000;
    assert!(matches!(run(&job).exit, Exit::Exceeded { limit: LimitKind::Fuel, .. }));
}

#[test]
fn a_sleep_costs_fuel_and_no_time_and_a_busy_wait_ends() {
    let program = "import time\nt = time.time()\ntime.sleep(86400)\nprint(86400 <= time.time() - t < 86401)
t = time.monotonic()\nwhile time.monotonic() < t + 1: pass\nprint('waited')";
    let sleeping = Job { sleep_fuel: 1000, ..script(program) };
    let outcome = run(&sleeping);
    assert_eq!(text(&outcome.stdout), "True\nwaited\n");
    assert_eq!(outcome.fuel - run(&Job { sleep_fuel: 0, ..sleeping }).fuel, 86_400_000);
}

#[test]
fn an_exception_in_a_thread_is_written_to_stderr_and_ends_nothing_else() {
    let program = "import sys, threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()\nprint('on')\n\
                   threading.Thread(target=sys.exit, args=(3,)).start()\n\
                   threading.excepthook = lambda args: print('hook', args.exc_type.__name__, args.thread.name)\n\
                   threading.Thread(target=lambda: {}['k'], name='T').start()";
    let outcome = run(&script(program));
    let (stdout, stderr) = (text(&outcome.stdout), text(&outcome.stderr));
    assert_eq!((outcome.exit, stdout.as_str()), (Exit::Returned, "on\nhook KeyError T\n"));
    assert!(
        stderr.starts_with("Exception in thread Thread-1 (<lambda>):\n")
            && stderr.ends_with("ZeroDivisionError: division by zero\n"),
        "{stderr}"
    );
}

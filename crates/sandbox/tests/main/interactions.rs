//! Jobs with an interactor: two scripts that read what the other one writes, in turns.

use veriplay_core::{
    Callee, CancellationToken, Execute, ExecuteError, Interaction, InteractionEnd, Interactor, Job, Limits, Outcome,
};
use veriplay_sandbox::{ResetMode, Sandbox, SandboxOptions};

use crate::support::{calls, end_of, limits, python, run, sandbox, script, text};
use crate::workers::processes;

/// A job whose program talks with `interactor`.
fn talk(program: &str, interactor: &str) -> Job {
    let files = vec![("input.txt".to_owned(), b"42\n".to_vec())];
    let interactor = Interactor { program: interactor.to_owned(), files, limits: limits(), seed: 8 };
    Job { interactor: Some(interactor), ..script(program) }
}

fn interaction(outcome: &Outcome) -> &Interaction {
    outcome.interaction.as_ref().unwrap_or_else(|| panic!("{outcome:?}"))
}

/// How they part, and a word for the end of each of them.
fn ends(program: &str, interactor: &str) -> (InteractionEnd, String, String) {
    let outcome = run(&talk(program, interactor));
    let other = interaction(&outcome);
    let word = |outcome: &Outcome| end_of(outcome).0 + &end_of(outcome).1;
    (other.end, word(&outcome), word(&other.interactor))
}

/// Hides 42, and answers ten questions.
const GUESS: &str = "import sys
secret = int(open('input.txt').read())
for _ in range(11):
    word, number = input().split()
    if word == '!':
        sys.exit(0 if int(number) == secret else 'wrong')
    print('<' if secret < int(number) else '>=', flush=True)
sys.exit('too many questions')
";
const GUESSER: &str = "lo, hi = 1, 100
while lo < hi:
    mid = (lo + hi + 1) // 2
    print('?', mid, flush=True)
    if input() == '<':
        hi = mid - 1
    else:
        lo = mid
print('!', lo, flush=True)
";

#[test]
fn each_side_reads_what_the_other_writes() {
    let outcome = run(&talk(GUESSER, GUESS));
    let Interaction { end, interactor } = interaction(&outcome);
    assert_eq!(*end, InteractionEnd::Completed, "{outcome:?}");
    assert_eq!(text(&outcome.stdout), "? 51\n? 26\n? 38\n? 44\n? 41\n? 42\n? 43\n! 42\n");
    assert_eq!(text(&interactor.stdout), "<\n>=\n>=\n<\n>=\n>=\n<\n");
    assert!(outcome.fuel > 0 && interactor.fuel > 0);
}

/// Asks for the double of each number, and wants each answer before it goes on.
const DOUBLES: &str = "import sys
for number in range(5):
    print(number, flush=True)
    if input() != str(2 * number):
        sys.exit(1)
";

#[test]
fn every_way_to_read_and_write_lines_works() {
    let loops = "while True:\n    line = read()\n    if not line: break\n    print(2 * int(line), flush=True)";
    for reads in [
        "import sys\nread = sys.stdin.readline",
        "import sys\nread = sys.stdin.buffer.readline",
        "import sys\nread = sys.stdin.buffer.raw.readline",
        "import os\nread = lambda: os.read(0, 100)",
        "read = open(0).readline",
        "read = open('/dev/stdin').readline",
        "import os\nread = os.fdopen(0, 'rb', buffering=0).readline",
        "import select, sys\ndef read():\n    select.select([sys.stdin], [], [])\n    return sys.stdin.readline()",
        "import select, sys\ndef read():\n    while not select.select([sys.stdin], [], [], 0)[0]: pass\n    return sys.stdin.readline()",
        "import select, sys\ndef read():\n    while not select.select([sys.stdin], [], [], 0.5)[0]: pass\n    return sys.stdin.readline()",
        "import select\nlook = select.poll()\nlook.register(0, select.POLLIN)\ndef read():\n    look.poll()\n    return __import__('os').read(0, 50)",
        "def read():\n    try: return input()\n    except EOFError: return ''",
    ] {
        let (end, program, other) = ends(&format!("{reads}\n{loops}"), DOUBLES);
        assert_eq!(
            (end, program.as_str(), other.as_str()),
            (InteractionEnd::Completed, "Returned", "Returned"),
            "{reads}"
        );
    }
    for program in [
        "import sys\nfor line in sys.stdin: print(2 * int(line), flush=True)",
        "import sys, os\nfor line in sys.stdin: os.write(1, b'%d\\n' % (2 * int(line)))",
        "import sys\nfor line in sys.stdin:\n    sys.stdout.write(f'{2 * int(line)}\\n')\n    sys.stdout.flush()",
        "for _ in range(5): print(2 * int(input()), flush=True)",
        // `input` flushes, as in CPython.
        "for _ in range(5): print(2 * int(input()))",
        "import threading\ndef main():\n    for _ in range(5): print(2 * int(input()), flush=True)\n\
         threading.Thread(target=main).start()",
        "import os\nfor _ in range(5): print(2 * int(input()), flush=True)\nos._exit(0)",
    ] {
        let (end, ..) = ends(program, DOUBLES);
        assert_eq!(end, InteractionEnd::Completed, "{program}");
    }
}

#[test]
fn bytes_and_texts_of_any_kind_cross() {
    let echo = "import sys\ndata = sys.stdin.buffer.read(256)\nsys.stdout.buffer.write(data[::-1])\n";
    let sends = "import sys\nsys.stdout.buffer.write(bytes(range(256)))\nsys.stdout.flush()\n\
                 assert sys.stdin.buffer.read() == bytes(range(256))[::-1]";
    assert_eq!(ends(echo, sends).0, InteractionEnd::Completed);
    let echo = "print(input()[::-1], flush=True)";
    let sends = "print('é∀🙂', flush=True)\nassert input() == '🙂∀é'";
    assert_eq!(ends(echo, sends).0, InteractionEnd::Completed);
    // A read takes what is there, and no more than was asked for.
    let reads = "import os\nos.write(1, b'go\\n')\nprint(os.read(0, 3), os.read(0, 0), os.read(0, 9), os.read(0, 9), os.read(0, 9))";
    let outcome = run(&talk(reads, "import os\ninput()\nos.write(1, b'abc')\nos.write(1, b'de')"));
    assert_eq!(text(&outcome.stdout), "go\nb'abc' b'' b'de' b'' b''\n", "{outcome:?}");
}

#[test]
fn a_side_that_ends_is_the_end_of_the_others_input_and_takes_no_more() {
    for (program, interactor) in [
        ("pass", "import sys\nassert sys.stdin.read() == ''\nprint('x')"),
        ("print('x')\nimport sys\nassert sys.stdin.read() == 'y\\n'", "print('y')"),
        // It closes its output, and reads on.
        (
            "import os\nprint('x', flush=True)\nos.close(1)\nassert input() == '1'",
            "import sys\nprint(len(sys.stdin.readlines()))",
        ),
        ("import os\nos.close(0)\nprint('x')", "print('nobody reads this', flush=True)\nassert input() == 'x'"),
        ("for i in range(2000): print(i)", "input()"),
    ] {
        assert_eq!(ends(program, interactor).0, InteractionEnd::Completed, "{program}");
    }
}

#[test]
fn two_that_wait_for_each_other_are_stopped() {
    let stopped = (InteractionEnd::Deadlock, "Trappedinteraction".to_owned(), "Trappedinteraction".to_owned());
    for (program, interactor) in [
        // It does not flush.
        ("import sys\nprint('? 1')\nsys.stdin.readline()", GUESS),
        ("input()", GUESS),
        ("import os\nos.read(0, 1)", "input()"),
        ("import select\nselect.select([0], [], [])", "input()"),
    ] {
        assert_eq!(ends(program, interactor), stopped, "{program}");
    }
    // A look with a timeout is none of that.
    let looks =
        "import select\nassert select.select([0], [], [], 0.001)[0] == []\nprint(select.select([0], [1], [], 1))";
    assert_eq!(ends(looks, "input()").0, InteractionEnd::Completed);
}

#[test]
fn a_side_that_fails_stops_the_other_where_it_waits() {
    let stopped = "Trappedinteraction";
    for (program, interactor, end, ended, other) in [
        ("1 / 0", GUESS, InteractionEnd::ProgramFailed, "RaisedZeroDivisionError", stopped),
        ("import sys\nsys.exit(3)", GUESS, InteractionEnd::ProgramFailed, "RaisedSystemExit", stopped),
        ("def f(:", GUESS, InteractionEnd::ProgramFailed, "CompileErrorCompileError", stopped),
        ("while True: pass", GUESS, InteractionEnd::ProgramFailed, "Fuel", stopped),
        (
            "while True: print('? 1')",
            "import sys\nfor line in sys.stdin: pass",
            InteractionEnd::ProgramFailed,
            "OutputBytes",
            stopped,
        ),
        ("import os\nos._exit(1)", GUESS, InteractionEnd::ProgramFailed, "Trappedproc_exit", stopped),
        ("x = bytearray(1 << 30)", GUESS, InteractionEnd::ProgramFailed, "MemoryBytes", stopped),
        (GUESSER, "def f(:", InteractionEnd::InteractorFailed, stopped, "CompileErrorCompileError"),
        (GUESSER, "while True: pass", InteractionEnd::InteractorFailed, stopped, "Fuel"),
        (GUESSER, "while True: print('<' * 999, flush=True)", InteractionEnd::InteractorFailed, stopped, "OutputBytes"),
        (GUESSER, "raise KeyError", InteractionEnd::InteractorFailed, stopped, "RaisedKeyError"),
        (GUESSER, "import os\nos._exit(2)", InteractionEnd::InteractorFailed, stopped, "Trappedproc_exit"),
        ("print('! 41')", GUESS, InteractionEnd::InteractorFailed, "Returned", "RaisedSystemExit"),
        (
            "while True:\n    print('? 50', flush=True)\n    input()",
            GUESS,
            InteractionEnd::InteractorFailed,
            stopped,
            "RaisedSystemExit",
        ),
        // The interactor has accepted, and the program fails afterwards.
        ("print('! 42', flush=True)\ninput()", GUESS, InteractionEnd::ProgramFailed, "RaisedEOFError", "Returned"),
        (
            "print('! 42', flush=True)\ntry: input()\nexcept EOFError: pass\nwhile True: pass",
            GUESS,
            InteractionEnd::ProgramFailed,
            "Fuel",
            "Returned",
        ),
    ] {
        let wanted = (end, ended.to_owned(), other.to_owned());
        assert_eq!(ends(program, interactor), wanted, "{program}\n{interactor}");
        // Nothing of it is left.
        assert_eq!(ends(GUESSER, GUESS).0, InteractionEnd::Completed);
    }
}

#[test]
fn each_side_has_its_own_files_seed_and_limits() {
    let looks = "import os\nprint(os.listdir('.'), os.path.exists('/work/input.txt'))";
    let outcome = run(&talk(looks, "import sys\nprint(sys.stdin.read(), file=sys.stderr)"));
    assert_eq!(text(&outcome.stdout), "[] False\n");
    assert_eq!(text(&interaction(&outcome).interactor.stderr), "[] False\n\n");
    let draws = "import random\nprint(random.random(), flush=True)";
    let outcome = run(&talk(draws, draws));
    assert_ne!(outcome.stdout, interaction(&outcome).interactor.stdout);
    let mut job = talk("pass", "for i in range(10**7): pass");
    job.interactor.iter_mut().for_each(|interactor| interactor.limits.fuel = 20_000_000);
    let outcome = run(&job);
    assert_eq!(
        (end_of(&outcome).0.as_str(), end_of(&interaction(&outcome).interactor).0.as_str()),
        ("Returned", "Fuel")
    );
    // What it writes is not lost on the way because it is much.
    let flood = "import sys\nfor _ in range(6000): print('x' * 9)\nsys.stdout.flush()\nassert input() == '6000'";
    assert_eq!(ends(flood, "print(sum(input() == 'x' * 9 for _ in range(6000)))").0, InteractionEnd::Completed);
}

/// Jobs of every kind of end.
fn jobs() -> Vec<Job> {
    [
        (GUESSER, GUESS),
        (GUESSER, "input()\nwhile True: pass"),
        (
            "import random\nprint(random.random(), flush=True)\nprint(input())",
            "import random\nprint(input(), random.random())",
        ),
        ("import sys\nprint('? 1')\nsys.stdin.readline()", GUESS),
        ("print('? 1', flush=True)\n1 / 0", GUESS),
        ("while True:\n    print('? 50', flush=True)\n    input()", GUESS),
        (
            "import select, sys\nwhile not select.select([0], [], [], 0.00001)[0]: print('?', flush=True)",
            "for _ in range(9): input()\nprint(1)",
        ),
        (
            "import sys\nsys.stdout.buffer.write(bytes(range(256)))",
            "import sys\nsys.exit(len(sys.stdin.buffer.read()) - 256)",
        ),
        ("def f(:", GUESS),
    ]
    .map(|(program, interactor)| {
        let mut job = talk(program, interactor);
        job.interactor.iter_mut().for_each(|interactor| interactor.limits.fuel = 40_000_000);
        Job { limits: Limits { fuel: 40_000_000, ..limits() }, ..job }
    })
    .to_vec()
}

#[test]
fn the_outcome_is_the_same_each_time_on_any_thread_in_new_and_used_instances_and_in_processes() {
    let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
    let fresh = Sandbox::new(python(), SandboxOptions { reset: ResetMode::Fresh, ..options });
    let (used, processes) = (Sandbox::new(python(), options), processes(1, "interactions"));
    for job in jobs() {
        let wanted = fresh.execute(&job).unwrap();
        for _ in 0..100 {
            assert_eq!(used.execute(&job).unwrap(), wanted, "{}", job.program);
        }
        for _ in 0..3 {
            assert_eq!(processes.execute(&job).unwrap(), wanted, "{}", job.program);
        }
        std::thread::scope(|scope| {
            let threads = [0; 3].map(|_| scope.spawn(|| run(&job)));
            threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), wanted, "{}", job.program));
        });
    }
}

#[test]
fn a_job_that_is_no_script_without_input_has_no_interactor() {
    let plain = talk("pass", "pass");
    for job in [
        Job { stdin: b"x".to_vec(), ..plain.clone() },
        Job { entry: calls("", vec![vec![]]).entry, ..plain.clone() },
        Job { callee: Some(Callee::default()), ..plain.clone() },
    ] {
        assert!(matches!(sandbox().execute(&job), Err(ExecuteError::BadJob(_))), "{job:?}");
    }
    let mut outside = plain;
    outside.interactor.iter_mut().for_each(|interactor| interactor.files[0].0 = "../x".to_owned());
    assert!(matches!(sandbox().execute(&outside), Err(ExecuteError::BadJob(why)) if why.contains("`../x`")));
}

#[test]
fn both_end_when_the_job_is_cancelled_or_meets_its_deadline() {
    let endless = "while True:\n    print(1, flush=True)\n    input()";
    let long = Limits { fuel: 1 << 53, output_bytes: 1 << 40, deadline_ns: 600_000_000_000, ..limits() };
    for (program, interactor) in [(endless, endless), ("input()", "while True: pass")] {
        let mut job = Job { limits: long, ..talk(program, interactor) };
        job.interactor.iter_mut().for_each(|interactor| interactor.limits = long);
        let token = CancellationToken::new();
        let ended = std::thread::scope(|scope| {
            let running = scope.spawn(|| sandbox().run_cancellable(&job, &token));
            std::thread::sleep(std::time::Duration::from_millis(50));
            token.cancel();
            running.join().unwrap()
        });
        assert!(matches!(ended, Err(ExecuteError::Cancelled)), "{ended:?}");
        job.interactor.iter_mut().for_each(|interactor| interactor.limits.deadline_ns = 30_000_000);
        let outcome = sandbox().execute(&job).unwrap();
        assert_eq!(end_of(&interaction(&outcome).interactor).0, "DeadlineNs");
        assert_eq!(ends(GUESSER, GUESS).0, InteractionEnd::Completed);
    }
}

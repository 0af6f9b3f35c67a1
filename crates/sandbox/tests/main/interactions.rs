//! Jobs with an interactor: two scripts that read what the other one writes, in turns.

use veriplay_core::{
    Callee, CancellationToken, Execute, ExecuteError, Interaction, InteractionEnd, Interactor, Job, Limits, Outcome,
};
use veriplay_sandbox::{ResetMode, Sandbox, SandboxOptions};

use crate::support::{calls, cases, end_of, limits, python, run, sandbox, script, text};
use crate::workers::processes;

/// A job whose program talks with `interactor`.
fn talk(program: &str, interactor: &str) -> Job {
    let files = vec![("input.txt".to_owned(), b"42\n".to_vec())];
    let interactor = Interactor {
        image: None,
        program: interactor.to_owned(),
        module: None,
        files,
        arguments: Vec::new(),
        limits: limits(),
        seed: 8,
    };
    Job { interactor: Some(interactor), ..script(program) }
}

fn interaction(outcome: &Outcome) -> &Interaction {
    outcome.interaction.as_ref().unwrap_or_else(|| panic!("{outcome:?}"))
}

/// How they part, and a word for the end of each of them.
fn ends(program: &str, interactor: &str) -> (InteractionEnd, String, String) {
    let outcome = run(&talk(program, interactor));
    let other = interaction(&outcome);
    (other.end, end_of(&outcome), end_of(&other.interactor))
}

const GUESS: &str = include_str!("guess.py");
const GUESSER: &str = include_str!("guesser.py");

#[test]
fn each_side_reads_what_the_other_writes() {
    let outcome = run(&talk(GUESSER, GUESS));
    let Interaction { end, interactor } = interaction(&outcome);
    assert_eq!(*end, InteractionEnd::Completed, "{outcome:?}");
    assert_eq!(text(&outcome.stdout), "? 51\n? 26\n? 38\n? 44\n? 41\n? 42\n? 43\n! 42\n");
    assert_eq!(text(&interactor.stdout), "<\n>=\n>=\n<\n>=\n>=\n<\n");
    assert!(outcome.fuel > 0 && interactor.fuel > 0);
}

/// The program that `text` stands for.
fn named(text: &str) -> String {
    const LOOP: &str = "while True:\n    line = read()\n    if not line: break\n    print(2 * int(line), flush=True)";
    let names =
        [("{GUESS}", GUESS), ("{GUESSER}", GUESSER), ("{DOUBLES}", include_str!("doubles.py")), ("{LOOP}", LOOP)];
    names.iter().fold(text.to_owned(), |text, (name, program)| text.replace(name, program))
}

#[test]
fn two_sides_part_as_their_case_is_called_and_leave_nothing() {
    for case in cases(include_str!("interactions.txt")) {
        let (program, interactor) = (named(&case.program), named(case.part("interactor").unwrap()));
        let (end, words) = case.title.split_once(": ").unwrap();
        let (word, other_word) = words.split_once(", ").unwrap();
        let (found, ended, other_ended) = ends(&program, &interactor);
        let is_right = [(word, &ended), (other_word, &other_ended)]
            .iter()
            .all(|(wanted, ended)| wanted == ended || *wanted == "*");
        assert!(format!("{found:?}") == end && is_right, "{found:?}: {ended}, {other_ended}\n{program}\n{interactor}");
        assert_eq!(ends(GUESSER, GUESS).0, InteractionEnd::Completed);
    }
}

/// A read takes what is there, and no more than was asked for.
#[test]
fn a_read_of_a_pipe_is_as_long_as_what_is_there() {
    let reads = "import os\nos.write(1, b'go\\n')\nprint(os.read(0, 3), os.read(0, 0), os.read(0, 9), os.read(0, 9), os.read(0, 9))";
    let outcome = run(&talk(reads, "import os\ninput()\nos.write(1, b'abc')\nos.write(1, b'de')"));
    assert_eq!(text(&outcome.stdout), "go\nb'abc' b'' b'de' b'' b''\n", "{outcome:?}");
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
    assert_eq!([end_of(&outcome), end_of(&interaction(&outcome).interactor)], ["Returned", "Fuel"]);
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
        assert_eq!(end_of(&interaction(&outcome).interactor), "DeadlineNs");
        assert_eq!(ends(GUESSER, GUESS).0, InteractionEnd::Completed);
    }
}

//! Mistake 9: in the release an executor that fails gives None, which is left out of solve rates here and counted as wrong
//! there. Here a host fault is Dropped, which is no verdict and so can be counted as nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

use veriplay_core::{
    Attempt, Checks, Execute, ExecuteError, IoPair, Job, Outcome, Problem, Question, Status, Task, Value,
};
use veriplay_verifier::{AnswerRequest, ProblemRequest, judge_answers, judge_program};

use super::{HONEST, LONG, gate, induce, propose_to, python, squares, task};

/// The sandbox, with a host that fails each third job.
struct Flaky(AtomicUsize);

impl Execute for Flaky {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        match self.0.fetch_add(1, Ordering::SeqCst) % 3 {
            2 => Err(ExecuteError::Host("the machine is on fire".to_owned())),
            _ => python().execute(job),
        }
    }
}

fn question(x: i64) -> Task {
    let pair = IoPair { input: vec![Value::int(x)], output: Value::int(x + 1) };
    task(Question::Abduction { program: HONEST.to_owned(), pair })
}

#[test]
fn what_failed_on_the_host_is_dropped_and_all_else_is_judged() {
    let tasks: Vec<Task> = (0..30).map(question).collect();
    let attempts: Vec<Attempt> = (0..30).map(|x| Attempt::Arguments(vec![Value::int(x)])).collect();
    let requests: Vec<AnswerRequest<'_>> = tasks
        .iter()
        .zip(&attempts)
        .map(|(task, attempt)| AnswerRequest { task, attempt, image: "python", seed: 1, judge_shown: true })
        .collect();
    let verdicts = judge_answers(&Flaky(AtomicUsize::new(0)), &requests);
    assert_eq!(verdicts.iter().filter(|verdict| verdict.is_err()).count(), 10);
    assert!(verdicts.iter().flatten().all(|verdict| verdict.status == Status::Accepted));
}

#[test]
fn a_proposal_is_dropped_whichever_of_its_jobs_fails() {
    for first in 0..3 {
        let judged = propose_to(&Flaky(AtomicUsize::new(first)), &gate(), HONEST, "3");
        match first {
            0 => assert_eq!(judged.unwrap().verdict.status, Status::Valid),
            _ => assert!(judged.unwrap_err().why.contains("on fire")),
        }
    }
}

#[test]
fn a_host_fault_in_the_run_beside_the_tests_is_no_verdict() {
    let problem = Problem::new("t", Checks::Tests(squares()));
    let judge = |program| {
        let request = ProblemRequest { limits: LONG, ..ProblemRequest::new(&problem, program) };
        judge_program(&Flaky(AtomicUsize::new(1)), &request)
    };
    assert!(judge("def square(n): return n * n").unwrap_err().why.contains("on fire"));
    assert_eq!(judge("def square(n): return n").unwrap().status, Status::WrongAnswer);
}

#[test]
fn an_image_that_is_not_there_is_our_fault_and_no_ones_failure() {
    let (task, attempt) = (question(3), Attempt::Arguments(vec![Value::int(3)]));
    let request = AnswerRequest { task: &task, attempt: &attempt, image: "cobol", seed: 1, judge_shown: true };
    let dropped = judge_answers(python(), &[request]).remove(0).unwrap_err();
    assert!(dropped.why.contains("`cobol`"), "{}", dropped.why);
}

#[test]
fn nothing_a_program_does_is_a_host_fault() {
    // Dropped must never be a way out: what a program can cause is a verdict.
    let programs = [
        "import os\ndef f(x):\n    os._exit(3)\n",
        "import os\ndef f(x):\n    os.abort()\n",
        "import _host\ndef f(x):\n    _host.call(b'')\n",
        "import _host\ndef f(x):\n    _host.call(b'?' * 100000)\n",
        "import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(x):\n    return f(x)\n",
        "def f(x):\n    y = []\n    for _ in range(200000): y = [y]\n    return y\n",
        "def f(x):\n    while True: pass\n",
        "def f(x):\n    return ' ' * (10 ** 12)\n",
        "def f(x):\n    y = [x]\n    y.append(y)\n    return y\n",
        "import sys, gc\ngc.disable()\ndef f(x):\n    sys.settrace(lambda *a: 1 / 0)\n    return x\n",
        "\0",
        "def f(x):\n    return '\\ud800'\n",
    ];
    for program in programs {
        // It panics where the attempt is dropped.
        let verdict = induce(program, &[("3", "4")]);
        assert_ne!(verdict.status, Status::Accepted, "{program}");
    }
}

//! Judges an attempt at a task: the program runs in the sandbox, and the host compares what it returned.

use std::error::Error;

use veriplay_core::{Problem, Status};
use veriplay_sandbox::Sandbox;
use veriplay_verifier::{ProblemRequest, judge_program};

fn main() -> Result<(), Box<dyn Error>> {
    let task = Problem::calls("double", [(vec![2.into()], 4.into()), (vec![3.into()], 6.into())]);
    let attempt = "def double(x):\n    return x + 2\n";
    let verdict = judge_program(&Sandbox::python()?, &ProblemRequest::new(&task, attempt))?;
    assert_eq!((verdict.status, verdict.passed, verdict.total), (Status::WrongAnswer, 1, 2));
    Ok(())
}

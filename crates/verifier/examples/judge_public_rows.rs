//! Judges answers to rows of HumanEval+ and MBPP+, whose expected values are what their reference program returns.

use std::error::Error;

use veriplay_core::{AttemptText, Status};
use veriplay_corpus::{ReadOptions, parse_problem, problem_format};
use veriplay_sandbox::Sandbox;
use veriplay_verifier::extraction::Answer;
use veriplay_verifier::{JudgeConditions, LoadedTask, TaskContext};

/// Rows in the layout of the two sets. They are our own.
const ROWS: [&str; 2] = [
    r#"{"task_id": "HumanEval/own", "prompt": "def double(x):\n", "entry_point": "double", "canonical_solution": "    return 2 * x\n",
        "base_input": [[2]], "plus_input": [[-3], [0]], "atol": 0}"#,
    r#"{"task_id": "Mbpp/3", "prompt": "\"\"\"\nWrite a function to double a number.\nassert double(2) == 4\n\"\"\"\n",
        "entry_point": "double", "canonical_solution": "def double(x):\n    return 2 * x\n", "base_input": [[2]], "plus_input": [[7]], "atol": 0}"#,
];

fn main() -> Result<(), Box<dyn Error>> {
    let sandbox = Sandbox::python()?;
    let conditions = JudgeConditions::new(sandbox.image().digest().clone(), sandbox.image().default_limits());
    let context = TaskContext::new(&sandbox, sandbox.image().name(), &conditions);
    for row in ROWS {
        let task = LoadedTask::new(parse_problem(row, problem_format("evalplus")?, &ReadOptions::default())?);
        for (body, status) in [("x + x", Status::Accepted), ("x * x", Status::WrongAnswer)] {
            let completion = format!("Here it is:\n```python\ndef double(x):\n    return {body}\n```\n");
            let answer = Answer::at_row(task.row(), AttemptText::Completion(completion))?;
            assert_eq!(task.judge(&context, &answer.program)?.status, status);
        }
    }
    Ok(())
}

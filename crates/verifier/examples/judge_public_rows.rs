//! Judges completions at rows of HumanEval+, MBPP+ and verl's sets, on two threads and with limits of its own.

#![expect(clippy::print_stdout, reason = "its output is what it shows")]

use std::error::Error;

use veriplay_core::{AttemptText, Limits, Status};
use veriplay_corpus::{ReadOptions, parse_problem, problem_format};
use veriplay_sandbox::Sandbox;
use veriplay_verifier::{JudgeConditions, Verifier};

/// Rows in the layout of the sets. They are our own. The first two have a reference program in place of expected values.
const ROWS: [(&str, &str); 3] = [
    (
        "evalplus",
        r#"{"task_id": "HumanEval/own", "prompt": "def double(x):\n", "entry_point": "double",
        "canonical_solution": "    return 2 * x\n", "base_input": [[2]], "plus_input": [[-3], [0]], "atol": 0}"#,
    ),
    (
        "evalplus",
        r#"{"task_id": "Mbpp/3", "prompt": "\"\"\"\nDouble a number.\nassert double(2) == 4\n\"\"\"\n", "entry_point": "double",
        "canonical_solution": "def double(x):\n    return 2 * x\n", "base_input": [[2]], "plus_input": [[7]], "atol": 0}"#,
    ),
    ("auto", r#"{"reward_model": {"ground_truth": {"inputs": [[2], [7]], "outputs": [4, 14], "fn_name": "double"}}}"#),
];

fn main() -> Result<(), Box<dyn Error>> {
    let sandbox = Sandbox::python()?;
    let image = sandbox.image();
    let conditions = JudgeConditions::new(image.digest().clone(), image.default_limits());
    // 2 s for each job, in fuel: the same on every machine.
    let limits = Limits::large().with_fuel(2 * Limits::FUEL_PER_SECOND);
    let verifier = Verifier::new(&sandbox, image.name(), conditions).with_limits(limits);
    let two_threads = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    for (format, row) in ROWS {
        let task = verifier.task(parse_problem(row, problem_format(format)?, &ReadOptions::default())?)?;
        let completions =
            ["x + x", "x * x"].map(|result| format!("So:\n```python\ndef double(x):\n    return {result}\n```\n"));
        let attempts = completions.map(|completion| (&task, AttemptText::Completion(completion)));
        for judged in two_threads.install(|| verifier.judge_all(&attempts)) {
            match judged {
                Ok(verdict) => {
                    let reward = verdict.counts().then(|| f64::from(verdict.status == Status::Accepted));
                    println!(
                        "{}: {}, reward {reward:?}, fuel {}",
                        task.row().task_id(),
                        verdict.status,
                        verdict.evidence.fuel
                    );
                }
                // The machine failed, which says nothing about the program: try again, or leave the attempt out.
                Err(dropped) => println!("{}: {dropped}", task.row().task_id()),
            }
        }
    }
    Ok(())
}

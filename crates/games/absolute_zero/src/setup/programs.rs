//! Evaluation tasks from a file of programs, such as CRUXEval's.

use std::path::Path;

use anyhow::Context;
use veriplay_core::{Checks, Prediction, ProblemRow, Proposal, TaskType, Value, program_hash};
use veriplay_corpus::{ReadOptions, problem_format, read_problems};
use veriplay_selfplay::splits::{EvalSet, Guard};
use veriplay_verifier::probes;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};

/// One program in so many is in the validation set.
const VALIDATION_ONE_IN: u8 = 8;

/// The programs of one set with their inputs, in the order of the file. For induction a program has `inputs` inputs: its own, and others
/// derived from it. For an error task each of its inputs is another proposal: first one of every program, then the next of every program.
/// Rows whose input is no list of literals are left out.
pub(super) fn read_drafts(
    file: &Path,
    set: EvalSet,
    task_type: TaskType,
    inputs: usize,
) -> Result<Vec<Proposal>, Failure> {
    let of_set = read_predictions(file)?.into_iter().filter(|prediction| set_of(&prediction.program) == set);
    if task_type == TaskType::Error {
        return Ok(error_drafts(of_set));
    }
    Ok(of_set.filter_map(|prediction| draft(prediction, task_type, inputs)).collect())
}

/// Guards every program of the file, whether a task is made of it or not.
pub(super) fn guard_all(file: &Path, guard: &mut Guard) -> Result<(), Failure> {
    for (number, Prediction { program, .. }) in read_predictions(file)?.iter().enumerate() {
        guard.add_program(set_of(program), &format!("program {number}"), program);
    }
    Ok(())
}

fn read_predictions(file: &Path) -> Result<Vec<Prediction>, Failure> {
    let format = problem_format("cruxeval").or_fail(ExitCode::Bug)?;
    let read = read_problems(file, format, &ReadOptions::default());
    let read =
        read.with_context(|| format!("`tasks.eval_programs` is `{}`", file.display())).or_fail(ExitCode::Input)?;
    let prediction = |(_, row)| match row {
        ProblemRow::Ready(problem) => match problem.checks {
            Checks::Prediction(prediction) => Some(prediction),
            _ => None,
        },
        ProblemRow::Unexecuted(_) => None,
    };
    Ok(read.rows.into_iter().filter_map(prediction).collect())
}

fn set_of(program: &str) -> EvalSet {
    let hash = program_hash(program);
    let first = u8::from_str_radix(&hash.as_str()[..2], 16).unwrap_or(0);
    if first.is_multiple_of(VALIDATION_ONE_IN) { EvalSet::Validation } else { EvalSet::HeldOut }
}

/// Inputs that a program is tried on for one at which it raises.
const ERROR_INPUTS: usize = 16;

fn error_drafts(predictions: impl Iterator<Item = Prediction>) -> Vec<Proposal> {
    let mut rounds = vec![Vec::new(); ERROR_INPUTS];
    for Prediction { program, input, .. } in predictions {
        let Some(input) = parse_input(&input) else { continue };
        for (round, input) in rounds.iter_mut().zip(probes(&input, ERROR_INPUTS)) {
            round.push(Proposal::Triplet { task_type: TaskType::Error, program: program.clone(), input });
        }
    }
    rounds.concat()
}

fn parse_input(text: &str) -> Option<Vec<Value>> {
    Value::parse_arguments(text).ok().filter(|input| !input.is_empty())
}

fn draft(prediction: Prediction, task_type: TaskType, inputs: usize) -> Option<Proposal> {
    let Prediction { program, input, .. } = prediction;
    let input = parse_input(&input)?;
    if task_type != TaskType::Induction {
        return Some(Proposal::Triplet { task_type, program, input });
    }
    let others = probes(&input, inputs - 1);
    let inputs = std::iter::once(input).chain(others).collect();
    Some(Proposal::Inputs { program, inputs, message: String::new() })
}

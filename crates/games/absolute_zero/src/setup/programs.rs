//! Drafts that are not the grammar's own: programs of a file, such as CRUXEval's, for evaluation tasks, and generated programs that may raise, for
//! error tasks.

use std::path::Path;

use anyhow::Context;
use veriplay_core::{Checks, Digest, Prediction, ProblemRow, Proposal, TaskType, Value, program_hash};
use veriplay_corpus::{ProposalStream, ReadOptions, problem_format, read_problems};
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
    let of_set =
        read_predictions(file)?.into_iter().filter(|prediction| set_of(&program_hash(&prediction.program)) == set);
    if task_type == TaskType::Error {
        return Ok(error_drafts(of_set));
    }
    Ok(of_set.filter_map(|prediction| draft(prediction, task_type, inputs)).collect())
}

/// Guards every program of the file, whether a task is made of it or not.
pub(super) fn guard_all(file: &Path, guard: &mut Guard) -> Result<(), Failure> {
    for (number, Prediction { program, .. }) in read_predictions(file)?.iter().enumerate() {
        guard.add_program(set_of(&program_hash(program)), &format!("program {number}"), program);
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

/// The set of a program with this hash.
pub(super) fn set_of(hash: &Digest) -> EvalSet {
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

/// Uses of a result `x` that raise for some of its values: `IndexError`, `ZeroDivisionError`, `KeyError` and `ValueError`, or `TypeError` where it
/// is of another type.
const USES: [&str; 6] = ["[4, 7, 2][x]", "x[2]", "60 // (x % 4)", "{1: 5, 2: 8, 4: 3}[x]", "x.index(3)", "int(x)"];

/// The drafts of `stream` whose last line returns a result, which is used in each of these ways in turn. Whether one raises, the gate finds.
pub(super) fn raising_drafts(stream: ProposalStream<'static>) -> impl Iterator<Item = Proposal> {
    stream.zip(USES.iter().cycle()).filter_map(|(proposal, usage)| with_use(proposal, usage))
}

fn with_use(proposal: Proposal, usage: &str) -> Option<Proposal> {
    let Proposal::Triplet { program, input, .. } = proposal else { return None };
    let (body, last) = program.trim_end().rsplit_once('\n')?;
    let result = last.strip_prefix("    return ")?;
    let program = format!("{body}\n    x = {result}\n    return {usage}");
    Some(Proposal::Triplet { task_type: TaskType::Error, program, input })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_a_program_is_used_where_it_may_raise() {
        let draft = |program: &str| {
            let (task_type, input) = (TaskType::Error, vec![Value::int(1)]);
            with_use(Proposal::Triplet { task_type, program: program.to_owned(), input }, "int(x)")
        };
        let made = draft("def f(x):\n    x = x + 1\n    return str(x)").expect("it returns a result");
        assert_eq!(made.program(), "def f(x):\n    x = x + 1\n    x = str(x)\n    return int(x)");
        assert_eq!(made.task_type(), TaskType::Error);
        assert_eq!(draft("def f(x):\n    if x:\n        return 1"), None);
    }
}

//! What a command line or a request sets for all tasks, in place of what their rows state.

use serde::Serialize;
use veriplay_core::{Checks, Comparison, LimitOverrides, ProblemRow, Trust};

use crate::judges::{OutputKind, choose_judge, judge_by_name};

/// A judge that is chosen beside the tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum ChosenJudge {
    /// For every task whose outputs the judge compares, also where the row names another.
    Every(Comparison),
    /// For tasks whose rows name none, and whose outputs the judge compares.
    Unnamed(Comparison),
}

/// What replaces the statements of rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TaskOverrides {
    /// The judge, for all tasks or for those that name none.
    pub judge: Option<ChosenJudge>,
    /// Whether test code shares an instance with the program.
    pub trust: Option<Trust>,
    /// Limits of each job, in place of the row's.
    pub limits: LimitOverrides,
}

/// An override that does not apply to a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`--{option}` does not apply to task `{task_id}`, which {why}")]
pub struct UselessOverride {
    /// The name of the override, as an option.
    pub option: &'static str,
    /// The name of the task.
    pub task_id: String,
    /// What the task lacks for it.
    pub why: &'static str,
}

impl TaskOverrides {
    /// Whether the judge for every task compares the outputs of this one.
    pub fn has_judge_for(&self, row: &mut ProblemRow) -> bool {
        match (overridable_fields(row).1, &self.judge) {
            (Some((kind, _)), Some(ChosenJudge::Every(chosen))) => {
                judge_by_name(&chosen.judge).is_some_and(|judge| judge.supports(kind))
            }
            _ => false,
        }
    }

    /// Changes the limits, judge and trust of a row.
    ///
    /// # Errors
    /// An override that does not apply to it.
    pub fn apply(&self, row: &mut ProblemRow) -> Result<(), UselessOverride> {
        let task_id = row.task_id().to_owned();
        let (limits, comparison, trust) = overridable_fields(row);
        // Where the row states none, the limits of the command are the overrides already.
        *limits = limits.replaced_by(self.limits);
        match (comparison, &self.judge) {
            (_, None) | (None, Some(ChosenJudge::Unnamed(_))) => {}
            (Some((_, own)), Some(ChosenJudge::Every(chosen))) => own.choose(chosen),
            (Some((kind, own)), Some(ChosenJudge::Unnamed(chosen))) => choose_judge(own, chosen, kind),
            (None, Some(ChosenJudge::Every(_))) => {
                return Err(UselessOverride {
                    option: "judge",
                    task_id,
                    why: "compares no values or texts by a judge",
                });
            }
        }
        match (trust, self.trust) {
            (_, None) => Ok(()),
            (Some(place), Some(trust)) => {
                *place = trust;
                Ok(())
            }
            (None, Some(_)) => Err(UselessOverride { option: "trust", task_id, why: "has no test code" }),
        }
    }
}

/// A comparison, and what it compares.
type ComparedOutputs<'a> = (OutputKind, &'a mut Comparison);

/// The limits, judge and trust of a row.
fn overridable_fields(row: &mut ProblemRow) -> (&mut LimitOverrides, Option<ComparedOutputs<'_>>, Option<&mut Trust>) {
    match row {
        ProblemRow::Unexecuted(unexecuted) => {
            (&mut unexecuted.limits, Some((OutputKind::Values, &mut unexecuted.checks.comparison)), None)
        }
        ProblemRow::Ready(problem) => match &mut problem.checks {
            Checks::Calls(calls) => (&mut problem.limits, Some((OutputKind::Values, &mut calls.comparison)), None),
            Checks::Stdio(stdio) => (&mut problem.limits, Some((OutputKind::Texts, &mut stdio.comparison)), None),
            Checks::Tests(code) => (&mut problem.limits, None, Some(&mut code.trust)),
            Checks::Prediction(_) | Checks::Environment(_) | Checks::Sql(_) | Checks::Appended(_) => {
                (&mut problem.limits, None, None)
            }
        },
    }
}

//! The table of an evaluation: pass@1 and pass@8 at temperature 1, and greedy accuracy, by row.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Status, Verdict};

use crate::metrics::{LEAST_SAMPLES, SolveCount, mean_pass_at_k, solve_counts};
use crate::play::PlayError;
use crate::statistics::{mean_over, share};

/// Means over rows, as fractions of 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalNumbers {
    /// pass@1 at temperature 1.
    pub pass1: f64,
    /// Greedy accuracy.
    pub greedy: f64,
    /// pass@8 at temperature 1.
    pub pass8: f64,
}

/// Tasks of one row, such as a kind of task: means over them, as fractions of 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalRow {
    /// Its name.
    pub row: String,
    /// How many tasks it has.
    pub tasks: usize,
    /// pass@1 at temperature 1.
    pub pass1: f64,
    /// Greedy accuracy.
    pub greedy: f64,
    /// pass@8 at temperature 1.
    pub pass8: f64,
}

/// An evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalTable {
    /// In the order in which the tasks have them.
    pub rows: Vec<EvalRow>,
    /// Over the rows, however many tasks each has; zeros where there is no task.
    pub mean: EvalNumbers,
    /// Further numbers of the game, as fractions of 1; `None` where nothing was counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub numbers: BTreeMap<String, Option<f64>>,
}

/// A judged episode: its task, and the verdict or the host fault.
pub(crate) type EpisodeVerdict = (usize, Result<Verdict, Dropped>);

impl EvalTable {
    /// The table of judged episodes at tasks whose rows are `names`: [`LEAST_SAMPLES`] at least of each task at temperature 1, and a
    /// greedy one.
    ///
    /// # Errors
    /// Too few samples; a dropped episode: a number with holes is no number.
    pub(crate) fn new(
        names: &[&str],
        sampled: Vec<EpisodeVerdict>,
        greedy: Vec<EpisodeVerdict>,
    ) -> Result<Self, PlayError> {
        let (sampled, greedy) = (count_solved(names.len(), sampled)?, count_solved(names.len(), greedy)?);
        if let Some(count) = sampled.iter().find(|count| count.judged < LEAST_SAMPLES) {
            let what =
                format!("an evaluation task has `{}` samples: pass@8 needs `{LEAST_SAMPLES}` or more", count.judged);
            return Err(PlayError::Setup(what));
        }
        let mut rows: Vec<(&str, Vec<usize>)> = Vec::new();
        for (index, name) in names.iter().enumerate() {
            match rows.iter_mut().find(|(row, _)| row == name) {
                Some((_, tasks)) => tasks.push(index),
                None => rows.push((name, vec![index])),
            }
        }
        let row = |(row, tasks): (&str, Vec<usize>)| {
            let counts: Vec<SolveCount> = tasks.iter().map(|index| sampled[*index]).collect();
            let right = tasks.iter().filter(|index| greedy[**index].solved > 0).count();
            let pass = |k| mean_pass_at_k(&counts, k).unwrap_or_default();
            let greedy = share(right, tasks.len()).unwrap_or_default();
            EvalRow { row: row.to_owned(), tasks: tasks.len(), pass1: pass(1), greedy, pass8: pass(8) }
        };
        let rows: Vec<EvalRow> = rows.into_iter().map(row).collect();
        let of = |number: fn(&EvalRow) -> f64| mean_over(&rows, number).unwrap_or_default();
        let mean = EvalNumbers { pass1: of(|row| row.pass1), greedy: of(|row| row.greedy), pass8: of(|row| row.pass8) };
        Ok(Self { rows, mean, numbers: BTreeMap::new() })
    }
}

fn count_solved(tasks: usize, judged: Vec<EpisodeVerdict>) -> Result<Vec<SolveCount>, PlayError> {
    let status = |(task, judged): EpisodeVerdict| -> Result<(usize, Status), Dropped> {
        let void = |dropped: Dropped| Dropped {
            why: format!("the evaluation is void, an attempt was dropped: {}", dropped.why),
        };
        Ok((task, judged.map_err(void)?.status))
    };
    let judged: Vec<(usize, Status)> = judged.into_iter().map(status).collect::<Result<_, _>>()?;
    Ok(solve_counts(tasks, judged.into_iter()))
}

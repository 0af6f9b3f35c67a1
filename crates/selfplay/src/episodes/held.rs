//! A held-out measurement of solvers: rows by what the tasks are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Status, Verdict};

use crate::metrics::{SolveCount, mean_pass_at_k, solve_counts};
use crate::play::{HeldOut, PlayError};
use crate::statistics::{mean, share};

/// Tasks of one row. Fractions of 1, means over its tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldRow {
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

/// The table. Its mean is over its rows, however many tasks each has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldTable {
    /// In the order of their names.
    pub rows: Vec<HeldRow>,
}

/// A judged episode: its task, and the verdict or the host fault.
pub(crate) type Judged = (usize, Result<Verdict, Dropped>);

impl HeldTable {
    /// The table of judged episodes at tasks whose rows are `names`: 8 at least of each at temperature 1, and a greedy one.
    ///
    /// # Errors
    /// A Dropped episode: a number with holes is no number.
    pub(crate) fn of(names: &[&str], sampled: Vec<Judged>, greedy: Vec<Judged>) -> Result<Self, PlayError> {
        let (sampled, greedy) = (whole(names.len(), sampled)?, whole(names.len(), greedy)?);
        let mut tasks: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        names.iter().enumerate().for_each(|(index, name)| tasks.entry(name).or_default().push(index));
        let row = |(row, tasks): (&str, Vec<usize>)| {
            let counts: Vec<SolveCount> = tasks.iter().map(|index| sampled[*index]).collect();
            let right = tasks.iter().filter(|index| greedy[**index].solved > 0).count();
            let pass = |k| mean_pass_at_k(&counts, k).unwrap_or_default();
            let greedy = share(right, tasks.len()).unwrap_or_default();
            HeldRow { row: row.to_owned(), tasks: tasks.len(), pass1: pass(1), greedy, pass8: pass(8) }
        };
        Ok(Self { rows: tasks.into_iter().map(row).collect() })
    }
}

impl HeldOut for HeldTable {
    fn rows(&self) -> Vec<(String, [f64; 3])> {
        self.rows.iter().map(|row| (row.row.clone(), [row.pass1, row.greedy, row.pass8])).collect()
    }

    fn mean(&self) -> [f64; 3] {
        let mean = |number: fn(&HeldRow) -> f64| mean(&self.rows.iter().map(number).collect::<Vec<_>>());
        [mean(|row| row.pass1), mean(|row| row.greedy), mean(|row| row.pass8)].map(Option::unwrap_or_default)
    }
}

fn whole(tasks: usize, judged: Vec<Judged>) -> Result<Vec<SolveCount>, PlayError> {
    let status = |(task, judged): Judged| -> Result<(usize, Status), Dropped> { Ok((task, judged?.status)) };
    let judged: Vec<(usize, Status)> = judged.into_iter().map(status).collect::<Result<_, _>>()?;
    Ok(solve_counts(tasks, judged.into_iter()))
}

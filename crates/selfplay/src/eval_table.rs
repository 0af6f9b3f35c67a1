//! The table of an evaluation: pass@1 and pass@8 at temperature 1, and greedy accuracy, by row; and how two tables differ.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Dropped, Status, Verdict};

use crate::intervals::Estimate;
use crate::metrics::{LEAST_SAMPLES, SolveCount, mean_pass_at_k, pass_at_k, solve_counts};
use crate::play::PlayError;
use crate::statistics::{mean_over, share};

/// The three measures: means over tasks or rows as fractions of 1, or something of each of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalNumbers<T = f64> {
    /// pass@1 at temperature 1.
    pub pass1: T,
    /// Greedy accuracy.
    pub greedy: T,
    /// pass@8 at temperature 1.
    pub pass8: T,
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
    /// The 95 % intervals of `rows` and `mean`; `None` without tasks, and in tables of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<EvalIntervals>,
    /// What the measures are computed from; `None` where tasks differ in their number of samples, and in tables of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<EvalCounts>,
    /// Tables of other tasks, by name, which do not count in `mean`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub further: BTreeMap<String, EvalTable>,
}

/// The 95 % intervals of a table, over the choice of tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalIntervals {
    /// Of each row, in the order of the table.
    pub rows: Vec<EvalNumbers<[f64; 2]>>,
    /// Of the mean over rows.
    pub mean: EvalNumbers<[f64; 2]>,
}

/// How often each task was solved: two evaluations of the same tasks can be compared task by task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalCounts {
    /// Digest of the tasks.
    pub set: Digest,
    /// Samples of each task at temperature 1.
    pub samples: u32,
    /// Of each row, in the order of the table.
    pub rows: Vec<RowCounts>,
}

/// Of each task of a row, in the order of the set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowCounts {
    /// Right samples at temperature 1.
    pub solved: Vec<u32>,
    /// Right greedy responses: 0 or 1.
    pub greedy: Vec<u32>,
}

/// How much higher the measures of one evaluation are than those of another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvalDifference {
    /// Whether the tasks are the same, and compared one by one.
    pub paired: bool,
    /// Of each row, in the order of the table.
    pub rows: Vec<EvalNumbers<Estimate>>,
    /// Of the mean over rows.
    pub mean: EvalNumbers<Estimate>,
    /// Of the further tables that both have, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub further: BTreeMap<String, EvalDifference>,
}

/// A judged episode: its task, and the verdict or the host fault.
pub(crate) type EpisodeVerdict = (usize, Result<Verdict, Dropped>);

impl<T> EvalNumbers<T> {
    /// The same of something else of each measure.
    pub fn map<U>(self, f: impl Fn(T) -> U) -> EvalNumbers<U> {
        EvalNumbers { pass1: f(self.pass1), greedy: f(self.greedy), pass8: f(self.pass8) }
    }
}

impl EvalNumbers<Estimate> {
    /// The mean over rows; `None` of none.
    fn mean(rows: &[Self]) -> Option<Self> {
        let of = |measure: fn(&Self) -> Estimate| Estimate::mean(&rows.iter().map(measure).collect::<Vec<_>>());
        Some(Self { pass1: of(|row| row.pass1)?, greedy: of(|row| row.greedy)?, pass8: of(|row| row.pass8)? })
    }

    fn minus(self, other: Self) -> Self {
        Self {
            pass1: self.pass1.minus(other.pass1),
            greedy: self.greedy.minus(other.greedy),
            pass8: self.pass8.minus(other.pass8),
        }
    }

    fn intervals(self) -> EvalNumbers<[f64; 2]> {
        self.map(|estimate| estimate.interval)
    }
}

impl EvalRow {
    /// The three measures with their intervals.
    fn estimates(&self) -> EvalNumbers<Estimate> {
        let numbers = EvalNumbers { pass1: self.pass1, greedy: self.greedy, pass8: self.pass8 };
        numbers.map(|number| Estimate::of_share(number, self.tasks))
    }
}

impl EvalCounts {
    /// The three measures of each task of a row. `None` where the counts are those of no evaluation.
    fn measures(&self, row: usize) -> Option<Vec<EvalNumbers>> {
        let RowCounts { solved, greedy } = self.rows.get(row)?;
        let measure = |(solved, greedy): (&u32, &u32)| {
            let pass = |k| pass_at_k(self.samples, *solved, k);
            Some(EvalNumbers { pass1: pass(1)?, greedy: f64::from(*greedy), pass8: pass(LEAST_SAMPLES)? })
        };
        solved.iter().zip(greedy).map(measure).collect()
    }

    /// The differences of each row to the same tasks in another evaluation. `None` where the tasks differ.
    fn minus(&self, other: &Self) -> Option<Vec<EvalNumbers<Estimate>>> {
        if self.set != other.set || self.rows.len() != other.rows.len() {
            return None;
        }
        (0..self.rows.len()).map(|row| mean_differences(&self.measures(row)?, &other.measures(row)?)).collect()
    }
}

/// The mean difference of paired tasks. `None` where there are none, or not as many on both sides.
fn mean_differences(own: &[EvalNumbers], others: &[EvalNumbers]) -> Option<EvalNumbers<Estimate>> {
    if own.len() != others.len() {
        return None;
    }
    let of = |measure: fn(&EvalNumbers) -> f64| {
        let differences = own.iter().zip(others).map(|(one, other)| measure(one) - measure(other));
        Estimate::of_pairs(&differences.collect::<Vec<_>>())
    };
    Some(EvalNumbers { pass1: of(|task| task.pass1)?, greedy: of(|task| task.greedy)?, pass8: of(|task| task.pass8)? })
}

impl EvalTable {
    /// The measures of each row, with their intervals.
    pub fn row_estimates(&self) -> Vec<EvalNumbers<Estimate>> {
        self.rows.iter().map(EvalRow::estimates).collect()
    }

    /// The means over the rows, with their intervals; `None` where there is no row.
    pub fn mean_estimates(&self) -> Option<EvalNumbers<Estimate>> {
        EvalNumbers::mean(&self.row_estimates())
    }

    /// How much higher this evaluation is than `other`: task by task where both have the same tasks, else as of independent draws. `None`
    /// where they have no rows, or other ones.
    pub fn difference(&self, other: &Self) -> Option<EvalDifference> {
        if !self.rows.iter().map(|row| &row.row).eq(other.rows.iter().map(|row| &row.row)) {
            return None;
        }
        let further = self.further.iter();
        let further = further.filter_map(|(name, own)| Some((name.clone(), own.difference(other.further.get(name)?)?)));
        let (further, counts) = (further.collect(), self.counts.as_ref().zip(other.counts.as_ref()));
        let paired = counts.and_then(|(own, others)| own.minus(others)).filter(|rows| rows.len() == self.rows.len());
        if let Some(rows) = paired {
            return Some(EvalDifference { paired: true, mean: EvalNumbers::mean(&rows)?, rows, further });
        }
        let rows = self.row_estimates().into_iter().zip(other.row_estimates());
        let rows = rows.map(|(own, others)| own.minus(others)).collect();
        let mean = self.mean_estimates()?.minus(other.mean_estimates()?);
        Some(EvalDifference { paired: false, rows, mean, further })
    }

    fn intervals(&self) -> Option<EvalIntervals> {
        let rows = self.row_estimates();
        let mean = EvalNumbers::mean(&rows)?.intervals();
        Some(EvalIntervals { rows: rows.into_iter().map(EvalNumbers::intervals).collect(), mean })
    }

    /// The table of judged episodes at tasks whose rows are `names` and whose digest is `set`: [`LEAST_SAMPLES`] at least of each task at
    /// temperature 1, and a greedy one.
    ///
    /// # Errors
    /// Too few samples; a dropped episode: a number with holes is no number.
    pub(crate) fn new(
        names: &[&str],
        set: Digest,
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
        let samples = sampled.first().map_or(0, |count| count.judged);
        let counts = sampled.iter().all(|count| count.judged == samples).then(|| {
            let of_row = |(_, tasks): &(&str, Vec<usize>)| RowCounts {
                solved: tasks.iter().map(|index| sampled[*index].solved).collect(),
                greedy: tasks.iter().map(|index| greedy[*index].solved).collect(),
            };
            EvalCounts { set, samples, rows: rows.iter().map(of_row).collect() }
        });
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
        let (numbers, further) = (BTreeMap::new(), BTreeMap::new());
        let table = Self { rows, mean, numbers, intervals: None, counts, further };
        Ok(Self { intervals: table.intervals(), ..table })
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

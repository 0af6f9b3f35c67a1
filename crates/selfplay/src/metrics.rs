//! Estimators over solve counts. Called by the games' step metrics, by [`crate::eval_table`] and by the cli.

use serde::{Deserialize, Serialize};
use veriplay_core::Status;

use crate::statistics::{mean, share};

/// Samples that pass@8 needs of every task.
pub const LEAST_SAMPLES: u32 = 8;

/// How many of the judged rollouts of one task solved it. Dropped rollouts are in neither number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolveCount {
    /// Judged rollouts whose status was Accepted.
    pub solved: u32,
    /// Rollouts that came to a verdict.
    pub judged: u32,
}

impl SolveCount {
    /// Counts one judged rollout.
    pub fn add(&mut self, solved: bool) {
        self.solved += u32::from(solved);
        self.judged += 1;
    }

    /// The empirical solve rate s in [0, 1]; `None` when nothing was judged.
    pub fn rate(self) -> Option<f64> {
        (self.judged > 0).then(|| f64::from(self.solved) / f64::from(self.judged))
    }

    /// Whether 0 < s < 1: the group carries a learning signal.
    pub fn is_learnable(self) -> bool {
        0 < self.solved && self.solved < self.judged
    }
}

/// The solve count of each of `tasks` tasks, from judged rollouts and the tasks they are at.
pub(crate) fn solve_counts(tasks: usize, judged: impl Iterator<Item = (usize, Status)>) -> Vec<SolveCount> {
    let mut counts = vec![SolveCount::default(); tasks];
    for (task, status) in judged {
        counts[task].add(is_right(status));
    }
    counts
}

/// Whether a response of a solver or of a verifier is right.
pub(crate) const fn is_right(status: Status) -> bool {
    matches!(status, Status::Accepted | Status::Sound)
}

/// The mean solve rate of tasks of which a rollout was judged.
pub fn mean_rate(counts: &[SolveCount]) -> Option<f64> {
    mean(&counts.iter().filter_map(|count| count.rate()).collect::<Vec<_>>())
}

/// The share of learnable tasks among those of which a rollout was judged.
pub fn learnable_share(counts: &[SolveCount]) -> Option<f64> {
    let judged = counts.iter().filter(|count| count.judged > 0).count();
    share(counts.iter().filter(|count| count.is_learnable()).count(), judged)
}

/// The unbiased estimate of pass@k from `c` successes in `n` samples: 1 − C(n−c, k) / C(n, k), Chen et al. 2021
/// (arXiv 2107.03374, equation 1). `None` unless 1 ≤ k ≤ n and c ≤ n: fewer samples than k estimate nothing.
pub fn pass_at_k(n: u32, c: u32, k: u32) -> Option<f64> {
    if k == 0 || k > n || c > n {
        return None;
    }
    if k == 1 {
        return Some(f64::from(c) / f64::from(n)); // The same number, without the rounding of a product.
    }
    if n - c < k {
        return Some(1.0);
    }
    let all_fail: f64 = (n - c + 1..=n).map(|i| 1.0 - f64::from(k) / f64::from(i)).product();
    Some(1.0 - all_fail)
}

/// The mean of [`pass_at_k`] over tasks, in [0, 1]. `None` when there is no task or one has fewer than `k` samples.
pub fn mean_pass_at_k(counts: &[SolveCount], k: u32) -> Option<f64> {
    let each: Option<Vec<f64>> = counts.iter().map(|count| pass_at_k(count.judged, count.solved, k)).collect();
    mean(&each?)
}

/// What one filter let through, of what the filters before it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FilterYield {
    /// The filter's name.
    pub name: String,
    /// Items that it saw.
    pub seen: usize,
    /// What became of that.
    #[serde(flatten)]
    pub count: FilterCount,
}

/// What a filter did, under the key that its game logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FilterCount {
    /// Let through.
    Passed(usize),
    /// Refused.
    Refused(usize),
}

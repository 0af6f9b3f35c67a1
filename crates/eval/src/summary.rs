//! The summary of a run: counts by status, and pass@k.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use veriplay_core::{RowStatus, SCHEMA_VERSION, Status, VerdictRow};
use veriplay_selfplay::intervals::Estimate;
use veriplay_selfplay::metrics::{SolveCount, pass_at_k};

use veriplay_console::progress::counted;

/// The values of `k` that are reported where every task has that many verdicts; 1 always is.
const KS: [u32; 4] = [1, 5, 10, 100];

/// Counts over all rows of the output, those of an earlier run included.
#[derive(Debug, Default)]
pub(crate) struct VerdictTally {
    by_status: BTreeMap<RowStatus, u64>,
    /// Rows without a task, which are invalid or name an unknown one.
    without_task: u64,
    /// Of each task with an attempt.
    by_task: HashMap<String, SolveCount>,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct VerifySummary {
    /// What is a function of the rows.
    #[serde(flatten)]
    pub verdicts: VerdictSummary,
    /// Rows of an earlier run.
    pub resumed: u64,
    /// Rows whose verdict was in the cache; of equal attempts in one run, any but the first may be.
    pub cached: u64,
    /// Whether a signal stopped the run before the last attempt.
    #[serde(skip)]
    pub stopped: bool,
}

/// What the verdicts of an output are: a function of its rows, whichever run made them.
#[derive(Debug, Serialize)]
pub struct VerdictSummary {
    schema_version: u32,
    /// Tasks that can be judged.
    tasks: usize,
    /// Tasks with an attempt.
    tasks_attempted: usize,
    /// Rows of the output.
    pub attempts: u64,
    /// Rows by status.
    statuses: BTreeMap<RowStatus, u64>,
    /// Rows without a verdict, through a fault of the host.
    pub dropped: u64,
    /// Rows that their task cannot judge: neither right nor wrong, and through no fault of the host.
    pub unjudgeable: u64,
    /// Rows of either file that are invalid. Those of the attempts are `unjudgeable` by their status.
    bad_rows: u64,
    /// Attempts at an unknown task, which are `unjudgeable` by their status.
    unknown_tasks: u64,
    /// Mean over the tasks with a verdict; a `k` is present where every attempted task has that many.
    pass_at_k: BTreeMap<u32, f64>,
    /// The 95 % interval of each, over the choice of tasks.
    pass_at_k_interval: BTreeMap<u32, [f64; 2]>,
}

impl VerdictTally {
    pub(crate) fn add(&mut self, row: &VerdictRow) {
        *self.by_status.entry(row.status).or_default() += 1;
        if !row.has_task() {
            self.without_task += 1;
            return;
        }
        let counts = match self.by_task.get_mut(&row.task_id) {
            Some(counts) => counts,
            None => self.by_task.entry(row.task_id.clone()).or_default(),
        };
        if row.counts() {
            counts.add(row.status == RowStatus::Judged(Status::Accepted));
        }
    }

    /// The summary, with the numbers of tasks, of invalid rows and of attempts at unknown tasks.
    pub(crate) fn summary(self, tasks: usize, bad_rows: u64, unknown_tasks: u64) -> VerdictSummary {
        let dropped = |(status, _): &(&RowStatus, &u64)| matches!(status, RowStatus::Dropped(_));
        let pass_at_k: BTreeMap<u32, f64> = KS.into_iter().filter_map(|k| Some((k, self.mean(k)?))).collect();
        let unjudgeable = self.by_status.get(&RowStatus::Judged(Status::Unjudgeable)).copied().unwrap_or(0);
        let judged_tasks = self.by_task.values().filter(|count| count.judged > 0).count();
        VerdictSummary {
            schema_version: SCHEMA_VERSION,
            tasks,
            tasks_attempted: self.by_task.len(),
            attempts: self.by_status.values().sum(),
            dropped: self.by_status.iter().filter(dropped).map(|(_, count)| count).sum(),
            bad_rows,
            unknown_tasks,
            unjudgeable: unjudgeable.saturating_sub(self.without_task),
            pass_at_k_interval: pass_at_k
                .iter()
                .map(|(&k, &mean)| (k, Estimate::of_share(mean, judged_tasks).interval))
                .collect(),
            pass_at_k,
            statuses: self.by_status,
        }
    }

    /// The mean of pass@k over the tasks with a verdict. `None` when there is none, or, for `k` above 1, when a task that
    /// was attempted has fewer than `k`.
    fn mean(&self, k: u32) -> Option<f64> {
        let mut each: Vec<f64> = Vec::with_capacity(self.by_task.len());
        for count in self.by_task.values() {
            match pass_at_k(count.judged, count.solved, k) {
                Some(value) => each.push(value),
                None if k == 1 => {}
                None => return None,
            }
        }
        // Sorted, so that the same verdicts give the same bits.
        each.sort_by(f64::total_cmp);
        (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
    }
}

impl VerifySummary {
    /// For people.
    pub fn text(&self) -> String {
        let origins = [(self.resumed, "of an earlier run"), (self.cached, "from the cache")];
        let origins = origins.into_iter().filter(|(count, _)| *count > 0);
        let origins = origins.map(|(count, origin)| format!("; {} {origin}", counted(count, "verdict")));
        self.verdicts.text() + &origins.collect::<String>()
    }
}

impl VerdictSummary {
    /// Rows that are invalid or name an unknown task.
    pub const fn without_task(&self) -> u64 {
        self.bad_rows + self.unknown_tasks
    }

    /// pass@1, where a task has a verdict.
    pub fn pass_at_1(&self) -> Option<f64> {
        self.pass_at_k.get(&1).copied()
    }

    /// One pass@k with its interval, in percent.
    fn pass_text(&self, k: u32, value: f64) -> String {
        let [low, high] = self.pass_at_k_interval[&k].map(|bound| 100.0 * bound);
        format!("pass@{k} {:.2} % (95 %: {low:.1} to {high:.1})", 100.0 * value)
    }

    /// For people.
    pub fn text(&self) -> String {
        let statuses = self.statuses.iter().map(|(status, count)| format!("{status} {count}"));
        let ks = self.pass_at_k.iter().map(|(k, value)| self.pass_text(*k, *value));
        let parts: Vec<String> = statuses.chain(ks).collect();
        let attempted = match self.tasks_attempted == self.tasks {
            true => counted(self.tasks, "task"),
            false => format!("{} of {}", self.tasks_attempted, counted(self.tasks, "task")),
        };
        let colon = if parts.is_empty() { "" } else { ": " };
        format!("{} at {attempted}{colon}{}", counted(self.attempts, "attempt"), parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::{VerdictTally, VerifySummary};

    #[test]
    fn the_text_says_where_verdicts_are_from_and_nothing_of_no_verdicts() {
        let text = |resumed, cached| {
            let verdicts = VerdictTally::default().summary(8, 0, 0);
            VerifySummary { verdicts, resumed, cached, stopped: false }.text()
        };
        assert_eq!(text(0, 0), "0 attempts at 0 of 8 tasks");
        assert_eq!(text(3, 1), "0 attempts at 0 of 8 tasks; 3 verdicts of an earlier run; 1 verdict from the cache");
    }
}

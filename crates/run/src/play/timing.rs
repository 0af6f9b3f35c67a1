//! The clock of a run: `timing.jsonl`, and what it says of the whole run.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};

/// One line of `timing.jsonl`.
#[derive(Serialize, Deserialize)]
pub(super) struct Timing {
    pub(super) step: u64,
    /// Generating and judging; of a step that was sampled ahead next to nothing.
    pub(super) play_s: f64,
    pub(super) update_s: f64,
    /// Of a step that was sampled ahead: generating and judging, beside the update before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sampled_s: Option<f64>,
    pub(super) jobs: u64,
}

/// Seconds and jobs of the steps of a run, whichever processes have played them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct StepTotals {
    pub(super) seconds: f64,
    pub(super) jobs: u64,
}

impl StepTotals {
    /// Reads those of the first `steps` steps. Of a step that was played again, the last line counts.
    pub(super) fn read(path: &Path, steps: u64) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()));
        Ok(Self::parse(&text.or_fail(ExitCode::Input)?, steps))
    }

    /// A line that is no timing costs its step, and not the summary of a complete run.
    fn parse(text: &str, steps: u64) -> Self {
        let timings = text.lines().filter_map(|line| serde_json::from_str::<Timing>(line).ok());
        let own = timings.filter(|timing| timing.step < steps);
        let of_steps: BTreeMap<u64, Timing> = own.map(|timing| (timing.step, timing)).collect();
        Self {
            seconds: of_steps.values().fold(0.0, |sum, timing| sum + timing.play_s + timing.update_s),
            jobs: of_steps.values().map(|timing| timing.jobs).sum(),
        }
    }

    /// Jobs per second; 0 where there was no time.
    pub(super) fn jobs_per_s(&self) -> f64 {
        if self.seconds > 0.0 { self.jobs as f64 / self.seconds } else { 0.0 }
    }
}

/// The length of the whole lines of a log. A kill may have cut off the last one, and what follows it would be no line either.
pub(super) fn whole_lines(path: &Path) -> u64 {
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::{StepTotals, whole_lines};

    const LOG: &str = r#"{"step":0,"play_s":1.0,"update_s":0.5,"jobs":10}
{"step":1,"play_s":9.0,"update_s":9.0,"jobs":90}
{"step":1,"play_s":2.0,"update_s":0.5,"jobs":20}
{"step":2,"play_s":4.0,"upd
{"step":3,"play_s":8.0,"update_s":8.0,"jobs":80}
"#;

    #[test]
    fn the_totals_of_a_run_count_each_of_its_steps_once() {
        assert_eq!(StepTotals::parse(LOG, 3), StepTotals { seconds: 4.0, jobs: 30 });
        assert!((StepTotals::parse(LOG, 3).jobs_per_s() - 7.5).abs() < 1e-12);
        assert_eq!(StepTotals::parse("", 3), StepTotals::default());
        assert!(StepTotals::default().jobs_per_s().abs() < 1e-12);
    }

    #[test]
    fn a_line_that_a_kill_has_cut_off_is_not_continued() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("timing.jsonl");
        assert_eq!(whole_lines(&path), 0);
        std::fs::write(&path, "{}\n{\"st").expect("it is written");
        assert_eq!(whole_lines(&path), 3);
    }
}

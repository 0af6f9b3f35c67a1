//! What a run learned from, by its log of events: whose tasks, and how much of the signal was each role's.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use serde_json::Value;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};

/// The part of the keys of gradient norms before the role.
const GRADIENT_NORM: &str = "actor/grad_norm/";

/// Means over the steps of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Signal {
    /// The share of the attempted tasks that a policy proposed; `None` where no task was attempted.
    pub own_tasks: Option<f64>,
    /// The proposers' share of Σ |weight| over the rewarded episodes; `None` where nothing was learned from.
    pub proposer: Option<f64>,
    /// The norm of the gradient of each role alone, at the steps with a checkpoint.
    pub gradient_norms: BTreeMap<String, f64>,
}

impl Signal {
    /// Reads that of a run from `events.jsonl`.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()));
        Ok(Self::parse(&text.or_fail(ExitCode::Input)?))
    }

    fn parse(text: &str) -> Self {
        let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for event in text.lines().filter_map(|line| serde_json::from_str::<BTreeMap<String, Value>>(line).ok()) {
            for (key, value) in event {
                if let Some(number) = value.as_f64() {
                    let (sum, count) = sums.entry(key).or_default();
                    (*sum, *count) = (*sum + number, *count + 1.0);
                }
            }
        }
        let mean = |key: &str| sums.get(key).map(|(sum, count)| sum / count);
        let roles = sums.keys().filter_map(|key| key.strip_prefix(GRADIENT_NORM));
        Self {
            own_tasks: mean("play/own_tasks"),
            proposer: mean("play/proposer_signal"),
            gradient_norms: roles
                .filter_map(|role| Some((role.to_owned(), mean(&format!("{GRADIENT_NORM}{role}"))?)))
                .collect(),
        }
    }

    /// One line of the summary that people read.
    pub(super) fn text(&self) -> String {
        let percent =
            |share: Option<f64>| share.map_or_else(|| "none".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        let norms = self.gradient_norms.iter().map(|(role, norm)| format!("{role} {norm:.4}"));
        let norms = norms.collect::<Vec<_>>().join(", ");
        format!(
            "{} of the training tasks were proposed by the policy; the proposer has {} of the signal; gradient norms: {}",
            percent(self.own_tasks),
            percent(self.proposer),
            if norms.is_empty() { "not measured" } else { &norms }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Signal;

    #[test]
    fn means_are_over_the_steps_that_have_a_number() {
        let log = "{\"step\":0,\"play/own_tasks\":0.5,\"play/proposer_signal\":null,\"actor/grad_norm/solver\":0.25}\n\
                   {\"step\":1,\"play/own_tasks\":1.0,\"play/proposer_signal\":0.1}\n{\"step\":2,\"pl";
        let signal = Signal::parse(log);
        assert_eq!((signal.own_tasks, signal.proposer), (Some(0.75), Some(0.1)));
        assert_eq!(
            signal.text(),
            "75.0 % of the training tasks were proposed by the policy; the proposer has 10.0 % of the signal; gradient norms: solver 0.2500"
        );
        assert_eq!(Signal::parse("").own_tasks, None);
    }
}

//! Which rollouts are shown, as the query of an address says it: a link to the list shows the same list to others.

use std::fmt::Write;

use super::rollout_log::{Rollout, TaskKey};
use super::runs::percent_encode;

/// The kinds of rollouts that are worth a look, by their word in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    /// Some checks passed, and not all.
    NearMiss,
    /// A rule decided: among them are the cheats that were caught.
    Ruled,
}

impl Special {
    const ALL: [Self; 2] = [Self::NearMiss, Self::Ruled];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::NearMiss => "near-misses",
            Self::Ruled => "ruled",
        }
    }

    fn fits(self, rollout: &Rollout) -> bool {
        match self {
            Self::NearMiss => rollout.facts.is_near_miss(),
            Self::Ruled => rollout.facts.is_ruled(),
        }
    }
}

/// A filter. What is empty or absent fits everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RolloutFilter {
    pub role: String,
    pub task_type: String,
    pub status: String,
    pub rule: String,
    pub step: Option<u64>,
    pub task: Option<TaskKey>,
    pub special: Option<Special>,
    /// Stands in a prompt, a response or a verdict's detail.
    pub text: String,
    /// From 1.
    pub page: usize,
}

impl RolloutFilter {
    /// Reads a query. What it does not know, or cannot be, is as if it were absent.
    pub(crate) fn from_query(query: &[(String, String)]) -> Self {
        let mut filter = Self { page: 1, ..Self::default() };
        for (key, value) in query {
            match key.as_str() {
                "role" => filter.role.clone_from(value),
                "type" => filter.task_type.clone_from(value),
                "status" => filter.status.clone_from(value),
                "rule" => filter.rule.clone_from(value),
                "step" => filter.step = value.trim().parse().ok(),
                "task" => filter.task = u64::from_str_radix(value, 16).ok().map(TaskKey),
                "only" => filter.special = Special::ALL.into_iter().find(|special| special.word() == value),
                "text" => filter.text.clone_from(value),
                "page" => filter.page = value.parse().unwrap_or(1).max(1),
                _ => {}
            }
        }
        filter
    }

    pub(crate) fn query(&self, page: usize) -> String {
        let mut query = String::new();
        let mut add = |key: &str, value: &str| {
            if !value.is_empty() {
                let first = if query.is_empty() { '?' } else { '&' };
                let _ = write!(query, "{first}{key}={}", percent_encode(value));
            }
        };
        add("role", &self.role);
        add("type", &self.task_type);
        add("status", &self.status);
        add("rule", &self.rule);
        add("step", &self.step.map_or_else(String::new, |step| step.to_string()));
        add("task", &self.task.map_or_else(String::new, |task| task.to_string()));
        add("only", self.special.map_or("", Special::word));
        add("text", &self.text);
        add("page", &if page > 1 { page.to_string() } else { String::new() });
        query
    }

    /// Whether the rollout fits, apart from its text.
    pub(crate) fn fits(&self, rollout: &Rollout) -> bool {
        let facts = &rollout.facts;
        let is = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
        is(&self.role, facts.id.kind.role())
            && is(&self.task_type, &facts.task_type)
            && is(&self.status, &facts.status)
            && is(&self.rule, &facts.rule)
            && self.step.is_none_or(|step| step == facts.id.step)
            && self.task.is_none_or(|task| task == rollout.task)
            && self.special.is_none_or(|special| special.fits(rollout))
    }
}

#[cfg(test)]
mod tests {
    use super::{RolloutFilter, Special};

    fn pairs(query: &str) -> Vec<(String, String)> {
        let pairs = query.trim_start_matches('?').split('&').filter_map(|pair| pair.split_once('='));
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn a_query_comes_back() {
        let query = "?role=solver&type=deduction&status=accepted&rule=constant&step=3&task=00000000000000ff&only=near-misses&text=def&page=2";
        let filter = RolloutFilter::from_query(&pairs(query));
        assert_eq!((filter.step, filter.special, filter.page), (Some(3), Some(Special::NearMiss), 2));
        assert_eq!(filter.query(2), query);
        assert!(filter.query(1).ends_with("&text=def"));
    }

    #[test]
    fn nonsense_is_as_if_absent() {
        let filter = RolloutFilter::from_query(&pairs("step=x&task=zz&only=none&page=0&unknown=1"));
        assert_eq!(filter, RolloutFilter { page: 1, ..RolloutFilter::default() });
        assert_eq!(filter.query(1), "");
    }
}

//! What the whole log of a run says: counts by role and type of task, the rules that decided, and the shares of each step as curves.

use std::collections::BTreeMap;

use minijinja::{Value, context};

use super::curves::Curves;
use super::records::{ResponseFacts, ResponseKind};

/// Role and type of task; the type is empty where the game has only one.
type Group = (&'static str, String);

#[derive(Default)]
pub(crate) struct LogSummary {
    groups: BTreeMap<Group, BTreeMap<u64, Counts>>,
    /// Responses by role and rule.
    rules: BTreeMap<(&'static str, String), usize>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Counts {
    pub responses: usize,
    /// Without a verdict, by a fault of the host.
    pub dropped: usize,
    /// Accepted attempts, valid proposals, sound tests.
    pub succeeded: usize,
    pub near_misses: usize,
    /// Those that a rule decided.
    pub ruled: usize,
}

impl Counts {
    fn from_facts(facts: &ResponseFacts) -> Self {
        Self {
            responses: 1,
            dropped: usize::from(&*facts.status == "dropped"),
            succeeded: usize::from(["accepted", "valid", "sound"].contains(&&*facts.status)),
            near_misses: usize::from(facts.is_near_miss()),
            ruled: usize::from(facts.is_ruled()),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            responses: self.responses + other.responses,
            dropped: self.dropped + other.dropped,
            succeeded: self.succeeded + other.succeeded,
            near_misses: self.near_misses + other.near_misses,
            ruled: self.ruled + other.ruled,
        }
    }

    /// A count as a share of the responses with a verdict; `None` where there is none.
    fn share(&self, count: usize) -> Option<f64> {
        let judged = self.responses - self.dropped;
        (judged > 0).then(|| count as f64 / judged as f64)
    }

    /// A count with its share, for people.
    fn share_text(&self, count: usize) -> String {
        self.share(count).map_or_else(|| count.to_string(), |share| format!("{count} ({:.1} %)", 100.0 * share))
    }
}

impl LogSummary {
    pub(crate) fn add(&mut self, facts: &ResponseFacts) {
        let role = facts.id.kind.role();
        let steps = self.groups.entry((role, facts.task_type.to_string())).or_default();
        let counts = steps.entry(facts.id.step).or_default();
        *counts = counts.plus(Counts::from_facts(facts));
        if facts.is_ruled() {
            *self.rules.entry((role, facts.rule.to_string())).or_default() += 1;
        }
    }

    pub(crate) fn total(&self) -> Counts {
        self.groups.values().flat_map(BTreeMap::values).fold(Counts::default(), |sum, counts| sum.plus(*counts))
    }

    /// Shares of the judged responses of each step, by role and type. The rates of success are left out that `logged`, the curves of the
    /// events, has already.
    pub(crate) fn curves(&self, logged: &Curves) -> Curves {
        let mut curves = Curves::new();
        for ((role, task_type), steps) in &self.groups {
            let group = format!("{role} {task_type}");
            let rate = success_rate(role);
            let mut add = |name: &str, count: fn(&Counts) -> usize| {
                let share = |(step, counts): (&u64, &Counts)| Some((*step as f64, counts.share(count(counts))?));
                curves
                    .insert(format!("rollouts/{}/{name}", group.trim_end()), steps.iter().filter_map(share).collect());
            };
            if !logged.contains_key(&format!("play/roles/{group}/{rate}")) {
                add(rate, |counts| counts.succeeded);
            }
            add("near_miss_share", |counts| counts.near_misses);
            add("rule_share", |counts| counts.ruled);
        }
        curves
    }

    /// What the templates show: `types` and `rules`.
    pub(crate) fn to_value(&self, run: &str) -> Value {
        let group = |((role, task_type), steps): (&Group, &BTreeMap<u64, Counts>)| {
            let counts = steps.values().fold(Counts::default(), |sum, counts| sum.plus(*counts));
            context!(
                role => *role,
                task_type => task_type.as_str(),
                responses => counts.responses,
                succeeded => counts.share_text(counts.succeeded),
                near_misses => counts.share_text(counts.near_misses),
                ruled => counts.share_text(counts.ruled),
                dropped => counts.dropped,
            )
        };
        let rule = |((role, rule), count): (&(&'static str, String), &usize)| context!(role => *role, rule => rule.as_str(), count => *count);
        let types = self.groups.iter().map(group).collect::<Vec<_>>();
        context!(run, types, rules => self.rules.iter().map(rule).collect::<Vec<_>>())
    }
}

/// The rate of success of a role, by the status that counts, as the events call it where they have it.
fn success_rate(role: &str) -> &'static str {
    let is = |kind: ResponseKind| role == kind.role();
    if is(ResponseKind::Proposal) || is(ResponseKind::Derived) {
        "valid_rate"
    } else if is(ResponseKind::Verification) {
        "sound_rate"
    } else {
        "solve_rate"
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Counts, Curves, LogSummary, ResponseFacts, success_rate};

    fn facts(id: &str, status: &str, rule: &str, passed: u64) -> ResponseFacts {
        let id = id.parse().expect("an id");
        let (status, rule) = (Arc::from(status), Arc::from(rule));
        ResponseFacts { id, task_type: Arc::from("induction"), status, rule, passed, total: 3, reward: None }
    }

    fn summary() -> LogSummary {
        let mut summary = LogSummary::default();
        for (id, status, rule, passed) in [
            ("0-attempt-0-0", "accepted", "", 3),
            ("0-attempt-0-1", "wrong_answer", "", 2),
            ("0-attempt-0-2", "dropped", "", 0),
            ("4-attempt-0-0", "wrong_answer", "forged", 0),
            ("4-proposal-0", "valid", "", 3),
        ] {
            summary.add(&facts(id, status, rule, passed));
        }
        summary
    }

    #[test]
    fn a_log_is_counted_by_role_and_type() {
        let summary = summary();
        assert_eq!(summary.total(), Counts { responses: 5, dropped: 1, succeeded: 2, near_misses: 1, ruled: 1 });
        let shown = summary.to_value("run");
        let text = |path: &str, row: usize, key: &str| {
            let list = shown.get_attr(path).expect("a list");
            list.get_item_by_index(row).and_then(|row| row.get_attr(key)).expect("a cell").to_string()
        };
        assert_eq!(
            (text("types", 0, "role"), text("types", 0, "succeeded")),
            ("proposer".into(), "1 (100.0 %)".into())
        );
        assert_eq!((text("types", 1, "responses"), text("types", 1, "near_misses")), ("4".into(), "1 (33.3 %)".into()));
        assert_eq!((text("rules", 0, "rule"), text("rules", 0, "count")), ("forged".into(), "1".into()));
    }

    #[test]
    fn shares_of_steps_are_curves_where_no_event_has_them() {
        let logged = Curves::from([("play/roles/proposer induction/valid_rate".to_owned(), vec![(0.0, 1.0)])]);
        let curves = summary().curves(&logged);
        assert_eq!(curves["rollouts/solver induction/solve_rate"], [(0.0, 0.5), (4.0, 0.0)]);
        assert_eq!(curves["rollouts/solver induction/near_miss_share"], [(0.0, 0.5), (4.0, 0.0)]);
        assert_eq!(curves["rollouts/solver induction/rule_share"], [(0.0, 0.0), (4.0, 1.0)]);
        assert!(!curves.contains_key("rollouts/proposer induction/valid_rate"));
        let rates = ["proposer", "derived", "solver", "verifier"].map(success_rate);
        assert_eq!(rates, ["valid_rate", "valid_rate", "solve_rate", "sound_rate"]);
    }
}

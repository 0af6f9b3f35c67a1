//! Monitors that compare one number of a step with a bound: `accepted_share`, `constant_answer`, `starved_groups`, `invalid_proposals`,
//! `repeated_proposals`, `distinct_trigrams`, `language_drift`, `cut_off_responses`, `solver_tokens`, `repeated_turns`, `vacuous_tests` and
//! `wrong_code_accepted`.
//!
//! # What it measures
//! Each logs its number, of the episodes of the policy that learns, and raises an alarm when the number is beyond its bound in as many steps in a row
//! as its row says. A bound is the furthest of: a fixed limit; a multiple of the mean of the run's first ten steps; so many points away from that
//! mean; and three standard deviations of those ten steps away from it, so that noise alone raises none. A step without the number is passed over.
//!
//! | monitor | number | alarm | steps |
//! |---|---|---|---|
//! | `accepted_share` | attempts that the game accepts | none; read by `reward_truth_gap` | |
//! | `constant_answer` | attempts with the commonest answer that several tasks have | > 50 % and > 3 times its start | 5 |
//! | `starved_groups` | tasks that all attempts or none solve | > 80 % | 10 |
//! | `invalid_proposals` | proposals that are refused | > 50 % | 5 |
//! | `repeated_proposals` | proposals that the pool or the step has already | > 60 % | 5 |
//! | `distinct_trigrams` | different runs of three tokens, of all in the different proposals of a step | < half its start | 5 |
//! | `language_drift` | `actor/proposer_ref_logprob` of `loss_terms`: nats a token of proposals under the reference | 30 % below its start | 5 |
//! | `cut_off_responses` | solvers' responses that reach the token limit | > 50 % | 20 |
//! | `solver_tokens` | mean tokens of an attempt, all turns | < half its start | 5 |
//! | `repeated_turns` | solvers' turns, after the first, whose text is that of the turn before | > 80 % | 5 |
//! | `vacuous_tests` | `play/mutation_score` of `sol_ver`: mutants that the tests reject | 3 points below its start | 5 |
//! | `wrong_code_accepted` | `play/false_positive_rate` of `sol_ver`: other codes that the tests accept | 3 points above its start | 5 |
//!
//! # Why
//! They are the ends that collapsed runs were seen in: one answer for all prompts (SRT, arXiv 2505.21444), groups without a gradient, a proposer that
//! repeats itself (R-Zero, arXiv 2508.05004), text that grows to its limit or loses its reasoning, proposals that the start model would hardly write,
//! later turns that change nothing, tests that accept everything. The bounds are ours.
//!
//! # Example
//! In the first ten steps 10 % of the attempts have the commonest answer, with a deviation of 2 points. The bound is 50 %, the furthest of 50 %, 30 %
//! and 16 %. The fifth step in a row with 60 % raises the alarm.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use veriplay_core::{FinishReason, Rollout};

use super::{Monitor, is_so_again};
use crate::facts::{EpisodeSummary, StepSummary};
use crate::memory::Memory;
use crate::metrics::SolveCount;
use crate::play::Measurement;
use crate::rollout::Part;
use crate::statistics::{mean, share};

/// Steps that a start is computed from.
const FIRST: f64 = 10.0;
/// Standard deviations of the first steps that a number may be away from their mean.
const DEVIATIONS: f64 = 3.0;

/// A monitor of one number.
pub(super) struct Bounded {
    pub(super) name: &'static str,
    /// The key of the log of events.
    pub(super) key: &'static str,
    /// The number of a step; `None` where a game states it.
    pub(super) measure: Option<fn(&StepSummary<'_>) -> Option<f64>>,
    pub(super) bound: Bound,
}

/// What a number must not go beyond.
pub(super) struct Bound {
    /// Whether too much is wrong, and not too little.
    pub(super) is_highest: bool,
    pub(super) limit: f64,
    /// Times the mean of the first steps.
    pub(super) factor: f64,
    /// How far away from that mean it may always be.
    pub(super) points: f64,
    /// Whether the first steps count, too.
    pub(super) from_start: bool,
    /// Steps in a row that raise an alarm.
    pub(super) steps: f64,
}

impl Bound {
    pub(super) const HIGHEST: Self =
        Self { is_highest: true, limit: 0.0, factor: 1.0, points: 0.0, from_start: true, steps: 5.0 };
    const LOWEST: Self = Self { is_highest: false, limit: f64::INFINITY, ..Self::HIGHEST };
    /// That of a number which is only logged.
    const NONE: Self = Self { limit: f64::INFINITY, from_start: false, ..Self::HIGHEST };

    /// The bound after first steps of this mean and deviation.
    fn after(&self, mean: f64, deviation: f64) -> f64 {
        let away = self.points.max(DEVIATIONS * deviation);
        match (self.from_start, self.is_highest) {
            (false, _) => self.limit,
            (true, true) => self.limit.max(self.factor * mean).max(mean + away),
            (true, false) => self.limit.min(self.factor * mean).min(mean - away),
        }
    }
}

impl Monitor for Bounded {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&self, step: &StepSummary<'_>) -> Option<Measurement> {
        self.measure.map(|measure| Measurement::Number(measure(step)))
    }

    fn watch(&self, _step: u64, numbers: &BTreeMap<String, f64>, memory: &mut Memory) -> Option<String> {
        let number = numbers.get(self.key).copied().filter(|number| number.is_finite())?;
        let [count, sum, squares] = ["steps", "sum", "squares"].map(|name| memory.get(name).unwrap_or(0.0));
        if self.bound.from_start && count < FIRST {
            memory.set("steps", count + 1.0);
            memory.set("sum", sum + number);
            memory.set("squares", squares + number * number);
            return None;
        }
        let start = sum / count.max(1.0);
        let deviation = (squares / count.max(1.0) - start * start).max(0.0).sqrt();
        let bound = self.bound.after(start, deviation);
        let is_beyond = if self.bound.is_highest { number > bound } else { number < bound };
        let Bound { is_highest, steps, .. } = self.bound;
        is_so_again(memory, is_beyond, steps).then(|| {
            let side = if is_highest { "above" } else { "below" };
            format!("`{}` is {number:.3}, and {side} {bound:.3} in {steps} steps in a row", self.key)
        })
    }
}

pub(super) const ACCEPTED_SHARE: Bounded = Bounded {
    name: "accepted_share",
    key: "play/accepted_share",
    measure: Some(|step| share(step.counts.accepted as usize, step.counts.attempts as usize)),
    bound: Bound::NONE,
};

pub(super) const CONSTANT_ANSWER: Bounded = Bounded {
    name: "constant_answer",
    key: "play/constant_answer",
    measure: Some(commonest_answer),
    bound: Bound { limit: 0.5, factor: 3.0, ..Bound::HIGHEST },
};

pub(super) const STARVED_GROUPS: Bounded = Bounded {
    name: "starved_groups",
    key: "play/starved_groups",
    measure: Some(starved_share),
    bound: Bound { limit: 0.8, from_start: false, steps: 10.0, ..Bound::HIGHEST },
};

pub(super) const INVALID_PROPOSALS: Bounded = Bounded {
    name: "invalid_proposals",
    key: "play/invalid_proposals",
    measure: Some(|step| share(step.proposals.invalid, step.proposals.judged)),
    bound: Bound { limit: 0.5, ..Bound::HIGHEST },
};

pub(super) const REPEATED_PROPOSALS: Bounded = Bounded {
    name: "repeated_proposals",
    key: "play/repeated_proposals",
    measure: Some(|step| share(step.proposals.repeated, step.proposals.judged)),
    bound: Bound { limit: 0.6, ..Bound::HIGHEST },
};

pub(super) const DISTINCT_TRIGRAMS: Bounded = Bounded {
    name: "distinct_trigrams",
    key: "play/distinct_trigrams",
    measure: Some(distinct_trigrams),
    bound: Bound { factor: 0.5, ..Bound::LOWEST },
};

pub(super) const LANGUAGE_DRIFT: Bounded = Bounded {
    name: "language_drift",
    key: "loss_terms/actor/proposer_ref_logprob",
    measure: None,
    bound: Bound { factor: 1.3, ..Bound::LOWEST },
};

pub(super) const CUT_OFF_RESPONSES: Bounded = Bounded {
    name: "cut_off_responses",
    key: "play/cut_off_responses",
    measure: Some(cut_off_share),
    bound: Bound { limit: 0.5, steps: 20.0, ..Bound::HIGHEST },
};

pub(super) const SOLVER_TOKENS: Bounded = Bounded {
    name: "solver_tokens",
    key: "play/solver_tokens",
    measure: Some(solver_tokens),
    bound: Bound { factor: 0.5, ..Bound::LOWEST },
};

pub(super) const REPEATED_TURNS: Bounded = Bounded {
    name: "repeated_turns",
    key: "play/repeated_turns",
    measure: Some(repeated_turns),
    bound: Bound { limit: 0.8, ..Bound::HIGHEST },
};

pub(super) const VACUOUS_TESTS: Bounded = Bounded {
    name: "vacuous_tests",
    key: "play/mutation_score",
    measure: None,
    bound: Bound { points: 0.03, ..Bound::LOWEST },
};

pub(super) const WRONG_CODE_ACCEPTED: Bounded = Bounded {
    name: "wrong_code_accepted",
    key: "play/false_positive_rate",
    measure: None,
    bound: Bound { points: 0.03, ..Bound::HIGHEST },
};

/// The episodes that the policy which learns played in a part.
fn own<'s>(step: &'s StepSummary<'_>, part: Part) -> impl Iterator<Item = &'s EpisodeSummary<'s>> {
    step.episodes.iter().filter(move |episode| episode.is_learner && episode.part == part)
}

/// An answer is the text of an attempt's last turn. One that a single task has is no constant one, however often it is given.
fn commonest_answer(step: &StepSummary<'_>) -> Option<f64> {
    let mut tasks_of: BTreeMap<&str, Vec<Option<usize>>> = BTreeMap::new();
    for (episode, (_, last)) in own(step, Part::Solution).filter_map(|one| Some((one, one.turns.last()?))) {
        tasks_of.entry(last.text.trim()).or_default().push(episode.task);
    }
    let attempts = tasks_of.values().map(Vec::len).sum();
    let is_of_several = |tasks: &&Vec<Option<usize>>| tasks.iter().any(|task| *task != tasks[0]);
    share(tasks_of.values().filter(is_of_several).map(Vec::len).max().unwrap_or(0), attempts)
}

fn starved_share(step: &StepSummary<'_>) -> Option<f64> {
    // One attempt is always all or none.
    let groups = step.tasks.iter().map(|task| task.solved).filter(|solved| solved.judged > 1);
    let groups: Vec<SolveCount> = groups.collect();
    share(groups.iter().filter(|solved| !solved.is_learnable()).count(), groups.len())
}

fn distinct_trigrams(step: &StepSummary<'_>) -> Option<f64> {
    // Each text once: that proposals are repeated is another monitor's.
    let texts = own(step, Part::Proposal).flat_map(|episode| episode.turns);
    let texts: BTreeSet<&[u32]> = texts.map(|(_, rollout)| rollout.tokens.as_slice()).collect();
    let trigrams: Vec<&[u32]> = texts.iter().flat_map(|text| text.windows(3)).collect();
    share(trigrams.iter().collect::<HashSet<_>>().len(), trigrams.len())
}

fn cut_off_share(step: &StepSummary<'_>) -> Option<f64> {
    let turns = own(step, Part::Solution).flat_map(|episode| episode.turns);
    let rollouts: Vec<&Rollout> = turns.map(|(_, rollout)| rollout).collect();
    share(rollouts.iter().filter(|rollout| rollout.finish == FinishReason::Length).count(), rollouts.len())
}

fn solver_tokens(step: &StepSummary<'_>) -> Option<f64> {
    let tokens = own(step, Part::Solution)
        .map(|episode| episode.turns.iter().map(|(_, rollout)| rollout.tokens.len()).sum::<usize>() as f64);
    mean(&tokens.collect::<Vec<_>>()).filter(|tokens| *tokens > 0.0)
}

fn repeated_turns(step: &StepSummary<'_>) -> Option<f64> {
    let pairs = || own(step, Part::Solution).flat_map(|episode| episode.turns.windows(2));
    share(pairs().filter(|pair| pair[0].1.text.trim() == pair[1].1.text.trim()).count(), pairs().count())
}

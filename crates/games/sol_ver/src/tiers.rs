//! Rewards of codes by tiers of tests, as in TAROT: which tiers count in a step, and what a code earns that passes some of them.
//!
//! The tests are those of the round's sound suites; [`veriplay_verifier::agreement`] sorts them by the mutants of the trusted code that fail them.
//! What a code earns is a share of weights, so that a trusted one, which passes all tests, earns 1 in every step. A code that was refused or could
//! not be read, and every code of a round in which no tier that counts has a test, has the reward of the scheme.

use veriplay_core::Reward;
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::preferences::Response;
use veriplay_selfplay::rollout::Part;
use veriplay_selfplay::statistics::mean_over;
use veriplay_selfplay::step::Step;
use veriplay_verifier::agreement::{PassedTiers, TEST_TIERS};

use super::{SolVer, TierOrder, TierRewards};

/// The shares of the steps from which one more tier counts.
const OPEN_AT: [f64; TEST_TIERS] = [0.0, 0.2, 0.4, 0.6];

impl TierRewards {
    /// Which tiers count in a step.
    pub fn open(&self, step: u64) -> [bool; TEST_TIERS] {
        let done = step as f64 / self.steps as f64;
        let count = OPEN_AT.iter().filter(|share| done >= **share).count();
        std::array::from_fn(|tier| match self.order {
            TierOrder::EasyFirst => tier < count,
            TierOrder::HardFirst => tier + count >= TEST_TIERS,
        })
    }

    /// The share of the weights of the tiers that count, and have tests, that is of tiers which a code passes; `None` where no tier does.
    pub fn share(&self, step: u64, passed: &PassedTiers) -> Option<f64> {
        let (mut earned, mut all) = (0.0, 0.0);
        for ((weight, is_open), passed) in self.weights.iter().zip(self.open(step)).zip(passed) {
            if let (true, Some(passed)) = (is_open, passed) {
                all += weight;
                earned += if *passed { *weight } else { 0.0 };
            }
        }
        (all > 0.0).then(|| earned / all)
    }
}

impl SolVer {
    /// Rewards the codes of a step by the tiers that they pass, where the configuration says so.
    pub(super) fn reward_tiers(&self, step: &mut Step<'_, Self>) -> Result<(), PlayError> {
        let (Some(tiers), now) = (self.own.tiers, step.number()) else { return Ok(()) };
        let mut shares: Vec<(Response, f64)> = Vec::new();
        for (index, one) in step.facts().solutions.iter().enumerate() {
            let round = step.facts().rounds.get(one.finished.source).and_then(Option::as_ref);
            let round = round.filter(|round| round.refused.is_none());
            let passed = round.and_then(|round| round.tiers.get(one.finished.sample));
            let share = passed.and_then(|passed| tiers.share(now, passed));
            shares.extend(share.map(|share| (Response { part: Part::Solution, index }, share)));
        }
        step.fact("open_tiers", tiers.open(now).into_iter().filter(|is_open| *is_open).count() as f64);
        if let Some(mean) = mean_over(&shares, |(_, share)| *share) {
            step.fact("tier_share", mean);
        }
        shares.into_iter().try_for_each(|(response, share)| step.reward(response, Reward::single("tiers", share)))
    }
}

//! The settings of the game, as a config file states them, and what they may be.

use serde::{Deserialize, Serialize};

use super::prompts;
use crate::eval_table::LEAST_SAMPLES;
use crate::settings::{ConfigError, check_count, check_name, check_number, refused};

/// What is learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// What codes and tests agree on.
    Consensus,
    /// As many examples and pairs, drawn from all responses of the step: the control.
    Random,
}

/// Which stages a step has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lessons {
    /// Imitation alone.
    Sft,
    /// Preference alone.
    Dpo,
    /// Imitation, then preference, as in the paper.
    Both,
}

/// Which program a held-out suite is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldCandidate {
    /// The problem's reference: the same prompt before and after a run.
    Reference,
    /// The policy's own greedy answer, as it stands.
    Own,
}

/// How a stage's examples become optimizer steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Examples, or pairs, of one optimizer step at most.
    pub batch: usize,
    /// How often each is learned from in the step that made it. Every pass is in another order.
    pub epochs: usize,
    /// Optimizer steps at most; what is left over is not learned.
    pub max_updates: usize,
}

/// The settings of the game. There is no `Default`: a config file states them all, and an unknown key is an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolVerConfig {
    /// Name of the wording of prompts and the dialect of responses: `compact` or `fenced`.
    pub format: String,
    /// `consensus`, or `random` for the control.
    pub selection: Selection,
    /// `sft`, `dpo` or `both`.
    pub lessons: Lessons,
    /// Problems proposed a step, each from a snippet of its own as long as there are enough.
    pub problems: usize,
    /// Codes for each problem.
    pub codes: usize,
    /// Codes of each problem that suites are written for, of different texts as long as there are enough.
    pub candidates: usize,
    /// Suites for each of those codes. Only suites for one code can be a pair, so pairs need two.
    pub suites: usize,
    /// Tests that a suite is asked to have. The compact wording does not say it.
    pub tests: usize,
    /// Statements of earlier steps that may not be stated again, newest kept. 0 tells repeats within a step alone.
    pub memory: usize,
    /// Codes of a problem that are imitated at most, of different texts.
    pub sft_codes: usize,
    /// Suites of a problem that are imitated at most, of different texts.
    pub sft_suites: usize,
    /// Pairs of codes of a problem at most.
    pub code_pairs: usize,
    /// Pairs of suites of a problem at most.
    pub test_pairs: usize,
    /// By how much of its tests the worse one of a pair must fall short, in (0, 1]: of the sound suites' tests for a code, of its
    /// own for a suite. A vacuous suite is always worse.
    pub margin: f64,
    /// Weight of examples and pairs of codes.
    pub code_weight: f64,
    /// Weight of examples and pairs of suites.
    pub test_weight: f64,
    /// Weight of imitating the statement of a problem that was learned from; 0 leaves the proposer as it is, as the paper does.
    pub problem_weight: f64,
    /// Imitation.
    pub sft: Stage,
    /// Preference.
    pub dpo: Stage,
    /// Softmax temperature of problems.
    pub proposer_temperature: f32,
    /// Tokens of a problem at most, the end token included.
    pub proposer_max_tokens: usize,
    /// Softmax temperature of codes.
    pub solver_temperature: f32,
    /// Tokens of a code at most, the end token included.
    pub solver_max_tokens: usize,
    /// Softmax temperature of suites.
    pub verifier_temperature: f32,
    /// Tokens of a suite at most, the end token included.
    pub verifier_max_tokens: usize,
    /// `reference` or `own`: which program held-out suites are written for.
    pub held_candidate: HeldCandidate,
    /// Samples of each held-out problem and role, beside the greedy one; 8 at least, which pass@8 needs.
    pub held_samples: usize,
}

impl SolVerConfig {
    /// Whether the learner must hold a reference for the pairs. At temperature 1 the log-probabilities of the rollouts are those of
    /// the policy that made them, which is then the reference.
    #[must_use]
    pub fn needs_reference(&self) -> bool {
        let own = |temperature: f32| temperature == 1.0;
        self.lessons != Lessons::Sft && !(own(self.solver_temperature) && own(self.verifier_temperature))
    }

    /// Checks every key.
    ///
    /// # Errors
    /// The first one that is out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        check_name("format", &self.format, &prompts::names())?;
        self.check_counts()?;
        self.check_numbers()?;
        if self.candidates > self.codes {
            let allowed = format!("use at most `codes`, which is `{}`", self.codes);
            return Err(refused("candidates", self.candidates, allowed));
        }
        Ok(())
    }

    fn check_counts(&self) -> Result<(), ConfigError> {
        let counts = [
            ("problems", self.problems, 1, 65_536),
            ("codes", self.codes, 2, 4_096),
            ("candidates", self.candidates, 1, 4_096),
            ("suites", self.suites, 1, 4_096),
            ("tests", self.tests, 1, 1_024),
            ("memory", self.memory, 0, 1 << 24),
            ("sft_codes", self.sft_codes, 0, 4_096),
            ("sft_suites", self.sft_suites, 0, 4_096),
            ("code_pairs", self.code_pairs, 0, 65_536),
            ("test_pairs", self.test_pairs, 0, 65_536),
            ("sft.batch", self.sft.batch, 1, 1 << 20),
            ("sft.epochs", self.sft.epochs, 1, 1_024),
            ("sft.max_updates", self.sft.max_updates, 1, 1 << 20),
            ("dpo.batch", self.dpo.batch, 1, 1 << 20),
            ("dpo.epochs", self.dpo.epochs, 1, 1_024),
            ("dpo.max_updates", self.dpo.max_updates, 1, 1 << 20),
            ("proposer_max_tokens", self.proposer_max_tokens, 1, 1 << 20),
            ("solver_max_tokens", self.solver_max_tokens, 1, 1 << 20),
            ("verifier_max_tokens", self.verifier_max_tokens, 1, 1 << 20),
            ("held_samples", self.held_samples, LEAST_SAMPLES as usize, 4_096),
        ];
        counts.into_iter().try_for_each(|(key, value, least, most)| check_count(key, value, least, most))
    }

    fn check_numbers(&self) -> Result<(), ConfigError> {
        if !(self.margin > 0.0 && self.margin <= 1.0) {
            return Err(refused("margin", self.margin, "use a number above `0` to `1`"));
        }
        let numbers = [
            ("code_weight", self.code_weight, 1_000.0),
            ("test_weight", self.test_weight, 1_000.0),
            ("problem_weight", self.problem_weight, 1_000.0),
            ("proposer_temperature", f64::from(self.proposer_temperature), 10.0),
            ("solver_temperature", f64::from(self.solver_temperature), 10.0),
            ("verifier_temperature", f64::from(self.verifier_temperature), 10.0),
        ];
        numbers.into_iter().try_for_each(|(key, value, most)| check_number(key, value, 0.0, most))
    }
}

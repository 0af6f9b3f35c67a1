//! The settings of the game, as a config file states them, and what they may be.

use serde::{Deserialize, Serialize};

use super::prompts;
use crate::eval_table::LEAST_SAMPLES;
use crate::preferences::{Objective, PreferenceSchedule, UpdateSchedule};
use crate::settings::{ConfigError, check_count, check_name, check_number, refused};
use crate::{advantages, curricula, rewards};

/// What is learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// What codes and tests agree on.
    Consensus,
    /// As many examples and pairs, drawn from all responses of the step: the control.
    Random,
}

/// What a step learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearningObjective {
    /// Imitation of what is trusted, then preference of it, as in the paper.
    SftDpo,
    /// Imitation alone.
    Sft,
    /// Preference alone.
    Dpo,
    /// The rewards of what was decided, weighed by their advantages.
    PolicyGradient,
}

/// Which program the suites of an evaluation are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvalCandidate {
    /// The problem's reference: the same prompt before and after a run.
    Reference,
    /// The policy's own greedy answer, as it stands.
    Own,
}

/// The settings of the game. There is no `Default`: a config file states them all, and an unknown key is an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolVerConfig {
    /// Name of the wording of prompts and the dialect of responses: `compact` or `fenced`.
    pub format: String,
    /// `consensus`, or `random` for the control.
    pub selection: Selection,
    /// `sft_dpo`, `sft`, `dpo` or `policy_gradient`.
    pub objective: LearningObjective,
    /// Name of the reward scheme, one of [`rewards::REWARDS`]; needed by `policy_gradient`, and used by nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<String>,
    /// Name of the advantage estimator, one of [`advantages::ADVANTAGES`]; as `reward`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advantage: Option<String>,
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
    /// Problems of earlier steps that are asked again each step, drawn by the curriculum. Absent means none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub earlier_problems: usize,
    /// Name of the curriculum, one of [`curricula::CURRICULA`]. Absent means `learnable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curriculum: Option<String>,
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
    pub sft: UpdateSchedule,
    /// Preference.
    pub dpo: UpdateSchedule,
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
    /// `reference` or `own`: which program the suites of an evaluation are written for.
    pub eval_candidate: EvalCandidate,
    /// Samples of each evaluation problem and role, beside the greedy one; 8 at least, which pass@8 needs.
    pub eval_samples: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl SolVerConfig {
    /// Whether the learner must hold a reference for the pairs. At temperature 1 the log-probabilities of the rollouts are those of
    /// the policy that made them, which is then the reference.
    #[must_use]
    pub fn needs_reference(&self) -> bool {
        let own = |temperature: f32| temperature == 1.0;
        let pairs = matches!(self.objective, LearningObjective::SftDpo | LearningObjective::Dpo);
        pairs && !(own(self.solver_temperature) && own(self.verifier_temperature))
    }

    /// What the driver makes batches of.
    pub(super) fn driver_objective(&self) -> Objective {
        let (sft, dpo) = match self.objective {
            LearningObjective::PolicyGradient => return Objective::PolicyGradient,
            LearningObjective::SftDpo => (Some(self.sft), Some(self.dpo)),
            LearningObjective::Sft => (Some(self.sft), None),
            LearningObjective::Dpo => (None, Some(self.dpo)),
        };
        Objective::Preference(PreferenceSchedule { sft, dpo, held_reference: self.needs_reference() })
    }

    /// Checks every key.
    ///
    /// # Errors
    /// The first one that is out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        check_name("format", &self.format, &prompts::names())?;
        self.check_rewards()?;
        curricula::check(self.curriculum.as_deref())?;
        self.check_counts()?;
        self.check_numbers()?;
        if self.candidates > self.codes {
            let allowed = format!("use at most `codes`, which is `{}`", self.codes);
            return Err(refused("candidates", self.candidates, allowed));
        }
        Ok(())
    }

    fn check_rewards(&self) -> Result<(), ConfigError> {
        let named = [("reward", &self.reward, rewards::names()), ("advantage", &self.advantage, advantages::names())];
        for (key, name, names) in named {
            match name {
                Some(name) => check_name(key, name, &names)?,
                None if self.objective == LearningObjective::PolicyGradient => {
                    return Err(refused(key, "", "objective `policy_gradient` needs one: name it"));
                }
                None => {}
            }
        }
        if self.selection == Selection::Random && self.objective == LearningObjective::PolicyGradient {
            let allowed = "objective `policy_gradient` selects nothing: its control is reward `random`";
            return Err(refused("selection", "random", allowed));
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
            ("earlier_problems", self.earlier_problems, 0, 65_536),
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
            ("eval_samples", self.eval_samples, LEAST_SAMPLES as usize, 4_096),
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

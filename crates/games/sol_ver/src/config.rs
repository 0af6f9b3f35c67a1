//! The settings of the game that no other game has.

use serde::{Deserialize, Serialize};
use veriplay_core::Language;
use veriplay_selfplay::preferences::{Objective, PreferenceSchedule, UpdateSchedule};
use veriplay_selfplay::settings::{
    ConfigError, GameConfig, GameSettings, LearnFrom, SharedSettings, check_counts, check_numbers, check_positive,
    invalid_value,
};
use veriplay_verifier::agreement::TEST_TIERS;
use veriplay_verifier::languages::{is_python, language_in_image, language_named};

use super::prompts;

/// The languages that it is played in: with calls, and with streams.
const LANGUAGES: [&str; 2] = ["python", "cpp"];

/// What a step learns from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// What codes and tests agree on.
    Consensus,
    /// As many examples and pairs, drawn from all responses of the step: the control.
    Random,
}

impl Selection {
    /// The value in configurations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Consensus => "consensus",
            Self::Random => "random",
        }
    }
}

/// What a step learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearningObjective {
    /// Imitation of what is trusted, then preference of it, as in the paper.
    SftDpo,
    /// Only imitation.
    Sft,
    /// Only preference.
    Dpo,
    /// The rewards of what was decided, weighed by their advantages.
    PolicyGradient,
}

/// What the better response of a pair is held to: the reference of DPO.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DpoReference {
    /// The policy that sampled the pair, which is that at the start of the step. Where a temperature is not 1, the start model.
    #[default]
    Sampler,
    /// The start model.
    Start,
    /// The policy as the imitation of this step left it.
    Sft,
}

/// Which weights a step trains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrainFrom {
    /// Those that the step before has left, on what this step has made.
    #[default]
    Previous,
    /// The start model's, on what all steps so far have made.
    Start,
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

/// How codes are rewarded by the tiers of tests that they pass.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierRewards {
    /// What each tier weighs: basic, medium, high and edge.
    pub weights: [f64; TEST_TIERS],
    /// `easy_first`, or `hard_first`: from which side tiers open.
    pub order: TierOrder,
    /// One tier counts from step 0, the others from 0.2, 0.4 and 0.6 of so many steps.
    pub steps: u64,
}

/// From which side tiers open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TierOrder {
    /// Basic tests first, for weak models.
    EasyFirst,
    /// Edge tests first, for strong ones.
    HardFirst,
}

impl TierRewards {
    fn check(&self, rewarded: bool, learn_from: LearnFrom) -> Result<(), ConfigError> {
        let weights = format!("{:?}", self.weights);
        if !rewarded {
            let allowed = "leave `tiers` out, or use objective `policy_gradient`, whose rewards they make";
            return Err(invalid_value("tiers.weights", weights, allowed));
        }
        if learn_from != LearnFrom::Advantages {
            let allowed = "use `advantages`, or leave `tiers` out: a wrong code that passes a tier would be imitated";
            return Err(invalid_value("learn_from", learn_from.name(), allowed));
        }
        if self.weights.iter().all(|weight| *weight == 0.0) {
            return Err(invalid_value("tiers.weights", weights, "give at least one tier a weight above `0`"));
        }
        check_numbers(&self.weights.map(|weight| ("tiers.weights", weight, 0.0, 1_000.0)))?;
        check_positive(&[("tiers.steps", self.steps)])
    }
}

/// `[game]` of a configuration.
pub type SolVerConfig = GameConfig<SolVerSettings>;

/// The game's own keys of `[game]`. `group_size` is the number of codes of a problem; `buffer_capacity` the number of problems of earlier
/// steps that may not be stated again, where 0 detects only repeats within a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolVerSettings {
    /// The language of programs: `python`, or `cpp`, whose programs read standard input and write standard output, in the format `think`.
    #[serde(default = "python")]
    pub language: String,
    /// `consensus`, or `random` for the control.
    pub selection: Selection,
    /// `sft_dpo`, `sft`, `dpo` or `policy_gradient`.
    pub objective: LearningObjective,
    /// Problems proposed a step, each from a snippet of its own as long as there are enough.
    pub problems: usize,
    /// Codes of each problem that suites are written for, of different texts as long as there are enough.
    pub candidates: usize,
    /// Suites for each of those codes. Only suites for one code can be a pair, so pairs need two.
    pub suites: usize,
    /// Tests that a prompt asks of a suite. The compact format does not say it.
    pub tests: usize,
    /// Problems of earlier steps that solvers attempt again each step, drawn by the curriculum. Absent means none.
    #[serde(default)]
    pub earlier_problems: usize,
    /// Maximum codes of a problem that are imitated, of different texts.
    pub sft_codes: usize,
    /// Maximum suites of a problem that are imitated, of different texts.
    pub sft_suites: usize,
    /// Maximum pairs of codes of a problem.
    pub code_pairs: usize,
    /// Maximum pairs of suites of a problem.
    pub test_pairs: usize,
    /// By how much of its tests the worse one of a pair must fall short, in (0, 1]: of the sound suites' tests for a code, of its
    /// own for a suite. A vacuous suite is always worse.
    pub margin: f64,
    /// Weight of examples and pairs of codes.
    pub code_weight: f64,
    /// Weight of examples and pairs of suites.
    pub test_weight: f64,
    /// What the better one of a pair is held to. Absent means `sampler`.
    #[serde(default)]
    pub dpo_reference: DpoReference,
    /// `previous`, or `start`: which weights a step trains. Absent means `previous`.
    #[serde(default)]
    pub train_from: TrainFrom,
    /// Rewards codes by tiers of tests. Absent means by whether they are trusted.
    #[serde(default)]
    pub tiers: Option<TierRewards>,
    /// Imitation.
    pub sft: UpdateSchedule,
    /// Preference.
    pub dpo: UpdateSchedule,
    /// Softmax temperature of suites.
    pub verifier_temperature: f32,
    /// Maximum tokens of a suite, the end token included.
    pub verifier_max_tokens: usize,
    /// `reference` or `own`: which program the suites of an evaluation are written for.
    pub eval_candidate: EvalCandidate,
}

fn python() -> String {
    LANGUAGES[0].to_owned()
}

impl GameSettings for SolVerSettings {
    fn check(config: &GameConfig<Self>) -> Result<(), ConfigError> {
        let own = &config.own;
        let rewarded = own.objective == LearningObjective::PolicyGradient;
        config.shared.check(&prompts::names(), rewarded)?;
        Self::check_language(config)?;
        if own.selection == Selection::Random && rewarded {
            let allowed = "objective `policy_gradient` selects nothing: its control is reward `random`";
            return Err(invalid_value("selection", "random", allowed));
        }
        if rewarded && config.shared.learn_from.makes_pairs() {
            let allowed = "leave it out: objective `dpo` makes pairs, of what codes and tests agree on";
            return Err(invalid_value("learn_from", config.shared.learn_from.name(), allowed));
        }
        own.tiers.map_or(Ok(()), |tiers| tiers.check(rewarded, config.shared.learn_from))?;
        Self::check_train_from(config)?;
        Self::check_counts(config)?;
        check_numbers(&[
            ("code_weight", own.code_weight, 0.0, 1_000.0),
            ("test_weight", own.test_weight, 0.0, 1_000.0),
            ("verifier_temperature", f64::from(own.verifier_temperature), 0.0, 10.0),
        ])?;
        if !(own.margin > 0.0 && own.margin <= 1.0) {
            return Err(invalid_value("margin", own.margin, "use a number above `0` to `1`"));
        }
        let codes = config.shared.group_size;
        if own.candidates > codes {
            return Err(invalid_value(
                "candidates",
                own.candidates,
                format!("use at most `group_size`, which is `{codes}`"),
            ));
        }
        Ok(())
    }
}

impl SolVerSettings {
    /// The language of programs. An unknown one, which [`GameConfig::check`] refuses, is Python.
    pub fn language(&self) -> &'static dyn Language {
        self.find_language().unwrap_or_else(|| language_in_image(LANGUAGES[0]))
    }

    fn find_language(&self) -> Option<&'static dyn Language> {
        LANGUAGES.contains(&self.language.as_str()).then(|| language_named(&self.language)).flatten()
    }

    /// Refuses a language that there is not, and what has no meaning in C++.
    fn check_language(config: &SolVerConfig) -> Result<(), ConfigError> {
        let (own, shared) = (&config.own, &config.shared);
        match own.find_language() {
            None => return Err(invalid_value("language", &own.language, "use `python` or `cpp`")),
            Some(language) if is_python(language) => return Ok(()),
            Some(_) => {}
        }
        if shared.format != "think" {
            let allowed = "use `think` with `language = \"cpp\"`, and an instruct model";
            return Err(invalid_value("format", &shared.format, allowed));
        }
        match shared.intrinsic.keys().next() {
            Some(name) => {
                let allowed = "leave it out with `language = \"cpp\"`: these terms read Python";
                Err(invalid_value("intrinsic", name, allowed))
            }
            None => Ok(()),
        }
    }

    /// Whether the learner must hold a reference for the pairs. At temperature 1 the log-probabilities of the rollouts are those of
    /// the policy that made them, which is then the reference.
    pub fn needs_reference(&self, shared: &SharedSettings) -> bool {
        let pairs = matches!(self.objective, LearningObjective::SftDpo | LearningObjective::Dpo);
        let sampled = shared.solves_at_one() && self.verifier_temperature == 1.0;
        pairs && !(sampled && self.dpo_reference == DpoReference::Sampler)
    }

    /// What the driver makes batches of.
    pub(super) fn driver_objective(&self, shared: &SharedSettings) -> Objective {
        let SolVerSettings { sft, dpo, .. } = *self;
        let (sft, dpo) = match self.objective {
            LearningObjective::PolicyGradient => return Objective::PolicyGradient,
            LearningObjective::SftDpo => (Some(sft), Some(dpo)),
            LearningObjective::Sft => (Some(sft), None),
            LearningObjective::Dpo => (None, Some(dpo)),
        };
        let from_start = self.train_from == TrainFrom::Start;
        Objective::Preference(PreferenceSchedule { sft, dpo, held_reference: self.needs_reference(shared), from_start })
    }

    /// Rejects what cannot be learned from by a model that has not sampled it.
    fn check_train_from(config: &SolVerConfig) -> Result<(), ConfigError> {
        if config.own.train_from == TrainFrom::Previous {
            return Ok(());
        }
        let refuse = |allowed: &str| Err(invalid_value("train_from", "start", allowed));
        match config.own.objective {
            LearningObjective::PolicyGradient => {
                refuse("use `previous`, or an objective of examples and pairs: rewards are of the policy that sampled")
            }
            LearningObjective::SftDpo | LearningObjective::Dpo if config.own.dpo_reference == DpoReference::Sampler => {
                refuse("set `dpo_reference` to `sft` or `start`: pairs of earlier steps have other samplers")
            }
            _ => Ok(()),
        }
    }

    fn check_counts(config: &SolVerConfig) -> Result<(), ConfigError> {
        let own = &config.own;
        check_counts(&[
            ("group_size", config.shared.group_size, 2, 4_096),
            ("problems", own.problems, 1, 65_536),
            ("candidates", own.candidates, 1, 4_096),
            ("suites", own.suites, 1, 4_096),
            ("tests", own.tests, 1, 1_024),
            ("earlier_problems", own.earlier_problems, 0, 65_536),
            ("sft_codes", own.sft_codes, 0, 4_096),
            ("sft_suites", own.sft_suites, 0, 4_096),
            ("code_pairs", own.code_pairs, 0, 65_536),
            ("test_pairs", own.test_pairs, 0, 65_536),
            ("sft.batch", own.sft.batch, 1, 1 << 20),
            ("sft.epochs", own.sft.epochs, 1, 1_024),
            ("sft.max_updates", own.sft.max_updates, 1, 1 << 20),
            ("dpo.batch", own.dpo.batch, 1, 1 << 20),
            ("dpo.epochs", own.dpo.epochs, 1, 1_024),
            ("dpo.max_updates", own.dpo.max_updates, 1, 1 << 20),
            ("verifier_max_tokens", own.verifier_max_tokens, 1, 1 << 20),
        ])
    }
}

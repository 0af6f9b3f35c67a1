//! The settings of the game, as a config file states them, and what they may be. Called by the cli, which reads them.

use serde::{Deserialize, Serialize};
use veriplay_core::Trust;
use veriplay_verifier::bugs::tool_env::Weakening;
use veriplay_verifier::bugs::{BugRules, INJECTORS, Injector};

use super::dialects::{self, Dialect};
use super::episode::Budget;
use crate::scoring::Aggregation;
use crate::settings::{ConfigError, ProposerMode, check_count, check_group, check_name, check_number, refused};
use crate::{advantages, curricula, rewards};

/// How a model makes a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It changes code as it likes. The paper's naive way, which tends to one-line edits.
    Direct,
    /// It takes code out, and changes what is left only so that it still runs: more lines go than come.
    Removal,
    /// It is handed the repository with one function's body taken out, and writes that anew. It never sees the original's.
    Rewrite,
}

impl Mode {
    /// All of them, in the order of reports.
    pub const ALL: [Mode; 3] = [Mode::Direct, Mode::Removal, Mode::Rewrite];

    /// Its name in configs, and [`veriplay_verifier::bugs::BugProposal::injector`] of its bugs behind `model_`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Direct => "direct",
            Mode::Removal => "removal",
            Mode::Rewrite => "rewrite",
        }
    }
}

/// The settings of the game. There is no `Default`: a config file states them all, and an unknown key is an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameConfig {
    /// Name of the dialect of prompts and responses, one of [`dialects::DIALECTS`].
    pub dialect: String,
    /// Bugs a step that solvers are asked to repair.
    pub tasks_per_step: usize,
    /// Solver episodes a bug (G). They estimate its solve rate and train the solver.
    pub group: usize,
    /// Injector episodes a step; 0 leaves the model out of making bugs.
    pub injections_per_step: usize,
    /// Share of a step's tasks that its model-made bugs may fill, in [0, 1]. Valid bugs beyond it enter the buffer without a solve
    /// rate, and are not trained on.
    pub injection_share: f64,
    /// How the model makes bugs; each injection draws one. Empty exactly when there are no injections.
    pub modes: Vec<Mode>,
    /// Where the tests run that a bug must fail and a repair must pass: `split`, with the package in an instance of its own, or `shared`,
    /// beside it, where a policy can learn to forge their results.
    pub trust: Trust,
    /// Who takes out the tests that notice a model's bug: `derived` or `model`.
    pub weakening: Weakening,
    /// Mutants a step that are tried as bugs; 0 makes none.
    pub mutants_per_step: usize,
    /// Share of a step's tasks that its mutants may fill, in [0, 1].
    pub mutant_share: f64,
    /// Names of the operators of mutants, of [`INJECTORS`]; empty means all.
    pub operators: Vec<String>,
    /// Failed repairs a step that are tried as bugs of the second order; 0 makes none. They are on the original's repository, and
    /// on bugs of the first order alone.
    pub higher_order_per_step: usize,
    /// Share of a step's tasks that earlier steps' bugs of the second order may fill, in [0, 1].
    pub higher_order_share: f64,
    /// Share of a bug's failing test functions, in [0, 1), that the solver is shown nothing of: they are neither in what it is asked
    /// nor in its tree, and grading has them. Drawn by the run's seed and the bug; one function always is shown.
    pub hidden_share: f64,
    /// More tests than this pass in a bug's test files on the original.
    pub min_passing: usize,
    /// Files a bug changes at least.
    pub min_changed_files: usize,
    /// Tests that fail with a bug at least.
    pub min_failing: usize,
    /// `train` or `frozen`.
    pub injector: ProposerMode,
    /// Multiplies the injector's advantages; the solver's weigh 1.
    pub injector_weight: f64,
    /// Name of the reward scheme, one of [`rewards::REWARDS`]; `ssr` is the paper's, `ssr_random` its control.
    pub reward: String,
    /// What the injector loses by a bug that no rollout repairs, or all do, under `ssr`; α of the paper, which has 0.8.
    pub alpha: f64,
    /// Name of the advantage estimator, one of [`advantages::ADVANTAGES`].
    pub advantage: String,
    /// How the losses of tokens become one number.
    pub aggregation: Aggregation,
    /// Whether what a solver that ran out of turns, fuel or room has done so far is graded as if submitted. If not, it is not a repair.
    pub grade_unfinished: bool,
    /// Bugs kept beside the training set, newest kept.
    pub buffer_capacity: usize,
    /// Name of the curriculum, one of [`curricula::CURRICULA`]. Absent means `learnable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curriculum: Option<String>,
    /// Weight under curriculum `learnable` of a bug whose last solve rate was 0 < s < 1, where others weigh 1.
    pub resample_learnable: f64,
    /// Training bugs that solvers are asked before step 0, and with them one step's injections: the turns of those that came out right
    /// are responses to imitate. 0 makes none.
    pub anchor_bugs: usize,
    /// Anchor samples a step.
    pub anchor_samples: usize,
    /// Weight of each.
    pub anchor_weight: f64,
    /// What a solver's episode may use.
    pub solver_budget: Budget,
    /// What an injector's may.
    pub injector_budget: Budget,
    /// Softmax temperature of solvers.
    pub solver_temperature: f32,
    /// Tokens of one response of theirs at most, the end token included.
    pub solver_max_tokens: usize,
    /// Softmax temperature of injectors.
    pub injector_temperature: f32,
    /// As `solver_max_tokens`.
    pub injector_max_tokens: usize,
    /// Samples of each held-out bug when the policy is measured: 8 at least.
    pub eval_samples: usize,
}

impl GameConfig {
    /// Checks every key.
    ///
    /// # Errors
    /// The first one that is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_name("dialect", &self.dialect, &dialects::names())?;
        check_name("reward", &self.reward, &rewards::names())?;
        check_name("advantage", &self.advantage, &advantages::names())?;
        curricula::check(self.curriculum.as_deref())?;
        self.check_operators()?;
        self.check_counts()?;
        self.check_numbers()?;
        self.check_modes()?;
        self.solver_budget.check().map_err(|(key, value)| refused(key, value, "use at least `1`"))?;
        self.injector_budget.check().map_err(|(key, value)| refused(key, value, "use at least `1`"))?;
        check_group(&self.advantage, self.group)
    }

    /// The bounds of the checks. Their seeds are fixed: a verdict on a bug is the same in every run.
    #[must_use]
    pub const fn rules(&self) -> BugRules {
        BugRules {
            min_passing: self.min_passing,
            min_changed_files: self.min_changed_files,
            min_failing: self.min_failing,
            seeds: BugRules::LEAST.seeds,
        }
    }

    /// The operators of mutants.
    #[must_use]
    pub fn injectors(&self) -> Vec<Injector> {
        let wanted =
            |found: &&Injector| self.operators.is_empty() || self.operators.iter().any(|name| name == found.name);
        INJECTORS.iter().filter(wanted).copied().collect()
    }

    /// How many of a step's tasks a share is.
    pub(super) fn tasks_of(&self, share: f64) -> usize {
        (share * self.tasks_per_step as f64).round() as usize
    }

    fn check_operators(&self) -> Result<(), ConfigError> {
        let names: Vec<&str> = INJECTORS.iter().map(|injector| injector.name).collect();
        self.operators.iter().try_for_each(|name| check_name("operators", name, &names))
    }

    fn check_counts(&self) -> Result<(), ConfigError> {
        check_count("tasks_per_step", self.tasks_per_step, 1, 65_536)?;
        check_count("group", self.group, 1, 4_096)?;
        check_count("injections_per_step", self.injections_per_step, 0, 65_536)?;
        check_count("mutants_per_step", self.mutants_per_step, 0, 65_536)?;
        check_count("higher_order_per_step", self.higher_order_per_step, 0, 65_536)?;
        check_count("min_passing", self.min_passing, 0, 1 << 20)?;
        check_count("min_changed_files", self.min_changed_files, 1, 1_000)?;
        check_count("min_failing", self.min_failing, 1, 1 << 20)?;
        check_count("buffer_capacity", self.buffer_capacity, 1, 1 << 24)?;
        check_count("anchor_bugs", self.anchor_bugs, 0, 65_536)?;
        check_count("anchor_samples", self.anchor_samples, 0, 65_536)?;
        check_count("solver_max_tokens", self.solver_max_tokens, 1, 1 << 20)?;
        check_count("injector_max_tokens", self.injector_max_tokens, 1, 1 << 20)?;
        check_count("eval_samples", self.eval_samples, 8, 65_536)
    }

    fn check_numbers(&self) -> Result<(), ConfigError> {
        check_number("injection_share", self.injection_share, 0.0, 1.0)?;
        check_number("mutant_share", self.mutant_share, 0.0, 1.0)?;
        check_number("higher_order_share", self.higher_order_share, 0.0, 1.0)?;
        check_number("hidden_share", self.hidden_share, 0.0, 0.99)?;
        check_number("injector_weight", self.injector_weight, 0.0, 1_000.0)?;
        check_number("alpha", self.alpha, 0.0, 1.0)?;
        check_number("resample_learnable", self.resample_learnable, 0.0, 1_000.0)?;
        check_number("anchor_weight", self.anchor_weight, 0.0, 1_000.0)?;
        check_number("solver_temperature", f64::from(self.solver_temperature), 0.0, 10.0)?;
        check_number("injector_temperature", f64::from(self.injector_temperature), 0.0, 10.0)?;
        let shares = self.injection_share + self.mutant_share + self.higher_order_share;
        if shares > 1.0 + 1e-9 {
            let allowed = "`injection_share`, `mutant_share` and `higher_order_share` are at most `1` together";
            return Err(refused("injection_share", self.injection_share, allowed));
        }
        Ok(())
    }

    fn check_modes(&self) -> Result<(), ConfigError> {
        let value = || self.modes.iter().map(|mode| mode.name()).collect::<Vec<_>>().join(", ");
        if self.modes.is_empty() != (self.injections_per_step == 0) {
            return Err(refused("modes", value(), "name one at least exactly when `injections_per_step` is not `0`"));
        }
        let single = dialects::by_name(&self.dialect).is_some_and(Dialect::is_single_turn);
        if single && self.modes.iter().any(|mode| *mode != Mode::Direct) {
            return Err(refused("modes", value(), format!("dialect `{}` has `direct` alone", self.dialect)));
        }
        if single && self.weakening == Weakening::Model {
            let allowed = format!("dialect `{}` changes no tests; use `derived`", self.dialect);
            return Err(refused("weakening", "model", allowed));
        }
        Ok(())
    }
}

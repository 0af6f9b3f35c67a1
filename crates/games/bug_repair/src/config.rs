//! The settings of the game that no other game has.

use serde::{Deserialize, Serialize};
use veriplay_core::Trust;
use veriplay_selfplay::settings::{
    ConfigError, GameConfig, GameSettings, check_counts, check_name, check_numbers, invalid_value,
};
use veriplay_verifier::bugs::{BugRules, INJECTORS, Injector, Weakening};

use super::episode::RepoBudget;
use super::prompts::{self, InjectionMode, RepairFormat};

/// `[game]` of a configuration.
pub type BugRepairConfig = GameConfig<BugRepairSettings>;

/// The game's own keys of `[game]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BugRepairSettings {
    /// Bugs a step that solvers repair.
    pub tasks_per_step: usize,
    /// Injector episodes a step; 0 leaves the model out of making bugs.
    pub injections_per_step: usize,
    /// Injector episodes that get the same request; above 1 they are compared with each other alone. A divisor of `injections_per_step`.
    #[serde(default = "one")]
    pub injections_per_site: usize,
    /// Share of a step's tasks that its model-made bugs may fill, in [0, 1]. Valid bugs beyond it enter the buffer without a solve
    /// rate, and are not trained on.
    pub injection_share: f64,
    /// How the model makes bugs; each injection draws one. Empty exactly when there are no injections.
    pub modes: Vec<InjectionMode>,
    /// Where the tests run that a bug must fail and a repair must pass: `split`, with the package in an instance of its own, or `shared`,
    /// beside it, where a policy can learn to forge their results.
    pub trust: Trust,
    /// Who takes out the tests that notice a model's bug: `derived` or `model`.
    pub weakening: Weakening,
    /// Who says how the tests are run that a model's bug is about: `veriplay` or, as in the paper, the `injector`.
    #[serde(default)]
    pub test_command: TestCommandSource,
    /// Mutants a step that are tried as bugs; 0 makes none.
    pub mutants_per_step: usize,
    /// Share of a step's tasks that its mutants may fill, in [0, 1].
    pub mutant_share: f64,
    /// Names of the operators of mutants, of [`INJECTORS`]; empty means all.
    pub operators: Vec<String>,
    /// Failed repairs a step that are tried as bugs of the second order; 0 makes none. They are on the original's repository, and
    /// only on bugs of the first order.
    pub higher_order_per_step: usize,
    /// Share of a step's tasks that earlier steps' bugs of the second order may fill, in [0, 1].
    pub higher_order_share: f64,
    /// Share of a bug's failing test functions, in [0, 1), that the solver is shown nothing of: they are neither in its prompt
    /// nor in its tree, and grading has them. Drawn by the run's seed and the bug; one function always is shown.
    pub hidden_share: f64,
    /// More tests than this pass in a bug's test files on the original.
    pub min_passing: usize,
    /// Minimum number of files a bug changes.
    pub min_changed_files: usize,
    /// Minimum number of tests that fail with a bug.
    pub min_failing: usize,
    /// Whether what a solver that ran out of turns, fuel or room has done so far is graded as if submitted. If not, it is not a repair.
    pub grade_unfinished: bool,
    /// Training bugs that solvers attempt before step 0, beside one step's injections: the turns of those that came out right
    /// are supervised examples. 0 makes none.
    pub sft_bugs: usize,
    /// What a solver's episode may use.
    pub solver_budget: RepoBudget,
    /// What an injector's may.
    pub injector_budget: RepoBudget,
}

/// The default of the key `injections_per_site`.
const fn one() -> usize {
    1
}

/// Who writes the test command of a model's bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestCommandSource {
    /// Nobody: a bug is about the tests that it makes fail.
    #[default]
    Veriplay,
    /// The injector, when it submits. All tests of its command must pass in the original, and none outside may fail with the bug.
    Injector,
}

impl BugRepairSettings {
    /// The bounds of the checks. Their seeds are fixed: a verdict on a bug is the same in every run.
    pub const fn rules(&self) -> BugRules {
        BugRules {
            min_passing: self.min_passing,
            min_changed_files: self.min_changed_files,
            min_failing: self.min_failing,
            seeds: BugRules::LEAST.seeds,
        }
    }

    /// The operators of mutants.
    pub fn injectors(&self) -> Vec<Injector> {
        let wanted =
            |found: &&Injector| self.operators.is_empty() || self.operators.iter().any(|name| name == found.name);
        INJECTORS.iter().filter(wanted).copied().collect()
    }

    /// How many of a step's tasks a share is.
    pub(super) fn tasks_of(&self, share: f64) -> usize {
        (share * self.tasks_per_step as f64).round() as usize
    }
}

impl GameSettings for BugRepairSettings {
    fn check(config: &GameConfig<Self>) -> Result<(), ConfigError> {
        config.shared.check(&prompts::names(), true)?;
        let own = &config.own;
        let operators: Vec<&str> = INJECTORS.iter().map(|injector| injector.name).collect();
        own.operators.iter().try_for_each(|name| check_name("operators", name, &operators))?;
        check_counts(&[
            ("tasks_per_step", own.tasks_per_step, 1, 65_536),
            ("injections_per_step", own.injections_per_step, 0, 65_536),
            ("injections_per_site", own.injections_per_site, 1, 65_536),
            ("mutants_per_step", own.mutants_per_step, 0, 65_536),
            ("higher_order_per_step", own.higher_order_per_step, 0, 65_536),
            ("min_passing", own.min_passing, 0, 1 << 20),
            ("min_changed_files", own.min_changed_files, 1, 1_000),
            ("min_failing", own.min_failing, 1, 1 << 20),
            ("sft_bugs", own.sft_bugs, 0, 65_536),
        ])?;
        Self::check_shares(config)?;
        Self::check_modes(config)?;
        own.solver_budget.check().map_err(|error| error.within("solver_budget"))?;
        own.injector_budget.check().map_err(|error| error.within("injector_budget"))
    }
}

impl BugRepairSettings {
    fn check_shares(config: &BugRepairConfig) -> Result<(), ConfigError> {
        let own = &config.own;
        check_numbers(&[
            ("injection_share", own.injection_share, 0.0, 1.0),
            ("mutant_share", own.mutant_share, 0.0, 1.0),
            ("higher_order_share", own.higher_order_share, 0.0, 1.0),
            ("hidden_share", own.hidden_share, 0.0, 0.99),
        ])?;
        if own.injection_share + own.mutant_share + own.higher_order_share > 1.0 + 1e-9 {
            let allowed = "`injection_share`, `mutant_share` and `higher_order_share` are at most `1` together";
            return Err(invalid_value("injection_share", own.injection_share, allowed));
        }
        Ok(())
    }

    fn check_modes(config: &BugRepairConfig) -> Result<(), ConfigError> {
        let BugRepairSettings { modes, injections_per_step, injections_per_site, weakening, .. } = &config.own;
        let value = || modes.iter().map(|mode| mode.name()).collect::<Vec<_>>().join(", ");
        if modes.is_empty() != (*injections_per_step == 0) {
            return Err(invalid_value(
                "modes",
                value(),
                "give at least one mode if `injections_per_step` is above `0`, else none",
            ));
        }
        if !injections_per_step.is_multiple_of(*injections_per_site) {
            return Err(invalid_value(
                "injections_per_site",
                injections_per_site,
                "use a divisor of `injections_per_step`",
            ));
        }
        let format = &config.shared.format;
        let single = prompts::by_name(format).is_some_and(RepairFormat::is_single_turn);
        if single && modes.iter().any(|mode| *mode != InjectionMode::Direct) {
            return Err(invalid_value("modes", value(), format!("format `{format}` has `direct` alone")));
        }
        if single && *weakening == Weakening::Model {
            let allowed = format!("format `{format}` changes no tests; use `derived`");
            return Err(invalid_value("weakening", "model", allowed));
        }
        if single && config.own.test_command == TestCommandSource::Injector {
            let allowed = format!("format `{format}` has no command in its answers; use `veriplay`");
            return Err(invalid_value("test_command", "injector", allowed));
        }
        Ok(())
    }
}

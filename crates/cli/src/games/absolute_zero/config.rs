//! The tables of the configuration that are this game's own.

use serde::{Deserialize, Serialize};
use veriplay_core::TaskType;
use veriplay_learner::ModelConfig;
use veriplay_selfplay::driver::Methods;
use veriplay_selfplay::games::absolute_zero::AbsoluteZeroConfig;
use veriplay_verifier::Gate;

use crate::config::{LearnConfig, bad_value};
use crate::exit::{ExitCode, Failure, OrFail};
use crate::games::{Demand, EvalSet};

/// `[game]`, `[gate]`, `[tasks]` and `[eval]`, as `configs/quickstart.toml` shows them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AbsoluteZeroSetup {
    /// The game.
    pub(crate) game: AbsoluteZeroConfig,
    /// When a proposal is valid, and what every job may use.
    pub(crate) gate: Gate,
    /// Where seeds and the held-out set come from.
    pub(crate) tasks: TaskConfig,
    /// How the held-out set is measured.
    pub(crate) eval: EvalConfig,
}

/// Where seeds and the held-out set come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskConfig {
    /// The mix of families that seeds are drawn from, as the grammar names it.
    pub(crate) seed_mix: String,
    /// Seed tasks of each type.
    pub(crate) seeds_per_type: usize,
    /// Proposals of each type that the start model is asked for; the valid ones are supervised examples.
    pub(crate) sft_per_type: usize,
    /// The mix of families of the held-out and validation sets.
    pub(crate) eval_mix: String,
    /// Seeds the held-out and validation sets; not the run's seed, so that all runs share them.
    pub(crate) eval_seed: u64,
}

/// How the policy is evaluated. `game.eval_samples` sets the number of samples of each task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EvalConfig {
    /// `held_out` for claims, `validation` for tuning.
    pub(crate) set: EvalSet,
    /// Tasks of each type.
    pub(crate) tasks_per_type: usize,
}

impl AbsoluteZeroSetup {
    pub(super) fn check(&self, learn: &LearnConfig) -> Result<(), Failure> {
        if self.eval.tasks_per_type == 0 {
            return Err(bad_value("eval.tasks_per_type", &self.eval.tasks_per_type, "at least 1"));
        }
        let (game, shared, gate) = (&self.game.own, &self.game.shared, &self.gate.induction);
        if (game.induction_visible, game.induction_hidden) != (gate.visible, gate.hidden) {
            let value = format!("{} visible, {} hidden", gate.visible, gate.hidden);
            let want = "what `game.induction_visible` and `game.induction_hidden` say";
            return Err(bad_value("gate.induction", &value, want));
        }
        learn.check_temperature("game.proposer_temperature", shared.proposer_temperature)?;
        learn.check_temperature("game.solver_temperature", shared.solver_temperature)?;
        self.gate.check().or_fail(ExitCode::Input)?;
        self.game.check().or_fail(ExitCode::Input)
    }

    /// All prompts as long as the context, all responses as long as they may be.
    pub(super) fn most(&self, model: &ModelConfig) -> Demand {
        let (game, shared) = (&self.game.own, &self.game.shared);
        let (context, types) = (model.max_position_embeddings, TaskType::ALL.len());
        let solver = types * game.tasks_per_type * (context + shared.group_size * shared.solver_max_tokens);
        let proposer = (types * game.proposals_per_type + shared.sft_samples) * context;
        Demand { tokens: solver + proposer, longest: shared.solver_max_tokens.max(shared.proposer_max_tokens) }
    }

    /// What a step is made of, for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let (game, shared, types) = (&self.game.own, &self.game.shared, TaskType::ALL.len());
        let (proposals, tasks) = (types * game.proposals_per_type, types * game.tasks_per_type);
        let methods = Methods::named_by(shared);
        let control = if methods.reward.shuffled() { ", shuffled: the control" } else { "" };
        let (reward, advantage) = (methods.reward.name(), methods.advantage.name());
        vec![
            format!("a step: {proposals} proposals, then {} attempts at each of {tasks} tasks", shared.group_size),
            format!("jobs of a step: at most {}", 3 * proposals + shared.group_size * tasks),
            format!("reward `{reward}`{control}; advantage `{advantage}`; prompts `{}`", shared.format),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PlayConfig;
    use crate::embedded;

    #[test]
    fn a_step_demands_all_its_prompts_and_responses() {
        let quickstart = PlayConfig::<AbsoluteZeroSetup>::parse(embedded::QUICKSTART, "quickstart".as_ref());
        let demand = quickstart.expect("it is valid").setup.most(&ModelConfig::default());
        // 96 tasks of 512 + 8 · 48 tokens, 96 proposals and 16 supervised examples of 512.
        assert_eq!(demand, Demand { tokens: 96 * 896 + 112 * 512, longest: 64 });
    }
}

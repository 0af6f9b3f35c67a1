//! The tables of the configuration that are this game's own.

use serde::{Deserialize, Serialize};
use veriplay_core::TaskType;
use veriplay_learner::ModelConfig;

use super::AbsoluteZeroSetup;
use crate::config::{LearnConfig, bad_value};
use crate::exit::{ExitCode, Failure, OrFail};
use crate::games::{Demand, EvalSet};

/// Where seeds and the held-out set come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskConfig {
    /// The mix of families that seeds are drawn from, as the grammar names it.
    pub(crate) seed_mix: String,
    /// Seed tasks of each type.
    pub(crate) seeds_per_type: usize,
    /// Proposals of each type that the start model is asked for; the valid ones are the anchor.
    pub(crate) anchors_per_type: usize,
    /// The mix of families of the held-out and validation sets.
    pub(crate) eval_mix: String,
    /// Seeds the held-out and validation sets; not the run's seed, so that all runs share them.
    pub(crate) eval_seed: u64,
}

/// How the held-out set is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EvalConfig {
    /// `held_out` for claims, `validation` for tuning.
    pub(crate) set: EvalSet,
    /// Tasks of each type.
    pub(crate) tasks_per_type: usize,
    /// Samples a task at temperature 1: pass@1 is their mean, pass@8 is estimated from them.
    pub(crate) samples: usize,
}

impl AbsoluteZeroSetup {
    pub(super) fn check(&self, learn: &LearnConfig) -> Result<(), Failure> {
        if self.eval.samples < 8 {
            return Err(bad_value("eval.samples", &self.eval.samples, "at least 8: pass@8 is estimated from them"));
        }
        if self.eval.tasks_per_type == 0 {
            return Err(bad_value("eval.tasks_per_type", &self.eval.tasks_per_type, "at least 1"));
        }
        let (game, gate) = (&self.game, &self.gate.induction);
        if (game.induction_visible, game.induction_hidden) != (gate.visible, gate.hidden) {
            let value = format!("{} visible, {} hidden", gate.visible, gate.hidden);
            let want = "what `game.induction_visible` and `game.induction_hidden` say";
            return Err(bad_value("gate.induction", &value, want));
        }
        learn.check_temperature("game.proposer_temperature", game.proposer_temperature)?;
        learn.check_temperature("game.solver_temperature", game.solver_temperature)?;
        self.gate.check().or_fail(ExitCode::Input)?;
        game.validate().or_fail(ExitCode::Input)
    }

    /// All prompts as long as the context, all responses as long as they may be.
    pub(super) fn most(&self, model: &ModelConfig) -> Demand {
        let (game, context, types) = (&self.game, model.max_position_embeddings, TaskType::ALL.len());
        let solver = types * game.tasks_per_type * (context + game.group * game.solver_max_tokens);
        let proposer = (types * game.proposals_per_type + game.anchor_samples) * context;
        Demand { tokens: solver + proposer, longest: game.solver_max_tokens.max(game.proposer_max_tokens) }
    }

    /// What a step is made of, for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let (game, types) = (&self.game, TaskType::ALL.len());
        let (proposals, tasks) = (types * game.proposals_per_type, types * game.tasks_per_type);
        let reward = veriplay_selfplay::rewards::by_name(&game.reward);
        let control = if reward.is_some_and(|reward| reward.shuffled()) { ", shuffled: the control" } else { "" };
        vec![
            format!("a step: {proposals} proposals, then {} attempts at each of {tasks} tasks", game.group),
            format!("jobs of a step: at most {}", 3 * proposals + game.group * tasks),
            format!("reward `{}`{control}; advantage `{}`; prompts `{}`", game.reward, game.advantage, game.format),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded;
    use crate::play_config::PlayConfig;

    #[test]
    fn a_step_demands_all_its_prompts_and_responses() {
        let quickstart = PlayConfig::<AbsoluteZeroSetup>::parse(embedded::QUICKSTART, "quickstart".as_ref());
        let demand = quickstart.expect("it is valid").setup.most(&ModelConfig::default());
        // 96 tasks of 512 + 8 · 48 tokens, 96 proposals and 16 anchors of 512.
        assert_eq!(demand, Demand { tokens: 96 * 896 + 112 * 512, longest: 64 });
    }
}

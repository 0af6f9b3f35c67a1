//! Episodes that wait for their reward, as the state of a run keeps them.

use serde::{Deserialize, Serialize};
use veriplay_core::{FinishReason, PolicyVersion, Prompt, Reward, Role, Rollout};

use crate::environment::Environment;
use crate::facts::{EpisodeView, ReleasedEpisode, StepFacts};
use crate::preferences::Response;
use crate::rollout::Part;

/// An episode without its reward.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeldEpisode {
    part: Part,
    role: String,
    kind: String,
    group: usize,
    turns: Vec<HeldTurn>,
}

/// What is learned from of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeldTurn {
    prompt_tokens: Vec<u32>,
    tokens: Vec<u32>,
    /// Bits of the log-probabilities: JSON gives them back exactly.
    logprob_bits: Vec<u32>,
    policy: u64,
}

impl HeldEpisode {
    pub(crate) fn new<E: Environment>(facts: &StepFacts<E>, response: Response) -> Self {
        let EpisodeView { role, kind, group, turns, .. } = facts.episode(response);
        let turns = turns.iter().map(|(_, rollout)| HeldTurn::new(rollout));
        let (role, kind) = (role.name().to_owned(), kind.to_owned());
        Self { part: response.part, role, kind, group, turns: turns.collect() }
    }

    /// With its reward; `None` where it is another role's, or of a kind that the game does not have.
    pub(crate) fn release(self, role: Role, kinds: &[&'static str], reward: Reward) -> Option<ReleasedEpisode> {
        if self.role != role.name() {
            return None;
        }
        let kind = kinds.iter().copied().find(|kind| *kind == self.kind)?;
        Some(ReleasedEpisode {
            role,
            kind,
            part: self.part,
            group: self.group,
            turns: self.turns.into_iter().map(|turn| turn.release(role)).collect(),
            reward,
        })
    }
}

impl HeldTurn {
    pub(crate) fn new(rollout: &Rollout) -> Self {
        Self {
            prompt_tokens: rollout.prompt_tokens.clone(),
            tokens: rollout.tokens.clone(),
            logprob_bits: rollout.logprobs.iter().map(|logprob| logprob.to_bits()).collect(),
            policy: rollout.policy.0,
        }
    }

    /// As what is learned from: a prompt and a rollout without their texts.
    pub(crate) fn release(self, role: Role) -> (Prompt, Rollout) {
        let rollout = Rollout {
            id: None,
            prompt_tokens: self.prompt_tokens,
            rendered_prompt: None,
            tokens: self.tokens,
            logprobs: self.logprob_bits.into_iter().map(f32::from_bits).collect(),
            text: String::new(),
            finish: FinishReason::Stop,
            policy: PolicyVersion(self.policy),
        };
        (Prompt::new(role, String::new()), rollout)
    }
}

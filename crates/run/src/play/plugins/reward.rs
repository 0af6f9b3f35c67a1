//! `game.reward = "exec:COMMAND"`: the rewards of all episodes of a step.

use std::collections::BTreeMap;

use serde_json::Value;
use veriplay_core::Reward;
use veriplay_selfplay::external::ExternalError;
use veriplay_selfplay::rewards::{EpisodeFacts, ProposalOutcome, RewardScheme};

use super::messages::EpisodeMessage;
use super::process::{Plugin, read_reward_number};

impl RewardScheme for Plugin {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn proposer(&self, _: ProposalOutcome, _: bool) -> Option<Reward> {
        None
    }

    /// Answered by `{"rewards": […]}`: for each episode a number, numbers by name whose sum is the reward, or null.
    fn rewards(&self, step: u64, episodes: &[EpisodeFacts<'_>]) -> Result<Vec<Option<Reward>>, ExternalError> {
        let messages: Vec<_> = episodes.iter().map(EpisodeMessage::new).collect();
        self.ask_step(step, &BTreeMap::from([("episodes", messages)]), ("rewards", episodes.len()), read_reward)
    }
}

fn read_reward(answer: &Value) -> Result<Option<Reward>, String> {
    let part = |name: &str, value: &Value| read_reward_number(value).map(|score| (name.to_owned(), score, 1.0));
    let parts = match answer {
        Value::Null => return Ok(None),
        Value::Object(parts) => parts.iter().map(|(name, value)| part(name, value)).collect::<Result<_, _>>()?,
        number => vec![part("exec", number)?],
    };
    Ok(Some(Reward { parts }))
}

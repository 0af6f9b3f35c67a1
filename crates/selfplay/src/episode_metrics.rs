//! Numbers of episodes of several turns, for the log of events.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::multi_turn::{EpisodeEnd, MultiTurn, Workspace};
use crate::play::Measurement;
use crate::rollout::FinishedEpisode;
use crate::statistics::{mean_over, share};

/// Episodes of several turns of one role. Means are over those that were not dropped; `None` of none.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct EpisodeMetrics {
    /// Sampled.
    pub episodes: usize,
    /// Lost to a host fault.
    pub dropped: usize,
    /// The others, by how they ended.
    pub ends: BTreeMap<String, usize>,
    /// Mean number of turns.
    pub turns_mean: Option<f64>,
    /// The share of their turns whose response has the form that the prompt asks for, whatever came of it.
    pub well_formed_share: Option<f64>,
    /// Mean number of tool calls, in games that do not tell tools apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_mean: Option<Measurement>,
    /// Mean number of generated tokens.
    pub tokens_mean: Option<f64>,
    /// The tools, in games that tell them apart.
    #[serde(flatten)]
    pub tool_use: Option<ToolMetrics>,
    /// Mean total reward of those that got a reward.
    pub reward_mean: Option<f64>,
}

/// What episodes did with tools.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ToolMetrics {
    /// Mean fuel of the tools of an episode.
    pub fuel_mean: Option<f64>,
    /// Turns in which no tool was called, though the episode went on: nothing could be read, or no runs were left.
    pub idle_turns: usize,
    /// Calls, by tool.
    pub tools: BTreeMap<String, ToolCalls>,
}

/// Calls of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ToolCalls {
    /// All of them.
    pub calls: usize,
    /// Those that could not be done.
    pub refused: usize,
    /// Those that used up a limit.
    pub stopped: usize,
}

impl EpisodeMetrics {
    /// What every game counts of episodes: `kept` were not dropped.
    pub fn new<W: Workspace>(
        kept: &[&FinishedEpisode<MultiTurn<W>>],
        dropped: usize,
        reward_mean: Option<f64>,
    ) -> Self {
        let mut ends = BTreeMap::new();
        for one in kept {
            *ends.entry(one.episode.end().map_or("unfinished", EpisodeEnd::name).to_owned()).or_default() += 1;
        }
        let turns_mean = mean_over(kept, |one| one.turns.len() as f64);
        let sum = |of: fn(&MultiTurn<W>) -> usize| kept.iter().map(|one| of(&one.episode)).sum::<usize>();
        let (turns, malformed) = (sum(|one| one.turns().len()), sum(MultiTurn::malformed_turns));
        let well_formed_share = share(turns - malformed, turns);
        // Of episodes whose tokens are known; a rollout has its end token at least.
        let tokens: Vec<usize> = kept.iter().map(|one| one.tokens()).filter(|tokens| *tokens > 0).collect();
        let tokens_mean = mean_over(&tokens, |tokens| *tokens as f64);
        let episodes = kept.len() + dropped;
        Self { episodes, dropped, ends, turns_mean, well_formed_share, tokens_mean, reward_mean, ..Self::default() }
    }
}

//! From paid episodes to what the learner takes.
//!
//! A turn is a sample, and all turns of an episode have the episode's advantage. Under `episode_mean` a token of an episode weighs
//! 1 / (tokens of all its turns), and the sum is divided by the number of paid solvers' episodes: an episode counts once, whether it took
//! one turn or thirty, and the loss of a step is the mean over episodes of the mean over their tokens. Under `token_mean` the sum is
//! divided by the number of the solvers' tokens.

use serde::{Deserialize, Serialize};
use veriplay_core::{Role, Sample, TrainBatch};

use super::{Paid, Said, tokens};
use crate::anchors::Imitation;
use crate::batching::PromptGroups;

/// How the losses of an episode's turns become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// The mean over all tokens of an episode, then over the solver's episodes: each episode counts once, however many turns it
    /// took.
    EpisodeMean,
    /// The sum over all tokens, divided by the number of the solver's: long episodes weigh more.
    TokenMean,
}

impl Aggregation {
    /// What a token weighs in a response, or an episode, of `tokens`.
    fn scale(self, tokens: usize) -> f32 {
        match self {
            Self::EpisodeMean => 1.0 / tokens.max(1) as f32,
            Self::TokenMean => 1.0,
        }
    }
}

/// How a step's episodes are learned from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lessons<'a> {
    pub(crate) aggregation: Aggregation,
    /// Whether what was paid is imitated, whatever the loss; the others' episodes then count nowhere.
    pub(crate) imitate: bool,
    pub(crate) anchors: Imitation<'a>,
}

impl<'a> Lessons<'a> {
    /// Every turn of every episode whose weight is not 0, then the step's anchors; `None` when there is nothing to learn. `said` tells
    /// the turns of an episode.
    pub(crate) fn of(
        self,
        (seed, step): (u64, u64),
        paid: &[Paid],
        said: impl Fn(&Paid) -> &'a Said,
    ) -> Option<TrainBatch> {
        let mut groups = PromptGroups::default();
        for paid in paid.iter().filter(|paid| paid.weight != 0.0) {
            let (said, weight) = (said(paid), paid.weight as f32);
            let scale = self.aggregation.scale(tokens(said));
            for (_, rollout) in said {
                groups.add(&rollout.prompt_tokens, &rollout.tokens, |prompt, response| Sample {
                    behaviour: (!rollout.logprobs.is_empty()).then(|| rollout.logprobs.clone()),
                    scale,
                    imitate: self.imitate,
                    ..Sample::new(prompt, response, weight)
                });
            }
        }
        for anchor in self.anchors.drawn(seed, step) {
            let (scale, weight) = (self.aggregation.scale(anchor.tokens.len()), self.anchors.weight as f32);
            groups.add(&anchor.prompt_tokens, &anchor.tokens, |prompt, response| Sample {
                scale,
                ..Sample::example(prompt, response, weight)
            });
        }
        let samples = groups.finish();
        (!samples.is_empty()).then(|| TrainBatch { samples, normalizer: self.normalizer(paid, said) })
    }

    fn normalizer(self, paid: &[Paid], said: impl Fn(&Paid) -> &'a Said) -> f64 {
        let counts = |paid: &&Paid| paid.role == Role::Solver && (!self.imitate || paid.weight != 0.0);
        let solvers = paid.iter().filter(counts);
        let count: usize = match self.aggregation {
            Aggregation::EpisodeMean => solvers.count(),
            Aggregation::TokenMean => solvers.map(|paid| tokens(said(paid))).sum(),
        };
        count.max(1) as f64
    }
}

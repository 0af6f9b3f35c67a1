//! Many conversations with a policy at once, turn by turn: all that are to be asked are asked in one batch, and then the caller does what
//! they wait for, in another.
//!
//! Called by games with episodes of several turns. A group of conversations begins with one prompt, whose computation it shares; what
//! follows is each one's own.

use veriplay_core::{Policy, PolicyError, Prompt, Rollout, Sampling};

use crate::play::PlayError;
use crate::randomness::derive_seed;

/// One side of a conversation.
pub(crate) trait Dialogue: Clone {
    /// What is to be asked now; `None` when nothing is, for now or for ever.
    fn asks(&self) -> Option<Prompt>;

    /// Takes what was answered.
    fn hears(&mut self, prompt: Prompt, rollout: Rollout);

    /// The policy has no room for what it asks: it ends.
    fn out_of_room(&mut self);
}

/// Who answers.
pub(crate) trait Speaker {
    /// `group` answers for each prompt, in round `round`; `ids` are the places of the conversations asked, the first of each group.
    fn answer(
        &mut self,
        round: usize,
        ids: &[usize],
        prompts: &[Prompt],
        group: usize,
    ) -> Result<Vec<Vec<Rollout>>, PlayError>;
}

/// A policy, sampled anew in each round.
#[derive(Clone, Copy)]
pub(crate) struct Sampled<'a> {
    pub(crate) policy: &'a dyn Policy,
    pub(crate) temperature: f32,
    pub(crate) max_tokens: usize,
    /// Run seed, step and purpose.
    pub(crate) seed: (u64, u64, &'static str),
}

impl Speaker for Sampled<'_> {
    fn answer(
        &mut self,
        round: usize,
        _ids: &[usize],
        prompts: &[Prompt],
        group: usize,
    ) -> Result<Vec<Vec<Rollout>>, PlayError> {
        let (run, step, purpose) = self.seed;
        let seed = derive_seed(run, step, &format!("{purpose}/round {round}"));
        let Self { temperature, max_tokens, .. } = *self;
        Ok(self.policy.generate(prompts, &Sampling { temperature, max_tokens, group, seed })?)
    }
}

/// Holds `group` conversations of each of `first`, which all ask something, to their ends, those of one beside each other. `serve` does
/// what they wait for after each round.
pub(crate) fn converse<D: Dialogue>(
    first: Vec<D>,
    group: usize,
    speaker: &mut dyn Speaker,
    mut serve: impl FnMut(&mut [D]),
) -> Result<Vec<D>, PlayError> {
    let mut all: Vec<D> = first.into_iter().flat_map(|one| std::iter::repeat_n(one, group)).collect();
    let mut round = 0;
    loop {
        let asked: Vec<usize> = (0..all.len()).filter(|index| all[*index].asks().is_some()).collect();
        if asked.is_empty() {
            return Ok(all);
        }
        let together = if round == 0 { group } else { 1 };
        let firsts: Vec<usize> = asked.iter().copied().step_by(together).collect();
        let prompts: Vec<Prompt> = firsts.iter().filter_map(|index| all[*index].asks()).collect();
        let answers = match speaker.answer(round, &firsts, &prompts, together) {
            // A transcript that the model has no room for ends its conversation. A first prompt that does not fit is a config's fault.
            Err(PlayError::Policy(PolicyError::PromptTooLong { index, .. })) if round > 0 && index < asked.len() => {
                all[asked[index]].out_of_room();
                continue;
            }
            answers => answers?,
        };
        let rollouts: Vec<Rollout> = answers.into_iter().flatten().collect();
        if rollouts.len() != asked.len() {
            let (given, wanted) = (rollouts.len(), asked.len());
            return Err(PlayError::Setup(format!(
                "the policy gave `{given}` rollouts for `{wanted}` that were asked for"
            )));
        }
        for ((place, index), rollout) in asked.iter().enumerate().zip(rollouts) {
            all[*index].hears(prompts[place / together].clone(), rollout);
        }
        serve(&mut all);
        round += 1;
    }
}

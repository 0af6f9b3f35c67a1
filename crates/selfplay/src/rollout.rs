//! Samples many episodes at once, turn by turn, from a policy or from a log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use veriplay_core::{
    Dropped, FinishReason, Policy, PolicyError, PolicyVersion, Prompt, Role, Rollout, SampledTurn, Sampling,
};

use crate::play::PlayError;

/// An episode as a state machine. It alternates between the policy and the environment until it is over.
pub trait Episode: Clone + Send + Sync {
    /// The prompt of its next turn; `None` while it waits for the environment, or when it is over.
    fn prompt(&self) -> Option<Prompt>;

    /// Takes the response to its prompt.
    fn respond(&mut self, rollout: &Rollout);

    /// Ends it: the policy has no room for its next prompt.
    fn out_of_room(&mut self);

    /// How it ended, as reports name it; `None` while it goes on.
    fn end(&self) -> Option<&'static str>;

    /// Fuel that its tools have used.
    fn fuel(&self) -> u64 {
        0
    }
}

/// The part that an episode plays in a step, whatever its role is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// It proposes a task.
    Proposal,
    /// It attempts one.
    Solution,
    /// It checks an attempt.
    Verification,
    /// It is of an earlier step, and gets its reward now.
    Deferred,
}

impl Part {
    /// The role that plays it where a script names no other.
    pub const fn role(self) -> Role {
        match self {
            Self::Proposal | Self::Deferred => Role::PROPOSER,
            Self::Solution => Role::SOLVER,
            Self::Verification => Role::VERIFIER,
        }
    }
}

/// An episode of one turn.
#[derive(Debug, Clone, PartialEq)]
pub struct SingleTurn {
    prompt: Prompt,
    over: bool,
}

impl SingleTurn {
    /// Asks this.
    pub const fn new(prompt: Prompt) -> Self {
        Self { prompt, over: false }
    }
}

impl Episode for SingleTurn {
    fn prompt(&self) -> Option<Prompt> {
        (!self.over).then(|| self.prompt.clone())
    }

    fn respond(&mut self, _rollout: &Rollout) {
        self.over = true;
    }

    fn out_of_room(&mut self) {
        self.over = true;
    }

    fn end(&self) -> Option<&'static str> {
        self.over.then_some("responded")
    }
}

/// An episode that is over, with all that was sampled in it.
#[derive(Debug, Clone)]
pub struct FinishedEpisode<E> {
    /// Index of its proposer or task among those sampled.
    pub source: usize,
    /// Which of its group.
    pub sample: usize,
    /// As it ended, or as it was when the host failed.
    pub episode: E,
    /// Prompt and rollout of each turn.
    pub turns: Vec<(Prompt, Rollout)>,
    /// The host fault that ended it.
    pub dropped: Option<Dropped>,
}

impl<E: Episode> FinishedEpisode<E> {
    /// The prompt it waits for an answer to.
    fn prompt(&self) -> Option<Prompt> {
        self.episode.prompt().filter(|_| self.dropped.is_none())
    }

    /// The tokens of its last turn, where they are known.
    fn last_turn(&self) -> Option<Arc<SampledTurn>> {
        let Rollout { prompt_tokens, tokens, .. } = self.last().filter(|rollout| !rollout.tokens.is_empty())?;
        Some(Arc::new(SampledTurn { prompt: prompt_tokens.clone(), response: tokens.clone() }))
    }

    /// How it ended; `None` when the host failed in it.
    pub fn end(&self) -> Option<&'static str> {
        self.episode.end().filter(|_| self.dropped.is_none())
    }

    /// Whether nothing is asked in it any more.
    pub(crate) fn is_over(&self) -> bool {
        self.dropped.is_some() || self.episode.end().is_some()
    }

    /// Tokens that were generated in it.
    pub fn tokens(&self) -> usize {
        self.turns.iter().map(|(_, rollout)| rollout.tokens.len()).sum()
    }

    /// The rollout of its last turn.
    pub fn last(&self) -> Option<&Rollout> {
        self.turns.last().map(|(_, rollout)| rollout)
    }
}

pub(crate) trait Sampler {
    /// `group` responses to each prompt, in turn `round`. `episodes` are the places of the episodes that ask, the first of each group.
    fn sample(
        &mut self,
        round: usize,
        episodes: &[usize],
        prompts: &[Prompt],
        group: usize,
    ) -> Result<Vec<Vec<Rollout>>, PlayError>;
}

/// Samples a policy, each turn with a seed of its own.
pub(crate) struct PolicySampler<'a> {
    pub(crate) policy: &'a dyn Policy,
    /// But for the group and the seed.
    pub(crate) sampling: Sampling,
    /// The seed of each round.
    pub(crate) seed: &'a dyn Fn(usize) -> u64,
}

impl Sampler for PolicySampler<'_> {
    fn sample(
        &mut self,
        round: usize,
        _episodes: &[usize],
        prompts: &[Prompt],
        group: usize,
    ) -> Result<Vec<Vec<Rollout>>, PlayError> {
        let sampling = Sampling { group, seed: (self.seed)(round), ..self.sampling.clone() };
        Ok(self.policy.generate(prompts, &sampling)?)
    }
}

/// One turn of an episode in the log. What the environment answered is not in it: replay makes it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnRecord {
    /// The prompt.
    pub prompt: String,
    /// The prompt as a chat template rendered it; `None` where none did, and in logs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered_prompt: Option<String>,
    /// The tokens of the prompt as the policy saw it; empty where they are not known, and in logs of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompt_token_ids: Vec<u32>,
    /// The response.
    pub text: String,
    /// Its tokens.
    pub tokens: Vec<u32>,
    /// Their behaviour log-probabilities, in nats.
    pub logprobs: Vec<f32>,
    /// Why it ended.
    pub finish: FinishReason,
}

impl From<&(Prompt, Rollout)> for TurnRecord {
    fn from((prompt, rollout): &(Prompt, Rollout)) -> Self {
        // A rollout with a number is its trainer's, who has the tokens.
        let prompt_tokens = rollout.id.map_or(rollout.prompt_tokens.as_slice(), |_| &[]);
        let prompt = prompt.text().into_owned();
        Self {
            rendered_prompt: rollout.rendered_prompt.clone().filter(|rendered| *rendered != prompt),
            prompt_token_ids: prompt_tokens.to_vec(),
            prompt,
            text: rollout.text.clone(),
            tokens: rollout.tokens.clone(),
            logprobs: rollout.logprobs.clone(),
            finish: rollout.finish,
        }
    }
}

/// Answers with the turns of logged episodes, one list for each episode. Where the log has no more, the episode is another one than it
/// was, and a cut response says so.
pub(crate) struct LoggedSampler<'a>(pub(crate) Vec<&'a [TurnRecord]>);

impl Sampler for LoggedSampler<'_> {
    fn sample(
        &mut self,
        round: usize,
        episodes: &[usize],
        _prompts: &[Prompt],
        group: usize,
    ) -> Result<Vec<Vec<Rollout>>, PlayError> {
        let turn = |place: usize| logged_rollout(self.0.get(place).and_then(|turns| turns.get(round)));
        Ok(episodes.iter().map(|place| (0..group).map(|sample| turn(place + sample)).collect()).collect())
    }
}

fn logged_rollout(turn: Option<&TurnRecord>) -> Rollout {
    Rollout {
        id: None,
        prompt_tokens: Vec::new(),
        rendered_prompt: None,
        tokens: Vec::new(),
        logprobs: Vec::new(),
        text: turn.map_or_else(String::new, |turn| turn.text.clone()),
        finish: turn.map_or(FinishReason::Length, |turn| turn.finish),
        policy: PolicyVersion(0),
    }
}

/// Runs `group` copies of each of `first` to completion, grouped by prompt. Every one of `first` has a prompt. `advance` runs what
/// episodes wait for after each round.
pub(crate) fn run_episodes<E: Episode>(
    first: Vec<(usize, E)>,
    group: usize,
    sampler: &mut dyn Sampler,
    mut advance: impl FnMut(&mut [FinishedEpisode<E>]),
) -> Result<Vec<FinishedEpisode<E>>, PlayError> {
    let begin = |(source, episode): (usize, E)| {
        let copy = move |sample| FinishedEpisode {
            source,
            sample,
            episode: episode.clone(),
            turns: Vec::new(),
            dropped: None,
        };
        (0..group).map(copy)
    };
    let mut all: Vec<FinishedEpisode<E>> = first.into_iter().flat_map(begin).collect();
    let mut round = 0;
    loop {
        let asking: Vec<usize> = (0..all.len()).filter(|place| all[*place].prompt().is_some()).collect();
        if asking.is_empty() {
            return Ok(all);
        }
        // The first turn of a group has one prompt, whose computation it shares.
        let together = if round == 0 { group } else { 1 };
        let firsts: Vec<usize> = asking.iter().copied().step_by(together).collect();
        let asked = firsts.iter().filter_map(|place| {
            let prompt = all[*place].prompt()?;
            Some(Prompt { earlier: all[*place].last_turn(), ..prompt })
        });
        let prompts: Vec<Prompt> = asked.collect();
        let answers = match sampler.sample(round, &firsts, &prompts, together) {
            // A transcript that the model has no room for ends its episode. A first prompt that does not fit is the configuration's fault.
            Err(PlayError::Policy(PolicyError::PromptTooLong { index, .. })) if round > 0 && index < asking.len() => {
                all[asking[index]].episode.out_of_room();
                continue;
            }
            answers => answers?,
        };
        check_answers(&answers, prompts.len(), together)?;
        let rollouts = answers.into_iter().flatten();
        for ((place, index), rollout) in asking.iter().enumerate().zip(rollouts) {
            all[*index].episode.respond(&rollout);
            // What it was asked is kept without the turn before, which stands before it.
            all[*index].turns.push((Prompt { earlier: None, ..prompts[place / together].clone() }, rollout));
        }
        advance(&mut all);
        round += 1;
    }
}

/// Refuses answers that cannot be told to belong to their prompts: `group` rollouts for each.
fn check_answers(answers: &[Vec<Rollout>], prompts: usize, group: usize) -> Result<(), PlayError> {
    if answers.len() != prompts {
        let given = answers.len();
        return Err(PlayError::Setup(format!("the policy answered `{given}` prompts, and `{prompts}` were asked")));
    }
    let wrong = answers.iter().enumerate().find(|(_, rollouts)| rollouts.len() != group);
    wrong.map_or(Ok(()), |(prompt, rollouts)| {
        let given = rollouts.len();
        let what = format!("the policy gave `{given}` rollouts for prompt {prompt}, and `{group}` were requested");
        Err(PlayError::Setup(what))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use veriplay_core::RolloutId;

    #[test]
    fn a_turn_is_logged_with_the_prompt_as_the_policy_saw_it() {
        let empty = Rollout { text: "x".to_owned(), ..logged_rollout(None) };
        let sampled = |rendered: Option<&str>, id| Rollout {
            id,
            prompt_tokens: vec![7],
            rendered_prompt: rendered.map(str::to_owned),
            ..empty.clone()
        };
        for (rollout, keys) in [
            (empty.clone(), ""),
            (sampled(None, None), r#""prompt_token_ids":[7],"#),
            (sampled(Some("<s>p"), None), r#""rendered_prompt":"<s>p","prompt_token_ids":[7],"#),
            (sampled(Some("p"), None), r#""prompt_token_ids":[7],"#),
            (sampled(None, Some(RolloutId(3))), ""),
        ] {
            let record = TurnRecord::from(&(Prompt::new(Role::SOLVER, "p"), rollout));
            let text = serde_json::to_string(&record).expect("it can be written");
            let want = format!(r#"{{"prompt":"p",{keys}"text":"x","tokens":[],"logprobs":[],"finish":"length"}}"#);
            assert_eq!(text, want);
            assert_eq!(serde_json::from_str::<TurnRecord>(&text).expect("it is read back"), record);
        }
    }
}

//! Episodes in the log of rollouts: their turns, and a speaker that says them again.

use serde::{Deserialize, Serialize};
use veriplay_core::{Finish, PolicyVersion, Prompt, Rollout, Verdict};

use super::Said;
use crate::dialogue::Speaker;
use crate::play::PlayError;

/// One turn of an episode. What was shown in answer to it is not in it: it is made again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnRecord {
    /// The prompt.
    pub prompt: String,
    /// The response.
    pub text: String,
    /// Its tokens.
    pub tokens: Vec<u32>,
    /// Their behaviour log-probabilities, in nats.
    pub logprobs: Vec<f32>,
    /// Why it ended.
    pub finish: Finish,
}

/// What is logged of an episode's turns.
pub(crate) fn turns(said: &Said) -> Vec<TurnRecord> {
    let turn = |(prompt, rollout): &(Prompt, Rollout)| TurnRecord {
        prompt: prompt.text.clone(),
        text: rollout.text.clone(),
        tokens: rollout.tokens.clone(),
        logprobs: rollout.logprobs.clone(),
        finish: rollout.finish,
    };
    said.iter().map(turn).collect()
}

/// Says the turns of logged episodes, one for each conversation, those of one group beside each other. Where the log has no more, the
/// episode is another one than it was: a cut response says so.
pub(crate) struct Logged<'a>(pub(crate) Vec<&'a [TurnRecord]>);

impl Speaker for Logged<'_> {
    fn answer(
        &mut self,
        round: usize,
        ids: &[usize],
        _prompts: &[Prompt],
        group: usize,
    ) -> Result<Vec<Vec<Rollout>>, PlayError> {
        let turn = |id: usize| rollout(self.0.get(id).and_then(|turns| turns.get(round)));
        Ok(ids.iter().map(|id| (0..group).map(|sample| turn(id + sample)).collect()).collect())
    }
}

fn rollout(turn: Option<&TurnRecord>) -> Rollout {
    Rollout {
        prompt_tokens: Vec::new(),
        tokens: Vec::new(),
        logprobs: Vec::new(),
        text: turn.map_or_else(String::new, |turn| turn.text.clone()),
        finish: turn.map_or(Finish::Length, |turn| turn.finish),
        policy: PolicyVersion(0),
    }
}

/// Whether a verdict is one on code that met the wall-clock backstop.
pub(crate) fn met_deadline(verdict: &Verdict) -> bool {
    verdict.evidence.met_deadline
}

//! A policy that answers from a script: tests of games, loops and tools need no model.
//!
//! Invariant: a response is a function of the script and of (prompt, seed, i, j), so a scripted run repeats itself.

use std::collections::BTreeMap;

use crate::{FinishReason, Policy, PolicyError, PolicyVersion, Prompt, Role, Rollout, Sampling, TaskType, mix_seed};

/// A request for one response of the script.
#[derive(Debug, Clone, Copy)]
pub struct ScriptedRequest<'a> {
    /// The text to continue.
    pub prompt: &'a Prompt,
    /// Index of the prompt in the call, i.
    pub index: usize,
    /// Index of the sample among those of the prompt, j.
    pub sample: usize,
    /// The sampling options of the call.
    pub sampling: &'a Sampling,
}

impl ScriptedRequest<'_> {
    /// A number that depends only on (seed, i, j); see [`mix_seed`].
    pub fn draw(&self) -> u64 {
        mix_seed(self.sampling.seed, &[self.index as u64, self.sample as u64])
    }
}

/// Gives the response to a request; `None` where the script has none.
type Script = dyn Fn(&ScriptedRequest<'_>) -> Option<String> + Send + Sync;

/// A policy whose responses come from a script. Its tokens are the bytes of the text and a final 0, each with log-probability 0.
pub struct ScriptedPolicy {
    script: Box<Script>,
}

impl ScriptedPolicy {
    /// A policy that calls a function for each response.
    pub fn new(response: impl Fn(&ScriptedRequest<'_>) -> String + Send + Sync + 'static) -> Self {
        Self { script: Box::new(move |request| Some(response(request))) }
    }

    /// A policy that answers with one of the texts for the prompt's role and task type, chosen by (seed, i, j). [`Policy::generate`] fails
    /// for a prompt without texts.
    pub fn table<T: Into<String>>(rows: impl IntoIterator<Item = ((Role, TaskType), Vec<T>)>) -> Self {
        let own = |(key, texts): (_, Vec<T>)| (key, texts.into_iter().map(Into::into).collect());
        let rows: BTreeMap<(Role, TaskType), Vec<String>> = rows.into_iter().map(own).collect();
        let response = move |request: &ScriptedRequest<'_>| {
            let texts =
                rows.get(&(request.prompt.role, request.prompt.task_type?)).filter(|texts| !texts.is_empty())?;
            Some(texts[(request.draw() % texts.len() as u64) as usize].clone())
        };
        Self { script: Box::new(response) }
    }

    fn rollout(&self, turn: &ScriptedRequest<'_>) -> Result<Rollout, PolicyError> {
        let Prompt { role, task_type, .. } = turn.prompt;
        let Some(answer) = (self.script)(turn) else {
            let what = format!("prompt {}: the script has no answer for {role:?} and {task_type:?}", turn.index);
            return Err(PolicyError::Backend(what));
        };
        Ok(rollout_of_bytes(&turn.prompt.text(), &answer, turn.sampling.max_tokens))
    }
}

/// The rollout of a response whose tokens are its bytes, at most `max_tokens` of them.
fn rollout_of_bytes(prompt: &str, response: &str, max_tokens: usize) -> Rollout {
    let mut tokens = response_tokens(response);
    let finish = if tokens.len() > max_tokens { FinishReason::Length } else { FinishReason::Stop };
    tokens.truncate(max_tokens);
    let kept = response.len().min(tokens.len());
    Rollout {
        id: None,
        prompt_tokens: prompt.bytes().map(u32::from).collect(),
        rendered_prompt: None,
        logprobs: vec![0.0; tokens.len()],
        text: String::from_utf8_lossy(&response.as_bytes()[..kept]).into_owned(),
        tokens,
        finish,
        policy: PolicyVersion(0),
    }
}

/// The bytes of a response, and 0 as its end.
fn response_tokens(response: &str) -> Vec<u32> {
    response.bytes().map(u32::from).chain([0]).collect()
}

impl Policy for ScriptedPolicy {
    fn encode_response(&self, text: &str) -> Result<Vec<u32>, PolicyError> {
        Ok(response_tokens(text))
    }

    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let group = |(index, prompt)| {
            let request = |sample| ScriptedRequest { prompt, index, sample, sampling };
            (0..sampling.group).map(|sample| self.rollout(&request(sample))).collect()
        };
        prompts.iter().enumerate().map(group).collect()
    }
}

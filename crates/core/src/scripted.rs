//! A policy that answers from a script, for tests of games, loops and tools without a model.
//!
//! Invariant: an answer is a function of the script and of (prompt, seed, i, j), so a scripted run repeats itself.

use std::collections::BTreeMap;
use std::fmt;

use crate::{Finish, Policy, PolicyError, PolicyVersion, Prompt, Role, Rollout, Sampling, TaskType};

/// A request for one answer.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// The text to continue.
    pub prompt: &'a Prompt,
    /// Its place in the call, i.
    pub index: usize,
    /// Which of its samples, j.
    pub sample: usize,
    /// How the call samples.
    pub sampling: &'a Sampling,
}

impl Turn<'_> {
    /// A number that is a function of (seed, i, j): one state of SplitMix64 (Steele, Lea and Flood 2014) for every coordinate.
    #[must_use]
    pub fn draw(&self) -> u64 {
        [self.index as u64, self.sample as u64].iter().fold(mix(self.sampling.seed), |state, &x| mix(state ^ mix(x)))
    }
}

fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A script's answer; `None` where it has none.
type Answer = dyn Fn(&Turn<'_>) -> Option<String> + Send + Sync;

/// The scripted policy. Its tokens are the bytes of the text, ended by the token 0; it is certain of each (log-probability 0).
pub struct Scripted {
    answer: Box<Answer>,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

impl Scripted {
    /// Answers by a function.
    #[must_use]
    pub fn new(answer: impl Fn(&Turn<'_>) -> String + Send + Sync + 'static) -> Self {
        Self { answer: Box::new(move |turn| Some(answer(turn))) }
    }

    /// Answers from a table: one of the texts of the prompt's role and task type, chosen by (seed, i, j). A prompt without texts is
    /// an error of [`Policy::generate`].
    #[must_use]
    pub fn table<T: Into<String>>(rows: impl IntoIterator<Item = ((Role, TaskType), Vec<T>)>) -> Self {
        let own = |(key, texts): (_, Vec<T>)| (key, texts.into_iter().map(Into::into).collect());
        let rows: BTreeMap<(Role, TaskType), Vec<String>> = rows.into_iter().map(own).collect();
        let answer = move |turn: &Turn<'_>| {
            let texts = rows.get(&(turn.prompt.role, turn.prompt.task_type?)).filter(|texts| !texts.is_empty())?;
            Some(texts[(turn.draw() % texts.len() as u64) as usize].clone())
        };
        Self { answer: Box::new(answer) }
    }

    fn rollout(&self, turn: &Turn<'_>) -> Result<Rollout, PolicyError> {
        let Prompt { role, task_type, .. } = turn.prompt;
        let Some(answer) = (self.answer)(turn) else {
            let what = format!("prompt {}: the script has no answer for {role:?} and {task_type:?}", turn.index);
            return Err(PolicyError::Backend(what));
        };
        Ok(rollout_of_bytes(&turn.prompt.text(), &answer, turn.sampling.max_tokens))
    }
}

/// The rollout of an answer whose tokens are its bytes, at most `max_tokens` of them.
fn rollout_of_bytes(prompt: &str, answer: &str, max_tokens: usize) -> Rollout {
    let bytes = |text: &str| text.bytes().map(u32::from).collect::<Vec<u32>>();
    let mut tokens = bytes(answer);
    tokens.push(0);
    let finish = if tokens.len() > max_tokens { Finish::Length } else { Finish::Stop };
    tokens.truncate(max_tokens);
    let kept = answer.len().min(tokens.len());
    Rollout {
        prompt_tokens: bytes(prompt),
        logprobs: vec![0.0; tokens.len()],
        text: String::from_utf8_lossy(&answer.as_bytes()[..kept]).into_owned(),
        tokens,
        finish,
        policy: PolicyVersion(0),
    }
}

impl Policy for Scripted {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let group = |(index, prompt)| {
            let turn = |sample| Turn { prompt, index, sample, sampling };
            (0..sampling.group).map(|sample| self.rollout(&turn(sample))).collect()
        };
        prompts.iter().enumerate().map(group).collect()
    }
}

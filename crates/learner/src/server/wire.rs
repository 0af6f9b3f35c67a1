//! The completions protocol, as vLLM, SGLang and llama.cpp speak it: the request, and what an answer may hold.
//!
//! Called by [`super::ServerPolicy`]. An answer is untrusted: its numbers are counted and checked before anything is made of them.

use serde::{Deserialize, Serialize};
use veriplay_core::{FinishReason, Sampling};

use super::ServerError;

/// A prompt, as it is sent.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
pub(super) enum Prompt<'a> {
    Text(&'a str),
    Tokens(&'a [u32]),
}

/// One request. Whatever a server would truncate or penalise by default is switched off, or its samples would not be the model's:
/// vLLM takes such defaults from generation_config.json, llama.cpp has its own.
#[derive(Debug, Serialize)]
pub(super) struct CompletionRequest<'a> {
    model: &'a str,
    prompt: Prompt<'a>,
    max_tokens: usize,
    n: usize,
    seed: u32,
    temperature: f32,
    top_p: f32,
    /// More than any vocabulary has. Servers spell "all" as 0, as -1, or as both, and refuse what they do not know.
    top_k: u32,
    min_p: f32,
    frequency_penalty: f32,
    presence_penalty: f32,
    /// vLLM's and SGLang's word.
    repetition_penalty: f32,
    /// llama.cpp's word.
    repeat_penalty: f32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<u32>,
    /// Prompts spell their control tokens out, so none is added, and answers keep theirs.
    add_special_tokens: bool,
    skip_special_tokens: bool,
    spaces_between_special_tokens: bool,
    /// vLLM: ids of the prompt and of the answer, and ids in place of spellings.
    return_token_ids: bool,
    return_tokens_as_token_ids: bool,
}

impl<'a> CompletionRequest<'a> {
    pub(super) const fn new(
        model: &'a str,
        prompt: Prompt<'a>,
        n: usize,
        seed: u32,
        logprobs: bool,
        sampling: &Sampling,
    ) -> Self {
        Self {
            model,
            prompt,
            max_tokens: sampling.max_tokens,
            n,
            seed,
            temperature: sampling.temperature,
            top_p: 1.0,
            top_k: 1 << 30,
            min_p: 0.0,
            frequency_penalty: 0.0,
            presence_penalty: 0.0,
            repetition_penalty: 1.0,
            repeat_penalty: 1.0,
            stream: false,
            logprobs: if logprobs { Some(1) } else { None },
            add_special_tokens: false,
            skip_special_tokens: false,
            spaces_between_special_tokens: false,
            return_token_ids: true,
            return_tokens_as_token_ids: true,
        }
    }
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: usize,
    text: String,
    finish_reason: Option<String>,
    logprobs: Option<Logprobs>,
    token_ids: Option<Vec<u32>>,
    prompt_token_ids: Option<Vec<u32>>,
}

/// In the shape of the completions protocol, or of llama.cpp, which takes that of chats.
#[derive(Deserialize)]
struct Logprobs {
    tokens: Option<Vec<String>>,
    token_logprobs: Option<Vec<Option<f32>>>,
    content: Option<Vec<TokenLogprob>>,
}

#[derive(Deserialize)]
struct TokenLogprob {
    id: Option<u32>,
    logprob: Option<f32>,
}

/// One sample, with the parts that the server reports.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Completion {
    pub(super) text: String,
    pub(super) finish: FinishReason,
    /// Ids of its tokens.
    pub(super) tokens: Option<Vec<u32>>,
    /// Log-probability of each token.
    pub(super) logprobs: Option<Vec<f32>>,
    pub(super) prompt_tokens: Option<Vec<u32>>,
}

/// The samples of an answer, at most `n`, each of at most `max_tokens`.
pub(super) fn parse_answer(bytes: &[u8], n: usize, max_tokens: usize) -> Result<Vec<Completion>, ServerError> {
    let malformed = |e: serde_json::Error| ServerError::Malformed { reason: e.to_string(), excerpt: excerpt(bytes) };
    let Answer { mut choices } = serde_json::from_slice(bytes).map_err(malformed)?;
    if choices.is_empty() || choices.len() > n {
        return Err(ServerError::Shape(format!("{} choices, want {n}", choices.len())));
    }
    choices.sort_by_key(|choice| choice.index);
    choices.into_iter().map(|choice| choice.into_completion(max_tokens)).collect()
}

impl Choice {
    fn into_completion(self, max_tokens: usize) -> Result<Completion, ServerError> {
        let index = self.index;
        let finish = match self.finish_reason.as_deref() {
            Some("stop") => FinishReason::Stop,
            Some("length") => FinishReason::Length,
            other => return Err(ServerError::Shape(format!("choice {index} ended by {other:?}"))),
        };
        let (ids, logprobs) = self.logprobs.map_or((None, None), Logprobs::split);
        let completion = Completion {
            text: self.text,
            finish,
            tokens: self.token_ids.or(ids),
            logprobs,
            prompt_tokens: self.prompt_token_ids,
        };
        completion.validate(index, max_tokens)
    }
}

impl Logprobs {
    /// Ids and log-probabilities, each where there is one of every token.
    fn split(self) -> (Option<Vec<u32>>, Option<Vec<f32>>) {
        if let Some(content) = self.content {
            let ids = content.iter().map(|token| token.id).collect();
            return (ids, content.iter().map(|token| token.logprob).collect());
        }
        let id = |spelling: &String| spelling.strip_prefix("token_id:")?.parse().ok();
        let ids = self.tokens.as_ref().and_then(|tokens| tokens.iter().map(id).collect());
        (ids, self.token_logprobs.and_then(|all| all.into_iter().collect()))
    }
}

/// A log-probability may exceed 0 by rounding, up to this much.
const ROUNDING: f32 = 1e-3;

impl Completion {
    fn validate(self, index: usize, max_tokens: usize) -> Result<Self, ServerError> {
        let Self { tokens, logprobs, .. } = &self;
        let wrong = |what: String| Err(ServerError::Shape(format!("choice {index} has {what}")));
        let counts = [tokens.as_ref().map(Vec::len), logprobs.as_ref().map(Vec::len)];
        if let Some(count) = counts.into_iter().flatten().find(|&count| count > max_tokens) {
            return wrong(format!("{count} tokens, and {max_tokens} were asked for"));
        }
        if let [Some(tokens), Some(logprobs)] = counts
            && tokens != logprobs
        {
            return wrong(format!("{tokens} tokens and {logprobs} log-probabilities"));
        }
        let bad = logprobs.iter().flatten().find(|p| !p.is_finite() || **p > ROUNDING);
        if let Some(bad) = bad {
            return wrong(format!("the log-probability `{bad}`"));
        }
        Ok(self)
    }
}

/// Characters of an answer that an error may show.
const EXCERPT: usize = 240;

/// The beginning of an answer, on one line.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * EXCERPT)]);
    text.chars().take(EXCERPT).flat_map(char::escape_debug).collect()
}

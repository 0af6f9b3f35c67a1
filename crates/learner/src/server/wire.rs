//! The completions protocol of vLLM, SGLang and llama.cpp: the request, and the fields of a response.
//!
//! A response is untrusted: its numbers are counted and checked before use.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use veriplay_core::{FinishReason, Message, MessageRole, Sampling};

use super::ServerError;

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
pub(super) enum WirePrompt<'a> {
    Text(&'a str),
    Tokens(&'a [u32]),
    Messages(&'a [Message]),
}

/// A request for `n` samples, and the part of the server that answers it; without a name of a model, of the one that it serves. Whatever a
/// server would truncate or penalise by default is switched off, or its samples would not be the model's: vLLM takes such defaults from
/// generation_config.json, llama.cpp has its own.
pub(super) fn completion_request(
    model: Option<&str>,
    prompt: WirePrompt<'_>,
    n: usize,
    logprobs: bool,
    sampling: &Sampling,
) -> (&'static str, Value) {
    let mut body = json!({
        "model": model,
        "max_tokens": sampling.max_tokens,
        "n": n,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        // More than any vocabulary has. Servers spell "all" as 0, as -1, or as both, and refuse what they do not know.
        "top_k": if sampling.top_k == 0 { 1 << 30 } else { sampling.top_k },
        "min_p": sampling.min_p,
        "frequency_penalty": 0.0,
        "presence_penalty": 0.0,
        // The first is vLLM's and SGLang's word, the second llama.cpp's.
        "repetition_penalty": 1.0,
        "repeat_penalty": 1.0,
        "stream": false,
        // Prompts spell their control tokens out, so none is added, and answers keep theirs.
        "add_special_tokens": false,
        "skip_special_tokens": false,
        "spaces_between_special_tokens": false,
        // vLLM: ids of the prompt and of the answer, and ids in place of spellings.
        "return_token_ids": true,
        "return_tokens_as_token_ids": true,
    });
    if !sampling.stop.is_empty() {
        body["stop"] = json!(sampling.stop);
    }
    let WirePrompt::Messages(messages) = prompt else {
        body["prompt"] = json!(prompt);
        if logprobs {
            body["logprobs"] = json!(1);
        }
        return ("v1/completions", body);
    };
    let continues = messages.last().is_some_and(|last| last.role == MessageRole::Assistant);
    body["messages"] = json!(messages);
    body["add_generation_prompt"] = json!(!continues);
    if logprobs {
        body["logprobs"] = json!(true);
    }
    if continues {
        // vLLM's and SGLang's word: the response continues a last message of the assistant. llama.cpp does so without being told.
        body["continue_final_message"] = json!(true);
    }
    ("v1/chat/completions", body)
}

#[derive(Deserialize)]
struct CompletionsResponse {
    model: Option<String>,
    choices: Vec<CompletionChoice>,
    /// vLLM's chat completions report it here.
    prompt_token_ids: Option<Vec<u32>>,
}

#[derive(Deserialize)]
struct CompletionChoice {
    #[serde(default)]
    index: usize,
    text: Option<String>,
    message: Option<ResponseMessage>,
    finish_reason: Option<String>,
    logprobs: Option<Logprobs>,
    token_ids: Option<Vec<u32>>,
    prompt_token_ids: Option<Vec<u32>>,
}

/// The text of a chat completion; `null` where the model wrote nothing.
#[derive(Deserialize)]
struct ResponseMessage {
    content: Option<String>,
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
    token: Option<String>,
    logprob: Option<f32>,
}

/// One sample, with the parts that the server reports.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Completion {
    pub(super) text: String,
    pub(super) finish: FinishReason,
    pub(super) tokens: Option<Vec<u32>>,
    pub(super) logprobs: Option<Vec<f32>>,
    pub(super) prompt_tokens: Option<Vec<u32>>,
}

pub(super) struct Answer {
    /// What the server says that it sampled from.
    pub(super) weights: Option<String>,
    /// At most as many as were asked for, each of at most the tokens asked for.
    pub(super) completions: Vec<Completion>,
}

/// Reads a part of an answer that JSON has spelled.
pub(super) fn parse_json<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, ServerError> {
    let malformed = |e: serde_json::Error| ServerError::Malformed { reason: e.to_string(), excerpt: excerpt(bytes) };
    serde_json::from_slice(bytes).map_err(malformed)
}

/// Refuses an answer that has no sample, or more than `n`.
pub(super) fn check_count(choices: usize, n: usize) -> Result<(), ServerError> {
    let fine = (1..=n).contains(&choices);
    if fine { Ok(()) } else { Err(ServerError::Shape(format!("{choices} choices, want {n}"))) }
}

/// The answer to a request for `n` samples of at most `max_tokens`.
pub(super) fn parse_response(bytes: &[u8], n: usize, max_tokens: usize) -> Result<Answer, ServerError> {
    let CompletionsResponse { model, mut choices, prompt_token_ids } = parse_json(bytes)?;
    check_count(choices.len(), n)?;
    choices.sort_by_key(|choice| choice.index);
    let completion = |choice: CompletionChoice| {
        let completion = choice.into_completion(max_tokens)?;
        let prompt_tokens = completion.prompt_tokens.or_else(|| prompt_token_ids.clone());
        Ok::<_, ServerError>(Completion { prompt_tokens, ..completion })
    };
    Ok(Answer { weights: model, completions: choices.into_iter().map(completion).collect::<Result<_, ServerError>>()? })
}

impl CompletionChoice {
    fn into_completion(self, max_tokens: usize) -> Result<Completion, ServerError> {
        let index = self.index;
        let finish = match self.finish_reason.as_deref() {
            Some("stop") => FinishReason::Stop,
            Some("length") => FinishReason::Length,
            other => return Err(ServerError::Shape(format!("choice {index} ended by {other:?}"))),
        };
        let Some(text) = self.text.or_else(|| self.message.map(|message| message.content.unwrap_or_default())) else {
            return Err(ServerError::Shape(format!("choice {index} has neither `text` nor `message`")));
        };
        let (ids, logprobs) = self.logprobs.map_or((None, None), Logprobs::split);
        let completion =
            Completion { text, finish, tokens: self.token_ids.or(ids), logprobs, prompt_tokens: self.prompt_token_ids };
        completion.validate(index, max_tokens)
    }
}

/// vLLM's spelling of a token whose id was asked for.
fn spelled_id(token: &str) -> Option<u32> {
    token.strip_prefix("token_id:")?.parse().ok()
}

impl Logprobs {
    /// Ids and log-probabilities, each where there is one of every token.
    fn split(self) -> (Option<Vec<u32>>, Option<Vec<f32>>) {
        if let Some(content) = self.content {
            let ids = content.iter().map(|token| token.id.or_else(|| spelled_id(token.token.as_ref()?))).collect();
            return (ids, content.iter().map(|token| token.logprob).collect());
        }
        let ids = self.tokens.as_ref().and_then(|tokens| tokens.iter().map(|token| spelled_id(token)).collect());
        (ids, self.token_logprobs.and_then(|all| all.into_iter().collect()))
    }
}

/// A log-probability may exceed 0 by rounding, up to this much.
const ROUNDING: f32 = 1e-3;

impl Completion {
    /// Refuses numbers that contradict one another or the request.
    pub(super) fn validate(self, index: usize, max_tokens: usize) -> Result<Self, ServerError> {
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
    let mut line = String::new();
    for character in text.chars().take(EXCERPT) {
        if character.is_control() {
            line.extend(character.escape_debug());
        } else {
            line.push(character);
        }
    }
    line
}

/// The beginning of what the body of an error says: its message, where it is JSON that has one.
pub(super) fn error_message(body: &[u8]) -> String {
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    // Of OpenAI and vLLM, of SGLang, of FastAPI, and a bare text.
    let places = [&json["error"]["message"], &json["error"], &json["message"], &json["detail"], &json];
    let message = places.into_iter().find_map(Value::as_str);
    excerpt(message.map_or(body, str::as_bytes))
}

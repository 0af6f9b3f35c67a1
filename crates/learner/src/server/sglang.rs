//! SGLang's own interface: token ids in and out, and the version of the weights that a sample is from.
//!
//! Its OpenAI interface gives no token ids.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use veriplay_core::{FinishReason, Sampling};

use super::ServerError;
use super::wire::{Answer, Completion, check_count, parse_json};

/// The part of the server that answers a request.
pub(super) const PATH: &str = "generate";

/// A request for `n` samples. As for the other servers, whatever would truncate or penalise by default is switched off. It has no seed: only a
/// server that is started for that takes one.
pub(super) fn generate_request(prompt: &[u32], end_tokens: &[u32], n: usize, sampling: &Sampling) -> Value {
    let sampling_params = json!({
        "n": n,
        "max_new_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        // -1 for all.
        "top_k": if sampling.top_k == 0 { -1 } else { i64::try_from(sampling.top_k).unwrap_or(-1) },
        "min_p": sampling.min_p,
        "frequency_penalty": 0.0,
        "presence_penalty": 0.0,
        "repetition_penalty": 1.0,
        "stop": sampling.stop,
        // Beside the server's own. What ended a sample stays among its tokens.
        "stop_token_ids": end_tokens,
        "no_stop_trim": true,
        "skip_special_tokens": false,
        "spaces_between_special_tokens": false,
    });
    json!({"input_ids": prompt, "sampling_params": sampling_params, "return_logprob": true, "stream": false})
}

#[derive(Deserialize)]
struct GeneratedSample {
    /// Absent where the server has no tokenizer.
    #[serde(default)]
    text: String,
    meta_info: MetaInfo,
}

#[derive(Deserialize)]
struct MetaInfo {
    finish_reason: Option<Finish>,
    /// Log-probability, id and perhaps spelling of each token.
    output_token_logprobs: Vec<(f32, u32, IgnoredAny)>,
    weight_version: Option<String>,
}

#[derive(Deserialize)]
struct Finish {
    #[serde(rename = "type")]
    cause: FinishCause,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FinishCause {
    Stop,
    Length,
    Abort,
    #[serde(other)]
    Other,
}

/// The answer to a request for `n` samples of at most `max_tokens`.
pub(super) fn parse_response(bytes: &[u8], n: usize, max_tokens: usize) -> Result<Answer, ServerError> {
    // One sample is an object, several are a list.
    let is_list = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let samples: Vec<GeneratedSample> = if is_list { parse_json(bytes)? } else { vec![parse_json(bytes)?] };
    check_count(samples.len(), n)?;
    let weights = samples[0].meta_info.weight_version.clone();
    if samples.iter().any(|sample| sample.meta_info.weight_version != weights) {
        return Err(ServerError::Shape("its samples are of different `weight_version`s".to_owned()));
    }
    let completions = samples.into_iter().enumerate().map(|(index, sample)| sample.into_completion(index, max_tokens));
    Ok(Answer { weights, completions: completions.collect::<Result<_, _>>()? })
}

impl GeneratedSample {
    fn into_completion(self, index: usize, max_tokens: usize) -> Result<Completion, ServerError> {
        let finish = match self.meta_info.finish_reason.map(|finish| finish.cause) {
            Some(FinishCause::Stop) => FinishReason::Stop,
            Some(FinishCause::Length) => FinishReason::Length,
            other => return Err(ServerError::Shape(format!("choice {index} ended by {other:?}"))),
        };
        let (logprobs, tokens) =
            self.meta_info.output_token_logprobs.into_iter().map(|(logprob, id, _)| (logprob, id)).unzip();
        let completion =
            Completion { text: self.text, finish, tokens: Some(tokens), logprobs: Some(logprobs), prompt_tokens: None };
        completion.validate(index, max_tokens)
    }
}

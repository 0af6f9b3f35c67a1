//! Scoring: log-probabilities and logits of given tokens, by the path that trains.

use veriplay_core::{LengthLimit, PolicyError};
use veriplay_kernels::thread_pool::run_on_threads;

use crate::Result;
use crate::backend::Backend;
use crate::model::Model;
use crate::network::{
    GradientMode, MicroBatch, PromptedResponse, Response, assign_to_workers, group_by_prompt, join_turns,
};
use crate::ops::SharedWorkspace;

pub(crate) type PromptAndResponse<'a> = (&'a [u32], &'a [u32]);

/// Log-probability, in nats at temperature 1, of every token of every response, by the path that trains. About `micro_tokens` rows go
/// through the model together.
pub(crate) fn score(model: &Model, pairs: &[PromptAndResponse<'_>], micro_tokens: usize) -> Result<Vec<Vec<f32>>> {
    let backend = model.backend(GradientMode::Detached)?;
    score_with(model, &backend, &whole_responses(pairs), micro_tokens)
}

/// Every response on its own, by its place.
pub(crate) fn whole_responses<'a>(pairs: &[PromptAndResponse<'a>]) -> Vec<PromptedResponse<'a>> {
    pairs.iter().enumerate().map(|(index, &(prompt, tokens))| (prompt, Response::new(index, tokens))).collect()
}

/// As [`score`], with weights of the same shape as the model's. The index of a response is its place.
pub(crate) fn score_with(
    model: &Model,
    backend: &Backend,
    responses: &[PromptedResponse<'_>],
    micro_tokens: usize,
) -> Result<Vec<Vec<f32>>> {
    let groups = group_by_prompt(join_turns(responses).sequences, micro_tokens);
    let shares = assign_to_workers(groups, model.workers(), micro_tokens);
    let parts: Vec<Result<Vec<Vec<f32>>>> = run_on_threads(shares.iter(), |share| {
        model.buffers.with(|workspace| share.iter().map(|batch| logprobs(backend, batch, workspace)).collect())
    });
    let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
    let mut out: Vec<Vec<f32>> = responses.iter().map(|(_, r)| vec![0.0; r.tokens.len()]).collect();
    for (batch, logprobs) in shares.iter().flatten().zip(parts.into_iter().flatten()) {
        for (&(response, at), logprob) in batch.origins.iter().zip(logprobs) {
            out[response][at] = logprob;
        }
    }
    Ok(out)
}

fn logprobs(backend: &Backend, batch: &MicroBatch, workspace: &SharedWorkspace) -> Result<Vec<f32>> {
    backend.decoder(workspace).predict(batch)?.get(0)?.to_vec1()
}

/// Logits of the next token behind every token of `tokens` [tokens, vocab], by the path that trains.
pub(crate) fn logits(model: &Model, tokens: &[u32]) -> Result<Vec<Vec<f32>>> {
    let backend = model.backend(GradientMode::Detached)?;
    let mut batch = MicroBatch::default();
    batch.push_prompt(tokens);
    let rows: Vec<usize> = (0..tokens.len()).collect();
    model.buffers.with(|workspace| {
        let decoder = backend.decoder(workspace);
        decoder.logits(&decoder.forward(&batch, |_, _| Ok(()))?, &rows)?.to_vec2()
    })
}

/// Rejects a prompt or responses that cannot be scored.
pub(crate) fn check_score(model: &Model, prompt: &[u32], responses: &[Vec<u32>]) -> Result<(), PolicyError> {
    let limit = LengthLimit::of_context(model.config.context());
    let has_room = |index: usize, response: usize| {
        let tokens = prompt.len();
        let fits = tokens + response <= limit.tokens();
        if fits { Ok(()) } else { Err(PolicyError::PromptTooLong { index, tokens, response, limit }) }
    };
    check_tokens(prompt, model.config.vocab_size)?;
    if prompt.is_empty() {
        return Err(PolicyError::Backend("the prompt is empty".to_owned()));
    }
    for (index, response) in responses.iter().enumerate() {
        if response.is_empty() {
            return Err(PolicyError::Backend(format!("response {index} is empty")));
        }
        has_room(index, response.len())?;
        check_tokens(response, model.config.vocab_size)?;
    }
    has_room(0, 0)
}

pub(crate) fn check_tokens(tokens: &[u32], vocabulary: usize) -> Result<(), PolicyError> {
    let outside = tokens.iter().find(|&&t| t as usize >= vocabulary);
    outside.map_or(Ok(()), |token| {
        Err(PolicyError::Backend(format!("token {token} is outside the vocabulary of {vocabulary}")))
    })
}

/// An error of the tensor backend, as a policy's error.
pub(crate) fn policy_error(error: candle_core::Error) -> PolicyError {
    PolicyError::Backend(error.to_string())
}

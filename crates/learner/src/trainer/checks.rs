//! Refuses batches that cannot be learned from, before anything is computed.

use veriplay_core::{LearnError, PreferenceBatch, Sample, TrainBatch};

use crate::config::ModelConfig;

fn bad<T>(what: String) -> Result<T, LearnError> {
    Err(LearnError::BadBatch(what))
}

/// Refuses a learning rate that is none.
pub(crate) fn check_rate(rate: f64) -> Result<(), LearnError> {
    if rate.is_finite() && rate >= 0.0 {
        return Ok(());
    }
    bad(format!("learning rate is `{rate}`: want zero or a positive number"))
}

/// Checks every sample and the normalizer.
pub(crate) fn check_batch(batch: &TrainBatch, config: &ModelConfig) -> Result<(), LearnError> {
    if !(batch.normalizer.is_finite() && batch.normalizer > 0.0) {
        return bad(format!("normalizer is `{}`: want a positive number", batch.normalizer));
    }
    batch.samples.iter().enumerate().try_for_each(|(i, sample)| check_sample(i, sample, config))
}

fn check_sample(i: usize, sample: &Sample, config: &ModelConfig) -> Result<(), LearnError> {
    check_tokens(&format!("sample {i}"), &sample.prompt, &sample.response, config)?;
    let length = sample.response.len();
    if sample.masked >= length {
        return bad(format!(
            "sample {i} masks {} of {length} response tokens: nothing is left to learn",
            sample.masked
        ));
    }
    if !sample.weight.is_finite() || sample.imitate && sample.weight < 0.0 {
        return bad(format!("sample {i} has weight `{}`", sample.weight));
    }
    if !(sample.scale.is_finite() && sample.scale >= 0.0) {
        return bad(format!("sample {i} has scale `{}`: want a number that is not negative", sample.scale));
    }
    for (what, logprobs) in [("behaviour", &sample.behaviour), ("reference", &sample.reference)] {
        let Some(logprobs) = logprobs else { continue };
        if logprobs.len() != length {
            return bad(format!("sample {i} has {} {what} log-probabilities for {length} tokens", logprobs.len()));
        }
        if let Some(logprob) = logprobs.iter().find(|l| !l.is_finite()) {
            return bad(format!("sample {i} has the {what} log-probability `{logprob}`"));
        }
    }
    Ok(())
}

/// Checks every pair.
pub(crate) fn check_pairs(batch: &PreferenceBatch, config: &ModelConfig) -> Result<(), LearnError> {
    for (i, pair) in batch.pairs.iter().enumerate() {
        check_tokens(&format!("the chosen response of pair {i}"), &pair.prompt, &pair.chosen, config)?;
        check_tokens(&format!("the rejected response of pair {i}"), &pair.prompt, &pair.rejected, config)?;
        if !(pair.weight.is_finite() && pair.weight >= 0.0) {
            return bad(format!("pair {i} has weight `{}`: want a number that is not negative", pair.weight));
        }
        if let Some(logprob) = pair.reference.iter().flatten().find(|l| !l.is_finite()) {
            return bad(format!("pair {i} has the reference log-probability `{logprob}`"));
        }
    }
    Ok(())
}

fn check_tokens(what: &str, prompt: &[u32], response: &[u32], config: &ModelConfig) -> Result<(), LearnError> {
    if prompt.is_empty() || response.is_empty() {
        return bad(format!("{what} has an empty prompt or response"));
    }
    let (tokens, context) = (prompt.len() + response.len(), config.max_position_embeddings);
    if tokens > context {
        return bad(format!("{what} has {tokens} tokens, and the model's context holds {context}"));
    }
    match prompt.iter().chain(response).find(|&&t| t as usize >= config.vocab_size) {
        Some(token) => bad(format!("{what} holds token {token}, and the vocabulary has {}", config.vocab_size)),
        None => Ok(()),
    }
}

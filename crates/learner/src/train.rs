//! Gradients of one batch: checked, dealt to shards, computed in parallel, summed in shard order.

use candle_core::Tensor;
use veriplay_core::{LearnError, TrainBatch};

use crate::Result;
use crate::config::ModelConfig;
use crate::gradients::Gradients;
use crate::model::layout::{MicroBatch, Response, bundle, deal};
use crate::model::{Decoder, Weights};
use crate::ops::{Engine, SharedSpace};

/// What a pass over a batch gave.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Totals {
    /// Σ weight · −log p.
    pub(crate) loss: f64,
    /// Σ entropy, one term a prediction.
    pub(crate) entropy: f64,
    /// Predictions.
    pub(crate) count: u64,
    /// Rows that went through the model.
    pub(crate) tokens: u64,
}

/// Refuses what cannot be learned from.
pub(crate) fn check_batch(batch: &TrainBatch, config: &ModelConfig, learning_rate: f64) -> Result<(), LearnError> {
    let bad = |what: String| Err(LearnError::BadBatch(what));
    if !(batch.normalizer.is_finite() && batch.normalizer > 0.0) {
        return bad(format!("normalizer is `{}`: want a positive number", batch.normalizer));
    }
    if !(learning_rate.is_finite() && learning_rate >= 0.0) {
        return bad(format!("learning rate is `{learning_rate}`: want zero or a positive number"));
    }
    for (i, sample) in batch.samples.iter().enumerate() {
        let tokens = sample.prompt.len() + sample.response.len();
        if sample.prompt.is_empty() || sample.response.is_empty() {
            return bad(format!("sample {i} has an empty prompt or response"));
        }
        if sample.masked >= sample.response.len() {
            return bad(format!(
                "sample {i} masks {} of {} response tokens: nothing is left to learn",
                sample.masked,
                sample.response.len()
            ));
        }
        if tokens > config.max_position_embeddings {
            return bad(format!(
                "sample {i} has {tokens} tokens, and the model's context holds {}",
                config.max_position_embeddings
            ));
        }
        if !sample.weight.is_finite() {
            return bad(format!("sample {i} has weight `{}`", sample.weight));
        }
        if let Some(token) = sample.prompt.iter().chain(&sample.response).find(|&&t| t as usize >= config.vocab_size) {
            return bad(format!("sample {i} holds token {token}, and the vocabulary has {}", config.vocab_size));
        }
    }
    Ok(())
}

/// Says once that candle's own pool works beside the shards.
///
/// Residual sums, and the sums of gradients inside `backward`, are candle's. Since 0.11.1 it hands those of 64 Ki elements and more
/// to a global pool with a lock, whose threads spin: beside threads of ours it only takes their time (three times as long an
/// update on 2 cores). The results are the same. Candle reads `CANDLE_NUM_THREADS` when it first needs the pool; `.cargo/config.toml`
/// sets it for what cargo runs.
pub(crate) fn warn_of_pool() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let workers = candle_core::utils::barrier_pool().n_workers();
        if workers > 0 {
            tracing::warn!(workers, "candle's thread pool slows training down: set CANDLE_NUM_THREADS=1");
        }
    });
}

/// Loss and gradients of a batch; one shard, and one thread, for each space. `weights` are those that `engine` tracks.
pub(crate) fn gradients(
    engine: &Engine,
    weights: &Weights,
    spaces: &[SharedSpace],
    batch: &TrainBatch,
    micro_tokens: usize,
) -> Result<(Totals, Gradients)> {
    let scale = 1.0 / batch.normalizer;
    let samples = batch.samples.iter().enumerate().filter(|(_, s)| s.weight != 0.0).map(|(index, s)| {
        (
            &*s.prompt,
            Response { index, tokens: &s.response, masked: s.masked, weight: (f64::from(s.weight) * scale) as f32 },
        )
    });
    let shards = deal(bundle(samples, micro_tokens), spaces.len(), micro_tokens);
    let work = |(space, share)| shard(&engine.decoder(space), weights, share);
    let parts = on_threads(spaces.iter().zip(&shards), work);
    let mut sum = (Totals::default(), Gradients::default());
    for part in parts {
        let (totals, gradients) = part?;
        sum.0 = sum.0.plus(totals);
        sum.1.merge(gradients)?;
    }
    Ok(sum)
}

/// One shard's micro-batches, one after the other.
fn shard(decoder: &Decoder<'_>, weights: &Weights, share: &Vec<MicroBatch>) -> Result<(Totals, Gradients)> {
    let (mut totals, mut gradients) = (Totals::default(), Gradients::default());
    for batch in share {
        totals = totals.plus(one(decoder, weights, batch, &mut gradients)?);
    }
    Ok((totals, gradients))
}

/// One micro-batch, forward and backward.
fn one(decoder: &Decoder<'_>, weights: &Weights, batch: &MicroBatch, sum: &mut Gradients) -> Result<Totals> {
    let predicted = decoder.predict(batch)?;
    let factors: Vec<f32> = batch.predictions.iter().map(|p| -p.weight).collect();
    let factors = Tensor::new(factors, predicted.device())?.to_dtype(predicted.dtype())?;
    let loss = (predicted.get(0)? * factors)?.sum_all()?;
    sum.add(weights, loss.backward()?)?;
    Totals::of(batch, &predicted)
}

impl Totals {
    /// The sums of one micro-batch, in f64.
    fn of(batch: &MicroBatch, predicted: &Tensor) -> Result<Self> {
        let values = crate::model::weights::values(predicted)?;
        let (logprobs, entropies) = values.split_at(batch.predictions.len());
        let terms = batch.predictions.iter().zip(logprobs).map(|(p, &l)| -f64::from(p.weight) * f64::from(l));
        Ok(Self {
            loss: terms.sum(),
            entropy: entropies.iter().map(|&e| f64::from(e)).sum(),
            count: batch.predictions.len() as u64,
            tokens: batch.tokens.len() as u64,
        })
    }

    fn plus(self, other: Self) -> Self {
        Self {
            loss: self.loss + other.loss,
            entropy: self.entropy + other.entropy,
            count: self.count + other.count,
            tokens: self.tokens + other.tokens,
        }
    }
}

/// Runs `work` on every item, one thread each, and returns the results in their order. The first runs on the calling thread, whose
/// allocator still holds the pages of the last call.
pub(crate) fn on_threads<T: Send, R: Send>(mut items: impl Iterator<Item = T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let work = &work;
    std::thread::scope(|scope| {
        let first = items.next();
        let others: Vec<_> = items.map(|item| scope.spawn(move || work(item))).collect();
        let first = first.map(work);
        let join =
            |h: std::thread::ScopedJoinHandle<'_, R>| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        first.into_iter().chain(others.into_iter().map(join)).collect()
    })
}

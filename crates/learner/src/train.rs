//! Gradients of one batch: checked, dealt to shards, computed in parallel, summed in shard order.

use veriplay_core::{LearnError, TrainBatch};

use crate::config::ModelConfig;
use crate::kernels::loss::LossSum;
use crate::kernels::math::accumulate;
use crate::model::layout::{MicroBatch, Response, bundle, deal};
use crate::model::parameters::tensor_specs;
use crate::model::{PackedModel, Parameters, Purpose, Workspace};

/// What a pass over a batch gave.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Totals {
    /// Loss, entropy and count of the predictions.
    pub(crate) loss: LossSum,
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

/// Leaves the gradients of the batch's loss in the first workspace; one shard for each workspace.
pub(crate) fn gradients(
    config: &ModelConfig,
    weights: &Parameters,
    spaces: &mut [Workspace],
    batch: &TrainBatch,
    micro_tokens: usize,
) -> Totals {
    let scale = 1.0 / batch.normalizer;
    let samples = batch.samples.iter().enumerate().filter(|(_, s)| s.weight != 0.0).map(|(index, s)| {
        (
            &*s.prompt,
            Response { index, tokens: &s.response, masked: s.masked, weight: (f64::from(s.weight) * scale) as f32 },
        )
    });
    let shards = deal(bundle(samples, micro_tokens), spaces.len(), micro_tokens);
    let model = PackedModel::new(config, weights, Purpose::Training);
    let model = &model;
    let totals: Vec<Totals> = on_threads(spaces.iter_mut().zip(&shards), |(space, micro_batches)| {
        space.gradients.tensors_mut(config).into_iter().for_each(|t| t.fill(0.0));
        micro_batches.iter().map(|batch| one(model, batch, space)).fold(Totals::default(), Totals::plus)
    });
    sum_shards(config, spaces);
    totals.into_iter().fold(Totals::default(), Totals::plus)
}

fn one(model: &PackedModel<'_>, batch: &MicroBatch, space: &mut Workspace) -> Totals {
    let loss = model.loss(batch, space);
    model.backward(batch, space);
    Totals { loss, tokens: batch.tokens.len() as u64 }
}

impl Totals {
    fn plus(self, other: Self) -> Self {
        let loss = LossSum {
            loss: self.loss.loss + other.loss.loss,
            entropy: self.loss.entropy + other.loss.entropy,
            count: self.loss.count + other.loss.count,
        };
        Self { loss, tokens: self.tokens + other.tokens }
    }
}

/// Runs `work` on every item, one thread each, and returns the results in their order.
pub(crate) fn on_threads<T: Send, R: Send>(items: impl Iterator<Item = T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let work = &work;
    std::thread::scope(|scope| {
        let handles: Vec<_> = items.map(|item| scope.spawn(move || work(item))).collect();
        handles.into_iter().map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// Adds the gradients of the other shards to the first one's, in order.
fn sum_shards(config: &ModelConfig, spaces: &mut [Workspace]) {
    if let Some((first, others)) = spaces.split_first_mut() {
        for other in others {
            for (sum, part) in first.gradients.tensors_mut(config).into_iter().zip(other.gradients.tensors(config)) {
                accumulate(sum, part);
            }
        }
    }
}

/// The global norm of the gradients. With `detect`, every tensor must have got one: the silent-cut detector.
pub(crate) fn checked_norm(config: &ModelConfig, gradients: &Parameters, detect: bool) -> Result<f64, LearnError> {
    let specs = tensor_specs(config);
    let squares: Vec<f64> =
        gradients.tensors(config).iter().map(|t| t.iter().map(|&g| f64::from(g) * f64::from(g)).sum()).collect();
    if let Some((spec, _)) = specs.iter().zip(&squares).find(|(_, square)| !square.is_finite()) {
        return Err(LearnError::NotFinite { name: spec.name.clone() });
    }
    let cut: Vec<String> =
        specs.iter().zip(&squares).filter(|(_, square)| **square == 0.0).map(|(spec, _)| spec.name.clone()).collect();
    if detect && !cut.is_empty() {
        return Err(LearnError::NoGradient { names: cut });
    }
    Ok(squares.iter().sum::<f64>().sqrt())
}

//! Backward by segments: activation checkpointing (Chen et al. 2016, arXiv 1604.06174) and a vocabulary loss in chunks.
//!
//! Used by `backward` where the options say so. Forward runs detached and keeps only the input of each segment of layers; backward
//! goes from the last segment to the first, recomputes each one, tracked, and differentiates Σ output · gradient, which is the
//! vector–Jacobian product. The head goes first, some rows of logits at a time: the logits of all tokens never exist at once.
//! The result is that of the plain backward, to the bit where the logits are in one chunk; it costs one more forward pass, and
//! where there are several chunks one more of the head.

use candle_core::{D, Result, Tensor, Var};
use serde::{Deserialize, Serialize};
use veriplay_kernels::logprob::Prediction;

use crate::config::EMBEDDING;
use crate::gradients::Gradients;
use crate::network::{Decoder, MicroBatch, Weights, values};
use crate::objective::{BatchTotals, Objective, ObjectiveValue};

/// Sizes of a backward pass by segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segments {
    /// Layers of a segment. Memory for one segment's intermediate results is needed at a time, and each layer boundary between
    /// segments is kept.
    pub layers: usize,
    /// Rows of logits that exist at a time; a micro-batch with more of them goes through the head twice.
    pub logit_rows: usize,
}

pub(crate) struct SegmentedBackward<'a> {
    pub(crate) tracked: &'a Decoder<'a>,
    /// On the same weights, detached.
    pub(crate) detached: &'a Decoder<'a>,
    pub(crate) weights: &'a Weights,
    pub(crate) sizes: Segments,
}

/// Some rows whose output is needed, and their predictions.
struct LogitChunk {
    /// [rows, hidden], detached.
    hidden: Tensor,
    /// `row` counts from the chunk's first.
    predictions: Vec<Prediction>,
    /// Index of the first of them among all predictions.
    first: usize,
}

impl SegmentedBackward<'_> {
    pub(crate) fn run(
        &self,
        objective: &dyn Objective,
        batch: &MicroBatch,
        sum: &mut Gradients,
    ) -> Result<BatchTotals> {
        let groups = batch.groups.as_slice().into();
        let layers = self.tracked.layers();
        let starts: Vec<usize> = (0..layers).step_by(self.sizes.layers).collect();
        let mut x = self.detached.embed(batch)?;
        let mut inputs = Vec::with_capacity(starts.len());
        for &start in &starts {
            inputs.push(x.clone());
            x = self.detached.run(start..layers.min(start + self.sizes.layers), x, &groups, |_, _| Ok(()))?;
        }
        // Where the head is the embedding, both its gradients are of one micro-batch before they meet those of another.
        let mut ends = Gradients::default();
        let (totals, mut gradient) = self.head(objective, batch, &x, &mut ends)?;
        drop(x);
        for &start in starts.iter().rev() {
            let input = inputs.pop().expect("one for each start");
            let x = Var::from_tensor(&input)?;
            drop(input);
            let segment = start..layers.min(start + self.sizes.layers);
            let y = self.tracked.run(segment, x.as_tensor().clone(), &groups, |_, _| Ok(()))?;
            gradient = self.backward(&y, &gradient, &x, sum)?;
        }
        if let Some((name, embedding)) = self.weights.trainable().find(|(name, _)| *name == EMBEDDING) {
            let tokens = Tensor::new(&*batch.tokens, gradient.device())?;
            ends.add_rows(name, embedding, &tokens, &self.tracked.embedding_gradient(gradient)?)?;
        }
        sum.merge(ends)?;
        Ok(totals)
    }

    /// Adds the gradients of Σ y · dy in the weights; returns its gradient in `x`.
    fn backward(&self, y: &Tensor, dy: &Tensor, x: &Var, sum: &mut Gradients) -> Result<Tensor> {
        // Row by row first: a sum of everything is one block of a card's threads.
        let mut store = (y * dy)?.sum(D::Minus1)?.sum_all()?.backward()?;
        let dx = store.remove(x).ok_or_else(|| candle_core::Error::Msg("a segment is cut off its input".to_owned()))?;
        sum.add(self.weights, store)?;
        Ok(dx.detach())
    }

    /// Objective and gradient of the rows behind the last layer.
    fn head(
        &self,
        objective: &dyn Objective,
        batch: &MicroBatch,
        last: &Tensor,
        sum: &mut Gradients,
    ) -> Result<(BatchTotals, Tensor)> {
        let rows: Vec<u32> = batch.outputs.iter().map(|&row| row as u32).collect();
        let rows = Tensor::new(rows, last.device())?;
        let chunks = self.chunks(batch, &last.index_select(&rows, 0)?)?;
        let (evaluated, entropies, gradients) = match chunks.as_slice() {
            [only] => self.run_chunk(objective, batch, only, sum)?,
            _ => self.run_chunks(objective, batch, &chunks, sum)?,
        };
        let gradient = last.zeros_like()?.index_add(&rows, &Tensor::cat(&gradients, 0)?, 0)?;
        Ok((BatchTotals::new(batch, &evaluated, &entropies), gradient))
    }

    fn chunks(&self, batch: &MicroBatch, picked: &Tensor) -> Result<Vec<LogitChunk>> {
        let mut chunks = Vec::new();
        let mut first = 0;
        for start in (0..batch.outputs.len()).step_by(self.sizes.logit_rows) {
            let rows = self.sizes.logit_rows.min(batch.outputs.len() - start);
            let count = batch.predictions[first..].iter().take_while(|p| p.row < start + rows).count();
            let predictions = batch.predictions[first..first + count].iter();
            let predictions = predictions.map(|p| Prediction { row: p.row - start, ..*p }).collect();
            chunks.push(LogitChunk { hidden: picked.narrow(0, start, rows)?.contiguous()?, predictions, first });
            first += count;
        }
        Ok(chunks)
    }

    /// One chunk: its logits serve forward and backward.
    fn run_chunk(
        &self,
        objective: &dyn Objective,
        batch: &MicroBatch,
        chunk: &LogitChunk,
        sum: &mut Gradients,
    ) -> Result<(ObjectiveValue, Vec<f32>, Vec<Tensor>)> {
        let x = Var::from_tensor(&chunk.hidden)?;
        let predicted = self.tracked.predict_rows(&x, &chunk.predictions)?;
        let outputs = values(&predicted)?;
        let (logprobs, entropies) = outputs.split_at(chunk.predictions.len());
        let evaluated = objective.evaluate(batch, logprobs, entropies);
        let slopes = slopes(&evaluated, &(0..chunk.predictions.len()), &predicted)?;
        let gradient = self.backward(&predicted, &slopes, &x, sum)?;
        Ok((evaluated, entropies.to_vec(), vec![gradient]))
    }

    /// Several chunks: the objective needs whole responses, so all are computed once to evaluate it and each again for its backward pass.
    fn run_chunks(
        &self,
        objective: &dyn Objective,
        batch: &MicroBatch,
        chunks: &[LogitChunk],
        sum: &mut Gradients,
    ) -> Result<(ObjectiveValue, Vec<f32>, Vec<Tensor>)> {
        let (mut logprobs, mut entropies) = (Vec::new(), Vec::new());
        for chunk in chunks {
            let outputs = values(&self.detached.predict_rows(&chunk.hidden, &chunk.predictions)?)?;
            let (logprob, entropy) = outputs.split_at(chunk.predictions.len());
            logprobs.extend_from_slice(logprob);
            entropies.extend_from_slice(entropy);
        }
        let evaluated = objective.evaluate(batch, &logprobs, &entropies);
        let mut gradients = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let x = Var::from_tensor(&chunk.hidden)?;
            let predicted = self.tracked.predict_rows(&x, &chunk.predictions)?;
            let slopes = slopes(&evaluated, &(chunk.first..chunk.first + chunk.predictions.len()), &predicted)?;
            gradients.push(self.backward(&predicted, &slopes, &x, sum)?);
        }
        Ok((evaluated, entropies, gradients))
    }
}

/// The slopes of some predictions, as factors of the predicted values [2, predictions].
fn slopes(evaluated: &ObjectiveValue, range: &std::ops::Range<usize>, predicted: &Tensor) -> Result<Tensor> {
    let (logprobs, entropies) = evaluated.slopes.split_at(evaluated.slopes.len() / 2);
    let both = [&logprobs[range.clone()], &entropies[range.clone()]].concat();
    Tensor::from_vec(both, predicted.shape(), predicted.device())?.to_dtype(predicted.dtype())
}

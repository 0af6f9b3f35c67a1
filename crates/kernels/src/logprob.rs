//! Selected log-probabilities, entropies and their gradient, on rows of logits: log softmax at one token, and −Σ p·log p.

use crate::math::{LANES, exp, max, sum};
use crate::simd::vectorized;

/// A token to predict from a row of logits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Index of the row of logits.
    pub row: usize,
    /// The token.
    pub token: u32,
}

/// Log-sum-exp of a row and its entropy in nats; leaves the probabilities in `row`.
#[inline(always)]
fn normalise(row: &mut [f32]) -> (f32, f32) {
    let top = max(row);
    let (mut totals, mut means) = ([0.0_f32; LANES], [0.0_f32; LANES]);
    let (lanes, rest) = row.as_chunks_mut::<LANES>();
    for chunk in lanes {
        for i in 0..LANES {
            let shifted = chunk[i] - top;
            chunk[i] = exp(shifted);
            totals[i] += chunk[i];
            means[i] += chunk[i] * shifted;
        }
    }
    for (i, x) in rest.iter_mut().enumerate() {
        let shifted = *x - top;
        *x = exp(shifted);
        totals[i] += *x;
        means[i] += *x * shifted;
    }
    let (total, mean) = (sum(&totals), sum(&means));
    let inverse = 1.0 / total;
    for x in row.iter_mut() {
        *x *= inverse;
    }
    (top + total.ln(), total.ln() - mean * inverse)
}

/// Calls `work` with every row of `rows` [n, vocab], its index, and the run of predictions that are of this row.
///
/// `predictions` are sorted by row.
fn for_each_row(predictions: &[Prediction], mut work: impl FnMut(usize, std::ops::Range<usize>)) {
    let mut at = 0;
    for run in predictions.chunk_by(|a, b| a.row == b.row) {
        work(run[0].row, at..at + run.len());
        at += run.len();
    }
}

/// Log-probability and entropy, in nats, of every prediction `[predictions]` from `logits` [rows, vocab]; `scratch` is a row `[vocab]`.
pub fn selected_logprobs(
    (logprobs, entropies): (&mut [f32], &mut [f32]),
    logits: &[f32],
    predictions: &[Prediction],
    scratch: &mut [f32],
) {
    let vocab = scratch.len();
    for_each_row(predictions, |row, run| {
        let logits = &logits[row * vocab..(row + 1) * vocab];
        scratch.copy_from_slice(logits);
        let (norm, entropy) = vectorized(
            #[inline(always)]
            || normalise(scratch),
        );
        for i in run {
            logprobs[i] = logits[predictions[i].token as usize] - norm;
            entropies[i] = entropy;
        }
    });
}

/// Backward of [`selected_logprobs`]: overwrites `dlogits`, which holds zeros, in the rows that predict.
///
/// d log p(token) / d logits = onehot(token) − p, and d entropy / d logits = −p · (ln p + entropy).
pub fn selected_logprobs_backward(
    dlogits: &mut [f32],
    logits: &[f32],
    vocab: usize,
    predictions: &[Prediction],
    (dlogprobs, dentropies): (&[f32], &[f32]),
) {
    for_each_row(predictions, |row, run| {
        let cells = row * vocab..(row + 1) * vocab;
        let (out, logits) = (&mut dlogits[cells.clone()], &logits[cells]);
        let slope: f32 = dlogprobs[run.clone()].iter().sum();
        let bonus: f32 = dentropies[run.clone()].iter().sum();
        backward_row(out, logits, slope, bonus);
        for i in run {
            out[predictions[i].token as usize] += dlogprobs[i];
        }
    });
}

/// One row of [`selected_logprobs_backward`], without the one-hot part.
fn backward_row(out: &mut [f32], logits: &[f32], slope: f32, bonus: f32) {
    out.copy_from_slice(logits);
    vectorized(
        #[inline(always)]
        || {
            let (norm, entropy) = normalise(out);
            if bonus == 0.0 {
                out.iter_mut().for_each(|p| *p *= -slope);
            } else {
                let rows = out.iter_mut().zip(logits);
                rows.for_each(|(p, &z)| *p *= -slope - bonus * (z - norm + entropy));
            }
        },
    );
}

//! Selected log-probabilities, entropy and their gradient, on rows of logits.

use super::math::{LANES, exp, max, sum};
use super::simd::wide;

/// A token that a row of logits is asked to predict, and what its −log p is multiplied by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prediction {
    /// Index of the row of logits.
    pub(crate) row: usize,
    /// The token.
    pub(crate) token: u32,
    /// Factor of −log p in the loss.
    pub(crate) weight: f32,
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

/// Sum of a loss over the predictions of some rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LossSum {
    /// Σ weight · −log p.
    pub(crate) loss: f64,
    /// Σ entropy, one term a prediction.
    pub(crate) entropy: f64,
    /// Predictions.
    pub(crate) count: u64,
}

/// Replaces `logits` [rows, vocab] by the loss's gradient and appends every prediction's log-probability to `logprobs`.
///
/// d loss / d logits = Σ over the row's predictions of weight · (p − onehot(token)).
/// `predictions` are sorted by row, rows counted from `first`; the slice holds exactly those of these rows.
pub(crate) fn selected_loss(
    logits: &mut [f32],
    vocab: usize,
    first: usize,
    predictions: &[Prediction],
    logprobs: &mut Vec<f32>,
) -> LossSum {
    let mut sum = LossSum::default();
    let mut rest = predictions;
    for (i, row) in logits.chunks_exact_mut(vocab).enumerate() {
        let count = rest.iter().take_while(|p| p.row == first + i).count();
        let (mine, others) = rest.split_at(count);
        rest = others;
        row_loss(row, mine, logprobs, &mut sum);
    }
    sum
}

fn row_loss(row: &mut [f32], predictions: &[Prediction], logprobs: &mut Vec<f32>, sum: &mut LossSum) {
    let start = logprobs.len();
    logprobs.extend(predictions.iter().map(|p| row[p.token as usize]));
    let (norm, entropy) = wide(
        #[inline(always)]
        || normalise(row),
    );
    let mut total = 0.0;
    for (p, logprob) in predictions.iter().zip(&mut logprobs[start..]) {
        *logprob -= norm;
        sum.loss -= f64::from(p.weight) * f64::from(*logprob);
        sum.entropy += f64::from(entropy);
        total += p.weight;
    }
    sum.count += predictions.len() as u64;
    wide(
        #[inline(always)]
        || row.iter_mut().for_each(|x| *x *= total),
    );
    for p in predictions {
        row[p.token as usize] -= p.weight;
    }
}

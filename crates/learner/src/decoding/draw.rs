//! Draws one token per row on the device that holds the logits: `token_sampler`'s algorithm in tensor operations.
//!
//! Called by the decoding loop of a device. The draw is the same inversion at the same number in (0, 1), in the order of ids, so a device
//! draws the tokens that the CPU draws, but for f32 sums: a token whose probability is near 1e-7 may be missed by as much. Truncation
//! needs a sort, which candle has for short rows only; rows that want it are drawn on the CPU.

use candle_core::{D, DType, Device, Result, Tensor};

/// Tokens of a block: the sum over all is one over blocks, then one over a block's tokens.
const BLOCK: usize = 256;

/// How the rows of a batch draw.
#[derive(Debug)]
pub(super) struct TensorDraw {
    /// 1 / temperature [rows, 1]; 1 where the likeliest is taken.
    inverse: Tensor,
    /// 1 where the likeliest is taken [rows]; `None` where no row does.
    greedy: Option<Tensor>,
    /// Whether every row draws at temperature 1, where the weights of the draw are those of the log-probability.
    plain: bool,
    /// Ones on and above the diagonal: over blocks, and over the tokens of a block.
    blocks: Tensor,
    within: Tensor,
}

impl TensorDraw {
    /// For rows of these temperatures, over a vocabulary.
    pub(super) fn new(temperatures: &[f32], vocab: usize, device: &Device) -> Result<Self> {
        let rows = temperatures.len();
        let inverse = |t: f32| Some(1.0 / t).filter(|inverse| *inverse > 0.0 && inverse.is_finite());
        let greedy: Vec<u8> = temperatures.iter().map(|&t| u8::from(inverse(t).is_none())).collect();
        let plain = temperatures.iter().all(|&t| t == 1.0);
        let inverses: Vec<f32> = temperatures.iter().map(|&t| inverse(t).unwrap_or(1.0)).collect();
        let greedy = greedy.contains(&1).then(|| Tensor::from_vec(greedy, rows, device)).transpose()?;
        let [blocks, within] = [vocab.div_ceil(BLOCK), BLOCK].map(|size| Tensor::triu2(size, DType::F32, device));
        Ok(Self {
            inverse: Tensor::from_vec(inverses, (rows, 1), device)?,
            greedy,
            plain,
            blocks: blocks?,
            within: within?,
        })
    }

    /// A token (u32) and the model's log-probability of it (f32) for every row [rows] of f32 logits [rows, vocab], at `u` [rows] in
    /// (0, 1).
    pub(super) fn draw(&self, logits: &Tensor, u: &Tensor) -> Result<(Tensor, Tensor)> {
        let scaled = logits.broadcast_sub(&logits.max_keepdim(D::Minus1)?)?.broadcast_mul(&self.inverse)?;
        let weights = scaled.exp()?;
        let (rows, vocab) = weights.dims2()?;
        let blocks = vocab.div_ceil(BLOCK);
        let weights = weights.pad_with_zeros(1, 0, blocks * BLOCK - vocab)?.reshape((rows, blocks, BLOCK))?;
        let sums = weights.sum(2)?;
        let below = sums.matmul(&self.blocks)?;
        let total = below.narrow(1, blocks - 1, 1)?;
        let target = (u.unsqueeze(1)? * &total)?;
        let block = first_exceeding(&below, &target)?;
        let before = (below.gather(&block, 1)? - sums.gather(&block, 1)?)?;
        let index = block.unsqueeze(2)?.broadcast_as((rows, 1, BLOCK))?.contiguous()?;
        let weights = weights.gather(&index, 1)?.squeeze(1)?;
        let below = weights.matmul(&self.within)?;
        // Clamped to the block's own mass, against rounding: a token of weight 0 is never drawn.
        let most = (below.narrow(1, BLOCK - 1, 1)? * (1.0 - f64::from(f32::EPSILON)))?;
        let rest = (target - before)?.maximum(0.0)?.minimum(&most)?;
        let token = ((block * BLOCK as f64)? + first_exceeding(&below, &rest)?)?.squeeze(1)?;
        let Some(greedy) = &self.greedy else {
            let logprob = if self.plain {
                (scaled.gather(&token.unsqueeze(1)?, 1)? - total.log()?)?.squeeze(1)?
            } else {
                logprob(logits, &token)?
            };
            return Ok((token, logprob));
        };
        let token = greedy.where_cond(&logits.argmax(D::Minus1)?, &token)?;
        let logprob = logprob(logits, &token)?;
        Ok((token, logprob))
    }
}

/// The log-probability of a token [rows] of each row [rows, vocab] at temperature 1.
fn logprob(logits: &Tensor, token: &Tensor) -> Result<Tensor> {
    let shifted = logits.broadcast_sub(&logits.max_keepdim(D::Minus1)?)?;
    let total = shifted.exp()?.sum_keepdim(D::Minus1)?.log()?;
    (shifted.gather(&token.unsqueeze(1)?, 1)? - total)?.squeeze(1)
}

/// The first place whose running sum exceeds the target [rows, 1], u32: the number of those that do not, and at most the last.
fn first_exceeding(below: &Tensor, target: &Tensor) -> Result<Tensor> {
    let count = below.broadcast_le(target)?.to_dtype(DType::F32)?.sum_keepdim(1)?;
    count.minimum((below.dim(1)? - 1) as f64)?.to_dtype(DType::U32)
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::TensorDraw;
    use crate::decoding::token_sampler::log_probability;
    use crate::decoding::{TokenSampler, uniform};

    fn logits(row: usize, vocab: usize) -> Vec<f32> {
        (0..vocab).map(|at| 4.0 * ((at * 7 + row * 13) as f32 * 0.37).sin()).collect()
    }

    /// Tokens and log-probabilities of some rows at some temperatures, drawn in tensors and on the CPU.
    fn both(vocab: usize, temperatures: &[f32], seed: u64) -> [Vec<(u32, f32)>; 2] {
        let rows = temperatures.len();
        let all: Vec<f32> = (0..rows).flat_map(|row| logits(row, vocab)).collect();
        let us: Vec<f64> = (0..rows).map(|row| uniform(seed, row as u64, 0, 0)).collect();
        let device = &Device::Cpu;
        let draw = || {
            let logits = Tensor::from_vec(all, (rows, vocab), device)?;
            let u = Tensor::from_vec(us.iter().map(|&u| u as f32).collect::<Vec<_>>(), rows, device)?;
            let (tokens, logprobs) = TensorDraw::new(temperatures, vocab, device)?.draw(&logits, &u)?;
            Ok::<_, candle_core::Error>((tokens.to_vec1::<u32>()?, logprobs.to_vec1::<f32>()?))
        };
        let (tokens, logprobs) = draw().expect("draws");
        let want = |row: usize| {
            let (token, _) = TokenSampler::at(temperatures[row]).draw(&mut logits(row, vocab), us[row]);
            (token, log_probability(&mut logits(row, vocab), token))
        };
        [tokens.into_iter().zip(logprobs).collect(), (0..rows).map(want).collect()]
    }

    #[test]
    fn tensors_draw_the_tokens_that_the_cpu_draws() {
        for vocab in [3, 256, 257, 1000] {
            for seed in 0..40 {
                let [ours, want] = both(vocab, &[1.0, 0.3, 0.0, 2.0], seed);
                for (ours, want) in ours.iter().zip(&want) {
                    assert_eq!(ours.0, want.0, "vocabulary {vocab}, seed {seed}");
                    assert!((ours.1 - want.1).abs() < 1e-4, "{ours:?} {want:?}");
                }
            }
        }
    }

    #[test]
    fn a_token_without_probability_is_never_drawn_even_at_the_ends() {
        let device = &Device::Cpu;
        let vocab = 300;
        let mut row = vec![f32::NEG_INFINITY; vocab];
        (row[5], row[270]) = (0.0, 0.0);
        let logits = Tensor::from_vec([row.clone(), row].concat(), (2, vocab), device).expect("logits");
        let u = Tensor::new(&[1e-9_f32, 1.0], device).expect("numbers");
        let draw = TensorDraw::new(&[1.0, 1.0], vocab, device).expect("a draw");
        let (tokens, logprobs) = draw.draw(&logits, &u).expect("draws");
        assert_eq!(tokens.to_vec1::<u32>().expect("tokens"), [5, 270]);
        assert!(logprobs.to_vec1::<f32>().expect("numbers").iter().all(|l| (l + 2.0_f32.ln()).abs() < 1e-6));
    }
}

//! Log-probabilities of predicted tokens and entropies, without the graph of a softmax over the vocabulary.
//!
//! Of a row of logits x with p = softmax(x), l = ln p and H = −Σ p·l: ∂l_t/∂x_j = [j = t] − p_j, and ∂H/∂x_j = −p_j·(l_j + H). What is kept for
//! backward are the logits as they are: their many forms, the largest tensors there are, exist in one pass at a time, and three at once.

use candle_core::{D, DType, Device, Result, Tensor};
use veriplay_kernels::logprob::Prediction;

use super::{check_count, widened, with_backward};

/// Where the predictions of some rows of logits are, on their device.
struct Places {
    /// The tokens that a row predicts, each in a slot; 0 where it has fewer than another: u32 [rows, slots].
    tokens: Tensor,
    /// The slot of each prediction, among those of all rows: u32 [predictions].
    slots: Tensor,
    /// Its row: u32 [predictions].
    rows: Tensor,
}

impl Places {
    fn new(rows: usize, predictions: &[Prediction], device: &Device) -> Result<Self> {
        let mut used = vec![0; rows];
        let slot_of = |prediction: &Prediction| {
            let slot = &mut used[prediction.row];
            *slot += 1;
            *slot - 1
        };
        let own: Vec<usize> = predictions.iter().map(slot_of).collect();
        let most = used.into_iter().max().unwrap_or(0).max(1);
        let slots: Vec<u32> = predictions.iter().zip(own).map(|(p, slot)| (p.row * most + slot) as u32).collect();
        let mut tokens = vec![0; rows * most];
        slots.iter().zip(predictions).for_each(|(&slot, prediction)| tokens[slot as usize] = prediction.token);
        let of_rows: Vec<u32> = predictions.iter().map(|prediction| prediction.row as u32).collect();
        Ok(Self {
            tokens: Tensor::from_vec(tokens, (rows, most), device)?,
            slots: Tensor::new(slots, device)?,
            rows: Tensor::new(of_rows, device)?,
        })
    }
}

/// The log-probability (row 0) and the entropy of its distribution (row 1) of every prediction [2, predictions], in f32, from logits
/// [rows, vocab].
pub(super) fn logprobs(logits: &Tensor, predictions: &[Prediction]) -> Result<Tensor> {
    check_count("logits", logits.elem_count(), "learn.options.segments.logit_rows")?;
    let places = Places::new(logits.dim(0)?, predictions, logits.device())?;
    let result = forward(&logits.detach(), &places)?;
    with_backward(logits, "log-probabilities", result, move |logits, _, dy| backward(logits, &places, dy))
}

fn forward(logits: &Tensor, places: &Places) -> Result<Tensor> {
    let logprobs = log_softmax(widened(logits)?)?;
    let selected = logprobs.gather(&places.tokens, 1)?.flatten_all()?.index_select(&places.slots, 0)?;
    let entropies = entropies(&logprobs.exp()?, &logprobs)?.squeeze(1)?.index_select(&places.rows, 0)?;
    Tensor::stack(&[selected, entropies], 0)
}

/// The gradient of logits from that of the result [2, predictions].
fn backward(logits: &Tensor, places: &Places, dy: &Tensor) -> Result<Tensor> {
    let (rows, slots) = places.tokens.dims2()?;
    let sums = |of: usize, places: &Tensor, count: usize| {
        Tensor::zeros(count, DType::F32, dy.device())?.index_add(places, &dy.get(of)?.contiguous()?, 0)
    };
    let of_slots = sums(0, &places.slots, rows * slots)?.reshape((rows, slots))?;
    let of_entropies = sums(1, &places.rows, rows)?.unsqueeze(1)?;
    let logprobs = log_softmax(widened(logits)?)?;
    let probabilities = logprobs.exp()?;
    let entropies = entropies(&probabilities, &logprobs)?;
    // An assignment frees the form before.
    let mut dx = logprobs;
    dx = dx.broadcast_add(&entropies)?;
    dx = dx.broadcast_mul(&of_entropies)?;
    dx = dx.broadcast_add(&of_slots.sum_keepdim(1)?)?;
    dx = (dx * probabilities)?;
    dx = dx.neg()?;
    dx = dx.scatter_add(&places.tokens, &of_slots, 1)?;
    dx.to_dtype(logits.dtype())
}

/// Of rows of probabilities and their logarithms [rows, vocab]: [rows, 1].
fn entropies(probabilities: &Tensor, logprobs: &Tensor) -> Result<Tensor> {
    (probabilities * logprobs)?.sum_keepdim(D::Minus1)?.neg()
}

/// Over the last dimension, of f32; frees its argument.
fn log_softmax(x: Tensor) -> Result<Tensor> {
    let mut x = x;
    x = x.broadcast_sub(&x.max_keepdim(D::Minus1)?)?;
    x.broadcast_sub(&x.exp()?.sum_keepdim(D::Minus1)?.log()?)
}

//! The same operations in candle's own differentiable ones, in f64: the oracle of tests, which nothing else calls.
//!
//! Only operations with a backward may be used here: `softmax_last_dim`, `rope` and `rms_norm` of candle-nn have none and would cut
//! the graph silently.

use std::sync::Arc;

use candle_core::{D, DType, Device, Result, Tensor};
use veriplay_kernels::attention::{Group, HeadSizes};
use veriplay_kernels::logprob::Prediction;
use veriplay_kernels::rope::RopeTable;

use super::attached::{log_softmax, mask};
use super::{Ops, Site};

/// Any device, any float type.
#[derive(Debug)]
pub(crate) struct Stock {
    pub(crate) sizes: HeadSizes,
    pub(crate) rope: Arc<RopeTable>,
}

impl Ops for Stock {
    fn norm(&self, x: &Tensor, gain: &Tensor) -> Result<Tensor> {
        let mean = x.sqr()?.mean_keepdim(D::Minus1)?;
        x.broadcast_div(&(mean + f64::from(self.sizes.eps))?.sqrt()?)?.broadcast_mul(gain)
    }

    fn linear(&self, x: &Tensor, weight: &Tensor, _: Site) -> Result<Tensor> {
        x.matmul(&weight.t()?)
    }

    fn bias(&self, x: &Tensor, bias: &Tensor) -> Result<Tensor> {
        x.broadcast_add(bias)
    }

    fn attention(&self, qkv: &Tensor, gains: Option<&[Tensor; 2]>, groups: &Arc<[Group]>) -> Result<Tensor> {
        let mixed = groups.iter().map(|group| self.group(qkv, gains, group)).collect::<Result<Vec<_>>>()?;
        Tensor::cat(&mixed, 0)
    }

    fn mlp(&self, x: &Tensor, gate_up: &Tensor, down: &Tensor, _: usize) -> Result<Tensor> {
        let inner = down.dim(1)?;
        let pair = x.matmul(&gate_up.t()?)?;
        let hidden = (pair.narrow(1, 0, inner)?.silu()? * pair.narrow(1, inner, inner)?)?;
        hidden.matmul(&down.t()?)
    }

    fn logprobs(&self, logits: &Tensor, predictions: &[Prediction]) -> Result<Tensor> {
        let device = logits.device();
        let rows: Vec<u32> = predictions.iter().map(|p| p.row as u32).collect();
        let tokens: Vec<u32> = predictions.iter().map(|p| p.token).collect();
        let (rows, tokens) = (Tensor::new(rows, device)?, Tensor::new(tokens, device)?);
        let logprobs = log_softmax(logits)?;
        let entropy = (logprobs.exp()? * &logprobs)?.sum(D::Minus1)?.neg()?.index_select(&rows, 0)?;
        let selected = logprobs.index_select(&rows, 0)?.gather(&tokens.unsqueeze(1)?, 1)?.squeeze(1)?;
        Tensor::stack(&[selected, entropy], 0)
    }
}

impl Stock {
    /// Attention of one group: [rows, heads·dim].
    fn group(&self, qkv: &Tensor, gains: Option<&[Tensor; 2]>, group: &Group) -> Result<Tensor> {
        let HeadSizes { heads, kv_heads, dim, .. } = self.sizes;
        let rows = group.rows();
        let qkv = qkv.narrow(0, rows.start, rows.len())?;
        let part = |first: usize, count: usize| {
            qkv.narrow(1, first * dim, count * dim)?.reshape((rows.len(), count, dim))?.transpose(0, 1)?.contiguous()
        };
        let (cos, sin) = self.tables(group, qkv.dtype(), qkv.device())?;
        let [q_gain, k_gain] = gains.map_or([None; 2], |[q, k]| [Some(q), Some(k)]);
        let norm = |x: Tensor, gain: Option<&Tensor>| gain.map_or(Ok(x.clone()), |gain| self.norm(&x, gain));
        let q = rotate(&norm(part(0, heads)?, q_gain)?, &cos, &sin)?;
        let k = rotate(&norm(part(heads, kv_heads)?, k_gain)?, &cos, &sin)?;
        let v = part(heads + kv_heads, kv_heads)?;
        // Query heads that share a key head stack up as more rows of it: keys and values are not repeated.
        let q = q.reshape((kv_heads, heads / kv_heads * rows.len(), dim))?;
        let scores = (q.matmul(&k.t()?)? * f64::from(self.sizes.scale()))?;
        let scores = scores.reshape((kv_heads, heads / kv_heads, rows.len(), rows.len()))?;
        let weights = log_softmax(&scores.broadcast_add(&mask(group, qkv.dtype(), qkv.device())?)?)?.exp()?;
        let mixed = weights.reshape((kv_heads, heads / kv_heads * rows.len(), rows.len()))?.matmul(&v)?;
        mixed.reshape((heads, rows.len(), dim))?.transpose(0, 1)?.reshape((rows.len(), heads * dim))
    }

    /// cos and sin of every row's position [rows, dim / 2].
    fn tables(&self, group: &Group, dtype: DType, device: &Device) -> Result<(Tensor, Tensor)> {
        let half = self.sizes.dim / 2;
        let rows = group.rows().len();
        let (mut cos, mut sin) = (Vec::with_capacity(rows * half), Vec::with_capacity(rows * half));
        for place in group.visible_rows() {
            let (c, s) = self.rope.at(place.position);
            cos.extend_from_slice(c);
            sin.extend_from_slice(s);
        }
        let table = |values| Tensor::from_vec(values, (rows, half), device)?.to_dtype(dtype);
        Ok((table(cos)?, table(sin)?))
    }
}

/// (a, b) → (a·cos − b·sin, b·cos + a·sin) on x [heads, rows, dim].
fn rotate(x: &Tensor, cos: &Tensor, sin: &Tensor) -> Result<Tensor> {
    let half = cos.dim(1)?;
    let (a, b) = (x.narrow(2, 0, half)?, x.narrow(2, half, half)?);
    let first = (a.broadcast_mul(cos)? - b.broadcast_mul(sin)?)?;
    let second = (b.broadcast_mul(cos)? + a.broadcast_mul(sin)?)?;
    Tensor::cat(&[first, second], 2)
}

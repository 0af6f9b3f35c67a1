//! The operations of a card: candle's kernels, each with a backward ([`super::attached`]), and products by cuBLAS.
//!
//! They run on every device and in every float type, so tests hold them to the others on the CPU. In bf16 norms, softmaxes and
//! log-probabilities are computed in f32. What there is no kernel for is an error that names the operation, never the CPU's.

use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{D, DType, Device, Result, Tensor};
use veriplay_kernels::attention::{Group, HeadSizes};
use veriplay_kernels::logprob::Prediction;
use veriplay_kernels::rope::RopeTable;

use super::attached::{log_softmax, mask, rms_norm, rope, softmax, widened};
use super::{Ops, Site};

/// One micro-batch's operations.
#[derive(Debug)]
pub(crate) struct Fused {
    pub(crate) sizes: HeadSizes,
    pub(crate) rope: Arc<RopeTable>,
    pub(crate) tables: Arc<Tables>,
}

/// What all layers need of the last micro-batch's groups: made and sent to the device once.
#[derive(Debug, Default)]
pub(crate) struct Tables(Mutex<Option<TablesOf>>);

/// Some groups, and the tables of each.
type TablesOf = (Arc<[Group]>, Arc<[GroupTables]>);

/// Of one group.
#[derive(Debug)]
struct GroupTables {
    /// [rows, dim / 2].
    cos: Tensor,
    sin: Tensor,
    /// f32 [rows, rows].
    mask: Tensor,
}

impl Ops for Fused {
    fn norm(&self, x: &Tensor, gain: &Tensor) -> Result<Tensor> {
        rms_norm(&x.contiguous()?, gain, self.sizes.eps)
    }

    fn linear(&self, x: &Tensor, weight: &Tensor, _: Site) -> Result<Tensor> {
        x.matmul(&weight.t()?)
    }

    fn bias(&self, x: &Tensor, bias: &Tensor) -> Result<Tensor> {
        x.broadcast_add(bias)
    }

    fn attention(&self, qkv: &Tensor, gains: Option<&[Tensor; 2]>, groups: &Arc<[Group]>) -> Result<Tensor> {
        let tables = self.tables(groups, qkv.dtype(), qkv.device())?;
        let group = |(group, tables)| self.group(qkv, gains, group, tables);
        let mixed = groups.iter().zip(&*tables).map(group).collect::<Result<Vec<_>>>()?;
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
        let logprobs = log_softmax(&widened(logits)?)?;
        let entropy = (logprobs.exp()? * &logprobs)?.sum(D::Minus1)?.neg()?.index_select(&rows, 0)?;
        let selected = logprobs.index_select(&rows, 0)?.gather(&tokens.unsqueeze(1)?, 1)?.squeeze(1)?;
        Tensor::stack(&[selected, entropy], 0)
    }
}

impl Fused {
    /// Attention of one group: [rows, heads·dim].
    fn group(&self, qkv: &Tensor, gains: Option<&[Tensor; 2]>, group: &Group, tables: &GroupTables) -> Result<Tensor> {
        let HeadSizes { heads, kv_heads, dim, .. } = self.sizes;
        let rows = group.rows().len();
        let qkv = qkv.narrow(0, group.rows().start, rows)?;
        let [q_gain, k_gain] = gains.map_or([None; 2], |[q, k]| [Some(q), Some(k)]);
        let q = self.placed(&qkv, 0, heads, q_gain, tables)?;
        let k = self.placed(&qkv, heads, kv_heads, k_gain, tables)?;
        let v = part(&qkv, heads + kv_heads, kv_heads, dim)?;
        // Query heads that share a key head stack up as more rows of it: keys and values are not repeated.
        let q = q.reshape((kv_heads, heads / kv_heads * rows, dim))?;
        let scores = (widened(&q.matmul(&k.t()?)?)? * f64::from(self.sizes.scale()))?;
        let scores = scores.reshape((kv_heads, heads / kv_heads, rows, rows))?;
        let weights = softmax(&scores.broadcast_add(&tables.mask)?)?.to_dtype(v.dtype())?;
        let mixed = weights.reshape((kv_heads, heads / kv_heads * rows, rows))?.matmul(&v)?;
        mixed.reshape((heads, rows, dim))?.transpose(0, 1)?.reshape((rows, heads * dim))
    }

    /// Some heads of a group, normed where they have a gain, and rotated: [heads, rows, dim].
    fn placed(
        &self,
        qkv: &Tensor,
        first: usize,
        heads: usize,
        gain: Option<&Tensor>,
        tables: &GroupTables,
    ) -> Result<Tensor> {
        let x = part(qkv, first, heads, self.sizes.dim)?;
        let x = gain.map_or_else(|| Ok(x.clone()), |gain| rms_norm(&x, gain, self.sizes.eps))?;
        rope(&x.unsqueeze(0)?, &tables.cos, &tables.sin)?.squeeze(0)
    }

    fn tables(&self, groups: &Arc<[Group]>, dtype: DType, device: &Device) -> Result<Arc<[GroupTables]>> {
        let mut kept = self.tables.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, tables)) = &*kept
            && Arc::ptr_eq(of, groups)
        {
            return Ok(Arc::clone(tables));
        }
        let table = |group: &Group| {
            let positions = group.visible_rows().map(|place| place.position);
            let [cos, sin] = rotations(&self.rope, positions, dtype, device)?;
            Ok(GroupTables { cos, sin, mask: mask(group, DType::F32, device)? })
        };
        let tables: Arc<[GroupTables]> = groups.iter().map(table).collect::<Result<_>>()?;
        *kept = Some((Arc::clone(groups), Arc::clone(&tables)));
        Ok(tables)
    }
}

/// Some heads of raw projections, head by head: [heads, rows, dim].
fn part(qkv: &Tensor, first: usize, heads: usize, dim: usize) -> Result<Tensor> {
    let rows = qkv.dim(0)?;
    qkv.narrow(1, first * dim, heads * dim)?.reshape((rows, heads, dim))?.transpose(0, 1)?.contiguous()
}

/// cos and sin of positions [positions, dim / 2] each.
pub(crate) fn rotations(
    rope: &RopeTable,
    positions: impl Iterator<Item = usize>,
    dtype: DType,
    device: &Device,
) -> Result<[Tensor; 2]> {
    let (mut cos, mut sin, mut rows) = (Vec::new(), Vec::new(), 0);
    for position in positions {
        let (c, s) = rope.at(position);
        cos.extend_from_slice(c);
        sin.extend_from_slice(s);
        rows += 1;
    }
    let half = cos.len() / rows.max(1);
    let table = |values| Tensor::from_vec(values, (rows, half), device)?.to_dtype(dtype);
    Ok([table(cos)?, table(sin)?])
}

/// Heads of one decoding step: raw projections [rows, (heads + 2·kv_heads)·dim] → queries [rows, heads, 1, dim], and keys and values
/// [rows, kv_heads, 1, dim] each. cos and sin are [rows, 1, dim / 2].
pub(crate) fn step_heads(
    sizes: &HeadSizes,
    qkv: &Tensor,
    gains: Option<&[Tensor; 2]>,
    [cos, sin]: &[Tensor; 2],
) -> Result<[Tensor; 3]> {
    let HeadSizes { heads, kv_heads, dim, .. } = *sizes;
    let rows = qkv.dim(0)?;
    let part = |first: usize, count: usize| {
        qkv.narrow(1, first * dim, count * dim)?.contiguous()?.reshape((rows, count, 1, dim))
    };
    let norm = |x: Tensor, gain: Option<&Tensor>| gain.map_or(Ok(x.clone()), |gain| rms_norm(&x, gain, sizes.eps));
    let [q_gain, k_gain] = gains.map_or([None; 2], |[q, k]| [Some(q), Some(k)]);
    let q = rope(&norm(part(0, heads)?, q_gain)?, cos, sin)?;
    let k = rope(&norm(part(heads, kv_heads)?, k_gain)?, cos, sin)?;
    Ok([q, k, part(heads + kv_heads, kv_heads)?])
}

/// Attention of one decoding step: queries [rows, heads, 1, dim] on keys and values [rows, kv_heads, columns, dim], with `mask`
/// [rows, 1, 1, columns] added to the scores; → [rows, heads·dim].
pub(crate) fn step_attention(
    sizes: &HeadSizes,
    q: &Tensor,
    keys: &Tensor,
    values: &Tensor,
    mask: &Tensor,
) -> Result<Tensor> {
    let HeadSizes { heads, kv_heads, dim, .. } = *sizes;
    let rows = q.dim(0)?;
    let q = q.reshape((rows, kv_heads, heads / kv_heads, dim))?;
    let scores = (widened(&q.matmul(&keys.t()?)?)? * f64::from(sizes.scale()))?;
    let weights = softmax(&scores.broadcast_add(mask)?)?.to_dtype(values.dtype())?;
    weights.matmul(values)?.reshape((rows, heads * dim))
}

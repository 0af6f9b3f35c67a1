//! Packed causal attention, with the rotations of queries and keys and, where the model has them, their norms inside, as candle
//! operations: one without gains and one with.

use std::sync::{Arc, OnceLock};

use candle_core::{CpuStorage, CustomOp1, CustomOp3, Error, Layout, Result, Shape, Tensor};
use veriplay_kernels::attention::{Group, HeadSizes, Heads, Saved, attention, attention_backward};
use veriplay_kernels::rope::RopeTable;

use super::slices::{Slice, floats, gradient, output};
use super::space::SharedSpace;

/// Raw projections [rows, (heads + 2·kv_heads)·dim] → [rows, heads·dim].
pub(super) struct Attention {
    pub(super) sizes: HeadSizes,
    pub(super) rope: Arc<RopeTable>,
    pub(super) groups: Arc<[Group]>,
    pub(super) space: SharedSpace,
    /// Log-sum-exp of the scores [rows, heads], from forward.
    pub(super) lse: OnceLock<Vec<f32>>,
}

/// As [`Attention`], with the gain of the queries [dim] and that of the keys [dim] as further arguments.
pub(super) struct NormedAttention(pub(super) Attention);

impl Attention {
    fn forward(&self, qkv: &[f32], rows: usize, heads: &Heads<'_>) -> (CpuStorage, Shape) {
        let width = heads.sizes.heads * heads.sizes.dim;
        let (mut out, mut lse) = (vec![0.0; rows * width], vec![0.0; rows * heads.sizes.heads]);
        let space = &mut self.space.lock().attention;
        attention(&mut out, &mut lse, qkv, &self.groups, heads, space);
        self.lse.get_or_init(|| lse);
        output(out, (rows, width))
    }

    /// The gradient of `qkv`; adds to those of the gains.
    fn backward(
        &self,
        [qkv, out, dout]: [&Tensor; 3],
        dgains: (&mut [f32], &mut [f32]),
        heads: &Heads<'_>,
    ) -> Result<Option<Tensor>> {
        let lse = self.lse.get().ok_or_else(|| Error::Msg("attention went backward before forward".to_owned()))?;
        let (raw, out, dout) = (Slice::of(qkv)?, Slice::of(out)?, Slice::of(dout)?);
        let mut dqkv = vec![0.0; raw.len()];
        let saved = Saved { qkv: &raw, out: &out, lse, dout: &dout };
        let space = &mut self.space.lock().attention;
        attention_backward(&mut dqkv, dgains, &saved, &self.groups, heads, space);
        gradient(dqkv, qkv.shape())
    }
}

impl CustomOp1 for Attention {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn cpu_fwd(&self, qkv: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (rows, _) = layout.shape().dims2()?;
        Ok(self.forward(floats(qkv, layout)?, rows, &self.sizes.with(None, &self.rope)))
    }

    fn bwd(&self, qkv: &Tensor, out: &Tensor, dout: &Tensor) -> Result<Option<Tensor>> {
        self.backward([qkv, out, dout], (&mut [], &mut []), &self.sizes.with(None, &self.rope))
    }
}

impl CustomOp3 for NormedAttention {
    fn name(&self) -> &'static str {
        "normed-attention"
    }

    fn cpu_fwd(
        &self,
        qkv: &CpuStorage,
        qkv_l: &Layout,
        q_gain: &CpuStorage,
        q_gain_l: &Layout,
        k_gain: &CpuStorage,
        k_gain_l: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (rows, _) = qkv_l.shape().dims2()?;
        let gains = [floats(q_gain, q_gain_l)?, floats(k_gain, k_gain_l)?];
        Ok(self.0.forward(floats(qkv, qkv_l)?, rows, &self.0.sizes.with(Some(gains), &self.0.rope)))
    }

    fn bwd(
        &self,
        qkv: &Tensor,
        q_gain: &Tensor,
        k_gain: &Tensor,
        out: &Tensor,
        dout: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (q_gains, k_gains) = (Slice::of(q_gain)?, Slice::of(k_gain)?);
        let heads = self.0.sizes.with(Some([&q_gains, &k_gains]), &self.0.rope);
        let (mut dq, mut dk) = (vec![0.0; q_gains.len()], vec![0.0; k_gains.len()]);
        let dqkv = self.0.backward([qkv, out, dout], (&mut dq, &mut dk), &heads)?;
        Ok((dqkv, gradient(dq, q_gain.shape())?, gradient(dk, k_gain.shape())?))
    }
}

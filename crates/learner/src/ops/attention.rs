//! Packed causal attention, with the norms and rotations of queries and keys inside, as a candle operation.

use std::sync::{Arc, OnceLock};

use candle_core::{CpuStorage, CustomOp3, Error, Layout, Result, Shape, Tensor};

use super::slices::{Slice, floats, gradient, output};
use super::space::SharedSpace;
use crate::kernels::attention::{Group, HeadSizes, Saved, attention, attention_backward};
use crate::kernels::rope::RopeTable;

/// Raw projections [rows, (heads + 2·kv_heads)·dim], gain of the queries [dim], gain of the keys [dim] → [rows, heads·dim].
pub(super) struct Attention {
    pub(super) sizes: HeadSizes,
    pub(super) rope: Arc<RopeTable>,
    pub(super) groups: Arc<[Group]>,
    pub(super) space: SharedSpace,
    /// Log-sum-exp of the scores [rows, heads], from forward.
    pub(super) lse: OnceLock<Vec<f32>>,
}

impl CustomOp3 for Attention {
    fn name(&self) -> &'static str {
        "attention"
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
        let heads = self.sizes.with(floats(q_gain, q_gain_l)?, floats(k_gain, k_gain_l)?, &self.rope);
        let width = heads.sizes.heads * heads.sizes.dim;
        let (mut out, mut lse) = (vec![0.0; rows * width], vec![0.0; rows * heads.sizes.heads]);
        let scratch = &mut self.space.lock().attention;
        attention(&mut out, &mut lse, floats(qkv, qkv_l)?, &self.groups, &heads, scratch);
        self.lse.get_or_init(|| lse);
        Ok(output(out, (rows, width)))
    }

    fn bwd(
        &self,
        qkv: &Tensor,
        q_gain: &Tensor,
        k_gain: &Tensor,
        out: &Tensor,
        dout: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let lse = self.lse.get().ok_or_else(|| Error::Msg("attention went backward before forward".to_owned()))?;
        let (raw, out, dout) = (Slice::of(qkv)?, Slice::of(out)?, Slice::of(dout)?);
        let (q_gains, k_gains) = (Slice::of(q_gain)?, Slice::of(k_gain)?);
        let heads = self.sizes.with(&q_gains, &k_gains, &self.rope);
        let mut dqkv = vec![0.0; raw.len()];
        let (mut dq, mut dk) = (vec![0.0; q_gains.len()], vec![0.0; k_gains.len()]);
        let saved = Saved { qkv: &raw, out: &out, lse, dout: &dout };
        let scratch = &mut self.space.lock().attention;
        attention_backward(&mut dqkv, (&mut dq, &mut dk), &saved, &self.groups, &heads, scratch);
        Ok((gradient(dqkv, qkv.shape())?, gradient(dq, q_gain.shape())?, gradient(dk, k_gain.shape())?))
    }
}

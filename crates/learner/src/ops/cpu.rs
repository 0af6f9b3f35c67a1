//! The operations of the CPU: our kernels as candle operations with a backward.

use std::sync::{Arc, Mutex, OnceLock};

use candle_core::{CpuStorage, CustomOp1, CustomOp2, CustomOp3, Error, Layout, Result, Shape, Tensor};
use veriplay_kernels::attention::{AttentionSaved, Group, HeadSizes, Heads, attention, attention_backward};
use veriplay_kernels::layers::{RopeTable, rms_norm, rms_norm_backward};
use veriplay_kernels::logprob::{Prediction, selected_logprobs, selected_logprobs_backward};

use super::products::{AddBias, LinearOp, Mlp, PackedModel, SharedSpace};
use super::slices::{Slice, floats, gradient, output};
use super::{LinearSite, Ops};

/// One thread's operations.
#[derive(Debug)]
pub(crate) struct CpuOps {
    pub(crate) sizes: HeadSizes,
    pub(crate) rope: Arc<RopeTable>,
    /// Made from the weights that the operations are called with.
    pub(crate) packed: Arc<PackedModel>,
    pub(crate) space: SharedSpace,
}

impl Ops for CpuOps {
    fn norm(&self, x: &Tensor, gain: &Tensor) -> Result<Tensor> {
        x.apply_op2(gain, RmsNorm { eps: self.sizes.eps })
    }

    fn linear(&self, x: &Tensor, weight: &Tensor, site: LinearSite) -> Result<Tensor> {
        let packed = match site {
            LinearSite::Qkv(layer) => &self.packed.layers[layer].qkv,
            LinearSite::Output(layer) => &self.packed.layers[layer].output,
            LinearSite::Head => &self.packed.head,
        };
        x.apply_op2(weight, LinearOp { packed: Arc::clone(packed), space: self.space.clone() })
    }

    fn bias(&self, x: &Tensor, bias: &Tensor) -> Result<Tensor> {
        x.apply_op2(bias, AddBias)
    }

    fn attention(&self, qkv: &Tensor, gains: Option<&[Tensor; 2]>, groups: &Arc<[Group]>) -> Result<Tensor> {
        let op = Attention {
            sizes: self.sizes,
            rope: Arc::clone(&self.rope),
            groups: Arc::clone(groups),
            space: self.space.clone(),
            lse: OnceLock::new(),
        };
        match gains {
            Some([query, key]) => qkv.apply_op3(query, key, NormedAttention(op)),
            None => qkv.apply_op1(op),
        }
    }

    fn mlp(&self, x: &Tensor, gate_up: &Tensor, down: &Tensor, layer: usize) -> Result<Tensor> {
        let packed = &self.packed.layers[layer];
        let op = Mlp {
            gate_up: Arc::clone(&packed.gate_up),
            down: Arc::clone(&packed.down),
            space: self.space.clone(),
            kept: Mutex::default(),
            tracked: x.track_op() || gate_up.track_op() || down.track_op(),
        };
        x.apply_op3(gate_up, down, op)
    }

    fn logprobs(&self, logits: &Tensor, predictions: &[Prediction]) -> Result<Tensor> {
        logits.apply_op1(SelectedLogprob { predictions: predictions.to_vec(), space: self.space.clone() })
    }
}

/// x [rows, width], gain [width] → [rows, width].
pub(super) struct RmsNorm {
    pub(super) eps: f32,
}

impl CustomOp2 for RmsNorm {
    fn name(&self) -> &'static str {
        "rms-norm"
    }

    fn cpu_fwd(&self, x: &CpuStorage, xl: &Layout, gain: &CpuStorage, gl: &Layout) -> Result<(CpuStorage, Shape)> {
        let (x, gain) = (floats(x, xl)?, floats(gain, gl)?);
        let mut out = vec![0.0; x.len()];
        rms_norm(&mut out, x, gain, self.eps);
        Ok(output(out, xl.shape()))
    }

    fn bwd(&self, x: &Tensor, gain: &Tensor, _: &Tensor, dy: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let (xs, gains, dy) = (Slice::new(x)?, Slice::new(gain)?, Slice::new(dy)?);
        let (mut dx, mut dgain) = (vec![0.0; xs.len()], vec![0.0; gains.len()]);
        rms_norm_backward(&mut dx, &mut dgain, &xs, &gains, &dy, self.eps);
        Ok((gradient(dx, x.shape())?, gradient(dgain, gain.shape())?))
    }
}

/// Logits [rows, vocab] → log-probability (row 0) and entropy (row 1) of every prediction [2, predictions].
pub(super) struct SelectedLogprob {
    /// Sorted by row.
    pub(super) predictions: Vec<Prediction>,
    pub(super) space: SharedSpace,
}

impl CustomOp1 for SelectedLogprob {
    fn name(&self) -> &'static str {
        "selected-logprob"
    }

    fn cpu_fwd(&self, logits: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (_, vocab) = layout.shape().dims2()?;
        let count = self.predictions.len();
        let mut out = vec![0.0; 2 * count];
        let row = &mut self.space.lock().inner;
        selected_logprobs(out.split_at_mut(count), floats(logits, layout)?, &self.predictions, row.resize(vocab));
        Ok(output(out, (2, count)))
    }

    fn bwd(&self, logits: &Tensor, _: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        let (values, grad) = (Slice::new(logits)?, Slice::new(grad)?);
        let mut dlogits = vec![0.0; values.len()];
        let halves = grad.split_at(self.predictions.len());
        selected_logprobs_backward(&mut dlogits, &values, logits.dim(1)?, &self.predictions, halves);
        gradient(dlogits, logits.shape())
    }
}

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
        let (raw, out, dout) = (Slice::new(qkv)?, Slice::new(out)?, Slice::new(dout)?);
        let mut dqkv = vec![0.0; raw.len()];
        let saved = AttentionSaved { qkv: &raw, out: &out, lse, dout: &dout };
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
        Ok(self.forward(floats(qkv, layout)?, rows, &self.sizes.layer(None, &self.rope)))
    }

    fn bwd(&self, qkv: &Tensor, out: &Tensor, dout: &Tensor) -> Result<Option<Tensor>> {
        self.backward([qkv, out, dout], (&mut [], &mut []), &self.sizes.layer(None, &self.rope))
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
        Ok(self.0.forward(floats(qkv, qkv_l)?, rows, &self.0.sizes.layer(Some(gains), &self.0.rope)))
    }

    fn bwd(
        &self,
        qkv: &Tensor,
        q_gain: &Tensor,
        k_gain: &Tensor,
        out: &Tensor,
        dout: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (q_gains, k_gains) = (Slice::new(q_gain)?, Slice::new(k_gain)?);
        let heads = self.0.sizes.layer(Some([&q_gains, &k_gains]), &self.0.rope);
        let (mut dq, mut dk) = (vec![0.0; q_gains.len()], vec![0.0; k_gains.len()]);
        let dqkv = self.0.backward([qkv, out, dout], (&mut dq, &mut dk), &heads)?;
        Ok((dqkv, gradient(dq, q_gain.shape())?, gradient(dk, k_gain.shape())?))
    }
}

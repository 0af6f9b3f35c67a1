//! The operations of the CPU: our kernels as candle operations with a backward.

use std::sync::{Arc, Mutex, OnceLock};

use candle_core::{CpuStorage, CustomOp1, CustomOp2, CustomOp3, DType, Error, Layout, Result, Shape, Tensor};
use veriplay_kernels::attention::{
    AttentionGroup, AttentionSaved, HeadSizes, LayerAttention, attention, attention_backward,
};
use veriplay_kernels::layers::{RopeTable, rms_norm, rms_norm_backward};
use veriplay_kernels::logprob::{Prediction, selected_logprobs, selected_logprobs_backward};

use super::products::{AddBias, LinearOp, Mlp, PackedModel, SharedWorkspace};
use super::slices::{TensorSlice, floats, gradient, output};
use super::{LinearSite, Ops};
use crate::config::{LayerKind, RopeTables};
use crate::linear::Linear;

#[derive(Debug)]
pub(crate) struct CpuOps {
    pub(crate) sizes: HeadSizes,
    pub(crate) ropes: Arc<RopeTables>,
    /// Made from the weights that the operations are called with.
    pub(crate) packed: Arc<PackedModel>,
    pub(crate) workspace: SharedWorkspace,
}

impl Ops for CpuOps {
    fn norm(&self, x: &Tensor, gain: &Tensor) -> Result<Tensor> {
        x.apply_op2(gain, RmsNorm { eps: self.sizes.eps })
    }

    fn linear(&self, x: &Tensor, linear: &Linear, site: LinearSite) -> Result<Tensor> {
        let packed = match site {
            LinearSite::Qkv(layer) => &self.packed.layers[layer].qkv,
            LinearSite::Output(layer) => &self.packed.layers[layer].output,
            LinearSite::Head => &self.packed.head,
        };
        x.apply_op2(linear.merged()?, LinearOp { packed: Arc::clone(packed), workspace: self.workspace.clone() })
    }

    fn bias(&self, x: &Tensor, bias: &Tensor) -> Result<Tensor> {
        x.apply_op2(bias, AddBias)
    }

    fn attention(
        &self,
        qkv: &Tensor,
        gains: Option<&[Tensor; 2]>,
        kind: LayerKind,
        groups: &Arc<[AttentionGroup]>,
    ) -> Result<Tensor> {
        let op = Attention {
            sizes: self.sizes,
            rope: Arc::clone(self.ropes.of(kind)),
            groups: Arc::clone(groups),
            workspace: self.workspace.clone(),
            lse: OnceLock::new(),
        };
        match gains {
            Some([query, key]) => qkv.apply_op3(query, key, op),
            None => {
                let empty = Tensor::zeros(0, DType::F32, qkv.device())?;
                qkv.apply_op3(&empty, &empty, op)
            }
        }
    }

    fn mlp(&self, x: &Tensor, gate_up: &Linear, down: &Linear, layer: usize) -> Result<Tensor> {
        let (gate_up, down) = (gate_up.merged()?, down.merged()?);
        let packed = &self.packed.layers[layer];
        let op = Mlp {
            gate_up: Arc::clone(&packed.gate_up),
            down: Arc::clone(&packed.down),
            workspace: self.workspace.clone(),
            kept: Mutex::default(),
            tracked: x.track_op() || gate_up.track_op() || down.track_op(),
        };
        x.apply_op3(gate_up, down, op)
    }

    fn logprobs(&self, logits: &Tensor, predictions: &[Prediction]) -> Result<Tensor> {
        logits.apply_op1(SelectedLogprob { predictions: predictions.to_vec(), workspace: self.workspace.clone() })
    }
}

/// x [rows, width], gain [width] → [rows, width].
struct RmsNorm {
    eps: f32,
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
        let (xs, gains, dy) = (TensorSlice::new(x)?, TensorSlice::new(gain)?, TensorSlice::new(dy)?);
        let (mut dx, mut dgain) = (vec![0.0; xs.len()], vec![0.0; gains.len()]);
        rms_norm_backward(&mut dx, &mut dgain, &xs, &gains, &dy, self.eps);
        Ok((gradient(dx, x.shape())?, gradient(dgain, gain.shape())?))
    }
}

/// Logits [rows, vocab] → log-probability (row 0) and entropy (row 1) of every prediction [2, predictions].
struct SelectedLogprob {
    /// Sorted by row.
    predictions: Vec<Prediction>,
    workspace: SharedWorkspace,
}

impl CustomOp1 for SelectedLogprob {
    fn name(&self) -> &'static str {
        "selected-logprob"
    }

    fn cpu_fwd(&self, logits: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (_, vocab) = layout.shape().dims2()?;
        let count = self.predictions.len();
        let mut out = vec![0.0; 2 * count];
        let row = &mut self.workspace.lock().inner;
        selected_logprobs(out.split_at_mut(count), floats(logits, layout)?, &self.predictions, row.resize(vocab));
        Ok(output(out, (2, count)))
    }

    fn bwd(&self, logits: &Tensor, _: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        let (values, grad) = (TensorSlice::new(logits)?, TensorSlice::new(grad)?);
        let mut dlogits = vec![0.0; values.len()];
        let halves = grad.split_at(self.predictions.len());
        selected_logprobs_backward(&mut dlogits, &values, logits.dim(1)?, &self.predictions, halves);
        gradient(dlogits, logits.shape())
    }
}

/// Packed causal attention, with the norms and rotations of queries and keys inside: raw projections
/// [rows, (heads + 2·kv_heads)·dim], the gain of the queries `[dim]` and that of the keys `[dim]`, which are empty where neither is
/// normalised → [rows, heads·dim].
struct Attention {
    sizes: HeadSizes,
    rope: Arc<RopeTable>,
    groups: Arc<[AttentionGroup]>,
    workspace: SharedWorkspace,
    /// Log-sum-exp of the scores [rows, heads], from forward.
    lse: OnceLock<Vec<f32>>,
}

impl Attention {
    fn heads<'a>(&'a self, gains: [&'a [f32]; 2]) -> LayerAttention<'a> {
        self.sizes.layer((!gains[0].is_empty()).then_some(gains), &self.rope)
    }
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
        let ((rows, _), HeadSizes { heads, dim, .. }) = (qkv_l.shape().dims2()?, self.sizes);
        let (mut out, mut lse) = (vec![0.0; rows * heads * dim], vec![0.0; rows * heads]);
        let layer = self.heads([floats(q_gain, q_gain_l)?, floats(k_gain, k_gain_l)?]);
        let workspace = &mut self.workspace.lock().attention;
        attention(&mut out, &mut lse, floats(qkv, qkv_l)?, &self.groups, &layer, workspace);
        self.lse.get_or_init(|| lse);
        Ok(output(out, (rows, heads * dim)))
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
        let (raw, out, dout) = (TensorSlice::new(qkv)?, TensorSlice::new(out)?, TensorSlice::new(dout)?);
        let (q_gains, k_gains) = (TensorSlice::new(q_gain)?, TensorSlice::new(k_gain)?);
        let (mut dqkv, mut dq, mut dk) = (vec![0.0; raw.len()], vec![0.0; q_gains.len()], vec![0.0; k_gains.len()]);
        let saved = AttentionSaved { qkv: &raw, out: &out, lse, dout: &dout };
        let (layer, workspace) = (self.heads([&q_gains, &k_gains]), &mut self.workspace.lock().attention);
        attention_backward(&mut dqkv, (&mut dq, &mut dk), &saved, &self.groups, &layer, workspace);
        let dqkv = gradient(dqkv, qkv.shape())?;
        if q_gains.is_empty() {
            return Ok((dqkv, None, None));
        }
        Ok((dqkv, gradient(dq, q_gain.shape())?, gradient(dk, k_gain.shape())?))
    }
}

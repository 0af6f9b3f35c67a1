//! The operations of the CPU: our kernels as candle operations with a backward.

use std::sync::{Arc, Mutex, OnceLock};

use candle_core::{CpuStorage, CustomOp1, CustomOp2, Layout, Result, Shape, Tensor};
use veriplay_kernels::attention::{Group, HeadSizes};
use veriplay_kernels::logprob::{Prediction, selected, selected_backward};
use veriplay_kernels::norm::{rms_norm, rms_norm_backward};
use veriplay_kernels::rope::RopeTable;

use super::attention::{Attention, NormedAttention};
use super::packed::PackedModel;
use super::products::{AddBias, LinearOp, Mlp};
use super::slices::{Slice, floats, gradient, output};
use super::space::SharedSpace;
use super::{Ops, Site};

/// One thread's operations.
#[derive(Debug)]
pub(crate) struct Kernels {
    pub(crate) sizes: HeadSizes,
    pub(crate) rope: Arc<RopeTable>,
    /// Made from the weights that the operations are called with.
    pub(crate) packed: Arc<PackedModel>,
    pub(crate) space: SharedSpace,
}

impl Ops for Kernels {
    fn norm(&self, x: &Tensor, gain: &Tensor) -> Result<Tensor> {
        x.apply_op2(gain, RmsNorm { eps: self.sizes.eps })
    }

    fn linear(&self, x: &Tensor, weight: &Tensor, site: Site) -> Result<Tensor> {
        let packed = match site {
            Site::Qkv(layer) => &self.packed.layers[layer].qkv,
            Site::Output(layer) => &self.packed.layers[layer].output,
            Site::Head => &self.packed.head,
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
        let (xs, gains, dy) = (Slice::of(x)?, Slice::of(gain)?, Slice::of(dy)?);
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
        selected(out.split_at_mut(count), floats(logits, layout)?, &self.predictions, row.resize(vocab));
        Ok(output(out, (2, count)))
    }

    fn bwd(&self, logits: &Tensor, _: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        let (values, grad) = (Slice::of(logits)?, Slice::of(grad)?);
        let mut dlogits = vec![0.0; values.len()];
        let halves = grad.split_at(self.predictions.len());
        selected_backward(&mut dlogits, &values, logits.dim(1)?, &self.predictions, halves);
        gradient(dlogits, logits.shape())
    }
}

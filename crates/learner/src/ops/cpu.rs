//! The operations of the CPU: our kernels as candle operations with a backward.

use std::sync::{Arc, Mutex, OnceLock};

use candle_core::{Result, Tensor};

use super::attention::{Attention, NormedAttention};
use super::bias::AddBias;
use super::linear::LinearOp;
use super::logprob::SelectedLogprob;
use super::mlp::Mlp;
use super::norm::RmsNorm;
use super::space::SharedSpace;
use super::{Ops, Site};
use crate::model::packed::PackedModel;
use veriplay_kernels::attention::{Group, HeadSizes};
use veriplay_kernels::logprob::Prediction;
use veriplay_kernels::rope::RopeTable;

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

//! The matrices of a model, packed for [`veriplay_kernels::gemm`]: once per optimizer step, read by all threads.

use std::sync::Arc;

use candle_core::{Result, Tensor};
use veriplay_kernels::gemm::{self, Packed};
use veriplay_kernels::thread_pool::ThreadPool;

use super::slices::Slice;

/// What a packed model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Forward only: rollouts and scores.
    Forward,
    /// Forward and backward.
    Training,
}

/// A matrix [out, in], packed for y = x·Wᵀ and, when training, for dx = dy·W.
#[derive(Debug, Default)]
pub(crate) struct Linear {
    /// For y = x·Wᵀ.
    pub(crate) forward: Packed,
    /// For dx = dy·W.
    pub(crate) backward: Packed,
}

impl Linear {
    fn new(weight: &Tensor, purpose: Purpose) -> Result<Arc<Self>> {
        let (outputs, inputs) = weight.dims2()?;
        let weight = Slice::of(weight)?;
        let mut linear = Self::default();
        linear.forward.pack(gemm::View::rows(&weight, inputs).transposed(), inputs, outputs);
        if purpose == Purpose::Training {
            linear.backward.pack(gemm::View::rows(&weight, inputs), outputs, inputs);
        }
        Ok(Arc::new(linear))
    }
}

/// The packed matrices of one layer.
#[derive(Debug)]
pub(crate) struct PackedLayer {
    pub(crate) qkv: Arc<Linear>,
    pub(crate) output: Arc<Linear>,
    pub(crate) gate_up: Arc<Linear>,
    pub(crate) down: Arc<Linear>,
}

/// The packed matrices of a model.
#[derive(Debug)]
pub(crate) struct PackedModel {
    pub(crate) layers: Vec<PackedLayer>,
    pub(crate) head: Arc<Linear>,
}

impl PackedModel {
    /// Packs every matrix, which the threads of `pool` share: the head, and of each layer its joined query, key and value projections,
    /// its output projection, its joined gate and up projections, and its down projection.
    pub(crate) fn new(
        head: &Tensor,
        layers: impl Iterator<Item = [Tensor; 4]>,
        purpose: Purpose,
        pool: &ThreadPool,
    ) -> Result<Self> {
        // The head first: it is the largest by far.
        let weights: Vec<Tensor> = std::iter::once(head.clone()).chain(layers.flatten()).collect();
        let packed: Vec<Arc<Linear>> =
            pool.map(&weights, |weight| Linear::new(weight, purpose)).into_iter().collect::<Result<_>>()?;
        let (head, layers) = (&packed[0], packed[1..].as_chunks().0);
        let layer = |[qkv, output, gate_up, down]: [Arc<Linear>; 4]| PackedLayer { qkv, output, gate_up, down };
        Ok(Self { head: Arc::clone(head), layers: layers.iter().cloned().map(layer).collect() })
    }
}

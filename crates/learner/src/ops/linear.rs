//! y = x·Wᵀ as a candle operation, on weights packed once per optimizer step.
//!
//! Why not candle's matmul: it packs both sides at every call, and gemm's AVX-512 kernels are behind a feature that candle leaves
//! off. [`veriplay_kernels::gemm`] ran at 150 to 210 GFLOP/s a core on this model's shapes where candle's matmul ran at about 60 (AMD
//! EPYC, AVX-512). To repeat it: `cargo run -p veriplay-learner --example speed -- matmul=1`, which times candle's matmul beside a
//! whole forward pass that is nearly all products (46 and at least 115 on a core shared with other work).

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp2, Error, Layout, Result, Shape, Tensor};

use super::slices::{Slice, floats, gradient, output};
use super::space::{SharedSpace, Space};
use crate::model::packed::Linear;
use veriplay_kernels::gemm::{Target, View, multiply};

/// x [rows, inputs], W [outputs, inputs] → [rows, outputs].
///
/// Invariant: `packed` was made from W's present values, so forward does not read W; it is an argument because its gradient is.
pub(super) struct LinearOp {
    pub(super) packed: Arc<Linear>,
    pub(super) space: SharedSpace,
}

impl CustomOp2 for LinearOp {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn cpu_fwd(&self, x: &CpuStorage, xl: &Layout, _: &CpuStorage, wl: &Layout) -> Result<(CpuStorage, Shape)> {
        let ((rows, inputs), (outputs, _)) = (xl.shape().dims2()?, wl.shape().dims2()?);
        check(&self.packed, wl.shape())?;
        let mut y = vec![0.0; rows * outputs];
        let x = View::rows(floats(x, xl)?, inputs);
        multiply(rows, x, &self.packed.forward, Target::set(&mut y, outputs), &mut self.space.lock().products);
        Ok(output(y, (rows, outputs)))
    }

    fn bwd(&self, x: &Tensor, w: &Tensor, _: &Tensor, dy: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let (rows, (outputs, inputs)) = (x.dim(0)?, w.dims2()?);
        let (xs, dy) = (Slice::of(x)?, Slice::of(dy)?);
        let space = &mut *self.space.lock();
        let mut dx = vec![0.0; rows * inputs];
        let target = Target::set(&mut dx, inputs);
        multiply(rows, View::rows(&dy, outputs), &self.packed.backward, target, &mut space.products);
        let dx = gradient(dx, x.shape())?;
        // A frozen matrix, under LoRA, wants no gradient.
        if !w.track_op() {
            return Ok((dx, None));
        }
        Ok((dx, gradient(weight_gradient(&dy, outputs, &xs, inputs, space), w.shape())?))
    }
}

/// Refuses a matrix that is not the packed one.
pub(super) fn check(packed: &Linear, shape: &Shape) -> Result<()> {
    let (outputs, inputs) = shape.dims2()?;
    if packed.forward.shape() == (inputs, outputs) {
        return Ok(());
    }
    Err(Error::Msg(format!("a matrix of shape {shape:?} was packed as {:?}", packed.forward.shape())))
}

/// dW = dyᵀ · x for dy [rows, outputs] and x [rows, inputs].
pub(super) fn weight_gradient(dy: &[f32], outputs: usize, x: &[f32], inputs: usize, space: &mut Space) -> Vec<f32> {
    let mut dw = vec![0.0; outputs * inputs];
    space.right.pack(View::rows(x, inputs), dy.len() / outputs, inputs);
    let dy = View::rows(dy, outputs).transposed();
    multiply(outputs, dy, &space.right, Target::set(&mut dw, inputs), &mut space.products);
    dw
}

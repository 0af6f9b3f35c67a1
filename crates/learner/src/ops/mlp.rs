//! The SwiGLU layer as one candle operation: y = (silu(x·Gᵀ) ∘ x·Uᵀ)·Dᵀ.
//!
//! One operation and not four, because its inner tensors are the widest of the model: as nodes of the graph each would cost a
//! tensor of zeros, a sum and two allocations more in backward.

use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp3, Layout, Result, Shape, Tensor};

use super::linear::{check, weight_gradient};
use super::slices::{Slice, floats, gradient, output};
use super::space::{SharedSpace, Space};
use crate::model::packed::Linear;
use veriplay_kernels::gemm::{Target, View, multiply};
use veriplay_kernels::simd::Buffer;
use veriplay_kernels::swiglu::{swiglu, swiglu_backward};

/// x [rows, hidden], gate and up projections [2·inner, hidden], down projection [hidden, inner] → [rows, hidden].
///
/// Invariant: as for [`super::linear::LinearOp`].
pub(super) struct Mlp {
    pub(super) gate_up: Arc<Linear>,
    pub(super) down: Arc<Linear>,
    pub(super) space: SharedSpace,
    /// Gate and up of forward, for backward; empty when nothing is tracked.
    pub(super) kept: Mutex<Option<Buffer>>,
    pub(super) tracked: bool,
}

impl Mlp {
    /// x·Gᵀ and x·Uᵀ, side by side.
    fn project(&self, x: &[f32], rows: usize, inner: usize, space: &mut Space) -> Buffer {
        let mut gate_up = space.take();
        let target = Target::set(gate_up.resize(rows * 2 * inner), 2 * inner);
        multiply(rows, View::rows(x, x.len() / rows), &self.gate_up.forward, target, &mut space.products);
        gate_up
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Option<Buffer>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CustomOp3 for Mlp {
    fn name(&self) -> &'static str {
        "mlp"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        xl: &Layout,
        _: &CpuStorage,
        gate_up_l: &Layout,
        _: &CpuStorage,
        down_l: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        check(&self.gate_up, gate_up_l.shape())?;
        check(&self.down, down_l.shape())?;
        let (rows, hidden) = xl.shape().dims2()?;
        let inner = down_l.shape().dims2()?.1;
        let space = &mut *self.space.lock();
        let gate_up = self.project(floats(x, xl)?, rows, inner, space);
        let activated = space.inner.resize(rows * inner);
        swiglu(activated, gate_up.as_slice(), inner);
        let mut y = vec![0.0; rows * hidden];
        let target = Target::set(&mut y, hidden);
        multiply(rows, View::rows(activated, inner), &self.down.forward, target, &mut space.products);
        if self.tracked {
            *self.kept() = Some(gate_up);
        } else {
            space.give(gate_up);
        }
        Ok(output(y, (rows, hidden)))
    }

    fn bwd(
        &self,
        x: &Tensor,
        gate_up: &Tensor,
        down: &Tensor,
        _: &Tensor,
        dy: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let ((rows, hidden), inner) = (x.dims2()?, down.dim(1)?);
        let (xs, dy) = (Slice::of(x)?, Slice::of(dy)?);
        let space = &mut *self.space.lock();
        // Backward overwrites what was kept: a second one computes it again.
        let kept = self.kept().take();
        let mut pair = kept.unwrap_or_else(|| self.project(&xs, rows, inner, space));
        let mut activated = space.take();
        let dactivated = Target::set(activated.resize(rows * inner), inner);
        multiply(rows, View::rows(&dy, hidden), &self.down.backward, dactivated, &mut space.products);
        swiglu_backward(pair.as_mut_slice(), activated.as_mut_slice(), inner);
        // A frozen matrix, under LoRA, wants no gradient.
        let mut of_weight = |weight: &Tensor, dy: &[f32], outputs: usize, x: &[f32], inputs: usize| {
            let wanted = weight.track_op().then(|| weight_gradient(dy, outputs, x, inputs, space));
            wanted.map_or(Ok(None), |dw| gradient(dw, weight.shape()))
        };
        let ddown = of_weight(down, &dy, hidden, activated.as_slice(), inner)?;
        let dpair = pair.as_slice();
        let dgate_up = of_weight(gate_up, dpair, 2 * inner, &xs, hidden)?;
        let mut dx = vec![0.0; rows * hidden];
        let target = Target::set(&mut dx, hidden);
        multiply(rows, View::rows(dpair, 2 * inner), &self.gate_up.backward, target, &mut space.products);
        space.give(pair);
        space.give(activated);
        Ok((gradient(dx, x.shape())?, dgate_up, ddown))
    }
}

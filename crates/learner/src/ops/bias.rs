//! A bias added to every row, as a candle operation: candle's own sum over rows, which its backward needs, divides for every element.

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor};

use super::slices::{Slice, floats, gradient, output};
use veriplay_kernels::bias::{add_bias, bias_backward};

/// x [rows, width], b [width] → [rows, width].
pub(super) struct AddBias;

impl CustomOp2 for AddBias {
    fn name(&self) -> &'static str {
        "add-bias"
    }

    fn cpu_fwd(&self, x: &CpuStorage, xl: &Layout, bias: &CpuStorage, bl: &Layout) -> Result<(CpuStorage, Shape)> {
        let mut y = floats(x, xl)?.to_vec();
        add_bias(&mut y, floats(bias, bl)?);
        Ok(output(y, xl.shape()))
    }

    fn bwd(&self, _: &Tensor, bias: &Tensor, _: &Tensor, dy: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let mut dbias = vec![0.0; bias.elem_count()];
        bias_backward(&mut dbias, &Slice::of(dy)?);
        Ok((Some(dy.clone()), gradient(dbias, bias.shape())?))
    }
}

//! RMSNorm with a gain as a candle operation.

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor};

use super::slices::{Slice, floats, gradient, output};
use veriplay_kernels::norm::{rms_norm, rms_norm_backward};

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

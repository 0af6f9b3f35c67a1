//! Candle's fast kernels with a backward: `rms_norm`, `softmax_last_dim` and `rope` have none, and would cut the graph in silence.
//!
//! The kernel runs on detached arguments; its result is then attached to the graph as the output of an operation whose backward is
//! ours. Attaching copies the result on its device; where nothing is tracked, as in rollouts, nothing is copied.

use candle_core::backend::BackendStorage;
use candle_core::{
    CpuStorage, CudaStorage, CustomOp1, CustomOp2, D, DType, Device, Error, Layout, MetalStorage, Result, Shape,
    Storage, Tensor,
};
use veriplay_kernels::attention::Group;

/// The result of a kernel, as an operation gives it back.
struct Computed {
    name: &'static str,
    /// Contiguous.
    result: Tensor,
}

impl Computed {
    fn missing(&self, device: &str) -> Error {
        Error::Msg(format!("`{}` was computed elsewhere than on the {device}, where its argument is", self.name))
    }

    fn cpu(&self) -> Result<(CpuStorage, Shape)> {
        let (storage, layout) = self.result.storage_and_layout();
        let Storage::Cpu(cpu) = &*storage else { return Err(self.missing("CPU")) };
        Ok((cpu.try_clone(layout)?, self.result.shape().clone()))
    }

    fn cuda(&self) -> Result<(CudaStorage, Shape)> {
        let (storage, layout) = self.result.storage_and_layout();
        let Storage::Cuda(cuda) = &*storage else { return Err(self.missing("card")) };
        Ok((cuda.try_clone(layout)?, self.result.shape().clone()))
    }
}

/// The gradient of an argument from (argument, result, gradient of the result).
type Backward1 = Box<dyn Fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor> + Send + Sync>;

struct Attached1(Computed, Backward1);

impl CustomOp1 for Attached1 {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        self.0.cpu()
    }

    fn cuda_fwd(&self, _: &CudaStorage, _: &Layout) -> Result<(CudaStorage, Shape)> {
        self.0.cuda()
    }

    fn metal_fwd(&self, _: &MetalStorage, _: &Layout) -> Result<(MetalStorage, Shape)> {
        Err(self.0.missing("CPU or an NVIDIA card"))
    }

    fn bwd(&self, x: &Tensor, y: &Tensor, dy: &Tensor) -> Result<Option<Tensor>> {
        self.1(x, y, dy).map(Some)
    }
}

struct AttachedNorm(Computed, f64);

impl CustomOp2 for AttachedNorm {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        self.0.cpu()
    }

    fn cuda_fwd(&self, _: &CudaStorage, _: &Layout, _: &CudaStorage, _: &Layout) -> Result<(CudaStorage, Shape)> {
        self.0.cuda()
    }

    fn bwd(&self, x: &Tensor, gain: &Tensor, _: &Tensor, dy: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        norm_backward(x, gain, dy, self.1).map(|(dx, dgain)| (Some(dx), Some(dgain)))
    }
}

fn attach(x: &Tensor, name: &'static str, result: Tensor, backward: Backward1) -> Result<Tensor> {
    if x.track_op() { x.apply_op1(Attached1(Computed { name, result }, backward)) } else { Ok(result) }
}

/// RMSNorm (Zhang and Sennrich 2019) over the last dimension: x [.., width], gain [width].
pub(super) fn rms_norm(x: &Tensor, gain: &Tensor, eps: f32) -> Result<Tensor> {
    let result = candle_nn::ops::rms_norm(&x.detach(), &gain.detach(), eps)?;
    if !x.track_op() && !gain.track_op() {
        return Ok(result);
    }
    x.apply_op2(gain, AttachedNorm(Computed { name: "rms-norm", result }, f64::from(eps)))
}

/// With r = 1/√(mean x² + ε) and n = x·r: dx = r·(g∘w − n·mean(g∘w∘n)), dw = Σ g∘n. In f32, whatever x is.
fn norm_backward(x: &Tensor, gain: &Tensor, dy: &Tensor, eps: f64) -> Result<(Tensor, Tensor)> {
    let [wide, gains, dys] = [x, gain, dy].map(widened);
    let (wide, gains, dys) = (wide?, gains?, dys?);
    let scale = (wide.sqr()?.mean_keepdim(D::Minus1)? + eps)?.sqrt()?.recip()?;
    let normed = wide.broadcast_mul(&scale)?;
    let weighted = dys.broadcast_mul(&gains)?;
    let along = (&weighted * &normed)?.mean_keepdim(D::Minus1)?;
    let dx = (weighted - normed.broadcast_mul(&along)?)?.broadcast_mul(&scale)?;
    let width = gain.dim(0)?;
    let dgain = (dys * normed)?.reshape(((), width))?.sum(0)?;
    Ok((dx.to_dtype(x.dtype())?, dgain.to_dtype(gain.dtype())?))
}

/// Softmax over the last dimension, in f32; dx = y∘(g − Σ g∘y).
pub(super) fn softmax(x: &Tensor) -> Result<Tensor> {
    let result = candle_nn::ops::softmax_last_dim(&x.detach())?;
    let backward = |_: &Tensor, y: &Tensor, dy: &Tensor| {
        let inner = (dy * y)?.sum_keepdim(D::Minus1)?;
        dy.broadcast_sub(&inner)? * y
    };
    attach(x, "softmax", result, Box::new(backward))
}

/// Rotations (Su et al. 2021) of x [batch, heads, rows, dim]: (a, b) → (a·cos − b·sin, b·cos + a·sin) on the halves of a head. cos and
/// sin are [rows, dim / 2], or [batch, rows, dim / 2]. Backward turns the other way.
pub(super) fn rope(x: &Tensor, cos: &Tensor, sin: &Tensor) -> Result<Tensor> {
    let x = x.contiguous()?;
    let result = candle_nn::rotary_emb::rope(&x.detach(), cos, sin)?;
    let (cos, sin) = (cos.clone(), sin.clone());
    let backward =
        move |_: &Tensor, _: &Tensor, dy: &Tensor| candle_nn::rotary_emb::rope(&dy.contiguous()?, &cos, &sin.neg()?);
    attach(&x, "rope", result, Box::new(backward))
}

/// At least f32.
pub(super) fn widened(x: &Tensor) -> Result<Tensor> {
    if matches!(x.dtype(), DType::BF16 | DType::F16) { x.to_dtype(DType::F32) } else { Ok(x.clone()) }
}

/// 0 where a row sees a column, −∞ where it does not [rows, rows].
pub(super) fn mask(group: &Group, dtype: DType, device: &Device) -> Result<Tensor> {
    let rows = group.rows().len();
    let mut mask = Vec::with_capacity(rows * rows);
    for place in group.visible_rows() {
        let cell = |j: usize| if j < place.shared || place.own.contains(&j) { 0.0_f32 } else { f32::NEG_INFINITY };
        mask.extend((0..rows).map(cell));
    }
    Tensor::from_vec(mask, (rows, rows), device)?.to_dtype(dtype)
}

/// Over the last dimension. The maximum is detached: it only shifts, and its gradient would cost four more large tensors.
pub(super) fn log_softmax(x: &Tensor) -> Result<Tensor> {
    let shifted = x.broadcast_sub(&x.max_keepdim(D::Minus1)?.detach())?;
    shifted.broadcast_sub(&shifted.exp()?.sum_keepdim(D::Minus1)?.log()?)
}

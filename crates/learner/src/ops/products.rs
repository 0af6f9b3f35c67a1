//! Matrix products as candle operations: y = x·Wᵀ on weights packed once per optimizer step, a bias, and the MLP
//! y = (silu(x·Gᵀ) ∘ x·Uᵀ)·Dᵀ, or with gelu.
//!
//! Why not candle's matmul: it packs both sides at every call, and gemm's AVX-512 kernels are behind a feature that candle leaves off: it ran
//! at less than half the speed of [`veriplay_kernels::gemm`] on this model's shapes (AMD EPYC, AVX-512).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candle_core::{CpuStorage, CustomOp2, CustomOp3, Error, Layout, Result, Shape, Tensor};
use veriplay_kernels::attention::AttentionWorkspace;
use veriplay_kernels::gemm::{GemmWorkspace, MatrixTarget, MatrixView, PackedMatrix, multiply};
use veriplay_kernels::layers::{Activation, add_bias, bias_backward, gated, gated_backward};
use veriplay_kernels::simd::AlignedBuffer;
use veriplay_kernels::thread_pool::ThreadPool;

use super::slices::{TensorSlice, floats, gradient, output};
use crate::linear::Linear;

/// x [rows, inputs], W [outputs, inputs] → [rows, outputs].
///
/// Invariant: `packed` was made from W's present values, so forward does not read W; it is an argument because its gradient is.
pub(super) struct LinearOp {
    pub(super) packed: Arc<PackedLinear>,
    pub(super) workspace: SharedWorkspace,
}

impl CustomOp2 for LinearOp {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn cpu_fwd(&self, x: &CpuStorage, xl: &Layout, _: &CpuStorage, wl: &Layout) -> Result<(CpuStorage, Shape)> {
        let ((rows, inputs), (outputs, _)) = (xl.shape().dims2()?, wl.shape().dims2()?);
        check(&self.packed, wl.shape())?;
        let mut y = vec![0.0; rows * outputs];
        let x = MatrixView::rows(floats(x, xl)?, inputs);
        multiply(
            rows,
            x,
            &self.packed.forward,
            MatrixTarget::set(&mut y, outputs),
            &mut self.workspace.lock().products,
        );
        Ok(output(y, (rows, outputs)))
    }

    fn bwd(&self, x: &Tensor, w: &Tensor, _: &Tensor, dy: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let (rows, (outputs, inputs)) = (x.dim(0)?, w.dims2()?);
        let (xs, dy) = (TensorSlice::new(x)?, TensorSlice::new(dy)?);
        let workspace = &mut *self.workspace.lock();
        let mut dx = vec![0.0; rows * inputs];
        let target = MatrixTarget::set(&mut dx, inputs);
        multiply(rows, MatrixView::rows(&dy, outputs), &self.packed.backward, target, &mut workspace.products);
        let dx = gradient(dx, x.shape())?;
        // A frozen matrix, under LoRA, needs no gradient.
        if !w.track_op() {
            return Ok((dx, None));
        }
        Ok((dx, gradient(weight_gradient(&dy, outputs, &xs, inputs, workspace), w.shape())?))
    }
}

/// Refuses a matrix that is not the packed one.
fn check(packed: &PackedLinear, shape: &Shape) -> Result<()> {
    let (outputs, inputs) = shape.dims2()?;
    if packed.forward.shape() == (inputs, outputs) {
        return Ok(());
    }
    Err(Error::Msg(format!("a matrix of shape {shape:?} was packed as {:?}", packed.forward.shape())))
}

/// dW = dyᵀ · x for dy [rows, outputs] and x [rows, inputs].
fn weight_gradient(dy: &[f32], outputs: usize, x: &[f32], inputs: usize, workspace: &mut Workspace) -> Vec<f32> {
    let mut dw = vec![0.0; outputs * inputs];
    workspace.right.pack(MatrixView::rows(x, inputs), dy.len() / outputs, inputs);
    let dy = MatrixView::rows(dy, outputs).transposed();
    multiply(outputs, dy, &workspace.right, MatrixTarget::set(&mut dw, inputs), &mut workspace.products);
    dw
}

/// Adds a bias to every row: candle's own sum over rows, which its backward needs, divides for every element.
///
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
        bias_backward(&mut dbias, &TensorSlice::new(dy)?);
        Ok((Some(dy.clone()), gradient(dbias, bias.shape())?))
    }
}

/// The MLP. One operation and not four, because its inner tensors are the widest of the model: as nodes of the graph each would
/// cost a tensor of zeros, a sum and two allocations more in backward.
///
/// x [rows, hidden], gate and up projections [2·inner, hidden], down projection [hidden, inner] → [rows, hidden].
///
/// Invariant: as for [`LinearOp`].
pub(super) struct Mlp {
    pub(super) gate_up: Arc<PackedLinear>,
    pub(super) down: Arc<PackedLinear>,
    pub(super) activation: Activation,
    pub(super) workspace: SharedWorkspace,
    /// Gate and up of forward, for backward; empty when nothing is tracked.
    pub(super) kept: Mutex<Option<AlignedBuffer>>,
    pub(super) tracked: bool,
}

impl Mlp {
    /// x·Gᵀ and x·Uᵀ, side by side.
    fn project(&self, x: &[f32], rows: usize, inner: usize, workspace: &mut Workspace) -> AlignedBuffer {
        let mut gate_up = workspace.take();
        let target = MatrixTarget::set(gate_up.resize(rows * 2 * inner), 2 * inner);
        multiply(rows, MatrixView::rows(x, x.len() / rows), &self.gate_up.forward, target, &mut workspace.products);
        gate_up
    }

    fn lock_kept(&self) -> std::sync::MutexGuard<'_, Option<AlignedBuffer>> {
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
        let workspace = &mut *self.workspace.lock();
        let gate_up = self.project(floats(x, xl)?, rows, inner, workspace);
        let activated = workspace.inner.resize(rows * inner);
        gated(activated, gate_up.as_slice(), inner, self.activation);
        let mut y = vec![0.0; rows * hidden];
        let target = MatrixTarget::set(&mut y, hidden);
        multiply(rows, MatrixView::rows(activated, inner), &self.down.forward, target, &mut workspace.products);
        if self.tracked {
            *self.lock_kept() = Some(gate_up);
        } else {
            workspace.give(gate_up);
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
        let (xs, dy) = (TensorSlice::new(x)?, TensorSlice::new(dy)?);
        let workspace = &mut *self.workspace.lock();
        // Backward overwrites the kept values: a second backward pass computes them again.
        let kept = self.lock_kept().take();
        let mut pair = kept.unwrap_or_else(|| self.project(&xs, rows, inner, workspace));
        let mut activated = workspace.take();
        let dactivated = MatrixTarget::set(activated.resize(rows * inner), inner);
        multiply(rows, MatrixView::rows(&dy, hidden), &self.down.backward, dactivated, &mut workspace.products);
        gated_backward(pair.as_mut_slice(), activated.as_mut_slice(), inner, self.activation);
        // A frozen matrix, under LoRA, needs no gradient.
        let mut of_weight = |weight: &Tensor, dy: &[f32], outputs: usize, x: &[f32], inputs: usize| {
            let wanted = weight.track_op().then(|| weight_gradient(dy, outputs, x, inputs, workspace));
            wanted.map_or(Ok(None), |dw| gradient(dw, weight.shape()))
        };
        let ddown = of_weight(down, &dy, hidden, activated.as_slice(), inner)?;
        let dpair = pair.as_slice();
        let dgate_up = of_weight(gate_up, dpair, 2 * inner, &xs, hidden)?;
        let mut dx = vec![0.0; rows * hidden];
        let target = MatrixTarget::set(&mut dx, hidden);
        multiply(rows, MatrixView::rows(dpair, 2 * inner), &self.gate_up.backward, target, &mut workspace.products);
        workspace.give(pair);
        workspace.give(activated);
        Ok((gradient(dx, x.shape())?, dgate_up, ddown))
    }
}

/// What matrices are packed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Forward and backward passes.
    Training,
    /// Forward passes alone.
    Forward,
    /// Forward passes in 8-bit integers.
    Int8,
}

/// A matrix [out, in], packed for y = x·Wᵀ and, when training, for dx = dy·W.
#[derive(Debug, Default)]
pub(crate) struct PackedLinear {
    /// For y = x·Wᵀ.
    pub(crate) forward: PackedMatrix,
    /// For dx = dy·W.
    pub(crate) backward: PackedMatrix,
}

impl PackedLinear {
    fn new(weight: &Tensor, packing: Packing) -> Result<Arc<Self>> {
        let (outputs, inputs) = weight.dims2()?;
        let weight = TensorSlice::new(weight)?;
        let mut linear = Self::default();
        if packing == Packing::Int8 {
            linear.forward = PackedMatrix::quantised(&weight, inputs);
            return Ok(Arc::new(linear));
        }
        linear.forward.pack(MatrixView::rows(&weight, inputs).transposed(), inputs, outputs);
        if packing == Packing::Training {
            linear.backward.pack(MatrixView::rows(&weight, inputs), outputs, inputs);
        }
        Ok(Arc::new(linear))
    }
}

#[derive(Debug)]
pub(crate) struct PackedLayer {
    pub(crate) qkv: Arc<PackedLinear>,
    pub(crate) output: Arc<PackedLinear>,
    pub(crate) gate_up: Arc<PackedLinear>,
    pub(crate) down: Arc<PackedLinear>,
}

#[derive(Debug)]
pub(crate) struct PackedModel {
    pub(crate) layers: Vec<PackedLayer>,
    pub(crate) head: Arc<PackedLinear>,
}

impl PackedModel {
    /// Packs every matrix, which the threads of `pool` share: the head, and of each layer its joined query, key and value projections,
    /// its output projection, its joined gate and up projections, and its down projection.
    pub(crate) fn new<'a>(
        head: &'a Linear,
        layers: impl Iterator<Item = [&'a Linear; 4]>,
        packing: Packing,
        pool: &ThreadPool,
    ) -> Result<Self> {
        // The head first: it is the largest by far.
        let weights = std::iter::once(head).chain(layers.flatten()).map(Linear::merged).collect::<Result<Vec<_>>>()?;
        let packed: Vec<Arc<PackedLinear>> =
            pool.map(&weights, |weight| PackedLinear::new(weight, packing)).into_iter().collect::<Result<_>>()?;
        let (head, layers) = (&packed[0], packed[1..].as_chunks().0);
        let layer = |[qkv, output, gate_up, down]: [Arc<PackedLinear>; 4]| PackedLayer { qkv, output, gate_up, down };
        Ok(Self { head: Arc::clone(head), layers: layers.iter().cloned().map(layer).collect() })
    }
}

#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) products: GemmWorkspace,
    /// For the right-hand side of a weight gradient.
    pub(crate) right: PackedMatrix,
    /// For whatever one operation needs inside itself.
    pub(crate) inner: AlignedBuffer,
    pub(crate) attention: AttentionWorkspace,
    /// Large buffers that operations keep from forward to backward, when they are not in use.
    spare: Vec<AlignedBuffer>,
}

impl Workspace {
    /// Lets `pool` share the work that is worth it in forward passes.
    pub(crate) fn set_pool(&mut self, pool: &ThreadPool) {
        self.products.set_pool(pool);
    }

    /// A buffer to keep; its contents are unspecified.
    pub(crate) fn take(&mut self) -> AlignedBuffer {
        self.spare.pop().unwrap_or_default()
    }

    pub(crate) fn give(&mut self, buffer: AlignedBuffer) {
        self.spare.push(buffer);
    }
}

/// A [`Workspace`] as the operations of one worker share it. Operations must be `Sync`, so there is a lock; only one thread takes it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedWorkspace(Arc<Mutex<Workspace>>);

impl SharedWorkspace {
    /// The workspace. A panic in an operation leaves nothing half-done in it that another would read.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Workspace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Buffers that threads return after use, so that they stay warm between calls. Clones share them.
#[derive(Debug, Default)]
pub(crate) struct IdleBuffers<T>(Arc<Mutex<Vec<T>>>);

impl<T> Clone for IdleBuffers<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Default> IdleBuffers<T> {
    /// Runs `work` with the buffers of one thread.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let idle = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let mut buffers = kept.unwrap_or_default();
        let result = work(&mut buffers);
        idle().push(buffers);
        result
    }
}

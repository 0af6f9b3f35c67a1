//! A linear map of the network: a matrix, and where it is adapted beside a frozen base a low-rank term of its own.
//!
//! Called by the network, which makes one of a layer's weights, and by the operations, which compute it.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CudaStorage, CustomOp1, Error, Layout, Result, Shape, Storage, Tensor};

/// y = x·Wᵀ, or with an adapter y = x·Wᵀ + (x·Aᵀ)·Bᵀ.
#[derive(Debug, Clone)]
pub(crate) struct Linear {
    /// W [outputs, inputs]. Under adapters that are merged it is their sum.
    weight: Tensor,
    adapter: Option<LowRank>,
}

/// The term of an adapter (Hu et al. 2021, arXiv 2106.09685), whose product B·A is never formed.
#[derive(Debug, Clone)]
pub(crate) struct LowRank {
    /// A [rank, inputs].
    pub(crate) a: Tensor,
    /// α/r · B [outputs, rank].
    pub(crate) b: Tensor,
}

impl LowRank {
    /// (x·Aᵀ)·Bᵀ of rows x [rows, inputs].
    fn apply(&self, x: &Tensor) -> Result<Tensor> {
        x.matmul(&self.a.t()?)?.matmul(&self.b.t()?)
    }

    fn detach(&self) -> Self {
        Self { a: self.a.detach(), b: self.b.detach() }
    }

    /// The adapters of matrices that are joined, one above the other, as one of their ranks' sum: A above A, and B in blocks. Each is
    /// behind the number of its matrix's outputs, and `None` for a matrix without adapter.
    pub(crate) fn join(parts: &[(usize, Option<Self>)]) -> Result<Option<Self>> {
        let rank_of = |part: &Option<Self>| part.as_ref().map_or(Ok(0), |part| part.a.dim(0));
        let ranks = parts.iter().map(|(_, part)| rank_of(part)).collect::<Result<Vec<usize>>>()?;
        let all: usize = ranks.iter().sum();
        let Some(like) = parts.iter().find_map(|(_, part)| part.as_ref().map(|part| &part.b)) else { return Ok(None) };
        let (mut a, mut b, mut before) = (Vec::new(), Vec::new(), 0);
        for ((outputs, part), rank) in parts.iter().zip(ranks) {
            b.push(match part {
                Some(part) => part.b.pad_with_zeros(1, before, all - before - rank)?,
                None => Tensor::zeros((*outputs, all), like.dtype(), like.device())?,
            });
            a.extend(part.as_ref().map(|part| part.a.clone()));
            before += rank;
        }
        Ok(Some(Self { a: Tensor::cat(&a, 0)?, b: Tensor::cat(&b, 0)? }))
    }
}

impl Linear {
    pub(crate) const fn new(weight: Tensor, adapter: Option<LowRank>) -> Self {
        Self { weight, adapter }
    }

    /// W [outputs, inputs], where that is all.
    ///
    /// # Errors
    /// There is an adapter beside it: what reads packed matrices wants it merged.
    pub(crate) fn merged(&self) -> Result<&Tensor> {
        match &self.adapter {
            None => Ok(&self.weight),
            Some(_) => {
                Err(Error::Msg("an adapter beside its matrix was given to kernels that want it merged".to_owned()))
            }
        }
    }

    /// Of rows x [rows, inputs], by candle's operations.
    pub(crate) fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let is_frozen = x.track_op() && !self.weight.track_op();
        let y = if is_frozen { x.apply_op1(FrozenProduct(self.weight.clone()))? } else { x.matmul(&self.weight.t()?)? };
        match &self.adapter {
            None => Ok(y),
            Some(adapter) => y + adapter.apply(x)?,
        }
    }

    /// The same, without a record for backward. Nothing is copied.
    pub(crate) fn detach(&self) -> Self {
        Self { weight: self.weight.detach(), adapter: self.adapter.as_ref().map(LowRank::detach) }
    }

    pub(crate) fn inputs(&self) -> Result<usize> {
        self.weight.dim(1)
    }
}

/// x·Wᵀ where W [outputs, inputs] does not train. Candle's own product computes a gradient of W all the same, and keeps it until the backward
/// pass has ended: of a base under adapters that is a third of the pass's operations, and a gradient of every weight.
struct FrozenProduct(Tensor);

impl FrozenProduct {
    fn product<S: BackendStorage>(&self, x: &S, x_layout: &Layout, weight: &S) -> Result<(S, Shape)> {
        let ((rows, inputs), outputs) = (x_layout.shape().dims2()?, self.0.dim(0)?);
        let weight_layout = self.0.layout().transpose(0, 1)?;
        Ok((x.matmul(weight, (1, rows, outputs, inputs), x_layout, &weight_layout)?, (rows, outputs).into()))
    }

    fn elsewhere(device: &str) -> Error {
        Error::Msg(format!("a matrix lies elsewhere than on the {device}, where its argument is"))
    }
}

impl CustomOp1 for FrozenProduct {
    fn name(&self) -> &'static str {
        "frozen-product"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (storage, _) = self.0.storage_and_layout();
        let Storage::Cpu(weight) = &*storage else { return Err(Self::elsewhere("CPU")) };
        self.product(x, layout, weight)
    }

    fn cuda_fwd(&self, x: &CudaStorage, layout: &Layout) -> Result<(CudaStorage, Shape)> {
        let (storage, _) = self.0.storage_and_layout();
        let Storage::Cuda(weight) = &*storage else { return Err(Self::elsewhere("card")) };
        self.product(x, layout, weight)
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, dy: &Tensor) -> Result<Option<Tensor>> {
        dy.matmul(&self.0).map(Some)
    }
}

//! The product of the head on a device that computes in bf16: logits in f32.
//!
//! Products of bf16 add in f32 and round their sums to bf16: a logit from 16 to 32 to eighths, which is noise in what is drawn, in ratios and in
//! entropies. Here the sums are kept, as MiniMax-M1 (arXiv 2506.13585) keeps them. A logit takes two bytes more; the product itself is the same
//! on a card. Its gradient is rounded before the two products of backward, as all gradients are.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CustomOp2, DType, Layout, Result, Shape, Tensor};

/// x·Wᵀ in f32 of x [rows, inputs] and W [outputs, inputs], both bf16.
pub(in crate::ops) fn wide_product(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    x.contiguous()?.apply_op2(weight, WideProduct)
}

struct WideProduct;

/// Rows, outputs and inputs of a product.
fn sizes(x: &Layout, weight: &Layout) -> Result<[usize; 3]> {
    let ((rows, inputs), (outputs, _)) = (x.shape().dims2()?, weight.shape().dims2()?);
    Ok([rows, outputs, inputs])
}

impl CustomOp2 for WideProduct {
    fn name(&self) -> &'static str {
        "wide-product"
    }

    fn cpu_fwd(&self, x: &CpuStorage, xl: &Layout, weight: &CpuStorage, wl: &Layout) -> Result<(CpuStorage, Shape)> {
        let [rows, outputs, inputs] = sizes(xl, wl)?;
        let (x, weight) = (x.to_dtype(xl, DType::F32)?, weight.to_dtype(wl, DType::F32)?);
        let (xl, wl) = (Layout::contiguous((rows, inputs)), Layout::contiguous((outputs, inputs)).transpose(0, 1)?);
        Ok((x.matmul(&weight, (1, rows, outputs, inputs), &xl, &wl)?, (rows, outputs).into()))
    }

    #[cfg(feature = "cuda")]
    fn cuda_fwd(
        &self,
        x: &candle_core::CudaStorage,
        xl: &Layout,
        weight: &candle_core::CudaStorage,
        wl: &Layout,
    ) -> Result<(candle_core::CudaStorage, Shape)> {
        let sizes = sizes(xl, wl)?;
        let out = card::product(x.device(), &card::numbers(x, xl)?, &card::numbers(weight, wl)?, sizes)?;
        let [rows, outputs, _] = sizes;
        Ok((candle_core::CudaStorage::wrap_cuda_slice(out, x.device().clone()), (rows, outputs).into()))
    }

    /// A weight that does not train has no gradient.
    fn bwd(&self, x: &Tensor, weight: &Tensor, _: &Tensor, dy: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let dy = dy.to_dtype(x.dtype())?;
        let dx = x.track_op().then(|| dy.matmul(&weight.detach())).transpose()?;
        let dweight = weight.track_op().then(|| dy.t()?.matmul(&x.detach())).transpose()?;
        Ok((dx, dweight))
    }
}

/// The same by cuBLAS, which takes pointers.
#[cfg(feature = "cuda")]
mod card {
    use candle_core::cuda_backend::WrapErr;
    use candle_core::cuda_backend::cudarc::cublas::result::gemm_ex;
    use candle_core::cuda_backend::cudarc::cublas::sys::{
        cublasComputeType_t, cublasGemmAlgo_t, cublasOperation_t, cudaDataType_t,
    };
    use candle_core::cuda_backend::cudarc::driver::{CudaSlice, CudaView, DevicePtr, DevicePtrMut};
    use candle_core::{CudaDevice, CudaStorage, Error, Layout, Result};
    use half::bf16;

    /// The numbers of a contiguous tensor.
    pub(super) fn numbers<'a>(storage: &'a CudaStorage, layout: &Layout) -> Result<CudaView<'a, bf16>> {
        let wanted = || Error::Msg(format!("a product wants contiguous numbers, and these are {layout:?}"));
        let (start, end) = layout.contiguous_offsets().ok_or_else(wanted)?;
        Ok(storage.as_cuda_slice::<bf16>()?.slice(start..end))
    }

    #[expect(unsafe_code, reason = "cudarc has no safe door to a product whose result is of another type")]
    pub(super) fn product(
        device: &CudaDevice,
        x: &CudaView<'_, bf16>,
        weight: &CudaView<'_, bf16>,
        [rows, outputs, inputs]: [usize; 3],
    ) -> Result<CudaSlice<f32>> {
        let (stream, blas) = (device.cuda_stream(), device.cublas_handle());
        let (one, zero) = (1.0_f32, 0.0_f32);
        // Its matrices are column by column: Wᵀ as W, and logits as their transpose.
        let (m, n, k) = (outputs as i32, rows as i32, inputs as i32);
        // SAFETY: the product writes each number.
        let mut out = unsafe { device.alloc::<f32>(rows * outputs) }?;
        {
            let (weight, _weight_in_use) = weight.device_ptr(&stream);
            let (x, _x_in_use) = x.device_ptr(&stream);
            let (to, _out_in_use) = out.device_ptr_mut(&stream);
            // SAFETY: `weight` has outputs · inputs numbers and `x` rows · inputs, as their layouts said; `out` was made above with
            // rows · outputs; the factors outlive the call, which reads them; the handle is of the stream that all work of the card is on.
            unsafe {
                gemm_ex(
                    *blas.handle(),
                    cublasOperation_t::CUBLAS_OP_T,
                    cublasOperation_t::CUBLAS_OP_N,
                    m,
                    n,
                    k,
                    (&raw const one).cast(),
                    weight as *const _,
                    cudaDataType_t::CUDA_R_16BF,
                    k,
                    x as *const _,
                    cudaDataType_t::CUDA_R_16BF,
                    k,
                    (&raw const zero).cast(),
                    to as *mut _,
                    cudaDataType_t::CUDA_R_32F,
                    m,
                    cublasComputeType_t::CUBLAS_COMPUTE_32F,
                    cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT_TENSOR_OP,
                )
            }
            .w()?;
        }
        Ok(out)
    }
}

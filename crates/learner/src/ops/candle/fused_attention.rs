//! Attention on a card by kernels of our own (`cuda/attention.cu`), which keep no scores.
//!
//! Of bfloat16, and heads of 64 or 128 numbers; all other attention is candle's operations. One operation rotates queries and keys and mixes
//! the values of all groups of a micro-batch, where candle takes many for each tile of each group.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use candle_core::backend::BackendStorage;
use candle_core::cuda_backend::WrapErr;
use candle_core::cuda_backend::cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as SHARED_BYTES;
use candle_core::cuda_backend::cudarc::driver::{
    CudaFunction, CudaSlice, CudaView, DeviceRepr, LaunchConfig, PushKernelArg,
};
use candle_core::{
    CpuStorage, CudaDevice, CudaStorage, CustomOp1, CustomOp2, DType, Device, DeviceLocation, Error, Layout, Result,
    Shape, Tensor, Var,
};
use half::bf16;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use veriplay_kernels::attention::{AttentionGroup, HeadSizes};
use veriplay_kernels::layers::RopeTable;

use super::spans::Spans;
use super::{CandleOps, TILE_ROWS};
use crate::config::{LayerKind, ModelConfig, RopeTables};

const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/attention.ptx"));

/// Threads of a block and rows of a tile, as the kernels have them.
const THREADS: u32 = 128;
const TILE: usize = 64;

/// Whether the kernels compute attention of such projections, and have agreed with candle's operations on this card.
pub(super) fn fits(qkv: &Tensor, sizes: &HeadSizes, rope: &RopeTable) -> Result<bool> {
    // They rotate whole heads, be it by an angle of 0.
    let turns_whole = [0, sizes.dim].contains(&(2 * rope.pairs()));
    let is_for_them = turns_whole && qkv.dtype() == DType::BF16 && matches!(sizes.dim, 64 | 128);
    Ok(is_for_them && agree_on(qkv.device(), sizes.dim)?)
}

/// Cards and widths of heads for which the kernels were compared with candle's operations, and whether they agreed.
static COMPARED: Mutex<BTreeMap<(usize, usize), bool>> = Mutex::new(BTreeMap::new());

/// How far results or gradients may be from candle's in f32. Numbers of bfloat16 are 0.0017 off at the mean, and 0.004 was seen of the kernels;
/// where one of them is missing it is 1.
const MOST_APART: f32 = 0.01;

/// A card that computes otherwise than the machines that the kernels were tested on shall not train a model wrongly without a word.
fn agree_on(device: &Device, dim: usize) -> Result<bool> {
    let DeviceLocation::Cuda { gpu_id } = device.location() else { return Ok(false) };
    let mut compared = COMPARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&agreed) = compared.get(&(gpu_id, dim)) {
        return Ok(agreed);
    }
    // An error is of the card and says nothing of the kernels: it is for the caller, and the next one compares again.
    let apart = distances_from_candle(device, dim)?;
    // What is no number is not below the bound.
    let agreed = apart.iter().all(|&apart| apart <= MOST_APART);
    if !agreed {
        tracing::warn!(
            card = gpu_id,
            head_dim = dim,
            apart = ?apart,
            allowed = MOST_APART,
            "the attention kernels do not agree with candle's operations on this card, which are used in their place and are slower"
        );
    }
    compared.insert((gpu_id, dim), agreed);
    Ok(agreed)
}

/// How far results, and gradients of queries, keys and values, are apart on some groups: as shares of candle's.
fn distances_from_candle(device: &Device, dim: usize) -> Result<[f32; 4]> {
    let groups: Arc<[AttentionGroup]> = Arc::new([
        AttentionGroup { prompt: 0..70, responses: vec![70..107, 107..108, 108..174] },
        AttentionGroup { prompt: 174..239, responses: Vec::new() },
    ]);
    let sizes = HeadSizes { heads: 4, kv_heads: 2, dim, eps: 1e-6 };
    let config = ModelConfig { head_dim: dim, max_position_embeddings: 239, ..ModelConfig::default() };
    let (ropes, kind) = (Arc::new(RopeTables::new(&config)), LayerKind::Rotated);
    // Numbers without a pattern: with one, scores have hardly a gradient.
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut noise = |width: usize, most: f32| {
        let values: Vec<f32> = (0..239 * width).map(|_| random.random_range(-most..most)).collect();
        Tensor::from_vec(values, (239, width), device)
    };
    let (qkv, weights) = (noise(sizes.width(), 1.5)?.to_dtype(DType::BF16)?, noise(sizes.heads * dim, 1.0)?);
    let run = |qkv: Tensor, attend: &dyn Fn(&Tensor) -> Result<Tensor>| {
        let qkv = Var::from_tensor(&qkv)?;
        let mixed = attend(&qkv)?.to_dtype(DType::F32)?;
        let gradients = (&mixed * &weights)?.sum_all()?.backward()?;
        let gradient = gradients.get(&qkv).ok_or_else(|| Error::Msg("attention has no gradient".to_owned()))?;
        let gradient = gradient.to_dtype(DType::F32)?.detach();
        let part = |first: usize, count: usize| gradient.narrow(1, first * dim, count * dim);
        let HeadSizes { heads, kv_heads, .. } = sizes;
        Ok::<_, Error>([mixed.detach(), part(0, heads)?, part(heads, kv_heads)?, part(heads + kv_heads, kv_heads)?])
    };
    let operations = CandleOps { sizes, ropes: Arc::clone(&ropes), tables: Arc::default(), tile_rows: TILE_ROWS };
    let wanted = run(qkv.to_dtype(DType::F32)?, &|qkv| operations.attention_in_tiles(qkv, None, kind, &groups))?;
    let tables = Arc::new(Tables::new(&groups, &sizes, ropes.of(kind), device)?);
    let found = run(qkv, &|qkv| attend(qkv, &sizes, Arc::clone(&tables)))?;
    let norm = |x: &Tensor| x.sqr()?.sum_all()?.sqrt()?.to_scalar::<f32>();
    let mut apart = [f32::NAN; 4];
    for ((apart, found), wanted) in apart.iter_mut().zip(&found).zip(&wanted) {
        *apart = norm(&(found - wanted)?)? / norm(wanted)?;
    }
    Ok(apart)
}

/// The tables of one micro-batch on its card, which all layers share.
#[derive(Debug)]
pub(super) struct Tables {
    seen: CudaSlice<u32>,
    queries: CudaSlice<u32>,
    keys: CudaSlice<u32>,
    /// [rows, dim / 2].
    cos: CudaSlice<f32>,
    sin: CudaSlice<f32>,
    rows: usize,
    query_tiles: usize,
    key_tiles: usize,
}

impl Tables {
    pub(super) fn new(groups: &[AttentionGroup], sizes: &HeadSizes, rope: &RopeTable, device: &Device) -> Result<Self> {
        let device = device.as_cuda_device()?;
        let spans = Spans::new(groups);
        let (mut cos, mut sin) = (Vec::new(), Vec::new());
        for &position in &spans.positions {
            let (c, s) = rope.at(position);
            cos.extend_from_slice(c);
            sin.extend_from_slice(s);
            // An angle of 0, where the table rotates nothing.
            cos.resize(cos.len() + sizes.dim / 2 - rope.pairs(), 1.0);
            sin.resize(cos.len(), 0.0);
        }
        Ok(Self {
            rows: spans.positions.len(),
            query_tiles: spans.queries.len() / 6,
            key_tiles: spans.keys.len() / 4,
            seen: device.clone_htod(&spans.seen)?,
            queries: device.clone_htod(&spans.queries)?,
            keys: device.clone_htod(&spans.keys)?,
            cos: device.clone_htod(&cos)?,
            sin: device.clone_htod(&sin)?,
        })
    }
}

/// Attention of raw projections [rows, (heads + 2·kv_heads)·dim]: [rows, heads·dim].
pub(super) fn attend(qkv: &Tensor, sizes: &HeadSizes, tables: Arc<Tables>) -> Result<Tensor> {
    let operation = Attention { sizes: *sizes, tables, kept: Mutex::new(None) };
    if qkv.track_op() { qkv.apply_op1(operation) } else { qkv.apply_op1_no_bwd(&operation) }
}

struct Attention {
    sizes: HeadSizes,
    tables: Arc<Tables>,
    /// Taken by backward, which candle calls once: its memory is free from then on.
    kept: Mutex<Option<Kept>>,
}

/// What backward reads beside argument and result.
struct Kept {
    /// The projections, queries and keys rotated.
    rotated: CudaSlice<bf16>,
    /// [heads, rows].
    log_sums: CudaSlice<f32>,
}

/// Sizes, as the kernels take them.
#[derive(Clone, Copy)]
#[repr(C)]
struct Sizes {
    rows: u32,
    heads: u32,
    kv_heads: u32,
    scale: f32,
}

#[expect(unsafe_code, reason = "cudarc asks it of whatever is an argument of a kernel")]
// SAFETY: four numbers of 32 bits without padding, which `cuda/attention.cu` declares in the same order.
unsafe impl DeviceRepr for Sizes {}

/// The kernels, each with a `SAFETY` for its launch. What they have in common: the arguments are those that the kernel of that name declares; the
/// tables are of `rows` rows, and name no others; `numbers` checked how many numbers a tensor has; and buffers are made here, of the sizes
/// that the kernels write.
#[expect(
    unsafe_code,
    reason = "kernels are launched, and buffers made that a kernel fills whole: cudarc has no safe doors to either"
)]
impl Attention {
    fn sizes(&self) -> Sizes {
        let HeadSizes { heads, kv_heads, .. } = self.sizes;
        let [rows, heads, kv_heads] = [self.tables.rows, heads, kv_heads].map(|size| size as u32);
        Sizes { rows, heads, kv_heads, scale: self.sizes.scale() }
    }

    fn mixed(&self) -> usize {
        self.tables.rows * self.sizes.heads * self.sizes.dim
    }

    /// The numbers of a tensor, of which there must be so many.
    fn numbers<'a>(&self, storage: &'a CudaStorage, layout: &Layout, count: usize) -> Result<CudaView<'a, bf16>> {
        match layout.contiguous_offsets() {
            // Kernels read 16 bytes at a time.
            Some((start, end)) if end - start == count && start % 8 == 0 => {
                Ok(storage.as_cuda_slice::<bf16>()?.slice(start..end))
            }
            _ => Err(Error::Msg(format!("attention wants {count} contiguous numbers, and these are {layout:?}"))),
        }
    }

    fn kernel(&self, device: &CudaDevice, name: &str) -> Result<CudaFunction> {
        let name = format!("{name}_{}", self.sizes.dim);
        device.get_or_load_custom_func(&name, "veriplay-attention", PTX).map(|kernel| kernel.into_cuda_function())
    }

    /// A thread for each of `count` pieces of work.
    fn flat(count: usize) -> LaunchConfig {
        grid([count.div_ceil(THREADS as usize), 1], 0)
    }

    /// Bytes of `rows` rows of a head in shared memory.
    const fn shared_bytes(&self, rows: usize) -> usize {
        rows * self.sizes.dim * size_of::<bf16>()
    }

    /// Queries and keys rotated by their positions, or with −1 back.
    fn rotate(&self, device: &CudaDevice, from: &CudaView<'_, bf16>, direction: f32) -> Result<CudaSlice<bf16>> {
        let (sizes, count, stream) = (self.sizes(), self.tables.rows * self.sizes.width(), device.cuda_stream());
        // SAFETY: the kernel writes each number.
        let mut to = unsafe { device.alloc::<bf16>(count) }?;
        let kernel = self.kernel(device, "rotate_heads")?;
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(from).arg(&mut to).arg(&self.tables.cos).arg(&self.tables.sin).arg(&direction).arg(&sizes);
        // SAFETY: as the impl says.
        unsafe { launch.launch(Self::flat(count / 2)) }.w()?;
        Ok(to)
    }

    fn forward(&self, device: &CudaDevice, qkv: &CudaView<'_, bf16>) -> Result<CudaSlice<bf16>> {
        let (sizes, tables, heads, stream) = (self.sizes(), &self.tables, self.sizes.heads, device.cuda_stream());
        let rotated = self.rotate(device, qkv, 1.0)?;
        // SAFETY: the kernel writes the numbers of each row and head, and each row is in a tile.
        let mut mixed = unsafe { device.alloc::<bf16>(self.mixed()) }?;
        // SAFETY: as before.
        let mut log_sums = unsafe { device.alloc::<f32>(heads * tables.rows) }?;
        let kernel = self.kernel(device, "attention_forward")?;
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&rotated).arg(&mut mixed).arg(&mut log_sums).arg(&tables.seen).arg(&tables.queries).arg(&sizes);
        // SAFETY: as the impl says.
        unsafe { launch.launch(grid([tables.query_tiles, heads], self.shared_bytes(2 * TILE))) }.w()?;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(Kept { rotated, log_sums });
        Ok(mixed)
    }

    /// The gradient of the projections, from the result and its gradient.
    fn backward(
        &self,
        device: &CudaDevice,
        mixed: &CudaView<'_, bf16>,
        dmixed: &CudaView<'_, bf16>,
    ) -> Result<CudaSlice<bf16>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Kept { rotated, log_sums } =
            kept.ok_or_else(|| Error::Msg("attention is differentiated once, behind its forward pass".to_owned()))?;
        let (sizes, tables, heads, stream) = (self.sizes(), &self.tables, self.sizes.heads, device.cuda_stream());

        // SAFETY: the kernel writes one number a row and head.
        let mut dots = unsafe { device.alloc::<f32>(heads * tables.rows) }?;
        let kernel = self.kernel(device, "attention_dots")?;
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(mixed).arg(dmixed).arg(&mut dots).arg(&sizes);
        // SAFETY: as the impl says; a warp for each row and head.
        unsafe { launch.launch(Self::flat(32 * heads * tables.rows)) }.w()?;

        // SAFETY: of each row one kernel writes the queries, and another keys and values.
        let mut drotated = unsafe { device.alloc::<bf16>(tables.rows * self.sizes.width()) }?;
        let kernel = self.kernel(device, "attention_backward_queries")?;
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&rotated).arg(dmixed).arg(&log_sums).arg(&dots).arg(&mut drotated);
        launch.arg(&tables.seen).arg(&tables.queries).arg(&sizes);
        // SAFETY: as the impl says.
        unsafe { launch.launch(grid([tables.query_tiles, heads], self.shared_bytes(2 * TILE))) }.w()?;

        // SAFETY: the kernel writes the numbers of each head and row, twice.
        let mut partial = unsafe { device.alloc::<f32>(2 * self.mixed()) }?;
        let kernel = self.kernel(device, "attention_backward_keys")?;
        let shared_bytes = self.shared_bytes(2 * TILE + 2 * self.queries_at_once());
        kernel.set_attribute(SHARED_BYTES, shared_bytes as i32).w()?;
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&rotated).arg(dmixed).arg(&log_sums).arg(&dots).arg(&mut partial);
        launch.arg(&tables.seen).arg(&tables.keys).arg(&sizes);
        // SAFETY: as the impl says.
        unsafe { launch.launch(grid([tables.key_tiles, heads], shared_bytes)) }.w()?;

        let kernel = self.kernel(device, "attention_sum_heads")?;
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&partial).arg(&mut drotated).arg(&sizes);
        // SAFETY: as the impl says.
        unsafe { launch.launch(Self::flat(tables.rows * 2 * self.sizes.kv_heads * self.sizes.dim)) }.w()?;

        self.rotate(device, &drotated.as_view(), -1.0)
    }

    /// Rows of queries that pass a tile of keys at a time: as many as there are registers for, and as `KERNELS` in `cuda/attention.cu` has them.
    const fn queries_at_once(&self) -> usize {
        if self.sizes.dim == 64 { 64 } else { 32 }
    }
}

fn grid([x, y]: [usize; 2], shared_bytes: usize) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (x as u32, y as u32, 1),
        block_dim: (THREADS, 1, 1),
        shared_mem_bytes: shared_bytes as u32,
    }
}

fn only_on_a_card<T>() -> Result<T> {
    Err(Error::Msg("the kernels of `cuda/attention.cu` were asked for on the CPU".to_owned()))
}

impl CustomOp1 for Attention {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        only_on_a_card()
    }

    fn cuda_fwd(&self, qkv: &CudaStorage, layout: &Layout) -> Result<(CudaStorage, Shape)> {
        let device = qkv.device();
        let qkv = self.numbers(qkv, layout, self.tables.rows * self.sizes.width())?;
        let mixed = self.forward(device, &qkv)?;
        let shape = (self.tables.rows, self.sizes.heads * self.sizes.dim);
        Ok((CudaStorage::wrap_cuda_slice(mixed, device.clone()), shape.into()))
    }

    fn bwd(&self, _: &Tensor, mixed: &Tensor, dmixed: &Tensor) -> Result<Option<Tensor>> {
        mixed.apply_op2_no_bwd(&dmixed.contiguous()?, &AttentionBackward(self)).map(Some)
    }
}

/// From the result and its gradient.
struct AttentionBackward<'a>(&'a Attention);

impl CustomOp2 for AttentionBackward<'_> {
    fn name(&self) -> &'static str {
        "attention-backward"
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        only_on_a_card()
    }

    fn cuda_fwd(
        &self,
        mixed: &CudaStorage,
        layout: &Layout,
        dmixed: &CudaStorage,
        dlayout: &Layout,
    ) -> Result<(CudaStorage, Shape)> {
        let Self(forward) = self;
        let device = mixed.device();
        let count = forward.mixed();
        let (mixed, dmixed) = (forward.numbers(mixed, layout, count)?, forward.numbers(dmixed, dlayout, count)?);
        let dqkv = forward.backward(device, &mixed, &dmixed)?;
        Ok((CudaStorage::wrap_cuda_slice(dqkv, device.clone()), (forward.tables.rows, forward.sizes.width()).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a card nothing is compared, which `VERIPLAY_REQUIRE_CUDA` makes an error.
    #[test]
    fn the_kernels_agree_with_candle_on_this_card() {
        let card = match crate::cuda::open(0) {
            Ok(card) => card,
            Err(error) => {
                assert!(std::env::var_os("VERIPLAY_REQUIRE_CUDA").is_none(), "`VERIPLAY_REQUIRE_CUDA` is set: {error}");
                return;
            }
        };
        for dim in [64, 128] {
            let apart = distances_from_candle(&card, dim).expect("both compute");
            assert!(apart.iter().all(|&apart| apart <= MOST_APART), "{dim}: {apart:?}");
        }
    }
}

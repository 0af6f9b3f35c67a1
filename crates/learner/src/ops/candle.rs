//! The operations of a card, and of any other device: candle's kernels, each with a backward, and products by cuBLAS.
//!
//! They run on every device and in every float type, so tests compare them with the CPU's. In bf16 norms, rotations, softmaxes,
//! logits and log-probabilities are computed in f32. A missing kernel is an error that names the operation; nothing falls back to the CPU.
//!
//! Candle's fast kernels `rms_norm`, `softmax_last_dim` and `rope` have no backward, and would cut the graph without an error. Each
//! runs on detached arguments here; its result is then attached to the graph as the output of an operation whose backward is ours.
//! Attaching copies the result on its device and frees it; where nothing is tracked, as in rollouts, nothing is copied.

mod attention;
#[cfg(feature = "cuda")]
mod fused_attention;
mod logprobs;
#[cfg(any(feature = "cuda", test))]
mod spans;
mod wide_product;

use std::sync::{Arc, Mutex, PoisonError};

use candle_core::backend::BackendStorage;
use candle_core::{
    CpuStorage, CudaStorage, CustomOp1, CustomOp2, CustomOp3, D, DType, Device, Error, Layout, Result, Shape, Storage,
    Tensor,
};
use veriplay_kernels::attention::{AttentionGroup, HeadSizes};
use veriplay_kernels::layers::{Activation, RopeTable};
use veriplay_kernels::logprob::Prediction;

use self::attention::Tile;
pub(crate) use self::attention::{TILE_ROWS, rows_of_tile};
pub(super) use self::wide_product::wide_product;
use super::{LinearSite, Ops};
use crate::config::{LayerKind, RopeTables};
use crate::linear::Linear;

/// The result of one of candle's kernels, which becomes the output of an operation with the gradients that `backward` computes. Its arguments
/// are detached: a gradient with a graph of its own would keep alive what it was computed from.
struct WithBackward<B> {
    name: &'static str,
    /// Contiguous. Taken when it is attached: kept here it would be in memory twice until backward.
    result: Mutex<Option<Tensor>>,
    backward: B,
}

impl<B> WithBackward<B> {
    const fn new(name: &'static str, result: Tensor, backward: B) -> Self {
        Self { name, result: Mutex::new(Some(result)), backward }
    }

    fn take(&self) -> Result<Tensor> {
        let taken = self.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.ok_or_else(|| Error::Msg(format!("the result of `{}` was attached before", self.name)))
    }

    fn wrong_device(&self, device: &str) -> Error {
        Error::Msg(format!("`{}` was computed elsewhere than on the {device}, where its argument is", self.name))
    }

    fn cpu(&self) -> Result<(CpuStorage, Shape)> {
        let result = self.take()?;
        let (storage, layout) = result.storage_and_layout();
        let Storage::Cpu(cpu) = &*storage else { return Err(self.wrong_device("CPU")) };
        Ok((cpu.try_clone(layout)?, result.shape().clone()))
    }

    fn cuda(&self) -> Result<(CudaStorage, Shape)> {
        let result = self.take()?;
        let (storage, layout) = result.storage_and_layout();
        let Storage::Cuda(cuda) = &*storage else { return Err(self.wrong_device("card")) };
        Ok((cuda.try_clone(layout)?, result.shape().clone()))
    }
}

/// `backward` gives the gradient of the argument from (argument, result, gradient of the result).
impl<B: Fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor> + Send + Sync> CustomOp1 for WithBackward<B> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        self.cpu()
    }

    fn cuda_fwd(&self, _: &CudaStorage, _: &Layout) -> Result<(CudaStorage, Shape)> {
        self.cuda()
    }

    fn bwd(&self, x: &Tensor, y: &Tensor, dy: &Tensor) -> Result<Option<Tensor>> {
        (self.backward)(&x.detach(), &y.detach(), dy).map(Some)
    }
}

/// `backward` gives the gradients of both arguments from (first, second, gradient of the result).
impl<B: Fn(&Tensor, &Tensor, &Tensor) -> Result<(Tensor, Tensor)> + Send + Sync> CustomOp2 for WithBackward<B> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        self.cpu()
    }

    fn cuda_fwd(&self, _: &CudaStorage, _: &Layout, _: &CudaStorage, _: &Layout) -> Result<(CudaStorage, Shape)> {
        self.cuda()
    }

    fn bwd(&self, x: &Tensor, gain: &Tensor, _: &Tensor, dy: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        (self.backward)(&x.detach(), &gain.detach(), dy).map(|(dx, dgain)| (Some(dx), Some(dgain)))
    }
}

/// `backward` gives the gradients of all three arguments from them and the gradient of the result.
impl<B> CustomOp3 for WithBackward<B>
where
    B: Fn(&Tensor, &Tensor, &Tensor, &Tensor) -> Result<[Tensor; 3]> + Send + Sync,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn cpu_fwd(
        &self,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        self.cpu()
    }

    fn cuda_fwd(
        &self,
        _: &CudaStorage,
        _: &Layout,
        _: &CudaStorage,
        _: &Layout,
        _: &CudaStorage,
        _: &Layout,
    ) -> Result<(CudaStorage, Shape)> {
        self.cuda()
    }

    fn bwd(&self, a: &Tensor, b: &Tensor, c: &Tensor, _: &Tensor, dy: &Tensor) -> Result<Gradients3> {
        (self.backward)(&a.detach(), &b.detach(), &c.detach(), dy).map(|[da, db, dc]| (Some(da), Some(db), Some(dc)))
    }
}

type Gradients3 = (Option<Tensor>, Option<Tensor>, Option<Tensor>);

fn with_backward<B>(x: &Tensor, name: &'static str, result: Tensor, backward: B) -> Result<Tensor>
where
    B: Fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor> + Send + Sync + 'static,
{
    if x.track_op() { x.apply_op1(WithBackward::new(name, result, backward)) } else { Ok(result) }
}

/// RMSNorm (Zhang and Sennrich 2019) over the last dimension: x [.., width], gain [width].
pub(super) fn rms_norm(x: &Tensor, gain: &Tensor, eps: f32) -> Result<Tensor> {
    let result = candle_nn::ops::rms_norm(&x.detach(), &gain.detach(), eps)?;
    if !x.track_op() && !gain.track_op() {
        return Ok(result);
    }
    let backward = move |x: &Tensor, gain: &Tensor, dy: &Tensor| norm_backward(x, gain, dy, f64::from(eps));
    x.apply_op2(gain, WithBackward::new("rms-norm", result, backward))
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

/// [`Activation::GeluTanh`], in f32 whatever x is: with u = √(2/π)·(x + 0.044715·x³) it is x·(1 + tanh u)/2, and its slope
/// (1 + tanh u)/2 + x·(1 − tanh² u)/2·du/dx.
fn gelu_tanh(x: &Tensor) -> Result<Tensor> {
    let result = widened(&x.detach())?.gelu()?.to_dtype(x.dtype())?;
    with_backward(x, "gelu", result, |x, _, dy| {
        const SLOPE: f64 = 0.797_884_560_802_865_4; // √(2/π)
        let (wide, dys) = (widened(x)?, widened(dy)?);
        let square = (wide.sqr()? * 0.044_715)?;
        let tanh = ((&wide * (&square + 1.0)?)? * SLOPE)?.tanh()?;
        let curved = (&wide * (1.0 - tanh.sqr()?)?)?;
        let curved = (curved * ((square * 3.0)? + 1.0)?)?;
        let slope = ((tanh + 1.0)? + (curved * SLOPE)?)?;
        ((dys * slope)? * 0.5)?.to_dtype(x.dtype())
    })
}

/// Softmax over the last dimension, in f32; dx = y∘(g − Σ g∘y).
pub(super) fn softmax(x: &Tensor) -> Result<Tensor> {
    check_count("scores of attention", x.elem_count(), "learn.options.micro_tokens")?;
    let result = candle_nn::ops::softmax_last_dim(&x.detach())?;
    let backward = |_: &Tensor, y: &Tensor, dy: &Tensor| {
        let inner = (dy * y)?.sum_keepdim(D::Minus1)?;
        dy.broadcast_sub(&inner)? * y
    };
    with_backward(x, "softmax", result, backward)
}

/// Rotations (Su et al. 2021) of x [batch, heads, rows, dim]: (a, b) → (a·cos − b·sin, b·cos + a·sin) on the halves of a head. cos and
/// sin are [rows, dim / 2], or [batch, rows, dim / 2], in f32; where they are narrower, so is the part of a head that is rotated. Backward
/// turns the other way.
pub(super) fn rope(x: &Tensor, cos: &Tensor, sin: &Tensor) -> Result<Tensor> {
    let (dim, turned) = (x.dim(D::Minus1)?, 2 * cos.dim(D::Minus1)?);
    if turned < dim {
        let part = rope(&x.narrow(D::Minus1, 0, turned)?, cos, sin)?;
        return Tensor::cat(&[part, x.narrow(D::Minus1, turned, dim - turned)?], D::Minus1)?.contiguous();
    }
    let x = x.contiguous()?;
    let result = rotated(&x.detach(), cos, sin)?;
    let (cos, sin) = (cos.clone(), sin.clone());
    let backward = move |_: &Tensor, _: &Tensor, dy: &Tensor| rotated(&dy.contiguous()?, &cos, &sin.neg()?);
    with_backward(&x, "rope", result, backward)
}

/// cos and sin of some positions; `None` where heads are not rotated.
pub(crate) type Rotations = Option<[Tensor; 2]>;

/// As [`rope`], where heads are rotated.
fn rotate(x: &Tensor, rotations: &Rotations) -> Result<Tensor> {
    rotations.as_ref().map_or_else(|| Ok(x.clone()), |[cos, sin]| rope(x, cos, sin))
}

/// Computed in f32 and rounded once, as in the fused kernels: sampler and trainer rotate alike.
fn rotated(x: &Tensor, cos: &Tensor, sin: &Tensor) -> Result<Tensor> {
    candle_nn::rotary_emb::rope(&widened(x)?, cos, sin)?.to_dtype(x.dtype())
}

/// Refuses a tensor that candle's kernels for cards, which count in 32 bits, would compute wrongly without an error.
pub(super) fn check_count(what: &str, count: usize, key: &str) -> Result<()> {
    if i32::try_from(count).is_ok() {
        return Ok(());
    }
    let most = i32::MAX;
    Err(Error::Msg(format!(
        "there are {count} {what}, and an operation of a device takes {most} at most: lower `{key}`"
    )))
}

/// At least f32.
fn widened(x: &Tensor) -> Result<Tensor> {
    if matches!(x.dtype(), DType::BF16 | DType::F16) { x.to_dtype(DType::F32) } else { Ok(x.clone()) }
}

#[derive(Debug)]
pub(crate) struct CandleOps {
    pub(crate) sizes: HeadSizes,
    pub(crate) ropes: Arc<RopeTables>,
    pub(crate) activation: Activation,
    pub(crate) tables: Arc<GroupTableCache>,
    /// Rows of queries whose scores exist at a time.
    pub(crate) tile_rows: usize,
}

/// The tables of the last micro-batch, which all layers of a kind share: made and sent to the device once.
#[derive(Debug, Default)]
pub(crate) struct GroupTableCache {
    /// Of each kind of layer, and of each group.
    tiles: [LastTables<[GroupTables]>; LayerKind::ALL.len()],
    #[cfg(feature = "cuda")]
    fused: [LastTables<fused_attention::Tables>; LayerKind::ALL.len()],
}

/// Some groups, and what was made of them.
type TablesOfGroups<T> = (Arc<[AttentionGroup]>, Arc<T>);

/// The groups that came last, with their tables.
#[derive(Debug)]
struct LastTables<T: ?Sized>(Mutex<Option<TablesOfGroups<T>>>);

impl<T: ?Sized> Default for LastTables<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: ?Sized> LastTables<T> {
    fn of(&self, groups: &Arc<[AttentionGroup]>, make: impl FnOnce() -> Result<Arc<T>>) -> Result<Arc<T>> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, tables)) = &*last
            && Arc::ptr_eq(of, groups)
        {
            return Ok(Arc::clone(tables));
        }
        let tables = make()?;
        *last = Some((Arc::clone(groups), Arc::clone(&tables)));
        Ok(tables)
    }
}

#[derive(Debug)]
struct GroupTables {
    rotations: Rotations,
    tiles: Arc<[Tile]>,
}

impl Ops for CandleOps {
    fn norm(&self, x: &Tensor, gain: &Tensor) -> Result<Tensor> {
        rms_norm(&x.contiguous()?, gain, self.sizes.eps)
    }

    fn linear(&self, x: &Tensor, linear: &Linear, site: LinearSite) -> Result<Tensor> {
        // In which no adapter is.
        if site == LinearSite::Head && x.dtype() == DType::BF16 {
            return wide_product(x, linear.merged()?);
        }
        linear.apply(x)
    }

    fn bias(&self, x: &Tensor, bias: &Tensor) -> Result<Tensor> {
        x.broadcast_add(bias)
    }

    fn attention(
        &self,
        qkv: &Tensor,
        gains: Option<&[Tensor; 2]>,
        kind: LayerKind,
        groups: &Arc<[AttentionGroup]>,
    ) -> Result<Tensor> {
        #[cfg(feature = "cuda")]
        if self.ropes.window(kind) == usize::MAX && fused_attention::fits(qkv, &self.sizes, self.ropes.of(kind))? {
            let (rope, device) = (self.ropes.of(kind), qkv.device());
            let tables = || fused_attention::Tables::new(groups, &self.sizes, rope, device).map(Arc::new);
            let tables = self.tables.fused[kind as usize].of(groups, tables)?;
            return fused_attention::attend(&self.normed_heads(qkv, gains)?, &self.sizes, tables);
        }
        self.attention_in_tiles(qkv, gains, kind, groups)
    }

    fn mlp(&self, x: &Tensor, gate_up: &Linear, down: &Linear, _: usize) -> Result<Tensor> {
        let inner = down.inputs()?;
        let pair = gate_up.apply(x)?;
        let (gate, up) = (pair.narrow(1, 0, inner)?, pair.narrow(1, inner, inner)?);
        let gate = match self.activation {
            Activation::Silu => gate.silu()?,
            Activation::GeluTanh => gelu_tanh(&gate)?,
        };
        down.apply(&(gate * up)?)
    }

    fn logprobs(&self, logits: &Tensor, predictions: &[Prediction]) -> Result<Tensor> {
        logprobs::logprobs(logits, predictions)
    }
}

impl CandleOps {
    /// [`Ops::attention`] by candle's operations, group by group.
    fn attention_in_tiles(
        &self,
        qkv: &Tensor,
        gains: Option<&[Tensor; 2]>,
        kind: LayerKind,
        groups: &Arc<[AttentionGroup]>,
    ) -> Result<Tensor> {
        let tables = self.tables(kind, groups, qkv.device())?;
        let group = |(group, tables)| self.attend_in_group(qkv, gains, group, tables);
        let mixed = groups.iter().zip(&*tables).map(group).collect::<Result<Vec<_>>>()?;
        Tensor::cat(&mixed, 0)
    }

    /// Attention of one group: [rows, heads·dim].
    fn attend_in_group(
        &self,
        qkv: &Tensor,
        gains: Option<&[Tensor; 2]>,
        group: &AttentionGroup,
        tables: &GroupTables,
    ) -> Result<Tensor> {
        let HeadSizes { heads, kv_heads, dim, .. } = self.sizes;
        let rows = group.rows().len();
        let qkv = qkv.narrow(0, group.rows().start, rows)?;
        let [q_gain, k_gain] = gains.map_or([None; 2], |[q, k]| [Some(q), Some(k)]);
        let q = self.rotated_heads(&qkv, 0, heads, q_gain, tables)?;
        let k = self.rotated_heads(&qkv, heads, kv_heads, k_gain, tables)?;
        let v = take_heads(&qkv, heads + kv_heads, kv_heads, dim)?;
        let mixed = attention::attend(&self.sizes, &tables.tiles, &[q, k, v])?;
        mixed.transpose(0, 1)?.reshape((rows, heads * dim))
    }

    /// Some heads of a group, normed where they have a gain, and rotated: [heads, rows, dim].
    fn rotated_heads(
        &self,
        qkv: &Tensor,
        first: usize,
        heads: usize,
        gain: Option<&Tensor>,
        tables: &GroupTables,
    ) -> Result<Tensor> {
        let x = take_heads(qkv, first, heads, self.sizes.dim)?;
        let x = gain.map_or_else(|| Ok(x.clone()), |gain| rms_norm(&x, gain, self.sizes.eps))?;
        rotate(&x.unsqueeze(0)?, &tables.rotations)?.squeeze(0)
    }

    fn tables(&self, kind: LayerKind, groups: &Arc<[AttentionGroup]>, device: &Device) -> Result<Arc<[GroupTables]>> {
        let table = |group: &AttentionGroup| {
            let positions = group.visible_rows().map(|row| row.position);
            let rotations = rotations(self.ropes.of(kind), positions, device)?;
            let tiles = Tile::split(group, self.ropes.window(kind), self.tile_rows, device)?;
            Ok(GroupTables { rotations, tiles })
        };
        self.tables.tiles[kind as usize].of(groups, || groups.iter().map(table).collect())
    }

    /// Projections whose queries and keys are normalised, where they have gains.
    #[cfg(feature = "cuda")]
    fn normed_heads(&self, qkv: &Tensor, gains: Option<&[Tensor; 2]>) -> Result<Tensor> {
        let Some([q_gain, k_gain]) = gains else { return qkv.contiguous() };
        let (HeadSizes { heads, kv_heads, dim, eps, .. }, rows) = (self.sizes, qkv.dim(0)?);
        let part = |first: usize, count: usize| qkv.narrow(1, first * dim, count * dim);
        let normed = |first: usize, count: usize, gain: &Tensor| {
            rms_norm(&part(first, count)?.contiguous()?.reshape((rows, count, dim))?, gain, eps)?
                .reshape((rows, count * dim))
        };
        let (q, k) = (normed(0, heads, q_gain)?, normed(heads, kv_heads, k_gain)?);
        Tensor::cat(&[q, k, part(heads + kv_heads, kv_heads)?], 1)?.contiguous()
    }
}

/// Some heads of raw projections, head by head: [heads, rows, dim].
fn take_heads(qkv: &Tensor, first: usize, heads: usize, dim: usize) -> Result<Tensor> {
    let rows = qkv.dim(0)?;
    qkv.narrow(1, first * dim, heads * dim)?.reshape((rows, heads, dim))?.transpose(0, 1)?.contiguous()
}

/// cos and sin of positions [positions, pairs] each, in f32 whatever the network computes in; `None` of a table without pairs.
pub(crate) fn rotations(
    rope: &RopeTable,
    positions: impl Iterator<Item = usize>,
    device: &Device,
) -> Result<Rotations> {
    if rope.pairs() == 0 {
        return Ok(None);
    }
    let (mut cos, mut sin, mut rows) = (Vec::new(), Vec::new(), 0);
    for position in positions {
        let (c, s) = rope.at(position);
        cos.extend_from_slice(c);
        sin.extend_from_slice(s);
        rows += 1;
    }
    let table = |values| Tensor::from_vec(values, (rows, rope.pairs()), device);
    Ok(Some([table(cos)?, table(sin)?]))
}

/// Heads of one decoding step: raw projections [rows, (heads + 2·kv_heads)·dim] → queries [rows, heads, 1, dim], and keys and values
/// [rows, kv_heads, 1, dim] each. cos and sin are [rows, 1, pairs].
pub(crate) fn step_heads(
    sizes: &HeadSizes,
    qkv: &Tensor,
    gains: Option<&[Tensor; 2]>,
    rotations: &Rotations,
) -> Result<[Tensor; 3]> {
    let HeadSizes { heads, kv_heads, dim, .. } = *sizes;
    let rows = qkv.dim(0)?;
    let part = |first: usize, count: usize| {
        qkv.narrow(1, first * dim, count * dim)?.contiguous()?.reshape((rows, count, 1, dim))
    };
    let norm = |x: Tensor, gain: Option<&Tensor>| gain.map_or(Ok(x.clone()), |gain| rms_norm(&x, gain, sizes.eps));
    let [q_gain, k_gain] = gains.map_or([None; 2], |[q, k]| [Some(q), Some(k)]);
    let q = rotate(&norm(part(0, heads)?, q_gain)?, rotations)?;
    let k = rotate(&norm(part(heads, kv_heads)?, k_gain)?, rotations)?;
    Ok([q, k, part(heads + kv_heads, kv_heads)?])
}

/// What the rows of one decoding step attend to in a layer. Rows of one prompt are neighbours.
pub(crate) struct StepColumns<'a> {
    /// Keys and values of prompts [kv_heads, prompts, columns, dim].
    pub(crate) prompts: &'a [Tensor; 2],
    /// Where prompts do not all have the same number of rows: the row at each place [prompts · most rows], any where there is none; and the place
    /// of each row.
    pub(crate) places: Option<&'a [Tensor; 2]>,
    /// Keys and values of the rows' own tokens [kv_heads, rows, columns, dim].
    pub(crate) own: &'a [Tensor; 2],
    /// Added to the scores [1, rows, 1, columns of prompts and of own tokens].
    pub(crate) mask: &'a Tensor,
}

/// Attention of one decoding step: queries [rows, heads, 1, dim] → [rows, heads·dim]. The rows of a prompt are one product with its keys, and one
/// with its values.
pub(crate) fn step_attention(sizes: &HeadSizes, q: &Tensor, columns: &StepColumns<'_>) -> Result<Tensor> {
    let HeadSizes { heads, kv_heads, dim, .. } = *sizes;
    let (rows, sharing) = (q.dim(0)?, heads / kv_heads);
    let StepColumns { prompts: [prompt_keys, prompt_values], own: [own_keys, own_values], mask, .. } = columns;
    let q = q.reshape((rows, kv_heads, sharing, dim))?.transpose(0, 1)?.contiguous()?;
    let of_prompts = columns.multiply_with_prompts(&q, &prompt_keys.t()?)?;
    let (split, own) = (of_prompts.dim(3)?, q.matmul(&own_keys.t()?)?);
    let scores = Tensor::cat(&[of_prompts, own], 3)?;
    let scores = (widened(&scores)? * f64::from(sizes.scale))?.broadcast_add(mask)?;
    let weights = softmax(&scores)?.to_dtype(own_values.dtype())?;
    drop(scores);
    let of_prompts = columns.multiply_with_prompts(&weights.narrow(3, 0, split)?.contiguous()?, prompt_values)?;
    let own = weights.narrow(3, split, weights.dim(3)? - split)?.contiguous()?.matmul(own_values)?;
    (of_prompts + own)?.transpose(0, 1)?.reshape((rows, heads * dim))
}

impl StepColumns<'_> {
    /// x [kv_heads, rows, heads of each, n] times what the prompt of each row has, of all prompts [kv_heads, prompts, n, m].
    fn multiply_with_prompts(&self, x: &Tensor, of_prompts: &Tensor) -> Result<Tensor> {
        let x = match self.places {
            Some([rows, _]) => x.index_select(rows, 1)?,
            None => x.clone(),
        };
        let ((kv_heads, places, sharing, _), prompts) = (x.dims4()?, of_prompts.dim(1)?);
        let product = x.reshape((kv_heads, prompts, places / prompts * sharing, ()))?.matmul(of_prompts)?;
        let product = product.reshape((kv_heads, places, sharing, ()))?;
        match self.places {
            Some([_, places]) => product.index_select(places, 1),
            None => Ok(product),
        }
    }
}

//! One decoding step on the CPU: all rows through all layers on slices, without a candle graph.

use candle_core::{Error, Result, Tensor};
use veriplay_kernels::attention::{DecodeRow, DecodeScratch, DecodeStep, KvCache, LayerAttention, PrefillStep};
use veriplay_kernels::gemm::{GemmWorkspace, MatrixTarget, MatrixView, PackedMatrix, multiply};
use veriplay_kernels::layers::{Activation, add_bias, gated, rms_norm};
use veriplay_kernels::math::accumulate;
use veriplay_kernels::simd::AlignedBuffer;
use veriplay_kernels::thread_pool::ThreadPool;

use crate::network::{Layer, LayerBackend, Network, run_layers};
use crate::ops::PackedModel;
use crate::ops::slices::TensorSlice;

/// Buffers of one decoding loop's steps, kept between calls.
#[derive(Debug, Default)]
pub(super) struct StepBuffers {
    x: AlignedBuffer,
    normed: AlignedBuffer,
    qkv: AlignedBuffer,
    mixed: AlignedBuffer,
    gate_up: AlignedBuffer,
    activated: AlignedBuffer,
    /// What is added to the stream, where it is normed first.
    branch: AlignedBuffer,
    logits: AlignedBuffer,
    /// One for each thread of the pool.
    pub(super) scratches: Vec<DecodeScratch>,
    products: GemmWorkspace,
}

impl StepBuffers {
    /// Lets `pool` share the work that is worth it.
    pub(super) fn set_pool(&mut self, pool: &ThreadPool) {
        self.products.set_pool(pool);
        self.scratches.resize_with(pool.threads(), DecodeScratch::default);
    }

    /// Logits behind the last step's tokens [rows, vocab].
    pub(super) fn logits(&mut self) -> &mut [f32] {
        self.logits.as_mut_slice()
    }
}

/// Rows of a prompt, which lie side by side, with a cache of the keys and values of the whole prompt up to them.
pub(crate) struct NewRows<'a> {
    /// Overwritten [rows, heads·dim].
    pub(crate) out: &'a mut [f32],
    pub(crate) qkv: &'a [f32],
    /// Position of the first one.
    pub(crate) first: usize,
    pub(crate) cache: &'a KvCache,
}

/// One layer's attention of a prompt's new rows, which `pool` shares: there is a scratch for each of its threads.
pub(crate) fn attend_prompt(
    pool: &ThreadPool,
    scratches: &mut [DecodeScratch],
    new: NewRows<'_>,
    (layer, heads): (usize, &LayerAttention<'_>),
) {
    let NewRows { out, qkv, first, cache } = new;
    let (raw_width, width) = (heads.width(), heads.heads * heads.dim);
    let rows = qkv.len() / raw_width;
    // A query and a weight for each position that is visible.
    let share = rows.div_ceil(pool.threads_worth_waking(2 * rows * (first + rows) * width));
    let inputs = qkv.chunks(share * raw_width).enumerate();
    let outputs = out.chunks_mut(share * width).zip(scratches);
    let part = |((number, qkv), (out, scratch)): ((usize, _), (_, _))| {
        let first = first + number * share;
        PrefillStep { out, qkv, first, cache, layer, heads, scratch }
    };
    pool.for_each(&mut inputs.zip(outputs).map(part).collect::<Vec<_>>(), PrefillStep::run);
}

/// Calls `work` with the attention of one layer.
pub(super) fn with_heads<R>(network: &Network, layer: usize, work: impl FnOnce(&LayerAttention<'_>) -> R) -> Result<R> {
    let Layer { qk_norms, kind, .. } = &network.layers[layer];
    let gains = qk_norms.as_ref();
    let gains =
        gains.map(|[query, key]| Ok::<_, Error>([TensorSlice::new(query)?, TensorSlice::new(key)?])).transpose()?;
    let gains = gains.as_ref().map(|[query, key]| [&**query, &**key]);
    let (rope, window) = (network.ropes.of(*kind), network.ropes.window(*kind));
    Ok(work(&network.config.head_sizes().layer(gains, rope, window)))
}

/// The layers of one step, on a model and in the buffers of a decoding loop. The residual stream is one of the buffers.
pub(super) struct CpuStep<'a, 'c> {
    pub(super) network: &'a Network,
    pub(super) packed: &'a PackedModel,
    pub(super) buffers: &'a mut StepBuffers,
    pub(super) pool: &'a ThreadPool,
    pub(super) rows: &'a mut [DecodeRow<'c>],
}

impl CpuStep<'_, '_> {
    /// Computes the logits behind one more token of every row, and appends its keys and values to the rows' caches.
    pub(super) fn run(&mut self, tokens: &[u32]) -> Result<()> {
        let config = &self.network.config;
        let (hidden, layers) = (config.hidden_size, config.num_hidden_layers);
        let (embedding, x) = (TensorSlice::new(&self.network.embedding)?, self.buffers.x.resize(tokens.len() * hidden));
        for (row, &token) in x.chunks_exact_mut(hidden).zip(tokens) {
            row.copy_from_slice(&embedding[token as usize * hidden..(token as usize + 1) * hidden]);
        }
        let scale = config.embedding_scale() as f32;
        if scale != 1.0 {
            x.iter_mut().for_each(|x| *x *= scale);
        }
        run_layers(self, 0..layers, ())?;
        self.predict()
    }

    fn predict(&mut self) -> Result<()> {
        let config = &self.network.config;
        let (hidden, rows) = (config.hidden_size, self.rows.len());
        let normed = self.buffers.normed.resize(rows * hidden);
        rms_norm(normed, self.buffers.x.as_slice(), &TensorSlice::new(&self.network.norm)?, config.head_sizes().eps);
        let target = MatrixTarget::set(self.buffers.logits.resize(rows * config.vocab_size), config.vocab_size);
        multiply(rows, MatrixView::rows(normed, hidden), &self.packed.head.forward, target, &mut self.buffers.products);
        Ok(())
    }
}

impl LayerBackend for CpuStep<'_, '_> {
    type Stream = ();
    type Projections = ();
    type Mixed = ();

    fn project(&mut self, layer: usize, (): &()) -> Result<()> {
        let (config, weights, rows) = (&self.network.config, &self.network.layers[layer], self.rows.len());
        let (hidden, sizes) = (config.hidden_size, config.head_sizes());
        let width = sizes.width();
        let normed = self.buffers.normed.resize(rows * hidden);
        rms_norm(normed, self.buffers.x.as_slice(), &TensorSlice::new(&weights.input_norm)?, sizes.eps);
        let qkv = self.buffers.qkv.resize(rows * width);
        let packed = &self.packed.layers[layer].qkv.forward;
        multiply(
            rows,
            MatrixView::rows(normed, hidden),
            packed,
            MatrixTarget::set(qkv, width),
            &mut self.buffers.products,
        );
        if let Some(bias) = &weights.qkv_bias {
            add_bias(qkv, &TensorSlice::new(bias)?);
        }
        Ok(())
    }

    fn attend(&mut self, layer: usize, (): ()) -> Result<()> {
        let (rows, width) = (self.rows.len(), self.network.config.query_width());
        let raw_width = self.network.config.head_sizes().width();
        let (qkv, out) = (self.buffers.qkv.as_slice(), self.buffers.mixed.resize(rows * width));
        let visible: usize = self.rows.iter().map(DecodeRow::visible).sum();
        // A query and a weight for each position that is visible.
        let share = rows.div_ceil(self.pool.threads_worth_waking(2 * visible * width));
        let inputs = qkv.chunks(share * raw_width).zip(self.rows.chunks_mut(share));
        let outputs = out.chunks_mut(share * width).zip(&mut self.buffers.scratches);
        with_heads(self.network, layer, |heads| {
            let part = |((qkv, rows), (out, scratch))| DecodeStep { out, qkv, rows, layer, heads, scratch };
            self.pool.for_each(&mut inputs.zip(outputs).map(part).collect::<Vec<_>>(), DecodeStep::run);
        })
    }

    fn add_attention(&mut self, layer: usize, (): (), (): ()) -> Result<()> {
        let gain = self.network.layers[layer].behind_norms.as_ref().map(|[gain, _]| gain);
        let (network, weight) = (self.network, &self.packed.layers[layer].output.forward);
        let StepBuffers { x, normed, mixed, branch, products, .. } = &mut *self.buffers;
        let inputs = MatrixView::rows(mixed.as_slice(), network.config.query_width());
        let mut stream = Stream { x: x.as_mut_slice(), branch, normed, products, eps: network.config.head_sizes().eps };
        stream.add(inputs, weight, gain)
    }

    fn add_mlp(&mut self, layer: usize, (): ()) -> Result<()> {
        let (config, weights, rows) = (&self.network.config, &self.network.layers[layer], self.rows.len());
        let (hidden, inner) = (config.hidden_size, config.intermediate_size);
        let packed = &self.packed.layers[layer];
        let normed = self.buffers.normed.resize(rows * hidden);
        rms_norm(normed, self.buffers.x.as_slice(), &TensorSlice::new(&weights.post_norm)?, config.head_sizes().eps);
        let gate_up = self.buffers.gate_up.resize(rows * 2 * inner);
        let target = MatrixTarget::set(gate_up, 2 * inner);
        multiply(rows, MatrixView::rows(normed, hidden), &packed.gate_up.forward, target, &mut self.buffers.products);
        let activated = self.buffers.activated.resize(rows * inner);
        gate_rows(self.pool, activated, gate_up, inner, config.model_type.activation());
        let gain = weights.behind_norms.as_ref().map(|[_, gain]| gain);
        let StepBuffers { x, normed, activated, branch, products, .. } = &mut *self.buffers;
        let inputs = MatrixView::rows(activated.as_slice(), inner);
        let mut stream = Stream { x: x.as_mut_slice(), branch, normed, products, eps: config.head_sizes().eps };
        stream.add(inputs, &packed.down.forward, gain)
    }
}

/// Multiplications that take as long as gating one number, with its exponential and its division.
const GATE: usize = 32;

/// As [`gated`]; the rows are shared by `pool` where that pays. The norms of few rows are too short for it.
fn gate_rows(pool: &ThreadPool, out: &mut [f32], gate_up: &[f32], inner: usize, activation: Activation) {
    let share = (out.len() / inner).div_ceil(pool.threads_worth_waking(out.len() * GATE)).max(1);
    let parts = out.chunks_mut(share * inner).zip(gate_up.chunks(share * 2 * inner));
    pool.for_each(&mut parts.collect::<Vec<_>>(), |(out, gate_up)| gated(out, gate_up, inner, activation));
}

/// The residual stream x [rows, hidden] of a step, with buffers for what is added to it.
struct Stream<'a> {
    x: &'a mut [f32],
    branch: &'a mut AlignedBuffer,
    normed: &'a mut AlignedBuffer,
    products: &'a mut GemmWorkspace,
    eps: f32,
}

impl Stream<'_> {
    /// Adds a product [rows, hidden], normed where there is a gain.
    fn add(&mut self, inputs: MatrixView<'_>, weight: &PackedMatrix, gain: Option<&Tensor>) -> Result<()> {
        let (_, hidden) = weight.shape();
        let rows = self.x.len() / hidden;
        let Some(gain) = gain else {
            multiply(rows, inputs, weight, MatrixTarget::add(self.x, hidden), self.products);
            return Ok(());
        };
        let branch = self.branch.resize(self.x.len());
        multiply(rows, inputs, weight, MatrixTarget::set(branch, hidden), self.products);
        let normed = self.normed.resize(self.x.len());
        rms_norm(normed, branch, &TensorSlice::new(gain)?, self.eps);
        accumulate(self.x, normed);
        Ok(())
    }
}

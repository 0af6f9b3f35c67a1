//! One decoding step on the CPU: all rows through all layers on slices, without a candle graph.

use candle_core::Result;
use veriplay_kernels::attention::{DecodeRow, DecodeScratch, DecodeStep};
use veriplay_kernels::bias::add_bias;
use veriplay_kernels::gemm::{Target, View, Workspace, multiply};
use veriplay_kernels::norm::rms_norm;
use veriplay_kernels::simd::Buffer;
use veriplay_kernels::swiglu::swiglu;
use veriplay_kernels::thread_pool::ThreadPool;

use super::frozen::Frozen;
use crate::model::{LayerBackend, run_layers};

/// Buffers of one decoding loop's steps, kept between calls.
#[derive(Debug, Default)]
pub(super) struct StepSpace {
    x: Buffer,
    normed: Buffer,
    qkv: Buffer,
    mixed: Buffer,
    gate_up: Buffer,
    activated: Buffer,
    logits: Buffer,
    /// One for each thread of the pool.
    scratches: Vec<DecodeScratch>,
    products: Workspace,
}

impl StepSpace {
    /// Lets `pool` share what is worth it.
    pub(super) fn shared_by(&mut self, pool: &ThreadPool) {
        self.products.shared_by(pool);
        self.scratches.resize_with(pool.threads(), DecodeScratch::default);
    }

    /// Logits behind the last step's tokens [rows, vocab].
    pub(super) fn logits(&mut self) -> &mut [f32] {
        self.logits.as_mut_slice()
    }
}

/// The layers of one step, on a model and in the buffers of a decoding loop. The residual stream is one of the buffers.
pub(super) struct CpuStep<'a, 'c> {
    pub(super) model: &'a Frozen<'a>,
    pub(super) space: &'a mut StepSpace,
    pub(super) pool: &'a ThreadPool,
    pub(super) rows: &'a mut [DecodeRow<'c>],
}

impl CpuStep<'_, '_> {
    /// Computes the logits behind one more token of every row, and appends its keys and values to the rows' caches.
    pub(super) fn run(&mut self, tokens: &[u32]) -> Result<()> {
        let config = self.model.config;
        self.model.embed(self.space.x.resize(tokens.len() * config.hidden_size), tokens);
        run_layers(self, 0..config.num_hidden_layers, ())?;
        self.predict();
        Ok(())
    }

    /// Computes the logits from the residual stream.
    fn predict(&mut self) {
        let config = self.model.config;
        let (hidden, rows) = (config.hidden_size, self.rows.len());
        let normed = self.space.normed.resize(rows * hidden);
        rms_norm(normed, self.space.x.as_slice(), &self.model.norm, self.model.eps());
        let target = Target::set(self.space.logits.resize(rows * config.vocab_size), config.vocab_size);
        multiply(rows, View::rows(normed, hidden), &self.model.packed.head.forward, target, &mut self.space.products);
    }
}

impl LayerBackend for CpuStep<'_, '_> {
    type Stream = ();
    type Projections = ();
    type Mixed = ();

    fn project(&mut self, layer: usize, (): &()) -> Result<()> {
        let (hidden, rows) = (self.model.config.hidden_size, self.rows.len());
        let width = self.model.heads(layer).width();
        let normed = self.space.normed.resize(rows * hidden);
        rms_norm(normed, self.space.x.as_slice(), &self.model.layers[layer].input, self.model.eps());
        let qkv = self.space.qkv.resize(rows * width);
        let packed = &self.model.packed.layers[layer].qkv.forward;
        multiply(rows, View::rows(normed, hidden), packed, Target::set(qkv, width), &mut self.space.products);
        if let Some(bias) = &self.model.layers[layer].qkv_bias {
            add_bias(qkv, bias);
        }
        Ok(())
    }

    fn attend(&mut self, layer: usize, (): ()) -> Result<()> {
        let (rows, width) = (self.rows.len(), self.model.config.query_width());
        let heads = self.model.heads(layer);
        let (qkv, out) = (self.space.qkv.as_slice(), self.space.mixed.resize(rows * width));
        let visible: usize = self.rows.iter().map(DecodeRow::visible).sum();
        // A query and a weight for each position that is visible.
        let share = rows.div_ceil(self.pool.share(2 * visible * width));
        let inputs = qkv.chunks(share * heads.width()).zip(self.rows.chunks_mut(share));
        let outputs = out.chunks_mut(share * width).zip(&mut self.space.scratches);
        let part = |((qkv, rows), (out, scratch))| DecodeStep { out, qkv, rows, layer, heads: &heads, scratch };
        self.pool.each(&mut inputs.zip(outputs).map(part).collect::<Vec<_>>(), DecodeStep::run);
        Ok(())
    }

    fn add_attention(&mut self, layer: usize, (): (), (): ()) -> Result<()> {
        let (hidden, width) = (self.model.config.hidden_size, self.model.config.query_width());
        let target = Target::add(self.space.x.as_mut_slice(), hidden);
        let packed = &self.model.packed.layers[layer].output.forward;
        let mixed = View::rows(self.space.mixed.as_slice(), width);
        multiply(self.rows.len(), mixed, packed, target, &mut self.space.products);
        Ok(())
    }

    fn add_mlp(&mut self, layer: usize, (): ()) -> Result<()> {
        let (hidden, inner, rows) =
            (self.model.config.hidden_size, self.model.config.intermediate_size, self.rows.len());
        let packed = &self.model.packed.layers[layer];
        let normed = self.space.normed.resize(rows * hidden);
        rms_norm(normed, self.space.x.as_slice(), &self.model.layers[layer].post, self.model.eps());
        let gate_up = self.space.gate_up.resize(rows * 2 * inner);
        let target = Target::set(gate_up, 2 * inner);
        multiply(rows, View::rows(normed, hidden), &packed.gate_up.forward, target, &mut self.space.products);
        let activated = self.space.activated.resize(rows * inner);
        swiglu(activated, gate_up, inner);
        let target = Target::add(self.space.x.as_mut_slice(), hidden);
        multiply(rows, View::rows(activated, inner), &packed.down.forward, target, &mut self.space.products);
        Ok(())
    }
}

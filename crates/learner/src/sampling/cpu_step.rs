//! One decoding step on the CPU: all rows through all layers on slices, without a candle graph.

use veriplay_kernels::attention::{DecodeRow, DecodeScratch, DecodeStep};
use veriplay_kernels::bias::add_bias;
use veriplay_kernels::gemm::{Target, View, Workspace, multiply};
use veriplay_kernels::norm::rms_norm;
use veriplay_kernels::simd::Buffer;
use veriplay_kernels::swiglu::swiglu;
use veriplay_kernels::thread_pool::ThreadPool;

use super::frozen::Frozen;

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

/// A model and the buffers that a step works in.
pub(super) struct Step<'a> {
    pub(super) model: &'a Frozen<'a>,
    pub(super) space: &'a mut StepSpace,
    pub(super) pool: &'a ThreadPool,
}

impl Step<'_> {
    /// Computes the logits behind one more token of every row, and appends its keys and values to the rows' caches.
    pub(super) fn run(&mut self, tokens: &[u32], rows: &mut [DecodeRow<'_>]) {
        let config = self.model.config;
        self.model.embed(self.space.x.resize(tokens.len() * config.hidden_size), tokens);
        for layer in 0..config.num_hidden_layers {
            self.attend(layer, rows);
            self.feed(layer, rows.len());
        }
        self.predict(rows.len());
    }

    /// Adds the attention of one layer to the residual stream.
    fn attend(&mut self, layer: usize, decoding: &mut [DecodeRow<'_>]) {
        let config = self.model.config;
        let (hidden, rows, width) = (config.hidden_size, decoding.len(), config.query_width());
        let heads = self.model.heads(layer);
        let packed = &self.model.packed.layers[layer];
        let normed = self.space.normed.resize(rows * hidden);
        rms_norm(normed, self.space.x.as_slice(), &self.model.layers[layer].input, self.model.eps());
        let qkv = self.space.qkv.resize(rows * heads.width());
        let target = Target::set(qkv, heads.width());
        multiply(rows, View::rows(normed, hidden), &packed.qkv.forward, target, &mut self.space.products);
        if let Some(bias) = &self.model.layers[layer].qkv_bias {
            add_bias(qkv, bias);
        }
        let out = self.space.mixed.resize(rows * width);
        let visible: usize = decoding.iter().map(DecodeRow::visible).sum();
        // A query and a weight for each position that is visible.
        let share = rows.div_ceil(self.pool.share(2 * visible * width));
        let inputs = qkv.chunks(share * heads.width()).zip(decoding.chunks_mut(share));
        let outputs = out.chunks_mut(share * width).zip(&mut self.space.scratches);
        let part = |((qkv, rows), (out, scratch))| DecodeStep { out, qkv, rows, layer, heads: &heads, scratch };
        self.pool.each(&mut inputs.zip(outputs).map(part).collect::<Vec<_>>(), DecodeStep::run);
        let target = Target::add(self.space.x.as_mut_slice(), hidden);
        multiply(rows, View::rows(out, width), &packed.output.forward, target, &mut self.space.products);
    }

    /// Adds the SwiGLU of one layer to the residual stream.
    fn feed(&mut self, layer: usize, rows: usize) {
        let config = self.model.config;
        let (hidden, inner) = (config.hidden_size, config.intermediate_size);
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
    }

    /// Computes the logits from the residual stream.
    fn predict(&mut self, rows: usize) {
        let config = self.model.config;
        let hidden = config.hidden_size;
        let normed = self.space.normed.resize(rows * hidden);
        rms_norm(normed, self.space.x.as_slice(), &self.model.norm, self.model.eps());
        let target = Target::set(self.space.logits.resize(rows * config.vocab_size), config.vocab_size);
        multiply(rows, View::rows(normed, hidden), &self.model.packed.head.forward, target, &mut self.space.products);
    }
}

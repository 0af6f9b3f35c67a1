//! The decoding loop of one thread, or of a team's: compute prompts, start samples, step all rows together, retire rows that ended.

use candle_core::Result;

use super::attend::{self, Step};
use super::cache::Cache;
use super::frozen::Frozen;
use super::prompts::{Prompt, Prompts, Start};
use super::queue::{Ask, End, Queue, Sampled};
use crate::kernels::attention::{Group, HeadSizes, Heads};
use crate::kernels::bias::add_bias;
use crate::kernels::gemm::{Target, View, Workspace, multiply};
use crate::kernels::norm::rms_norm;
use crate::kernels::simd::Buffer;
use crate::kernels::swiglu::swiglu;
use crate::model::Decoder;
use crate::model::layout::MicroBatch;
use crate::ops::slices::Slice;
use crate::ops::{Engine, SharedSpace};
use crate::team::Team;

/// A sample in flight.
#[derive(Debug)]
pub(super) struct Row {
    ask: usize,
    sample: usize,
    tokens: Vec<u32>,
    logprobs: Vec<f32>,
    /// Where its prompt is.
    pub(super) prompt: usize,
    pub(super) prompt_len: usize,
    /// Tokens of its own in the cache.
    pub(super) cached: usize,
    pub(super) own: Cache,
}

impl Row {
    /// Takes one more token. Says why the row is done, if it is.
    fn extend(&mut self, ask: &Ask<'_>, logits: &mut [f32]) -> Option<End> {
        ask.extend(self.sample, &mut self.tokens, &mut self.logprobs, logits)
    }
}

/// Multiplications that take no longer than drawing from one logit: that took 0.7 ns, which is some 60 of them.
const EXPONENTIAL: usize = 16;

/// Tokens a fresh row has room for.
const FIRST_CAPACITY: usize = 32;

/// Buffers of one decoding loop, kept between calls.
#[derive(Debug, Default)]
pub(crate) struct RolloutSpace {
    /// For prompts, which go through the graph.
    pub(crate) ops: SharedSpace,
    /// Caches of rows that ended.
    spare: Vec<Cache>,
    x: Buffer,
    normed: Buffer,
    qkv: Buffer,
    mixed: Buffer,
    gate_up: Buffer,
    activated: Buffer,
    logits: Buffer,
    /// One for each thread of the team.
    attending: Vec<attend::Space>,
    products: Workspace,
}

impl RolloutSpace {
    /// Lets `team` share what is worth it.
    pub(crate) fn shared_by(&mut self, team: &Team) {
        self.products.shared_by(team);
        self.ops.lock().shared_by(team);
        self.attending.resize_with(team.threads(), attend::Space::default);
    }
}

/// The state of one loop.
pub(crate) struct Sampler<'a> {
    model: &'a Frozen<'a>,
    decoder: Decoder<'a>,
    queue: &'a Queue<'a>,
    space: &'a mut RolloutSpace,
    team: &'a Team,
    rows: Vec<Row>,
    prompts: Prompts,
    finished: Vec<Sampled>,
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(
        model: &'a Frozen<'a>,
        engine: &'a Engine,
        queue: &'a Queue<'a>,
        space: &'a mut RolloutSpace,
        team: &'a Team,
    ) -> Self {
        let decoder = engine.decoder(&space.ops);
        Self { model, decoder, queue, space, team, rows: Vec::new(), prompts: Prompts::default(), finished: Vec::new() }
    }

    /// Takes asks until none is left, and returns every sample of those it took.
    pub(crate) fn run(mut self) -> Result<Vec<Sampled>> {
        loop {
            self.refill()?;
            if self.rows.is_empty() {
                return Ok(self.finished);
            }
            self.step();
        }
    }

    /// Slots without a row.
    const fn free(&self) -> usize {
        self.queue.slots - self.rows.len()
    }

    /// Gives free slots to samples that wait, and computes more prompts when it is worth while.
    fn refill(&mut self) -> Result<()> {
        self.start();
        // Prefill is cheapest in bulk: wait until a quarter of the slots is free.
        if self.free() >= self.queue.slots.div_ceil(4) {
            while self.free() > 0 && self.prefill()? {
                self.start();
            }
        }
        Ok(())
    }

    /// Takes and computes some prompts, as many as the free slots can use. False when none is left.
    fn prefill(&mut self) -> Result<bool> {
        let mut batch = MicroBatch::default();
        let (mut taken, mut samples) = (Vec::new(), 0);
        while batch.tokens.len() < self.queue.prefill_tokens && samples < self.free() {
            let Some(index) = self.queue.take() else { break };
            let ask = &self.queue.asks[index];
            batch.push_prompt(ask.prompt);
            samples += ask.samples;
            taken.push(index);
        }
        if taken.is_empty() {
            return Ok(false);
        }
        let slots = self.model.slots();
        let new = |group: &Group| Cache::new(slots, self.model.config.head_dim, group.prompt.len());
        let mut caches: Vec<Cache> = batch.groups.iter().map(new).collect();
        let last = self.decoder.forward(&batch, |layer, qkv| {
            fill(&mut caches, &self.model.heads(layer), layer, &Slice::of(qkv)?, &batch);
            Ok(())
        })?;
        let logits = self.decoder.logits(&last, &batch.outputs)?;
        let logits = Slice::of(&logits)?;
        let rows = logits.chunks_exact(self.model.config.vocab_size);
        for ((ask, cache), row) in taken.into_iter().zip(caches).zip(rows) {
            let samples = self.queue.asks[ask].samples;
            self.prompts.keep(Prompt { ask, cache, logits: row.to_vec(), samples, started: 0, ended: 0 });
        }
        Ok(true)
    }

    /// Starts samples of computed prompts while there are free slots: their first tokens come from the prompt's logits.
    fn start(&mut self) {
        while self.free() > 0 {
            let Some(Start { prompt, ask, sample, mut logits }) = self.prompts.start() else { return };
            let (config, slots, asked) = (self.model.config, self.model.slots(), &self.queue.asks[ask]);
            let new = || Cache::new(slots, config.head_dim, FIRST_CAPACITY.min(asked.max_tokens));
            let own = self.space.spare.pop().unwrap_or_else(new);
            let (tokens, logprobs, prompt_len) = (Vec::new(), Vec::new(), asked.prompt.len());
            self.rows.push(Row { ask, sample, tokens, logprobs, prompt, prompt_len, cached: 0, own });
            let at = self.rows.len() - 1;
            if let Some(end) = self.rows[at].extend(asked, &mut logits) {
                self.retire(at, end);
            }
        }
    }

    /// Ends a row.
    fn retire(&mut self, at: usize, end: End) {
        let Row { ask, sample, tokens, logprobs, prompt, own, .. } = self.rows.swap_remove(at);
        self.prompts.end(prompt);
        self.finished.push(Sampled { ask, sample, tokens, logprobs, end });
        self.space.spare.push(own);
    }

    /// One token for every row.
    fn step(&mut self) {
        debug_assert!(self.rows.len() <= self.queue.slots);
        let config = self.model.config;
        let slots = self.model.slots();
        for row in &mut self.rows {
            if row.cached == row.own.capacity() {
                row.own.grow(slots, row.cached);
            }
        }
        let tokens: Vec<u32> = self.rows.iter().filter_map(|row| row.tokens.last().copied()).collect();
        self.model.embed(self.space.x.resize(tokens.len() * config.hidden_size), &tokens);
        for layer in 0..config.num_hidden_layers {
            self.attend(layer);
            self.feed(layer);
        }
        self.logits();
        // From the last row down, so that a retired row is replaced by one that was looked at.
        for (at, end) in self.draw().into_iter().enumerate().rev() {
            if let Some(end) = end {
                self.retire(at, end);
            }
        }
    }

    /// Gives every row a token from its logits. Says of each row why it is done, if it is.
    fn draw(&mut self) -> Vec<Option<End>> {
        let vocab = self.model.config.vocab_size;
        let count = self.rows.len();
        let share = count.div_ceil(self.team.share(count * vocab * EXPONENTIAL));
        let mut ends = vec![None; count];
        let rows = self.rows.chunks_mut(share).zip(self.space.logits.as_mut_slice().chunks_mut(share * vocab));
        let mut parts: Vec<_> = rows.zip(ends.chunks_mut(share)).collect();
        self.team.each(&mut parts, |((rows, logits), ends)| {
            for ((row, logits), end) in rows.iter_mut().zip(logits.chunks_exact_mut(vocab)).zip(ends.iter_mut()) {
                row.cached += 1;
                *end = row.extend(&self.queue.asks[row.ask], logits);
            }
        });
        ends
    }

    fn attend(&mut self, layer: usize) {
        let config = self.model.config;
        let (hidden, rows, width) = (config.hidden_size, self.rows.len(), config.query_width());
        let heads = self.model.heads(layer);
        let packed = &self.model.packed.layers[layer];
        let normed = self.space.normed.resize(rows * hidden);
        rms_norm(normed, self.space.x.as_slice(), &self.model.layers[layer].input, self.model.eps());
        let qkv = self.space.qkv.resize(rows * heads.width());
        multiply(
            rows,
            View::rows(normed, hidden),
            &packed.qkv.forward,
            Target::set(qkv, heads.width()),
            &mut self.space.products,
        );
        if let Some(bias) = &self.model.layers[layer].qkv_bias {
            add_bias(qkv, bias);
        }
        let out = self.space.mixed.resize(rows * width);
        let seen: usize = self.rows.iter().map(|row| row.prompt_len + row.cached + 1).sum();
        // A query and a weight for each position seen.
        let share = rows.div_ceil(self.team.share(2 * seen * width));
        let inputs = qkv.chunks(share * heads.width()).zip(self.rows.chunks_mut(share));
        let outputs = out.chunks_mut(share * width).zip(&mut self.space.attending);
        let prompts = &self.prompts;
        let step = |((qkv, rows), (out, space))| Step { out, qkv, rows, prompts, layer, heads: &heads, space };
        self.team.each(&mut inputs.zip(outputs).map(step).collect::<Vec<_>>(), Step::run);
        multiply(
            rows,
            View::rows(out, width),
            &packed.output.forward,
            Target::add(self.space.x.as_mut_slice(), hidden),
            &mut self.space.products,
        );
    }

    fn feed(&mut self, layer: usize) {
        let config = self.model.config;
        let (hidden, rows, inner) = (config.hidden_size, self.rows.len(), config.intermediate_size);
        let packed = &self.model.packed.layers[layer];
        let normed = self.space.normed.resize(rows * hidden);
        rms_norm(normed, self.space.x.as_slice(), &self.model.layers[layer].post, self.model.eps());
        let gate_up = self.space.gate_up.resize(rows * 2 * inner);
        multiply(
            rows,
            View::rows(normed, hidden),
            &packed.gate_up.forward,
            Target::set(gate_up, 2 * inner),
            &mut self.space.products,
        );
        let activated = self.space.activated.resize(rows * inner);
        swiglu(activated, gate_up, inner);
        multiply(
            rows,
            View::rows(activated, inner),
            &packed.down.forward,
            Target::add(self.space.x.as_mut_slice(), hidden),
            &mut self.space.products,
        );
    }

    fn logits(&mut self) {
        let config = self.model.config;
        let (hidden, rows) = (config.hidden_size, self.rows.len());
        let normed = self.space.normed.resize(rows * hidden);
        rms_norm(normed, self.space.x.as_slice(), &self.model.norm, self.model.eps());
        let out = self.space.logits.resize(rows * config.vocab_size);
        multiply(
            rows,
            View::rows(normed, hidden),
            &self.model.packed.head.forward,
            Target::set(out, config.vocab_size),
            &mut self.space.products,
        );
    }
}

/// Writes one layer's keys and values of a batch of prompts, from their raw projections, into the prompts' caches.
fn fill(caches: &mut [Cache], heads: &Heads<'_>, layer: usize, qkv: &[f32], batch: &MicroBatch) {
    let HeadSizes { heads: queries, kv_heads, dim, .. } = heads.sizes;
    let mut key = vec![0.0; dim];
    for (cache, group) in caches.iter_mut().zip(&batch.groups) {
        for (position, row) in group.prompt.clone().enumerate() {
            let raw = &qkv[row * heads.width()..(row + 1) * heads.width()];
            for kv in 0..kv_heads {
                heads.place(&mut key, &raw[(queries + kv) * dim..][..dim], heads.k_gain, position, 1.0);
                let value = &raw[(queries + kv_heads + kv) * dim..][..dim];
                cache.write(layer * kv_heads + kv, position, &key, value);
            }
        }
    }
}

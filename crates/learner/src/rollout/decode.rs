//! The decoding loop of one thread: admit prompts, step all rows together, retire rows that ended.

use std::sync::atomic::{AtomicUsize, Ordering};

use candle_core::Result;

use super::attend::Step;
use super::cache::Cache;
use super::frozen::Frozen;
use super::sampler::{draw, log_probability, uniform};
use crate::kernels::attention::{Group, HeadSizes, Heads};
use crate::kernels::bias::add_bias;
use crate::kernels::gemm::{Target, View, multiply};
use crate::kernels::norm::rms_norm;
use crate::kernels::simd::{Buffer, dispatch};
use crate::kernels::swiglu::swiglu;
use crate::model::Decoder;
use crate::model::layout::MicroBatch;
use crate::ops::slices::Slice;
use crate::ops::{Engine, SharedSpace};

/// What is to be sampled.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// Tokens of every prompt; none empty.
    pub(crate) prompts: &'a [Vec<u32>],
    /// Samples a prompt.
    pub(crate) group: usize,
    pub(crate) max_tokens: usize,
    pub(crate) temperature: f32,
    pub(crate) seed: u64,
    /// Any of them ends a sample.
    pub(crate) end_tokens: &'a [u32],
    /// Tokens of every prompt's one sample, which are taken instead of drawn.
    pub(crate) forced: Option<&'a [Vec<u32>]>,
    /// Rows in flight in one thread, about.
    pub(crate) rows: usize,
    /// Prompt tokens computed together, about.
    pub(crate) prefill_tokens: usize,
    /// The next prompt nobody has taken.
    pub(crate) next: AtomicUsize,
}

/// One finished sample.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sampled {
    pub(crate) prompt: usize,
    pub(crate) sample: usize,
    pub(crate) tokens: Vec<u32>,
    pub(crate) logprobs: Vec<f32>,
    pub(crate) ended: bool,
}

/// A sample in flight.
#[derive(Debug)]
pub(super) struct Row {
    result: Sampled,
    /// Where its prompt's cache is.
    pub(super) prompt_slot: usize,
    pub(super) prompt_len: usize,
    /// Tokens of its own in the cache.
    pub(super) cached: usize,
    pub(super) own: Cache,
}

/// Tokens a fresh row has room for.
const FIRST_CAPACITY: usize = 32;

/// Buffers of one thread, kept between calls.
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
    weights: Buffer,
    head: Buffer,
    left: Buffer,
}

/// The state of one thread.
pub(crate) struct Sampler<'a> {
    model: &'a Frozen<'a>,
    decoder: Decoder<'a>,
    request: &'a Request<'a>,
    space: &'a mut RolloutSpace,
    rows: Vec<Row>,
    prompts: Vec<Option<Cache>>,
    /// Rows that read each prompt.
    users: Vec<usize>,
    finished: Vec<Sampled>,
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(
        model: &'a Frozen<'a>,
        engine: &'a Engine,
        request: &'a Request<'a>,
        space: &'a mut RolloutSpace,
    ) -> Self {
        let decoder = engine.decoder(&space.ops);
        let (rows, prompts, users, finished) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { model, decoder, request, space, rows, prompts, users, finished }
    }

    /// Takes prompts until none is left, and returns every sample of those it took.
    pub(crate) fn run(mut self) -> Result<Vec<Sampled>> {
        loop {
            // Prefill is cheapest in bulk: wait until a quarter of the rows is free.
            if self.rows.len() <= self.request.rows - self.request.rows.div_ceil(4) {
                while self.rows.len() < self.request.rows && self.admit()? {}
            }
            if self.rows.is_empty() {
                return Ok(self.finished);
            }
            self.step();
        }
    }

    /// Takes some prompts, computes them and samples the first tokens. False when none is left.
    fn admit(&mut self) -> Result<bool> {
        let mut batch = MicroBatch::default();
        let mut taken = Vec::new();
        while batch.tokens.len() < self.request.prefill_tokens
            && self.rows.len() + taken.len() * self.request.group < self.request.rows
        {
            let index = self.request.next.fetch_add(1, Ordering::Relaxed);
            let Some(prompt) = self.request.prompts.get(index) else { break };
            batch.push_prompt(prompt);
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
        for ((&prompt, cache), row) in taken.iter().zip(caches).zip(rows) {
            let slot = self.keep_prompt(cache);
            self.start(prompt, slot, row);
        }
        Ok(true)
    }

    /// Keeps the cache of a prompt until its samples end. Returns its slot.
    fn keep_prompt(&mut self, cache: Cache) -> usize {
        let slot = self.users.iter().position(|&n| n == 0).unwrap_or(self.users.len());
        if slot == self.users.len() {
            self.users.push(0);
            self.prompts.push(None);
        }
        self.prompts[slot] = Some(cache);
        self.users[slot] = self.request.group;
        slot
    }

    /// Samples the first token of every sample of a prompt.
    fn start(&mut self, prompt: usize, slot: usize, logits: &[f32]) {
        let config = self.model.config;
        let slots = self.model.slots();
        for sample in 0..self.request.group {
            let own = self
                .space
                .spare
                .pop()
                .unwrap_or_else(|| Cache::new(slots, config.head_dim, FIRST_CAPACITY.min(self.request.max_tokens)));
            let result = Sampled { prompt, sample, tokens: Vec::new(), logprobs: Vec::new(), ended: false };
            let row = Row { result, prompt_slot: slot, prompt_len: self.request.prompts[prompt].len(), cached: 0, own };
            self.rows.push(row);
            if self.extend(self.rows.len() - 1, &mut logits.to_vec()) {
                self.retire(self.rows.len() - 1);
            }
        }
    }

    /// Samples one token for a row. True when the row is done.
    fn extend(&mut self, at: usize, logits: &mut [f32]) -> bool {
        let Request { seed, temperature, max_tokens, end_tokens, .. } = *self.request;
        let result = &mut self.rows[at].result;
        if let Some(forced) = self.request.forced.map(|all| &all[result.prompt]) {
            let token = forced[result.tokens.len()];
            result.tokens.push(token);
            result.logprobs.push(log_probability(logits, token));
            return result.tokens.len() == forced.len();
        }
        let u = uniform(seed, result.prompt as u64, result.sample as u64, result.tokens.len() as u64);
        let (token, logprob) = draw(logits, temperature, u);
        result.tokens.push(token);
        result.logprobs.push(logprob);
        result.ended = end_tokens.contains(&token);
        result.ended || result.tokens.len() >= max_tokens
    }

    fn retire(&mut self, at: usize) {
        let row = self.rows.swap_remove(at);
        self.users[row.prompt_slot] -= 1;
        if self.users[row.prompt_slot] == 0 {
            self.prompts[row.prompt_slot] = None;
        }
        self.finished.push(row.result);
        self.space.spare.push(row.own);
    }

    /// One token for every row.
    fn step(&mut self) {
        let config = self.model.config;
        let slots = self.model.slots();
        for row in &mut self.rows {
            if row.cached == row.own.capacity() {
                row.own.grow(slots, row.cached);
            }
        }
        let tokens: Vec<u32> = self.rows.iter().filter_map(|row| row.result.tokens.last().copied()).collect();
        self.model.embed(self.space.x.resize(tokens.len() * config.hidden_size), &tokens);
        for layer in 0..config.num_hidden_layers {
            self.attend(layer);
            self.feed(layer);
        }
        let mut logits = self.logits();
        for row in &mut self.rows {
            row.cached += 1;
        }
        let vocab = config.vocab_size;
        // From the last row down, so that a retired row is replaced by one that has its token already.
        for at in (0..self.rows.len()).rev() {
            if self.extend(at, &mut logits.as_mut_slice()[at * vocab..(at + 1) * vocab]) {
                self.retire(at);
            }
        }
        self.space.logits = logits;
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
            &mut self.space.left,
        );
        if let Some(bias) = &self.model.layers[layer].qkv_bias {
            add_bias(qkv, bias);
        }
        let out = self.space.mixed.resize(rows * width);
        let (weights, head) = (&mut self.space.weights, &mut self.space.head);
        dispatch(Step { out, qkv, rows: &mut self.rows, prompts: &self.prompts, layer, heads: &heads, weights, head });
        multiply(
            rows,
            View::rows(out, width),
            &packed.output.forward,
            Target::add(self.space.x.as_mut_slice(), hidden),
            &mut self.space.left,
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
            &mut self.space.left,
        );
        let activated = self.space.activated.resize(rows * inner);
        swiglu(activated, gate_up, inner);
        multiply(
            rows,
            View::rows(activated, inner),
            &packed.down.forward,
            Target::add(self.space.x.as_mut_slice(), hidden),
            &mut self.space.left,
        );
    }

    fn logits(&mut self) -> Buffer {
        let config = self.model.config;
        let (hidden, rows) = (config.hidden_size, self.rows.len());
        let normed = self.space.normed.resize(rows * hidden);
        rms_norm(normed, self.space.x.as_slice(), &self.model.norm, self.model.eps());
        let mut logits = std::mem::take(&mut self.space.logits);
        let out = logits.resize(rows * config.vocab_size);
        multiply(
            rows,
            View::rows(normed, hidden),
            &self.model.packed.head.forward,
            Target::set(out, config.vocab_size),
            &mut self.space.left,
        );
        logits
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

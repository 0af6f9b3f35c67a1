//! The decoding loop of one thread, or of a pool's: compute prompts, start samples, step all rows together, retire rows that ended.

use std::collections::VecDeque;

use candle_core::Result;
use veriplay_kernels::attention::{DecodeRow, Group, KvCache};
use veriplay_kernels::thread_pool::ThreadPool;

use super::cpu_step::{CpuStep, StepSpace};
use super::frozen::Frozen;
use super::queue::{End, Queue, QueuedPrompt, Sampled};
use crate::model::{Decoder, Engine, MicroBatch};
use crate::ops::SharedSpace;
use crate::ops::slices::Slice;

/// A sample in flight.
#[derive(Debug)]
struct Row {
    queued: usize,
    sample: usize,
    tokens: Vec<u32>,
    logprobs: Vec<f32>,
    /// Where its prompt is.
    prompt: usize,
    prompt_len: usize,
    /// Tokens of its own in the cache.
    cached: usize,
    own: KvCache,
}

impl Row {
    /// Takes one more token. Says why the row is done, if it is.
    fn extend(&mut self, queued: &QueuedPrompt<'_>, logits: &mut [f32]) -> Option<End> {
        queued.extend(self.sample, &mut self.tokens, &mut self.logprobs, logits)
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
    ops: SharedSpace,
    /// Caches of rows that ended.
    spare: Vec<KvCache>,
    step: StepSpace,
}

impl RolloutSpace {
    /// Lets `pool` share what is worth it.
    pub(crate) fn shared_by(&mut self, pool: &ThreadPool) {
        self.step.shared_by(pool);
        self.ops.lock().shared_by(pool);
    }
}

/// The state of one loop.
pub(crate) struct CpuLoop<'a> {
    model: &'a Frozen<'a>,
    decoder: Decoder<'a>,
    queue: &'a Queue<'a>,
    space: &'a mut RolloutSpace,
    pool: &'a ThreadPool,
    rows: Vec<Row>,
    prompts: Prompts,
    finished: Vec<Sampled>,
}

impl<'a> CpuLoop<'a> {
    pub(crate) fn new(
        model: &'a Frozen<'a>,
        engine: &'a Engine,
        queue: &'a Queue<'a>,
        space: &'a mut RolloutSpace,
        pool: &'a ThreadPool,
    ) -> Self {
        let decoder = engine.decoder(&space.ops);
        Self { model, decoder, queue, space, pool, rows: Vec::new(), prompts: Prompts::default(), finished: Vec::new() }
    }

    /// Takes prompts from the queue until none is left, and returns every sample of those it took.
    pub(crate) fn run(mut self) -> Result<Vec<Sampled>> {
        loop {
            self.refill()?;
            if self.rows.is_empty() {
                return Ok(self.finished);
            }
            self.step()?;
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
            let queued = &self.queue.prompts[index];
            batch.push_prompt(queued.prompt);
            samples += queued.samples;
            taken.push(index);
        }
        if taken.is_empty() {
            return Ok(false);
        }
        let slots = self.model.slots();
        let new = |group: &Group| KvCache::new(slots, self.model.config.head_dim, group.prompt.len());
        let mut caches: Vec<KvCache> = batch.groups.iter().map(new).collect();
        let last = self.decoder.forward(&batch, |layer, qkv| {
            let (heads, qkv) = (self.model.heads(layer), Slice::of(qkv)?);
            let prompts = caches.iter_mut().zip(&batch.groups);
            prompts.for_each(|(cache, group)| cache.fill(&heads, layer, &qkv, group));
            Ok(())
        })?;
        let logits = self.decoder.logits(&last, &batch.outputs)?;
        let logits = Slice::of(&logits)?;
        let rows = logits.chunks_exact(self.model.config.vocab_size);
        for ((queued, cache), row) in taken.into_iter().zip(caches).zip(rows) {
            let samples = self.queue.prompts[queued].samples;
            self.prompts.keep(Prompt { queued, cache, logits: row.to_vec(), samples, started: 0, ended: 0 });
        }
        Ok(true)
    }

    /// Starts samples of computed prompts while there are free slots: their first tokens come from the prompt's logits.
    fn start(&mut self) {
        while self.free() > 0 {
            let Some(Start { prompt, queued, sample, mut logits }) = self.prompts.start() else { return };
            let (config, slots, request) = (self.model.config, self.model.slots(), &self.queue.prompts[queued]);
            let new = || KvCache::new(slots, config.head_dim, FIRST_CAPACITY.min(request.max_tokens));
            let own = self.space.spare.pop().unwrap_or_else(new);
            let (tokens, logprobs, prompt_len) = (Vec::new(), Vec::new(), request.prompt.len());
            self.rows.push(Row { queued, sample, tokens, logprobs, prompt, prompt_len, cached: 0, own });
            let at = self.rows.len() - 1;
            if let Some(end) = self.rows[at].extend(request, &mut logits) {
                self.retire(at, end);
            }
        }
    }

    /// Ends a row.
    fn retire(&mut self, at: usize, end: End) {
        let Row { queued, sample, tokens, logprobs, prompt, own, .. } = self.rows.swap_remove(at);
        self.prompts.end(prompt);
        self.finished.push(Sampled { queued, sample, tokens, logprobs, end });
        self.space.spare.push(own);
    }

    /// One token for every row.
    fn step(&mut self) -> Result<()> {
        debug_assert!(self.rows.len() <= self.queue.slots);
        let slots = self.model.slots();
        for row in &mut self.rows {
            if row.cached == row.own.capacity() {
                row.own.grow(slots, row.cached);
            }
        }
        let tokens: Vec<u32> = self.rows.iter().filter_map(|row| row.tokens.last().copied()).collect();
        let prompts = &self.prompts;
        let decoding = self.rows.iter_mut().map(|row| DecodeRow {
            prompt: prompts.cache(row.prompt),
            prompt_len: row.prompt_len,
            own: &mut row.own,
            cached: row.cached,
        });
        let mut decoding: Vec<DecodeRow<'_>> = decoding.collect();
        let space = &mut self.space.step;
        CpuStep { model: self.model, space, pool: self.pool, rows: &mut decoding }.run(&tokens)?;
        // From the last row down, so that a retired row is replaced by one that was looked at.
        for (at, end) in self.draw().into_iter().enumerate().rev() {
            if let Some(end) = end {
                self.retire(at, end);
            }
        }
        Ok(())
    }

    /// Gives every row a token from its logits. Says of each row why it is done, if it is.
    fn draw(&mut self) -> Vec<Option<End>> {
        let vocab = self.model.config.vocab_size;
        let count = self.rows.len();
        let share = count.div_ceil(self.pool.share(count * vocab * EXPONENTIAL));
        let mut ends = vec![None; count];
        let rows = self.rows.chunks_mut(share).zip(self.space.step.logits().chunks_mut(share * vocab));
        let mut parts: Vec<_> = rows.zip(ends.chunks_mut(share)).collect();
        self.pool.each(&mut parts, |((rows, logits), ends)| {
            for ((row, logits), end) in rows.iter_mut().zip(logits.chunks_exact_mut(vocab)).zip(ends.iter_mut()) {
                row.cached += 1;
                *end = row.extend(&self.queue.prompts[row.queued], logits);
            }
        });
        ends
    }
}

/// A prompt that has been computed.
#[derive(Debug)]
struct Prompt {
    queued: usize,
    cache: KvCache,
    /// Of the first token [vocab]; taken by the last sample that starts.
    logits: Vec<f32>,
    /// Samples of it, how many have started, and how many have ended.
    samples: usize,
    started: usize,
    ended: usize,
}

/// A sample that may start now.
#[derive(Debug)]
struct Start {
    /// Where its prompt is.
    prompt: usize,
    queued: usize,
    sample: usize,
    logits: Vec<f32>,
}

/// The prompts of one loop. A place is used again when its prompt is done.
#[derive(Debug, Default)]
struct Prompts {
    places: Vec<Option<Prompt>>,
    /// Places of prompts whose samples have not all started.
    waiting: VecDeque<usize>,
}

impl Prompts {
    fn keep(&mut self, prompt: Prompt) {
        let free = self.places.iter().position(Option::is_none).unwrap_or(self.places.len());
        if free == self.places.len() {
            self.places.push(None);
        }
        self.places[free] = Some(prompt);
        self.waiting.push_back(free);
    }

    /// The next sample to start: those of one prompt one after the other.
    fn start(&mut self) -> Option<Start> {
        let &at = self.waiting.front()?;
        let prompt = self.places[at].as_mut()?;
        let sample = prompt.started;
        prompt.started += 1;
        let last = prompt.started == prompt.samples;
        let logits = if last { std::mem::take(&mut prompt.logits) } else { prompt.logits.clone() };
        let start = Start { prompt: at, queued: prompt.queued, sample, logits };
        if last {
            self.waiting.pop_front();
        }
        Some(start)
    }

    /// One sample of the prompt has ended.
    fn end(&mut self, at: usize) {
        if let Some(prompt) = &mut self.places[at] {
            prompt.ended += 1;
            if prompt.ended == prompt.samples {
                self.places[at] = None;
            }
        }
    }

    /// The cache of a prompt whose samples have not all ended.
    fn cache(&self, at: usize) -> &KvCache {
        &self.places[at].as_ref().expect("a prompt is kept until its last sample ends").cache
    }
}

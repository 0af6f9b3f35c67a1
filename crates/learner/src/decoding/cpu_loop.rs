//! The decoding loop of one thread, or of a pool's: compute prompts, start samples, step all rows together, retire rows that ended.

use std::collections::VecDeque;
use std::sync::Arc;

use candle_core::{Result, Tensor};
use veriplay_kernels::attention::{DecodeRow, KvCache};
use veriplay_kernels::thread_pool::ThreadPool;

use super::cpu_step::{CpuStep, NewRows, StepBuffers, attend_prompt, with_heads};
use super::queue::{DecodingSample, PromptQueue, QueuedPrompt};
use crate::network::{Decoder, MicroBatch};
use crate::ops::slices::TensorSlice;
use crate::ops::{PackedModel, SharedWorkspace};

#[derive(Debug)]
struct ActiveRow {
    sample: DecodingSample,
    /// Keys and values of its prompt, which all samples of the prompt share.
    prompt: Arc<KvCache>,
    /// Keys and values of its own tokens, and their number.
    own: KvCache,
    cached: usize,
}

/// A prompt that has been computed and whose samples have not all started.
#[derive(Debug)]
struct ComputedPrompt {
    queued: usize,
    cache: Arc<KvCache>,
    /// Of the first token [vocab].
    logits: Vec<f32>,
    started: usize,
}

#[derive(Debug, Default)]
struct PromptBatch {
    taken: Vec<usize>,
    /// Their tokens, but for those that their caches begin with.
    batch: MicroBatch,
    /// How many tokens each cache begins with.
    firsts: Vec<usize>,
    /// With room for all tokens.
    caches: Vec<KvCache>,
}

impl PromptBatch {
    fn push(&mut self, queued: usize, tokens: &[u32], first: usize, cache: KvCache) {
        self.taken.push(queued);
        self.batch.push_prompt(tokens);
        self.firsts.push(first);
        self.caches.push(cache);
    }
}

/// Multiplications that take no longer than drawing from one logit: that took 0.7 ns, which is some 60 of them.
const EXPONENTIAL: usize = 16;

/// Tokens a fresh row has room for.
const FIRST_CAPACITY: usize = 32;

/// Buffers of one decoding loop, kept between calls.
#[derive(Debug, Default)]
pub(crate) struct RolloutBuffers {
    /// For prompts, which go through the graph.
    ops: SharedWorkspace,
    /// Caches of rows that ended.
    spare: Vec<KvCache>,
    step: StepBuffers,
}

impl RolloutBuffers {
    /// Lets `pool` share the work that is worth it.
    pub(crate) fn set_pool(&mut self, pool: &ThreadPool) {
        self.step.set_pool(pool);
        self.ops.lock().set_pool(pool);
    }

    /// Where prompts are computed.
    pub(crate) const fn workspace(&self) -> &SharedWorkspace {
        &self.ops
    }
}

pub(crate) struct CpuLoop<'a> {
    decoder: Decoder<'a>,
    packed: &'a PackedModel,
    queue: &'a PromptQueue<'a>,
    buffers: &'a mut RolloutBuffers,
    pool: &'a ThreadPool,
    rows: Vec<ActiveRow>,
    waiting: VecDeque<ComputedPrompt>,
    finished: Vec<DecodingSample>,
}

impl<'a> CpuLoop<'a> {
    pub(crate) fn new(
        decoder: Decoder<'a>,
        packed: &'a PackedModel,
        queue: &'a PromptQueue<'a>,
        buffers: &'a mut RolloutBuffers,
        pool: &'a ThreadPool,
    ) -> Self {
        let (rows, waiting, finished) = (Vec::new(), VecDeque::new(), Vec::new());
        Self { decoder, packed, queue, buffers, pool, rows, waiting, finished }
    }

    /// Takes prompts from the queue until none is left, and returns every sample of those it took.
    pub(crate) fn run(mut self) -> Result<Vec<DecodingSample>> {
        loop {
            self.refill()?;
            if self.rows.is_empty() {
                return Ok(self.finished);
            }
            self.step()?;
        }
    }

    const fn free_slots(&self) -> usize {
        self.queue.slots.samples - self.rows.len()
    }

    /// Key-value heads of all layers.
    fn cache_slots(&self) -> usize {
        let config = &self.decoder.network.config;
        config.num_hidden_layers * config.num_key_value_heads
    }

    /// Gives free slots to samples that wait, and computes more prompts when it is worth while.
    fn refill(&mut self) -> Result<()> {
        self.start_samples();
        // Prefill is cheapest in bulk: wait until a quarter of the slots is free.
        if self.free_slots() >= self.queue.slots.samples.div_ceil(4) {
            while self.free_slots() > 0 && self.prefill()? {
                self.start_samples();
            }
        }
        Ok(())
    }

    /// Takes and computes some prompts, as many as the free slots can use. False when none is left.
    fn prefill(&mut self) -> Result<bool> {
        let (mut prompts, mut samples) = (PromptBatch::default(), 0);
        while prompts.batch.tokens.len() < self.queue.prefill_tokens && samples < self.free_slots() {
            let Some(index) = self.queue.take() else { break };
            let QueuedPrompt { prompt, earlier, samples: more, .. } = self.queue.prompts[index];
            samples += more;
            let (slots, dim) = (self.cache_slots(), self.decoder.network.config.head_dim);
            // At least one row is computed: the logits are behind it.
            match self.queue.turns.find(&prompt[..earlier]).filter(|_| earlier < prompt.len()) {
                Some(before) => {
                    prompts.push(index, &prompt[earlier..], earlier, before.extended(slots, earlier, prompt.len()));
                }
                None => prompts.push(index, prompt, 0, KvCache::new(slots, dim, prompt.len())),
            }
        }
        if prompts.taken.is_empty() {
            return Ok(false);
        }
        let last = self.compute(&mut prompts)?;
        self.queue_computed(prompts, &last)?;
        Ok(true)
    }

    /// Computes what prompts have behind the tokens that their caches begin with, and fills their caches.
    fn compute(&mut self, prompts: &mut PromptBatch) -> Result<Tensor> {
        let (network, PromptBatch { batch, firsts, caches, .. }) = (self.decoder.network, prompts);
        let (buffers, pool) = (&mut self.buffers.step, self.pool);
        let (width, raw_width) = (network.config.query_width(), network.config.head_sizes().width());
        self.decoder.run_with(0..self.decoder.layers(), self.decoder.embed(batch)?, |layer, qkv| {
            let raw = TensorSlice::new(&qkv)?;
            let mut out = vec![0.0; batch.tokens.len() * width];
            with_heads(network, layer, |heads| {
                for ((cache, group), &first) in caches.iter_mut().zip(&batch.groups).zip(&*firsts) {
                    let rows = group.prompt.clone();
                    cache.fill(heads, layer, &raw, rows.clone(), first);
                    let qkv = &raw[rows.start * raw_width..rows.end * raw_width];
                    let out = &mut out[rows.start * width..rows.end * width];
                    attend_prompt(pool, &mut buffers.scratches, NewRows { out, qkv, first, cache }, (layer, heads));
                }
            })?;
            Tensor::from_vec(out, (batch.tokens.len(), width), qkv.device())
        })
    }

    /// Has the samples of computed prompts wait for slots, and keeps what later turns need. `last` is the stream behind the last layer.
    fn queue_computed(&mut self, prompts: PromptBatch, last: &Tensor) -> Result<()> {
        let PromptBatch { taken, batch, caches, .. } = prompts;
        let logits = self.decoder.logits(last, &batch.outputs)?;
        let logits = TensorSlice::new(&logits)?;
        let rows = logits.chunks_exact(self.decoder.network.config.vocab_size);
        for ((queued, cache), row) in taken.into_iter().zip(caches).zip(rows) {
            let (cache, prompt) = (Arc::new(cache), &self.queue.prompts[queued]);
            if prompt.may_continue {
                self.queue.turns.keep(prompt.prompt, &cache);
            }
            self.waiting.push_back(ComputedPrompt { queued, cache, logits: row.to_vec(), started: 0 });
        }
        Ok(())
    }

    /// Starts samples of computed prompts while there are free slots: their first tokens come from the prompt's logits.
    fn start_samples(&mut self) {
        while self.free_slots() > 0 {
            let Some(computed) = self.waiting.front_mut() else { return };
            let queued = &self.queue.prompts[computed.queued];
            let (mut sample, prompt) =
                (DecodingSample::new(computed.queued, computed.started), Arc::clone(&computed.cache));
            computed.started += 1;
            let is_last = computed.started == queued.samples;
            let mut logits = if is_last { std::mem::take(&mut computed.logits) } else { computed.logits.clone() };
            if is_last {
                self.waiting.pop_front();
            }
            queued.extend(&mut sample, &mut logits);
            if sample.end.is_some() {
                self.finished.push(sample);
                continue;
            }
            let (slots, dim) = (self.cache_slots(), self.decoder.network.config.head_dim);
            let new = || KvCache::new(slots, dim, FIRST_CAPACITY.min(queued.max_tokens));
            let own = self.buffers.spare.pop().unwrap_or_else(new);
            self.rows.push(ActiveRow { sample, prompt, own, cached: 0 });
        }
    }

    /// One token for every row.
    fn step(&mut self) -> Result<()> {
        debug_assert!(self.rows.len() <= self.queue.slots.samples);
        let slots = self.cache_slots();
        for row in &mut self.rows {
            if row.cached == row.own.capacity() {
                row.own.grow(slots, row.cached);
            }
        }
        let tokens: Vec<u32> = self.rows.iter().filter_map(|row| row.sample.tokens.last().copied()).collect();
        let prompts = &self.queue.prompts;
        let decoding = self.rows.iter_mut().map(|row| DecodeRow {
            prompt: &row.prompt,
            prompt_len: prompts[row.sample.queued].prompt.len(),
            own: &mut row.own,
            cached: row.cached,
        });
        let mut decoding: Vec<DecodeRow<'_>> = decoding.collect();
        let (network, packed, pool) = (self.decoder.network, self.packed, self.pool);
        CpuStep { network, packed, buffers: &mut self.buffers.step, pool, rows: &mut decoding }.run(&tokens)?;
        self.draw();
        // The others stay in their order: rows of one prompt are neighbours, which attend to it together.
        for ActiveRow { sample, own, .. } in self.rows.extract_if(.., |row| row.sample.end.is_some()) {
            self.finished.push(sample);
            self.buffers.spare.push(own);
        }
        Ok(())
    }

    fn draw(&mut self) {
        let vocab = self.decoder.network.config.vocab_size;
        let count = self.rows.len();
        let share = count.div_ceil(self.pool.threads_worth_waking(count * vocab * EXPONENTIAL));
        let logits = self.buffers.step.logits().chunks_mut(share * vocab);
        let mut parts: Vec<_> = self.rows.chunks_mut(share).zip(logits).collect();
        self.pool.for_each(&mut parts, |(rows, logits)| {
            for (row, logits) in rows.iter_mut().zip(logits.chunks_exact_mut(vocab)) {
                row.cached += 1;
                self.queue.prompts[row.sample.queued].extend(&mut row.sample, logits);
            }
        });
    }
}

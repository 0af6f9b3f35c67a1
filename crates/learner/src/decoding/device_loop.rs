//! Sampling where the weights are: all rows of a batch in one step of tensor operations.
//!
//! Tokens stay on the device from draw to lookup; the host reads them every [`CHECKED_EVERY`] steps, ends rows, and discards the
//! tokens that a row drew after its end. Rows with a truncation are drawn on the CPU, a step at a time. A row's
//! tokens depend on its own request alone, but not to the bit: on a card products of another number of rows may round otherwise.
//!
//! Rows are admitted by the columns that the caches have now, with room to grow. Where the caches would grow beyond their bound, the rows with the
//! fewest tokens are interrupted: they wait again, and are computed from their prompts and those tokens when there is room.

use std::cmp::Reverse;
use std::collections::VecDeque;

use candle_core::{Device, Result, Tensor};
use veriplay_kernels::attention::{AttentionGroup, HeadSizes};

use super::cache_size::{BLOCK, CacheSize, CachedRow};
use super::column_cache::ColumnCache;
use super::draw::TensorDraw;
use super::queue::{DecodingSample, PromptQueue, QueuedPrompt, Slots};
use super::token_sampler::uniform;
use crate::config::LayerKind;
use crate::network::{Decoder, Layer, MicroBatch};
use crate::ops::{Rotations, rotations, step_heads};

#[cfg(test)]
mod tests;

/// Steps between two looks of the host.
const CHECKED_EVERY: usize = 8;
/// One of so many tokens stays free when rows are admitted: what is in flight grows. Chosen, not tuned.
const SPARE: usize = 4;
/// Caches are joined where that pads all of them together by at most one of so many columns: each takes kernels of its own. Chosen, not tuned.
const PADDED: usize = 8;
/// Places of a joined cache for each of its rows, at most, where it would have fewer apart. With more, scores of prompts at their places would take
/// more memory than the scores of rows, which the plan counts. Chosen, not tuned.
const PLACES: usize = 4;

pub(crate) struct DeviceLoop<'a> {
    decoder: Decoder<'a>,
    sizes: HeadSizes,
    queue: &'a PromptQueue<'a>,
    /// cos and sin of every position [context, pairs], by the kind of a layer.
    rotations: [Rotations; LayerKind::ALL.len()],
    /// Samples in flight, and those that ended since rows were last removed: those of the first cache, then those of the next.
    rows: Vec<DecodingSample>,
    /// The rows that were admitted first come first.
    caches: Vec<ColumnCache>,
    /// Of the next token [rows, vocab], f32.
    logits: Option<Tensor>,
    /// How the present rows draw, once they have.
    draw: Option<TensorDraw>,
    /// Samples that wait: those that were interrupted first.
    waiting: VecDeque<DecodingSample>,
    finished: Vec<DecodingSample>,
}

impl<'a> DeviceLoop<'a> {
    pub(crate) fn new(decoder: Decoder<'a>, queue: &'a PromptQueue<'a>) -> Result<Self> {
        let network = decoder.network;
        let positions = 0..network.config.context();
        let mut tables = [const { None }; LayerKind::ALL.len()];
        for kind in LayerKind::ALL {
            tables[kind as usize] = rotations(network.ropes.of(kind), positions.clone(), network.device())?;
        }
        Ok(Self {
            sizes: network.config.head_sizes(),
            rotations: tables,
            caches: Vec::new(),
            waiting: queue.samples().collect(),
            rows: Vec::new(),
            logits: None,
            draw: None,
            finished: Vec::new(),
            decoder,
            queue,
        })
    }

    pub(crate) fn run(mut self) -> Result<Vec<DecodingSample>> {
        loop {
            self.arrange_rows()?;
            if self.rows.is_empty() {
                return Ok(self.finished);
            }
            self.draw()?;
        }
    }

    fn draw(&mut self) -> Result<()> {
        let needs_host = self.rows.iter().any(|row| self.queued(row).needs_host());
        if needs_host { self.draw_on_host() } else { self.draw_on_device() }
    }

    fn queued(&self, row: &DecodingSample) -> &QueuedPrompt<'a> {
        &self.queue.prompts[row.queued]
    }

    fn device(&self) -> &'a Device {
        self.decoder.network.device()
    }

    fn cached_row(&self, sample: &DecodingSample) -> CachedRow {
        let QueuedPrompt { prompt, max_tokens, .. } = self.queued(sample);
        CachedRow { queued: sample.queued, prompt: prompt.len(), own: sample.tokens.len(), most: *max_tokens }
    }

    /// Removes the rows that ended, interrupts those that there is no room for, and admits others, when it is worth while: caches move then.
    fn arrange_rows(&mut self) -> Result<()> {
        let alive: Vec<usize> = (0..self.rows.len()).filter(|&at| self.rows[at].end.is_none()).collect();
        let held: usize = self.caches.iter().map(|cache| cache.size().columns(CHECKED_EVERY)).sum();
        let is_crowded = held > self.queue.slots.tokens && self.rows.len() > 1;
        let is_wasteful = 2 * alive.len() <= self.rows.len() || 2 * self.columns_of(&alive, CHECKED_EVERY) <= held;
        let more = self.admissible(&alive);
        let refill = more > 0 && 4 * more >= alive.len() + more;
        if !(is_crowded || is_wasteful || refill) {
            return Ok(());
        }
        self.keep_rows(&self.rows_with_room(alive))?;
        let mut more = if refill { self.admissible(&self.all_rows()) } else { 0 };
        // All that there is room for: a step costs nearly the same for few rows.
        while more > 0 {
            more -= self.prefill(more)?;
            // Interrupted samples of a prompt that are not computed together have it several times.
            more = more.min(self.admissible(&self.all_rows()));
        }
        self.keep_rows(&self.all_rows())?;
        self.draw = None;
        Ok(())
    }

    fn all_rows(&self) -> Vec<usize> {
        (0..self.rows.len()).collect()
    }

    /// Columns of caches that had only some of the rows, each of which gets `ahead` more tokens.
    fn columns_of(&self, kept: &[usize], ahead: usize) -> usize {
        self.split_by_cache(kept)
            .iter()
            .zip(&self.caches)
            .map(|(kept, cache)| size_of(cache, kept).columns(ahead))
            .sum()
    }

    /// Rows by their indices in each cache.
    fn split_by_cache(&self, mut kept: &[usize]) -> Vec<Vec<usize>> {
        let mut first = 0;
        let mut split = Vec::with_capacity(self.caches.len());
        for cache in &self.caches {
            let end = first + cache.rows().len();
            let (own, others) = kept.split_at(kept.partition_point(|&at| at < end));
            split.push(own.iter().map(|at| at - first).collect());
            (kept, first) = (others, end);
        }
        split
    }

    /// How many of the samples that wait there is room for beside some rows: one at least where none is in flight.
    fn admissible(&self, alive: &[usize]) -> usize {
        let Slots { samples, tokens } = self.queue.slots;
        let room = (tokens - tokens / SPARE).saturating_sub(self.columns_of(alive, BLOCK));
        // Each kind is computed on its own.
        let ([mut interrupted, mut fresh], mut count) = ([CacheSize::default(); 2], 0);
        for sample in self.waiting.iter().take(samples.saturating_sub(alive.len())) {
            (if sample.tokens.is_empty() { &mut fresh } else { &mut interrupted }).add(self.cached_row(sample));
            if interrupted.columns(BLOCK) + fresh.columns(BLOCK) > room {
                break;
            }
            count += 1;
        }
        if alive.is_empty() { count.max(1).min(self.waiting.len()) } else { count }
    }

    /// The rows without those of the fewest tokens, where the caches would soon be larger than they may be. One is kept however long it is.
    fn rows_with_room(&self, mut kept: Vec<usize>) -> Vec<usize> {
        while kept.len() > 1 && self.columns_of(&kept, CHECKED_EVERY) > self.queue.slots.tokens {
            let tokens = |&at: &usize| (self.rows[kept[at]].tokens.len(), Reverse(kept[at]));
            let youngest = (0..kept.len()).min_by_key(tokens).unwrap_or(0);
            kept.remove(youngest);
        }
        kept
    }

    /// Keeps some rows, and joins neighbouring caches where that pads little. Of the others those that have not ended wait again.
    fn keep_rows(&mut self, kept: &[usize]) -> Result<()> {
        let split = self.split_by_cache(kept);
        let [mut soon, mut later] = [CHECKED_EVERY, BLOCK].map(|ahead| self.columns_of(kept, ahead));
        let (most_soon, most_later) = (self.queue.slots.tokens, later + later / PADDED);
        let mut joined = Vec::<(CacheSize, Vec<_>)>::new();
        let parts = std::mem::take(&mut self.caches).into_iter().zip(split).filter(|(_, kept)| !kept.is_empty());
        for (cache, kept) in parts {
            let size = size_of(&cache, &kept);
            if let Some((before, parts)) = joined.last_mut() {
                let mut both = *before;
                both.extend(rows_of(&cache, &kept));
                let sizes = [&*before, &size, &both];
                let joined_soon = columns_where_joined(soon, sizes, CHECKED_EVERY);
                let joined_later = columns_where_joined(later, sizes, BLOCK);
                if joined_soon <= most_soon && joined_later <= most_later && !is_ragged(sizes) {
                    (soon, later, *before) = (joined_soon, joined_later, both);
                    parts.push((cache, kept));
                    continue;
                }
            }
            joined.push((size, vec![(cache, kept)]));
        }
        let device = self.device();
        self.caches = joined.into_iter().map(|(_, parts)| ColumnCache::join(parts, device)).collect::<Result<_>>()?;
        if kept.len() < self.rows.len() {
            self.remove_other_samples(kept)?;
        }
        Ok(())
    }

    fn remove_other_samples(&mut self, kept: &[usize]) -> Result<()> {
        self.logits = match &self.logits {
            Some(logits) if !kept.is_empty() => {
                let index: Vec<u32> = kept.iter().map(|&row| row as u32).collect();
                Some(logits.index_select(&Tensor::new(index, self.device())?, 0)?)
            }
            _ => None,
        };
        for (at, sample) in std::mem::take(&mut self.rows).into_iter().enumerate() {
            if kept.binary_search(&at).is_ok() {
                self.rows.push(sample);
            } else if sample.end.is_some() {
                self.finished.push(sample);
            } else {
                self.waiting.push_front(sample);
            }
        }
        // Samples of one prompt are computed together.
        let order = |sample: &DecodingSample| (sample.tokens.is_empty(), sample.queued, sample.index);
        self.waiting.make_contiguous().sort_unstable_by_key(order);
        Ok(())
    }

    /// Computes some of the samples that wait, `most` at most, from their prompts and the tokens that they have, and appends their rows. Returns how
    /// many there are.
    fn prefill(&mut self, most: usize) -> Result<usize> {
        let taken = self.take_waiting(most);
        let mut batch = MicroBatch::default();
        for samples in taken.chunk_by(|a, b| a.queued == b.queued) {
            batch.push_samples(self.queued(&samples[0]).prompt, samples.iter().map(|sample| &*sample.tokens));
        }
        let rows = taken.iter().map(|sample| self.cached_row(sample)).collect();
        let mut cache = ColumnCache::new(rows, self.device())?;
        let last =
            self.decoder.forward(&batch, |layer, qkv| self.cache_layer(&mut cache, layer, qkv, &batch.groups))?;
        let logits = self.decoder.logits(&last, &batch.outputs)?;
        self.logits = Some(match self.logits.take() {
            Some(before) => Tensor::cat(&[before, logits], 0)?,
            None => logits,
        });
        let count = taken.len();
        self.caches.push(cache);
        self.rows.extend(taken);
        Ok(count)
    }

    /// The next samples that wait, as many as are computed together: all of them new, or all of them interrupted. A prompt does not count against
    /// the samples that share it, so that those that are new are together.
    fn take_waiting(&mut self, most: usize) -> Vec<DecodingSample> {
        let (mut taken, mut tokens) = (Vec::<DecodingSample>::new(), 0);
        while taken.len() < most
            && let Some(next) = self.waiting.front()
        {
            let prompt = self.queued(next).prompt.len();
            if let Some(last) = taken.last() {
                let others = if last.queued == next.queued { tokens - prompt } else { tokens };
                if last.tokens.is_empty() != next.tokens.is_empty() || others >= self.queue.prefill_tokens {
                    break;
                }
                tokens = others;
            }
            tokens += prompt + next.tokens.len();
            taken.extend(self.waiting.pop_front());
        }
        taken
    }

    /// Keys and values of one layer of every group, from their raw projections.
    fn cache_layer(
        &self,
        cache: &mut ColumnCache,
        layer: usize,
        qkv: &Tensor,
        groups: &[AttentionGroup],
    ) -> Result<()> {
        let positions = groups.iter().flat_map(AttentionGroup::visible_rows).map(|row| row.position as u32);
        let positions = Tensor::new(positions.collect::<Vec<_>>(), self.device())?;
        let Layer { qk_norms, kind, .. } = &self.decoder.network.layers[layer];
        let rotations = rotations_at(&self.rotations[*kind as usize], &positions)?;
        let [_, keys, values] = step_heads(&self.sizes, qkv, qk_norms.as_ref(), &rotations)?;
        cache.push_layer(groups, [&keys, &values])
    }

    /// Logits behind one more token of every row: tokens [rows], at positions [rows], both u32.
    fn step(&mut self, tokens: &Tensor, positions: &Tensor) -> Result<Tensor> {
        #[cfg(feature = "cuda")]
        let _sent = crate::cuda::send_shapes_once(self.device());
        self.caches.iter_mut().try_for_each(ColumnCache::begin_column)?;
        let mut rotations = [const { None }; LayerKind::ALL.len()];
        for (at, table) in rotations.iter_mut().zip(&self.rotations) {
            *at = rotations_at(table, positions)?;
        }
        let decoder = &self.decoder;
        let (sizes, caches) = (&self.sizes, &mut self.caches);
        let x = decoder.run_with(0..decoder.layers(), decoder.embed_tokens(tokens)?, |layer, qkv| {
            let Layer { qk_norms, kind, .. } = &decoder.network.layers[layer];
            let heads = step_heads(sizes, &qkv, qk_norms.as_ref(), &rotations[*kind as usize])?;
            let (window, mut first) = (decoder.network.ropes.window(*kind), 0);
            let mut mixed = Vec::with_capacity(caches.len());
            for cache in caches.iter_mut() {
                let rows = cache.rows().len();
                let [query, key, value] = heads.each_ref().map(|x| x.narrow(0, first, rows));
                mixed.push(cache.attend(sizes, layer, window, [query?, key?, value?])?);
                first += rows;
            }
            Tensor::cat(&mixed, 0)
        })?;
        self.caches.iter_mut().for_each(ColumnCache::end_column);
        self.decoder.head(&x)
    }

    /// Position of every row's token `later` steps from now, of those that have none more than the context.
    fn positions(&self, later: usize) -> Vec<u32> {
        let last = self.decoder.network.config.context() - 1;
        let of = |row: &DecodingSample| (self.queued(row).prompt.len() + row.tokens.len() + later).min(last) as u32;
        self.rows.iter().map(of).collect()
    }

    fn draw_on_device(&mut self) -> Result<()> {
        let (device, rows) = (self.device(), self.rows.len());
        let left = |row: &DecodingSample| self.queued(row).max_tokens - row.tokens.len();
        let most = self.rows.iter().filter(|row| row.end.is_none()).map(left).max().unwrap_or(1);
        let steps = most.min(CHECKED_EVERY);
        let draw = match self.draw.take() {
            Some(draw) => draw,
            None => TensorDraw::new(&self.temperatures(), self.decoder.network.config.vocab_size, device)?,
        };
        let us: Vec<f32> = (0..steps)
            .flat_map(|later| self.rows.iter().map(move |row| (later, row)))
            .map(|(later, row)| self.uniform(row, later))
            .collect();
        let us = Tensor::from_vec(us, (steps, rows), device)?;
        let positions: Vec<u32> = (0..steps).flat_map(|later| self.positions(later)).collect();
        let positions = Tensor::from_vec(positions, (steps, rows), device)?;
        let (mut tokens, mut logprobs) = (Vec::with_capacity(steps), Vec::with_capacity(steps));
        for at in 0..steps {
            let logits = self.logits.take().ok_or_else(missing_logits)?;
            let (token, logprob) = draw.draw(&logits, &us.get(at)?)?;
            // Behind the last token that may be drawn nothing is to be computed.
            self.logits = if at + 1 < most { Some(self.step(&token, &positions.get(at)?)?) } else { Some(logits) };
            tokens.push(token);
            logprobs.push(logprob);
        }
        self.draw = Some(draw);
        // The one wait for the device.
        let logprobs = Tensor::stack(&logprobs, 0)?.to_vec2::<f32>()?;
        let tokens = Tensor::stack(&tokens, 0)?.to_vec2::<u32>()?;
        for (tokens, logprobs) in tokens.iter().zip(&logprobs) {
            for at in 0..rows {
                self.extend(at, |queued, row| queued.accept(row, tokens[at], logprobs[at]));
            }
        }
        Ok(())
    }

    fn temperatures(&self) -> Vec<f32> {
        self.rows.iter().map(|row| self.queued(row).sampler.temperature).collect()
    }

    /// The number at which a row's token `later` steps from now is drawn.
    fn uniform(&self, row: &DecodingSample, later: usize) -> f32 {
        let queued = self.queued(row);
        let u = uniform(queued.seed, queued.stream, row.index as u64, (row.tokens.len() + later) as u64);
        // Rounded to f32 it may be 1, which is no number below it.
        (u as f32).min(1.0 - f32::EPSILON / 2.0)
    }

    fn draw_on_host(&mut self) -> Result<()> {
        let positions = self.positions(0);
        let mut logits = self.logits.take().ok_or_else(missing_logits)?.to_vec2::<f32>()?;
        for (at, logits) in logits.iter_mut().enumerate() {
            self.extend(at, |queued, row| queued.extend(row, logits));
        }
        if self.rows.iter().any(|row| row.end.is_none()) {
            let tokens: Vec<u32> = self.rows.iter().map(|row| row.tokens.last().copied().unwrap_or(0)).collect();
            let device = self.device();
            self.logits = Some(self.step(&Tensor::new(tokens, device)?, &Tensor::new(positions, device)?)?);
        }
        Ok(())
    }

    /// Gives a row that has not ended one more token.
    fn extend(&mut self, at: usize, extend: impl FnOnce(&QueuedPrompt<'a>, &mut DecodingSample)) {
        let row = &mut self.rows[at];
        if row.end.is_none() {
            extend(&self.queue.prompts[row.queued], row);
        }
    }
}

/// cos and sin at positions [rows]: [rows, 1, pairs] each.
fn rotations_at(tables: &Rotations, positions: &Tensor) -> Result<Rotations> {
    let at = |table: &Tensor| table.index_select(positions, 0)?.unsqueeze(1);
    tables.as_ref().map(|[cos, sin]| Ok([at(cos)?, at(sin)?])).transpose()
}

/// The size of a cache that had only some of its rows.
fn size_of(cache: &ColumnCache, kept: &[usize]) -> CacheSize {
    rows_of(cache, kept).collect()
}

fn rows_of(cache: &ColumnCache, kept: &[usize]) -> impl Iterator<Item = CachedRow> {
    kept.iter().map(|&at| cache.rows()[at])
}

/// Columns of all caches, which have `all` now, where two of them are joined to a third and each row gets `ahead` more tokens.
fn columns_where_joined(all: usize, [a, b, both]: [&CacheSize; 3], ahead: usize) -> usize {
    all + both.columns(ahead) - a.columns(ahead) - b.columns(ahead)
}

/// Whether two caches that are joined to a third have far more places than rows, and more than apart.
fn is_ragged([a, b, both]: [&CacheSize; 3]) -> bool {
    both.places() > (PLACES * both.rows).max(a.places() + b.places())
}

fn missing_logits() -> candle_core::Error {
    candle_core::Error::Msg("rows without logits cannot be drawn from".to_owned())
}

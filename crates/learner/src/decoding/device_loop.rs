//! Sampling where the weights are: all rows of a batch in one step of tensor operations.
//!
//! Tokens stay on the device from draw to lookup; the host reads them every [`CHECKED_EVERY`] steps, ends rows, and discards the
//! tokens that a row drew after its end. Rows with a truncation are drawn on the CPU, a step at a time. A row's
//! tokens depend on its own request alone, but not to the bit: on a card products of another number of rows may round otherwise.

use std::collections::VecDeque;

use candle_core::{Device, Result, Tensor};
use veriplay_kernels::attention::HeadSizes;

use super::column_cache::{ColumnCache, IncomingRows};
use super::draw::TensorDraw;
use super::queue::{DecodingSample, PromptQueue, QueuedPrompt};
use super::token_sampler::uniform;
use crate::config::LayerKind;
use crate::network::{Decoder, Layer, MicroBatch};
use crate::ops::{Rotations, rotations, step_attention, step_heads};

/// Steps between two looks of the host.
const CHECKED_EVERY: usize = 8;

pub(crate) struct DeviceLoop<'a> {
    decoder: Decoder<'a>,
    sizes: HeadSizes,
    queue: &'a PromptQueue<'a>,
    /// cos and sin of every position [context, pairs], by the kind of a layer.
    rotations: [Rotations; LayerKind::ALL.len()],
    /// Samples in flight, and those that ended since rows were last removed.
    rows: Vec<DecodingSample>,
    columns: ColumnCache,
    /// Of the next token [rows, vocab], f32.
    logits: Option<Tensor>,
    /// How the present rows draw, once they have.
    draw: Option<TensorDraw>,
    /// Samples that wait: of a queued prompt, from this one on.
    waiting: VecDeque<(usize, usize)>,
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
            columns: ColumnCache::default(),
            waiting: (0..queue.prompts.len()).map(|queued| (queued, 0)).collect(),
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
            self.replace_ended_rows()?;
            if self.rows.is_empty() {
                return Ok(self.finished);
            }
            if self.rows.iter().any(|row| self.queued(row).needs_host()) {
                self.draw_on_host()?;
            } else {
                self.draw_on_device()?;
            }
        }
    }

    fn queued(&self, row: &DecodingSample) -> &QueuedPrompt<'a> {
        &self.queue.prompts[row.queued]
    }

    fn device(&self) -> &'a Device {
        self.decoder.network.device()
    }

    /// Removes the rows that ended and adds others, when it is worth while: everything in the cache moves then.
    fn replace_ended_rows(&mut self) -> Result<()> {
        let alive = self.alive().count();
        let room = self.room();
        let refill = room > 0 && room >= (alive + room).div_ceil(4);
        let ended = self.rows.len() - alive;
        // Columns that only rows which ended have tokens in.
        let is_wide = alive > 0 && self.columns.used >= self.width();
        if alive > 0 && !refill && !is_wide && ended * 2 < self.rows.len() {
            return Ok(());
        }
        let kept: Vec<usize> = (0..self.rows.len()).filter(|&at| self.rows[at].end.is_none()).collect();
        let mut logits = self.kept_logits(&kept)?;
        let (rows, ended): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.rows).into_iter().partition(|row| row.end.is_none());
        self.rows = rows;
        self.finished.extend(ended);
        let mut incoming = Vec::new();
        // All that there is room for: a step costs nearly the same for few rows.
        while refill && self.room() > 0 {
            incoming.extend(self.prefill(&mut logits)?);
        }
        if !self.rows.is_empty() {
            let most_columns = self.width() + CHECKED_EVERY;
            self.columns.replace_rows(&kept, incoming, most_columns, self.device())?;
            self.logits = Some(Tensor::cat(&logits, 0)?);
            self.draw = None;
        }
        Ok(())
    }

    fn alive(&self) -> impl Iterator<Item = &DecodingSample> {
        self.rows.iter().filter(|row| row.end.is_none())
    }

    /// Tokens that a row in flight has at most.
    fn width(&self) -> usize {
        self.alive().map(|row| self.queued(row).longest()).max().unwrap_or(0)
    }

    /// Samples such as those of the next prompt that there is room for: one at least where none is in flight.
    fn room(&self) -> usize {
        let Some(&(index, _)) = self.waiting.front() else { return 0 };
        let (slots, width) = (self.queue.slots, self.width().max(self.queue.prompts[index].longest()));
        slots.samples.min(slots.tokens / width).max(1).saturating_sub(self.alive().count())
    }

    fn kept_logits(&self, kept: &[usize]) -> Result<Vec<Tensor>> {
        let index: Vec<u32> = kept.iter().map(|&row| row as u32).collect();
        match &self.logits {
            Some(logits) if !kept.is_empty() => Ok(vec![logits.index_select(&Tensor::new(index, self.device())?, 0)?]),
            _ => Ok(Vec::new()),
        }
    }

    /// Computes the prompts of some samples that wait, as many as there is room for, and appends their rows.
    fn prefill(&mut self, logits: &mut Vec<Tensor>) -> Result<Vec<IncomingRows>> {
        let mut batch = MicroBatch::default();
        let mut taken: Vec<std::ops::Range<usize>> = Vec::new();
        while batch.tokens.len() < self.queue.prefill_tokens.max(1) {
            let room = self.room();
            let Some((index, first)) = (if room > 0 { self.waiting.pop_front() } else { None }) else { break };
            let queued = &self.queue.prompts[index];
            let last = queued.samples.min(first + room);
            if last < queued.samples {
                self.waiting.push_front((index, last));
            }
            batch.push_prompt(queued.prompt);
            taken.push(first..last);
            self.rows.extend((first..last).map(|sample| DecodingSample::new(index, sample)));
        }
        let rows = |taken: &std::ops::Range<usize>| IncomingRows { layers: Vec::new(), samples: taken.len() };
        let mut incoming: Vec<IncomingRows> = taken.iter().map(rows).collect();
        let last = self.decoder.forward(&batch, |layer, qkv| self.cache_layer(&mut incoming, layer, qkv, &batch))?;
        let heads = self.decoder.logits(&last, &batch.outputs)?;
        let repeated = incoming.iter().zip(0..).flat_map(|(rows, at)| std::iter::repeat_n(at, rows.samples));
        let index: Vec<u32> = repeated.collect();
        logits.push(heads.index_select(&Tensor::new(index, self.device())?, 0)?);
        Ok(incoming)
    }

    /// Keys and values of one layer of every prompt, from their raw projections.
    fn cache_layer(&self, incoming: &mut [IncomingRows], layer: usize, qkv: &Tensor, batch: &MicroBatch) -> Result<()> {
        let positions: Vec<u32> = batch.groups.iter().flat_map(|group| 0..group.prompt.len() as u32).collect();
        let Layer { qk_norms, kind, .. } = &self.decoder.network.layers[layer];
        let rotations = rotations_at(&self.rotations[*kind as usize], &Tensor::new(positions, self.device())?)?;
        let [_, keys, values] = step_heads(&self.sizes, qkv, qk_norms.as_ref(), &rotations)?;
        for (cache, group) in incoming.iter_mut().zip(&batch.groups) {
            let of = |x: &Tensor| {
                let rows = x.narrow(0, group.prompt.start, group.prompt.len())?;
                rows.squeeze(2)?.transpose(0, 1)?.contiguous()
            };
            cache.layers.push([of(&keys)?, of(&values)?]);
        }
        Ok(())
    }

    /// Logits behind one more token of every row: tokens [rows], at positions [rows], both u32.
    fn step(&mut self, tokens: &Tensor, positions: &Tensor) -> Result<Tensor> {
        #[cfg(feature = "cuda")]
        let _sent = crate::cuda::send_shapes_once(self.device());
        self.columns.begin_column()?;
        let mut rotations = [const { None }; LayerKind::ALL.len()];
        for (at, table) in rotations.iter_mut().zip(&self.rotations) {
            *at = rotations_at(table, positions)?;
        }
        let decoder = &self.decoder;
        let (sizes, columns) = (&self.sizes, &mut self.columns);
        let x = decoder.run_with(0..decoder.layers(), decoder.embed_tokens(tokens)?, |layer, qkv| {
            let Layer { qk_norms, kind, .. } = &decoder.network.layers[layer];
            let [q, key, value] = step_heads(sizes, &qkv, qk_norms.as_ref(), &rotations[*kind as usize])?;
            let [keys, values, mask] = columns.append(layer, &key, &value)?;
            step_attention(sizes, &q, &keys, &values, &mask)
        })?;
        self.columns.used += 1;
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

fn missing_logits() -> candle_core::Error {
    candle_core::Error::Msg("rows without logits cannot be drawn from".to_owned())
}

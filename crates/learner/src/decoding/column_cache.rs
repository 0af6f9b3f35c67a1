//! The key-value cache of a device, for rows that have about as many tokens of their own: prompts once for all their samples, and behind them
//! the samples' own tokens, which end at the same column in every row.
//!
//! Called by the decoding loop of a device, which has one or a few of them. Because the rows of a cache end at one column, a step writes one column
//! of every row, and no index is sent to the device. A mask hides the columns left of a row's first token and right of the last that is written:
//! attention then reads whole blocks of [`BLOCK`] columns, whose products are of the same sizes for many steps and lie as a card's matrix units
//! want them.

use std::ops::Range;

use candle_core::{DType, Device, Result, Tensor};
use veriplay_kernels::attention::{AttentionGroup, HeadSizes};

use super::cache_size::{ALIGNED, BLOCK, CacheSize, CachedRow, capacity};
use crate::ops::{StepColumns, step_attention};

/// Keys and values of all layers.
#[derive(Debug)]
pub(super) struct ColumnCache {
    /// The rows; neighbours of one prompt share it.
    rows: Vec<CachedRow>,
    size: CacheSize,
    /// Of each layer: keys and values of prompts [kv_heads, prompts, columns, dim], from column 0 on.
    prompts: Vec<[Tensor; 2]>,
    /// Of each layer: keys and values of own tokens [kv_heads, rows, capacity, dim], up to the last column that is written.
    own: Vec<[Tensor; 2]>,
    places: Option<[Tensor; 2]>,
    masks: Masks,
}

/// What is added to scores: 0, or −∞ where a row does not see.
#[derive(Debug)]
struct Masks {
    /// How many positions behind each token of its prompt a row's next token was when the masks were made [1, rows, 1, columns]; ∞ behind prompts.
    distances: Tensor,
    /// Own tokens that the row with most of them had then.
    since: usize,
    /// Of own tokens [1, rows, 1, capacity].
    own: Tensor,
    /// Zeros [1, rows, 1, 1]: a column that every row sees.
    seen: Tensor,
    /// Of the present step, by the window of a layer, for the columns that it reads.
    of_step: Vec<(usize, Tensor)>,
}

impl ColumnCache {
    /// For rows of which no layer is there yet; there is at least one.
    pub(super) fn new(rows: Vec<CachedRow>, device: &Device) -> Result<Self> {
        let size: CacheSize = rows.iter().copied().collect();
        let (places, masks) = (places(&rows, device)?, Masks::new(&rows, &size, device)?);
        Ok(Self { rows, size, prompts: Vec::new(), own: Vec::new(), places, masks })
    }

    /// Appends a layer from the keys and values [tokens, kv_heads, 1, dim] of a micro-batch, whose groups are these rows.
    pub(super) fn push_layer(&mut self, groups: &[AttentionGroup], sides: [&Tensor; 2]) -> Result<()> {
        let [keys, values] =
            sides.map(|side| self.columns_of_side(groups, &side.squeeze(2)?.transpose(0, 1)?.contiguous()?));
        let ([prompt_keys, keys], [prompt_values, values]) = (keys?, values?);
        self.prompts.push([prompt_keys, prompt_values]);
        self.own.push([keys, values]);
        Ok(())
    }

    /// What stands for prompts and for own tokens of one side of a layer [kv_heads, tokens, dim].
    fn columns_of_side(&self, groups: &[AttentionGroup], side: &Tensor) -> Result<[Tensor; 2]> {
        let [mut prompts, mut own] = [Vec::with_capacity(groups.len()), Vec::new()];
        let (used, capacity) = (self.size.own, self.capacity());
        for AttentionGroup { prompt, responses } in groups {
            let missing = self.prompt_columns() - prompt.len();
            prompts.push(side.narrow(1, prompt.start, prompt.len())?.pad_with_zeros(1, 0, missing)?.unsqueeze(1)?);
            for row in responses {
                let tokens = side.narrow(1, row.start, row.len())?;
                own.push(tokens.pad_with_zeros(1, used - row.len(), capacity - used)?.unsqueeze(1)?);
            }
        }
        let prompts = Tensor::cat(&prompts, 1)?.contiguous()?;
        let own = if used == 0 {
            empty_columns(side, self.rows.len(), capacity)?
        } else {
            Tensor::cat(&own, 1)?.contiguous()?
        };
        Ok([prompts, own])
    }

    /// One cache of the given rows of some, in their order.
    pub(super) fn join(mut parts: Vec<(Self, Vec<usize>)>, device: &Device) -> Result<Self> {
        if parts.len() == 1 && parts[0].1.len() == parts[0].0.rows.len() {
            return Ok(parts.swap_remove(0).0);
        }
        let rows = parts.iter().flat_map(|(cache, kept)| kept.iter().map(|&at| cache.rows[at])).collect();
        let mut joined = Self::new(rows, device)?;
        let (mut picks, mut last) = (Vec::new(), None);
        for (cache, kept) in &parts {
            picks.push(cache.pick(kept, &mut last, device)?);
        }
        let mut layers: Vec<_> = parts.into_iter().map(|(cache, _)| cache.prompts.into_iter().zip(cache.own)).collect();
        // Layer by layer, so that the old caches and the new one are never all whole.
        let mut layer: Vec<_> = layers.iter_mut().filter_map(Iterator::next).collect();
        while !layer.is_empty() {
            let [keys, values] = [0, 1].map(|side| joined.joined_side(&picks, &layer, side));
            let ([prompt_keys, keys], [prompt_values, values]) = (keys?, values?);
            joined.prompts.push([prompt_keys, prompt_values]);
            joined.own.push([keys, values]);
            layer = layers.iter_mut().filter_map(Iterator::next).collect();
        }
        Ok(joined)
    }

    /// One side of a layer, where the caches that are joined have these.
    fn joined_side(&self, picks: &[Pick], layer: &[([Tensor; 2], [Tensor; 2])], side: usize) -> Result<[Tensor; 2]> {
        let (mut prompts, mut own) = (Vec::new(), Vec::new());
        for (pick, (of_prompts, of_rows)) in picks.iter().zip(layer) {
            if let Some(index) = &pick.prompts {
                let columns = self.prompt_columns().min(of_prompts[side].dim(2)?);
                let kept = of_prompts[side].narrow(2, 0, columns)?.contiguous()?.index_select(index, 1)?;
                prompts.push(kept.pad_with_zeros(2, 0, self.prompt_columns() - columns)?);
            }
            own.push(self.picked_rows(pick, &of_rows[side])?);
        }
        Ok([Tensor::cat(&prompts, 1)?.contiguous()?, Tensor::cat(&own, 1)?.contiguous()?])
    }

    /// Rows of another cache, moved so that they end where those of this one end.
    fn picked_rows(&self, pick: &Pick, x: &Tensor) -> Result<Tensor> {
        let Pick { rows, first, columns, .. } = pick;
        if *columns == 0 {
            return empty_columns(x, rows.dim(0)?, self.capacity());
        }
        let kept = x.narrow(2, *first, *columns)?.contiguous()?.index_select(rows, 1)?;
        kept.pad_with_zeros(2, self.size.own - columns, self.capacity() - self.size.own)
    }

    /// Some of the rows, with those of their prompts that no row before them, which is of `last`, has.
    fn pick(&self, kept: &[usize], last: &mut Option<usize>, device: &Device) -> Result<Pick> {
        let (mut prompt, mut before, mut prompts_of) = (0_u32, None, Vec::with_capacity(self.rows.len()));
        for row in &self.rows {
            prompt += u32::from(before.is_some_and(|before| before != row.queued));
            before = Some(row.queued);
            prompts_of.push(prompt);
        }
        let new = kept.iter().filter(|&&at| last.replace(self.rows[at].queued) != Some(self.rows[at].queued));
        let prompts: Vec<u32> = new.map(|&at| prompts_of[at]).collect();
        let columns = kept.iter().map(|&at| self.rows[at].own).max().unwrap_or(0);
        let rows: Vec<u32> = kept.iter().map(|&at| at as u32).collect();
        Ok(Pick {
            prompts: if prompts.is_empty() { None } else { Some(Tensor::new(prompts, device)?) },
            rows: Tensor::new(rows, device)?,
            first: self.size.own - columns,
            columns,
        })
    }

    pub(super) fn rows(&self) -> &[CachedRow] {
        &self.rows
    }

    pub(super) const fn size(&self) -> &CacheSize {
        &self.size
    }

    /// Columns of the first layer's tensors.
    #[cfg(test)]
    pub(super) fn held_columns(&self) -> usize {
        let columns = |[keys, _]: &[Tensor; 2]| keys.dims()[1] * keys.dims()[2];
        columns(&self.prompts[0]) + columns(&self.own[0])
    }

    const fn prompt_columns(&self) -> usize {
        self.size.prompt.next_multiple_of(ALIGNED)
    }

    /// Columns of own tokens where there is room for one more.
    fn capacity(&self) -> usize {
        capacity(self.size.own + 1, self.size.most)
    }

    /// Makes room for one more column, which every row sees from now on.
    pub(super) fn begin_column(&mut self) -> Result<()> {
        let now = self.masks.own.dim(3)?;
        if self.size.own >= now {
            let more = self.capacity() - now;
            for tensor in self.own.iter_mut().flatten() {
                *tensor = tensor.pad_with_zeros(2, 0, more)?.contiguous()?;
            }
            self.masks.hide_columns(more)?;
        }
        self.masks.of_step.clear();
        self.masks.own.slice_set(&self.masks.seen, 3, self.size.own)
    }

    /// Writes the next column of one layer, and attends to the last `window` positions: queries [rows, heads, 1, dim], keys and values
    /// [rows, kv_heads, 1, dim] → [rows, heads·dim].
    pub(super) fn attend(
        &mut self,
        sizes: &HeadSizes,
        layer: usize,
        window: usize,
        [query, key, value]: [Tensor; 3],
    ) -> Result<Tensor> {
        let used = self.size.own;
        for (side, new) in self.own[layer].iter().zip([key, value]) {
            side.slice_set(&new.transpose(0, 1)?.contiguous()?, 2, used)?;
        }
        let first = (used + 1).saturating_sub(window);
        let columns = first..(used + 1).next_multiple_of(BLOCK).min(self.masks.own.dim(3)?);
        let mask = self.masks.within(window, used, &columns)?;
        let [keys, values] = self.own[layer].each_ref().map(|side| side.narrow(2, first, columns.len()));
        let own = [keys?, values?];
        let (prompts, places) = (&self.prompts[layer], self.places.as_ref());
        step_attention(sizes, &query, &StepColumns { prompts, places, own: &own, mask: &mask })
    }

    /// Counts the column that all layers have written.
    pub(super) fn end_column(&mut self) {
        self.size.own += 1;
        self.rows.iter_mut().for_each(|row| row.own += 1);
    }
}

/// What a cache that is joined from several has of one of them.
struct Pick {
    /// Indices of its prompts that are kept; `None` for none.
    prompts: Option<Tensor>,
    /// Indices of its rows that are kept.
    rows: Tensor,
    /// Their own tokens are in `columns` columns from `first` on.
    first: usize,
    columns: usize,
}

impl Masks {
    fn new(rows: &[CachedRow], size: &CacheSize, device: &Device) -> Result<Self> {
        let (columns, capacity) = (size.prompt.next_multiple_of(ALIGNED), capacity(size.own + 1, size.most));
        let (mut distances, mut own) =
            (Vec::with_capacity(rows.len() * columns), Vec::with_capacity(rows.len() * capacity));
        for row in rows {
            distances.extend((0..row.prompt).map(|at| (row.prompt + row.own - at) as f32));
            distances.resize(distances.len() + columns - row.prompt, f32::INFINITY);
            let seen = size.own - row.own..size.own;
            own.extend((0..capacity).map(|at| if seen.contains(&at) { 0.0 } else { f32::NEG_INFINITY }));
        }
        let of_rows = |values, columns| Tensor::from_vec(values, (1, rows.len(), 1, columns), device);
        Ok(Self {
            distances: of_rows(distances, columns)?,
            since: size.own,
            own: of_rows(own, capacity)?,
            seen: Tensor::zeros((1, rows.len(), 1, 1), DType::F32, device)?,
            of_step: Vec::new(),
        })
    }

    /// Appends columns that no row sees.
    fn hide_columns(&mut self, more: usize) -> Result<()> {
        let hidden = Tensor::full(f32::NEG_INFINITY, (1, self.own.dim(1)?, 1, more), self.own.device())?;
        self.own = Tensor::cat(&[&self.own, &hidden], 3)?.contiguous()?;
        Ok(())
    }

    /// For the columns of prompts, and some of own tokens, where rows see the last `window` positions in a step that writes column `used`.
    fn within(&mut self, window: usize, used: usize, columns: &Range<usize>) -> Result<Tensor> {
        if let Some((_, mask)) = self.of_step.iter().find(|(of, _)| *of == window) {
            return Ok(mask.clone());
        }
        // Above 0 where a position is in the window, and far below where it is not.
        let last = window.min(FARTHEST) as f64 - (used - self.since) as f64 - 0.5;
        let prompts = self.distances.affine(-FAR, last * FAR)?.minimum(0.0)?;
        let mask = Tensor::cat(&[&prompts, &self.own.narrow(3, columns.start, columns.len())?], 3)?;
        self.of_step.push((window, mask.clone()));
        Ok(mask)
    }
}

/// Subtracted from scores for each position behind the window: such positions have weight 0.
const FAR: f64 = 1e30;
/// Positions that no context has, and whose product with [`FAR`] an f32 holds.
const FARTHEST: usize = 1 << 24;

/// Columns without tokens [kv_heads, rows, capacity, dim], like those of a side [kv_heads, .., dim].
fn empty_columns(side: &Tensor, rows: usize, capacity: usize) -> Result<Tensor> {
    let dim = side.dim(side.rank() - 1)?;
    Tensor::zeros((side.dim(0)?, rows, capacity, dim), side.dtype(), side.device())
}

/// Where prompts do not all have the same number of rows: the row at each place [prompts · most rows], and the place of each row.
fn places(rows: &[CachedRow], device: &Device) -> Result<Option<[Tensor; 2]>> {
    let prompts: Vec<usize> = rows.chunk_by(|a, b| a.queued == b.queued).map(<[CachedRow]>::len).collect();
    let most = prompts.iter().copied().max().unwrap_or(0);
    if prompts.iter().all(|&count| count == most) {
        return Ok(None);
    }
    let (mut at_places, mut of_rows) = (Vec::with_capacity(prompts.len() * most), Vec::with_capacity(rows.len()));
    for count in prompts {
        let (first, place) = (of_rows.len() as u32, at_places.len() as u32);
        of_rows.extend((0..count as u32).map(|at| place + at));
        // Behind the rows of a prompt any will do.
        at_places.extend((0..most as u32).map(|at| first + at.min(count as u32 - 1)));
    }
    Ok(Some([Tensor::new(at_places, device)?, Tensor::new(of_rows, device)?]))
}

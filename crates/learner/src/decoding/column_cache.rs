//! The key-value cache of a device: one tensor a layer for all rows, in which the rows' tokens end at the same column.
//!
//! Called by the decoding loop of a device. Because all rows end at one column, a step writes one column of every row, and no index is
//! sent to the device. A mask hides the columns left of a row's first token and right of the last that is written: attention then reads whole
//! blocks of [`BLOCK`] columns, whose products are of the same sizes for many steps and lie as a card's matrix units want them.

use candle_core::{DType, Device, Error, Result, Tensor};

/// Columns that are added, and attended to, together.
const BLOCK: usize = 64;
/// Columns that a cache ends at a multiple of, where the rows need no whole block more.
const ALIGNED: usize = 8;

/// Keys and values of all layers.
#[derive(Debug, Default)]
pub(super) struct ColumnCache {
    /// Of each layer: keys and values [rows, kv_heads, capacity, dim]; zero where nothing is written. None before the first row.
    layers: Vec<[Tensor; 2]>,
    /// The first column each row sees.
    starts: Vec<usize>,
    pub(super) used: usize,
    /// Columns that the present rows need at most.
    most: usize,
    mask: Option<Mask>,
}

/// What is added to scores.
#[derive(Debug)]
struct Mask {
    /// [rows, 1, 1, capacity]: 0, or −∞ where a row does not see.
    cells: Tensor,
    /// Zeros [rows, 1, 1, 1]: a column that every row sees.
    seen: Tensor,
}

/// Rows that come: so many samples of one prompt.
pub(super) struct IncomingRows {
    /// Its keys and values, of each layer [kv_heads, tokens, dim].
    pub(super) layers: Vec<[Tensor; 2]>,
    pub(super) samples: usize,
}

impl ColumnCache {
    /// Keeps the rows of `kept`, in this order, and appends others; there must be at least one. All need `most` columns at most.
    pub(super) fn replace_rows(
        &mut self,
        kept: &[usize],
        incoming: Vec<IncomingRows>,
        most: usize,
        device: &Device,
    ) -> Result<()> {
        let lengths = incoming.iter().map(|rows| rows.layers[0][0].dim(1)).collect::<Result<Vec<_>>>()?;
        let samples: Vec<usize> = incoming.iter().map(|rows| rows.samples).collect();
        let longest_kept = kept.iter().map(|&row| self.used - self.starts[row]).max().unwrap_or(0);
        let used = lengths.iter().copied().max().unwrap_or(0).max(longest_kept);
        let capacity = capacity(used + 1, most);
        let index: Vec<u32> = kept.iter().map(|&row| row as u32).collect();
        let index = if kept.is_empty() { None } else { Some(Tensor::new(index, device)?) };
        let expansion = expansion(kept.len(), &samples, device)?;
        let count = incoming.first().map_or(self.layers.len(), |rows| rows.layers.len());
        let first = self.used - longest_kept;
        let changed = |old: Option<Tensor>, prompts: Vec<Tensor>| {
            let mut rows = Vec::with_capacity(1 + prompts.len());
            if let (Some(index), Some(old)) = (&index, old) {
                let old = old.narrow(2, first, longest_kept)?;
                rows.push(align_to_column(&old.contiguous()?.index_select(index, 0)?, used, capacity)?);
            }
            for prompt in prompts {
                rows.push(align_to_column(&prompt.unsqueeze(0)?, used, capacity)?);
            }
            let whole = Tensor::cat(&rows, 0)?.contiguous()?;
            drop(rows);
            expansion.as_ref().map_or(Ok(whole.clone()), |places| whole.index_select(places, 0))
        };
        // Layer by layer, so that what was there, what comes and the new cache are never all whole.
        let mut old = std::mem::take(&mut self.layers).into_iter().map(|[keys, values]| [Some(keys), Some(values)]);
        let mut incoming: Vec<_> = incoming.into_iter().map(|rows| rows.layers.into_iter()).collect();
        for _ in 0..count {
            let [keys, values] = old.next().unwrap_or_default();
            let (more_keys, more_values) = incoming.iter_mut().filter_map(Iterator::next).map(<(_, _)>::from).unzip();
            self.layers.push([changed(keys, more_keys)?, changed(values, more_values)?]);
        }
        self.most = most;
        let lengths =
            lengths.into_iter().zip(samples).flat_map(|(length, samples)| std::iter::repeat_n(length, samples));
        let lengths = kept.iter().map(|&row| self.used - self.starts[row]).chain(lengths);
        self.starts = lengths.map(|length| used - length).collect();
        self.used = used;
        self.mask = Some(self.build_mask(capacity, device)?);
        Ok(())
    }

    /// Makes room for one more column, which every row sees from now on.
    pub(super) fn begin_column(&mut self) -> Result<()> {
        let Mask { cells, .. } = self.mask.as_ref().ok_or_else(empty_cache)?;
        let (now, device) = (cells.dim(3)?, cells.device().clone());
        if self.used >= now {
            let more = capacity(now + (now / 2).max(1), self.most).max(self.used + 1) - now;
            for tensors in &mut self.layers {
                for tensor in tensors {
                    *tensor = tensor.pad_with_zeros(2, 0, more)?.contiguous()?;
                }
            }
            self.mask = Some(self.build_mask(now + more, &device)?);
        }
        let Mask { cells, seen } = self.mask.as_ref().ok_or_else(empty_cache)?;
        cells.slice_set(seen, 3, self.used)
    }

    /// Writes the next column of one layer: key and value [rows, kv_heads, 1, dim]. Returns keys, values and mask of the blocks up to it, from
    /// the first of the last `window` columns on.
    pub(super) fn append(&mut self, layer: usize, key: &Tensor, value: &Tensor, window: usize) -> Result<[Tensor; 3]> {
        let [keys, values] = &self.layers[layer];
        keys.slice_set(&key.contiguous()?, 2, self.used)?;
        values.slice_set(&value.contiguous()?, 2, self.used)?;
        let Mask { cells, .. } = self.mask.as_ref().ok_or_else(empty_cache)?;
        let read = (self.used + 1).next_multiple_of(BLOCK).min(cells.dim(3)?);
        let first = (self.used + 1).saturating_sub(window);
        let part = |x: &Tensor, dim: usize| x.narrow(dim, first, read - first);
        Ok([part(keys, 2)?, part(values, 2)?, part(cells, 3)?])
    }

    fn build_mask(&self, capacity: usize, device: &Device) -> Result<Mask> {
        let rows = self.starts.len();
        let cell = |start: usize| {
            (0..capacity).map(move |at| if (start..self.used).contains(&at) { 0.0 } else { f32::NEG_INFINITY })
        };
        let cells: Vec<f32> = self.starts.iter().flat_map(|&start| cell(start)).collect();
        let cells = Tensor::from_vec(cells, (rows, 1, 1, capacity), device)?;
        Ok(Mask { cells, seen: Tensor::zeros((rows, 1, 1, 1), DType::F32, device)? })
    }
}

/// Columns to make room for where so many are needed now, and `most` ever.
fn capacity(needed: usize, most: usize) -> usize {
    needed.next_multiple_of(BLOCK).min(most.next_multiple_of(ALIGNED)).max(needed)
}

/// The places, among kept rows and one row a prompt behind them, that the rows of a cache are copied from; `None` where each is used once.
fn expansion(kept: usize, samples: &[usize], device: &Device) -> Result<Option<Tensor>> {
    if samples.iter().all(|&samples| samples == 1) {
        return Ok(None);
    }
    let prompts = samples.iter().zip(kept..).flat_map(|(&samples, at)| std::iter::repeat_n(at, samples));
    let places: Vec<u32> = (0..kept).chain(prompts).map(|at| at as u32).collect();
    Tensor::new(places, device).map(Some)
}

fn empty_cache() -> Error {
    Error::Msg("a cache without rows has no columns".to_owned())
}

/// Moves [rows, kv_heads, tokens, dim] so that the tokens end at column `used` of `capacity`.
fn align_to_column(x: &Tensor, used: usize, capacity: usize) -> Result<Tensor> {
    x.pad_with_zeros(2, used - x.dim(2)?, capacity - used)
}

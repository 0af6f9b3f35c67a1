//! The key-value cache of a device: one tensor a layer for all rows, in which the rows' tokens end at the same column.
//!
//! Called by the decoding loop of a device. Because all rows end at one column, a step writes one column of every row, and no index is
//! sent to the device. A mask hides the columns left of a row's first token; it changes only when rows are added or removed.

use candle_core::{Device, Error, Result, Tensor};

/// Columns added at a time.
const ROOM: usize = 64;

/// Keys and values of all layers.
#[derive(Debug, Default)]
pub(super) struct ColumnCache {
    /// Of each layer: keys and values [rows, kv_heads, capacity, dim]. None before the first row.
    layers: Vec<[Tensor; 2]>,
    /// The first column each row sees.
    starts: Vec<usize>,
    /// Columns that are written.
    pub(super) used: usize,
    /// Columns that the present rows need at most.
    most: usize,
    /// Added to scores [rows, 1, 1, capacity]: 0, or −∞ where a row does not see.
    mask: Option<Tensor>,
}

/// A row that comes: keys and values of its prompt, of each layer [kv_heads, tokens, dim].
pub(super) type PromptCache = Vec<[Tensor; 2]>;

impl ColumnCache {
    /// Keeps the rows of `kept`, in this order, and appends others; there must be at least one. All need `most` columns at most.
    pub(super) fn replace_rows(
        &mut self,
        kept: &[usize],
        incoming: &[PromptCache],
        most: usize,
        device: &Device,
    ) -> Result<()> {
        let lengths = incoming.iter().map(|row| row[0][0].dim(1)).collect::<Result<Vec<_>>>()?;
        let longest_kept = kept.iter().map(|&row| self.used - self.starts[row]).max().unwrap_or(0);
        let used = lengths.iter().copied().max().unwrap_or(0).max(longest_kept);
        let capacity = (used + ROOM).min(most).max(used + 1);
        let index: Vec<u32> = kept.iter().map(|&row| row as u32).collect();
        let index = if kept.is_empty() { None } else { Some(Tensor::new(index, device)?) };
        let count = incoming.first().map_or(self.layers.len(), Vec::len);
        let first = self.used - longest_kept;
        let changed = |old: Option<Tensor>, layer: usize, which: usize| {
            let mut rows = Vec::with_capacity(1 + incoming.len());
            if let (Some(index), Some(old)) = (&index, old) {
                let old = old.narrow(2, first, longest_kept)?;
                rows.push(align_to_column(&old.contiguous()?.index_select(index, 0)?, used, capacity)?);
            }
            for row in incoming {
                rows.push(align_to_column(&row[layer][which].unsqueeze(0)?, used, capacity)?);
            }
            Tensor::cat(&rows, 0)?.contiguous()
        };
        // Layer by layer, so that the old cache and the new one are never both whole.
        let mut old = std::mem::take(&mut self.layers).into_iter().map(|[keys, values]| [Some(keys), Some(values)]);
        for layer in 0..count {
            let [keys, values] = old.next().unwrap_or_default();
            self.layers.push([changed(keys, layer, 0)?, changed(values, layer, 1)?]);
        }
        self.most = most;
        let lengths = kept.iter().map(|&row| self.used - self.starts[row]).chain(lengths);
        self.starts = lengths.map(|length| used - length).collect();
        self.used = used;
        self.mask = Some(self.build_mask(capacity, device)?);
        Ok(())
    }

    /// Room for one more column.
    pub(super) fn reserve(&mut self) -> Result<()> {
        let mask = self.mask.as_ref().ok_or_else(empty_cache)?;
        let (capacity, device) = (mask.dim(3)?, mask.device().clone());
        if self.used < capacity {
            return Ok(());
        }
        let more = (capacity + ROOM.max(capacity / 2)).min(self.most).max(self.used + 1) - capacity;
        for tensors in &mut self.layers {
            for tensor in tensors {
                *tensor = tensor.pad_with_zeros(2, 0, more)?.contiguous()?;
            }
        }
        self.mask = Some(self.build_mask(capacity + more, &device)?);
        Ok(())
    }

    /// Writes the next column of one layer: key and value [rows, kv_heads, 1, dim]. Returns keys, values and mask up to it.
    pub(super) fn append(&mut self, layer: usize, key: &Tensor, value: &Tensor) -> Result<[Tensor; 3]> {
        let [keys, values] = &self.layers[layer];
        keys.slice_set(&key.contiguous()?, 2, self.used)?;
        values.slice_set(&value.contiguous()?, 2, self.used)?;
        let seen = self.used + 1;
        let mask = self.mask.as_ref().ok_or_else(empty_cache)?;
        Ok([keys.narrow(2, 0, seen)?, values.narrow(2, 0, seen)?, mask.narrow(3, 0, seen)?])
    }

    fn build_mask(&self, capacity: usize, device: &Device) -> Result<Tensor> {
        let cell = |start: usize| (0..capacity).map(move |at| if at < start { f32::NEG_INFINITY } else { 0.0 });
        let cells: Vec<f32> = self.starts.iter().flat_map(|&start| cell(start)).collect();
        Tensor::from_vec(cells, (self.starts.len(), 1, 1, capacity), device)
    }
}

fn empty_cache() -> Error {
    Error::Msg("a cache without rows has no columns".to_owned())
}

/// Moves [rows, kv_heads, tokens, dim] so that the tokens end at column `used` of `capacity`.
fn align_to_column(x: &Tensor, used: usize, capacity: usize) -> Result<Tensor> {
    x.pad_with_zeros(2, used - x.dim(2)?, capacity - used)
}

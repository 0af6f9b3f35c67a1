//! The key-value cache of a prompt or of a row's own tokens, and attention of a prefill step: rows of a prompt attend to the beginning of it, such
//! as what a conversation's next prompt adds to the one before.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{AttendingRow, DecodeScratch, HeadSizes, LayerAttention, Panel, Spans, VisibleRows, padded};
use crate::math::LANES;
use crate::simd::dispatch;

/// One layer's attention of some rows of a prompt, which lie side by side. Every row is computed as [`super::attention`] computes it where
/// the whole prompt goes through the model at once: the same numbers, to the bit.
pub struct PrefillStep<'a> {
    /// Overwritten [rows, heads·dim].
    pub out: &'a mut [f32],
    /// Raw projections of the rows [rows, (heads + 2·kv_heads)·dim].
    pub qkv: &'a [f32],
    /// Position of the first of the rows in the prompt.
    pub first: usize,
    /// Keys and values of the prompt, those of the rows included.
    pub cache: &'a KvCache,
    /// Which layer's slots of the cache.
    pub layer: usize,
    /// The layer's attention.
    pub heads: &'a LayerAttention<'a>,
    /// Buffers of the thread that runs it.
    pub scratch: &'a mut DecodeScratch,
}

impl PrefillStep<'_> {
    /// Runs it.
    pub fn run(&mut self) {
        dispatch(self);
    }
}

impl WithSimd for &mut PrefillStep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let HeadSizes { heads, kv_heads, dim, .. } = self.heads.sizes;
        let width = self.heads.width();
        for kv in 0..kv_heads {
            for (at, raw) in self.qkv.chunks_exact(width).enumerate() {
                let position = self.first + at;
                let out = &mut self.out[at * heads * dim..][..heads * dim];
                let mut attending = AttendingRow { out, lse: &mut [], raw, position };
                // One run of columns, as in a prompt that is computed as a whole: sums depend on where their terms lie.
                let visible = VisibleRows { position, shared: 0..position + 1, own: 0..0 }.within(self.heads.window);
                let panel = self.cache.panel(self.layer * kv_heads + kv, position + 1).part(&visible.shared, dim);
                let spans = Spans::new(visible.shared, visible.own);
                self.heads.attend(
                    simd,
                    &mut attending,
                    kv,
                    (&spans, [panel, Panel { values: &[], ..panel }]),
                    self.scratch,
                );
            }
        }
    }
}

/// Keys transposed [dim, stride] and values [capacity, dim], for every (layer, key-value head) in turn.
#[derive(Debug, Clone, Default)]
pub struct KvCache {
    data: Vec<f32>,
    dim: usize,
    capacity: usize,
}

impl KvCache {
    /// Room for `capacity` tokens of `slots` (layer, head) pairs.
    pub fn new(slots: usize, dim: usize, capacity: usize) -> Self {
        let capacity = padded(capacity.max(1));
        Self { data: vec![0.0; slots * slot_size(dim, capacity)], dim, capacity }
    }

    /// Tokens it has room for.
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Distance of two rows of the transposed keys.
    const fn stride(&self) -> usize {
        self.capacity + LANES
    }

    /// Keys and values of the first `used` tokens of one slot.
    #[inline(always)]
    pub(super) fn panel(&self, slot: usize, used: usize) -> Panel<'_> {
        let (size, stride) = (slot_size(self.dim, self.capacity), self.stride());
        let (keys_t, values) = self.data[slot * size..(slot + 1) * size].split_at(self.dim * stride);
        Panel { keys_t, stride, values: &values[..used * self.dim] }
    }

    /// Writes the key and the value of token `at`.
    #[inline(always)]
    pub(super) fn write(&mut self, slot: usize, at: usize, key: &[f32], value: &[f32]) {
        let (size, stride, dim) = (slot_size(self.dim, self.capacity), self.stride(), self.dim);
        let (keys, values) = self.data[slot * size..(slot + 1) * size].split_at_mut(dim * stride);
        for (d, &x) in key.iter().enumerate() {
            keys[d * stride + at] = x;
        }
        values[at * dim..(at + 1) * dim].copy_from_slice(value);
    }

    /// Writes one layer's keys and values of a prompt's tokens from position `first` on: those of `rows` of a micro-batch, from its raw
    /// projections `qkv` [rows, (heads + 2·kv_heads)·dim].
    pub fn fill(&mut self, heads: &LayerAttention<'_>, layer: usize, qkv: &[f32], rows: Range<usize>, first: usize) {
        let HeadSizes { heads: queries, kv_heads, dim, .. } = heads.sizes;
        let mut key = vec![0.0; dim];
        for (position, row) in (first..).zip(rows) {
            let raw = &qkv[row * heads.width()..(row + 1) * heads.width()];
            for kv in 0..kv_heads {
                heads.rotate_head(&mut key, &raw[(queries + kv) * dim..][..dim], heads.k_gain, position, 1.0);
                let value = &raw[(queries + kv_heads + kv) * dim..][..dim];
                self.write(layer * kv_heads + kv, position, &key, value);
            }
        }
    }

    /// Doubles the capacity and keeps the first `used` tokens.
    pub fn grow(&mut self, slots: usize, used: usize) {
        *self = self.extended(slots, used, 2 * self.capacity);
    }

    /// A copy of the first `used` tokens, with room for `capacity`.
    #[must_use]
    pub fn extended(&self, slots: usize, used: usize, capacity: usize) -> Self {
        let mut larger = Self::new(slots, self.dim, capacity);
        let (dim, to) = (self.dim, larger.stride());
        let size = slot_size(dim, larger.capacity);
        for (slot, copy) in larger.data.chunks_exact_mut(size).enumerate() {
            let Panel { keys_t, stride, values } = self.panel(slot, used);
            let (new_keys, new_values) = copy.split_at_mut(dim * to);
            for (new, old) in new_keys.chunks_exact_mut(to).zip(keys_t.chunks_exact(stride)) {
                new[..used].copy_from_slice(&old[..used]);
            }
            new_values[..used * dim].copy_from_slice(values);
        }
        larger
    }

    /// Bytes of its numbers.
    pub const fn bytes(&self) -> usize {
        size_of::<f32>() * self.data.len()
    }
}

const fn slot_size(dim: usize, capacity: usize) -> usize {
    dim * (capacity + LANES) + capacity * dim
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{AttentionGroup, AttentionWorkspace, attention};
    use super::*;
    use crate::layers::RopeTable;

    /// Numbers without a pattern.
    fn numbers(count: usize, salt: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 37 + i * i * 7 + salt * 101) as f32).sin() * 1.5).collect()
    }

    proptest! {
        #[test]
        fn rows_behind_a_cache_are_those_of_the_whole_prompt_to_the_bit(
            past in 1_usize..70, new in 1_usize..40, shape in 0_usize..4, salt in 0_usize..50, has_gains: bool,
            window in prop_oneof![1_usize..40, Just(usize::MAX)],
        ) {
            let (heads, kv_heads, dim) = [(4, 2, 10), (3, 1, 16), (2, 2, 24), (6, 2, 32)][shape];
            let sizes = HeadSizes { heads, kv_heads, dim, eps: 1e-6, scale: 0.3 };
            let (layer, slots, length) = (1, 2 * kv_heads, past + new);
            let frequencies: Vec<f64> = (0..dim / 2).map(|i| 1.0 / (1.0 + i as f64)).collect();
            let rope = RopeTable::new(length, &frequencies, 1.0);
            let gains = [numbers(dim, salt + 1), numbers(dim, salt + 2)];
            let gains = has_gains.then(|| [gains[0].as_slice(), gains[1].as_slice()]);
            let attend = sizes.layer(gains, &rope, window);
            let qkv = numbers(length * sizes.width(), salt);
            let group = AttentionGroup { prompt: 0..length, responses: Vec::new() };
            let (mut whole, mut lse) = (vec![0.0; length * heads * dim], vec![0.0; length * heads]);
            attention(&mut whole, &mut lse, &qkv, &[group], &attend, &mut AttentionWorkspace::default());

            let mut before = KvCache::new(slots, dim, past);
            before.fill(&attend, layer, &qkv, 0..past, 0);
            let mut cache = before.extended(slots, past, length);
            cache.fill(&attend, layer, &qkv, past..length, past);
            let mut out = vec![7.0; new * heads * dim];
            let behind = &qkv[past * sizes.width()..];
            let scratch = &mut DecodeScratch::default();
            PrefillStep { out: &mut out, qkv: behind, first: past, cache: &cache, layer, heads: &attend, scratch }.run();
            let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&out), bits(&whole[past * heads * dim..]));
        }
    }
}

//! Attention of one decoding step, and the key-value cache it reads: every row has one query a head, and attends to its prompt's
//! cache and its own.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{HeadSizes, LayerAttention, Spans, padded, softmax};
use crate::math::LANES;
use crate::simd::{AlignedBuffer, dispatch};

/// Buffers of one thread.
#[derive(Debug, Default)]
pub struct DecodeScratch {
    pub(super) weights: AlignedBuffer,
    pub(super) head: AlignedBuffer,
}

/// One sequence that is being decoded.
#[derive(Debug)]
pub struct DecodeRow<'a> {
    /// Keys and values of its prompt, which it may share with other rows.
    pub prompt: &'a KvCache,
    /// Tokens of the prompt.
    pub prompt_len: usize,
    /// Keys and values of its own tokens, with room for one more.
    pub own: &'a mut KvCache,
    /// Tokens of its own in the cache, before this step.
    pub cached: usize,
}

impl DecodeRow<'_> {
    /// Positions that the row sees in this step, its new token included.
    pub const fn visible(&self) -> usize {
        self.prompt_len + self.cached + 1
    }
}

/// One layer's step of some rows: appends each row's key and value to its own cache, then attends.
pub struct DecodeStep<'a, 'c> {
    /// Overwritten [rows, heads·dim].
    pub out: &'a mut [f32],
    /// Raw projections of the new tokens [rows, (heads + 2·kv_heads)·dim].
    pub qkv: &'a [f32],
    /// The rows.
    pub rows: &'a mut [DecodeRow<'c>],
    /// Which layer's slots of the caches.
    pub layer: usize,
    /// The layer's attention.
    pub heads: &'a LayerAttention<'a>,
    /// Buffers of the thread that runs it.
    pub scratch: &'a mut DecodeScratch,
}

impl DecodeStep<'_, '_> {
    /// Runs it. Every row is computed on its own: its result does not depend on the others.
    pub fn run(&mut self) {
        dispatch(self);
    }
}

impl WithSimd for &mut DecodeStep<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for row in 0..self.rows.len() {
            for kv in 0..self.heads.kv_heads {
                self.append(row, kv);
                let mut heads = self.heads.sharing(kv);
                while heads.len() >= 2 {
                    self.queries::<S, 2>(simd, row, kv, heads.start);
                    heads.start += 2;
                }
                if !heads.is_empty() {
                    self.queries::<S, 1>(simd, row, kv, heads.start);
                }
            }
        }
    }
}

impl DecodeStep<'_, '_> {
    /// Puts the new token's key and value at the end of the row's own cache.
    #[inline(always)]
    fn append(&mut self, at: usize, kv: usize) {
        let HeadSizes { heads, kv_heads, dim, .. } = self.heads.sizes;
        let raw = &self.qkv[at * self.heads.width()..(at + 1) * self.heads.width()];
        let row = &mut self.rows[at];
        let key = self.scratch.head.resize(dim);
        let position = row.prompt_len + row.cached;
        self.heads.rotate_head(key, &raw[(heads + kv) * dim..][..dim], self.heads.k_gain, position, 1.0);
        row.own.write(self.layer * kv_heads + kv, row.cached, key, &raw[(heads + kv_heads + kv) * dim..][..dim]);
    }

    /// `G` query heads of one row, from head `first` on.
    #[inline(always)]
    fn queries<S: Simd, const G: usize>(&mut self, simd: S, at: usize, kv: usize, first: usize) {
        let HeadSizes { heads, kv_heads, dim, .. } = self.heads.sizes;
        let row = &self.rows[at];
        let slot = self.layer * kv_heads + kv;
        let ((prompt_keys, prompt_values), (own_keys, own_values)) = (row.prompt.slot(slot), row.own.slot(slot));
        let (shared, own) = (row.prompt_len, row.cached + 1);
        let spans = Spans::from_lengths(shared, 0..own);
        let weights = self.scratch.weights.resize(G * spans.end);
        let queries = self.scratch.head.resize(G * dim);
        self.heads.rotate_queries(queries, &self.qkv[at * self.heads.width() + first * dim..], shared + row.cached);
        let (prompt_stride, own_stride) = (row.prompt.stride(), row.own.stride());
        spans.scores_of::<S, G>(simd, weights, queries, (prompt_keys, prompt_stride), (own_keys, own_stride));
        let mut totals = [0.0; G];
        for (total, weights) in totals.iter_mut().zip(weights.chunks_exact_mut(spans.end)) {
            *total = softmax(weights).0;
        }
        let out = &mut self.out[(at * heads + first) * dim..][..G * dim];
        out.fill(0.0);
        spans.mix_of::<S, G>(simd, out, weights, &prompt_values[..shared * dim], &own_values[..own * dim]);
        for (out, total) in out.chunks_exact_mut(dim).zip(totals) {
            let inverse = 1.0 / total;
            out.iter_mut().for_each(|x| *x *= inverse);
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
    pub(crate) const fn stride(&self) -> usize {
        self.capacity + LANES
    }

    /// Transposed keys, and values, of one slot.
    #[inline(always)]
    pub(crate) fn slot(&self, slot: usize) -> (&[f32], &[f32]) {
        let size = slot_size(self.dim, self.capacity);
        self.data[slot * size..(slot + 1) * size].split_at(self.dim * self.stride())
    }

    /// Writes the key and the value of token `at`.
    #[inline(always)]
    pub(crate) fn write(&mut self, slot: usize, at: usize, key: &[f32], value: &[f32]) {
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
        let (dim, from, to) = (self.dim, self.stride(), larger.stride());
        let size = slot_size(dim, larger.capacity);
        for (slot, copy) in larger.data.chunks_exact_mut(size).enumerate() {
            let ((keys, values), (new_keys, new_values)) = (self.slot(slot), copy.split_at_mut(dim * to));
            for (new, old) in new_keys.chunks_exact_mut(to).zip(keys.chunks_exact(from)) {
                new[..used].copy_from_slice(&old[..used]);
            }
            new_values[..used * dim].copy_from_slice(&values[..used * dim]);
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

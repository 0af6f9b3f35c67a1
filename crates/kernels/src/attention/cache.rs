//! Keys and values of one prompt, or of one sample's own tokens, for all layers and heads.

use super::{Group, HeadSizes, Heads, padded};
use crate::math::LANES;

/// Keys transposed [dim, stride] and values [capacity, dim], for every (layer, key-value head) in turn.
#[derive(Debug, Clone, Default)]
pub struct KvCache {
    data: Vec<f32>,
    dim: usize,
    capacity: usize,
}

impl KvCache {
    /// Room for `capacity` tokens of `slots` (layer, head) pairs.
    #[must_use]
    pub fn new(slots: usize, dim: usize, capacity: usize) -> Self {
        let capacity = padded(capacity.max(1));
        Self { data: vec![0.0; slots * slot_size(dim, capacity)], dim, capacity }
    }

    /// Tokens it has room for.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Distance of two rows of the transposed keys.
    #[must_use]
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

    /// Writes one layer's keys and values of a group's prompt, from the raw projections `qkv` [rows, (heads + 2·kv_heads)·dim] of the
    /// micro-batch that the group is in.
    pub fn fill(&mut self, heads: &Heads<'_>, layer: usize, qkv: &[f32], group: &Group) {
        let HeadSizes { heads: queries, kv_heads, dim, .. } = heads.sizes;
        let mut key = vec![0.0; dim];
        for (position, row) in group.prompt.clone().enumerate() {
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
        let mut larger = Self::new(slots, self.dim, 2 * self.capacity);
        let mut key = vec![0.0; self.dim];
        for slot in 0..slots {
            let (keys, values) = self.slot(slot);
            for at in 0..used {
                key.iter_mut().enumerate().for_each(|(d, x)| *x = keys[d * self.stride() + at]);
                larger.write(slot, at, &key, &values[at * self.dim..(at + 1) * self.dim]);
            }
        }
        *self = larger;
    }
}

const fn slot_size(dim: usize, capacity: usize) -> usize {
    dim * (capacity + LANES) + capacity * dim
}

//! Keys and values of one prompt, or of one sample's own tokens, for all layers and heads.

use crate::kernels::attention::padded;
use crate::kernels::math::LANES;

/// Keys transposed [dim, stride] and values [capacity, dim], for every (layer, key-value head) in turn.
#[derive(Debug, Clone, Default)]
pub(super) struct Cache {
    data: Vec<f32>,
    dim: usize,
    capacity: usize,
}

impl Cache {
    /// Room for `capacity` tokens of `slots` (layer, head) pairs.
    pub(super) fn new(slots: usize, dim: usize, capacity: usize) -> Self {
        let capacity = padded(capacity.max(1));
        Self { data: vec![0.0; slots * slot_size(dim, capacity)], dim, capacity }
    }

    /// Tokens it has room for.
    pub(super) const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Distance of two rows of the transposed keys.
    pub(super) const fn stride(&self) -> usize {
        self.capacity + LANES
    }

    /// Transposed keys, and values, of one slot.
    #[inline(always)]
    pub(super) fn slot(&self, slot: usize) -> (&[f32], &[f32]) {
        let size = slot_size(self.dim, self.capacity);
        self.data[slot * size..(slot + 1) * size].split_at(self.dim * self.stride())
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

    /// Doubles the capacity and keeps the first `used` tokens.
    pub(super) fn grow(&mut self, slots: usize, used: usize) {
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

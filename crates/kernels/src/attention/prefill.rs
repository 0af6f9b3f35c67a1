//! Attention of a prompt's new rows behind rows whose keys and values are in a cache: what a conversation's next prompt adds to the one before.
//!
//! Every row is computed as [`super::attention`] computes it where the whole prompt goes through the model at once: the same numbers, to the bit.

use pulp::{Simd, WithSimd};

use super::{DecodeScratch, HeadSizes, KvCache, LayerAttention, Spans, softmax};
use crate::simd::dispatch;

/// One layer's attention of some rows of a prompt, which lie side by side.
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
        for kv in 0..self.heads.kv_heads {
            for at in 0..self.qkv.len() / self.heads.width() {
                let mut heads = self.heads.sharing(kv);
                while heads.len() >= 2 {
                    self.queries::<S, 2>(simd, at, kv, heads.start);
                    heads.start += 2;
                }
                if !heads.is_empty() {
                    self.queries::<S, 1>(simd, at, kv, heads.start);
                }
            }
        }
    }
}

impl PrefillStep<'_> {
    /// `G` query heads of one row, from head `first` on.
    #[inline(always)]
    fn queries<S: Simd, const G: usize>(&mut self, simd: S, at: usize, kv: usize, first: usize) {
        let HeadSizes { heads, kv_heads, dim, .. } = self.heads.sizes;
        let (keys_t, values) = self.cache.slot(self.layer * kv_heads + kv);
        let position = self.first + at;
        // One run of columns, as in a prompt that is computed as a whole: sums depend on where their terms lie.
        let spans = Spans::from_lengths(position + 1, 0..0);
        let DecodeScratch { weights, head } = &mut *self.scratch;
        let (weights, queries) = (weights.resize(G * spans.end), head.resize(G * dim));
        self.heads.rotate_queries(queries, &self.qkv[at * self.heads.width() + first * dim..], position);
        spans.scores::<S, G>(simd, weights, queries, keys_t, self.cache.stride());
        let mut totals = [0.0; G];
        for (total, weights) in totals.iter_mut().zip(weights.chunks_exact_mut(spans.end)) {
            *total = softmax(weights).0;
        }
        let out = &mut self.out[(at * heads + first) * dim..][..G * dim];
        out.fill(0.0);
        spans.mix::<S, G>(simd, out, weights, values);
        for (out, total) in out.chunks_exact_mut(dim).zip(totals) {
            let inverse = 1.0 / total;
            out.iter_mut().for_each(|x| *x *= inverse);
        }
    }
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
        ) {
            let (heads, kv_heads, dim) = [(4, 2, 10), (3, 1, 16), (2, 2, 24), (6, 2, 32)][shape];
            let sizes = HeadSizes { heads, kv_heads, dim, eps: 1e-6 };
            let (layer, slots, length) = (1, 2 * kv_heads, past + new);
            let frequencies: Vec<f64> = (0..dim / 2).map(|i| 1.0 / (1.0 + i as f64)).collect();
            let rope = RopeTable::new(length, &frequencies);
            let gains = [numbers(dim, salt + 1), numbers(dim, salt + 2)];
            let gains = has_gains.then(|| [gains[0].as_slice(), gains[1].as_slice()]);
            let attend = sizes.layer(gains, &rope);
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

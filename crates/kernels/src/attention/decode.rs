//! Attention of a decoding step: every row has one query a head, and attends to its prompt's cache and its own.
//!
//! Key-value heads are outermost. Inside, the rows of one prompt go over its keys together, block by block, and then over its values, stripe by
//! stripe, so that a block is read from memory once for all of them. Each row's sums keep the order that they have where the row is alone.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{DecodeScratch, HeadSizes, KvCache, LayerAttention, Panel, Spans, VisibleRows, softmax, stripes};
use crate::simd::dispatch;

/// Keys of a prompt that its rows read one after the other: 16 KB of heads of 64 numbers, which stay in a core's first cache.
const BLOCK: usize = 64;
/// Rows of a prompt that go together at most: the weights of more would leave a core's cache before they are used.
const TOGETHER: usize = 16;

/// One sequence that is being decoded.
#[derive(Debug)]
pub struct DecodeRow<'a> {
    /// Keys and values of its prompt. Neighbours that have the same one read it together.
    pub prompt: &'a KvCache,
    /// How many tokens the prompt has.
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

    fn shares_prompt(&self, other: &Self) -> bool {
        std::ptr::eq(self.prompt, other.prompt)
    }

    /// What the row sees of a layer within its window, its new token included.
    #[inline(always)]
    fn seen(&self, slot: usize, heads: &LayerAttention<'_>) -> (Spans, [Panel<'_>; 2]) {
        let (shared, own) = (0..self.prompt_len, 0..self.cached + 1);
        let visible = VisibleRows { position: self.prompt_len + self.cached, shared, own }.within(heads.window);
        let of_prompt = self.prompt.panel(slot, self.prompt_len).part(&visible.shared, heads.dim);
        let own = self.own.panel(slot, self.cached + 1).part(&visible.own, heads.dim);
        (Spans::new(visible.shared, visible.own), [of_prompt, own])
    }
}

/// One layer's step of some rows: appends each row's key and value to its own cache, then attends.
pub struct DecodeStep<'a, 'c> {
    /// The mixed values [rows, heads·dim], which are overwritten.
    pub out: &'a mut [f32],
    /// Raw projections of the new tokens [rows, (heads + 2·kv_heads)·dim].
    pub qkv: &'a [f32],
    /// The rows, whose own caches grow.
    pub rows: &'a mut [DecodeRow<'c>],
    /// Which layer's slots of the caches.
    pub layer: usize,
    /// The attention of that layer.
    pub heads: &'a LayerAttention<'a>,
    /// Buffers of the thread that runs it.
    pub scratch: &'a mut DecodeScratch,
}

impl DecodeStep<'_, '_> {
    /// Runs it. A row's result does not depend on the others.
    pub fn run(&mut self) {
        dispatch(self);
    }
}

impl WithSimd for &mut DecodeStep<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for row in 0..self.rows.len() {
            self.append(row);
        }
        let HeadSizes { heads, kv_heads, dim, .. } = self.heads.sizes;
        let width = self.heads.width();
        let DecodeStep { out, qkv, rows, layer, heads: attention, scratch } = self;
        for kv in 0..kv_heads {
            let mut first = 0;
            let of_prompts = rows.chunk_by(DecodeRow::shares_prompt);
            for rows in of_prompts.flat_map(|rows| rows.chunks(TOGETHER)) {
                let taken = first..first + rows.len();
                first = taken.end;
                let out = &mut out[taken.start * heads * dim..taken.end * heads * dim];
                let qkv = &qkv[taken.start * width..taken.end * width];
                PromptRows { out, qkv, rows, slot: *layer * kv_heads + kv, kv, heads: attention }.attend(simd, scratch);
            }
        }
    }
}

impl DecodeStep<'_, '_> {
    /// Puts the new token's keys and values at the end of the row's own cache.
    #[inline(always)]
    fn append(&mut self, at: usize) {
        let HeadSizes { heads, kv_heads, dim, .. } = self.heads.sizes;
        let raw = &self.qkv[at * self.heads.width()..(at + 1) * self.heads.width()];
        let row = &mut self.rows[at];
        let key = self.scratch.head.resize(dim);
        let position = row.prompt_len + row.cached;
        for kv in 0..kv_heads {
            self.heads.rotate_head(key, &raw[(heads + kv) * dim..][..dim], self.heads.k_gain, position, 1.0);
            row.own.write(self.layer * kv_heads + kv, row.cached, key, &raw[(heads + kv_heads + kv) * dim..][..dim]);
        }
    }
}

/// Rows of one prompt, and the key-value head that their query heads share.
struct PromptRows<'a, 'c> {
    /// Overwritten in the part of those heads [rows, heads·dim].
    out: &'a mut [f32],
    /// Raw projections of the new tokens [rows, (heads + 2·kv_heads)·dim].
    qkv: &'a [f32],
    rows: &'a [DecodeRow<'c>],
    slot: usize,
    kv: usize,
    heads: &'a LayerAttention<'a>,
}

impl PromptRows<'_, '_> {
    #[inline(always)]
    fn attend<S: Simd>(self, simd: S, scratch: &mut DecodeScratch) {
        let Self { out, qkv, rows, slot, kv, heads } = self;
        let (dim, sharing) = (heads.dim, heads.sharing(kv));
        let (count, part) = (sharing.len(), sharing.start * dim..sharing.end * dim);
        let widest = rows.iter().map(|row| row.seen(slot, heads).0.end).max().unwrap_or(0);
        let queries = scratch.head.resize(rows.len() * part.len()).chunks_exact_mut(part.len());
        let weights = scratch.weights.resize(rows.len() * count * widest).chunks_exact_mut(count * widest);
        let outs = out.chunks_exact_mut(heads.heads * dim).zip(qkv.chunks_exact(heads.width()));
        let mut attending = Vec::with_capacity(rows.len() * count.div_ceil(2));
        for (((row, (out, raw)), queries), weights) in rows.iter().zip(outs).zip(queries).zip(weights) {
            let (spans, panels) = row.seen(slot, heads);
            heads.rotate_queries(queries, &raw[part.clone()], row.prompt_len + row.cached);
            let weights = weights[..count * spans.end].chunks_mut(2 * spans.end);
            let pairs = out[part.clone()].chunks_mut(2 * dim).zip(queries.chunks(2 * dim)).zip(weights);
            attending.extend(pairs.map(|((out, queries), weights)| {
                let is_pair = queries.len() > dim;
                HeadPair { out, queries, weights, spans: spans.clone(), panels, is_pair, totals: [0.0; 2] }
            }));
        }
        for first in (0..widest).step_by(BLOCK) {
            for heads in &mut attending {
                heads.score_prompt(simd, first..first + BLOCK);
            }
        }
        for heads in &mut attending {
            heads.score_own(simd);
            heads.exponentiate();
        }
        for at in stripes::<S>(dim) {
            for heads in &mut attending {
                heads.mix_prompt(simd, at);
            }
        }
        for heads in &mut attending {
            heads.mix_own(simd);
            heads.normalise(dim);
        }
    }
}

/// Two query heads of one row that share a key-value head, so that every key is loaded once for both; or the last one of an odd number.
struct HeadPair<'a> {
    /// The mixed values of the heads [heads, dim].
    out: &'a mut [f32],
    /// Rotated, and scaled for the scores [heads, dim].
    queries: &'a [f32],
    /// Scores, then their exponentials [heads, `spans.end`].
    weights: &'a mut [f32],
    spans: Spans,
    /// Keys and values of the prompt, and of the row's own tokens.
    panels: [Panel<'a>; 2],
    is_pair: bool,
    /// Σ of each head's exponentials.
    totals: [f32; 2],
}

impl HeadPair<'_> {
    #[inline(always)]
    fn score_prompt<S: Simd>(&mut self, simd: S, columns: Range<usize>) {
        let Self { queries, weights, spans, panels: [prompt, _], .. } = self;
        if self.is_pair {
            spans.shared_scores::<S, 2>(simd, weights, queries, *prompt, columns);
        } else {
            spans.shared_scores::<S, 1>(simd, weights, queries, *prompt, columns);
        }
    }

    #[inline(always)]
    fn score_own<S: Simd>(&mut self, simd: S) {
        let Self { queries, weights, spans, panels: [_, own], .. } = self;
        if self.is_pair {
            spans.own_scores::<S, 2>(simd, weights, queries, *own);
        } else {
            spans.own_scores::<S, 1>(simd, weights, queries, *own);
        }
    }

    #[inline(always)]
    fn exponentiate(&mut self) {
        for (weights, total) in self.weights.chunks_exact_mut(self.spans.end).zip(&mut self.totals) {
            *total = softmax(weights).0;
        }
        self.out.fill(0.0);
    }

    #[inline(always)]
    fn mix_prompt<S: Simd>(&mut self, simd: S, at: usize) {
        let Self { out, weights, spans, panels: [prompt, _], .. } = self;
        if self.is_pair {
            spans.mix_shared::<S, 2>(simd, out, weights, *prompt, at);
        } else {
            spans.mix_shared::<S, 1>(simd, out, weights, *prompt, at);
        }
    }

    #[inline(always)]
    fn mix_own<S: Simd>(&mut self, simd: S) {
        let Self { out, weights, spans, panels: [_, own], .. } = self;
        if self.is_pair {
            spans.mix_own::<S, 2>(simd, out, weights, *own);
        } else {
            spans.mix_own::<S, 1>(simd, out, weights, *own);
        }
    }

    #[inline(always)]
    fn normalise(&mut self, dim: usize) {
        for (out, total) in self.out.chunks_exact_mut(dim).zip(self.totals) {
            let inverse = 1.0 / total;
            out.iter_mut().for_each(|x| *x *= inverse);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::AttendingRow;
    use super::*;
    use crate::layers::RopeTable;

    /// Some numbers that have no pattern.
    fn numbers(count: usize, salt: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 37 + i * i * 7 + salt * 101) as f32).sin() * 1.5).collect()
    }

    /// The second of two layers of so many tokens, with room for one more.
    fn filled(heads: &LayerAttention<'_>, tokens: usize, salt: usize) -> KvCache {
        let mut cache = KvCache::new(2 * heads.kv_heads, heads.dim, tokens + 1);
        cache.fill(heads, 1, &numbers(tokens * heads.width(), salt), 0..tokens, 0);
        cache
    }

    /// Attention of one row after the other.
    struct RowByRow<'a, 'c> {
        out: &'a mut [f32],
        qkv: &'a [f32],
        rows: &'a [DecodeRow<'c>],
        heads: &'a LayerAttention<'a>,
    }

    impl WithSimd for RowByRow<'_, '_> {
        type Output = ();

        fn with_simd<S: Simd>(self, simd: S) {
            let HeadSizes { heads, kv_heads, dim, .. } = self.heads.sizes;
            let (scratch, raw) = (&mut DecodeScratch::default(), self.qkv.chunks_exact(self.heads.width()));
            for ((row, out), raw) in self.rows.iter().zip(self.out.chunks_exact_mut(heads * dim)).zip(raw) {
                let mut attending = AttendingRow { out, lse: &mut [], raw, position: row.prompt_len + row.cached };
                for kv in 0..kv_heads {
                    let (spans, panels) = row.seen(kv_heads + kv, self.heads);
                    self.heads.attend(simd, &mut attending, kv, (&spans, panels), scratch);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn rows_that_go_together_have_the_bits_of_attention_row_by_row(
            groups in prop::collection::vec((1_usize..600, prop::collection::vec(0_usize..40, 1..20)), 1..4),
            shape in 0_usize..4, has_gains: bool, window in prop_oneof![1_usize..700, Just(usize::MAX)],
        ) {
            let (heads, kv_heads, dim) = [(4, 2, 10), (3, 1, 16), (2, 2, 24), (6, 2, 32)][shape];
            let sizes = HeadSizes { heads, kv_heads, dim, eps: 1e-6, scale: 0.3 };
            let frequencies: Vec<f64> = (0..dim / 2).map(|i| 1.0 / (1.0 + i as f64)).collect();
            let rope = RopeTable::new(700, &frequencies, 1.0);
            let gains = [numbers(dim, 1), numbers(dim, 2)];
            let gains = has_gains.then(|| [gains[0].as_slice(), gains[1].as_slice()]);
            let attend = sizes.layer(gains, &rope, window);
            let prompts: Vec<KvCache> = (0..).zip(&groups).map(|(i, &(tokens, _))| filled(&attend, tokens, i)).collect();
            let rows = prompts.iter().zip(&groups);
            let places = rows.flat_map(|(prompt, (tokens, owns))| owns.iter().map(move |&own| (prompt, *tokens, own)));
            let places: Vec<(&KvCache, usize, usize)> = places.collect();
            let mut caches: Vec<KvCache> = (9..).zip(&places).map(|(i, &(_, _, own))| filled(&attend, own, i)).collect();
            let rows = places.iter().zip(&mut caches);
            let rows = rows.map(|(&(prompt, prompt_len, cached), own)| DecodeRow { prompt, prompt_len, own, cached });
            let mut rows: Vec<DecodeRow<'_>> = rows.collect();
            let qkv = numbers(rows.len() * sizes.width(), 5);
            let (mut together, mut alone) = (vec![7.0; rows.len() * heads * dim], vec![8.0; rows.len() * heads * dim]);
            let (heads, scratch) = (&attend, &mut DecodeScratch::default());
            DecodeStep { out: &mut together, qkv: &qkv, rows: &mut rows, layer: 1, heads, scratch }.run();
            dispatch(RowByRow { out: &mut alone, qkv: &qkv, rows: &rows, heads });
            let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&together), bits(&alone));
        }
    }
}

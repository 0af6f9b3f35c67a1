//! Attention of one decoding step: every row has one query a head, and sees its prompt's cache and its own.

use pulp::{Simd, WithSimd};

use super::{HeadSizes, Heads, KvCache, Spans, softmax};
use crate::simd::{Buffer, dispatch};

/// Buffers of one thread.
#[derive(Debug, Default)]
pub struct DecodeScratch {
    weights: Buffer,
    head: Buffer,
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
    #[must_use]
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
    pub heads: &'a Heads<'a>,
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
        let spans = Spans::of(shared, 0..own);
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

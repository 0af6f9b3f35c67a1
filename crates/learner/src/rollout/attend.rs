//! Attention of one decoding step: every row has one query a head, and sees its prompt's cache and its own.

use pulp::{Simd, WithSimd};

use super::decode::Row;
use super::prompts::Prompts;
use crate::kernels::attention::{HeadSizes, Heads, Spans, softmax};
use crate::kernels::simd::{Buffer, dispatch};

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct Space {
    weights: Buffer,
    head: Buffer,
}

/// One layer's step of some rows; `out` [rows, heads·dim] from raw `qkv` [rows, (heads + 2·kv_heads)·dim].
pub(super) struct Step<'a> {
    pub(super) out: &'a mut [f32],
    pub(super) qkv: &'a [f32],
    pub(super) rows: &'a mut [Row],
    pub(super) prompts: &'a Prompts,
    pub(super) layer: usize,
    pub(super) heads: &'a Heads<'a>,
    pub(super) space: &'a mut Space,
}

impl Step<'_> {
    pub(super) fn run(&mut self) {
        dispatch(self);
    }
}

impl WithSimd for &mut Step<'_> {
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

impl Step<'_> {
    /// Puts the new token's key and value at the end of the row's own cache.
    #[inline(always)]
    fn append(&mut self, at: usize, kv: usize) {
        let HeadSizes { heads, kv_heads, dim, .. } = self.heads.sizes;
        let raw = &self.qkv[at * self.heads.width()..(at + 1) * self.heads.width()];
        let row = &mut self.rows[at];
        let key = self.space.head.resize(dim);
        self.heads.place(key, &raw[(heads + kv) * dim..][..dim], self.heads.k_gain, row.prompt_len + row.cached, 1.0);
        row.own.write(self.layer * kv_heads + kv, row.cached, key, &raw[(heads + kv_heads + kv) * dim..][..dim]);
    }

    /// `G` query heads of one row, from head `first` on.
    #[inline(always)]
    fn queries<S: Simd, const G: usize>(&mut self, simd: S, at: usize, kv: usize, first: usize) {
        let HeadSizes { heads, kv_heads, dim, .. } = self.heads.sizes;
        let row = &self.rows[at];
        let Some(prompt) = self.prompts.cache(row.prompt) else { return };
        let slot = self.layer * kv_heads + kv;
        let ((prompt_keys, prompt_values), (own_keys, own_values)) = (prompt.slot(slot), row.own.slot(slot));
        let (shared, own) = (row.prompt_len, row.cached + 1);
        let spans = Spans::of(shared, 0..own);
        let weights = self.space.weights.resize(G * spans.end);
        let queries = self.space.head.resize(G * dim);
        self.heads.place_queries(queries, &self.qkv[at * self.heads.width() + first * dim..], shared + row.cached);
        spans.scores_of::<S, G>(simd, weights, queries, (prompt_keys, prompt.stride()), (own_keys, row.own.stride()));
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

//! Attention of one decoding step: every row has one query a head, and sees its prompt's cache and its own.

use pulp::{Simd, WithSimd};

use super::cache::Cache;
use super::decode::Row;
use crate::kernels::attention::{Heads, mix, padded, scores, softmax};
use crate::kernels::simd::Buffer;

/// One layer's step; `out` [rows, heads·dim] from raw `qkv` [rows, (heads + 2·kv_heads)·dim].
pub(super) struct Step<'a> {
    pub(super) out: &'a mut [f32],
    pub(super) qkv: &'a [f32],
    pub(super) rows: &'a mut [Row],
    pub(super) prompts: &'a [Option<Cache>],
    pub(super) layer: usize,
    pub(super) heads: &'a Heads<'a>,
    pub(super) weights: &'a mut Buffer,
    pub(super) head: &'a mut Buffer,
}

impl WithSimd for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for row in 0..self.rows.len() {
            for kv in 0..self.heads.kv_heads {
                self.append(row, kv);
                self.mix(simd, row, kv);
            }
        }
    }
}

impl Step<'_> {
    /// Puts the new token's key and value at the end of the row's own cache.
    #[inline(always)]
    fn append(&mut self, at: usize, kv: usize) {
        let Heads { heads, kv_heads, dim, .. } = *self.heads;
        let raw = &self.qkv[at * self.heads.width()..(at + 1) * self.heads.width()];
        let row = &mut self.rows[at];
        let key = self.head.resize(dim);
        self.heads.place(key, &raw[(heads + kv) * dim..][..dim], self.heads.k_gain, row.prompt_len + row.cached, 1.0);
        row.own.write(self.layer * kv_heads + kv, row.cached, key, &raw[(heads + kv_heads + kv) * dim..][..dim]);
    }

    #[inline(always)]
    fn mix<S: Simd>(&mut self, simd: S, at: usize, kv: usize) {
        let Heads { heads, kv_heads, dim, .. } = *self.heads;
        let row = &self.rows[at];
        let Some(prompt) = &self.prompts[row.prompt_slot] else { return };
        let slot = self.layer * kv_heads + kv;
        let ((prompt_keys, prompt_values), (own_keys, own_values)) = (prompt.slot(slot), row.own.slot(slot));
        let (shared, own) = (row.prompt_len, row.cached + 1);
        let (split, end) = (padded(shared), padded(shared) + padded(own));
        let weights = self.weights.resize(end);
        let query = self.head.resize(dim);
        for h in kv * (heads / kv_heads)..(kv + 1) * (heads / kv_heads) {
            let raw = &self.qkv[at * self.heads.width() + h * dim..][..dim];
            self.heads.place(query, raw, self.heads.q_gain, shared + row.cached, self.heads.scale());
            scores(simd, &mut weights[..split], query, prompt_keys, prompt.stride());
            scores(simd, &mut weights[split..end], query, own_keys, row.own.stride());
            weights[shared..split].fill(f32::NEG_INFINITY);
            weights[split + own..end].fill(f32::NEG_INFINITY);
            let (total, _) = softmax(weights);
            let out = &mut self.out[(at * heads + h) * dim..][..dim];
            out.fill(0.0);
            mix(simd, out, &weights[..shared], &prompt_values[..shared * dim]);
            mix(simd, out, &weights[split..split + own], &own_values[..own * dim]);
            let inverse = 1.0 / total;
            out.iter_mut().for_each(|x| *x *= inverse);
        }
    }
}

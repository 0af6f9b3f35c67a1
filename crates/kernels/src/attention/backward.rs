//! Backward of attention, in the same order as forward; probabilities come from the scores and the saved log-sum-exp.

use pulp::{Simd, WithSimd};

use super::{
    AttentionGroup, AttentionScratch, AttentionWorkspace, HeadSizes, LayerAttention, Panel, Spans, VisibleRows,
    load_panels, panel_stride,
};
use crate::math::{dot, exp};
use crate::simd::dispatch;

/// The tensors that [`attention_backward`] reads.
#[derive(Debug)]
pub struct AttentionSaved<'a> {
    /// Raw projections, as given to forward.
    pub qkv: &'a [f32],
    /// The result of forward.
    pub out: &'a [f32],
    /// Its log-sum-exp.
    pub lse: &'a [f32],
    /// Gradient of `out`.
    pub dout: &'a [f32],
}

/// Backward: overwrites `dqkv`, adds to the gains' gradients (`dgains`: query, key; empty where there are no gains).
pub fn attention_backward(
    dqkv: &mut [f32],
    dgains: (&mut [f32], &mut [f32]),
    saved: &AttentionSaved<'_>,
    groups: &[AttentionGroup],
    heads: &LayerAttention<'_>,
    space: &mut AttentionWorkspace,
) {
    dqkv.fill(0.0);
    dispatch(Backward { dqkv, dgains, saved, groups, heads, scratch: &mut space.first });
}

struct Backward<'a> {
    dqkv: &'a mut [f32],
    dgains: (&'a mut [f32], &'a mut [f32]),
    saved: &'a AttentionSaved<'a>,
    groups: &'a [AttentionGroup],
    heads: &'a LayerAttention<'a>,
    scratch: &'a mut AttentionScratch,
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for group in self.groups {
            for kv in 0..self.heads.kv_heads {
                self.head(simd, group, kv);
            }
        }
    }
}

impl Backward<'_> {
    #[inline(always)]
    fn head<S: Simd>(&mut self, simd: S, group: &AttentionGroup, kv: usize) {
        load_panels(self.heads, self.scratch, self.saved.qkv, group, kv, true);
        let size = group.rows().len() * self.heads.dim;
        self.scratch.dkeys.zeroed(size);
        self.scratch.dvalues.zeroed(size);
        for (t, visible) in group.visible_rows().enumerate() {
            let (visible, mut heads) = (visible.within(self.heads.window), self.heads.sharing(kv));
            while heads.len() >= 2 {
                self.queries::<S, 2>(simd, group, t, &visible, heads.start);
                heads.start += 2;
            }
            if !heads.is_empty() {
                self.queries::<S, 1>(simd, group, t, &visible, heads.start);
            }
        }
        self.store_keys(group, kv);
    }

    /// `G` query heads of one row, from head `first` on.
    #[inline(always)]
    fn queries<S: Simd, const G: usize>(
        &mut self,
        simd: S,
        group: &AttentionGroup,
        t: usize,
        visible: &VisibleRows,
        first: usize,
    ) {
        let HeadSizes { heads, dim, .. } = self.heads.sizes;
        let rows = group.rows();
        let (row, stride) = (rows.start + t, panel_stride(rows.len()));
        let AttentionScratch { keys, keys_t, values, values_t, dkeys, dvalues, dprobs, row: scratch } =
            &mut *self.scratch;
        let spans = Spans::new(visible.shared.clone(), visible.own.clone());
        let of_keys = Panel { keys_t: keys_t.as_slice(), stride, values: keys.as_slice() };
        let of_values = Panel { keys_t: values_t.as_slice(), stride, values: values.as_slice() };
        let [of_keys, of_values] = [of_keys, of_values].map(|panel| spans.panels(panel, dim));
        let (probs, dprobs) = (scratch.weights.resize(G * spans.end), dprobs.resize(G * spans.end));
        let (queries, dqueries) = scratch.head.resize(2 * G * dim).split_at_mut(G * dim);
        let raw = &self.saved.qkv[row * self.heads.width() + first * dim..][..G * dim];
        self.heads.rotate_queries(queries, raw, visible.position);
        let at = (row * heads + first) * dim;
        let (dout, out) = (&self.saved.dout[at..at + G * dim], &self.saved.out[at..at + G * dim]);
        spans.scores::<S, G>(simd, probs, queries, of_keys);
        spans.scores::<S, G>(simd, dprobs, dout, of_values);
        for g in 0..G {
            let mine = g * dim..(g + 1) * dim;
            let (p, d) =
                (&mut probs[g * spans.end..(g + 1) * spans.end], &mut dprobs[g * spans.end..(g + 1) * spans.end]);
            softmax_backward(p, d, self.saved.lse[row * heads + first + g], dot(&dout[mine.clone()], &out[mine]));
        }
        dqueries.fill(0.0);
        spans.mix::<S, G>(simd, dqueries, dprobs, of_keys);
        spans.spread::<S, G>(simd, dkeys.as_mut_slice(), dprobs, queries);
        spans.spread::<S, G>(simd, dvalues.as_mut_slice(), probs, dout);
        for (g, dquery) in dqueries.chunks_exact_mut(dim).enumerate() {
            dquery.iter_mut().for_each(|x| *x *= self.heads.scale);
            let dq = &mut self.dqkv[row * self.heads.width() + (first + g) * dim..][..dim];
            let raw = &raw[g * dim..(g + 1) * dim];
            self.heads.rotate_head_backward((dq, self.dgains.0), raw, self.heads.q_gain, visible.position, dquery);
        }
    }

    /// Sends the gradients of keys and values through RoPE and norm into `dqkv`.
    #[inline(always)]
    fn store_keys(&mut self, group: &AttentionGroup, kv: usize) {
        let HeadSizes { heads, kv_heads, dim, .. } = self.heads.sizes;
        let width = self.heads.width();
        let dkeys = self.scratch.dkeys.as_mut_slice();
        let dvalues = self.scratch.dvalues.as_slice();
        for (t, visible) in group.visible_rows().enumerate() {
            let row = (group.prompt.start + t) * width;
            let dkey = &mut dkeys[t * dim..(t + 1) * dim];
            let at = row + (heads + kv) * dim;
            let (dk, raw) = (&mut self.dqkv[at..at + dim], &self.saved.qkv[at..at + dim]);
            self.heads.rotate_head_backward((dk, self.dgains.1), raw, self.heads.k_gain, visible.position, dkey);
            let at = row + (heads + kv_heads + kv) * dim;
            self.dqkv[at..at + dim].copy_from_slice(&dvalues[t * dim..(t + 1) * dim]);
        }
    }
}

/// Turns scores into probabilities and `dprobs` into the scores' gradient: ds = p · (dp − Σ dout·out).
#[inline(always)]
fn softmax_backward(probs: &mut [f32], dprobs: &mut [f32], lse: f32, projection: f32) {
    for (p, d) in probs.iter_mut().zip(dprobs) {
        *p = exp(*p - lse);
        // The padding of `dprobs` holds −∞ where `p` is 0: a select keeps the product from becoming NaN.
        *d = if *p > 0.0 { *p * (*d - projection) } else { 0.0 };
    }
}

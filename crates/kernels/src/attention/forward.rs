//! Forward of attention: one row after the other, query heads that share a key-value head in pairs.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{Group, HeadSizes, Heads, Scratch, Spans, VisibleRows, load_panels, panel_stride, softmax};
use crate::simd::dispatch;

/// Some rows of a micro-batch.
pub(super) struct Forward<'a> {
    pub(super) rows: Range<usize>,
    /// Of those rows [rows, heads·dim].
    pub(super) out: &'a mut [f32],
    /// Of those rows [rows, heads].
    pub(super) lse: &'a mut [f32],
    /// Of all rows of the micro-batch.
    pub(super) qkv: &'a [f32],
    pub(super) groups: &'a [Group],
    pub(super) heads: &'a Heads<'a>,
    pub(super) scratch: &'a mut Scratch,
}

impl Forward<'_> {
    pub(super) fn run(&mut self) {
        dispatch(self);
    }
}

impl WithSimd for &mut Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (Range { start, end }, groups) = (self.rows.clone(), self.groups);
        for group in groups.iter().filter(|group| group.rows().start < end && start < group.rows().end) {
            for kv in 0..self.heads.kv_heads {
                self.head(simd, group, kv);
            }
        }
    }
}

impl Forward<'_> {
    #[inline(always)]
    fn head<S: Simd>(&mut self, simd: S, group: &Group, kv: usize) {
        load_panels(self.heads, self.scratch, self.qkv, group, kv, false);
        let first = group.rows().start;
        let wanted = self.rows.start.max(first) - first..self.rows.end.min(group.rows().end) - first;
        for (t, visible) in group.visible_rows().enumerate().take(wanted.end).skip(wanted.start) {
            let mut heads = self.heads.sharing(kv);
            while heads.len() >= 2 {
                self.queries::<S, 2>(simd, group, t, &visible, heads.start);
                heads.start += 2;
            }
            if !heads.is_empty() {
                self.queries::<S, 1>(simd, group, t, &visible, heads.start);
            }
        }
    }

    /// `G` query heads of one row, from head `first` on.
    #[inline(always)]
    fn queries<S: Simd, const G: usize>(
        &mut self,
        simd: S,
        group: &Group,
        t: usize,
        visible: &VisibleRows,
        first: usize,
    ) {
        let HeadSizes { heads, dim, .. } = self.heads.sizes;
        let rows = group.rows();
        let (row, stride) = (rows.start + t, panel_stride(rows.len()));
        let at = row - self.rows.start;
        let Scratch { keys_t, values, probs, head, .. } = &mut *self.scratch;
        let spans = Spans::new(visible);
        let probs = probs.resize(G * spans.end);
        let queries = head.resize(G * dim);
        self.heads.rotate_queries(queries, &self.qkv[row * self.heads.width() + first * dim..], visible.position);
        spans.scores::<S, G>(simd, probs, queries, keys_t.as_slice(), stride);
        let out = &mut self.out[(at * heads + first) * dim..][..G * dim];
        out.fill(0.0);
        let mut totals = [0.0; G];
        for (g, probs) in probs.chunks_exact_mut(spans.end).enumerate() {
            let (total, norm) = softmax(probs);
            self.lse[at * heads + first + g] = norm;
            totals[g] = total;
        }
        spans.mix::<S, G>(simd, out, probs, values.as_slice());
        for (out, total) in out.chunks_exact_mut(dim).zip(totals) {
            let inverse = 1.0 / total;
            out.iter_mut().for_each(|x| *x *= inverse);
        }
    }
}

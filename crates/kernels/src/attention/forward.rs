//! Forward of attention: one row after the other, query heads that share a key-value head in pairs.
//!
//! The threads of a pool share the rows: each takes a contiguous range, and all ranges attend to about as many positions.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{
    AttendingRow, AttentionGroup, AttentionScratch, HeadSizes, LayerAttention, Panel, Spans, load_panels, panel_stride,
};
use crate::simd::dispatch;
use crate::thread_pool::ThreadPool;

struct Forward<'a> {
    rows: Range<usize>,
    /// Of those rows [rows, heads·dim].
    out: &'a mut [f32],
    /// Of those rows [rows, heads].
    lse: &'a mut [f32],
    /// Of all rows of the micro-batch.
    qkv: &'a [f32],
    groups: &'a [AttentionGroup],
    heads: &'a LayerAttention<'a>,
    scratch: &'a mut AttentionScratch,
}

impl Forward<'_> {
    fn run(&mut self) {
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
    fn head<S: Simd>(&mut self, simd: S, group: &AttentionGroup, kv: usize) {
        load_panels(self.heads, self.scratch, self.qkv, group, kv, false);
        let HeadSizes { heads, dim, .. } = self.heads.sizes;
        let width = self.heads.width();
        let rows = group.rows();
        let AttentionScratch { keys_t, values, row: scratch, .. } = &mut *self.scratch;
        let panel = Panel { keys_t: keys_t.as_slice(), stride: panel_stride(rows.len()), values: values.as_slice() };
        let wanted = self.rows.start.max(rows.start) - rows.start..self.rows.end.min(rows.end) - rows.start;
        for (t, visible) in group.visible_rows().enumerate().take(wanted.end).skip(wanted.start) {
            let visible = visible.within(self.heads.window);
            let (at, row) = (rows.start + t - self.rows.start, rows.start + t);
            let mut attending = AttendingRow {
                out: &mut self.out[at * heads * dim..][..heads * dim],
                lse: &mut self.lse[at * heads..][..heads],
                raw: &self.qkv[row * width..][..width],
                position: visible.position,
            };
            let spans = Spans::new(visible.shared, visible.own);
            let panels = spans.panels(panel, dim);
            self.heads.attend(simd, &mut attending, kv, (&spans, panels), scratch);
        }
    }
}

/// The buffers of attention.
#[derive(Debug, Default)]
pub struct AttentionWorkspace {
    pool: ThreadPool,
    /// Of the calling thread, and for backward.
    pub(super) first: AttentionScratch,
    others: Vec<AttentionScratch>,
}

impl AttentionWorkspace {
    /// Lets `pool` share the work that is worth it.
    pub fn set_pool(&mut self, pool: &ThreadPool) {
        self.pool = pool.clone();
        self.others.resize_with(pool.threads() - 1, AttentionScratch::default);
    }
}

/// Forward: `out` [rows, heads·dim] and the log-sum-exp `lse` [rows, heads] from raw `qkv` [rows, (heads + 2·kv_heads)·dim].
pub fn attention(
    out: &mut [f32],
    lse: &mut [f32],
    qkv: &[f32],
    groups: &[AttentionGroup],
    heads: &LayerAttention<'_>,
    space: &mut AttentionWorkspace,
) {
    let rows = 0..lse.len() / heads.heads;
    if space.pool.threads() == 1 {
        return Forward { rows, out, lse, qkv, groups, heads, scratch: &mut space.first }.run();
    }
    let seen: Vec<usize> = groups
        .iter()
        .flat_map(AttentionGroup::visible_rows)
        .map(|visible| visible.within(heads.window).count())
        .collect();
    debug_assert_eq!(seen.len(), rows.end, "groups lie side by side");
    // A query and a weight for each row seen.
    let threads = space.pool.threads_worth_waking(2 * heads.heads * heads.dim * seen.iter().sum::<usize>());
    let mut scratches = std::iter::once(&mut space.first).chain(&mut space.others);
    let (mut outs, mut lses) = (out, lse);
    let mut parts = Vec::with_capacity(threads);
    for (rows, scratch) in split_evenly(&seen, threads).into_iter().zip(&mut scratches) {
        let (out, lse);
        (out, outs) = outs.split_at_mut(rows.len() * heads.heads * heads.dim);
        (lse, lses) = lses.split_at_mut(rows.len() * heads.heads);
        parts.push(Forward { rows, out, lse, qkv, groups, heads, scratch });
    }
    space.pool.for_each(&mut parts, Forward::run);
}

/// All of `costs` in at most `parts` ranges of about the same sum.
fn split_evenly(costs: &[usize], parts: usize) -> Vec<Range<usize>> {
    let share = costs.iter().sum::<usize>().div_ceil(parts).max(1);
    let (mut ranges, mut first, mut sum) = (Vec::with_capacity(parts), 0, 0);
    for (at, cost) in costs.iter().enumerate() {
        sum += cost;
        if sum >= share * (ranges.len() + 1) || at + 1 == costs.len() {
            ranges.push(first..at + 1);
            first = at + 1;
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::split_evenly;

    proptest! {
        #[test]
        fn even_parts_cover_everything_once_and_exceed_their_share_by_little(
            costs in prop::collection::vec(1_usize..50, 0..200), parts in 1_usize..9,
        ) {
            let ranges = split_evenly(&costs, parts);
            prop_assert!(ranges.len() <= parts);
            prop_assert_eq!(ranges.iter().cloned().flatten().collect::<Vec<_>>(), (0..costs.len()).collect::<Vec<_>>());
            let share = costs.iter().sum::<usize>().div_ceil(parts);
            for range in ranges {
                prop_assert!(costs[range].iter().sum::<usize>() <= share + 50);
            }
        }
    }
}

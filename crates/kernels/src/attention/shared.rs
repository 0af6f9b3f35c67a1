//! Forward of attention, shared by the threads of a pool: each takes neighbouring rows, so many that all see about as much.

use std::ops::Range;

use super::forward::Forward;
use super::{Group, Heads, Scratch};
use crate::thread_pool::ThreadPool;

/// What attention works in.
#[derive(Debug, Default)]
pub struct Workspace {
    pool: ThreadPool,
    /// Of the calling thread, and for backward.
    pub(super) first: Scratch,
    others: Vec<Scratch>,
}

impl Workspace {
    /// Lets `pool` share what is worth it.
    pub fn shared_by(&mut self, pool: &ThreadPool) {
        self.pool = pool.clone();
        self.others.resize_with(pool.threads() - 1, Scratch::default);
    }
}

/// Forward: `out` [rows, heads·dim] and the log-sum-exp `lse` [rows, heads] from raw `qkv` [rows, (heads + 2·kv_heads)·dim].
pub fn attention(
    out: &mut [f32],
    lse: &mut [f32],
    qkv: &[f32],
    groups: &[Group],
    heads: &Heads<'_>,
    space: &mut Workspace,
) {
    let rows = 0..lse.len() / heads.heads;
    if space.pool.threads() == 1 {
        return Forward { rows, out, lse, qkv, groups, heads, scratch: &mut space.first }.run();
    }
    let seen: Vec<usize> =
        groups.iter().flat_map(Group::visible_rows).map(|visible| visible.shared + visible.own.len()).collect();
    debug_assert_eq!(seen.len(), rows.end, "groups lie side by side");
    // A query and a weight for each row seen.
    let threads = space.pool.share(2 * heads.heads * heads.dim * seen.iter().sum::<usize>());
    let mut scratches = std::iter::once(&mut space.first).chain(&mut space.others);
    let (mut outs, mut lses) = (out, lse);
    let mut parts = Vec::with_capacity(threads);
    for (rows, scratch) in even(&seen, threads).into_iter().zip(&mut scratches) {
        let (out, lse);
        (out, outs) = outs.split_at_mut(rows.len() * heads.heads * heads.dim);
        (lse, lses) = lses.split_at_mut(rows.len() * heads.heads);
        parts.push(Forward { rows, out, lse, qkv, groups, heads, scratch });
    }
    space.pool.each(&mut parts, Forward::run);
}

/// All of `costs` in at most `parts` ranges of about the same sum.
fn even(costs: &[usize], parts: usize) -> Vec<Range<usize>> {
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

    use super::even;

    proptest! {
        #[test]
        fn even_parts_hold_everything_once_and_none_is_much_more_than_its_share(
            costs in prop::collection::vec(1_usize..50, 0..200), parts in 1_usize..9,
        ) {
            let ranges = even(&costs, parts);
            prop_assert!(ranges.len() <= parts);
            prop_assert_eq!(ranges.iter().cloned().flatten().collect::<Vec<_>>(), (0..costs.len()).collect::<Vec<_>>());
            let share = costs.iter().sum::<usize>().div_ceil(parts);
            for range in ranges {
                prop_assert!(costs[range].iter().sum::<usize>() <= share + 50);
            }
        }
    }
}

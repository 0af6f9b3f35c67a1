//! What the rows of a micro-batch attend to, in the tables that the kernels of a card read.

use veriplay_kernels::attention::AttentionGroup;

/// Rows of a tile, of queries or of keys.
const TILE: usize = 64;

/// Numbers of all groups. Rows count from the micro-batch's first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Spans {
    /// Of each row its position in its sequence.
    pub(super) positions: Vec<usize>,
    /// Of each row the rows of its prompt that it sees, and those of its own response: [from, to, from, to].
    pub(super) seen: Vec<u32>,
    /// Of each tile of queries its rows, and what any of them sees: [from, to], and as for a row.
    pub(super) queries: Vec<u32>,
    /// Of each tile of keys its rows, and those that see any of them: [from, to, from, to].
    pub(super) keys: Vec<u32>,
}

impl Spans {
    pub(super) fn new(groups: &[AttentionGroup]) -> Self {
        let mut spans = Self::default();
        groups.iter().for_each(|group| spans.push(group));
        spans
    }

    fn push(&mut self, group: &AttentionGroup) {
        let first = group.rows().start as u32;
        let mut rows = Vec::with_capacity(group.rows().len());
        for row in group.visible_rows() {
            self.positions.push(row.position);
            let own =
                if row.own.is_empty() { [0, 0] } else { [row.own.start, row.own.end].map(|at| first + at as u32) };
            rows.push([first, first + row.shared.end as u32, own[0], own[1]]);
        }
        for (tile, start) in rows.chunks(TILE).zip((first..).step_by(TILE)) {
            let end = start + tile.len() as u32;
            let shared_end = tile.iter().map(|row| row[1]).max().unwrap_or(first);
            let own = tile.iter().filter(|row| row[3] > 0);
            let own_start = own.clone().map(|row| row[2]).min().unwrap_or(0);
            let own_end = own.map(|row| row[3]).max().unwrap_or(0);
            self.queries.extend([start, end, first, shared_end, own_start, own_end]);
            // Each row sees itself, and none behind it.
            let sees = |&[_, shared_end, own_start, own_end]: &[u32; 4]| {
                start < shared_end || (start < own_end && own_start < end)
            };
            let last = rows.iter().rposition(sees).unwrap_or_default() as u32;
            self.keys.extend([start, end, start, first + last + 1]);
        }
        self.seen.extend(rows.into_iter().flatten());
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Groups one behind the other: the length of each prompt, and of its responses.
    fn groups(lengths: Vec<(usize, Vec<usize>)>) -> Vec<AttentionGroup> {
        let mut end = 0;
        let mut next = |length: usize| {
            end += length;
            end - length..end
        };
        let group = |(prompt, responses): (usize, Vec<usize>)| AttentionGroup {
            prompt: next(prompt),
            responses: responses.into_iter().map(&mut next).collect(),
        };
        lengths.into_iter().map(group).collect()
    }

    fn sees(spans: &[u32], column: u32) -> bool {
        (spans[0]..spans[1]).contains(&column) || (spans[2]..spans[3]).contains(&column)
    }

    proptest! {
        /// A kernel looks at what its tile names, and there asks each row: no row may see what its tile does not name.
        #[test]
        fn tiles_name_all_that_their_rows_see(lengths in vec((1..150_usize, vec(1..150_usize, 0..4)), 1..4)) {
            let groups = groups(lengths);
            let spans = Spans::new(&groups);
            let rows = groups.iter().map(|group| group.rows().len()).sum::<usize>() as u32;
            prop_assert_eq!(spans.positions.len(), rows as usize);
            for group in &groups {
                let first = group.rows().start as u32;
                for (at, row) in (first..).zip(group.visible_rows()) {
                    let of_row = &spans.seen[4 * at as usize..][..4];
                    let tile = |tiles: &[u32], width: usize, at: u32| {
                        tiles.chunks(width).find(|tile| (tile[0]..tile[1]).contains(&at)).map(<[u32]>::to_vec)
                    };
                    let queries = tile(&spans.queries, 6, at).expect("each row is in a tile");
                    prop_assert!(queries[1] - queries[0] <= TILE as u32);
                    for column in first..group.rows().end as u32 {
                        let local = (column - first) as usize;
                        let seen = row.shared.contains(&local) || row.own.contains(&local);
                        prop_assert_eq!(sees(of_row, column), seen);
                        if seen {
                            prop_assert!(sees(&queries[2..], column));
                            let keys = tile(&spans.keys, 4, column).expect("each row is in a tile");
                            prop_assert!((keys[2]..keys[3]).contains(&at));
                        }
                    }
                    prop_assert!(!sees(of_row, first.wrapping_sub(1)) && !sees(of_row, group.rows().end as u32));
                }
            }
        }
    }
}

//! Products that the threads of a pool share: by columns where rows are few, so that every weight is read once, and by rows where
//! they are many. Either way an element is summed as by one thread, to the same bits.

use std::ops::Range;

use super::{MAX_TILE_ROWS, MatrixTarget, MatrixView, Multiply, PackedMatrix};
use crate::simd::{AlignedBuffer, dispatch};
use crate::thread_pool::ThreadPool;

/// The buffers of products.
#[derive(Debug, Default)]
pub struct GemmWorkspace {
    pool: ThreadPool,
    first: ThreadBuffers,
    others: Vec<ThreadBuffers>,
}

/// The buffers of one thread.
#[derive(Debug, Default)]
struct ThreadBuffers {
    left: AlignedBuffer,
    /// Its columns of C, before they are put among the others.
    columns: AlignedBuffer,
}

/// Rows from which on threads take rows: a tile's reading of B is then hidden behind its multiplications, and there are no columns
/// to be put together.
const MANY_ROWS: usize = 8 * MAX_TILE_ROWS;

impl GemmWorkspace {
    /// Lets `pool` share the products that are worth it.
    pub fn set_pool(&mut self, pool: &ThreadPool) {
        self.pool = pool.clone();
        self.others.resize_with(pool.threads() - 1, ThreadBuffers::default);
    }

    pub(super) fn multiply(&mut self, rows: usize, a: MatrixView<'_>, b: &PackedMatrix, c: MatrixTarget<'_>) {
        match self.pool.threads_worth_waking(rows * b.depth * b.cols) {
            1 => dispatch(Multiply { rows, a, b, panels: 0..b.panels(), c, left: &mut self.first.left }),
            threads if rows < MANY_ROWS => self.by_columns(threads, rows, a, b, c),
            threads => self.by_rows(threads, rows, a, b, c),
        }
    }

    /// The buffers of `threads` threads.
    fn thread_buffers(&mut self, threads: usize) -> impl Iterator<Item = &mut ThreadBuffers> {
        std::iter::once(&mut self.first).chain(&mut self.others).take(threads)
    }

    pub(super) fn by_rows(
        &mut self,
        threads: usize,
        rows: usize,
        a: MatrixView<'_>,
        b: &PackedMatrix,
        c: MatrixTarget<'_>,
    ) {
        let pool = self.pool.clone();
        let share = rows.div_ceil(threads).next_multiple_of(MAX_TILE_ROWS);
        let shares = c.data.chunks_mut(share * c.stride).zip((0..rows).step_by(share));
        let mut parts: Vec<_> = self.thread_buffers(threads).zip(shares).collect();
        pool.for_each(&mut parts, |(buffers, (data, first))| {
            let a = MatrixView { data: &a.data[*first * a.row..], ..a };
            let c = MatrixTarget { data, stride: c.stride, add: c.add };
            let rows = share.min(rows - *first);
            dispatch(Multiply { rows, a, b, panels: 0..b.panels(), c, left: &mut buffers.left });
        });
    }

    pub(super) fn by_columns(
        &mut self,
        threads: usize,
        rows: usize,
        a: MatrixView<'_>,
        b: &PackedMatrix,
        c: MatrixTarget<'_>,
    ) {
        let pool = self.pool.clone();
        let (panels, share) = (b.panels(), b.panels().div_ceil(threads));
        let shares = (0..panels).step_by(share).map(|first| first..(first + share).min(panels));
        let mut parts: Vec<_> = self.thread_buffers(threads).zip(shares).collect();
        let MatrixTarget { data, stride, add } = c;
        let before: &[f32] = data;
        pool.for_each(&mut parts, |(buffers, panels)| {
            let columns = columns(b, panels);
            let out = buffers.columns.resize(rows * columns.len());
            if add {
                let rows = out.chunks_exact_mut(columns.len()).zip(before.chunks(stride));
                rows.for_each(|(out, before)| out.copy_from_slice(&before[columns.clone()]));
            }
            let c = MatrixTarget { data: out, stride: columns.len(), add };
            dispatch(Multiply { rows, a, b, panels: panels.clone(), c, left: &mut buffers.left });
        });
        for (buffers, panels) in parts {
            let columns = columns(b, &panels);
            let rows = buffers.columns.as_slice().chunks_exact(columns.len()).zip(data.chunks_mut(stride));
            rows.for_each(|(own, all)| all[columns.clone()].copy_from_slice(own));
        }
    }
}

/// The columns of some panels of `b`.
fn columns(b: &PackedMatrix, panels: &Range<usize>) -> Range<usize> {
    panels.start * b.tile..(panels.end * b.tile).min(b.cols)
}

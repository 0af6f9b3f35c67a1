//! Products at every width of vectors, around every edge of tiles and blocks.

use pulp::Arch;

use super::{GemmWorkspace, MatrixTarget, MatrixView, Multiply, PackRight, PackedMatrix};
use crate::simd::AlignedBuffer;
use crate::thread_pool::ThreadPool;

/// Every width of vectors that this machine has: each has tiles of its own.
fn widths() -> Vec<Arch> {
    #[cfg(target_arch = "x86_64")]
    let wide = [pulp::x86::V3::try_new().map(Arch::V3), pulp::x86::V4::try_new().map(Arch::V4)];
    #[cfg(not(target_arch = "x86_64"))]
    let wide = [Some(Arch::new())];
    std::iter::once(Arch::Scalar).chain(wide.into_iter().flatten()).collect()
}

/// Numbers in [-1, 1) without a pattern that a wrong index could hide in.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let number = |i: usize| (i as u32 ^ seed).wrapping_mul(0x9E37_79B9).rotate_left(13).wrapping_mul(0x85EB_CA6B);
    (0..count).map(|i| (number(i) >> 8) as f32 / (1 << 23) as f32 - 1.0).collect()
}

/// Rows, depth and columns around every edge of tiles and blocks.
fn shapes() -> impl Iterator<Item = (usize, usize, usize)> {
    let rows = (1..=26).chain([191, 192, 193, 205]);
    let sizes = [(1, 1), (7, 31), (255, 32), (257, 33), (300, 70)];
    rows.flat_map(move |rows| sizes.map(|(depth, cols)| (rows, depth, cols)))
}

fn packed(width: Arch, b: &[f32], depth: usize, cols: usize) -> PackedMatrix {
    let mut packed = PackedMatrix::default();
    width.dispatch(PackRight { packed: &mut packed, b: MatrixView::rows(b, cols), depth, cols });
    packed
}

fn product(width: Arch, rows: usize, a: MatrixView<'_>, b: &PackedMatrix, into: &[f32], add: bool) -> Vec<f32> {
    let (mut c, mut scratch) = (into.to_vec(), AlignedBuffer::default());
    let target = MatrixTarget { data: &mut c, stride: b.shape().1, add };
    width.dispatch(Multiply { rows, a, b, panels: 0..b.panels(), c: target, left: &mut scratch });
    c
}

#[test]
fn a_product_is_the_sum_over_the_depth_however_a_lies() {
    for (rows, depth, cols) in shapes() {
        let (a, b, c) = (numbers(rows * depth, 1), numbers(depth * cols, 2), numbers(rows * cols, 3));
        let turned: Vec<f32> = (0..depth * rows).map(|at| a[at % rows * depth + at / rows]).collect();
        let term = |at: usize, k: usize| f64::from(a[at / cols * depth + k]) * f64::from(b[k * cols + at % cols]);
        let want: Vec<f64> = (0..rows * cols).map(|at| (0..depth).map(|k| term(at, k)).sum()).collect();
        for width in widths() {
            let packed = packed(width, &b, depth, cols);
            let set = product(width, rows, MatrixView::rows(&a, depth), &packed, &c, false);
            let across = MatrixView::rows(&turned, rows).transposed();
            assert_eq!(set, product(width, rows, across, &packed, &c, false), "{rows} × {depth} × {cols}, {width:?}");
            let added = product(width, rows, MatrixView::rows(&a, depth), &packed, &c, true);
            for (at, want) in want.iter().enumerate() {
                let wrong = [f64::from(set[at]) - want, f64::from(added[at] - c[at]) - want].map(f64::abs);
                assert!(wrong.iter().all(|wrong| *wrong < 1e-4), "{wrong:?} at {at} of {rows} × {depth} × {cols}");
            }
        }
    }
}

/// Why a sample does not depend on the rows it was computed with.
#[test]
fn a_row_comes_to_the_same_bits_alone_and_among_others() {
    for (rows, depth, cols) in shapes() {
        let (a, b, c) = (numbers(rows * depth, 4), numbers(depth * cols, 5), numbers(rows * cols, 6));
        for width in widths() {
            let packed = packed(width, &b, depth, cols);
            let together = product(width, rows, MatrixView::rows(&a, depth), &packed, &c, true);
            for row in 0..rows {
                let (a, c) = (&a[row * depth..(row + 1) * depth], &c[row * cols..(row + 1) * cols]);
                let alone = product(width, 1, MatrixView::rows(a, depth), &packed, c, true);
                assert_eq!(alone, together[row * cols..(row + 1) * cols], "row {row} of {rows}, {depth} × {cols}");
            }
        }
    }
}

/// Why a sample does not depend on the threads it was computed by.
#[test]
fn a_product_comes_to_the_same_bits_however_threads_share_it() {
    for threads in [2, 3, 5] {
        let mut space = GemmWorkspace::default();
        space.set_pool(&ThreadPool::new(threads).expect("threads start"));
        for (rows, depth, cols) in shapes().chain([(100, 40, 200), (3, 300, 321)]) {
            let (a, b, c) = (numbers(rows * depth, 7), numbers(depth * cols, 8), numbers(rows * cols, 9));
            let mut packed = PackedMatrix::default();
            packed.pack(MatrixView::rows(&b, cols), depth, cols);
            for add in [false, true] {
                let shared = |share: &mut dyn FnMut(MatrixView<'_>, MatrixTarget<'_>)| {
                    let mut c = c.clone();
                    share(MatrixView::rows(&a, depth), MatrixTarget { data: &mut c, stride: cols, add });
                    c
                };
                let want = shared(&mut |a, c| super::multiply(rows, a, &packed, c, &mut GemmWorkspace::default()));
                let by_rows = shared(&mut |a, c| space.by_rows(threads, rows, a, &packed, c));
                let by_columns = shared(&mut |a, c| space.by_columns(threads, rows, a, &packed, c));
                assert_eq!(want, by_rows, "{threads} threads, {rows} × {depth} × {cols}");
                assert_eq!(want, by_columns, "{threads} threads, {rows} × {depth} × {cols}");
            }
        }
    }
}

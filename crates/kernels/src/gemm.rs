//! Matrix products C (+)= A · B on slices, called by every part of the model.
//!
//! The loop nest is that of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (ACM TOMS 2008): B packed in
//! panels as wide as two vectors, A packed in panels of a few rows, and a kernel that keeps one tile of C in registers. Weights
//! are packed once per optimizer step and used by all micro-batches ([`PackedMatrix`]).
//! Invariant: row i of C depends only on row i of A and is summed in the order of k, whatever the other rows are. That is why
//! rollouts do not depend on the batch they are in. The threads of a pool share a product by columns where rows are few, so that every weight is
//! read once, and by rows where they are many: either way an element is summed as by one thread, to the same bits.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use crate::simd::{AlignedBuffer, dispatch};
use crate::thread_pool::ThreadPool;

mod int8;
#[cfg(test)]
mod tests;

use int8::{Int8Panels, Int8Product, Int8Rows, Processor};

/// Depth of one block: a panel of B of this depth stays in the first-level cache.
const DEPTH: usize = 256;
/// Rows of A packed at a time: this many by [`DEPTH`] stay in the second-level cache.
const ROWS: usize = 192;
/// Rows of the largest register tile.
const MAX_TILE_ROWS: usize = 12;
/// Columns of the largest register tile.
const MAX_TILE_COLS: usize = 32;

/// A matrix seen through strides: element (i, j) is `data[i * row + j * col]`, and one of the strides is 1.
#[derive(Debug, Clone, Copy)]
pub struct MatrixView<'a> {
    data: &'a [f32],
    row: usize,
    col: usize,
}

impl<'a> MatrixView<'a> {
    /// A matrix whose rows are contiguous and start `stride` floats apart.
    #[inline]
    pub fn rows(data: &'a [f32], stride: usize) -> Self {
        Self { data, row: stride, col: 1 }
    }

    /// The same matrix, transposed.
    #[inline]
    pub fn transposed(self) -> Self {
        Self { data: self.data, row: self.col, col: self.row }
    }
}

/// Where a product goes: rows start `stride` floats apart.
#[derive(Debug)]
pub struct MatrixTarget<'a> {
    /// First float is element (0, 0).
    pub data: &'a mut [f32],
    /// Distance of two rows.
    pub stride: usize,
    /// Add to what is there, instead of overwriting.
    pub add: bool,
}

impl<'a> MatrixTarget<'a> {
    /// Overwrites.
    #[inline]
    pub fn set(data: &'a mut [f32], stride: usize) -> Self {
        Self { data, stride, add: false }
    }

    /// Adds.
    #[inline]
    pub fn add(data: &'a mut [f32], stride: usize) -> Self {
        Self { data, stride, add: true }
    }
}

/// The right-hand side of a product, packed for this machine's vector width, or quantised.
#[derive(Debug, Default)]
pub struct PackedMatrix {
    data: AlignedBuffer,
    /// In place of `data`, where it is quantised.
    int8: Option<Int8Panels>,
    depth: usize,
    cols: usize,
    tile: usize,
}

impl PackedMatrix {
    /// Rows and columns of what was packed.
    pub const fn shape(&self) -> (usize, usize) {
        (self.depth, self.cols)
    }

    fn panels(&self) -> usize {
        self.cols.div_ceil(self.tile)
    }

    /// B [depth, cols] in 8-bit integers, from its columns, which lie one behind the other. The rows that it is multiplied by are quantised, too.
    pub fn quantised(columns: &[f32], depth: usize) -> Self {
        let int8 = Some(Int8Panels::new(columns, depth));
        Self { data: AlignedBuffer::default(), int8, depth, cols: columns.len() / depth, tile: int8::COLUMNS }
    }

    /// Bytes of [`PackedMatrix::quantised`] of such a matrix.
    pub const fn quantised_bytes(depth: usize, cols: usize) -> usize {
        Int8Panels::bytes(depth, cols)
    }

    /// Packs the first `depth` × `cols` of `b`.
    pub fn pack(&mut self, b: MatrixView<'_>, depth: usize, cols: usize) {
        dispatch(PackRight { packed: self, b, depth, cols });
    }
}

struct PackRight<'a, 'b> {
    packed: &'a mut PackedMatrix,
    b: MatrixView<'b>,
    depth: usize,
    cols: usize,
}

impl WithSimd for PackRight<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let tile = 2 * S::F32_LANES;
        let panels = self.cols.div_ceil(tile);
        let data = self.packed.data.resize(panels * tile * self.depth);
        for from in (0..self.depth).step_by(DEPTH) {
            let deep = DEPTH.min(self.depth - from);
            let block = &mut data[from * panels * tile..(from + deep) * panels * tile];
            let data = &self.b.data[(from * self.b.row).min(self.b.data.len())..];
            pack_panels(block, MatrixView { data, ..self.b }.transposed(), self.cols, deep, tile);
        }
        (self.packed.depth, self.packed.cols, self.packed.tile) = (self.depth, self.cols, tile);
        self.packed.int8 = None;
    }
}

/// Packs `rows` × `deep` of `a` in panels of `tile` rows, each stored depth by depth; missing rows are 0.
#[inline(always)]
fn pack_panels(out: &mut [f32], a: MatrixView<'_>, rows: usize, deep: usize, tile: usize) {
    for (p, panel) in out.chunks_exact_mut(tile * deep).enumerate() {
        let first = p * tile;
        let valid = tile.min(rows - first);
        if valid < tile {
            panel.fill(0.0);
        }
        if a.row == 1 {
            for (d, cells) in panel.chunks_exact_mut(tile).enumerate() {
                let from = &a.data[first + d * a.col..][..valid];
                // The length is known when compiling in the common case: no call to memmove.
                if let (true, Some(whole)) = (valid == tile, from.get(..tile)) {
                    cells.copy_from_slice(whole);
                } else {
                    cells[..valid].copy_from_slice(from);
                }
            }
        } else {
            transpose(panel, &a.data[first * a.row..], a.row, valid, deep, tile);
        }
    }
}

/// Writes the first `valid` rows of `a`, `stride` apart, as columns of `panel`, whose rows are `tile` wide.
///
/// Works on blocks of [`BLOCK`] depths, so that the lines being written stay in the first-level cache.
#[inline(always)]
fn transpose(panel: &mut [f32], a: &[f32], stride: usize, valid: usize, deep: usize, tile: usize) {
    const BLOCK: usize = 16;
    for (b, block) in panel.chunks_mut(BLOCK * tile).enumerate() {
        let from = b * BLOCK;
        let len = BLOCK.min(deep - from);
        for i in 0..valid {
            let row = &a[i * stride + from..i * stride + from + len];
            if let Ok(row) = <&[f32; BLOCK]>::try_from(row) {
                for d in 0..BLOCK {
                    block[d * tile + i] = row[d];
                }
            } else {
                row.iter().enumerate().for_each(|(d, &value)| block[d * tile + i] = value);
            }
        }
    }
}

/// C (+)= A · B for the first `rows` rows of A [rows, depth] and a packed B [depth, cols]. Rows of A lie one behind the other where B is quantised.
pub fn multiply(rows: usize, a: MatrixView<'_>, b: &PackedMatrix, c: MatrixTarget<'_>, space: &mut GemmWorkspace) {
    if rows == 0 || b.depth == 0 || b.cols == 0 {
        return;
    }
    match space.pool.threads_worth_waking(rows * b.depth * b.cols) {
        1 => multiply_panels(rows, a, b, 0..b.panels(), c, &mut space.first.left),
        threads if rows < MANY_ROWS => space.by_columns(threads, rows, a, b, c),
        threads => space.by_rows(threads, rows, a, b, c),
    }
}

/// The buffers of products.
#[derive(Debug, Default)]
pub struct GemmWorkspace {
    pool: ThreadPool,
    first: ThreadBuffers,
    others: Vec<ThreadBuffers>,
}

#[derive(Debug, Default)]
struct ThreadBuffers {
    left: LeftBuffers,
    /// Its columns of C, before they are put among the others.
    columns: AlignedBuffer,
}

/// Rows of A while they are multiplied: packed, or quantised.
#[derive(Debug, Default)]
struct LeftBuffers {
    packed: AlignedBuffer,
    int8: Int8Rows,
}

/// Some panels of the product, by one thread. `c` is without the columns of other panels.
fn multiply_panels(
    rows: usize,
    a: MatrixView<'_>,
    b: &PackedMatrix,
    panels: Range<usize>,
    c: MatrixTarget<'_>,
    left: &mut LeftBuffers,
) {
    match &b.int8 {
        None => dispatch(Multiply { rows, a, b, panels, c, left: &mut left.packed }),
        Some(int8) => {
            let (depth, cols, left) = (b.depth, b.cols, &mut left.int8);
            Int8Product { rows, a, b: int8, depth, cols, panels, c, left }.run(Processor::best());
        }
    }
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

    fn thread_buffers(&mut self, threads: usize) -> impl Iterator<Item = &mut ThreadBuffers> {
        std::iter::once(&mut self.first).chain(&mut self.others).take(threads)
    }

    fn by_rows(&mut self, threads: usize, rows: usize, a: MatrixView<'_>, b: &PackedMatrix, c: MatrixTarget<'_>) {
        let pool = self.pool.clone();
        let share = rows.div_ceil(threads).next_multiple_of(MAX_TILE_ROWS);
        let shares = c.data.chunks_mut(share * c.stride).zip((0..rows).step_by(share));
        let mut parts: Vec<_> = self.thread_buffers(threads).zip(shares).collect();
        pool.for_each(&mut parts, |(buffers, (data, first))| {
            let a = MatrixView { data: &a.data[*first * a.row..], ..a };
            let c = MatrixTarget { data, stride: c.stride, add: c.add };
            let rows = share.min(rows - *first);
            multiply_panels(rows, a, b, 0..b.panels(), c, &mut buffers.left);
        });
    }

    fn by_columns(&mut self, threads: usize, rows: usize, a: MatrixView<'_>, b: &PackedMatrix, c: MatrixTarget<'_>) {
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
            multiply_panels(rows, a, b, panels.clone(), c, &mut buffers.left);
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

struct Multiply<'a> {
    rows: usize,
    a: MatrixView<'a>,
    b: &'a PackedMatrix,
    /// Those of B that are wanted.
    panels: Range<usize>,
    /// Without the columns of other panels.
    c: MatrixTarget<'a>,
    left: &'a mut AlignedBuffer,
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F32_LANES {
            16 => self.run::<S, 12>(simd),
            8 => self.run::<S, 6>(simd),
            _ => self.run::<S, 4>(simd),
        }
    }
}

impl Multiply<'_> {
    #[inline(always)]
    fn run<S: Simd, const M: usize>(self, simd: S) {
        let tile = 2 * S::F32_LANES;
        debug_assert!(self.b.tile == tile && M <= MAX_TILE_ROWS && tile <= MAX_TILE_COLS);
        let panels = self.b.panels();
        let packed = self.b.data.as_slice();
        let left = self.left.resize(ROWS.next_multiple_of(M) * DEPTH);
        let block_rows = ROWS / M * M;
        let mut add = self.c.add;
        for from in (0..self.b.depth).step_by(DEPTH) {
            let deep = DEPTH.min(self.b.depth - from);
            let block = &packed[from * panels * tile..(from + deep) * panels * tile];
            let right = &block[self.panels.start * tile * deep..self.panels.end * tile * deep];
            for first in (0..self.rows).step_by(block_rows) {
                let count = block_rows.min(self.rows - first);
                let (whole, last) = (count / M * M, last_tile(count % M, M));
                let (tiles, rest) = left.split_at_mut(whole * deep);
                let rest = &mut rest[..last * deep];
                let a =
                    |row: usize| MatrixView { data: &self.a.data[row * self.a.row + from * self.a.col..], ..self.a };
                pack_panels(tiles, a(first), whole, deep, M);
                if last > 0 {
                    pack_panels(rest, a(first + whole), count - whole, deep, last);
                }
                for (p, right) in right.chunks_exact(tile * deep).enumerate() {
                    let cols = tile.min(self.b.cols - (self.panels.start + p) * tile);
                    let target = |row: usize| TileTarget {
                        at: row * self.c.stride + p * tile,
                        stride: self.c.stride,
                        cols,
                        add,
                    };
                    for (q, left) in tiles.chunks_exact(M * deep).enumerate() {
                        put::<S, M>(simd, left, right, self.c.data, target(first + q * M), M);
                    }
                    put_last::<S, M>(simd, last, rest, right, self.c.data, target(first + whole), count - whole);
                }
            }
            add = true;
        }
    }
}

/// Rows of the tile that takes the `rest` of the rows, fewer than `most`: the smallest there is. Rows a tile has too many cost as much as
/// the others.
const fn last_tile(rest: usize, most: usize) -> usize {
    let tile = if rest == 3 {
        4
    } else if rest < 5 {
        rest
    } else if rest < 9 {
        8
    } else {
        most
    };
    if tile < most { tile } else { most }
}

/// Where one tile of C goes.
#[derive(Debug, Clone, Copy)]
struct TileTarget {
    at: usize,
    stride: usize,
    cols: usize,
    add: bool,
}

/// [`put`] for a tile of `tile` rows, one of those that [`last_tile`] gives.
#[inline(always)]
fn put_last<S: Simd, const M: usize>(
    simd: S,
    tile: usize,
    left: &[f32],
    right: &[f32],
    c: &mut [f32],
    target: TileTarget,
    rows: usize,
) {
    match tile {
        0 => {}
        1 => put::<S, 1>(simd, left, right, c, target, rows),
        2 => put::<S, 2>(simd, left, right, c, target, rows),
        4 => put::<S, 4>(simd, left, right, c, target, rows),
        8 if M > 8 => put::<S, 8>(simd, left, right, c, target, rows),
        _ => put::<S, M>(simd, left, right, c, target, rows),
    }
}

/// Computes a tile of C and puts its first `rows` rows in their target.
#[inline(always)]
fn put<S: Simd, const M: usize>(simd: S, left: &[f32], right: &[f32], c: &mut [f32], target: TileTarget, rows: usize) {
    store::<S, M>(simd, product::<S, M>(simd, left, right), c, target, rows);
}

/// One tile of C: `M` rows by two vectors, held in registers.
#[inline(always)]
fn product<S: Simd, const M: usize>(simd: S, left: &[f32], right: &[f32]) -> [[S::f32s; 2]; M] {
    let mut acc = [[simd.splat_f32s(0.0); 2]; M];
    let (left, _) = left.as_chunks::<M>();
    let (right, _) = S::as_simd_f32s(right);
    let (right, _) = right.as_chunks::<2>();
    for (l, r) in left.iter().zip(right) {
        for i in 0..M {
            let x = simd.splat_f32s(l[i]);
            acc[i][0] = simd.mul_add_e_f32s(x, r[0], acc[i][0]);
            acc[i][1] = simd.mul_add_e_f32s(x, r[1], acc[i][1]);
        }
    }
    acc
}

#[inline(always)]
fn store<S: Simd, const M: usize>(simd: S, acc: [[S::f32s; 2]; M], c: &mut [f32], target: TileTarget, rows: usize) {
    let (TileTarget { at, stride, cols, add }, tile) = (target, 2 * S::F32_LANES);
    let c = &mut c[at..];
    if rows == M && cols == tile {
        for i in 0..M {
            let (row, _) = S::as_mut_simd_f32s(&mut c[i * stride..i * stride + tile]);
            row[0] = if add { simd.add_f32s(row[0], acc[i][0]) } else { acc[i][0] };
            row[1] = if add { simd.add_f32s(row[1], acc[i][1]) } else { acc[i][1] };
        }
        return;
    }
    let mut spill = [0.0_f32; MAX_TILE_COLS];
    for i in 0..M {
        if i < rows {
            let (vectors, _) = S::as_mut_simd_f32s(&mut spill[..tile]);
            vectors[0] = acc[i][0];
            vectors[1] = acc[i][1];
            for (cell, &value) in c[i * stride..i * stride + cols].iter_mut().zip(&spill) {
                *cell = if add { *cell + value } else { value };
            }
        }
    }
}

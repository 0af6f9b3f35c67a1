//! Products with a matrix of 8-bit integers: B is quantised once, and A when it is multiplied (W8A8).
//!
//! [`GROUP`] numbers of a row of A, or of a column of B, have one scale, their largest magnitude over 127, and are integers of −127 to 127 times that:
//! single numbers of a model's rows are far larger than the others, and cost only their group its precision. Sums of a group are exact, so that all
//! processors come to the same integers; they are scaled and added in the order of groups, to the same bits. The integers of A are stored with
//! [`OFFSET`] added, as `vpdpbusd` wants them, and sums begin with what that adds too much.

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use pulp::core_arch::x86::Avx512vnni;
#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};

use super::{MatrixTarget, MatrixView, last_tile};
use crate::simd::vectorized;

#[cfg(test)]
mod tests;

/// Columns of a panel: two vectors of AVX-512.
pub(super) const COLUMNS: usize = 32;
/// Rows of the largest tile.
const TILE_ROWS: usize = 8;
/// Rows that are quantised at a time: in the second-level cache with a panel.
const ROWS: usize = 192;
/// What is added to the integers of A.
const OFFSET: u8 = 128;
/// The largest magnitude of a quantised number.
const LARGEST: f32 = 127.0;
/// Numbers of a row of A, or of a column of B, that have one scale.
const GROUP: usize = 64;
/// Fours of the numbers of a group.
const GROUP_QUADS: usize = GROUP / 4;

/// Four numbers of each column of a panel, column by column.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct WeightQuads([i8; 4 * COLUMNS]);

/// B [depth, cols] in panels of [`COLUMNS`] columns. Missing numbers are 0.
#[derive(Debug, Default)]
pub(super) struct Int8Panels {
    /// Of each panel ⌈depth / 4⌉.
    quads: Vec<WeightQuads>,
    /// Of each panel and group −[`OFFSET`] times the sum of each column's integers.
    corrections: Vec<[i32; COLUMNS]>,
    /// Of each panel and group those of its columns.
    scales: Vec<[f32; COLUMNS]>,
}

impl Int8Panels {
    pub(super) const fn bytes(depth: usize, cols: usize) -> usize {
        let group = size_of::<[i32; COLUMNS]>() + size_of::<[f32; COLUMNS]>();
        cols.div_ceil(COLUMNS) * (depth.div_ceil(4) * size_of::<WeightQuads>() + depth.div_ceil(GROUP) * group)
    }

    /// Quantises the columns of B, which lie one behind the other.
    pub(super) fn new(columns: &[f32], depth: usize) -> Self {
        let (cols, deep, groups) = (columns.len() / depth, depth.div_ceil(4), depth.div_ceil(GROUP));
        let panels = cols.div_ceil(COLUMNS);
        let mut quads = vec![WeightQuads([0; 4 * COLUMNS]); panels * deep];
        let (mut corrections, mut scales) =
            (vec![[0; COLUMNS]; panels * groups], vec![[0.0; COLUMNS]; panels * groups]);
        for (at, column) in columns.chunks_exact(depth).enumerate() {
            let (panel, lane) = (at / COLUMNS, at % COLUMNS);
            let quads = quads[panel * deep..(panel + 1) * deep].chunks_mut(GROUP_QUADS);
            for ((quads, numbers), group) in quads.zip(column.chunks(GROUP)).zip(panel * groups..) {
                let mut integers = [OFFSET; GROUP];
                scales[group][lane] = quantise(&mut integers, numbers);
                for (quad, four) in quads.iter_mut().zip(integers.as_chunks::<4>().0) {
                    let signed = four.map(|integer| (integer ^ OFFSET) as i8);
                    quad.0[4 * lane..4 * lane + 4].copy_from_slice(&signed);
                    let sum: i32 = signed.iter().map(|integer| i32::from(*integer)).sum();
                    corrections[group][lane] -= i32::from(OFFSET) * sum;
                }
            }
        }
        Self { quads, corrections, scales }
    }
}

/// Writes the integers of `numbers`, with [`OFFSET`] added, and returns their scale. What `out` has more stays as it is.
///
/// A number that is not finite makes the scale not finite, and so every product with it.
#[inline(always)]
fn quantise(out: &mut [u8], numbers: &[f32]) -> f32 {
    /// 1.5 · 2^23: adding it leaves the nearest integer in the low bits of the mantissa, ties to even.
    const ROUND: f32 = 12_582_912.0;
    // Of the bits of magnitudes NaN is the largest, which a maximum of floats would pass over.
    let bits = numbers.iter().fold(0, |most, x| most.max(x.to_bits() & !(1 << 31)));
    let largest = f32::from_bits(bits);
    let inverse = if largest > f32::MIN_POSITIVE * LARGEST { LARGEST / largest } else { 0.0 };
    for (out, &x) in out.iter_mut().zip(numbers) {
        *out = (x * inverse + ROUND).to_bits() as u8 ^ OFFSET;
    }
    largest / LARGEST
}

/// Rows of A while they are multiplied.
#[derive(Debug, Default)]
pub(super) struct Int8Rows {
    /// The integers of one row, before they are arranged.
    integers: Vec<u8>,
    /// Tile by tile: four numbers of each of its rows, then the next four.
    quads: Vec<[u8; 4]>,
    /// Of each group of each row.
    scales: Vec<f32>,
}

impl Int8Rows {
    /// Quantises `rows` rows of `a`. Rows that the last tile has too many are whatever was there.
    #[inline(always)]
    fn fill(&mut self, a: MatrixView<'_>, rows: usize, depth: usize) {
        let deep = depth.div_ceil(4);
        self.scales.clear();
        self.integers.resize(4 * deep, OFFSET);
        self.quads.resize(rows.next_multiple_of(TILE_ROWS) * deep, [OFFSET; 4]);
        for row in 0..rows {
            let groups = self.integers.chunks_mut(GROUP).zip(a.data[row * a.row..][..depth].chunks(GROUP));
            self.scales.extend(groups.map(|(integers, numbers)| quantise(integers, numbers)));
            let first = row / TILE_ROWS * TILE_ROWS;
            let places = self.quads[first * deep + row - first..].iter_mut().step_by(tile_rows(rows - first));
            places.zip(self.integers.as_chunks().0).for_each(|(quad, four)| *quad = *four);
        }
        self.scales.resize(rows.next_multiple_of(TILE_ROWS) * depth.div_ceil(GROUP), 0.0);
    }
}

/// Rows of the tile that begins where `rest` rows are left.
const fn tile_rows(rest: usize) -> usize {
    if rest < TILE_ROWS { last_tile(rest, TILE_ROWS) } else { TILE_ROWS }
}

/// C (+)= A · B for the first `rows` rows of A and some panels of B [depth, cols].
pub(super) struct Int8Product<'a> {
    pub(super) rows: usize,
    pub(super) a: MatrixView<'a>,
    pub(super) b: &'a Int8Panels,
    pub(super) depth: usize,
    pub(super) cols: usize,
    pub(super) panels: Range<usize>,
    /// Without the columns of other panels.
    pub(super) c: MatrixTarget<'a>,
    pub(super) left: &'a mut Int8Rows,
}

impl Int8Product<'_> {
    /// Computes it by what `processor` has.
    ///
    /// # Panics
    /// The rows of A are not contiguous.
    pub(super) fn run(mut self, processor: Processor) {
        assert_eq!(self.a.col, 1, "rows that are quantised lie one behind the other");
        vectorized(
            #[inline(always)]
            || {
                for first in (0..self.rows).step_by(ROWS) {
                    let (rows, data) = (ROWS.min(self.rows - first), &self.a.data[first * self.a.row..]);
                    self.left.fill(MatrixView { data, ..self.a }, rows, self.depth);
                    for panel in self.panels.clone() {
                        (0..rows)
                            .step_by(TILE_ROWS)
                            .for_each(|tile| self.put_tile(processor, panel, first, tile, rows));
                    }
                }
            },
        );
    }

    /// Puts the tile that begins at row `tile` of the `rows` that are quantised, from row `first` of C on.
    #[inline(always)]
    fn put_tile(&mut self, processor: Processor, panel: usize, first: usize, tile: usize, rows: usize) {
        match tile_rows(rows - tile) {
            1 => self.put::<1>(processor, panel, first, tile, rows),
            2 => self.put::<2>(processor, panel, first, tile, rows),
            4 => self.put::<4>(processor, panel, first, tile, rows),
            _ => self.put::<TILE_ROWS>(processor, panel, first, tile, rows),
        }
    }

    #[inline(always)]
    fn put<const M: usize>(&mut self, processor: Processor, panel: usize, first: usize, tile: usize, rows: usize) {
        let (deep, groups) = (self.depth.div_ceil(4), self.depth.div_ceil(GROUP));
        let of_groups = panel * groups..(panel + 1) * groups;
        let products = processor.products(&Tile::<M> {
            left: self.left.quads[tile * deep..][..M * deep].as_chunks().0,
            row_scales: &self.left.scales[tile * groups..][..M * groups],
            right: &self.b.quads[panel * deep..][..deep],
            corrections: &self.b.corrections[of_groups.clone()],
            column_scales: &self.b.scales[of_groups],
        });
        let columns = panel * COLUMNS..self.cols.min((panel + 1) * COLUMNS);
        let at = columns.start - self.panels.start * COLUMNS;
        for (row, products) in (tile..rows).zip(&products) {
            let cells = &mut self.c.data[(first + row) * self.c.stride + at..][..columns.len()];
            for (cell, product) in cells.iter_mut().zip(products) {
                *cell = if self.c.add { *cell + product } else { *product };
            }
        }
    }
}

/// What computes sums: the best that a processor has. A token is there only where the processor has its instructions.
#[derive(Debug, Clone, Copy)]
pub(super) enum Processor {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(V3),
    #[cfg(target_arch = "x86_64")]
    Vnni(V4, Avx512vnni),
}

impl Processor {
    /// What this machine has, the best first.
    fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let wide = [
            V4::try_new().zip(Avx512vnni::try_new()).map(|(v4, vnni)| Self::Vnni(v4, vnni)),
            V3::try_new().map(Self::Avx2),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let wide = [None];
        wide.into_iter().flatten().chain([Self::Portable])
    }

    /// The fastest that this machine has.
    pub(super) fn best() -> Self {
        Self::available().next().unwrap_or(Self::Portable)
    }

    /// The tile of A · B.
    #[expect(unsafe_code, reason = "instructions that not every processor has")]
    #[inline(always)]
    fn products<const M: usize>(self, tile: &Tile<'_, M>) -> [[f32; COLUMNS]; M] {
        match self {
            Self::Portable => tile.scaled(portable_sums),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token says that the processor has the instructions.
            Self::Avx2(_) => tile.scaled(|start, left, right| unsafe { x86::avx2_sums(start, left, right) }),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the tokens say that the processor has the instructions.
            Self::Vnni(..) => unsafe { x86::vnni_products(tile) },
        }
    }
}

/// `M` rows of A and a panel of B, group by group.
struct Tile<'a, const M: usize> {
    left: &'a [[[u8; 4]; M]],
    /// Those of the groups of a row, then of the next.
    row_scales: &'a [f32],
    right: &'a [WeightQuads],
    corrections: &'a [[i32; COLUMNS]],
    column_scales: &'a [[f32; COLUMNS]],
}

/// A group of `M` rows of A, and of a panel of B.
type Quads<'a, const M: usize> = (&'a [[[u8; 4]; M]], &'a [WeightQuads]);

impl<'a, const M: usize> Tile<'a, M> {
    /// The numbers of each group, with its place.
    #[inline(always)]
    fn groups(&self) -> impl Iterator<Item = (usize, Quads<'a, M>)> {
        self.left.chunks(GROUP_QUADS).zip(self.right.chunks(GROUP_QUADS)).enumerate()
    }

    /// The scale of a row in a group.
    #[inline(always)]
    fn row_scale(&self, row: usize, group: usize) -> f32 {
        self.row_scales[row * self.corrections.len() + group]
    }

    /// The products by sums of groups, which begin with a correction.
    #[inline(always)]
    fn scaled(
        &self,
        sums: impl Fn(&[i32; COLUMNS], &[[[u8; 4]; M]], &[WeightQuads]) -> [[i32; COLUMNS]; M],
    ) -> [[f32; COLUMNS]; M] {
        let mut products = [[0.0; COLUMNS]; M];
        for (group, (left, right)) in self.groups() {
            let sums = sums(&self.corrections[group], left, right);
            for (row, (products, sums)) in products.iter_mut().zip(&sums).enumerate() {
                let scale = self.row_scale(row, group);
                for ((product, sum), column) in products.iter_mut().zip(sums).zip(&self.column_scales[group]) {
                    *product += *sum as f32 * (scale * column);
                }
            }
        }
        products
    }
}

#[inline(always)]
fn portable_sums<const M: usize>(
    start: &[i32; COLUMNS],
    left: &[[[u8; 4]; M]],
    right: &[WeightQuads],
) -> [[i32; COLUMNS]; M] {
    let mut sums = [*start; M];
    for (rows, columns) in left.iter().zip(right) {
        for (row, sums) in rows.iter().zip(&mut sums) {
            for (column, sum) in columns.0.as_chunks::<4>().0.iter().zip(sums) {
                *sum += row.iter().zip(column).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>();
            }
        }
    }
    sums
}

/// The sums by instructions of x86-64.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, __m512, __m512i, _mm_cvtepu8_epi16, _mm_cvtsi32_si128, _mm256_add_epi32,
        _mm256_broadcastq_epi64, _mm256_cvtepi8_epi16, _mm256_madd_epi16, _mm256_setzero_si256, _mm512_add_ps,
        _mm512_cvtepi32_ps, _mm512_dpbusd_epi32, _mm512_mul_ps, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
    };

    use pulp::bytemuck::cast;

    use super::{COLUMNS, Tile, WeightQuads};

    /// `vpdpbusd` multiplies unsigned bytes of A by signed ones of B and adds four products to a sum. As [`Tile::scaled`], to the same bits.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn vnni_products<const M: usize>(tile: &Tile<'_, M>) -> [[f32; COLUMNS]; M] {
        let mut products = [[_mm512_setzero_ps(); 2]; M];
        for (group, (left, right)) in tile.groups() {
            let mut sums: [[__m512i; 2]; M] = [cast(tile.corrections[group]); M];
            for (rows, columns) in left.iter().zip(right) {
                let [low, high]: [__m512i; 2] = cast(columns.0);
                for (row, sums) in rows.iter().zip(&mut sums) {
                    let row = _mm512_set1_epi32(i32::from_ne_bytes(*row));
                    sums[0] = _mm512_dpbusd_epi32(sums[0], row, low);
                    sums[1] = _mm512_dpbusd_epi32(sums[1], row, high);
                }
            }
            let columns: [__m512; 2] = cast(tile.column_scales[group]);
            for (row, (products, sums)) in products.iter_mut().zip(sums).enumerate() {
                let scale = _mm512_set1_ps(tile.row_scale(row, group));
                for half in 0..2 {
                    let scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[half]), _mm512_mul_ps(scale, columns[half]));
                    products[half] = _mm512_add_ps(products[half], scaled);
                }
            }
        }
        products.map(cast)
    }

    /// Rows whose sums [`avx2_block`] has in registers.
    const BLOCK_ROWS: usize = 2;
    /// Vectors of four columns that it has them of.
    const VECTORS: usize = 4;

    /// `vpmaddwd` multiplies 16 bits and adds in pairs to 32: the pairs of bytes that `vpmaddubsw` adds to 16 would saturate.
    #[target_feature(enable = "avx2")]
    pub(super) fn avx2_sums<const M: usize>(
        start: &[i32; COLUMNS],
        left: &[[[u8; 4]; M]],
        right: &[WeightQuads],
    ) -> [[i32; COLUMNS]; M] {
        let mut all = [*start; M];
        for (block, rows) in all.chunks_mut(BLOCK_ROWS).enumerate() {
            let first = block * BLOCK_ROWS;
            for (part, vectors) in (0..COLUMNS / 4).step_by(VECTORS).enumerate() {
                let sums = avx2_block(left, right, [first, (first + 1).min(M - 1)], vectors);
                for (row, sums) in rows.iter_mut().zip(sums) {
                    let pairs: [[i32; 2]; 4 * VECTORS] = cast(sums);
                    let columns = row[4 * VECTORS * part..].iter_mut().zip(pairs);
                    columns.for_each(|(column, [a, b])| *column += a + b);
                }
            }
        }
        all
    }

    /// Sums of two rows and some vectors of columns: of each column two, which together are its sum.
    #[target_feature(enable = "avx2")]
    fn avx2_block<const M: usize>(
        left: &[[[u8; 4]; M]],
        right: &[WeightQuads],
        places: [usize; BLOCK_ROWS],
        vectors: usize,
    ) -> [[__m256i; VECTORS]; BLOCK_ROWS] {
        let mut sums = [[_mm256_setzero_si256(); VECTORS]; BLOCK_ROWS];
        for (rows, columns) in left.iter().zip(right) {
            let columns: [__m128i; COLUMNS / 4] = cast(columns.0);
            let rows = places.map(|place| i32::from_ne_bytes(rows[place]));
            let rows = rows.map(|row| _mm256_broadcastq_epi64(_mm_cvtepu8_epi16(_mm_cvtsi32_si128(row))));
            for at in 0..VECTORS {
                let column = _mm256_cvtepi8_epi16(columns[vectors + at]);
                for (sums, row) in sums.iter_mut().zip(rows) {
                    sums[at] = _mm256_add_epi32(sums[at], _mm256_madd_epi16(row, column));
                }
            }
        }
        sums
    }
}

//! The positions that one row attends to, as two runs of columns (the shared prompt and the row's own segment), and the inner loops
//! over them: small products of one or two queries with many keys or values, held in registers.

use std::ops::Range;

use pulp::Simd;

use super::padded;
use crate::math::axpy;

/// Keys and values of neighbouring positions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panel<'a> {
    /// Transposed [dim, stride].
    pub(super) keys_t: &'a [f32],
    pub(super) stride: usize,
    /// Those of the positions alone [positions, dim].
    pub(super) values: &'a [f32],
}

impl Panel<'_> {
    /// Those of some of its positions alone.
    #[inline(always)]
    pub(super) fn part(self, positions: &Range<usize>, dim: usize) -> Self {
        let Range { start, end } = *positions;
        Self { keys_t: &self.keys_t[start..], values: &self.values[start * dim..end * dim], ..self }
    }
}

/// Where the scores of one row lie: `shared.len()` of the prompt, then from `split` on `own.len()` of its own segment, up to `end`. The
/// gaps that fill up whole vectors hold −∞.
#[derive(Debug, Clone)]
pub(super) struct Spans {
    shared: Range<usize>,
    own: Range<usize>,
    split: usize,
    pub(super) end: usize,
}

impl Spans {
    #[inline(always)]
    pub(super) fn new(shared: Range<usize>, own: Range<usize>) -> Self {
        let split = padded(shared.len());
        Self { shared, split, end: split + padded(own.len()), own }
    }

    /// The two runs of positions in one panel of a whole group.
    #[inline(always)]
    pub(super) fn panels<'a>(&self, group: Panel<'a>, dim: usize) -> [Panel<'a>; 2] {
        [group.part(&self.shared, dim), group.part(&self.own, dim)]
    }

    /// Scores of `G` queries [G, dim] into `out` [G, end].
    #[inline(always)]
    pub(super) fn scores<S: Simd, const G: usize>(
        &self,
        simd: S,
        out: &mut [f32],
        queries: &[f32],
        [shared, own]: [Panel<'_>; 2],
    ) {
        self.shared_scores::<S, G>(simd, out, queries, shared, 0..self.split);
        self.own_scores::<S, G>(simd, out, queries, own);
    }

    /// Those of `columns` of the prompt alone. They begin at whole vectors, and may go on behind the last.
    #[inline(always)]
    pub(super) fn shared_scores<S: Simd, const G: usize>(
        &self,
        simd: S,
        out: &mut [f32],
        queries: &[f32],
        shared: Panel<'_>,
        columns: Range<usize>,
    ) {
        let Range { start, end } = columns.start..columns.end.min(self.split);
        if start < end {
            let panel = Panel { keys_t: &shared.keys_t[start..], ..shared };
            scores::<S, G>(simd, out, (start, end, self.end), queries, panel);
        }
    }

    /// Those of the row's own segment, and −∞ in the gaps behind both.
    #[inline(always)]
    pub(super) fn own_scores<S: Simd, const G: usize>(
        &self,
        simd: S,
        out: &mut [f32],
        queries: &[f32],
        own: Panel<'_>,
    ) {
        scores::<S, G>(simd, out, (self.split, self.end, self.end), queries, own);
        for out in out.chunks_exact_mut(self.end) {
            out[self.shared.len()..self.split].fill(f32::NEG_INFINITY);
            out[self.split + self.own.len()..].fill(f32::NEG_INFINITY);
        }
    }

    /// Adds the weighted values to `out` [G, dim].
    #[inline(always)]
    pub(super) fn mix<S: Simd, const G: usize>(
        &self,
        simd: S,
        out: &mut [f32],
        weights: &[f32],
        [shared, own]: [Panel<'_>; 2],
    ) {
        for at in stripes::<S>(out.len() / G) {
            self.mix_shared::<S, G>(simd, out, weights, shared, at);
        }
        self.mix_own::<S, G>(simd, out, weights, own);
    }

    /// Those of the prompt in one of the [`stripes`].
    #[inline(always)]
    pub(super) fn mix_shared<S: Simd, const G: usize>(
        &self,
        simd: S,
        out: &mut [f32],
        weights: &[f32],
        shared: Panel<'_>,
        at: usize,
    ) {
        mix_stripe::<S, G>(simd, out, weights, (0, self.end), shared.values, at);
    }

    /// Those of the row's own segment.
    #[inline(always)]
    pub(super) fn mix_own<S: Simd, const G: usize>(&self, simd: S, out: &mut [f32], weights: &[f32], own: Panel<'_>) {
        for at in stripes::<S>(out.len() / G) {
            mix_stripe::<S, G>(simd, out, weights, (self.split, self.end), own.values, at);
        }
    }

    /// The transpose of `mix`: adds to every row Σ over g of its weight · `x[g]`.
    #[inline(always)]
    pub(super) fn spread<S: Simd, const G: usize>(&self, simd: S, rows: &mut [f32], weights: &[f32], x: &[f32]) {
        let dim = x.len() / G;
        for (positions, first) in [(&self.shared, 0), (&self.own, self.split)] {
            let rows = &mut rows[positions.start * dim..positions.end * dim];
            spread::<S, G>(simd, rows, weights, (first, self.end), x);
        }
    }
}

/// Columns `from..to` of `out` [G, end]: dot products of `G` queries with the columns of a transposed panel.
#[inline(always)]
fn scores<S: Simd, const G: usize>(
    simd: S,
    out: &mut [f32],
    span: (usize, usize, usize),
    queries: &[f32],
    panel: Panel<'_>,
) {
    let (from, to, end) = span;
    let lanes = S::F32_LANES;
    let mut at = from;
    while at < to {
        let (out, keys_t, stride) = (&mut out[at..], &panel.keys_t[at - from..], panel.stride);
        // The tiles are as wide as registers allow: every key is loaded once for all queries.
        at += match (to - at) / lanes {
            0 | 1 => put(out, end, &columns::<S, G, 1>(simd, queries, keys_t, stride)),
            2 => put(out, end, &columns::<S, G, 2>(simd, queries, keys_t, stride)),
            3 => put(out, end, &columns::<S, G, 3>(simd, queries, keys_t, stride)),
            _ => put(out, end, &columns::<S, G, 4>(simd, queries, keys_t, stride)),
        };
    }
}

/// Stores a tile; returns how many columns it has.
#[inline(always)]
fn put<V: pulp::bytemuck::Pod, const G: usize, const N: usize>(
    out: &mut [f32],
    stride: usize,
    tile: &[[V; N]; G],
) -> usize {
    let mut columns = 0;
    for (g, vectors) in tile.iter().enumerate() {
        let values: &[f32] = pulp::bytemuck::cast_slice(vectors);
        columns = values.len();
        out[g * stride..g * stride + columns].copy_from_slice(values);
    }
    columns
}

/// Dot products of `G` queries with `N` vectors of columns, held in registers. `G` is 1 or 2.
#[inline(always)]
fn columns<S: Simd, const G: usize, const N: usize>(
    simd: S,
    queries: &[f32],
    keys_t: &[f32],
    stride: usize,
) -> [[S::f32s; N]; G] {
    let dim = queries.len() / G;
    let (first, second) = queries.split_at(if G == 2 { dim } else { 0 });
    let first = if G == 2 { first } else { second };
    // Two plain arrays: the compiler keeps them in registers, which it does not do for an array of arrays.
    let mut a = [simd.splat_f32s(0.0); N];
    let mut b = a;
    for (d, (&x, &y)) in first.iter().zip(second).enumerate() {
        let (row, _) = S::as_simd_f32s(&keys_t[d * stride..][..N * S::F32_LANES]);
        let (x, y) = (simd.splat_f32s(x), simd.splat_f32s(y));
        for i in 0..N {
            a[i] = simd.mul_add_e_f32s(x, row[i], a[i]);
        }
        if G == 2 {
            for i in 0..N {
                b[i] = simd.mul_add_e_f32s(y, row[i], b[i]);
            }
        }
    }
    let mut out = [a; G];
    if let Some(last) = out.get_mut(1) {
        *last = b;
    }
    out
}

/// Where the parts of a head's `dim` numbers begin that values are mixed in, one after the other: two vectors each, but for the last.
#[inline(always)]
pub(super) fn stripes<S: Simd>(dim: usize) -> impl Iterator<Item = usize> {
    (0..dim).step_by(2 * S::F32_LANES)
}

/// The stripe from `at` on of `out` [G, dim] += Σ over j of weight (g, j) · row j. The weights of g start at `span.0 + g · span.1`.
#[inline(always)]
fn mix_stripe<S: Simd, const G: usize>(
    simd: S,
    out: &mut [f32],
    weights: &[f32],
    span: (usize, usize),
    rows: &[f32],
    at: usize,
) {
    let dim = out.len() / G;
    let pair = 2 * S::F32_LANES;
    if at + pair <= dim {
        let sum = mix_pair::<S, G>(simd, weights, span, rows, dim, at);
        for g in 0..G {
            let (out, _) = S::as_mut_simd_f32s(&mut out[g * dim + at..][..pair]);
            out[0] = simd.add_f32s(out[0], sum[g][0]);
            out[1] = simd.add_f32s(out[1], sum[g][1]);
        }
        return;
    }
    for (j, row) in rows.chunks_exact(dim).enumerate() {
        for g in 0..G {
            axpy(&mut out[g * dim + at..(g + 1) * dim], weights[span.0 + g * span.1 + j], &row[at..]);
        }
    }
}

/// A stripe of two vectors, summed in independent chains to hide the latency of the additions.
#[inline(always)]
fn mix_pair<S: Simd, const G: usize>(
    simd: S,
    weights: &[f32],
    span: (usize, usize),
    rows: &[f32],
    dim: usize,
    at: usize,
) -> [[S::f32s; 2]; G] {
    const CHAINS: usize = 4;
    let mut acc = [[[simd.splat_f32s(0.0); 2]; G]; CHAINS];
    let count = rows.len() / dim;
    let mut j = 0;
    while j + CHAINS <= count {
        for c in 0..CHAINS {
            fma_row(simd, &mut acc[c], &rows[(j + c) * dim + at..], &weights[span.0 + j + c..], span.1);
        }
        j += CHAINS;
    }
    while j < count {
        fma_row(simd, &mut acc[0], &rows[j * dim + at..], &weights[span.0 + j..], span.1);
        j += 1;
    }
    let mut sum = acc[0];
    for g in 0..G {
        for i in 0..2 {
            let (even, odd) = (simd.add_f32s(acc[0][g][i], acc[2][g][i]), simd.add_f32s(acc[1][g][i], acc[3][g][i]));
            sum[g][i] = simd.add_f32s(even, odd);
        }
    }
    sum
}

/// `acc[g]` += `weights[g · stride]` · the first two vectors of `row`.
#[inline(always)]
fn fma_row<S: Simd, const G: usize>(simd: S, acc: &mut [[S::f32s; 2]; G], row: &[f32], weights: &[f32], stride: usize) {
    let (row, _) = S::as_simd_f32s(&row[..2 * S::F32_LANES]);
    for g in 0..G {
        let w = simd.splat_f32s(weights[g * stride]);
        acc[g] = [simd.mul_add_e_f32s(w, row[0], acc[g][0]), simd.mul_add_e_f32s(w, row[1], acc[g][1])];
    }
}

/// The transpose of [`mix_stripe`], of all stripes: row j += Σ over g of weight (g, j) · `x[g]`.
#[inline(always)]
fn spread<S: Simd, const G: usize>(simd: S, rows: &mut [f32], weights: &[f32], span: (usize, usize), x: &[f32]) {
    let dim = x.len() / G;
    let whole = dim / S::F32_LANES * S::F32_LANES;
    for (j, row) in rows.chunks_exact_mut(dim).enumerate() {
        let weights = &weights[span.0 + j..];
        let (vectors, rest) = S::as_mut_simd_f32s(row);
        for (i, vector) in vectors.iter_mut().enumerate() {
            for g in 0..G {
                let (x, _) = S::as_simd_f32s(&x[g * dim + i * S::F32_LANES..][..S::F32_LANES]);
                *vector = simd.mul_add_e_f32s(simd.splat_f32s(weights[g * span.1]), x[0], *vector);
            }
        }
        if !rest.is_empty() {
            for g in 0..G {
                axpy(rest, weights[g * span.1], &x[g * dim + whole..(g + 1) * dim]);
            }
        }
    }
}

//! What one row sees, as two runs of columns: the shared prompt and its own segment.

use std::ops::Range;

use pulp::Simd;

use super::tiles::{mix, scores, spread};
use super::{VisibleRows, padded};

/// Where the scores of one row lie: `shared` of the prompt, then from `split` on `own.len()` of its own segment, up to `end`. The
/// gaps that fill up whole vectors hold −∞.
#[derive(Debug, Clone)]
pub(crate) struct Spans {
    pub(crate) shared: usize,
    pub(crate) own: Range<usize>,
    split: usize,
    pub(crate) end: usize,
}

impl Spans {
    #[inline(always)]
    pub(super) fn new(visible: &VisibleRows) -> Self {
        Self::of(visible.shared, visible.own.clone())
    }

    #[inline(always)]
    pub(crate) fn of(shared: usize, own: Range<usize>) -> Self {
        let split = padded(shared);
        Self { shared, split, end: split + padded(own.len()), own }
    }

    /// Scores of `G` queries [G, dim] into `out` [G, end], with all keys in one panel.
    #[inline(always)]
    pub(super) fn scores<S: Simd, const G: usize>(
        &self,
        simd: S,
        out: &mut [f32],
        queries: &[f32],
        keys_t: &[f32],
        stride: usize,
    ) {
        let own = &keys_t[self.own.start..];
        self.scores_of::<S, G>(simd, out, queries, (keys_t, stride), (own, stride));
    }

    /// As `scores`, with the prompt's keys and the own keys in two panels, each given with its stride.
    #[inline(always)]
    pub(crate) fn scores_of<S: Simd, const G: usize>(
        &self,
        simd: S,
        out: &mut [f32],
        queries: &[f32],
        shared: (&[f32], usize),
        own: (&[f32], usize),
    ) {
        scores::<S, G>(simd, out, (0, self.split, self.end), queries, shared);
        scores::<S, G>(simd, out, (self.split, self.end, self.end), queries, own);
        for out in out.chunks_exact_mut(self.end) {
            out[self.shared..self.split].fill(f32::NEG_INFINITY);
            out[self.split + self.own.len()..].fill(f32::NEG_INFINITY);
        }
    }

    /// Adds the weighted rows of one panel [rows, dim] to `out` [G, dim].
    #[inline(always)]
    pub(super) fn mix<S: Simd, const G: usize>(&self, simd: S, out: &mut [f32], weights: &[f32], rows: &[f32]) {
        let dim = out.len() / G;
        self.mix_of::<S, G>(
            simd,
            out,
            weights,
            &rows[..self.shared * dim],
            &rows[self.own.start * dim..self.own.end * dim],
        );
    }

    /// As `mix`, with the two parts of the rows given apart.
    #[inline(always)]
    pub(crate) fn mix_of<S: Simd, const G: usize>(
        &self,
        simd: S,
        out: &mut [f32],
        weights: &[f32],
        shared: &[f32],
        own: &[f32],
    ) {
        mix::<S, G>(simd, out, weights, (0, self.end), shared);
        mix::<S, G>(simd, out, weights, (self.split, self.end), own);
    }

    /// The transpose of `mix`: adds to every row Σ over g of its weight · `x[g]`.
    #[inline(always)]
    pub(super) fn spread<S: Simd, const G: usize>(&self, simd: S, rows: &mut [f32], weights: &[f32], x: &[f32]) {
        let dim = x.len() / G;
        spread::<S, G>(simd, &mut rows[..self.shared * dim], weights, (0, self.end), x);
        spread::<S, G>(simd, &mut rows[self.own.start * dim..self.own.end * dim], weights, (self.split, self.end), x);
    }
}

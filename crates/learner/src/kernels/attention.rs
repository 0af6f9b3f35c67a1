//! Causal grouped-query attention over packed groups, with RMSNorm and RoPE of queries and keys inside.
//!
//! A group is one prompt and the responses behind it, lying side by side in the rows of a micro-batch: no padding and no mask.
//! A prompt row sees the prompt up to itself; a response row sees the whole prompt and its own response up to itself. The
//! probabilities are not kept: backward recomputes them from the saved log-sum-exp, as FlashAttention does (Dao et al. 2022).

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::math::{LANES, axpy, dot, exp, max, sum};
use super::norm::{inverse_rms, row_backward};
use super::rope::{RopeTable, rotate, unrotate};
use super::simd::Buffer;

/// Rows of one prompt and of its responses. `responses` follow `prompt` without a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// Rows of the prompt.
    pub(crate) prompt: Range<usize>,
    /// Rows of each response.
    pub(crate) responses: Vec<Range<usize>>,
}

impl Group {
    /// All its rows.
    pub(crate) fn rows(&self) -> Range<usize> {
        self.prompt.start..self.responses.last().map_or(self.prompt.end, |r| r.end)
    }

    /// For every row from the first on: its position, and the first row (relative to the group) of its own segment.
    fn places(&self) -> impl Iterator<Item = Place> + '_ {
        let first = self.prompt.start;
        let length = self.prompt.len();
        let prompt = (0..length).map(|t| Place { position: t, shared: t + 1, own: 0..0 });
        let responses = self.responses.iter().flat_map(move |r| {
            r.clone().map(move |t| Place { position: length + t - r.start, shared: length, own: r.start - first..t + 1 - first })
        });
        prompt.chain(responses)
    }
}

/// What one row sees: rows `0..shared` and `own` of its group.
struct Place {
    position: usize,
    shared: usize,
    own: Range<usize>,
}

/// Sizes and constants of the attention of one layer.
#[derive(Debug)]
pub(crate) struct Heads<'a> {
    /// Query heads.
    pub(crate) heads: usize,
    /// Key-value heads.
    pub(crate) kv_heads: usize,
    /// Width of a head.
    pub(crate) dim: usize,
    /// Of the norms.
    pub(crate) eps: f32,
    /// Gain of the query norm, `dim` floats.
    pub(crate) q_gain: &'a [f32],
    /// Gain of the key norm.
    pub(crate) k_gain: &'a [f32],
    /// Rotary tables.
    pub(crate) rope: &'a RopeTable,
}

impl Heads<'_> {
    pub(crate) fn width(&self) -> usize {
        (self.heads + 2 * self.kv_heads) * self.dim
    }

    /// Softmax scale 1 / sqrt(dim).
    pub(crate) fn scale(&self) -> f32 {
        1.0 / (self.dim as f32).sqrt()
    }

    /// Normalised, rotated head from its raw projection.
    #[inline(always)]
    pub(crate) fn place(&self, out: &mut [f32], raw: &[f32], gain: &[f32], position: usize, scale: f32) {
        let r = inverse_rms(raw, self.eps) * scale;
        for ((o, &x), &w) in out.iter_mut().zip(raw).zip(gain) {
            *o = x * r * w;
        }
        rotate(out, self.rope.at(position));
    }
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    keys: Buffer,
    keys_t: Buffer,
    values: Buffer,
    values_t: Buffer,
    dkeys: Buffer,
    dvalues: Buffer,
    probs: Buffer,
    dprobs: Buffer,
    head: Buffer,
}

/// Rounds up to whole vectors.
#[inline(always)]
pub(crate) const fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// Forward: `out` [rows, heads·dim] and the log-sum-exp `lse` [rows, heads] from raw `qkv` [rows, (heads + 2·kv_heads)·dim].
pub(crate) fn attention(out: &mut [f32], lse: &mut [f32], qkv: &[f32], groups: &[Group], heads: &Heads<'_>, scratch: &mut Scratch) {
    pulp::Arch::new().dispatch(Forward { out, lse, qkv, groups, heads, scratch });
}

struct Forward<'a> {
    out: &'a mut [f32],
    lse: &'a mut [f32],
    qkv: &'a [f32],
    groups: &'a [Group],
    heads: &'a Heads<'a>,
    scratch: &'a mut Scratch,
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for group in self.groups {
            for kv in 0..self.heads.kv_heads {
                self.head(simd, group, kv);
            }
        }
    }
}

impl Forward<'_> {
    #[inline(always)]
    fn head<S: Simd>(&mut self, simd: S, group: &Group, kv: usize) {
        let Heads { heads, kv_heads, dim, .. } = *self.heads;
        let rows = group.rows();
        let stride = padded(rows.len()) + LANES;
        load_panels(self.heads, self.scratch, self.qkv, group, kv, false);
        let Scratch { keys_t, values, probs, head, .. } = &mut *self.scratch;
        let probs = probs.resize(2 * stride);
        let query = head.resize(dim);
        for (t, place) in group.places().enumerate() {
            for h in kv * (heads / kv_heads)..(kv + 1) * (heads / kv_heads) {
                let row = rows.start + t;
                let raw = &self.qkv[row * self.heads.width() + h * dim..][..dim];
                self.heads.place(query, raw, self.heads.q_gain, place.position, self.heads.scale());
                let split = score_place(simd, probs, query, keys_t.as_slice(), stride, &place);
                let (total, norm) = softmax(&mut probs[..split.1]);
                self.lse[row * heads + h] = norm;
                let out = &mut self.out[row * heads * dim + h * dim..][..dim];
                out.fill(0.0);
                mix_place(simd, out, probs, values.as_slice(), &place, split.0);
                let inverse = 1.0 / total;
                out.iter_mut().for_each(|x| *x *= inverse);
            }
        }
    }
}

/// Fills the key and value panels of one group and key-value head: rows [T, dim] and transposed [dim, stride].
#[inline(always)]
fn load_panels(heads: &Heads<'_>, scratch: &mut Scratch, qkv: &[f32], group: &Group, kv: usize, backward: bool) {
    let dim = heads.dim;
    let rows = group.rows();
    let stride = padded(rows.len()) + LANES;
    let keys = scratch.keys.resize(rows.len() * dim);
    let values = scratch.values.resize(rows.len() * dim);
    let keys_t = scratch.keys_t.zeroed(dim * stride);
    for (t, place) in group.places().enumerate() {
        let raw = &qkv[(rows.start + t) * heads.width()..][..heads.width()];
        let key = &mut keys[t * dim..(t + 1) * dim];
        heads.place(key, &raw[(heads.heads + kv) * dim..][..dim], heads.k_gain, place.position, 1.0);
        values[t * dim..(t + 1) * dim].copy_from_slice(&raw[(heads.heads + heads.kv_heads + kv) * dim..][..dim]);
        for (d, &x) in key.iter().enumerate() {
            keys_t[d * stride + t] = x;
        }
    }
    if backward {
        let values_t = scratch.values_t.zeroed(dim * stride);
        for (t, value) in values.chunks_exact(dim).enumerate() {
            for (d, &x) in value.iter().enumerate() {
                values_t[d * stride + t] = x;
            }
        }
    }
}

/// Scores of one query against what it sees. They land in `out[..shared]` and, from the returned first offset, for its own
/// segment; up to the second offset the gaps hold −∞.
#[inline(always)]
fn score_place<S: Simd>(simd: S, out: &mut [f32], query: &[f32], keys_t: &[f32], stride: usize, place: &Place) -> (usize, usize) {
    let split = padded(place.shared);
    scores(simd, &mut out[..split], query, keys_t, stride);
    out[place.shared..split].fill(f32::NEG_INFINITY);
    if place.own.is_empty() {
        return (split, split);
    }
    let end = split + padded(place.own.len());
    scores(simd, &mut out[split..end], query, &keys_t[place.own.start..], stride);
    out[split + place.own.len()..end].fill(f32::NEG_INFINITY);
    (split, end)
}

#[inline(always)]
fn mix_place<S: Simd>(simd: S, out: &mut [f32], weights: &[f32], rows: &[f32], place: &Place, split: usize) {
    let dim = out.len();
    mix(simd, out, &weights[..place.shared], &rows[..place.shared * dim]);
    mix(simd, out, &weights[split..split + place.own.len()], &rows[place.own.start * dim..place.own.end * dim]);
}

/// Exponentiates scores in place, shifted by their maximum. Returns their sum and the log-sum-exp of the scores.
#[inline(always)]
pub(crate) fn softmax(scores: &mut [f32]) -> (f32, f32) {
    let top = max(scores);
    for s in scores.iter_mut() {
        *s = exp(*s - top);
    }
    let total = sum(scores);
    (total, top + total.ln())
}

/// `out[j]` = Σ over d of `query[d]` · `keys_t[d · stride + j]`; whole vectors only.
#[inline(always)]
pub(crate) fn scores<S: Simd>(simd: S, out: &mut [f32], query: &[f32], keys_t: &[f32], stride: usize) {
    let (out, _) = S::as_mut_simd_f32s(out);
    let mut at = 0;
    let (quads, singles) = out.as_chunks_mut::<4>();
    for quad in quads {
        *quad = columns::<S, 4>(simd, query, &keys_t[at..], stride);
        at += 4 * S::F32_LANES;
    }
    for single in singles {
        [*single] = columns::<S, 1>(simd, query, &keys_t[at..], stride);
        at += S::F32_LANES;
    }
}

#[inline(always)]
fn columns<S: Simd, const N: usize>(simd: S, query: &[f32], keys_t: &[f32], stride: usize) -> [S::f32s; N] {
    let mut acc = [simd.splat_f32s(0.0); N];
    for (d, &x) in query.iter().enumerate() {
        let (row, _) = S::as_simd_f32s(&keys_t[d * stride..][..N * S::F32_LANES]);
        let x = simd.splat_f32s(x);
        for i in 0..N {
            acc[i] = simd.mul_add_e_f32s(x, row[i], acc[i]);
        }
    }
    acc
}

/// `out` += Σ over j of `weights[j]` · row j of `rows`, whose width is `out.len()`.
#[inline(always)]
pub(crate) fn mix<S: Simd>(simd: S, out: &mut [f32], weights: &[f32], rows: &[f32]) {
    let dim = out.len();
    let wide = dim / (2 * S::F32_LANES) * (2 * S::F32_LANES);
    for at in (0..wide).step_by(2 * S::F32_LANES) {
        let (pair, _) = S::as_mut_simd_f32s(&mut out[at..at + 2 * S::F32_LANES]);
        let sum = mix_pair(simd, weights, rows, dim, at);
        pair[0] = simd.add_f32s(pair[0], sum[0]);
        pair[1] = simd.add_f32s(pair[1], sum[1]);
    }
    if wide < dim {
        for (&w, row) in weights.iter().zip(rows.chunks_exact(dim)) {
            axpy(&mut out[wide..], w, &row[wide..]);
        }
    }
}

/// Two vectors of [`mix`], summed in four independent chains to hide the latency of the additions.
#[inline(always)]
fn mix_pair<S: Simd>(simd: S, weights: &[f32], rows: &[f32], dim: usize, at: usize) -> [S::f32s; 2] {
    let mut acc = [[simd.splat_f32s(0.0); 2]; 4];
    let (quads, rest) = weights.as_chunks::<4>();
    let mut row = rows.chunks_exact(dim);
    for quad in quads {
        for i in 0..4 {
            if let Some(row) = row.next() {
                acc[i] = fma_pair(simd, quad[i], &row[at..at + 2 * S::F32_LANES], acc[i]);
            }
        }
    }
    for (&w, row) in rest.iter().zip(row) {
        acc[0] = fma_pair(simd, w, &row[at..at + 2 * S::F32_LANES], acc[0]);
    }
    let add = |i: usize| simd.add_f32s(simd.add_f32s(acc[0][i], acc[1][i]), simd.add_f32s(acc[2][i], acc[3][i]));
    [add(0), add(1)]
}

#[inline(always)]
fn fma_pair<S: Simd>(simd: S, weight: f32, row: &[f32], acc: [S::f32s; 2]) -> [S::f32s; 2] {
    let (row, _) = S::as_simd_f32s(row);
    let w = simd.splat_f32s(weight);
    [simd.mul_add_e_f32s(w, row[0], acc[0]), simd.mul_add_e_f32s(w, row[1], acc[1])]
}

/// What [`attention_backward`] reads.
#[derive(Debug)]
pub(crate) struct Saved<'a> {
    /// Raw projections, as given to forward.
    pub(crate) qkv: &'a [f32],
    /// What forward returned.
    pub(crate) out: &'a [f32],
    /// Its log-sum-exp.
    pub(crate) lse: &'a [f32],
    /// Gradient of `out`.
    pub(crate) dout: &'a [f32],
}

/// Backward: overwrites `dqkv`, adds to the gains' gradients (`dgains`: query, key).
pub(crate) fn attention_backward(
    dqkv: &mut [f32],
    dgains: (&mut [f32], &mut [f32]),
    saved: &Saved<'_>,
    groups: &[Group],
    heads: &Heads<'_>,
    scratch: &mut Scratch,
) {
    dqkv.fill(0.0);
    pulp::Arch::new().dispatch(Backward { dqkv, dgains, saved, groups, heads, scratch });
}

struct Backward<'a> {
    dqkv: &'a mut [f32],
    dgains: (&'a mut [f32], &'a mut [f32]),
    saved: &'a Saved<'a>,
    groups: &'a [Group],
    heads: &'a Heads<'a>,
    scratch: &'a mut Scratch,
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for group in self.groups {
            for kv in 0..self.heads.kv_heads {
                self.head(simd, group, kv);
            }
        }
    }
}

impl Backward<'_> {
    #[inline(always)]
    fn head<S: Simd>(&mut self, simd: S, group: &Group, kv: usize) {
        let Heads { heads, kv_heads, dim, .. } = *self.heads;
        let width = self.heads.width();
        let rows = group.rows();
        let stride = padded(rows.len()) + LANES;
        load_panels(self.heads, self.scratch, self.saved.qkv, group, kv, true);
        let Scratch { keys, keys_t, values_t, dkeys, dvalues, probs, dprobs, head, .. } = &mut *self.scratch;
        let (probs, dprobs) = (probs.resize(2 * stride), dprobs.resize(2 * stride));
        let (dkeys, dvalues) = (dkeys.zeroed(rows.len() * dim), dvalues.zeroed(rows.len() * dim));
        let (query, dquery) = head.resize(2 * dim).split_at_mut(dim);
        for (t, place) in group.places().enumerate() {
            for h in kv * (heads / kv_heads)..(kv + 1) * (heads / kv_heads) {
                let row = rows.start + t;
                let raw = &self.saved.qkv[row * width + h * dim..][..dim];
                self.heads.place(query, raw, self.heads.q_gain, place.position, self.heads.scale());
                let dout = &self.saved.dout[row * heads * dim + h * dim..][..dim];
                let out = &self.saved.out[row * heads * dim + h * dim..][..dim];
                let split = score_place(simd, probs, query, keys_t.as_slice(), stride, &place);
                score_place(simd, dprobs, dout, values_t.as_slice(), stride, &place);
                softmax_backward(&mut probs[..split.1], &mut dprobs[..split.1], self.saved.lse[row * heads + h], dot(dout, out));
                dquery.fill(0.0);
                mix_place(simd, dquery, dprobs, keys.as_slice(), &place, split.0);
                spread_place(dkeys, query, dprobs, &place, split.0);
                spread_place(dvalues, dout, probs, &place, split.0);
                dquery.iter_mut().for_each(|x| *x *= self.heads.scale());
                unrotate(dquery, self.heads.rope.at(place.position));
                let dq = &mut self.dqkv[row * width + h * dim..][..dim];
                row_backward(dq, self.dgains.0, raw, self.heads.q_gain, dquery, self.heads.eps);
            }
        }
        self.store_keys(group, kv);
    }

    /// Sends the gradients of keys and values through RoPE and norm into `dqkv`.
    #[inline(always)]
    fn store_keys(&mut self, group: &Group, kv: usize) {
        let Heads { heads, kv_heads, dim, .. } = *self.heads;
        let width = self.heads.width();
        let dkeys = self.scratch.dkeys.as_mut_slice();
        let dvalues = self.scratch.dvalues.as_slice();
        for (t, place) in group.places().enumerate() {
            let row = (group.prompt.start + t) * width;
            let dkey = &mut dkeys[t * dim..(t + 1) * dim];
            unrotate(dkey, self.heads.rope.at(place.position));
            let at = row + (heads + kv) * dim;
            let raw = &self.saved.qkv[at..at + dim];
            row_backward(&mut self.dqkv[at..at + dim], self.dgains.1, raw, self.heads.k_gain, dkey, self.heads.eps);
            let at = row + (heads + kv_heads + kv) * dim;
            self.dqkv[at..at + dim].copy_from_slice(&dvalues[t * dim..(t + 1) * dim]);
        }
    }
}

/// Turns scores into probabilities and `dprobs` into the scores' gradient: ds = p · (dp − Σ dout·out).
#[inline(always)]
fn softmax_backward(probs: &mut [f32], dprobs: &mut [f32], lse: f32, projection: f32) {
    for (p, d) in probs.iter_mut().zip(dprobs) {
        *p = exp(*p - lse);
        // The padding of `dprobs` holds −∞ where `p` is 0: a select keeps the product from becoming NaN.
        *d = if *p > 0.0 { *p * (*d - projection) } else { 0.0 };
    }
}

#[inline(always)]
fn spread_place(out: &mut [f32], x: &[f32], weights: &[f32], place: &Place, split: usize) {
    let dim = x.len();
    for (row, &w) in out.chunks_exact_mut(dim).zip(&weights[..place.shared]) {
        axpy(row, w, x);
    }
    let own = &mut out[place.own.start * dim..place.own.end * dim];
    for (row, &w) in own.chunks_exact_mut(dim).zip(&weights[split..split + place.own.len()]) {
        axpy(row, w, x);
    }
}

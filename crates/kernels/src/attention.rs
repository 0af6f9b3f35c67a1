//! Causal grouped-query attention over packed groups, with RMSNorm and RoPE of queries and keys inside.
//!
//! A group is one prompt and the responses behind it, lying side by side in the rows of a micro-batch: no padding and no mask.
//! A prompt row sees the prompt up to itself; a response row sees the whole prompt and its own response up to itself. The
//! probabilities are not kept: backward recomputes them from the saved log-sum-exp, as FlashAttention does (Dao et al. 2022).
//! Two paths read a key-value cache: decoding, [`DecodeStep`], and prompts of which it has the beginning, [`PrefillStep`]. Grouped queries
//! are those of Ainslie et al. 2023.

mod backward;
mod cached;
mod decode;
mod forward;
mod spans;

use std::ops::Range;

use pulp::Simd;

pub use backward::{AttentionSaved, attention_backward};
pub use cached::{KvCache, PrefillStep};
pub use decode::{DecodeRow, DecodeStep};
pub use forward::{AttentionWorkspace, attention};
use spans::{Panel, Spans, stripes};

use crate::layers::{RopeTable, inverse_rms, rms_norm_row_backward, rotate, unrotate};
use crate::math::{LANES, exp, max, sum};
use crate::simd::AlignedBuffer;

/// Rows of one prompt and of its responses. `responses` follow `prompt` without a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttentionGroup {
    /// Rows of the prompt.
    pub prompt: Range<usize>,
    /// Rows of each response.
    pub responses: Vec<Range<usize>>,
}

impl AttentionGroup {
    /// All its rows.
    pub fn rows(&self) -> Range<usize> {
        self.prompt.start..self.responses.last().map_or(self.prompt.end, |r| r.end)
    }

    /// The positions that every row attends to, from the first row on.
    pub fn visible_rows(&self) -> impl Iterator<Item = VisibleRows> + '_ {
        let first = self.prompt.start;
        let length = self.prompt.len();
        let prompt = (0..length).map(|t| VisibleRows { position: t, shared: 0..t + 1, own: 0..0 });
        let responses = self.responses.iter().flat_map(move |r| {
            r.clone().map(move |t| VisibleRows {
                position: length + t - r.start,
                shared: 0..length,
                own: r.start - first..t + 1 - first,
            })
        });
        prompt.chain(responses)
    }
}

/// The positions that one row attends to, as indices relative to the first row of its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleRows {
    /// The row's position in its sequence.
    pub position: usize,
    /// It sees these rows of the prompt,
    pub shared: Range<usize>,
    /// and these of its own response.
    pub own: Range<usize>,
}

impl VisibleRows {
    /// Those of them that are in a window: the last `window` positions, its own included.
    #[must_use]
    #[inline(always)]
    pub fn within(mut self, window: usize) -> Self {
        let first = (self.position + 1).saturating_sub(window);
        self.own.start += first.saturating_sub(self.shared.end);
        self.shared.start = first.min(self.shared.end);
        self
    }

    /// The number of positions that it sees.
    pub fn count(&self) -> usize {
        self.shared.len() + self.own.len()
    }
}

/// Sizes and constants of every layer's attention.
#[derive(Debug, Clone, Copy)]
pub struct HeadSizes {
    /// Query heads.
    pub heads: usize,
    /// Key-value heads.
    pub kv_heads: usize,
    /// Width of a head.
    pub dim: usize,
    /// Of all norms.
    pub eps: f32,
    /// Scores are products of queries and keys times this.
    pub scale: f32,
}

impl HeadSizes {
    /// One layer's attention to the last `window` positions. `gains` `[dim]` are those of queries and keys where both are normalised.
    pub fn layer<'a>(self, gains: Option<[&'a [f32]; 2]>, rope: &'a RopeTable, window: usize) -> LayerAttention<'a> {
        let [q_gain, k_gain] = gains.map_or([None; 2], |gains| gains.map(Some));
        LayerAttention { sizes: self, q_gain, k_gain, rope, window }
    }

    /// Width of the raw projections.
    pub const fn width(&self) -> usize {
        (self.heads + 2 * self.kv_heads) * self.dim
    }
}

/// The attention of one layer.
#[derive(Debug)]
pub struct LayerAttention<'a> {
    /// Sizes and constants.
    pub sizes: HeadSizes,
    /// Gain of the query norm, `dim` floats; none where queries are not normalised.
    pub q_gain: Option<&'a [f32]>,
    /// Gain of the key norm.
    pub k_gain: Option<&'a [f32]>,
    /// Rotary tables.
    pub rope: &'a RopeTable,
    /// A row attends to so many positions, itself the last of them; `usize::MAX` for all.
    pub window: usize,
}

impl std::ops::Deref for LayerAttention<'_> {
    type Target = HeadSizes;

    #[inline(always)]
    fn deref(&self) -> &HeadSizes {
        &self.sizes
    }
}

impl LayerAttention<'_> {
    /// Rotated head from its raw projection, normalised where there is a gain.
    #[inline(always)]
    fn rotate_head(&self, out: &mut [f32], raw: &[f32], gain: Option<&[f32]>, position: usize, scale: f32) {
        match gain {
            Some(gain) => {
                let r = inverse_rms(raw, self.eps) * scale;
                out.iter_mut().zip(raw).zip(gain).for_each(|((o, &x), &w)| *o = x * r * w);
            }
            None => out.iter_mut().zip(raw).for_each(|(o, &x)| *o = x * scale),
        }
        rotate(out, self.rope.at(position));
    }

    /// Backward of [`LayerAttention::rotate_head`] without its scale: adds to `draw` and `dgain`; `dout` is overwritten.
    #[inline(always)]
    fn rotate_head_backward(
        &self,
        (draw, dgain): (&mut [f32], &mut [f32]),
        raw: &[f32],
        gain: Option<&[f32]>,
        position: usize,
        dout: &mut [f32],
    ) {
        unrotate(dout, self.rope.at(position));
        match gain {
            Some(gain) => rms_norm_row_backward(draw, dgain, raw, gain, dout, self.eps),
            None => draw.iter_mut().zip(dout).for_each(|(d, &mut g)| *d += g),
        }
    }

    /// Query heads that share key-value head `kv`.
    #[inline(always)]
    fn sharing(&self, kv: usize) -> Range<usize> {
        let shared = self.heads / self.kv_heads;
        kv * shared..(kv + 1) * shared
    }

    /// The query heads of one row that share key-value head `kv`: two at once, so that every key is loaded once for both.
    #[inline(always)]
    fn attend<S: Simd>(
        &self,
        simd: S,
        row: &mut AttendingRow<'_>,
        kv: usize,
        seen: (&Spans, [Panel<'_>; 2]),
        scratch: &mut DecodeScratch,
    ) {
        let mut heads = self.sharing(kv);
        while heads.len() >= 2 {
            self.attend_heads::<S, 2>(simd, row, heads.start, seen, scratch);
            heads.start += 2;
        }
        if !heads.is_empty() {
            self.attend_heads::<S, 1>(simd, row, heads.start, seen, scratch);
        }
    }

    /// `G` query heads of one row, from head `first` on.
    #[inline(always)]
    fn attend_heads<S: Simd, const G: usize>(
        &self,
        simd: S,
        row: &mut AttendingRow<'_>,
        first: usize,
        seen: (&Spans, [Panel<'_>; 2]),
        scratch: &mut DecodeScratch,
    ) {
        let (spans, panels) = seen;
        let heads = first * self.dim..(first + G) * self.dim;
        let weights = scratch.weights.resize(G * spans.end);
        let queries = scratch.head.resize(G * self.dim);
        self.rotate_queries(queries, &row.raw[heads.clone()], row.position);
        spans.scores::<S, G>(simd, weights, queries, panels);
        let mut totals = [0.0; G];
        for (g, weights) in weights.chunks_exact_mut(spans.end).enumerate() {
            let (total, norm) = softmax(weights);
            totals[g] = total;
            if let Some(lse) = row.lse.get_mut(first + g) {
                *lse = norm;
            }
        }
        let out = &mut row.out[heads];
        out.fill(0.0);
        spans.mix::<S, G>(simd, out, weights, panels);
        for (out, total) in out.chunks_exact_mut(self.dim).zip(totals) {
            let inverse = 1.0 / total;
            out.iter_mut().for_each(|x| *x *= inverse);
        }
    }

    /// Several neighbouring query heads at once, scaled for the scores.
    #[inline(always)]
    fn rotate_queries(&self, out: &mut [f32], raw: &[f32], position: usize) {
        for (out, raw) in out.chunks_exact_mut(self.dim).zip(raw.chunks_exact(self.dim)) {
            self.rotate_head(out, raw, self.q_gain, position, self.scale);
        }
    }
}

struct AttendingRow<'a> {
    /// Overwritten [heads·dim].
    out: &'a mut [f32],
    /// The log-sum-exp of each head [heads]; empty where nobody asks for it.
    lse: &'a mut [f32],
    /// Raw projections [(heads + 2·kv_heads)·dim].
    raw: &'a [f32],
    position: usize,
}

/// Buffers of one thread for the rows that it attends with at once.
#[derive(Debug, Default)]
pub struct DecodeScratch {
    weights: AlignedBuffer,
    head: AlignedBuffer,
}

#[derive(Debug, Default)]
struct AttentionScratch {
    keys: AlignedBuffer,
    keys_t: AlignedBuffer,
    values: AlignedBuffer,
    values_t: AlignedBuffer,
    dkeys: AlignedBuffer,
    dvalues: AlignedBuffer,
    dprobs: AlignedBuffer,
    row: DecodeScratch,
}

/// Rounds up to whole vectors.
#[inline(always)]
const fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// Distance of two rows of a transposed panel of `rows` columns: whole vectors may be read from any column on.
const fn panel_stride(rows: usize) -> usize {
    padded(rows) + LANES
}

/// Fills the key and value panels of one group and key-value head: rows [T, dim] and transposed [dim, stride].
#[inline(always)]
fn load_panels(
    heads: &LayerAttention<'_>,
    scratch: &mut AttentionScratch,
    qkv: &[f32],
    group: &AttentionGroup,
    kv: usize,
    backward: bool,
) {
    let dim = heads.dim;
    let rows = group.rows();
    let stride = panel_stride(rows.len());
    let keys = scratch.keys.resize(rows.len() * dim);
    let values = scratch.values.resize(rows.len() * dim);
    let keys_t = scratch.keys_t.zeroed(dim * stride);
    for (t, visible) in group.visible_rows().enumerate() {
        let raw = &qkv[(rows.start + t) * heads.width()..][..heads.width()];
        let key = &mut keys[t * dim..(t + 1) * dim];
        heads.rotate_head(key, &raw[(heads.heads + kv) * dim..][..dim], heads.k_gain, visible.position, 1.0);
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

/// Exponentiates scores in place, shifted by their maximum. Returns their sum and the log-sum-exp of the scores.
#[inline(always)]
fn softmax(scores: &mut [f32]) -> (f32, f32) {
    let top = max(scores);
    for s in scores.iter_mut() {
        *s = exp(*s - top);
    }
    let total = sum(scores);
    (total, top + total.ln())
}

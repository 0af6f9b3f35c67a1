//! The small operations of a decoder layer: RMSNorm, bias, SwiGLU and rotary positions, each with its backward.
//!
//! - RMSNorm with a gain (Zhang and Sennrich 2019): y = x · r · w with r = 1 / sqrt(mean(x²) + eps).
//! - SwiGLU (Shazeer 2020): h = silu(gate) ∘ up, on rows that hold gate and up side by side.
//! - Rotary position embedding (Su et al. 2021) in the half-split layout of Llama and Qwen, and its tables.

use crate::math::{LANES, accumulate, dot, exp, sum};
use crate::simd::vectorized;

/// Normalises every row of `x` [rows, width] into `out` [rows, width]; `gain` `[width]`.
pub fn rms_norm(out: &mut [f32], x: &[f32], gain: &[f32], eps: f32) {
    vectorized(
        #[inline(always)]
        || {
            for (o, row) in out.chunks_exact_mut(gain.len()).zip(x.chunks_exact(gain.len())) {
                let r = inverse_rms(row, eps);
                for ((o, &v), &w) in o.iter_mut().zip(row).zip(gain) {
                    *o = v * r * w;
                }
            }
        },
    );
}

/// 1 / sqrt(mean(row²) + eps).
#[inline(always)]
pub(crate) fn inverse_rms(row: &[f32], eps: f32) -> f32 {
    1.0 / (dot(row, row) / row.len() as f32 + eps).sqrt()
}

/// Backward of [`rms_norm`]: adds to `dx` [rows, width] and to `dgain` `[width]`, from the gradient `grad` [rows, width] of its result.
///
/// dx = r·(g∘w) − x·r³/n·Σ(g∘w∘x), dw = Σ over rows of g∘x·r.
pub fn rms_norm_backward(dx: &mut [f32], dgain: &mut [f32], x: &[f32], gain: &[f32], grad: &[f32], eps: f32) {
    let width = gain.len();
    vectorized(
        #[inline(always)]
        || {
            for ((dx, x), g) in dx.chunks_exact_mut(width).zip(x.chunks_exact(width)).zip(grad.chunks_exact(width)) {
                rms_norm_row_backward(dx, dgain, x, gain, g, eps);
            }
        },
    );
}

/// One row of [`rms_norm_backward`].
#[inline(always)]
pub(crate) fn rms_norm_row_backward(
    dx: &mut [f32],
    dgain: &mut [f32],
    x: &[f32],
    gain: &[f32],
    grad: &[f32],
    eps: f32,
) {
    let r = inverse_rms(x, eps);
    let mut acc = [0.0_f32; LANES];
    let (xs, x_rest) = x.as_chunks::<LANES>();
    let (ws, w_rest) = gain.as_chunks::<LANES>();
    let (gs, g_rest) = grad.as_chunks::<LANES>();
    for ((x, w), g) in xs.iter().zip(ws).zip(gs) {
        for i in 0..LANES {
            acc[i] += g[i] * w[i] * x[i];
        }
    }
    let rest: f32 = x_rest.iter().zip(w_rest).zip(g_rest).map(|((x, w), g)| g * w * x).sum();
    let projection = (sum(&acc) + rest) * r * r * r / x.len() as f32;
    for ((((d, dw), &x), &w), &g) in dx.iter_mut().zip(dgain.iter_mut()).zip(x).zip(gain).zip(grad) {
        *d += r * g * w - x * projection;
        *dw += g * x * r;
    }
}

/// Adds `bias` `[width]` to every row of `x` [rows, width].
pub fn add_bias(x: &mut [f32], bias: &[f32]) {
    x.chunks_exact_mut(bias.len()).for_each(|row| accumulate(row, bias));
}

/// Backward of [`add_bias`] with respect to the bias: adds the sum of the rows of `dy` [rows, width] to `dbias` `[width]`.
pub fn bias_backward(dbias: &mut [f32], dy: &[f32]) {
    let width = dbias.len();
    dy.chunks_exact(width).for_each(|row| accumulate(dbias, row));
}

/// `out` [rows, width] from `gate_up` [rows, 2·width].
pub fn swiglu(out: &mut [f32], gate_up: &[f32], width: usize) {
    vectorized(
        #[inline(always)]
        || {
            for (out, pair) in out.chunks_exact_mut(width).zip(gate_up.chunks_exact(2 * width)) {
                let (gate, up) = pair.split_at(width);
                for ((o, &g), &u) in out.iter_mut().zip(gate).zip(up) {
                    *o = g * sigmoid(g) * u;
                }
            }
        },
    );
}

/// Backward of [`swiglu`]: overwrites `gate_up` [rows, 2·width] with its gradient, and the gradient of the result in `hidden`
/// [rows, width] with the recomputed result.
///
/// d silu(g)/dg = σ(g)·(1 + g·(1 − σ(g))).
pub fn swiglu_backward(gate_up: &mut [f32], hidden: &mut [f32], width: usize) {
    vectorized(
        #[inline(always)]
        || {
            for (pair, hidden) in gate_up.chunks_exact_mut(2 * width).zip(hidden.chunks_exact_mut(width)) {
                let (gate, up) = pair.split_at_mut(width);
                for ((g, u), h) in gate.iter_mut().zip(up).zip(hidden) {
                    let (gv, uv, dh) = (*g, *u, *h);
                    let s = sigmoid(gv);
                    *g = dh * uv * s * (1.0 + gv * (1.0 - s));
                    *u = dh * gv * s;
                    *h = gv * s * uv;
                }
            }
        },
    );
}

#[inline(always)]
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// cos and sin for every position: rows of `half` floats, head_dim / 2 of them where whole heads are rotated.
#[derive(Debug)]
pub struct RopeTable {
    cos: Vec<f32>,
    sin: Vec<f32>,
    /// Pairs of a head that are rotated.
    half: usize,
}

impl RopeTable {
    /// Tables for positions 0 to `positions` − 1; the angle of pair i is position · `frequencies[i]`. cos and sin are multiplied by `magnitude`.
    pub fn new(positions: usize, frequencies: &[f64], magnitude: f64) -> Self {
        let of_position = |position: usize| frequencies.iter().map(move |frequency| position as f64 * frequency);
        let angles: Vec<f64> = (0..positions).flat_map(of_position).collect();
        let cos = angles.iter().map(|angle| (angle.cos() * magnitude) as f32).collect();
        let sin = angles.iter().map(|angle| (angle.sin() * magnitude) as f32).collect();
        Self { cos, sin, half: frequencies.len() }
    }

    /// Pairs of a head that are rotated: its first `2 · pairs` numbers. The others stay as they are, all of them where this is 0.
    pub const fn pairs(&self) -> usize {
        self.half
    }

    /// The rows of one position.
    #[inline(always)]
    pub fn at(&self, position: usize) -> (&[f32], &[f32]) {
        let range = position * self.half..(position + 1) * self.half;
        (&self.cos[range.clone()], &self.sin[range])
    }
}

/// Rotates the first 2·half numbers of a head in place by a row [half] of cos and of sin: (a, b) → (a·cos − b·sin, b·cos + a·sin).
#[inline(always)]
pub(crate) fn rotate(head: &mut [f32], (cos, sin): (&[f32], &[f32])) {
    let (first, second) = head.split_at_mut(cos.len());
    for (((a, b), &c), &s) in first.iter_mut().zip(second).zip(cos).zip(sin) {
        (*a, *b) = (*a * c - *b * s, *b * c + *a * s);
    }
}

/// The transpose of [`rotate`]: what backward needs.
#[inline(always)]
pub(crate) fn unrotate(head: &mut [f32], (cos, sin): (&[f32], &[f32])) {
    let (first, second) = head.split_at_mut(cos.len());
    for (((a, b), &c), &s) in first.iter_mut().zip(second).zip(cos).zip(sin) {
        (*a, *b) = (*a * c + *b * s, *b * c - *a * s);
    }
}

//! SwiGLU (Shazeer 2020): h = silu(gate) ∘ up, on rows that hold gate and up side by side.

use crate::math::exp;
use crate::simd::wide;

/// `out` [rows, width] from `gate_up` [rows, 2·width].
pub fn swiglu(out: &mut [f32], gate_up: &[f32], width: usize) {
    wide(
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
    wide(
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

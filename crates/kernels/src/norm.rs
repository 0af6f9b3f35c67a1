//! RMSNorm with a gain (Zhang and Sennrich 2019): y = x · r · w with r = 1 / sqrt(mean(x²) + eps).

use crate::math::dot;
use crate::simd::wide;

/// Normalises every row of `x` [rows, width] into `out` [rows, width]; `gain` [width].
pub fn rms_norm(out: &mut [f32], x: &[f32], gain: &[f32], eps: f32) {
    wide(
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
#[must_use]
pub fn inverse_rms(row: &[f32], eps: f32) -> f32 {
    1.0 / (dot(row, row) / row.len() as f32 + eps).sqrt()
}

/// Backward of [`rms_norm`]: adds to `dx` [rows, width] and to `dgain` [width], from the gradient `grad` [rows, width] of its result.
///
/// dx = r·(g∘w) − x·r³/n·Σ(g∘w∘x), dw = Σ over rows of g∘x·r.
pub fn rms_norm_backward(dx: &mut [f32], dgain: &mut [f32], x: &[f32], gain: &[f32], grad: &[f32], eps: f32) {
    let width = gain.len();
    wide(
        #[inline(always)]
        || {
            for ((dx, x), g) in dx.chunks_exact_mut(width).zip(x.chunks_exact(width)).zip(grad.chunks_exact(width)) {
                row_backward(dx, dgain, x, gain, g, eps);
            }
        },
    );
}

/// One row of [`rms_norm_backward`].
#[inline(always)]
pub fn row_backward(dx: &mut [f32], dgain: &mut [f32], x: &[f32], gain: &[f32], grad: &[f32], eps: f32) {
    let r = inverse_rms(x, eps);
    let mut acc = [0.0_f32; crate::math::LANES];
    let (xs, x_rest) = x.as_chunks::<{ crate::math::LANES }>();
    let (ws, w_rest) = gain.as_chunks::<{ crate::math::LANES }>();
    let (gs, g_rest) = grad.as_chunks::<{ crate::math::LANES }>();
    for ((x, w), g) in xs.iter().zip(ws).zip(gs) {
        for i in 0..crate::math::LANES {
            acc[i] += g[i] * w[i] * x[i];
        }
    }
    let rest: f32 = x_rest.iter().zip(w_rest).zip(g_rest).map(|((x, w), g)| g * w * x).sum();
    let projection = (crate::math::sum(&acc) + rest) * r * r * r / x.len() as f32;
    for ((((d, dw), &x), &w), &g) in dx.iter_mut().zip(dgain.iter_mut()).zip(x).zip(gain).zip(grad) {
        *d += r * g * w - x * projection;
        *dw += g * x * r;
    }
}

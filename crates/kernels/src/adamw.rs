//! One step of AdamW (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019, algorithm 2).

use crate::simd::wide;

/// The constants of one step in f32, bias corrections folded in.
#[derive(Debug, Clone, Copy)]
pub struct Constants {
    /// Decay of the mean.
    pub beta1: f32,
    /// Decay of the mean square.
    pub beta2: f32,
    /// learning rate / (1 − beta1^t)
    pub rate: f32,
    /// 1 / sqrt(1 − beta2^t)
    pub root: f32,
    /// Added to the root of the mean square.
    pub eps: f32,
    /// 1 − learning rate · weight decay
    pub keep: f32,
    /// Factor of the gradient.
    pub scale: f32,
}

/// One step on one tensor, in place: with g = scale · gradient, m = β₁·m + (1 − β₁)·g, v = β₂·v + (1 − β₂)·g²,
/// w = keep·w − rate·m / (root·√v + ε). All slices have the same length.
pub fn step(weight: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32], c: &Constants) {
    wide(
        #[inline(always)]
        || {
            for (((w, &g), m), v) in weight.iter_mut().zip(gradient).zip(first).zip(second) {
                let g = g * c.scale;
                *m = c.beta1 * *m + (1.0 - c.beta1) * g;
                *v = c.beta2 * *v + (1.0 - c.beta2) * g * g;
                *w = *w * c.keep - c.rate * *m / (v.sqrt() * c.root + c.eps);
            }
        },
    );
}

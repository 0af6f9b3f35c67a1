//! AdamW (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019, algorithm 2).

use super::{AdamW, Rate};
use crate::kernels::simd::wide;

/// Everything one step needs, in f32, bias corrections folded in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constants {
    pub(super) beta1: f32,
    pub(super) beta2: f32,
    /// learning rate / (1 − beta1^t)
    pub(super) rate: f32,
    /// 1 / sqrt(1 − beta2^t)
    pub(super) root: f32,
    pub(super) eps: f32,
    pub(super) keep: f32,
    pub(super) scale: f32,
}

impl Constants {
    /// For step `step`, counted from 1; `decay` is learning rate times weight decay.
    pub(super) fn new(adamw: &AdamW, step: u64, rate: Rate, decay: f64) -> Self {
        let power = |beta: f64| 1.0 - beta.powf(step as f64);
        Self {
            beta1: adamw.beta1 as f32,
            beta2: adamw.beta2 as f32,
            rate: (rate.learning_rate / power(adamw.beta1)) as f32,
            root: (1.0 / power(adamw.beta2).sqrt()) as f32,
            eps: adamw.eps as f32,
            keep: (1.0 - decay) as f32,
            scale: rate.scale,
        }
    }
}

/// One step on one tensor, in place.
pub(super) fn step(weight: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32], c: &Constants) {
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

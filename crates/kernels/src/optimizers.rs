//! One optimizer step on one tensor, in place: AdamW, and Muon for hidden matrices.
//!
//! - AdamW: Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019, algorithm 2.
//! - Muon: K. Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024: momentum, then the nearest
//!   semi-orthogonal matrix by five Newton–Schulz steps with the authors' quintic coefficients.

use crate::gemm::{GemmWorkspace, MatrixTarget, MatrixView, PackedMatrix, multiply};
use crate::simd::{AlignedBuffer, vectorized};

/// The constants of one step of AdamW in f32, bias corrections folded in.
#[derive(Debug, Clone, Copy)]
pub struct AdamWConstants {
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

/// One step of AdamW on one tensor, in place: with g = scale · gradient, m = β₁·m + (1 − β₁)·g, v = β₂·v + (1 − β₂)·g²,
/// w = keep·w − rate·m / (root·√v + ε). All slices have the same length.
pub fn adamw_step(weight: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32], c: &AdamWConstants) {
    vectorized(
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

/// Coefficients of the quintic a·X + b·(XXᵀ)X + c·(XXᵀ)²X.
pub const QUINTIC: [f32; 3] = [3.4445, -4.7750, 2.0315];
/// Newton–Schulz steps.
pub const NEWTON_SCHULZ_STEPS: usize = 5;

/// The constants of one step of Muon.
#[derive(Debug, Clone, Copy)]
pub struct MuonConstants {
    /// Learning rate.
    pub rate: f64,
    /// Decay of the momentum.
    pub momentum: f64,
    /// Learning rate times weight decay.
    pub decay: f64,
    /// Factor of the gradient.
    pub scale: f32,
}

/// Buffers of one thread, kept between steps.
#[derive(Debug, Default)]
pub struct MuonWorkspace {
    x: AlignedBuffer,
    next: AlignedBuffer,
    gram: AlignedBuffer,
    polynomial: AlignedBuffer,
    right: PackedMatrix,
    products: GemmWorkspace,
}

/// One step of Muon on one matrix of shape (rows, columns), in place. The update is scaled by sqrt(max(1, rows / columns)).
pub fn muon_step(
    weight: &mut [f32],
    gradient: &[f32],
    first: &mut [f32],
    shape: (usize, usize),
    c: &MuonConstants,
    space: &mut MuonWorkspace,
) {
    let momentum = c.momentum as f32;
    let (rows, columns) = shape;
    let (short, long) = (rows.min(columns), rows.max(columns));
    let tall = rows > columns;
    let x = space.x.resize(rows * columns);
    for (i, (&g, m)) in gradient.iter().zip(first).enumerate() {
        let g = g * c.scale;
        *m = momentum * *m + g;
        // Nesterov's look-ahead; a tall matrix is worked on transposed, so that the Gram matrix is the small one.
        x[if tall { i % columns * rows + i / columns } else { i }] = g + momentum * *m;
    }
    orthogonalise(short, long, space);
    let x = space.x.as_slice();
    let rate = (c.rate * (rows as f64 / columns as f64).max(1.0).sqrt()) as f32;
    let keep = (1.0 - c.decay) as f32;
    for (i, w) in weight.iter_mut().enumerate() {
        *w = *w * keep - rate * x[if tall { i % columns * rows + i / columns } else { i }];
    }
}

/// Replaces `space.x` [short, long] by the nearest semi-orthogonal matrix, roughly (singular values end between 0.7 and 1.2).
fn orthogonalise(short: usize, long: usize, space: &mut MuonWorkspace) {
    let MuonWorkspace { x, next, gram, polynomial, right, products } = space;
    let norm = x.as_slice().iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
    let inverse = (1.0 / (norm + 1e-7)) as f32;
    x.as_mut_slice().iter_mut().for_each(|v| *v *= inverse);
    let [a, b, c] = QUINTIC;
    for _ in 0..NEWTON_SCHULZ_STEPS {
        let gram = gram.resize(short * short);
        right.pack(MatrixView::rows(x.as_slice(), long).transposed(), long, short);
        multiply(short, MatrixView::rows(x.as_slice(), long), right, MatrixTarget::set(gram, short), products);
        let polynomial = polynomial.resize(short * short);
        right.pack(MatrixView::rows(gram, short), short, short);
        multiply(short, MatrixView::rows(gram, short), right, MatrixTarget::set(polynomial, short), products);
        for (p, &g) in polynomial.iter_mut().zip(&*gram) {
            *p = b * g + c * *p;
        }
        let next = next.resize(short * long);
        next.iter_mut().zip(x.as_slice()).for_each(|(n, &v)| *n = a * v);
        right.pack(MatrixView::rows(x.as_slice(), long), short, long);
        multiply(short, MatrixView::rows(polynomial, short), right, MatrixTarget::add(next, long), products);
        x.as_mut_slice().copy_from_slice(next);
    }
}

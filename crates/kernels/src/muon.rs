//! Muon (K. Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024): momentum, then the nearest
//! semi-orthogonal matrix by five Newton–Schulz steps with the authors' quintic coefficients.

use crate::gemm::{self, Packed, Target, View, multiply};
use crate::simd::Buffer;

/// Coefficients of the quintic a·X + b·(XXᵀ)X + c·(XXᵀ)²X.
pub const QUINTIC: [f32; 3] = [3.4445, -4.7750, 2.0315];
/// Newton–Schulz steps.
pub const STEPS: usize = 5;

/// Constants of one step.
#[derive(Debug, Clone, Copy)]
pub struct Constants {
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
pub struct Workspace {
    x: Buffer,
    next: Buffer,
    gram: Buffer,
    polynomial: Buffer,
    right: Packed,
    products: gemm::Workspace,
}

/// One step on one matrix of shape (rows, columns), in place. The update is scaled by sqrt(max(1, rows / columns)).
pub fn step(
    weight: &mut [f32],
    gradient: &[f32],
    first: &mut [f32],
    shape: (usize, usize),
    c: &Constants,
    space: &mut Workspace,
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
fn orthogonalise(short: usize, long: usize, space: &mut Workspace) {
    let Workspace { x, next, gram, polynomial, right, products } = space;
    let norm = x.as_slice().iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
    let inverse = (1.0 / (norm + 1e-7)) as f32;
    x.as_mut_slice().iter_mut().for_each(|v| *v *= inverse);
    let [a, b, c] = QUINTIC;
    for _ in 0..STEPS {
        let gram = gram.resize(short * short);
        right.pack(View::rows(x.as_slice(), long).transposed(), long, short);
        multiply(short, View::rows(x.as_slice(), long), right, Target::set(gram, short), products);
        let polynomial = polynomial.resize(short * short);
        right.pack(View::rows(gram, short), short, short);
        multiply(short, View::rows(gram, short), right, Target::set(polynomial, short), products);
        for (p, &g) in polynomial.iter_mut().zip(&*gram) {
            *p = b * g + c * *p;
        }
        let next = next.resize(short * long);
        next.iter_mut().zip(x.as_slice()).for_each(|(n, &v)| *n = a * v);
        right.pack(View::rows(x.as_slice(), long), short, long);
        multiply(short, View::rows(polynomial, short), right, Target::add(next, long), products);
        x.as_mut_slice().copy_from_slice(next);
    }
}

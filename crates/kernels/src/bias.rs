//! A bias beside a matrix product: y = x + b, row by row.

use crate::math::accumulate;

/// Adds `bias` [width] to every row of `x` [rows, width].
pub fn add_bias(x: &mut [f32], bias: &[f32]) {
    x.chunks_exact_mut(bias.len()).for_each(|row| accumulate(row, bias));
}

/// Backward of [`add_bias`] with respect to the bias: adds the sum of the rows of `dy` [rows, width] to `dbias` [width].
pub fn bias_backward(dbias: &mut [f32], dy: &[f32]) {
    let width = dbias.len();
    dy.chunks_exact(width).for_each(|row| accumulate(dbias, row));
}

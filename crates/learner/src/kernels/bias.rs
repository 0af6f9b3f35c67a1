//! A bias beside a matrix product: y = x + b, row by row.

use super::math::accumulate;

/// Adds `bias` to every row of `x` [rows, width].
pub(crate) fn add_bias(x: &mut [f32], bias: &[f32]) {
    x.chunks_exact_mut(bias.len()).for_each(|row| accumulate(row, bias));
}

/// Backward of [`add_bias`] with respect to the bias: adds the sum of the rows of `dy` to `dbias`.
pub(crate) fn bias_backward(dbias: &mut [f32], dy: &[f32]) {
    let width = dbias.len();
    dy.chunks_exact(width).for_each(|row| accumulate(dbias, row));
}

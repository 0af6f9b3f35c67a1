//! Rotary position embedding (Su et al. 2021) in the half-split layout of Llama and Qwen, and its tables.

/// cos and sin for every position: rows of `half` = head_dim / 2 floats.
#[derive(Debug)]
pub struct RopeTable {
    cos: Vec<f32>,
    sin: Vec<f32>,
    /// Pairs of a head.
    half: usize,
}

impl RopeTable {
    /// Tables for positions 0 to `positions` − 1; the angle of pair i is position · `frequencies[i]`.
    #[must_use]
    pub fn new(positions: usize, frequencies: &[f64]) -> Self {
        let half = frequencies.len();
        let mut cos = Vec::with_capacity(positions * half);
        let mut sin = Vec::with_capacity(positions * half);
        for position in 0..positions {
            for frequency in frequencies {
                let angle = position as f64 * frequency;
                cos.push(angle.cos() as f32);
                sin.push(angle.sin() as f32);
            }
        }
        Self { cos, sin, half }
    }

    /// The rows of one position.
    #[inline(always)]
    #[must_use]
    pub fn at(&self, position: usize) -> (&[f32], &[f32]) {
        let range = position * self.half..(position + 1) * self.half;
        (&self.cos[range.clone()], &self.sin[range])
    }
}

/// Rotates one head [2·half] in place by a row [half] of cos and of sin: (a, b) → (a·cos − b·sin, b·cos + a·sin).
#[inline(always)]
pub fn rotate(head: &mut [f32], (cos, sin): (&[f32], &[f32])) {
    let (first, second) = head.split_at_mut(cos.len());
    for (((a, b), &c), &s) in first.iter_mut().zip(second).zip(cos).zip(sin) {
        (*a, *b) = (*a * c - *b * s, *b * c + *a * s);
    }
}

/// The transpose of [`rotate`], which is its inverse: what backward needs.
#[inline(always)]
pub fn unrotate(head: &mut [f32], (cos, sin): (&[f32], &[f32])) {
    let (first, second) = head.split_at_mut(cos.len());
    for (((a, b), &c), &s) in first.iter_mut().zip(second).zip(cos).zip(sin) {
        (*a, *b) = (*a * c + *b * s, *b * c - *a * s);
    }
}

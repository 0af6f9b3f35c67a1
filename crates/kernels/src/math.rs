//! Scalar functions that vectorise when inlined in a loop.

/// Lanes of the partial sums: wide enough for the widest vectors, fixed so that sums do not depend on the machine's width.
pub const LANES: usize = 16;

/// e^x to about 2 units in the last place; 0 below -87, saturating above 88.
///
/// Cody–Waite reduction x = n·ln 2 + r with |r| <= ln 2 / 2, then the degree-6 Taylor polynomial of e^r.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23: adding it leaves the nearest integer in the low mantissa bits
    const LN2_HIGH: f32 = 0.693_359_4; // 355 / 512, exact in f32: n · LN2_HIGH does not round
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let clamped = x.clamp(-87.0, 88.0);
    let shifted = clamped * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = clamped - n * LN2_HIGH - n * LN2_LOW;
    let high = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0));
    let poly = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * high))));
    let scale = f32::from_bits(shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23);
    if x < -87.0 { 0.0 } else { poly * scale }
}

/// Σ a·b of two slices [n].
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_lanes, a_rest) = a.as_chunks::<LANES>();
    let (b_lanes, b_rest) = b.as_chunks::<LANES>();
    let mut acc = [0.0_f32; LANES];
    for (x, y) in a_lanes.iter().zip(b_lanes) {
        for i in 0..LANES {
            acc[i] += x[i] * y[i];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    fold(acc) + rest
}

#[inline(always)]
pub(crate) fn sum(a: &[f32]) -> f32 {
    let (lanes, rest) = a.as_chunks::<LANES>();
    let mut acc = [0.0_f32; LANES];
    for x in lanes {
        for i in 0..LANES {
            acc[i] += x[i];
        }
    }
    fold(acc) + rest.iter().sum::<f32>()
}

/// The largest of a non-empty slice.
#[inline(always)]
pub fn max(a: &[f32]) -> f32 {
    let (lanes, rest) = a.as_chunks::<LANES>();
    let mut acc = [f32::NEG_INFINITY; LANES];
    for x in lanes {
        for i in 0..LANES {
            acc[i] = if x[i] > acc[i] { x[i] } else { acc[i] };
        }
    }
    let lanes_max = acc.iter().fold(f32::NEG_INFINITY, |m, &x| if x > m { x } else { m });
    rest.iter().fold(lanes_max, |m, &x| if x > m { x } else { m })
}

#[inline(always)]
fn fold(acc: [f32; LANES]) -> f32 {
    let mut half = [0.0_f32; LANES / 2];
    for i in 0..LANES / 2 {
        half[i] = acc[i] + acc[i + LANES / 2];
    }
    (half[0] + half[4]) + (half[1] + half[5]) + ((half[2] + half[6]) + (half[3] + half[7]))
}

/// `out += scale · x`; both [n].
#[inline(always)]
pub(crate) fn axpy(out: &mut [f32], scale: f32, x: &[f32]) {
    for (o, &v) in out.iter_mut().zip(x) {
        *o += scale * v;
    }
}

/// `out += x`; both `[n]`.
pub fn accumulate(out: &mut [f32], x: &[f32]) {
    crate::simd::vectorized(
        #[inline(always)]
        || {
            for (o, &v) in out.iter_mut().zip(x) {
                *o += v;
            }
        },
    );
}

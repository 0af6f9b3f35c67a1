//! Numbers with 95 % intervals: shares of tasks, their means over rows, and differences of two evaluations. Called by
//! [`crate::eval_table`] and by the cli.
//!
//! All intervals are over the choice of tasks. Sums of independent estimates get theirs from those of the parts, as in Newcombe's hybrid
//! score interval (1998, Statistics in Medicine 17, 873, method 10) and its extension by Zou and Donner (2008, doi 10.1002/sim.3095), so
//! they stay meaningful where a share is 0 or 1.

use serde::Serialize;

use crate::statistics::mean_over;

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A number with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The lower and the upper end of the interval.
    pub interval: [f64; 2],
}

impl Estimate {
    /// A mean of `n` numbers between 0 and 1, with the score interval of Wilson (1927, doi 10.1080/01621459.1927.10502953). Its coverage is
    /// close to 95 % where the numbers are 0 or 1; shares of several samples a task vary less, and for them it is wider than it need be.
    pub fn of_share(value: f64, n: usize) -> Self {
        if n == 0 {
            return Self { value, interval: [0.0, 1.0] };
        }
        let (n, z2) = (n as f64, Z * Z);
        let (centre, scale) = (value + z2 / (2.0 * n), 1.0 + z2 / n);
        let half = Z * (value * (1.0 - value) / n + z2 / (4.0 * n * n)).sqrt();
        Self { value, interval: [((centre - half) / scale).max(0.0), ((centre + half) / scale).min(1.0)] }
    }

    /// The mean of independent estimates; `None` of none.
    pub fn mean(parts: &[Self]) -> Option<Self> {
        let value = mean_over(parts, |part| part.value)?;
        let half = |end: usize| {
            let squares = parts.iter().map(|part| (part.interval[end] - part.value).powi(2));
            squares.sum::<f64>().sqrt() / parts.len() as f64
        };
        Some(Self { value, interval: [value - half(0), value + half(1)] })
    }

    /// How much higher this estimate is than an independent one.
    pub fn minus(self, other: Self) -> Self {
        let value = self.value - other.value;
        let half =
            |own: usize, theirs: usize| (self.interval[own] - self.value).hypot(other.interval[theirs] - other.value);
        Self { value, interval: [value - half(0, 1), value + half(1, 0)] }
    }

    /// The mean of the differences, between -1 and 1, of paired tasks; `None` of none. The interval is that of Bonett and Price (2012, doi
    /// 10.3102/1076998611411915): one task that is gained and one that is lost are added, so that it has a width where no task differs.
    pub fn of_pairs(differences: &[f64]) -> Option<Self> {
        let value = mean_over(differences, |difference| *difference)?;
        let n = differences.len() as f64 + 2.0;
        let centre = differences.iter().sum::<f64>() / n;
        let squares = differences.iter().map(|difference| difference * difference).sum::<f64>() + 2.0;
        let half = Z * ((squares / n - centre * centre) / n).sqrt();
        Some(Self { value, interval: [(centre - half).max(-1.0), (centre + half).min(1.0)] })
    }
}

#[cfg(test)]
mod tests {
    use super::Estimate;

    #[track_caller]
    fn assert_close(found: [f64; 2], want: [f64; 2]) {
        assert!(found.iter().zip(want).all(|(one, other)| (one - other).abs() < 1e-4), "{found:?} is not {want:?}");
    }

    #[test]
    fn the_interval_of_a_share_is_wilsons() {
        // The roots of (p − x)² = z² x (1 − x) / n, by hand for 8 of 10, and one-sided where nothing or everything is right.
        assert_close(Estimate::of_share(0.8, 10).interval, [0.490_16, 0.943_32]);
        assert!(
            Estimate::of_share(0.0, 10).interval[0] < 1e-12 && Estimate::of_share(1.0, 10).interval[1] > 1.0 - 1e-12
        );
        assert_eq!(Estimate::of_share(0.0, 0).interval, [0.0, 1.0]);
    }

    #[test]
    fn the_interval_of_a_difference_is_newcombes() {
        // His example (a): 56 of 70 and 48 of 80.
        let (one, other) = (Estimate::of_share(56.0 / 70.0, 70), Estimate::of_share(48.0 / 80.0, 80));
        let difference = one.minus(other);
        assert!((difference.value - 0.2).abs() < 1e-12);
        assert_close(difference.interval, [0.0524, 0.3339]);
    }

    #[test]
    fn a_mean_has_the_interval_of_its_parts_and_shrinks_with_their_number() {
        let part = Estimate { value: 0.5, interval: [0.3, 0.6] };
        assert_close(Estimate::mean(&[part]).expect("it has a part").interval, part.interval);
        assert_close(Estimate::mean(&[part; 4]).expect("it has parts").interval, [0.4, 0.55]);
        assert_eq!(Estimate::mean(&[]), None);
    }

    #[test]
    fn paired_differences_have_a_width_where_no_task_differs() {
        let same = Estimate::of_pairs(&[0.0; 98]).expect("it has pairs");
        assert_eq!(same.value, 0.0);
        // 1.96 · √(2 / 100 / 100).
        assert_close(same.interval, [-0.027_72, 0.027_72]);
        // 30 gained, 10 lost of 100, by hand: centre 20/102, variance (42/102 − (20/102)²) / 102.
        let differences: Vec<f64> = [vec![1.0; 30], vec![-1.0; 10], vec![0.0; 60]].concat();
        let gained = Estimate::of_pairs(&differences).expect("it has pairs");
        assert!((gained.value - 0.2).abs() < 1e-12);
        assert_close(gained.interval, [0.077_5, 0.314_65]);
        assert_eq!(Estimate::of_pairs(&[]), None);
    }
}

//! `entropy`: a bonus for staying undecided (Williams and Peng 1991; A3C, arXiv 1602.01783, section 4).
//!
//! # What it computes
//! −`entropy_bonus` · H(π(· | context)) at every token of a rollout, with H the exact entropy over the whole vocabulary, in nats.
//! Its gradient is exact too, ∂H/∂logit = −p·(ln p + H), and goes through the whole model; the sampled token plays no part.
//!
//! # Why
//! Against the collapse of exploration: a policy that is certain draws groups without a gradient. Absolute Zero uses 0.001.
//!
//! # Example
//! Two tokens at p = 1/2: H = 0.693 and the slope in either logit is 0, the maximum.

use super::BadOption;

pub(crate) fn check(bonus: f64) -> Result<(), BadOption> {
    BadOption::check("entropy_bonus", bonus, bonus.is_finite() && bonus >= 0.0, "a number that is not negative")
}

/// Value and slope in H of the bonus at one token.
pub(crate) fn token(bonus: f64, entropy: f64) -> (f64, f64) {
    (-bonus * entropy, -bonus)
}

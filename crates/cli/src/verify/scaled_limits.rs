//! Limits of a task from what its reference needs: EvalPlus' rule, by fuel and bytes in place of seconds.
//!
//! A pure function of the reference's outcome and the image's default limits, so a verdict under them can be repeated.

use veriplay_core::{CallResult, Limits, Outcome};

/// An attempt may use this many times what the reference used, as EvalPlus allows four times the ground truth's time.
const FACTOR: u64 = 4;

/// Maximum fuel of an attempt, in times the default of 6 s. EvalPlus ends a task after 60 s.
const MAX_FUEL_FACTOR: u64 = 10;

/// Maximum bytes of values, stdout and stderr, each on its own, in times the default: 32 × 4 MiB.
const MAX_OUTPUT_FACTOR: u64 = 32;

/// The most an attempt may be given.
fn caps(default: Limits) -> Limits {
    let fuel = default.fuel.saturating_mul(MAX_FUEL_FACTOR).min(*Limits::FUEL.end());
    Limits { output_bytes: default.output_bytes.saturating_mul(MAX_OUTPUT_FACTOR), ..default.with_fuel(fuel) }
}

/// The limits of a reference: an attempt can still get [`FACTOR`] times what it used.
pub(super) fn reference_caps(default: Limits) -> Limits {
    let caps = caps(default);
    Limits { output_bytes: caps.output_bytes / FACTOR, ..default.with_fuel(caps.fuel / FACTOR) }
}

/// The limits of an attempt after this outcome of the reference: [`FACTOR`] times its use, and at least the default.
pub(super) fn scale_limits(default: Limits, reference: &Outcome) -> Limits {
    let caps = caps(default);
    let scaled = |used: u64, least: u64, most: u64| used.saturating_mul(FACTOR).clamp(least, most);
    let fuel = scaled(reference.fuel, default.fuel, caps.fuel);
    let output_bytes = scaled(largest_output(reference), default.output_bytes, caps.output_bytes);
    Limits { output_bytes, ..default.with_fuel(fuel) }
}

/// The largest of stdout, stderr, and the values together: one limit applies to each.
fn largest_output(outcome: &Outcome) -> u64 {
    let returned = outcome.calls.iter().map(|call| match call {
        CallResult::Returned(bytes) => bytes.len(),
        CallResult::Raised(_) | CallResult::Unencodable(_) => 0,
    });
    let most = returned.sum::<usize>().max(outcome.stdout.len()).max(outcome.stderr.len());
    u64::try_from(most).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use veriplay_core::Exit;

    use super::*;

    const DEFAULT: Limits = Limits { fuel: 100, memory_bytes: 7, output_bytes: 10, file_bytes: 7, deadline_ns: 1000 };

    fn used(fuel: u64, value: usize, stdout: usize) -> Limits {
        let outcome = Outcome {
            exit: Exit::Returned,
            calls: vec![CallResult::Returned(vec![0; value])],
            error: None,
            stdout: vec![0; stdout],
            stderr: Vec::new(),
            truncated: false,
            fuel,
            peak_memory_bytes: 1,
            callee: None,
            interaction: None,
            exit_code: None,
            fetched: Vec::new(),
        };
        scale_limits(DEFAULT, &outcome)
    }

    #[test]
    fn a_reference_within_a_quarter_of_the_default_changes_nothing() {
        assert_eq!(used(25, 2, 2), DEFAULT);
        assert_eq!(used(0, 0, 0), DEFAULT);
    }

    #[test]
    fn an_attempt_may_use_four_times_what_the_reference_used() {
        assert_eq!(used(26, 3, 0), Limits { fuel: 104, output_bytes: 12, deadline_ns: 2000, ..DEFAULT });
        assert_eq!(used(0, 1, 5), Limits { output_bytes: 20, ..DEFAULT });
    }

    #[test]
    fn the_caps_hold_whatever_the_reference_used() {
        let (most, reference) = (caps(DEFAULT), reference_caps(DEFAULT));
        assert_eq!((most.fuel, most.output_bytes, most.deadline_ns), (1000, 320, 10_000));
        assert_eq!((reference.fuel, reference.output_bytes, reference.deadline_ns), (250, 80, 3000));
        assert_eq!(used(250, 80, 0), most);
        assert_eq!(used(u64::MAX, 2000, 0), most);
    }
}

//! Limits of a task from what its reference needs: EvalPlus' rule, by fuel in place of seconds.
//!
//! A pure function of the reference's outcome and the image's default limits, so a verdict under them can be repeated.

use veriplay_core::{CallResult, Limits, Outcome, Value};

/// An attempt may use this many times what the reference used, as EvalPlus allows four times the ground truth's time.
const FACTOR: u64 = 4;

/// Maximum fuel of an attempt, in times the default of 6 s. EvalPlus ends a task after 60 s.
const MAX_FUEL_FACTOR: u64 = 10;

/// Bytes beside twice what the reference returned, for a wrong answer to be seen as one.
const OUTPUT_SLACK: u64 = 64 << 10;

/// The most fuel that an attempt may be given.
fn most_fuel(default: Limits) -> u64 {
    default.fuel.saturating_mul(MAX_FUEL_FACTOR).min(*Limits::FUEL.end())
}

/// The limits of a reference: an attempt can still get [`FACTOR`] times the fuel that it used. All that it returns is kept in memory, so that it may
/// return half as much again as any other program, and no more.
pub(super) fn reference_caps(default: Limits) -> Limits {
    let output_bytes = default.output_bytes.saturating_add(default.output_bytes / 2);
    Limits { output_bytes, ..default.with_fuel(most_fuel(default) / FACTOR) }
}

/// The limits within which a reference must handle one input alone, where all of them together are too much for [`reference_caps`]: an eighth of a
/// job's, as a few inputs that each take most of them are too much together; where that leaves out too many, all of a job's.
pub(super) fn input_caps(default: Limits) -> [Limits; 2] {
    const SHARE: u64 = 8;
    let output_bytes = default.output_bytes / SHARE;
    [Limits { output_bytes, ..default.with_fuel((default.fuel / SHARE).max(1)) }, default]
}

/// The limits of an attempt after this outcome of the reference: [`FACTOR`] times the fuel, twice the output, at least the default and at most twice
/// the default of output. Twice, because numpy's numbers cost twice what Python's do.
pub(super) fn scale_limits(default: Limits, reference: &Outcome) -> Limits {
    let fuel = reference.fuel.saturating_mul(FACTOR).clamp(default.fuel, most_fuel(default));
    let output = largest_output(reference).saturating_mul(2).saturating_add(OUTPUT_SLACK);
    let output_bytes = output.clamp(default.output_bytes, default.output_bytes.saturating_mul(2));
    Limits { output_bytes, ..default.with_fuel(fuel) }
}

/// The largest of stdout, stderr, and what the values together take of the limit: it applies to each.
fn largest_output(outcome: &Outcome) -> u64 {
    let returned = outcome.calls.iter().map(|call| match call {
        CallResult::Returned(bytes) => Value::output_cost(bytes),
        CallResult::Raised(_) | CallResult::Unencodable(_) => 0,
    });
    returned.sum::<u64>().max(outcome.stdout.len() as u64).max(outcome.stderr.len() as u64)
}

#[cfg(test)]
mod tests {
    use veriplay_core::Exit;

    use super::*;

    const DEFAULT: Limits =
        Limits { fuel: 100, memory_bytes: 7, output_bytes: 1 << 20, file_bytes: 7, deadline_ns: 1000 };

    fn used(fuel: u64, value: usize, stdout: usize) -> Limits {
        let (calls, stdout) = (vec![CallResult::Returned(vec![b'N'; value])], vec![0; stdout]);
        scale_limits(DEFAULT, &Outcome { calls, stdout, fuel, ..Outcome::new(Exit::Returned) })
    }

    #[test]
    fn an_attempt_may_use_four_times_what_the_reference_used_and_no_less_than_the_default() {
        assert_eq!((used(0, 0, 0), used(25, 2, 2)), (DEFAULT, DEFAULT));
        assert_eq!(used(26, 3, 0), Limits { fuel: 104, deadline_ns: 2000, ..DEFAULT });
    }

    #[test]
    fn an_attempt_may_return_twice_what_the_reference_returned() {
        let half = DEFAULT.output_bytes / 2;
        assert_eq!(used(0, 1, half as usize).output_bytes, DEFAULT.output_bytes + OUTPUT_SLACK);
        // Each of these bytes is counted as a value.
        assert_eq!(
            used(0, half as usize / 10 + 1, half as usize).output_bytes,
            DEFAULT.output_bytes + OUTPUT_SLACK + 4
        );
        assert_eq!(used(0, 1, 3 << 19).output_bytes, 2 * DEFAULT.output_bytes);
    }

    #[test]
    fn the_caps_hold_whatever_the_reference_used() {
        let reference = reference_caps(DEFAULT);
        assert_eq!((reference.fuel, reference.output_bytes, reference.deadline_ns), (250, 3 << 19, 3000));
        assert_eq!((used(250, 80, 0).fuel, used(u64::MAX, 80, 0).fuel), (1000, 1000));
        assert_eq!(used(250, 80, 0).deadline_ns, 10_000);
        let [share, whole] = input_caps(DEFAULT);
        assert_eq!((share.fuel, share.output_bytes, whole), (12, 1 << 17, DEFAULT));
    }
}

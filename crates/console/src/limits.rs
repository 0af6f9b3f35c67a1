//! The ranges of options: `--fuel`, `--memory-mib` and how answers are sampled have one syntax, one range and one error in every command.

use std::ops::RangeInclusive;

use clap::builder::RangedU64ValueParser;
use veriplay_core::{LimitOverrides, Limits};

use crate::exit::{ExitCode, Failure};

/// The most that a guest's memory can hold, in MiB: WebAssembly's addresses have 32 bits.
const MOST_MEMORY_MIB: u64 = 4096;

/// The limits of the jobs of a command.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct LimitArguments {
    /// Wasm fuel of each job, about one unit an instruction, such as `1e9` [default: the task's, else the image's]
    #[arg(long, value_name = "N", value_parser = parse_fuel)]
    pub fuel: Option<u64>,
    /// Seconds in place of `--fuel`: 6e10 units each, in every language
    #[arg(long, value_name = "N", value_parser = parse_seconds, conflicts_with = "fuel")]
    pub seconds: Option<u64>,
    /// Linear memory of each job in MiB, the interpreter's own share included
    #[arg(long, value_name = "N", value_parser = parse_mib)]
    pub memory_mib: Option<u64>,
}

impl LimitArguments {
    /// What they set in place of the limits of tasks and of the image.
    pub fn overrides(&self) -> LimitOverrides {
        let memory_bytes = self.memory_mib.map(mib_to_bytes);
        LimitOverrides { fuel: self.fuel.or(self.seconds), memory_bytes, ..LimitOverrides::default() }
    }
}

fn parse_seconds(text: &str) -> Result<u64, String> {
    let seconds: f64 = text.parse().map_err(|_| "give a number of seconds, such as `2.5`".to_owned())?;
    Limits::fuel_of_seconds(seconds)
}

/// Numbers from 1 on.
pub fn at_least_one<T: TryFrom<u64>>() -> RangedU64ValueParser<T> {
    RangedU64ValueParser::new().range(1..)
}

/// Parses `--temperature`.
pub fn parse_temperature(text: &str) -> Result<f32, String> {
    parse_number(text, |value| value >= 0.0 && value.is_finite(), "0 (greedy) or a positive number")
}

/// Parses `--top-p`.
pub fn parse_top_p(text: &str) -> Result<f32, String> {
    parse_number(text, |value| value > 0.0 && value <= 1.0, "a number above 0, and 1 at most")
}

/// Parses `--min-p`.
pub fn parse_min_p(text: &str) -> Result<f32, String> {
    parse_number(text, |value| (0.0..=1.0).contains(&value), "a number from 0 to 1")
}

fn parse_number(text: &str, is_allowed: impl Fn(f32) -> bool, want: &str) -> Result<f32, String> {
    text.parse().ok().filter(|value| is_allowed(*value)).ok_or_else(|| format!("give {want}"))
}

/// Parses `--fuel`, such as `1e9`.
pub fn parse_fuel(text: &str) -> Result<u64, String> {
    let fuel = parse_count(text).filter(|fuel| Limits::FUEL.contains(fuel));
    fuel.ok_or_else(|| format!("give {}, such as `1e9`", Limits::fuel_range()))
}

/// Parses a number of MiB. [`check_memory`] compares it with what the image needs.
pub fn parse_mib(text: &str) -> Result<u64, String> {
    parse_count(text).ok_or_else(|| format!("give a whole number of MiB, at most {MOST_MEMORY_MIB}"))
}

/// A count that may be written with an exponent, such as `1e9` or `2.5e10`.
fn parse_count(text: &str) -> Option<u64> {
    let digits = text.replace('_', "");
    if let Ok(count) = digits.parse() {
        return Some(count);
    }
    let number: f64 = digits.parse().ok()?;
    // Every whole number up to 2^53 is a double of its own.
    let is_exact = number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_992.0;
    is_exact.then_some(number as u64)
}

/// A number of MiB in bytes. No guest has more than [`MOST_MEMORY_MIB`]; the option that asks for more is refused.
pub fn mib_to_bytes(mib: u64) -> u64 {
    mib.min(MOST_MEMORY_MIB) << 20
}

/// Rejects a limit of `option` on memory that no job can have in an image that itself has `least_bytes`: every job would be a host fault.
pub fn check_memory(option: &str, mib: Option<u64>, least_bytes: u64) -> Result<(), Failure> {
    check_range(option, mib, &(least_bytes.div_ceil(1 << 20)..=MOST_MEMORY_MIB))
}

fn check_range(option: &str, value: Option<u64>, range: &RangeInclusive<u64>) -> Result<(), Failure> {
    match value.filter(|value| !range.contains(value)) {
        None => Ok(()),
        Some(value) => {
            let (least, most) = range.clone().into_inner();
            let failure = Failure::message(ExitCode::Usage, format!("`{option} {value}` is out of range"));
            Err(failure.hint(format!("give a number from {least} to {most}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{check_range, mib_to_bytes, parse_count, parse_fuel, parse_mib};

    #[test]
    fn a_count_may_have_an_exponent_and_is_exact() {
        assert_eq!(["0", "1e9", "2.5e3", "1_000"].map(parse_count), [0, 1_000_000_000, 2500, 1000].map(Some));
        assert_eq!(parse_count(&u64::MAX.to_string()), Some(u64::MAX));
        assert_eq!(["", "1.5", "-1", "1e300", "much", "nan", "inf"].map(parse_count), [None; 7]);
    }

    #[test]
    fn whatever_fuel_is_refused_is_told_with_one_range() {
        let fuels = ["1", "1e15", "9007199254740992"].map(parse_fuel);
        assert_eq!(fuels, [1, 1_000_000_000_000_000, 1 << 53].map(Ok));
        let wanted = "give a whole number from 1 to 9007199254740992 (2^53), such as `1e9`";
        for text in ["0", "1e16", "1e30", "9007199254740993", "18446744073709551615", "1.5", "-1", "much"] {
            assert_eq!(parse_fuel(text), Err(wanted.to_owned()), "{text}");
        }
    }

    #[test]
    fn memory_has_the_syntax_of_fuel() {
        assert_eq!(parse_mib("1e3"), Ok(1000));
        assert_eq!([mib_to_bytes(256), mib_to_bytes(u64::MAX)], [256 << 20, 4096 << 20]);
        let wanted = || Err("give a whole number of MiB, at most 4096".to_owned());
        assert_eq!(["1.5", "-1", "much"].map(parse_mib), [wanted(), wanted(), wanted()]);
    }

    #[test]
    fn what_is_out_of_range_is_told_with_the_range() {
        let check = |value| check_range("--memory-mib", value, &(67..=4096));
        assert!([None, Some(67), Some(4096)].into_iter().all(|inside| check(inside).is_ok()));
        for outside in [0, 66, 4097] {
            let failure = check(Some(outside)).expect_err("it is out of range");
            let wanted =
                format!("error: `--memory-mib {outside}` is out of range\nhint: give a number from 67 to 4096");
            assert_eq!((failure.code(), failure.to_string()), (2, wanted), "the code of every option out of range");
        }
    }
}

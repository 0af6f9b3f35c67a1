//! The limits that options set: `--fuel` and `--memory-mib` have one syntax, one range and one error in every command.

use std::ops::RangeInclusive;

use veriplay_sandbox::Image;

use crate::exit::{ExitCode, Failure};

/// The most that a guest's memory can hold, in MiB: WebAssembly's addresses have 32 bits.
const MOST_MEMORY_MIB: u64 = 4096;

/// A count that may be written with an exponent, such as `1e9` or `2.5e10`.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    let digits = text.replace('_', "");
    if let Ok(count) = digits.parse() {
        return Ok(count);
    }
    let number: f64 = digits.parse().map_err(|_| "not a number".to_owned())?;
    // Every whole number below 2^53 is a double of its own.
    let is_exact = number >= 0.0 && number.fract() == 0.0 && number < 9_007_199_254_740_992.0;
    if is_exact { Ok(number as u64) } else { Err("not a whole number from 0 to 2^53".to_owned()) }
}

/// Rejects fuel with which no program begins.
pub(crate) fn check_fuel(fuel: Option<u64>) -> Result<(), Failure> {
    check_range("--fuel", fuel, &(1..=u64::MAX))
}

/// Rejects a limit of `option` on memory that no job in `image` can have: below the image's own memory every job would be a host fault.
pub(crate) fn check_memory(option: &str, mib: Option<u64>, image: &Image) -> Result<(), Failure> {
    check_range(option, mib, &(image.memory_bytes().div_ceil(1 << 20)..=MOST_MEMORY_MIB))
}

fn check_range(option: &str, value: Option<u64>, range: &RangeInclusive<u64>) -> Result<(), Failure> {
    match value.filter(|value| !range.contains(value)) {
        None => Ok(()),
        Some(value) => {
            let what = format!("`{option} {value}` is out of range");
            Err(Failure::message(ExitCode::Input, what).hint(format!(
                "give a number from {} to {}",
                range.start(),
                range.end()
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{check_range, parse_count};

    #[test]
    fn a_count_may_have_an_exponent_and_is_exact() {
        for (text, count) in [("0", 0), ("1e9", 1_000_000_000), ("2.5e3", 2500), ("1_000", 1000)] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        assert_eq!(parse_count(&u64::MAX.to_string()), Ok(u64::MAX));
        for text in ["", "1.5", "-1", "1e300", "much", "nan", "inf"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_out_of_range_is_told_with_the_range() {
        for inside in [None, Some(67), Some(4096)] {
            assert!(check_range("--memory-mib", inside, &(67..=4096)).is_ok(), "{inside:?}");
        }
        for outside in [0, 66, 4097] {
            let failure = check_range("--memory-mib", Some(outside), &(67..=4096)).expect_err("it is out of range");
            let wanted =
                format!("error: `--memory-mib {outside}` is out of range\nhint: give a number from 67 to 4096");
            assert_eq!((failure.code(), failure.to_string()), (3, wanted));
        }
    }
}

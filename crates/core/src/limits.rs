//! Resource limits of a job.

use std::ops::RangeInclusive;

use serde::{Deserialize, Deserializer, Serialize, de};

/// The resources one job may use. There is no `Default`: the caller states the cost, in numbers or with [`Limits::small`] and
/// [`Limits::large`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Wasm fuel, about one unit per instruction. Fuel ends programs, because it is the same on every machine.
    #[serde(deserialize_with = "Limits::deserialize_fuel")]
    pub fuel: u64,
    /// Linear memory in bytes, including the image's own.
    pub memory_bytes: u64,
    /// Bytes of stdout, of stderr and of encoded values. The limit holds for each of the three on its own.
    pub output_bytes: u64,
    /// Bytes the program may keep in files it writes.
    pub file_bytes: u64,
    /// Wall-clock backstop in nanoseconds, far above the time that `fuel` allows. It affects a verdict only when it is hit.
    pub deadline_ns: u64,
}

impl Limits {
    /// The fuel that may be asked for: up to 2^53, which is days of one core, and is exact in every JSON.
    pub const FUEL: RangeInclusive<u64> = 1..=1 << 53;

    /// Checks that a job may be given this much fuel.
    ///
    /// # Errors
    /// The value and [the range](Self::FUEL), in words.
    pub fn check_fuel(fuel: u64) -> Result<(), String> {
        if Self::FUEL.contains(&fuel) {
            return Ok(());
        }
        Err(format!("{fuel} units of fuel are asked for: give {}", Self::fuel_range()))
    }

    /// Reads a field of a record that is fuel: a limit's, or what was used of it. Either may be 0, because a turn of an episode may have no
    /// fuel left.
    ///
    /// # Errors
    /// More than [a job may be given](Self::FUEL): other programs that read JSON would see another number, and sums of it would overflow.
    pub fn deserialize_fuel<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let fuel = u64::deserialize(deserializer)?;
        let most = *Self::FUEL.end();
        if fuel <= most {
            return Ok(fuel);
        }
        Err(de::Error::custom(format!("fuel is `{fuel}`: want a whole number of units, at most {most} (2^53)")))
    }

    /// [The range](Self::FUEL) in words.
    #[must_use]
    pub fn fuel_range() -> String {
        format!("a whole number from {} to {} (2^53)", Self::FUEL.start(), Self::FUEL.end())
    }

    /// For a function of a few lines: 10⁹ units of fuel (about 0.1 s of one core), 256 MiB of memory, 64 KiB of output, 1 MiB of files,
    /// a deadline of 60 s.
    #[must_use]
    pub const fn small() -> Self {
        Self {
            fuel: 1_000_000_000,
            memory_bytes: 256 << 20,
            output_bytes: 64 << 10,
            file_bytes: 1 << 20,
            deadline_ns: 60_000_000_000,
        }
    }

    /// For a task of a public set: 2·10¹⁰ units of fuel (about 2 s of one core), 256 MiB of memory, 1 MiB of output, 16 MiB of files, a
    /// deadline of 180 s.
    #[must_use]
    pub const fn large() -> Self {
        Self {
            fuel: 20_000_000_000,
            memory_bytes: 256 << 20,
            output_bytes: 1 << 20,
            file_bytes: 16 << 20,
            deadline_ns: 180_000_000_000,
        }
    }
}

/// The limit that a job hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// [`Limits::fuel`].
    Fuel,
    /// [`Limits::memory_bytes`].
    MemoryBytes,
    /// [`Limits::output_bytes`].
    OutputBytes,
    /// [`Limits::file_bytes`].
    FileBytes,
    /// [`Limits::deadline_ns`].
    DeadlineNs,
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn fuel_has_one_range_and_a_refusal_names_it_and_the_value() {
        for fuel in [1, 1_000_000_000, 1 << 53] {
            assert_eq!(Limits::check_fuel(fuel), Ok(()));
        }
        for fuel in [0, (1 << 53) + 1, u64::MAX] {
            let why = Limits::check_fuel(fuel).expect_err("it is out of range");
            assert!(why.contains(&fuel.to_string()) && why.contains("from 1 to 9007199254740992"), "{why}");
        }
    }

    #[test]
    fn a_record_with_more_fuel_than_a_job_may_have_is_not_read() {
        let read = |fuel: u64| serde_json::from_value::<Limits>(record(fuel)).map(|limits| limits.fuel);
        for fuel in [0, 1, 1 << 53] {
            assert_eq!(read(fuel).expect("it is in range"), fuel);
        }
        for fuel in [(1 << 53) + 1, u64::MAX] {
            let want = format!("fuel is `{fuel}`: want a whole number of units, at most 9007199254740992 (2^53)");
            assert_eq!(read(fuel).expect_err("it is out of range").to_string(), want);
        }
    }

    fn record(fuel: u64) -> serde_json::Value {
        let limits = Limits { fuel, ..Limits::small() };
        serde_json::to_value(limits).expect("it can be written")
    }
}

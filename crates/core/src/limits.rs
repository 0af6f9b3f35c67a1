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
    /// Bytes of stdout and of encoded values, each on its own. Stderr is cut there, and so is the stdout of a job that is
    /// [called](crate::Entry::Calls).
    pub output_bytes: u64,
    /// Bytes the program may keep in files it writes.
    pub file_bytes: u64,
    /// Wall-clock backstop in nanoseconds, far above the time that `fuel` allows. It affects a verdict only when it is hit.
    pub deadline_ns: u64,
}

impl Limits {
    /// The fuel that may be asked for: up to 2^53, which is days of one core, and is exact in every JSON.
    pub const FUEL: RangeInclusive<u64> = 1..=1 << 53;

    /// The fuel of a second, in every language: for a native one 97 of 100 measured programs in Python need less, and 88 of 100 in C++ (`scripts/native-second`).
    pub const FUEL_PER_SECOND: u64 = 60_000_000_000;

    /// The fuel of a limit in seconds. The error names the value, and the range.
    pub fn fuel_of_seconds(seconds: f64) -> Result<u64, String> {
        // Every whole number up to 2^53 is a double of its own.
        let most = (Self::FUEL.end() / Self::FUEL_PER_SECOND) as f64;
        if seconds > 0.0 && seconds <= most {
            return Ok(((seconds * Self::FUEL_PER_SECOND as f64) as u64).max(*Self::FUEL.start()));
        }
        Err(format!("{seconds} seconds are asked for: give a number above 0, and {most} at most"))
    }

    /// These limits with this much fuel. The deadline is a backstop: it grows as the fuel does.
    #[must_use]
    pub const fn with_fuel(self, fuel: u64) -> Self {
        let most = if self.fuel == 0 { 1 } else { self.fuel };
        let times = if fuel > most { fuel.div_ceil(most) } else { 1 };
        Self { fuel, deadline_ns: self.deadline_ns.saturating_mul(times), ..self }
    }

    /// Checks that a job may be given this much fuel. The error names the value, and [the range](Self::FUEL).
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
    pub fn fuel_range() -> String {
        format!("a whole number from {} to {} (2^53)", Self::FUEL.start(), Self::FUEL.end())
    }

    /// For a function of a few lines: 10⁹ units of fuel (about 0.1 s of one core), 256 MiB of memory, 64 KiB of output, 1 MiB of files,
    /// a deadline of 60 s.
    pub const fn small() -> Self {
        Self {
            fuel: 1_000_000_000,
            memory_bytes: 256 << 20,
            output_bytes: 64 << 10,
            file_bytes: 1 << 20,
            deadline_ns: 60_000_000_000,
        }
    }

    /// For a task of a public set, as the image `python` has it: 6 s ([`Self::FUEL_PER_SECOND`]), 256 MiB of memory, 4 MiB of
    /// output, 16 MiB of files, a deadline of an hour.
    pub const fn large() -> Self {
        Self {
            fuel: 6 * Self::FUEL_PER_SECOND,
            memory_bytes: 256 << 20,
            output_bytes: 4 << 20,
            file_bytes: 16 << 20,
            deadline_ns: 3_600_000_000_000,
        }
    }
}

/// Limits that a task or a request states. Those that it does not state are the defaults of whoever judges.
///
/// In JSON any of the fields may stand alone, and `seconds` ([`Limits::FUEL_PER_SECOND`]) in place of `fuel`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Option<LimitFields>")]
pub struct LimitOverrides {
    /// As [`Limits::fuel`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
    /// As [`Limits::memory_bytes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// As [`Limits::output_bytes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    /// As [`Limits::file_bytes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// As [`Limits::deadline_ns`]. Without it the deadline grows as the fuel does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LimitFields {
    seconds: Option<f64>,
    fuel: Option<u64>,
    memory_bytes: Option<u64>,
    output_bytes: Option<u64>,
    file_bytes: Option<u64>,
    deadline_ns: Option<u64>,
}

impl TryFrom<Option<LimitFields>> for LimitOverrides {
    type Error = String;

    fn try_from(fields: Option<LimitFields>) -> Result<Self, String> {
        let LimitFields { seconds, fuel, memory_bytes, output_bytes, file_bytes, deadline_ns } =
            fields.unwrap_or_default();
        let fuel = Self::fuel_of(fuel, seconds)?;
        fuel.map_or(Ok(()), Limits::check_fuel)?;
        Ok(Self { fuel, memory_bytes, output_bytes, file_bytes, deadline_ns })
    }
}

impl LimitOverrides {
    /// Whether nothing is stated.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The fuel that is stated as such or [in seconds](Limits::fuel_of_seconds), and not in both ways.
    pub fn fuel_of(fuel: Option<u64>, seconds: Option<f64>) -> Result<Option<u64>, String> {
        match (fuel, seconds) {
            (Some(_), Some(_)) => Err("`fuel` and `seconds` state the same limit: give one of them".to_owned()),
            (fuel, None) => Ok(fuel),
            (None, Some(seconds)) => Limits::fuel_of_seconds(seconds).map(Some),
        }
    }

    /// `default`, with what is stated here.
    pub fn apply(&self, default: Limits) -> Limits {
        let limits = self.fuel.map_or(default, |fuel| default.with_fuel(fuel));
        Limits {
            memory_bytes: self.memory_bytes.unwrap_or(limits.memory_bytes),
            output_bytes: self.output_bytes.unwrap_or(limits.output_bytes),
            file_bytes: self.file_bytes.unwrap_or(limits.file_bytes),
            deadline_ns: self.deadline_ns.unwrap_or(limits.deadline_ns),
            ..limits
        }
    }

    /// What is stated here, as `other` states it where it does.
    #[must_use]
    pub fn replaced_by(self, other: Self) -> Self {
        self.merge(other, |own, other| own.and(other.or(own)))
    }

    /// What is stated here, and else what `other` states.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.merge(other, Option::or)
    }

    fn merge(self, other: Self, merge: impl Fn(Option<u64>, Option<u64>) -> Option<u64>) -> Self {
        Self {
            fuel: merge(self.fuel, other.fuel),
            memory_bytes: merge(self.memory_bytes, other.memory_bytes),
            output_bytes: merge(self.output_bytes, other.output_bytes),
            file_bytes: merge(self.file_bytes, other.file_bytes),
            deadline_ns: merge(self.deadline_ns, other.deadline_ns),
        }
    }
}

impl From<Limits> for LimitOverrides {
    fn from(limits: Limits) -> Self {
        let Limits { fuel, memory_bytes, output_bytes, file_bytes, deadline_ns } = limits;
        Self {
            fuel: Some(fuel),
            memory_bytes: Some(memory_bytes),
            output_bytes: Some(output_bytes),
            file_bytes: Some(file_bytes),
            deadline_ns: Some(deadline_ns),
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
    use super::{LimitOverrides, Limits};

    #[test]
    fn any_limit_may_be_stated_alone_and_seconds_are_fuel() {
        let default = Limits::large();
        let stated = |json: &str| serde_json::from_str::<LimitOverrides>(json).expect("it is read").apply(default);
        assert_eq!([stated("{}"), stated("null")], [default; 2]);
        assert_eq!(stated(r#"{"memory_bytes": 7}"#), Limits { memory_bytes: 7, ..default });
        assert_eq!(stated(r#"{"fuel": 5}"#), Limits { fuel: 5, ..default });
        let twice = Limits { fuel: default.fuel * 2, deadline_ns: default.deadline_ns * 2, ..default };
        assert_eq!(stated(r#"{"seconds": 12}"#), twice);
        assert_eq!(stated(r#"{"seconds": 0.5}"#).fuel, Limits::FUEL_PER_SECOND / 2);
        assert_eq!(stated(r#"{"seconds": 12, "deadline_ns": 9}"#), Limits { deadline_ns: 9, ..twice });
        let (own, other) = (LimitOverrides { fuel: Some(1), ..LimitOverrides::default() }, Limits::small().into());
        assert_eq!(own.replaced_by(other), LimitOverrides { fuel: Some(Limits::small().fuel), ..own });
        assert_eq!(own.replaced_by(LimitOverrides::default()), own);
        let all = serde_json::to_string(&LimitOverrides::from(Limits::small())).expect("it is written");
        assert_eq!(stated(&all), Limits::small());
    }

    #[test]
    fn limits_that_make_no_sense_are_refused_with_what_was_found() {
        for (json, why) in [
            (r#"{"fuel": 1, "seconds": 1}"#, "state the same limit"),
            (r#"{"seconds": 0}"#, "0 seconds are asked for"),
            (r#"{"seconds": -1.5}"#, "-1.5 seconds are asked for"),
            (r#"{"seconds": 1e9}"#, "1000000000 seconds are asked for"),
            (r#"{"fuel": 0}"#, "0 units of fuel are asked for: give a whole number from 1 to 9007199254740992 (2^53)"),
            (r#"{"fuel": 18446744073709551615}"#, "18446744073709551615 units of fuel are asked for"),
            (r#"{"time": 1}"#, "unknown field `time`"),
        ] {
            let error = serde_json::from_str::<LimitOverrides>(json).expect_err(json).to_string();
            assert!(error.contains(why), "{json}: {error}");
        }
    }

    /// The fuel of a record that has so much of it.
    fn read(fuel: u64) -> Result<u64, String> {
        let record = serde_json::to_value(Limits { fuel, ..Limits::small() }).expect("it can be written");
        serde_json::from_value::<Limits>(record).map(|limits| limits.fuel).map_err(|error| error.to_string())
    }

    #[test]
    fn a_job_may_have_the_fuel_that_a_record_may_hold_and_no_more() {
        for fuel in [1, 1_000_000_000, 1 << 53] {
            assert_eq!((Limits::check_fuel(fuel), read(fuel)), (Ok(()), Ok(fuel)));
        }
        assert_eq!(read(0), Ok(0), "a turn may have none left");
        for fuel in [(1 << 53) + 1, u64::MAX] {
            assert!(Limits::check_fuel(fuel).is_err());
            let want = format!("fuel is `{fuel}`: want a whole number of units, at most 9007199254740992 (2^53)");
            assert_eq!(read(fuel), Err(want));
        }
    }
}

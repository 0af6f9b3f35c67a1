//! The limits that a row of a public set states: `time_limit` (TACO, CodeContests, `open-r1/codeforces`), `time_limit_ms`, `memory_limit`, and
//! `memory_limit_bytes`. `docs/verifying.md` has the table.

use veriplay_core::{LimitOverrides, Limits, Value};

use super::fields::{FieldError, Fields, shown};

/// Limits above this are a mistake in the unit.
const MOST_SECONDS: f64 = 600.0;
/// The least memory of a job: that of the interpreter here is more than that of a native one.
const LEAST_BYTES: u64 = 128 << 20;
/// The most that 32 bits address.
const MOST_BYTES: u64 = 4 << 30;

const SECOND: &[&str] = &["", "s", "sec", "secs", "second", "seconds"];
const MILLISECOND: &[&str] = &["ms", "msec", "millisecond", "milliseconds"];
const MINUTE: &[&str] = &["min", "mins", "minute", "minutes"];
const MEBIBYTE: &[&str] = &["", "m", "mb", "mib", "mebibyte", "megabyte", "mebibytes", "megabytes"];
const KIBIBYTE: &[&str] = &["k", "kb", "kib", "kibibyte", "kilobyte", "kibibytes", "kilobytes"];
const GIBIBYTE: &[&str] = &["g", "gb", "gib", "gibibyte", "gigabyte", "gibibytes", "gigabytes"];
const BYTE: &[&str] = &["b", "byte", "bytes"];
/// What may stand behind the unit: every limit is one for each test.
const EACH: &[&str] = &[" per test case", " per testcase", " per test"];

/// The limits that a row states.
///
/// # Errors
/// A limit that cannot be read, with its field.
pub(super) fn stated_limits(fields: &Fields) -> Result<LimitOverrides, FieldError> {
    let seconds = match stated_seconds(fields)? {
        Some((name, seconds)) if seconds > MOST_SECONDS => {
            let reason = format!(
                "is {seconds} seconds, and the most is {MOST_SECONDS}; hint: give milliseconds as `time_limit_ms`"
            );
            return Err(fields.fault(name, reason));
        }
        found => found,
    };
    let fuel = match seconds {
        None => None,
        Some((name, seconds)) => Some(Limits::fuel_of_seconds(seconds).map_err(|why| fields.fault(name, why))?),
    };
    let memory_bytes = stated_bytes(fields)?.map(|bytes| bytes.clamp(LEAST_BYTES, MOST_BYTES));
    Ok(LimitOverrides { fuel, memory_bytes, ..LimitOverrides::default() })
}

/// The limit of time in seconds, and its field. One of 0 is none, as `deepmind/code_contests` has it.
fn stated_seconds(fields: &Fields) -> Result<Option<(&'static str, f64)>, FieldError> {
    let units = [(SECOND, 1.0), (MILLISECOND, 1e-3), (MINUTE, 60.0)];
    let seconds = match fields.get("time_limit") {
        Some(Value::Dict(_)) => {
            let time = Fields::inside(&fields.place("time_limit"), fields.json("time_limit")?)?;
            let whole = quantity(&time, "seconds", &units)?.unwrap_or(0.0);
            Some(whole + quantity(&time, "nanos", &[(&[""], 1e-9)])?.unwrap_or(0.0))
        }
        _ => quantity(fields, "time_limit", &units)?,
    };
    if let Some(seconds) = seconds.filter(|seconds| *seconds > 0.0) {
        return Ok(Some(("time_limit", seconds)));
    }
    let seconds = quantity(fields, "time_limit_ms", &[(&[""], 1e-3)])?;
    Ok(seconds.filter(|seconds| *seconds > 0.0).map(|seconds| ("time_limit_ms", seconds)))
}

/// The limit of memory in bytes. One of 0 is none.
fn stated_bytes(fields: &Fields) -> Result<Option<u64>, FieldError> {
    let (kibi, mebi, gibi) = (1024.0, f64::from(1 << 20), f64::from(1 << 30));
    let units = [(MEBIBYTE, mebi), (KIBIBYTE, kibi), (GIBIBYTE, gibi), (BYTE, 1.0)];
    let bytes = match quantity(fields, "memory_limit", &units)? {
        None => quantity(fields, "memory_limit_bytes", &[(&[""], 1.0)])?,
        found => found,
    };
    Ok(bytes.filter(|bytes| *bytes > 0.0).map(|bytes| bytes as u64))
}

/// A number with one of these units: a number, or a text such as `2.0 seconds`.
fn quantity(fields: &Fields, name: &str, units: &[(&[&str], f64)]) -> Result<Option<f64>, FieldError> {
    let Some(found) = fields.get(name) else { return Ok(None) };
    let text = match found {
        Value::Str(text) if matches!(text.trim(), "" | "None" | "null") => return Ok(None),
        Value::Str(text) => text.trim().to_ascii_lowercase(),
        Value::Int(_) | Value::Float(_) => found.to_string(),
        _ => String::new(),
    };
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    let unit = EACH.iter().find_map(|each| unit.strip_suffix(each)).unwrap_or(unit);
    let factor = units.iter().find(|(names, _)| names.contains(&unit.trim())).map(|(_, factor)| factor);
    match (number.parse::<f64>(), factor) {
        (Ok(number), Some(factor)) => Ok(Some(number * factor)),
        _ => {
            let names: Vec<&str> =
                units.iter().filter_map(|(names, _)| names.iter().copied().max_by_key(|name| name.len())).collect();
            let wanted =
                if names == [""] { String::new() } else { format!(", with or without a unit ({})", names.join(", ")) };
            Err(fields.fault(name, format!("expected a number{wanted}; found {}", shown(found))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(row: &str) -> Result<LimitOverrides, FieldError> {
        stated_limits(&Fields::parse(row).expect("it is JSON"))
    }

    #[test]
    fn limits_are_read_as_sets_write_them() {
        let second = Limits::FUEL_PER_SECOND;
        for (row, fuel, memory_bytes) in [
            (r#"{}"#, None, None),
            (r#"{"time_limit": null, "memory_limit": ""}"#, None, None),
            (r#"{"time_limit": 2.0, "memory_limit": 256.0}"#, Some(2 * second), Some(256 << 20)),
            (
                r#"{"time_limit": "2.5 seconds", "memory_limit": "512.0 megabytes"}"#,
                Some(second * 5 / 2),
                Some(512 << 20),
            ),
            (r#"{"time_limit": "1 second", "memory_limit": "1 GB"}"#, Some(second), Some(1 << 30)),
            (r#"{"time_limit": "500ms", "memory_limit": "262144 KB"}"#, Some(second / 2), Some(256 << 20)),
            (r#"{"time_limit": "1 minute", "memory_limit": "256 mebibytes"}"#, Some(60 * second), Some(256 << 20)),
            (
                r#"{"time_limit": "2.0 seconds per test", "memory_limit": "256 megabytes per test"}"#,
                Some(2 * second),
                Some(256 << 20),
            ),
            (r#"{"time_limit_ms": 1500}"#, Some(second * 3 / 2), None),
            (
                r#"{"time_limit": {"seconds": 3, "nanos": 500000000}, "memory_limit_bytes": 268435456}"#,
                Some(second * 7 / 2),
                Some(256 << 20),
            ),
            (r#"{"time_limit": {"seconds": 0, "nanos": 0}, "memory_limit_bytes": 0}"#, None, None),
            (r#"{"memory_limit": 16}"#, None, Some(128 << 20)),
            (r#"{"memory_limit": "64 GB"}"#, None, Some(4 << 30)),
        ] {
            let wanted = LimitOverrides { fuel, memory_bytes, ..LimitOverrides::default() };
            assert_eq!(stated(row), Ok(wanted), "{row}");
        }
    }

    #[test]
    fn a_limit_that_cannot_be_read_is_named() {
        for (row, field, reason) in [
            (
                r#"{"time_limit": "soon"}"#,
                "time_limit",
                "expected a number, with or without a unit (seconds, milliseconds, minutes); found",
            ),
            (r#"{"time_limit": -1}"#, "time_limit", "expected a number"),
            (
                r#"{"time_limit": 2000}"#,
                "time_limit",
                "is 2000 seconds, and the most is 600; hint: give milliseconds as `time_limit_ms`",
            ),
            (r#"{"time_limit": {"seconds": "x"}}"#, "time_limit.seconds", "expected a number"),
            (r#"{"memory_limit": [256]}"#, "memory_limit", "expected a number"),
            (r#"{"memory_limit_bytes": "1 MB"}"#, "memory_limit_bytes", "expected a number; found"),
        ] {
            let error = stated(row).expect_err(row);
            assert!(error.field == field && error.reason.contains(reason), "{row}: {error:?}");
        }
    }
}

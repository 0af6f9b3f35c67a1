//! What a row of any set may say for itself: its judge, in the field `judge`, as a name, a name with options or an object; and its limits, in
//! `time_limit` (TACO, CodeContests, `open-r1/codeforces`), `time_limit_ms`, `memory_limit` and `memory_limit_bytes`. The verifier knows which judges there
//! are. `docs/verifying.md` has the table of limits.

use serde_json::{Map, Number, Value as Json};
use veriplay_core::{
    Checks, Comparison, Language, LimitOverrides, Limits, ProblemRow, SCANNED, ScannedLanguage, Value,
};

use super::fields::{Fields, RowFault, shown};

const JUDGE: &str = "judge";

/// The judge that the row itself names, if it does.
pub(super) fn named_judge(fields: &Fields) -> Result<Option<Comparison>, RowFault> {
    let Some(named) = fields.get(JUDGE) else { return Ok(None) };
    let text = match (named, json(named)) {
        (Value::Str(name), _) => name.clone(),
        (Value::Dict(_), Some(object)) => object.to_string(),
        _ => {
            let reason = format!("expected the name of a judge, or an object with `judge`; found {}", shown(named));
            return Err(fields.fault(JUDGE, reason));
        }
    };
    Comparison::parse(&text).map(Some).map_err(|why| fields.fault(JUDGE, why))
}

/// Takes over the judge that the row itself names.
pub(super) fn choose(row: &mut ProblemRow, named: &Comparison) -> Result<(), RowFault> {
    let Some(own) = row.comparison_mut() else {
        return Err(RowFault::new(JUDGE, "no judge compares outputs of this task; hint: leave it out"));
    };
    own.choose(named);
    own.is_default = false;
    Ok(())
}

const LANGUAGE: &str = "language";

/// The language other than Python that the row names, if there is one of that name. The field may name that of the task's text, too.
pub(super) fn named_language(fields: &Fields) -> Option<&'static ScannedLanguage> {
    if let Some(Value::Str(word)) = fields.get(LANGUAGE) { ScannedLanguage::find(word) } else { None }
}

/// Whether the text of a row names Python.
pub(super) fn names_python(text: &str) -> bool {
    let named = Fields::parse(text).ok().and_then(|fields| fields.text_or_empty(LANGUAGE).map(str::to_owned).ok());
    named.is_some_and(|word| is_python(&word))
}

/// Whether a row calls Python by this word.
pub(super) fn is_python(word: &str) -> bool {
    word.trim().to_ascii_lowercase().starts_with("python")
}

/// Takes over the language of programs that read standard input. They do not get Python's imports.
pub(super) fn write_in(row: &mut ProblemRow, language: &ScannedLanguage) -> Result<(), RowFault> {
    match row {
        ProblemRow::Ready(problem) if problem.language.is_some() => {}
        ProblemRow::Ready(problem) if matches!(problem.checks, Checks::Stdio(_)) => {
            problem.language = Some(language.names()[0].to_owned());
            problem.prelude.clear();
        }
        _ => {
            let named = language.names()[0];
            let reason =
                format!("is `{named}`, and tests that are more than inputs and outputs of scripts are Python's");
            return Err(RowFault::new(LANGUAGE, reason));
        }
    }
    Ok(())
}

/// The language that `field` calls by `word`.
pub(super) fn required_language(
    fields: &Fields,
    field: &str,
    word: &str,
) -> Result<&'static ScannedLanguage, RowFault> {
    ScannedLanguage::find(word).ok_or_else(|| {
        let known: Vec<&str> = SCANNED.iter().map(|language| language.names()[0]).collect();
        fields.fault(field, format!("names the language `{word}`; known are {}", known.join(", ")))
    })
}

fn json(value: &Value) -> Option<Json> {
    match value {
        Value::None => Some(Json::Null),
        Value::Str(text) => Some(Json::from(text.as_str())),
        Value::Int(number) => number.to_string().parse().ok().map(Json::Number),
        Value::Float(number) => Number::from_f64(*number).map(Json::Number),
        Value::Dict(pairs) => {
            let member = |(key, value): &(Value, Value)| match key {
                Value::Str(key) => Some((key.clone(), json(value)?)),
                _ => None,
            };
            pairs.iter().map(member).collect::<Option<Map<_, _>>>().map(Json::Object)
        }
        _ => None,
    }
}

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
pub(super) fn stated_limits(fields: &Fields) -> Result<LimitOverrides, RowFault> {
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
fn stated_seconds(fields: &Fields) -> Result<Option<(&'static str, f64)>, RowFault> {
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
fn stated_bytes(fields: &Fields) -> Result<Option<u64>, RowFault> {
    let (kibi, mebi, gibi) = (1024.0, f64::from(1 << 20), f64::from(1 << 30));
    let units = [(MEBIBYTE, mebi), (KIBIBYTE, kibi), (GIBIBYTE, gibi), (BYTE, 1.0)];
    let bytes = match quantity(fields, "memory_limit", &units)? {
        None => quantity(fields, "memory_limit_bytes", &[(&[""], 1.0)])?,
        found => found,
    };
    Ok(bytes.filter(|bytes| *bytes > 0.0).map(|bytes| bytes as u64))
}

/// A number with one of these units: a number, or a text such as `2.0 seconds`.
fn quantity(fields: &Fields, name: &str, units: &[(&[&str], f64)]) -> Result<Option<f64>, RowFault> {
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

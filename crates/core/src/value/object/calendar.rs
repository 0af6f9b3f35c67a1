//! Dates and times: the valid fields, and the instants they stand for.

use dashu_int::IBig;
use num_traits::ToPrimitive;

use super::{Object, PythonClass};
use crate::Value;

const MICROS_OF_DAY: i64 = 86_400_000_000;
const MAX_DAYS: i64 = 999_999_999;

/// The fields as numbers; `None` unless all are ints from 0 to `highest`.
fn fields<const N: usize>(parts: &[Value], highest: [i64; N]) -> Option<[i64; N]> {
    let mut found = [0; N];
    if parts.len() != N {
        return None;
    }
    for ((part, highest), place) in parts.iter().zip(highest).zip(&mut found) {
        let Value::Int(value) = part else { return None };
        *place = value.to_i64().filter(|value| (0..=highest).contains(value))?;
    }
    Some(found)
}

pub(super) fn is_date(parts: &[Value]) -> bool {
    fields(parts, [9999, 12, 31])
        .is_some_and(|[year, month, day]| year > 0 && month > 0 && day > 0 && day <= days_of_month(year, month))
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

pub(super) fn is_time(parts: &[Value]) -> bool {
    let Some((zone, clock)) = parts.split_last() else { return false };
    let zoned = matches!(zone, Value::None) || zone.class() == Some(PythonClass::TimeZone);
    zoned && fields(clock, [23, 59, 59, 999_999, 1]).is_some()
}

pub(super) fn is_time_delta(parts: &[Value]) -> bool {
    let Some((Value::Int(days), rest)) = parts.split_first() else { return false };
    days.to_i64().is_some_and(|days| days.abs() <= MAX_DAYS) && fields(rest, [86_399, 999_999]).is_some()
}

pub(super) fn is_offset(micros: &IBig) -> bool {
    micros.to_i64().is_some_and(|micros| -MICROS_OF_DAY < micros && micros < MICROS_OF_DAY)
}

/// Days since 1 March of year 0, in the proleptic Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1
}

/// Microseconds of the fields of a time, and the offset of its zone.
fn clock(parts: &[Value]) -> Option<(i64, Option<i64>)> {
    let (zone, clock) = parts.split_last()?;
    let [hour, minute, second, micro, _fold] = fields(clock, [23, 59, 59, 999_999, 1])?;
    let offset = match zone {
        Value::Object(zone) => Some(offset(zone)?),
        _ => None,
    };
    Some((((hour * 60 + minute) * 60 + second) * 1_000_000 + micro, offset))
}

/// The offset of a `timezone`, in microseconds.
pub(in crate::value) fn offset(zone: &Object) -> Option<i64> {
    match zone.state() {
        Value::Int(micros) => micros.to_i64(),
        _ => None,
    }
}

/// What Python compares: whether there is a zone, and the microseconds, in UTC if there is one. The fold does not count.
pub(super) fn instant(object: &Object) -> Option<(bool, i64)> {
    let parts = object.parts();
    match object.class() {
        PythonClass::Date => {
            let [year, month, day] = fields(parts, [9999, 12, 31])?;
            Some((false, days(year, month, day)))
        }
        PythonClass::Time => clock(parts).map(|(micros, offset)| (offset.is_some(), micros - offset.unwrap_or(0))),
        PythonClass::DateTime => {
            let [year, month, day] = fields(&parts[..3], [9999, 12, 31])?;
            let (micros, offset) = clock(&parts[3..])?;
            Some((offset.is_some(), days(year, month, day) * MICROS_OF_DAY + micros - offset.unwrap_or(0)))
        }
        _ => None,
    }
}

/// The state of a `timedelta` of this many microseconds; `None` if it is out of range.
pub(in crate::value) fn time_delta(micros: i128) -> Option<Value> {
    let day = i128::from(MICROS_OF_DAY);
    let (days, rest) = (micros.div_euclid(day), micros.rem_euclid(day));
    (days.abs() <= i128::from(MAX_DAYS))
        .then(|| Value::Tuple(vec![Value::int(days), Value::int(rest / 1_000_000), Value::int(rest % 1_000_000)]))
}

/// Microseconds of a `timedelta`.
pub(in crate::value) fn micros(delta: &Object) -> Option<i128> {
    let [Value::Int(days), rest @ ..] = delta.parts() else { return None };
    let [seconds, micros] = fields(rest, [86_399, 999_999])?;
    Some(i128::from(days.to_i64()?) * i128::from(MICROS_OF_DAY) + i128::from(seconds * 1_000_000 + micros))
}

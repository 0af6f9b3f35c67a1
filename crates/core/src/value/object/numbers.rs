//! Keys for numbers of different types, which are equal exactly when Python calls the numbers equal; and `Decimal`, whose huge exponents are
//! never expanded.
//!
//! The key of an integral number is that int; of another number that a float holds exactly, that float; of another decimal fraction, its
//! digits; and of any other number, a reduced fraction. So `1 == 1.0 == Decimal(1)` and
//! `0.5 == Fraction(1, 2) == Decimal('0.50')` share their keys, and nothing is rounded.

use std::fmt;

use dashu_int::IBig;
use dashu_int::ops::BitTest;
use num_traits::{Signed, ToPrimitive};

use super::super::Value;
use super::{Object, PythonClass, calendar};

pub(in crate::value) fn put_float(out: &mut Vec<u8>, value: f64) {
    out.extend(integral(value).unwrap_or(Value::Float(value)).encode());
}

/// The integer that a float equals, however large. Python compares exactly too.
fn integral(value: f64) -> Option<Value> {
    (value.fract() == 0.0).then(|| IBig::try_from(value).ok().map(Value::Int)).flatten()
}

/// Writes the key of an object without other values, by the `==` of its class.
pub(in crate::value) fn put_object(out: &mut Vec<u8>, object: &Object) {
    match (object.class(), object.state(), object.parts()) {
        (PythonClass::Complex, _, [Value::Float(real), Value::Float(imag)]) => put_complex(out, *real, *imag),
        (PythonClass::Fraction, _, [Value::Int(numerator), Value::Int(denominator)]) => {
            put_fraction(out, numerator, denominator);
        }
        (PythonClass::Decimal, ..) => {
            if let Some(decimal) = object.decimal() {
                decimal.put_key(out);
            }
        }
        (PythonClass::Numpy(_), Value::Tuple(_), [Value::Float(real), Value::Float(imag)]) => {
            put_complex(out, *real, *imag)
        }
        // A `bytearray` equals the bytes, a numpy scalar the number.
        (PythonClass::ByteArray | PythonClass::Numpy(_), state, _) => out.extend(state.python_key()),
        (PythonClass::Range, _, parts) => put_range(out, parts),
        (PythonClass::Date | PythonClass::Time | PythonClass::DateTime, ..) => {
            out.extend(object.class().tag());
            out.extend(calendar::instant(object).map_or([0; 9], |(zoned, micros)| {
                let mut key = [u8::from(zoned); 9];
                key[1..].copy_from_slice(&micros.to_le_bytes());
                key
            }));
        }
        (class, state, _) => {
            out.extend(class.tag());
            out.extend(state.python_key());
        }
    }
}

fn put_complex(out: &mut Vec<u8>, real: f64, imag: f64) {
    if imag != 0.0 {
        out.push(b'c');
        put_float(out, imag);
    }
    put_float(out, real);
}

/// Ranges are equal when their items are: by length, first item and, of two or more, the step.
fn put_range(out: &mut Vec<u8>, parts: &[Value]) {
    let [Value::Int(start), Value::Int(stop), Value::Int(step)] = parts else { return };
    let span = if step.is_positive() { stop - start } else { start - stop };
    let length = if span.is_positive() { (span - 1) / step.abs() + 1 } else { IBig::ZERO };
    out.extend(PythonClass::Range.tag());
    out.extend(Value::Int(length.clone()).encode());
    if length.is_positive() {
        out.extend(Value::Int(start.clone()).encode());
    }
    if length > IBig::ONE {
        out.extend(Value::Int(step.clone()).encode());
    }
}

fn put_fraction(out: &mut Vec<u8>, numerator: &IBig, denominator: &IBig) {
    if denominator.is_one() {
        return out.extend(Value::Int(numerator.clone()).encode());
    }
    let twos = denominator.trailing_zeros().unwrap_or(0);
    let (fives, rest) = without_fives(denominator >> twos);
    if !rest.is_one() {
        out.push(b'/');
        out.extend(Value::Int(numerator.clone()).encode());
        return out.extend(Value::Int(denominator.clone()).encode());
    }
    if let Some(value) = (fives == 0).then(|| dyadic(numerator, twos)).flatten() {
        return put_float(out, value);
    }
    let places = twos.max(fives);
    let scale = IBig::from(10).pow(places);
    let digits = (numerator.abs() * (scale / denominator)).to_string();
    out.extend(decimal_key(numerator.is_negative(), &digits, i64::try_from(places).map_or(i64::MIN, |places| -places)));
}

/// Divides by five as often as possible; returns how often, and the rest. Large steps come first, because a small one costs as much.
fn without_fives(mut value: IBig) -> (usize, IBig) {
    let mut count = 0;
    for fives in [27, 1] {
        let step = IBig::from(5).pow(fives);
        while (&value % &step).is_zero() {
            value /= &step;
            count += fives;
        }
    }
    (count, value)
}

/// `number / 2^places` as a float, when one holds it exactly.
fn dyadic(number: &IBig, places: usize) -> Option<f64> {
    let spare = number.trailing_zeros().unwrap_or(0).min(places);
    let (number, places) = (number >> spare, places - spare);
    let whole = number.to_i64().filter(|_| number.bit_len() <= 53)?;
    let half = i32::try_from(places).ok().filter(|places| *places <= 1074)?;
    // In two steps: a power of two below the least normal one would be rounded.
    Some(whole as f64 * 2_f64.powi(-(half / 2)) * 2_f64.powi(-(half - half / 2)))
}

/// The key of a decimal fraction, or of an integer too long to write out: sign, digits without trailing zeros, exponent.
fn decimal_key(negative: bool, digits: &str, exponent: i64) -> Vec<u8> {
    let mut key = vec![b'D', u8::from(negative)];
    key.extend(Value::str(digits).encode());
    key.extend(exponent.to_le_bytes());
    key
}

/// The largest exponent of CPython's implementation.
const MAX_EXPONENT: i64 = 999_999_999_999_999_999;

/// Digits and trailing zeros of an integral `Decimal` that is compared with ints; a longer one equals only `Decimal`s.
const MAX_DIGITS: usize = 4300;
const MAX_ZEROS: i64 = 400;

/// The most digits and decimal places of a float.
const MAX_FLOAT_DIGITS: usize = 800;
const MAX_FLOAT_PLACES: i64 = 1100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::value) enum Decimal<'a> {
    Finite { negative: bool, digits: &'a str, exponent: i64 },
    Infinite { negative: bool },
    Nan { negative: bool, signalling: bool, payload: &'a str },
}

fn are_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

impl<'a> Decimal<'a> {
    /// Parses a state; `None` if it is not in canonical form.
    pub(super) fn from_state(text: &'a str) -> Option<Self> {
        let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        if let Some(special) = special(negative, rest) {
            return Some(special);
        }
        let (digits, written) = rest.split_once('E')?;
        let plain = !digits.is_empty() && are_digits(digits) && (digits == "0" || !digits.starts_with('0'));
        let exponent: i64 = written.parse().ok()?;
        let sound = plain && exponent.to_string() == written && exponent.abs() <= MAX_EXPONENT;
        sound.then_some(Decimal::Finite { negative, digits, exponent })
    }

    pub(super) const fn is_signalling(&self) -> bool {
        matches!(self, Decimal::Nan { signalling: true, .. })
    }

    /// Writes its key for comparisons of numbers.
    fn put_key(&self, out: &mut Vec<u8>) {
        match *self {
            Decimal::Finite { negative, digits, exponent } => put_finite(out, negative, digits, exponent),
            Decimal::Infinite { negative } => {
                let value = if negative { f64::NEG_INFINITY } else { f64::INFINITY };
                out.extend(Value::Float(value).encode());
            }
            Decimal::Nan { .. } => {
                out.push(b'D');
                out.extend(Value::str(self.to_string()).encode());
            }
        }
    }
}

fn special(negative: bool, rest: &str) -> Option<Decimal<'_>> {
    if rest == "Infinity" {
        return Some(Decimal::Infinite { negative });
    }
    let (signalling, rest) = rest.strip_prefix('s').map_or((false, rest), |rest| (true, rest));
    let payload = rest.strip_prefix("NaN")?;
    (are_digits(payload) && !payload.starts_with('0')).then_some(Decimal::Nan { negative, signalling, payload })
}

fn put_finite(out: &mut Vec<u8>, negative: bool, digits: &str, exponent: i64) {
    let significant = digits.trim_end_matches('0');
    let dropped = i64::try_from(digits.len() - significant.len()).unwrap_or(i64::MAX);
    let exponent = exponent.saturating_add(dropped);
    let signed = |value: IBig| if negative { -value } else { value };
    let number = || signed(significant.parse().unwrap_or_default());
    if significant.is_empty() {
        return out.extend(Value::int(0).encode());
    }
    if (0..=MAX_ZEROS).contains(&exponent) && significant.len() <= MAX_DIGITS {
        let value = number() * IBig::from(10).pow(usize::try_from(exponent).unwrap_or(0));
        return out.extend(Value::Int(value).encode());
    }
    if let Some(value) = as_float(significant, exponent, number) {
        return out.extend(Value::Float(value).encode());
    }
    out.extend(decimal_key(negative, significant, exponent));
}

/// The float that equals this number exactly. It exists only when the digits are a multiple of 5 to the number of places.
fn as_float(significant: &str, exponent: i64, number: impl Fn() -> IBig) -> Option<f64> {
    let places = exponent.checked_neg().filter(|places| (1..=MAX_FLOAT_PLACES).contains(places))?;
    let fits = significant.len() <= MAX_FLOAT_DIGITS && places * 698 <= i64::try_from(significant.len()).ok()? * 1000;
    let places = usize::try_from(places).ok().filter(|_| fits)?;
    let (number, fives) = (number(), IBig::from(5).pow(places));
    let multiple = &number / &fives;
    (&multiple * fives == number).then(|| dyadic(&multiple, places)).flatten()
}

/// The state of `Decimal(text)`, for a text that `str` writes; `None` for other texts.
pub(in crate::value) fn decimal_state(text: &str) -> Option<String> {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    if special(false, rest).is_some() {
        return Some(text.to_owned());
    }
    let (mantissa, exponent) = rest.split_once('E').unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let exponent: i64 = exponent.parse().ok()?;
    let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    let significant = digits.trim_start_matches('0');
    let significant = if significant.is_empty() { "0" } else { significant };
    let state = format!("{sign}{significant}E{exponent}");
    (!digits.is_empty() && Decimal::from_state(&state).is_some()).then_some(state)
}

impl fmt::Display for Decimal<'_> {
    /// Python's `str`: an exponent is written when it is positive or the number is less than 1e-6.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |negative: bool| if negative { "-" } else { "" };
        match *self {
            Decimal::Infinite { negative } => write!(f, "{}Infinity", sign(negative)),
            Decimal::Nan { negative, signalling, payload } => {
                write!(f, "{}{}NaN{payload}", sign(negative), if signalling { "s" } else { "" })
            }
            Decimal::Finite { negative, digits, exponent } => {
                f.write_str(sign(negative))?;
                write_finite(f, digits, exponent)
            }
        }
    }
}

fn write_finite(f: &mut fmt::Formatter<'_>, digits: &str, exponent: i64) -> fmt::Result {
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let left = exponent.saturating_add(length);
    if exponent <= 0 && left > -6 {
        return match usize::try_from(left) {
            Ok(0) | Err(_) => write!(f, "0.{}{digits}", "0".repeat(usize::try_from(-left).unwrap_or(0))),
            Ok(left) if left == digits.len() => f.write_str(digits),
            Ok(left) => write!(f, "{}.{}", &digits[..left], &digits[left..]),
        };
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    write!(f, "{first}{point}{rest}")?;
    if left == 1 { Ok(()) } else { write!(f, "E{:+}", left.saturating_sub(1)) }
}

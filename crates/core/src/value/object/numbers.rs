//! Keys for numbers of different types, which are equal exactly when Python calls the numbers equal.
//!
//! The key of an integral number is that int; of another number that a float holds exactly, that float; of another decimal fraction, its
//! digits; and of any other number, a reduced fraction. So `1 == 1.0 == Decimal(1)` and
//! `0.5 == Fraction(1, 2) == Decimal('0.50')` share their keys, and nothing is rounded.

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
pub(super) fn dyadic(number: &IBig, places: usize) -> Option<f64> {
    let spare = number.trailing_zeros().unwrap_or(0).min(places);
    let (number, places) = (number >> spare, places - spare);
    let whole = number.to_i64().filter(|_| number.bit_len() <= 53)?;
    let half = i32::try_from(places).ok().filter(|places| *places <= 1074)?;
    // In two steps: a power of two below the least normal one would be rounded.
    Some(whole as f64 * 2_f64.powi(-(half / 2)) * 2_f64.powi(-(half - half / 2)))
}

/// The key of a decimal fraction, or of an integer too long to write out: sign, digits without trailing zeros, exponent.
pub(super) fn decimal_key(negative: bool, digits: &str, exponent: i64) -> Vec<u8> {
    let mut key = vec![b'D', u8::from(negative)];
    key.extend(Value::str(digits).encode());
    key.extend(exponent.to_le_bytes());
    key
}

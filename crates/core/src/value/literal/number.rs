//! Number literals: ints in four radixes and floats, underscores where Python allows them, no complex.

use dashu_int::IBig;

use super::super::Value;
use crate::value::repr::MAX_DIGITS;

/// The most digits of an int in a `repr`: older records wrote long ints in decimal. Parsing takes more than linear time.
const MAX_REPR_DIGITS: usize = 20_000;

/// Length of the longest prefix that looks like a number, signs only inside an exponent.
pub(super) fn length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let radix = bytes.len() > 1 && bytes[0] == b'0' && matches!(bytes[1] | 0x20, b'x' | b'o' | b'b');
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let exponent_sign = !radix && at > 0 && matches!(byte, b'+' | b'-') && bytes[at - 1] | 0x20 == b'e';
        if !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'.' || exponent_sign) {
            break;
        }
        at += 1;
    }
    at
}

/// Parses a number; `None` if `text` is not one. A `repr` may have ints with more digits than Python reads.
pub(super) fn parse(text: &str, repr: bool) -> Option<Value> {
    // The common case, without a copy: a text may have half a million numbers.
    let short = (1..19).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if short && (text.len() == 1 || !text.starts_with('0')) {
        return text.parse::<u64>().ok().map(Value::int);
    }
    let lower = text.to_ascii_lowercase();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = lower.strip_prefix(prefix) {
            // `0x_ff` is fine, `0_xff` is not.
            return int(&grouped(digits.strip_prefix('_').unwrap_or(digits))?, radix, usize::MAX);
        }
    }
    match lower.contains(['.', 'e']) {
        true => float(&lower),
        false => decimal(&grouped(&lower)?, if repr { MAX_REPR_DIGITS } else { MAX_DIGITS }),
    }
}

/// As in Python, `012` is invalid, and `0` and `00` are zero.
fn decimal(digits: &str, most: usize) -> Option<Value> {
    let padded = digits.starts_with('0') && digits.contains(|c| c != '0');
    if padded { None } else { int(digits, 10, most) }
}

/// The other radixes are powers of two, so parsing them takes linear time.
fn int(digits: &str, radix: u32, most: usize) -> Option<Value> {
    let short = digits.len() <= most;
    let plain = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    (short && plain).then(|| IBig::from_str_radix(digits, radix).ok().map(Value::Int)).flatten()
}

/// `1.5`, `1.`, `.5`, `1e5`, `1.e-5`: digits somewhere before the exponent, digits in every part that is not empty.
fn float(text: &str) -> Option<Value> {
    let (mantissa, exponent) =
        text.split_once('e').map_or((text, None), |(mantissa, exponent)| (mantissa, Some(exponent)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [grouped_or_empty(whole)?, grouped_or_empty(fraction)?];
    let exponent = match exponent {
        None => "0".to_owned(),
        Some(text) => exponent_digits(text)?,
    };
    let is_digits = |part: &String| part.bytes().all(|b| b.is_ascii_digit());
    if digits.concat().is_empty() || !digits.iter().all(is_digits) {
        return None;
    }
    format!("{}.{}e{exponent}", digits[0], digits[1]).parse().ok().map(Value::Float)
}

fn exponent_digits(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (&text[..1], digits),
        None => ("", text),
    };
    let digits = grouped(digits)?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| format!("{sign}{digits}"))
}

fn grouped_or_empty(text: &str) -> Option<String> {
    if text.is_empty() { Some(String::new()) } else { grouped(text) }
}

/// Digits without their underscores, each of which must stand between two digits.
fn grouped(text: &str) -> Option<String> {
    let misplaced = text.is_empty() || text.starts_with('_') || text.ends_with('_') || text.contains("__");
    (!misplaced).then(|| text.replace('_', ""))
}

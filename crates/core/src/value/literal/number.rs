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
            return int(digits.strip_prefix('_').unwrap_or(digits), radix, usize::MAX);
        }
    }
    if lower.contains(['.', 'e']) {
        return float(&lower);
    }
    // As in Python, `012` is invalid, and `0` and `00` are zero.
    let padded = lower.starts_with('0') && lower.contains(|c| !matches!(c, '0' | '_'));
    if padded { None } else { int(&lower, 10, if repr { MAX_REPR_DIGITS } else { MAX_DIGITS }) }
}

/// An int of at most so many digits. The radixes other than ten are powers of two, so parsing them takes linear time.
fn int(text: &str, radix: u32, most: usize) -> Option<Value> {
    let is_digit = |c: char| c.is_digit(radix);
    let digits = ungrouped(text, is_digit)?;
    let plain = digits.len() <= most && !digits.is_empty() && digits.chars().all(is_digit);
    plain.then(|| IBig::from_str_radix(&digits, radix).ok().map(Value::Int)).flatten()
}

/// `1.5`, `1.`, `.5`, `1e5`, `1.e-5`.
fn float(text: &str) -> Option<Value> {
    let plain = ungrouped(text, |c| c.is_ascii_digit())?;
    // Rust reads the same forms, and names too.
    let has_name = plain.contains(|c: char| c.is_alphabetic() && c != 'e');
    if has_name { None } else { plain.parse().ok().map(Value::Float) }
}

/// The text without its underscores, each of which must stand between two digits.
fn ungrouped(text: &str, is_digit: impl Fn(char) -> bool) -> Option<String> {
    let parts: Vec<&str> = text.split('_').collect();
    let joined = parts.windows(2).all(|pair| pair[0].ends_with(&is_digit) && pair[1].starts_with(&is_digit));
    joined.then(|| parts.concat())
}

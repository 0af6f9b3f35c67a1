//! Numbers as Python's `Decimal(text)` reads them, and whether two are equal. Exact: digits are kept as text.
//!
//! Grammar and limits are those of `decimal` in CPython 3.11 (libmpdec, 64 bits), as observed: underscores anywhere are
//! left out, letters in any case, and a number whose exponent does not fit is no number.

/// Largest exponent of a number written with one digit before the point, and least of one written as an integer.
const MAX_ADJUSTED: i128 = 999_999_999_999_999_999;
const MIN_EXPONENT: i128 = -1_999_999_999_999_999_997;

/// One number.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::judges) enum Decimal {
    /// `digits · 10^exponent`, without zeros at either end of `digits`; zero has none, exponent 0 and no sign.
    Finite { negative: bool, digits: String, exponent: i128 },
    /// Infinity.
    Infinite { negative: bool },
    /// Quiet or signalling, with or without a payload.
    Nan,
}

impl Decimal {
    /// `Decimal(word)` for a word without white space; None where Python raises.
    pub(in crate::judges) fn parse(word: &str) -> Option<Self> {
        let word = word.replace('_', "").to_ascii_lowercase();
        let (negative, unsigned) = match word.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, word.strip_prefix('+').unwrap_or(&word)),
        };
        match unsigned {
            "inf" | "infinity" => Some(Decimal::Infinite { negative }),
            _ if unsigned.starts_with(['n', 's']) => nan(unsigned),
            _ => finite(negative, unsigned),
        }
    }

    /// Python's `==`: NaN equals nothing, not even itself.
    pub(in crate::judges) fn equals(&self, other: &Self) -> bool {
        *self != Decimal::Nan && self == other
    }
}

fn nan(word: &str) -> Option<Decimal> {
    let payload = word.strip_prefix('s').unwrap_or(word).strip_prefix("nan")?;
    payload.bytes().all(|byte| byte.is_ascii_digit()).then_some(Decimal::Nan)
}

fn finite(negative: bool, word: &str) -> Option<Decimal> {
    let (mantissa, exponent) = match word.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)?),
        None => (word, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let exponent = exponent - i128::try_from(fraction.len()).ok()?;
    let significant = digits.trim_start_matches('0');
    fits(significant, exponent).then(|| normal(negative, significant, exponent))
}

/// A sign and digits. Beyond 25 of them no mantissa brings it back into range, and it would not fit the type.
fn exponent_of(text: &str) -> Option<i128> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (plain && digits.trim_start_matches('0').len() <= 25).then(|| text.parse().ok()).flatten()
}

fn fits(significant: &str, exponent: i128) -> bool {
    let digits = i128::try_from(significant.len().max(1)).unwrap_or(i128::MAX);
    exponent >= MIN_EXPONENT && exponent.saturating_add(digits - 1) <= MAX_ADJUSTED
}

fn normal(negative: bool, significant: &str, exponent: i128) -> Decimal {
    let digits = significant.trim_end_matches('0');
    if digits.is_empty() {
        return Decimal::Finite { negative: false, digits: String::new(), exponent: 0 };
    }
    let dropped = i128::try_from(significant.len() - digits.len()).unwrap_or(0);
    Decimal::Finite { negative, digits: digits.to_owned(), exponent: exponent + dropped }
}

//! numpy's scalar types: their codes, and which numbers each holds.

use num_bigint::BigInt;

use crate::Value;

/// A numpy scalar type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumpyType {
    /// `bool_`
    Bool,
    /// `int8`
    Int8,
    /// `int16`
    Int16,
    /// `int32`
    Int32,
    /// `int64`
    Int64,
    /// `uint8`
    UInt8,
    /// `uint16`
    UInt16,
    /// `uint32`
    UInt32,
    /// `uint64`
    UInt64,
    /// `float16`
    Float16,
    /// `float32`
    Float32,
    /// `float64`
    Float64,
    /// `complex64`
    Complex64,
    /// `complex128`
    Complex128,
}

/// What a type holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Int { bits: u32 },
    UInt { bits: u32 },
    Float { bits: u32 },
    Complex { bits: u32 },
}

const TYPES: &[(u8, NumpyType, &str, Kind)] = &[
    (b'?', NumpyType::Bool, "bool", Kind::Bool),
    (b'b', NumpyType::Int8, "int8", Kind::Int { bits: 8 }),
    (b'h', NumpyType::Int16, "int16", Kind::Int { bits: 16 }),
    (b'i', NumpyType::Int32, "int32", Kind::Int { bits: 32 }),
    (b'q', NumpyType::Int64, "int64", Kind::Int { bits: 64 }),
    (b'B', NumpyType::UInt8, "uint8", Kind::UInt { bits: 8 }),
    (b'H', NumpyType::UInt16, "uint16", Kind::UInt { bits: 16 }),
    (b'I', NumpyType::UInt32, "uint32", Kind::UInt { bits: 32 }),
    (b'Q', NumpyType::UInt64, "uint64", Kind::UInt { bits: 64 }),
    (b'e', NumpyType::Float16, "float16", Kind::Float { bits: 16 }),
    (b'f', NumpyType::Float32, "float32", Kind::Float { bits: 32 }),
    (b'd', NumpyType::Float64, "float64", Kind::Float { bits: 64 }),
    (b'F', NumpyType::Complex64, "complex64", Kind::Complex { bits: 32 }),
    (b'D', NumpyType::Complex128, "complex128", Kind::Complex { bits: 64 }),
];

impl NumpyType {
    fn row(self) -> (u8, &'static str, Kind) {
        let row = TYPES.iter().find(|(_, known, ..)| *known == self);
        row.map_or((b'?', "bool", Kind::Bool), |(code, _, name, kind)| (*code, *name, *kind))
    }

    /// Its name in numpy.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The character of its dtype.
    #[must_use]
    pub fn code(self) -> u8 {
        self.row().0
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        TYPES.iter().find(|(known, ..)| *known == code).map(|(_, numpy, ..)| *numpy)
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        TYPES.iter().find(|(_, _, known, _)| *known == name).map(|(_, numpy, ..)| *numpy)
    }

    /// Whether it holds that number, exactly.
    pub(super) fn holds(self, state: &Value) -> bool {
        match (self.row().2, state) {
            (Kind::Bool, Value::Bool(_)) => true,
            (Kind::Int { bits }, Value::Int(value)) => {
                let highest = BigInt::from(1_u8) << (bits - 1);
                -&highest <= *value && *value < highest
            }
            (Kind::UInt { bits }, Value::Int(value)) => BigInt::ZERO <= *value && *value < BigInt::from(1_u8) << bits,
            (Kind::Float { bits }, Value::Float(value)) => is_exact(*value, bits),
            (Kind::Complex { bits }, Value::Tuple(parts)) => match parts[..] {
                [Value::Float(real), Value::Float(imag)] => is_exact(real, bits) && is_exact(imag, bits),
                _ => false,
            },
            _ => false,
        }
    }

    /// The nearest number that it holds: its shortest digits are read as a float first.
    pub(super) fn rounded(self, value: f64) -> f64 {
        match self.row().2 {
            Kind::Float { bits } | Kind::Complex { bits } => nearest(value, bits),
            _ => value,
        }
    }

    /// Whether it holds complex numbers.
    pub(super) fn is_complex(self) -> bool {
        matches!(self.row().2, Kind::Complex { .. })
    }

    /// Whether it holds floats.
    pub(super) fn is_float(self) -> bool {
        matches!(self.row().2, Kind::Float { .. })
    }
}

fn is_exact(value: f64, bits: u32) -> bool {
    value.is_nan() || nearest(value, bits).to_bits() == value.to_bits()
}

fn nearest(value: f64, bits: u32) -> f64 {
    match bits {
        16 => nearest_half(value),
        32 => f64::from(value as f32),
        _ => value,
    }
}

/// Eleven bits of precision, multiples of 2^-24, infinite from 65520 on.
fn nearest_half(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let unit = 2_f64.powi(exponent.max(-14) - 10);
    let rounded = (value / unit).round_ties_even() * unit;
    if rounded.abs() >= 65_536.0 { f64::INFINITY.copysign(value) } else { rounded }
}

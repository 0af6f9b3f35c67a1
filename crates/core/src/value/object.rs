//! Values of known classes beyond the literal ones: `complex`, `Counter`, `Decimal`, `datetime`, numpy scalars and others.
//!
//! An [`Object`] is a [`PythonClass`] and a state, which is a value of the literal types. [`Object::new`] is the only way to make
//! one and checks the state, so that each object has one state and thus one encoding. This table is the whole list:
//!
//! | code | class | state |
//! |---|---|---|
//! | `c` | `complex` | `(real, imag)`, floats |
//! | `r` | `range` | `(start, stop, step)`, ints of at most 2048 bits, step not 0 |
//! | `a` | `bytearray` | its bytes |
//! | `C` | `collections.Counter` | a dict |
//! | `D` | `collections.defaultdict` | `(factory, dict)`; factory is None or the name of a built-in type |
//! | `O` | `collections.OrderedDict` | a dict in the object's order |
//! | `q` | `collections.deque` | `(items, maxlen)`: a list, and an int or None |
//! | `x` | `decimal.Decimal` | a str: `-?digitsEexponent`, `-?Infinity`, `-?NaN…`, `-?sNaN…`, digits without leading zeros |
//! | `/` | `fractions.Fraction` | `(numerator, denominator)`, ints of at most 2048 bits as the object holds them, denominator positive |
//! | `y` | `datetime.date` | `(year, month, day)` |
//! | `h` | `datetime.time` | `(hour, minute, second, microsecond, fold, tzinfo)`; tzinfo is None or a `timezone` |
//! | `t` | `datetime.datetime` | the three of a date, then the six of a time |
//! | `e` | `datetime.timedelta` | `(days, seconds, microseconds)`, as Python normalises them |
//! | `z` | `datetime.timezone` without a name | the offset in microseconds, less than a day |
//!
//! A numpy scalar is a class of its own for each dtype; its state is a bool, int, float, or `(real, imag)` that the dtype
//! holds exactly, and its code is the dtype's character.

pub(super) mod calendar;
pub(super) mod numbers;

use dashu_int::IBig;
use dashu_int::ops::BitTest;
use num_traits::{Signed, ToPrimitive};

use super::Value;

/// The most bits of a part of a `Fraction` or `range`: comparing larger ones takes time that costs no fuel.
const MAX_PART_BITS: usize = 2048;

/// The built-in types that may be the factory of a `defaultdict`.
pub(super) const FACTORIES: &[&str] = &[
    "bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "object", "set", "str",
    "tuple",
];

/// The class of an [`Object`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PythonClass {
    /// `complex`
    Complex,
    /// `range`
    Range,
    /// `bytearray`
    ByteArray,
    /// `collections.Counter`
    Counter,
    /// `collections.defaultdict`
    DefaultDict,
    /// `collections.OrderedDict`
    OrderedDict,
    /// `collections.deque`
    Deque,
    /// `decimal.Decimal`
    Decimal,
    /// `fractions.Fraction`
    Fraction,
    /// `datetime.date`
    Date,
    /// `datetime.time`
    Time,
    /// `datetime.datetime`
    DateTime,
    /// `datetime.timedelta`
    TimeDelta,
    /// `datetime.timezone`
    TimeZone,
    /// A numpy scalar
    Numpy(NumpyType),
}

/// The classes that are not numpy's: the code, and the name as `repr` writes it.
const CLASSES: &[(u8, PythonClass, &str)] = &[
    (b'c', PythonClass::Complex, "complex"),
    (b'r', PythonClass::Range, "range"),
    (b'a', PythonClass::ByteArray, "bytearray"),
    (b'C', PythonClass::Counter, "Counter"),
    (b'D', PythonClass::DefaultDict, "defaultdict"),
    (b'O', PythonClass::OrderedDict, "OrderedDict"),
    (b'q', PythonClass::Deque, "deque"),
    (b'x', PythonClass::Decimal, "Decimal"),
    (b'/', PythonClass::Fraction, "Fraction"),
    (b'y', PythonClass::Date, "datetime.date"),
    (b'h', PythonClass::Time, "datetime.time"),
    (b't', PythonClass::DateTime, "datetime.datetime"),
    (b'e', PythonClass::TimeDelta, "datetime.timedelta"),
    (b'z', PythonClass::TimeZone, "datetime.timezone"),
];

impl PythonClass {
    /// The Python name of the class, without its module.
    pub fn name(self) -> &'static str {
        let name = self.call_name();
        name.rsplit_once('.').map_or(name, |(_, name)| name)
    }

    /// The name before the bracket of the call that `repr` writes; numpy's without `np.`.
    pub(super) fn call_name(self) -> &'static str {
        match self {
            PythonClass::Numpy(numpy) => numpy.name,
            _ => CLASSES.iter().find(|(_, class, _)| *class == self).map_or("object", |(_, _, name)| name),
        }
    }

    /// The class of a call that `repr` writes. A complex number is written without one.
    pub(super) fn from_call(name: &str) -> Option<Self> {
        if let Some(name) = name.strip_prefix("np.") {
            return NumpyType::from_name(name).map(PythonClass::Numpy);
        }
        let found = CLASSES.iter().find(|(_, _, known)| *known == name).map(|(_, class, _)| *class);
        found.filter(|class| *class != PythonClass::Complex)
    }

    /// Tag and code of the encoding.
    pub(super) fn tag(self) -> [u8; 2] {
        match self {
            PythonClass::Numpy(numpy) => [b'n', numpy.code],
            _ => [b'o', CLASSES.iter().find(|(_, class, _)| *class == self).map_or(0, |(code, _, _)| *code)],
        }
    }

    /// The class with this tag and code.
    pub(super) fn from_tag(tag: u8, code: u8) -> Option<Self> {
        match tag {
            b'n' => NumpyType::ALL.into_iter().find(|numpy| numpy.code == code).map(PythonClass::Numpy),
            _ => CLASSES.iter().find(|(known, _, _)| *known == code).map(|(_, class, _)| *class),
        }
    }

    const fn is_hashable(self) -> bool {
        !matches!(
            self,
            PythonClass::ByteArray
                | PythonClass::Counter
                | PythonClass::DefaultDict
                | PythonClass::OrderedDict
                | PythonClass::Deque
        )
    }

    /// Checks that `state` is a canonical state of this class.
    fn check(self, state: &Value) -> Result<(), &'static str> {
        let sound = match (self, state) {
            (PythonClass::Complex, Value::Tuple(parts)) => matches!(parts[..], [Value::Float(_), Value::Float(_)]),
            (PythonClass::Range, Value::Tuple(parts)) => is_range(parts),
            (PythonClass::ByteArray, Value::Bytes(_))
            | (PythonClass::Counter | PythonClass::OrderedDict, Value::Dict(_)) => true,
            (PythonClass::DefaultDict, Value::Tuple(parts)) => is_default_dict(parts),
            (PythonClass::Deque, Value::Tuple(parts)) => is_deque(parts),
            (PythonClass::Decimal, Value::Str(text)) => numbers::Decimal::from_state(text).is_some(),
            (PythonClass::Fraction, Value::Tuple(parts)) => is_fraction(parts),
            (PythonClass::Date, Value::Tuple(parts)) => calendar::is_date(parts),
            (PythonClass::Time, Value::Tuple(parts)) => calendar::is_time(parts),
            (PythonClass::DateTime, Value::Tuple(parts)) => {
                parts.len() == 9 && calendar::is_date(&parts[..3]) && calendar::is_time(&parts[3..])
            }
            (PythonClass::TimeDelta, Value::Tuple(parts)) => calendar::is_time_delta(parts),
            (PythonClass::TimeZone, Value::Int(offset)) => calendar::is_offset(offset),
            (PythonClass::Numpy(numpy), state) => numpy.holds(state),
            _ => false,
        };
        if sound { Ok(()) } else { Err("an object whose state its class does not have") }
    }
}

/// A value of one of the known classes.
#[derive(Debug, Clone)]
pub struct Object {
    class: PythonClass,
    state: Value,
}

impl Object {
    /// The object of that class and state. Each object has one state: another form of it is an error.
    pub fn new(class: PythonClass, state: Value) -> Result<Self, &'static str> {
        class.check(&state)?;
        Ok(Self { class, state })
    }

    /// Its class.
    pub const fn class(&self) -> PythonClass {
        self.class
    }

    /// Its state: see the table of `value/object.rs`.
    pub const fn state(&self) -> &Value {
        &self.state
    }

    pub(super) fn is_hashable(&self) -> bool {
        let signalling = || self.decimal().is_some_and(|decimal| decimal.is_signalling());
        self.class.is_hashable() && !signalling()
    }

    /// The parts of a state that is a tuple.
    pub fn parts(&self) -> &[Value] {
        match &self.state {
            Value::Tuple(parts) => parts,
            _ => &[],
        }
    }

    /// The pairs of a dict of any kind.
    pub fn pairs(&self) -> Option<&[(Value, Value)]> {
        match (self.class, &self.state, self.parts()) {
            (PythonClass::Counter | PythonClass::OrderedDict, Value::Dict(pairs), _) => Some(pairs),
            (PythonClass::DefaultDict, _, [_, Value::Dict(pairs)]) => Some(pairs),
            _ => None,
        }
    }

    /// The items of a `deque`.
    pub fn items(&self) -> Option<&[Value]> {
        match (self.class, self.parts()) {
            (PythonClass::Deque, [Value::List(items), _]) => Some(items),
            _ => None,
        }
    }

    pub(super) fn decimal(&self) -> Option<numbers::Decimal<'_>> {
        match (self.class, &self.state) {
            (PythonClass::Decimal, Value::Str(text)) => numbers::Decimal::from_state(text),
            _ => None,
        }
    }
}

impl PartialEq for Object {
    /// Exact: an `OrderedDict`'s order counts.
    fn eq(&self, other: &Self) -> bool {
        match (self.class, self.pairs(), other.pairs()) {
            (PythonClass::OrderedDict, Some(a), Some(b)) => self.class == other.class && a == b,
            _ => self.class == other.class && self.state == other.state,
        }
    }
}

impl Eq for Object {}

impl Value {
    /// Whether there is anything in it that is of no literal type.
    #[must_use]
    pub fn has_object(&self) -> bool {
        match self {
            Value::Object(_) => true,
            Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => {
                items.iter().any(Self::has_object)
            }
            Value::Dict(pairs) => pairs.iter().any(|(key, value)| key.has_object() || value.has_object()),
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) | Value::Bytes(_) => false,
        }
    }

    /// The object of that class and state, as [`Object::new`] makes it.
    pub fn object(class: PythonClass, state: Value) -> Result<Self, &'static str> {
        Object::new(class, state).map(|object| Value::Object(Box::new(object)))
    }

    /// A `complex`.
    pub fn complex(real: f64, imag: f64) -> Self {
        let state = Value::Tuple(vec![Value::Float(real), Value::Float(imag)]);
        Value::object(PythonClass::Complex, state).expect("two floats are a complex number")
    }

    /// The class of an object; None for the literal types.
    pub fn class(&self) -> Option<PythonClass> {
        match self {
            Value::Object(object) => Some(object.class),
            _ => None,
        }
    }
}

/// An int that is small enough to compute with.
fn is_part(value: &Value) -> Option<&IBig> {
    match value {
        Value::Int(value) if value.bit_len() <= MAX_PART_BITS => Some(value),
        _ => None,
    }
}

fn is_range(parts: &[Value]) -> bool {
    let [start, stop, step] = parts else { return false };
    is_part(start).is_some() && is_part(stop).is_some() && is_part(step).is_some_and(|step| !step.is_zero())
}

fn is_default_dict(parts: &[Value]) -> bool {
    match parts {
        [Value::None, Value::Dict(_)] => true,
        [Value::Str(factory), Value::Dict(_)] => FACTORIES.contains(&factory.as_str()),
        _ => false,
    }
}

fn is_deque(parts: &[Value]) -> bool {
    match parts {
        [Value::List(_), Value::None] => true,
        [Value::List(items), Value::Int(most)] => most.to_usize().is_some_and(|most| items.len() <= most),
        _ => false,
    }
}

fn is_fraction(parts: &[Value]) -> bool {
    let [numerator, denominator] = parts else { return false };
    is_part(numerator).is_some() && is_part(denominator).is_some_and(Signed::is_positive)
}

/// A numpy scalar type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NumpyType {
    /// The character of its dtype.
    code: u8,
    pub(super) name: &'static str,
    kind: NumpyKind,
}

/// The kind of number that a numpy scalar type holds, and its bits; those of a complex number are those of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum NumpyKind {
    Bool,
    Int(u32),
    UInt(u32),
    Float(u32),
    Complex(u32),
}

impl NumpyType {
    /// `numpy.float64`, which Python takes for a `float`.
    pub const FLOAT64: Self = Self::new(b'd', "float64", NumpyKind::Float(64));

    const ALL: [Self; 14] = [
        Self::new(b'?', "bool", NumpyKind::Bool),
        Self::new(b'b', "int8", NumpyKind::Int(8)),
        Self::new(b'h', "int16", NumpyKind::Int(16)),
        Self::new(b'i', "int32", NumpyKind::Int(32)),
        Self::new(b'q', "int64", NumpyKind::Int(64)),
        Self::new(b'B', "uint8", NumpyKind::UInt(8)),
        Self::new(b'H', "uint16", NumpyKind::UInt(16)),
        Self::new(b'I', "uint32", NumpyKind::UInt(32)),
        Self::new(b'Q', "uint64", NumpyKind::UInt(64)),
        Self::new(b'e', "float16", NumpyKind::Float(16)),
        Self::new(b'f', "float32", NumpyKind::Float(32)),
        Self::FLOAT64,
        Self::new(b'F', "complex64", NumpyKind::Complex(32)),
        Self::new(b'D', "complex128", NumpyKind::Complex(64)),
    ];

    const fn new(code: u8, name: &'static str, kind: NumpyKind) -> Self {
        Self { code, name, kind }
    }

    /// The type that numpy calls so, such as `int8`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|numpy| numpy.name == name)
    }

    /// Whether it holds this number exactly.
    fn holds(self, state: &Value) -> bool {
        match (self.kind, state) {
            (NumpyKind::Bool, Value::Bool(_)) => true,
            (NumpyKind::Int(bits), Value::Int(value)) => {
                let highest = IBig::ONE << (bits as usize - 1);
                -&highest <= *value && *value < highest
            }
            (NumpyKind::UInt(bits), Value::Int(value)) => IBig::ZERO <= *value && *value < IBig::ONE << bits as usize,
            (NumpyKind::Float(bits), Value::Float(value)) => is_exact(*value, bits),
            (NumpyKind::Complex(bits), Value::Tuple(parts)) => match parts[..] {
                [Value::Float(real), Value::Float(imag)] => is_exact(real, bits) && is_exact(imag, bits),
                _ => false,
            },
            _ => false,
        }
    }

    /// The nearest number that the type holds.
    pub(super) fn rounded(self, value: f64) -> f64 {
        match self.kind {
            NumpyKind::Float(bits) | NumpyKind::Complex(bits) => nearest(value, bits),
            _ => value,
        }
    }

    pub(super) fn is_complex(self) -> bool {
        matches!(self.kind, NumpyKind::Complex(_))
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self.kind, NumpyKind::Float(_))
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

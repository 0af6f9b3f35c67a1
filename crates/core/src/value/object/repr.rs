//! `repr` of objects, as Python and numpy write it.

use std::fmt::{self, Display, Formatter, Write};

use super::super::repr::{float_repr, write_items, write_pairs};
use super::{NumpyType, Object, PythonClass, calendar};
use crate::Value;

impl Display for Object {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.class, &self.state, self.parts()) {
            (PythonClass::Complex, _, [Value::Float(real), Value::Float(imag)]) => {
                f.write_str(&complex(*real, *imag, float_repr))
            }
            (PythonClass::Range, _, [start, stop, Value::Int(step)]) if *step == 1.into() => {
                write!(f, "range({start}, {stop})")
            }
            (PythonClass::Range | PythonClass::Fraction | PythonClass::Date, _, parts) => {
                f.write_str(if self.class == PythonClass::Date { "datetime.date" } else { self.class.name() })?;
                write_items(f, "(", parts, ")")
            }
            (PythonClass::Counter | PythonClass::OrderedDict, Value::Dict(pairs), _) => {
                write!(f, "{}(", self.class.name())?;
                if !pairs.is_empty() {
                    write_pairs(f, pairs)?;
                }
                f.write_char(')')
            }
            (PythonClass::DefaultDict, _, [factory, Value::Dict(pairs)]) => write_default_dict(f, factory, pairs),
            (PythonClass::Deque, _, [Value::List(items), most]) => write_deque(f, items, most),
            (PythonClass::Time | PythonClass::DateTime, _, parts) => write_time(f, self.class, parts),
            (PythonClass::TimeDelta, _, parts) => write_time_delta(f, parts),
            (PythonClass::TimeZone, ..) => write_time_zone(f, self),
            (PythonClass::Numpy(numpy), state, parts) => write_numpy(f, numpy, state, parts),
            (PythonClass::Decimal, ..) => match self.decimal() {
                Some(decimal) => write!(f, "Decimal('{decimal}')"),
                None => Err(fmt::Error),
            },
            (class, state, _) => {
                write!(f, "{}(", class.name())?;
                state.fmt(f)?;
                f.write_char(')')
            }
        }
    }
}

/// A float without the `.0` that `repr` of a complex number leaves off.
fn part(value: f64, write: impl Fn(f64) -> String) -> String {
    let text = write(value);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn complex(real: f64, imag: f64, write: impl Fn(f64) -> String + Copy) -> String {
    let imag = part(imag, write);
    if real == 0.0 && real.is_sign_positive() {
        return format!("{imag}j");
    }
    let plus = if imag.starts_with('-') { "" } else { "+" };
    format!("({}{plus}{imag}j)", part(real, write))
}

fn write_default_dict(f: &mut Formatter<'_>, factory: &Value, pairs: &[(Value, Value)]) -> fmt::Result {
    match factory {
        Value::Str(name) => write!(f, "defaultdict(<class '{name}'>, ")?,
        _ => f.write_str("defaultdict(None, ")?,
    }
    write_pairs(f, pairs)?;
    f.write_char(')')
}

fn write_deque(f: &mut Formatter<'_>, items: &[Value], most: &Value) -> fmt::Result {
    write_items(f, "deque([", items, "]")?;
    match most {
        Value::Int(most) => write!(f, ", maxlen={most})"),
        _ => f.write_char(')'),
    }
}

/// Seconds and microseconds are written when one of them or the second is not zero.
fn write_time(f: &mut Formatter<'_>, class: PythonClass, parts: &[Value]) -> fmt::Result {
    let [fields @ .., fold, zone] = parts else { return Err(fmt::Error) };
    let is_zero = |value: &Value| *value == Value::int(0);
    let spare = fields.iter().rev().take(2).take_while(|field| is_zero(field)).count();
    write!(f, "datetime.{}", class.name())?;
    write_items(f, "(", &fields[..fields.len() - spare], "")?;
    if !is_zero(fold) {
        write!(f, ", fold={fold}")?;
    }
    if *zone != Value::None {
        write!(f, ", tzinfo={zone}")?;
    }
    f.write_char(')')
}

fn write_time_delta(f: &mut Formatter<'_>, parts: &[Value]) -> fmt::Result {
    let named = ["days", "seconds", "microseconds"].iter().zip(parts).filter(|(_, part)| **part != Value::int(0));
    let texts: Vec<String> = named.map(|(name, part)| format!("{name}={part}")).collect();
    write!(f, "datetime.timedelta({})", if texts.is_empty() { "0".to_owned() } else { texts.join(", ") })
}

fn write_time_zone(f: &mut Formatter<'_>, zone: &Object) -> fmt::Result {
    match calendar::offset(zone).ok_or(fmt::Error)? {
        0 => f.write_str("datetime.timezone.utc"),
        micros => {
            f.write_str("datetime.timezone(")?;
            match calendar::time_delta(i128::from(micros)) {
                Some(Value::Tuple(parts)) => write_time_delta(f, &parts)?,
                _ => return Err(fmt::Error),
            }
            f.write_char(')')
        }
    }
}

fn write_numpy(f: &mut Formatter<'_>, numpy: NumpyType, state: &Value, parts: &[Value]) -> fmt::Result {
    let write = |value| shortest(numpy, value);
    match (state, parts) {
        (Value::Bool(true), _) => f.write_str("np.True_"),
        (Value::Bool(false), _) => f.write_str("np.False_"),
        (Value::Float(value), _) => write!(f, "np.{}({})", numpy.name(), write(*value)),
        (_, [Value::Float(real), Value::Float(imag)]) => {
            let text = complex(*real, *imag, write);
            write!(f, "np.{}({})", numpy.name(), text.trim_start_matches('(').trim_end_matches(')'))
        }
        _ => write!(f, "np.{}({state})", numpy.name()),
    }
}

/// The fewest digits that the type reads back as this number.
fn shortest(numpy: NumpyType, value: f64) -> String {
    if !value.is_finite() {
        return float_repr(value);
    }
    let read = |digits: usize| format!("{value:.digits$e}").parse().unwrap_or(value);
    let short = (0..17).map(read).find(|short: &f64| numpy.rounded(*short) == value);
    float_repr(short.unwrap_or(value))
}

//! Makes objects of the calls that `repr` writes: `Counter({'a': 1})`, `Decimal('1.5')`, `np.float64(0.5)`.

use dashu_int::IBig;

use crate::value::Value;
use crate::value::object::numbers::decimal_state;
use crate::value::object::{FACTORIES, NumpyType, Object, PythonClass, calendar};

/// The positional and the keyword arguments of a call.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) plain: Vec<Value>,
    pub(super) named: Vec<(String, Value)>,
}

impl Arguments {
    /// Takes the argument of that name, once.
    fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.named.iter().position(|(known, _)| known == name)?;
        Some(self.named.remove(at).1)
    }
}

/// The object that `repr` writes as this name alone.
pub(super) fn constant(name: &str) -> Option<Value> {
    let object = |class, state| Value::object(class, state).ok();
    match name {
        "np.True_" => object(PythonClass::Numpy(NumpyType::from_name("bool")?), Value::Bool(true)),
        "np.False_" => object(PythonClass::Numpy(NumpyType::from_name("bool")?), Value::Bool(false)),
        "datetime.timezone.utc" => object(PythonClass::TimeZone, Value::int(0)),
        _ => None,
    }
}

/// The object of `name(arguments)`; `None` if `repr` never writes such a call.
pub(super) fn object(name: &str, mut arguments: Arguments) -> Option<Value> {
    let class = PythonClass::from_call(name)?;
    let plain = std::mem::take(&mut arguments.plain);
    let state = match class {
        PythonClass::Range => range(plain),
        PythonClass::Fraction | PythonClass::Date => Value::Tuple(plain),
        PythonClass::Counter | PythonClass::OrderedDict if plain.is_empty() => Value::Dict(Vec::new()),
        // The factory is parsed as the name of its class.
        PythonClass::DefaultDict if plain.len() == 2 => Value::Tuple(plain),
        PythonClass::DefaultDict => return None,
        PythonClass::Deque => {
            let most = arguments.take("maxlen").unwrap_or(Value::None);
            Value::Tuple(vec![only(plain)?, most])
        }
        PythonClass::Time => time(plain, &mut arguments, 2, 4)?,
        PythonClass::DateTime => time(plain, &mut arguments, 5, 7)?,
        PythonClass::TimeDelta => time_delta(&plain, &mut arguments)?,
        PythonClass::TimeZone => time_zone(&only(plain)?)?,
        PythonClass::Decimal => match only(plain)? {
            Value::Str(text) => Value::Str(decimal_state(&text)?),
            _ => return None,
        },
        PythonClass::Numpy(numpy) => number(numpy, only(plain)?),
        PythonClass::Counter | PythonClass::OrderedDict | PythonClass::ByteArray | PythonClass::Complex => only(plain)?,
    };
    if arguments.named.is_empty() { Value::object(class, state).ok() } else { None }
}

fn only(plain: Vec<Value>) -> Option<Value> {
    <[Value; 1]>::try_from(plain).ok().map(|[value]| value)
}

fn range(mut plain: Vec<Value>) -> Value {
    if plain.len() == 2 {
        plain.push(Value::int(1));
    }
    Value::Tuple(plain)
}

/// Fields that were left out are zero; `least` of them are always written.
fn time(mut fields: Vec<Value>, arguments: &mut Arguments, least: usize, most: usize) -> Option<Value> {
    if !(least..=most).contains(&fields.len()) {
        return None;
    }
    fields.resize(most, Value::int(0));
    fields.push(arguments.take("fold").unwrap_or(Value::int(0)));
    fields.push(arguments.take("tzinfo").unwrap_or(Value::None));
    Some(Value::Tuple(fields))
}

fn time_delta(plain: &[Value], arguments: &mut Arguments) -> Option<Value> {
    let mut named = |name| arguments.take(name).unwrap_or(Value::int(0));
    let is_written = plain.is_empty() || plain == [Value::int(0)];
    is_written.then(|| Value::Tuple(vec![named("days"), named("seconds"), named("microseconds")]))
}

fn time_zone(delta: &Value) -> Option<Value> {
    let Value::Object(delta) = delta else { return None };
    calendar::micros(delta).map(|micros| Value::Int(IBig::from(micros)))
}

/// Rounds a float or complex number, written with numpy's shortest digits, to the type.
fn number(numpy: NumpyType, value: Value) -> Value {
    match value {
        Value::Float(value) if numpy.is_float() => Value::Float(numpy.rounded(value)),
        Value::Object(object) if numpy.is_complex() => complex(numpy, &object),
        other => other,
    }
}

fn complex(numpy: NumpyType, object: &Object) -> Value {
    let rounded = |part: &Value| match part {
        Value::Float(value) => Value::Float(numpy.rounded(*value)),
        other => other.clone(),
    };
    Value::Tuple(object.parts().iter().map(rounded).collect())
}

/// The factory of a `defaultdict`, from the name in `<class '…'>`.
pub(super) fn factory(name: &str) -> Option<Value> {
    FACTORIES.contains(&name).then(|| Value::str(name))
}

/// A complex number at the start of `text`, as `repr` writes it, and its length: `(1+2j)`, `2j`, and with `bare` also
/// `1+2j`, as numpy has it.
pub(super) fn complex_at(text: &str, bare: bool) -> Option<(Value, usize)> {
    let open = text.starts_with('(');
    let inner = text.strip_prefix('(').unwrap_or(text);
    let first = part_length(inner)?;
    if let Some(imag) = inner[..first].strip_suffix('j') {
        return (!open).then(|| Some((Value::complex(0.0, part(imag)?), first))).flatten();
    }
    let rest = inner[first..].strip_prefix('+').unwrap_or(&inner[first..]);
    if !(open || bare) || !inner[first..].starts_with(['+', '-']) {
        return None;
    }
    let second = part_length(rest)?;
    let value = Value::complex(part(&inner[..first])?, part(rest[..second].strip_suffix('j')?)?);
    let end = text.len() - rest.len() + second;
    match open {
        true => text[end..].starts_with(')').then_some((value, end + 1)),
        false => Some((value, end)),
    }
}

/// Length of a sign and a number.
fn part_length(text: &str) -> Option<usize> {
    let sign = usize::from(text.starts_with('-'));
    let length = super::number::length(&text[sign..]);
    (length > 0).then_some(sign + length)
}

fn part(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let plain = matches!(unsigned, "inf" | "nan") || unsigned.starts_with(|c: char| c.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complex_number_is_read_where_it_stands_and_no_further() {
        let length = |text, bare| complex_at(text, bare).map(|(_, length)| length);
        for (text, found) in [("(1+2j)", 6), ("2j, 3", 2), ("(-0-2j)]", 7), ("-infj", 5), ("(nan+infj)", 10)] {
            assert_eq!(length(text, false), Some(found), "{text}");
        }
        for text in ["1+2j", "(2j)", "(1)", "(1+2)", "(1+2j", "1", "j", "-j", "(", "", "(1+j)", "1e+j"] {
            assert_eq!(length(text, false), None, "{text}");
        }
        assert_eq!(length("1e+16-2j)", true), Some(8));
    }
}

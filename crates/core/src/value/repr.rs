//! Python's `repr` of plain values, as Python and numpy write it, whole or as an excerpt. Both take time linear in the written text, because the values are a guest's and
//! printing them costs no fuel.

use std::fmt::{self, Display, Formatter, Write};

use dashu_int::IBig;
use dashu_int::ops::BitTest;

use super::Value;
use super::object::{NumpyType, Object, PythonClass, calendar};

/// The most decimal digits of an int in text, as in Python.
pub(super) const MAX_DIGITS: usize = 4300;
/// Bits of the least number that has more than [`MAX_DIGITS`] decimal digits: 10^4300.
const MAX_DECIMAL_BITS: usize = 14_285;

impl Value {
    /// The first `chars` characters of the text that `Display` writes, followed by `…` if there are more. The rest is not computed.
    pub fn excerpt(&self, chars: usize) -> String {
        let mut excerpt = Excerpt { text: String::new(), left: chars };
        match write!(excerpt, "{self}") {
            Ok(()) => excerpt.text,
            Err(fmt::Error) => excerpt.text + "…",
        }
    }
}

/// Accepts `left` characters and then returns an error, which ends the writer.
struct Excerpt {
    text: String,
    left: usize,
}

impl Write for Excerpt {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = text.char_indices().nth(self.left).map_or(text.len(), |(at, _)| at);
        self.text.push_str(&text[..end]);
        if end < text.len() {
            return Err(fmt::Error);
        }
        self.left -= text.chars().count();
        Ok(())
    }
}

impl Display for Value {
    /// Writes Python's `repr` of the value, but an int with more decimal digits than Python writes in hexadecimal. With `{:#}` it writes a
    /// literal that Python reads back: an infinity as a number that overflows, as in `ast.unparse`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::None => f.write_str("None"),
            Value::Bool(true) => f.write_str("True"),
            Value::Bool(false) => f.write_str("False"),
            Value::Int(value) => write_int(f, value),
            Value::Float(value) if value.is_infinite() && f.alternate() => {
                f.write_str(if *value > 0.0 { "1e309" } else { "-1e309" })
            }
            Value::Float(value) => f.write_str(&float_repr(*value)),
            Value::Str(text) => write_quoted(f, text.chars(), is_printable),
            Value::Bytes(bytes) => {
                f.write_char('b')?;
                write_quoted(f, bytes.iter().map(|byte| char::from(*byte)), |_| false)
            }
            Value::List(items) => write_items(f, "[", items, "]"),
            Value::Tuple(items) if items.len() == 1 => write_items(f, "(", items, ",)"),
            Value::Tuple(items) => write_items(f, "(", items, ")"),
            Value::Set(items) if items.is_empty() => f.write_str("set()"),
            Value::Set(items) => write_items(f, "{", items, "}"),
            Value::FrozenSet(items) if items.is_empty() => f.write_str("frozenset()"),
            Value::FrozenSet(items) => write_items(f, "frozenset({", items, "})"),
            Value::Dict(pairs) => write_pairs(f, pairs),
            Value::Object(object) => object.fmt(f),
        }
    }
}

/// Conversion to decimal takes more than linear time, so the size is checked first.
fn write_int(f: &mut Formatter<'_>, value: &IBig) -> fmt::Result {
    if value.bit_len() > MAX_DECIMAL_BITS {
        return write!(f, "{value:#x}");
    }
    let decimal = value.to_string();
    if decimal.trim_start_matches('-').len() > MAX_DIGITS { write!(f, "{value:#x}") } else { f.write_str(&decimal) }
}

fn write_items(f: &mut Formatter<'_>, open: &str, items: &[Value], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    f.write_str(close)
}

fn write_pairs(f: &mut Formatter<'_>, pairs: &[(Value, Value)]) -> fmt::Result {
    f.write_char('{')?;
    for (index, (key, value)) in pairs.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        key.fmt(f)?;
        f.write_str(": ")?;
        value.fmt(f)?;
    }
    f.write_char('}')
}

/// Writes text in quotes. Characters beyond ASCII are escaped unless they are `plain`.
fn write_quoted(
    f: &mut Formatter<'_>,
    mut chars: impl Iterator<Item = char> + Clone,
    plain: fn(char) -> bool,
) -> fmt::Result {
    let has = |quote| chars.clone().any(|c| c == quote);
    let quote = if has('\'') && !has('"') { '"' } else { '\'' };
    f.write_char(quote)?;
    chars.try_for_each(|c| write_char(f, c, quote, plain))?;
    f.write_char(quote)
}

fn write_char(f: &mut Formatter<'_>, c: char, quote: char, plain: fn(char) -> bool) -> fmt::Result {
    match c {
        '\n' => f.write_str("\\n"),
        '\r' => f.write_str("\\r"),
        '\t' => f.write_str("\\t"),
        '\\' => f.write_str("\\\\"),
        _ if c == quote => write!(f, "\\{c}"),
        ' '..='~' => f.write_char(c),
        _ if plain(c) => f.write_char(c),
        _ => match u32::from(c) {
            code @ 0..=0xff => write!(f, "\\x{code:02x}"),
            code @ 0x100..=0xffff => write!(f, "\\u{code:04x}"),
            code => write!(f, "\\U{code:08x}"),
        },
    }
}

/// Close to `str.isprintable`: characters that Rust does not escape, and no spaces except the ASCII one. Either form reads back the same.
fn is_printable(c: char) -> bool {
    c > '\u{a0}' && c != '\u{ad}' && !c.is_whitespace() && c.escape_debug().count() == 1
}

/// `repr` of a float: the shortest digits that read back, in positional form for exponents −4 to 15.
fn float_repr(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("`{:e}` writes an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` writes an integer exponent");
    if value == 0.0 || (-4..16).contains(&exponent) {
        let text = format!("{value}");
        return if text.contains('.') { text } else { text + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

impl Display for Object {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.class(), self.state(), self.parts()) {
            (PythonClass::Complex, _, [Value::Float(real), Value::Float(imag)]) => {
                f.write_str(&complex(*real, *imag, float_repr))
            }
            (PythonClass::Range, _, [start, stop, Value::Int(step)]) if *step == 1.into() => {
                write!(f, "range({start}, {stop})")
            }
            (PythonClass::Range | PythonClass::Fraction | PythonClass::Date, _, parts) => {
                f.write_str(self.class().call_name())?;
                write_items(f, "(", parts, ")")
            }
            (PythonClass::Counter | PythonClass::OrderedDict, Value::Dict(pairs), _) => {
                write!(f, "{}(", self.class().name())?;
                if !pairs.is_empty() {
                    write_pairs(f, pairs)?;
                }
                f.write_char(')')
            }
            (PythonClass::DefaultDict, _, [factory, Value::Dict(pairs)]) => write_default_dict(f, factory, pairs),
            (PythonClass::Deque, _, [Value::List(items), most]) => write_deque(f, items, most),
            (PythonClass::Time | PythonClass::DateTime, _, parts) => write_time(f, self.class(), parts),
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
    f.write_str(class.call_name())?;
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
        (Value::Float(value), _) => write!(f, "np.{}({})", numpy.name, write(*value)),
        (_, [Value::Float(real), Value::Float(imag)]) => {
            let text = complex(*real, *imag, write);
            write!(f, "np.{}({})", numpy.name, text.trim_start_matches('(').trim_end_matches(')'))
        }
        _ => write!(f, "np.{}({state})", numpy.name),
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

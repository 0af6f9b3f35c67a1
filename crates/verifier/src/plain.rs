//! What judges, checkers and verification functions may see of a program: plain values.
//!
//! # What it decides
//! A value of the literal types (`None`, `bool`, `int`, `float`, `str`, `bytes`, `list`, `tuple`, `set`, `frozenset`, `dict`) is plain as it is:
//! it reached the host as bytes, and its type is exact. A numpy scalar becomes the Python number that it holds, bit for bit. Any other
//! object is let through only where the expected value has its class at the same place; elsewhere the value is refused, and the class is
//! named. Items of one container are one place, and so are its keys and its values: `[Fraction(1, 2)]` lets fractions be items of lists, and
//! nowhere else.
//!
//! # Why
//! Code that compares trusts what values do. A `defaultdict` or a `Counter` has every key that it is asked for, `numpy.float16("inf")` equals
//! every large number, `numpy.uint8` wraps around, and a `range` has members that nobody wrote down. A checker that was written for a dict, a
//! number or a list accepts them for what they are not. Where a reference returns such an object, the checker was written for it.

use std::borrow::Cow;

use veriplay_core::{PythonClass, Value};

/// An object in the place of a plain value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnexpectedObject {
    /// The name of its class.
    class: &'static str,
    /// The path to it in the value, such as `[2]`; empty for the value itself.
    path: String,
}

impl std::fmt::Display for UnexpectedObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { class, path } = self;
        write!(f, "an object of class `{class}`")?;
        if path.is_empty() { Ok(()) } else { write!(f, " at `{path}`") }
    }
}

impl UnexpectedObject {
    /// The same object, inside a container that has it under `step`.
    fn inside(self, step: &str) -> Self {
        /// Longer paths say no more.
        const MOST: usize = 60;
        let path = if self.path.len() > MOST { self.path } else { format!("{step}{}", self.path) };
        Self { path, ..self }
    }
}

/// `value` with Python's numbers for numpy's.
///
/// # Errors
/// Any other object in it.
pub(crate) fn plain(value: &Value) -> Result<Cow<'_, Value>, UnexpectedObject> {
    if value.has_object() { NOWHERE.plain(value).map(Cow::Owned) } else { Ok(Cow::Borrowed(value)) }
}

/// The expected and the actual value as code that compares them may see them.
///
/// # Errors
/// An object in the actual one, of a class that the expected one does not have there.
pub(crate) fn plain_pair<'a>(
    expected: &'a Value,
    actual: &'a Value,
) -> Result<(Cow<'a, Value>, Cow<'a, Value>), UnexpectedObject> {
    if !expected.has_object() {
        return Ok((Cow::Borrowed(expected), plain(actual)?));
    }
    let mut place = Place::default();
    place.add(expected);
    Ok((Cow::Owned(place.plain(expected)?), Cow::Owned(place.plain(actual)?)))
}

/// A place where no object is expected.
static NOWHERE: Place = Place { classes: Vec::new(), items: None, keys: None, values: None };

/// The classes of objects that are expected at a place, and inside the containers there.
#[derive(Debug, Default)]
struct Place {
    classes: Vec<PythonClass>,
    items: Option<Box<Place>>,
    keys: Option<Box<Place>>,
    values: Option<Box<Place>>,
}

impl Place {
    /// Adds the classes of an expected value that stands here.
    fn add(&mut self, expected: &Value) {
        match expected {
            Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => {
                self.add_items(items);
            }
            Value::Dict(pairs) => self.add_pairs(pairs),
            Value::Object(object) => {
                let class = plain_number(expected).map_or(Some(object.class()), |number| number.class());
                self.classes.extend(class.filter(|class| !self.classes.contains(class)));
                object.items().into_iter().for_each(|items| self.add_items(items));
                object.pairs().into_iter().for_each(|pairs| self.add_pairs(pairs));
            }
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) | Value::Bytes(_) => {}
        }
    }

    fn add_items(&mut self, items: &[Value]) {
        let place = self.items.get_or_insert_default();
        items.iter().for_each(|item| place.add(item));
    }

    fn add_pairs(&mut self, pairs: &[(Value, Value)]) {
        let (keys, values) = (self.keys.get_or_insert_default(), self.values.get_or_insert_default());
        for (key, value) in pairs {
            keys.add(key);
            values.add(value);
        }
    }

    /// `value`, which stands here, with Python's numbers for numpy's.
    fn plain(&self, value: &Value) -> Result<Value, UnexpectedObject> {
        Ok(match value {
            Value::List(items) => Value::List(self.plain_items(items)?),
            Value::Tuple(items) => Value::Tuple(self.plain_items(items)?),
            Value::Set(items) => Value::set_of(self.plain_items(items)?, false),
            Value::FrozenSet(items) => Value::set_of(self.plain_items(items)?, true),
            Value::Dict(pairs) => Value::Dict(self.plain_pairs(pairs)?),
            Value::Object(_) => self.plain_object(value)?,
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) | Value::Bytes(_) => {
                value.clone()
            }
        })
    }

    fn plain_items(&self, items: &[Value]) -> Result<Vec<Value>, UnexpectedObject> {
        let place = self.items.as_deref().unwrap_or(&NOWHERE);
        let plain = |(at, item)| place.plain(item).map_err(|object| object.inside(&format!("[{at}]")));
        items.iter().enumerate().map(plain).collect()
    }

    fn plain_pairs(&self, pairs: &[(Value, Value)]) -> Result<Vec<(Value, Value)>, UnexpectedObject> {
        let (keys, values) = (self.keys.as_deref().unwrap_or(&NOWHERE), self.values.as_deref().unwrap_or(&NOWHERE));
        let plain = |(key, value): &(Value, Value)| {
            let plain_key = keys.plain(key).map_err(|object| object.inside(".keys()"))?;
            let plain_value =
                values.plain(value).map_err(|object| object.inside(&format!("[{}]", key.excerpt(SHOWN))))?;
            Ok((plain_key, plain_value))
        };
        pairs.iter().map(plain).collect()
    }

    fn plain_object(&self, value: &Value) -> Result<Value, UnexpectedObject> {
        let number = plain_number(value);
        let found = number.as_ref().unwrap_or(value);
        let Value::Object(object) = found else { return Ok(found.clone()) };
        if !self.classes.contains(&object.class()) {
            return Err(UnexpectedObject { class: value.type_name(), path: String::new() });
        }
        let state = match (object.class(), object.items(), object.pairs(), object.parts()) {
            (_, Some(items), _, [_, length]) => {
                Value::Tuple(vec![Value::List(self.plain_items(items)?), length.clone()])
            }
            (PythonClass::DefaultDict, _, Some(pairs), [factory, _]) => {
                Value::Tuple(vec![factory.clone(), Value::Dict(self.plain_pairs(pairs)?)])
            }
            (_, _, Some(pairs), _) => Value::Dict(self.plain_pairs(pairs)?),
            // A number, a date or the like, whose parts are as its class has them.
            _ => return Ok(found.clone()),
        };
        Ok(Value::object(object.class(), state).expect("numbers for numbers leave a state of the class"))
    }
}

/// Characters shown of a key.
const SHOWN: usize = 20;

/// The Python number that a numpy scalar holds. `None` for anything else.
fn plain_number(value: &Value) -> Option<Value> {
    let Value::Object(object) = value else { return None };
    match (object.class(), object.state(), object.parts()) {
        (PythonClass::Numpy(_), _, [Value::Float(real), Value::Float(imag)]) => Some(Value::complex(*real, *imag)),
        (PythonClass::Numpy(_), number, _) => Some(number.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::texts;

    fn value(text: &str) -> Value {
        Value::parse_repr(text).unwrap()
    }

    #[test]
    fn a_number_of_numpy_is_the_number_that_it_holds() {
        for (numpy, python) in [
            ("np.int64(3)", "3"),
            ("np.uint8(200)", "200"),
            ("np.True_", "True"),
            ("np.float64(0.1)", "0.1"),
            ("np.float16(inf)", "inf"),
            ("[np.int64(1), {np.int64(2): np.float64(nan)}]", "[1, {2: nan}]"),
            ("(np.int64(1), {np.int64(2)})", "(1, {2})"),
        ] {
            let (numpy, python) = (value(numpy), value(python));
            assert_eq!(plain(&numpy).unwrap().as_ref(), &python, "{numpy}");
            for (expected, actual) in [(&python, &numpy), (&numpy, &python)] {
                let (expected, actual) = plain_pair(expected, actual).unwrap();
                assert_eq!((expected.as_ref(), actual.as_ref()), (&python, &python), "{numpy}");
            }
        }
        // 0.1 of 32 bits is another number.
        assert_ne!(plain(&value("np.float32(0.1)")).unwrap().as_ref(), &value("0.1"));
        let (i, of_numpy) = (value("1j"), value("np.complex128(1j)"));
        assert_eq!(plain_pair(&i, &of_numpy).unwrap().1.as_ref(), &i);
        assert!(plain(&of_numpy).unwrap_err().to_string().contains("complex128"));
    }

    #[test]
    fn an_object_is_plain_where_the_expected_value_has_its_class() {
        for [expected, actual, refused] in texts(include_str!("../tests/main/cases/plain_values.txt")) {
            let (expected, actual) = (value(&expected), value(&actual));
            match plain_pair(&expected, &actual) {
                Ok(_) => assert_eq!(refused, "", "{actual} for {expected}"),
                Err(object) => {
                    let text = object.to_string();
                    assert!(!refused.is_empty() && text.ends_with(&refused), "{text}: {actual} for {expected}");
                }
            }
        }
    }
}

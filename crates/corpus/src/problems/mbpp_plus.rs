//! What MBPP+'s arguments are in Python: JSON has no tuples, sets and complex numbers, so EvalPlus rebuilds them task by task.
//!
//! The table says which tasks; the rule of each is EvalPlus' `mbpp_deserialize_inputs` (release v0.2.0), in our words.

use veriplay_core::{PythonClass, Value};

/// Bytes of a text that becomes a tuple of its letters. In the published file the longest has some hundred.
const MOST_LETTERS: usize = 100_000;

/// Task ids of MBPP+ start so.
pub(super) const PREFIX: &str = "Mbpp/";

type Converted = Result<Value, String>;

/// What becomes of an argument, by its index.
type Conversion = fn(usize, Value) -> Converted;

/// What is done to the arguments of these tasks, and how many there must be.
const RULES: &[(Conversion, usize, &[u32])] = &[
    // Every argument becomes a tuple; so do the items of every argument; or both.
    (
        |_, argument| tuple(argument),
        0,
        &[2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809],
    ),
    (|_, argument| items(argument, tuple), 0, &[63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780]),
    (|_, argument| tuple(items(argument, tuple)?), 0, &[259, 401, 445]),
    // The second argument alone becomes one; the first alone; its items; the values of the first, a dict.
    (|at, argument| if at == 1 { tuple(argument) } else { Ok(argument) }, 2, &[106, 750]),
    (|at, argument| first(at, argument, tuple), 1, &[250, 307, 405, 446, 617, 720, 763, 808]),
    (|at, argument| first(at, argument, |list| items(list, tuple)), 1, &[75, 413, 444, 753]),
    (|at, argument| first(at, argument, values_to_tuples), 1, &[722]),
    // The first becomes a tuple, and those of its items that are lists too; or every list at any depth.
    (|at, argument| first(at, argument, |list| tuple(items(list, list_to_tuple)?)), 1, &[278]),
    (|_, argument| Ok(deep(argument)), 0, &[580, 615, 791]),
    // The items of the first become sets, an empty one a dict.
    (|at, argument| first(at, argument, |list| items(list, set_or_dict)), 1, &[115]),
    // The first becomes a complex number; or a float, and the second a complex number.
    (|at, argument| first(at, argument, complex), 1, &[252]),
    (float_and_complex, 2, &[124]),
];

/// The arguments that `json` stands for in the task `task_id`. Those of other sets are what they are.
pub(super) fn arguments(task_id: &str, json: Vec<Value>) -> Result<Vec<Value>, String> {
    let number = task_id.strip_prefix(PREFIX).and_then(|number| number.parse().ok());
    let rule = RULES.iter().find(|(_, _, tasks)| number.is_some_and(|number| tasks.contains(&number)));
    let Some((convert, fewest, _)) = rule else { return Ok(json) };
    let converted = json.into_iter().enumerate().map(|(at, argument)| convert(at, argument));
    let converted: Vec<Value> = converted.collect::<Result<_, _>>()?;
    if converted.len() < *fewest { Err(format!("has no argument {}", fewest - 1)) } else { Ok(converted) }
}

fn float_and_complex(at: usize, argument: Value) -> Converted {
    match at {
        0 => float(argument),
        1 => complex(argument),
        _ => Ok(argument),
    }
}

fn first(at: usize, argument: Value, convert: impl FnOnce(Value) -> Converted) -> Converted {
    if at == 0 { convert(argument) } else { Ok(argument) }
}

fn items(value: Value, how: impl FnMut(Value) -> Converted) -> Converted {
    match value {
        Value::List(items) => Ok(Value::List(items.into_iter().map(how).collect::<Result<_, _>>()?)),
        other => Err(format!("expected a list, found {}", other.type_name())),
    }
}

/// Python's `tuple(…)` of what JSON can hold.
fn tuple(value: Value) -> Converted {
    match value {
        Value::List(items) => Ok(Value::Tuple(items)),
        Value::Str(text) if text.len() > MOST_LETTERS => {
            Err(format!("a text of {} bytes is to become a tuple of letters; the most is {MOST_LETTERS}", text.len()))
        }
        Value::Str(text) => Ok(Value::Tuple(text.chars().map(Value::str).collect())),
        other => Err(format!("expected a list to make a tuple of, found {}", other.type_name())),
    }
}

/// Python's `complex(…)` of a number, or of the text of one.
fn complex(value: Value) -> Converted {
    match number(&value) {
        Some(number) if number.class() == Some(PythonClass::Complex) => Ok(number),
        Some(Value::Float(real)) => Ok(Value::complex(real, 0.0)),
        _ => Err(format!("expected a complex number, found {value}")),
    }
}

/// Python's `float(…)` of a number, or of the text of one.
fn float(value: Value) -> Converted {
    let found = number(&value).filter(|number| matches!(number, Value::Float(_)));
    found.ok_or_else(|| format!("expected a float, found {value}"))
}

/// A float or complex number; an int becomes a float.
fn number(value: &Value) -> Option<Value> {
    let written = match value {
        Value::Str(text) => Value::parse_repr(text).ok()?,
        other => other.clone(),
    };
    match written {
        Value::Int(whole) => whole.to_string().parse().ok().map(Value::Float),
        other => Some(other),
    }
}

fn list_to_tuple(value: Value) -> Converted {
    if matches!(value, Value::List(_)) { tuple(value) } else { Ok(value) }
}

fn values_to_tuples(value: Value) -> Converted {
    match value {
        Value::Dict(pairs) => {
            let pairs = pairs.into_iter().map(|(key, value)| Ok((key, tuple(value)?)));
            Ok(Value::Dict(pairs.collect::<Result<_, String>>()?))
        }
        other => Err(format!("expected an object, found {}", other.type_name())),
    }
}

fn deep(value: Value) -> Value {
    match value {
        Value::List(items) => Value::Tuple(items.into_iter().map(deep).collect()),
        other => other,
    }
}

fn set_or_dict(value: Value) -> Converted {
    match value {
        Value::List(items) if items.is_empty() => Ok(Value::Dict(Vec::new())),
        Value::List(items) if items.iter().all(Value::is_hashable) => Ok(Value::set_of(items, false)),
        Value::List(_) => Err("a set cannot hold lists".to_owned()),
        _ => Ok(Value::Dict(Vec::new())),
    }
}

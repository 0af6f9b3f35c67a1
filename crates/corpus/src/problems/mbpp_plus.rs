//! What MBPP+'s arguments are in Python: JSON has no tuples, sets and complex numbers, so EvalPlus rebuilds them task by task.
//!
//! The table says which tasks; the rule of each is EvalPlus' `mbpp_deserialize_inputs` (release v0.2.0), in our words.

use veriplay_core::{PythonClass, Value};

/// Bytes of a text that becomes a tuple of its letters. In the published file the longest has some hundred.
const MOST_LETTERS: usize = 100_000;

/// Task ids of MBPP+ start so.
pub(super) const PREFIX: &str = "Mbpp/";

/// What is done to the argument list of a task.
#[derive(Clone, Copy)]
enum ConversionRule {
    /// The argument with this index becomes a tuple.
    One(usize),
    /// Every argument becomes a tuple.
    Each,
    /// The items of the argument with this index become tuples.
    ItemsOfOne(usize),
    /// The items of every argument become tuples.
    ItemsOfEach,
    /// Every argument becomes a tuple of tuples.
    EachOfTuples,
    /// The first argument becomes a tuple, and those of its items that are lists too.
    FirstOfSomeTuples,
    /// The values of the first argument, a dict, become tuples.
    ValuesOfFirst,
    /// Every list at any depth becomes a tuple.
    Deep,
    /// The items of the first argument become sets, an empty one a dict.
    SetsInFirst,
    /// The first argument becomes a complex number.
    Complex,
    /// The first argument becomes a float, the second a complex number.
    FloatAndComplex,
}

const RULES: &[(ConversionRule, &[u32])] = &[
    (
        ConversionRule::Each,
        &[2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809],
    ),
    (ConversionRule::ItemsOfEach, &[63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780]),
    (ConversionRule::ItemsOfOne(0), &[75, 413, 444, 753]),
    (ConversionRule::One(1), &[106, 750]),
    (ConversionRule::One(0), &[250, 307, 405, 446, 617, 720, 763, 808]),
    (ConversionRule::EachOfTuples, &[259, 401, 445]),
    (ConversionRule::FirstOfSomeTuples, &[278]),
    (ConversionRule::ValuesOfFirst, &[722]),
    (ConversionRule::Deep, &[580, 615, 791]),
    (ConversionRule::SetsInFirst, &[115]),
    (ConversionRule::Complex, &[252]),
    (ConversionRule::FloatAndComplex, &[124]),
];

type Converted = Result<Value, String>;

/// The arguments that `json` stands for in the task `task_id`. Those of other sets are what they are.
pub(super) fn arguments(task_id: &str, mut json: Vec<Value>) -> Result<Vec<Value>, String> {
    let number = task_id.strip_prefix(PREFIX).and_then(|number| number.parse().ok());
    let rule = RULES.iter().find(|(_, tasks)| number.is_some_and(|number| tasks.contains(&number)));
    let Some((rule, _)) = rule else { return Ok(json) };
    match rule {
        ConversionRule::One(index) => change(&mut json, *index, tuple)?,
        ConversionRule::ItemsOfOne(index) => change(&mut json, *index, |argument| items(argument, tuple))?,
        ConversionRule::Each => return json.into_iter().map(tuple).collect(),
        ConversionRule::ItemsOfEach => return json.into_iter().map(|argument| items(argument, tuple)).collect(),
        ConversionRule::EachOfTuples => {
            return json.into_iter().map(|argument| tuple(items(argument, tuple)?)).collect();
        }
        ConversionRule::FirstOfSomeTuples => change(&mut json, 0, |argument| tuple(items(argument, list_to_tuple)?))?,
        ConversionRule::ValuesOfFirst => change(&mut json, 0, values_to_tuples)?,
        ConversionRule::Deep => return Ok(json.into_iter().map(deep).collect()),
        ConversionRule::SetsInFirst => change(&mut json, 0, |argument| items(argument, set_or_dict))?,
        ConversionRule::Complex => change(&mut json, 0, complex)?,
        ConversionRule::FloatAndComplex => {
            change(&mut json, 0, float)?;
            change(&mut json, 1, complex)?;
        }
    }
    Ok(json)
}

fn change(json: &mut [Value], index: usize, how: impl FnOnce(Value) -> Converted) -> Result<(), String> {
    let argument = json.get_mut(index).ok_or_else(|| format!("has no argument {index}"))?;
    *argument = how(std::mem::replace(argument, Value::None))?;
    Ok(())
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

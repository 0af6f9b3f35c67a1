//! Tests as most sets have them, an input beside an output, and the checks that they become. Called by the readers of such sets.
//!
//! A script's input is a text, a list of lines, a number, or `null` for none. A call's input is a list of arguments, or a text with one JSON
//! value a line, as verl's own graders read it; a blank text is no argument. Where an output is JSON too, a text that is no JSON is meant as it
//! is written.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use veriplay_core::{CallCase, CallChecks, Checks, Comparison, StdioCase, StdioChecks, Value};

use super::fields::{FieldError, shown};
use super::pyjson::{self, JsonError};

/// Checks the number of tests in one place of a row; published rows have some hundred.
pub(super) fn check_count(tests: usize) -> Result<(), String> {
    const MOST: usize = 50_000;
    if tests > MOST { Err(format!("holds {tests} tests; the most is {MOST}")) } else { Ok(()) }
}

/// One test of a row.
pub(super) struct RowTest {
    pub(super) input: Value,
    pub(super) output: Value,
    /// Whether an output of a call that is a text holds JSON.
    pub(super) holds_json: bool,
    /// The field of the input, by its path in the row.
    pub(super) input_field: String,
    /// The field of the output.
    pub(super) output_field: String,
}

/// The judges of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SetJudges {
    pub(super) texts: &'static str,
    pub(super) values: &'static str,
}

impl RowTest {
    fn wrong_input(&self, reason: impl Into<String>) -> FieldError {
        FieldError::new(&self.input_field, reason)
    }

    fn wrong_output(&self, reason: impl Into<String>) -> FieldError {
        FieldError::new(&self.output_field, reason)
    }

    fn script(self) -> Result<StdioCase, FieldError> {
        let wanted = "expected a text, a number or a list of lines";
        let stdin = match &self.input {
            Value::None => Some(String::new()),
            input => script_text(input),
        };
        let wrong_input = || self.wrong_input(format!("{wanted}, or null for none; found {}", shown(&self.input)));
        let wrong_output = || match &self.output {
            Value::None => self.wrong_output("is null, so there is nothing to compare the program's output with"),
            output => self.wrong_output(format!("{wanted}, found {}", shown(output))),
        };
        let stdout = script_text(&self.output).ok_or_else(wrong_output)?;
        Ok(StdioCase::new(stdin.ok_or_else(wrong_input)?, stdout))
    }

    fn call(self) -> Result<CallCase, FieldError> {
        let RowTest { input, output, holds_json, input_field, .. } = self;
        let mut input = arguments(input, &input_field)?;
        if let [only] = input.as_mut_slice() {
            give_int_keys(only);
        }
        let mut expected = match output {
            Value::Str(text) if holds_json => match json_or_literal(&text) {
                Ok(Value::Tuple(items)) => Value::List(items),
                Ok(value) => value,
                Err(_) => Value::Str(text),
            },
            output => output,
        };
        match &mut expected {
            Value::List(items) if items.len() == 1 => give_int_keys(&mut items[0]),
            other => give_int_keys(other),
        }
        Ok(CallCase::new(input, expected))
    }
}

/// The arguments of a call, which stand at `place`.
fn arguments(input: Value, place: &str) -> Result<Vec<Value>, FieldError> {
    match input {
        Value::List(arguments) => Ok(arguments),
        Value::None => Ok(Vec::new()),
        Value::Str(text) if text.trim().is_empty() => Ok(Vec::new()),
        Value::Str(text) => arguments_in_lines(text.strip_suffix('\n').unwrap_or(&text), place),
        number @ (Value::Int(_) | Value::Float(_) | Value::Bool(_)) => Ok(vec![number]),
        other => {
            let wanted = "expected a list of arguments, or a text with one JSON value a line";
            Err(FieldError::new(place, format!("{wanted}; found {}", shown(&other))))
        }
    }
}

fn arguments_in_lines(text: &str, place: &str) -> Result<Vec<Value>, FieldError> {
    check_arguments(text.split('\n').count()).map_err(|reason| FieldError::new(place, reason))?;
    let mut arguments = Vec::new();
    for (at, line) in text.split('\n').enumerate() {
        arguments.push(json_or_literal(line).map_err(|error| {
            let hint = "give one JSON value a line, or a list of arguments";
            FieldError::new(place, format!("line {} holds no JSON: {error}; hint: {hint}", at + 1))
        })?);
    }
    Ok(arguments)
}

/// Checks how many arguments a call has: Python's own functions take any number, and no test has many.
pub(super) fn check_arguments(count: usize) -> Result<(), String> {
    const MOST: usize = 1000;
    if count > MOST { Err(format!("has {count} lines, one for each argument; the most is {MOST}")) } else { Ok(()) }
}

/// The checks of tests whose programs are scripts.
pub(super) fn script_checks(tests: Vec<RowTest>, judges: SetJudges) -> Result<Checks, FieldError> {
    let cases = tests.into_iter().map(RowTest::script).collect::<Result<_, _>>()?;
    Ok(Checks::Stdio(StdioChecks::new(cases, Comparison::by_set(judges.texts))))
}

/// The checks of scripts that read the file `input` in place of standard input, and write the file `output` in place of standard output. A name
/// that is empty stands for the stream.
pub(super) fn through_files(checks: Checks, input: &str, output: &str) -> Checks {
    let Checks::Stdio(mut checks) = checks else { return checks };
    for case in &mut checks.cases {
        if !input.is_empty() {
            case.files.insert(input.to_owned(), std::mem::take(&mut case.stdin));
        }
        if !output.is_empty() {
            case.expected_files.insert(output.to_owned(), std::mem::take(&mut case.stdout));
        }
    }
    Checks::Stdio(checks)
}

/// The checks of tests that call `function`, each in a state of its own.
pub(super) fn call_checks(function: String, tests: Vec<RowTest>, judges: SetJudges) -> Result<Checks, FieldError> {
    let cases = tests.into_iter().map(RowTest::call).collect::<Result<_, _>>()?;
    Ok(Checks::Calls(CallChecks { function, cases, fresh: true, comparison: Comparison::by_set(judges.values) }))
}

/// What a script reads or writes, as Python's `str` writes it. Lines are joined.
fn script_text(value: &Value) -> Option<String> {
    match value {
        Value::List(lines) => {
            let mut text = String::new();
            for (at, line) in lines.iter().enumerate() {
                if at > 0 {
                    text.push('\n');
                }
                text += &line_text(line)?;
            }
            Some(text)
        }
        other => line_text(other),
    }
}

fn line_text(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        Value::Float(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Reads JSON; else a Python literal, which some sets write in its place.
fn json_or_literal(text: &str) -> Result<Value, JsonError> {
    pyjson::parse(text).or_else(|error| Value::parse_literal(text).map_err(|_| error))
}

/// JSON turns a dict's int keys into texts; this turns them back where every key is one.
fn give_int_keys(value: &mut Value) {
    let Value::Dict(pairs) = value else { return };
    let Some(keys) = pairs.iter().map(|(key, _)| int_key(key)).collect::<Option<Vec<Value>>>() else { return };
    let distinct: HashSet<Vec<u8>> = keys.iter().map(Value::encode).collect();
    let is_repeated = distinct.len() < keys.len();
    for ((key, _), int) in pairs.iter_mut().zip(keys) {
        *key = int;
    }
    if is_repeated {
        keep_last(pairs);
    }
}

/// Of keys that are the same the last value counts, at the first one's place, as in a dict of Python's.
fn keep_last(pairs: &mut Vec<(Value, Value)>) {
    let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut kept: Vec<(Value, Value)> = Vec::with_capacity(pairs.len());
    for (key, value) in pairs.drain(..) {
        match places.entry(key.encode()) {
            Entry::Occupied(place) => kept[*place.get()].1 = value,
            Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push((key, value));
            }
        }
    }
    *pairs = kept;
}

/// The int that Python's `int(key)` gives.
fn int_key(key: &Value) -> Option<Value> {
    let Value::Str(text) = key else { return None };
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_int = digits.split('_').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if is_int { Value::parse_int(&text.replace('_', "")) } else { None }
}

//! Tests as most sets have them, an input beside an output or lines of test code, and the checks that they become. Called by the readers of such sets.
//!
//! A script's input is a text, a list of lines, a number, or `null` for none. A call's input is a list of arguments, or a text with one JSON
//! value a line, as verl's own graders read it; a blank text is no argument. Where an output is JSON too, a text that is no JSON is meant as it
//! is written.
//!
//! Such tests stand in an object with `inputs`, `outputs` and, for calls, `fn_name`: APPS has it in `input_output`, and PRIME and verl have it as the
//! ground truth. verl's `assert_case` holds lines of test code in their place.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use veriplay_core::{
    CallCase, CallChecks, Checks, Comparison, StdioCase, StdioChecks, TestCode, TestStyle, Trust, Value,
};

use super::fields::{Fields, RowFault, shown};
use super::pyjson::{self, JsonError};

/// Checks the number of tests in one place of a row; published rows have some hundred.
pub(super) fn check_count(tests: usize) -> Result<(), String> {
    const MOST: usize = 50_000;
    if tests > MOST { Err(format!("holds {tests} tests; the most is {MOST}")) } else { Ok(()) }
}

pub(super) struct RowTest {
    pub(super) input: Value,
    pub(super) output: Value,
    /// Whether an output of a call that is a text holds JSON.
    pub(super) holds_json: bool,
    /// The field of the input, by its path in the row.
    pub(super) input_field: String,
    pub(super) output_field: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SetJudges {
    pub(super) texts: &'static str,
    pub(super) values: &'static str,
}

impl RowTest {
    fn script(self) -> Result<StdioCase, RowFault> {
        let wanted = "expected a text, a number or a list of lines";
        let stdout = script_text(&self.output).ok_or_else(|| match &self.output {
            Value::None => "is null, so there is nothing to compare the program's output with".to_owned(),
            output => format!("{wanted}, found {}", shown(output)),
        });
        let stdout = stdout.map_err(|reason| RowFault::new(&self.output_field, reason))?;
        let stdin = if matches!(self.input, Value::None) { Some(String::new()) } else { script_text(&self.input) };
        let stdin = stdin.ok_or_else(|| format!("{wanted}, or null for none; found {}", shown(&self.input)));
        Ok(StdioCase::new(stdin.map_err(|reason| RowFault::new(&self.input_field, reason))?, stdout))
    }

    fn call(self) -> Result<CallCase, RowFault> {
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

/// The tests of two lists, whose fields have these names.
pub(super) fn paired_tests(
    fields: &mut Fields,
    inputs_name: &str,
    outputs_name: &str,
) -> Result<Vec<RowTest>, RowFault> {
    let (inputs, outputs) = (fields.take_list(inputs_name)?, fields.take_list(outputs_name)?);
    if inputs.len() != outputs.len() {
        return Err(fields.fault(outputs_name, format!("has {} items for {} inputs", outputs.len(), inputs.len())));
    }
    check_count(inputs.len()).map_err(|reason| fields.fault(inputs_name, reason))?;
    let mut tests = Vec::with_capacity(inputs.len());
    for (at, (input, output)) in inputs.into_iter().zip(outputs).enumerate() {
        tests.push(RowTest {
            // Beside a list of arguments it is the value itself, as APPS has it.
            holds_json: !matches!(input, Value::List(_)),
            input,
            output,
            input_field: fields.place(&format!("{inputs_name}[{at}]")),
            output_field: fields.place(&format!("{outputs_name}[{at}]")),
        });
    }
    Ok(tests)
}

/// The arguments of a call, which stand at `place`.
fn arguments(input: Value, place: &str) -> Result<Vec<Value>, RowFault> {
    match input {
        Value::List(arguments) => Ok(arguments),
        Value::None => Ok(Vec::new()),
        Value::Str(text) if text.trim().is_empty() => Ok(Vec::new()),
        Value::Str(text) => arguments_in_lines(text.strip_suffix('\n').unwrap_or(&text), place),
        number @ (Value::Int(_) | Value::Float(_) | Value::Bool(_)) => Ok(vec![number]),
        other => {
            let wanted = "expected a list of arguments, or a text with one JSON value a line";
            Err(RowFault::new(place, format!("{wanted}; found {}", shown(&other))))
        }
    }
}

fn arguments_in_lines(text: &str, place: &str) -> Result<Vec<Value>, RowFault> {
    check_arguments(text.split('\n').count()).map_err(|reason| RowFault::new(place, reason))?;
    let mut arguments = Vec::new();
    for (at, line) in text.split('\n').enumerate() {
        arguments.push(json_or_literal(line).map_err(|error| {
            let hint = "give one JSON value a line, or a list of arguments";
            RowFault::new(place, format!("line {} holds no JSON: {error}; hint: {hint}", at + 1))
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
pub(super) fn script_checks(tests: Vec<RowTest>, judges: SetJudges) -> Result<Checks, RowFault> {
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
pub(super) fn call_checks(function: String, tests: Vec<RowTest>, judges: SetJudges) -> Result<Checks, RowFault> {
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

/// Whether a text is Python that tests: it asserts at its outermost level, or defines tests, or imports what it tests.
pub(super) fn is_test_code(text: &str) -> bool {
    const STARTS: [&str; 4] = ["assert ", "assert(", "from solution import ", "import solution"];
    is_test_module(text) || text.lines().any(|line| STARTS.iter().any(|start| line.starts_with(start)))
}

/// Whether a text defines tests that somebody else must call.
pub(super) fn is_test_module(text: &str) -> bool {
    const STARTS: [&str; 3] = ["def test", "async def test", "class Test"];
    text.lines().any(|line| {
        // pytest collects the classes of unittest under any name.
        let is_of_unittest = line.starts_with("class ") && line.contains("TestCase)");
        is_of_unittest || STARTS.iter().any(|start| line.starts_with(start))
    })
}

/// The tests in `texts`. One that defines tests would pass by their definition alone, so these are collected as pytest does it.
pub(super) fn test_code(texts: &[String]) -> TestCode {
    let style = match texts.iter().any(|text| is_test_module(text)) {
        true => TestStyle::Functions(texts.join("\n")),
        false => TestStyle::Asserts(texts.to_vec()),
    };
    TestCode::new(Trust::default(), style)
}

/// Whether the object has such tests.
pub(super) fn has_in_outs(fields: &Fields) -> bool {
    fields.has("assert_case") || (fields.has("inputs") && fields.has("outputs"))
}

pub(super) fn in_out_checks(mut tests: Fields, judges: SetJudges) -> Result<Checks, RowFault> {
    let function = tests.text_or_empty("fn_name")?.to_owned();
    if tests.has("assert_case") {
        return asserts(&tests, &function);
    }
    let cases = paired_tests(&mut tests, "inputs", "outputs")?;
    if cases.is_empty() {
        return Err(tests.fault("inputs", "holds no tests"));
    }
    if function.is_empty() { script_checks(cases, judges) } else { call_checks(function, cases, judges) }
}

/// verl appends each text to a copy of the program. What stands in `inputs` and `outputs` beside them must be blank: the tests say it all.
fn asserts(tests: &Fields, function: &str) -> Result<Checks, RowFault> {
    const NAME: &str = "assert_case";
    let asserts = match tests.need(NAME)? {
        Value::Str(text) => vec![text.clone()],
        _ => tests.texts_or_empty(NAME)?,
    };
    if asserts.is_empty() {
        return Err(tests.fault(NAME, "holds no tests"));
    }
    if let Some(at) = asserts.iter().position(|text| text.trim().is_empty()) {
        let reason = "is blank; hint: give each test as test code, or give `inputs` and `outputs` alone";
        return Err(tests.fault(&format!("{NAME}[{at}]"), reason));
    }
    for name in ["inputs", "outputs"] {
        let used =
            |value: &Value| !matches!(value, Value::None) && !matches!(value, Value::Str(text) if text.is_empty());
        if let Some(at) = tests.list_or_empty(name)?.iter().position(used) {
            let reason =
                format!("stands beside `{NAME}`, whose tests read and write nothing; one of them says what is tested");
            return Err(tests.fault(&format!("{name}[{at}]"), reason));
        }
    }
    let functions = Some(function.to_owned()).filter(|name| !name.is_empty()).into_iter().collect();
    Ok(Checks::Tests(TestCode { functions, ..test_code(&asserts) }))
}

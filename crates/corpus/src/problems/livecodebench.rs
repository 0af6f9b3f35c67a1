//! `livecodebench`: LiveCodeBench's code generation (arXiv 2403.07974): `question_id, starter_code, public_test_cases,
//! private_test_cases, metadata`.
//!
//! With `metadata.func_name` each line of a test's input is one JSON argument of `Solution.<func_name>`, which judge `livecodebench` looks for
//! in the module where a program has no `class Solution`; without it the tests are texts. Private tests are JSON, or JSON pickled as one string, deflated and in base64; the pickle is read by
//! [`super::pickle`], which runs nothing.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use veriplay_core::{
    CallCase, CallChecks, Checks, Comparison, Problem, ProblemRow, StdioCase, StdioChecks, Value, text_weight,
};

use super::fields::{Fields, RowFault};
use super::row_tests::{SetJudges, check_arguments};
use super::{ProblemFormat, ProblemStatement, ReadOptions, RowInput, pickle};

pub(super) const FORMAT: ProblemFormat = ProblemFormat {
    name: "livecodebench",
    recognises: |fields| fields.has("public_test_cases") || fields.has("private_test_cases"),
    parse,
    statement: |fields| ProblemStatement::instruction(fields, "question_content", Some("starter_code")),
};

/// Its judge, for values and for texts.
const JUDGE: &str = "livecodebench";

/// The same for readers of other sets with tests of its kind.
pub(super) const JUDGES: SetJudges = SetJudges { texts: JUDGE, values: JUDGE };

/// The modules that LiveCodeBench's harness imports into every program, in its order: all names of each first, and then each by name. Of
/// two modules with one name the later wins, which is how `pow` and `open` stay the built-in ones.
const MODULES: &str =
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json";

/// Those of which it imports only the names, after the names of the others.
const STARRED_MODULES: &str = "builtins typing";

/// What it sets the recursion limit to.
const RECURSION: u32 = 50_000;

pub(super) fn prelude() -> String {
    let starred =
        MODULES.split(' ').chain(STARRED_MODULES.split(' ')).map(|module| format!("from {module} import *\n"));
    let named = MODULES.split(' ').map(|module| format!("import {module}\n"));
    let limit = std::iter::once(format!("sys.setrecursionlimit({RECURSION})\n"));
    starred.chain(named).chain(limit).collect()
}

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let task_id = row.name(&["question_id", "task_id", "problem_id", "id"])?;
    let options = row.options;
    let fields = row.fields_mut()?;
    let public = fields.take_json("public_test_cases")?;
    let mut tests = tests(fields, "public_test_cases", public)?;
    tests.extend(private_tests(fields, options)?);
    if tests.is_empty() {
        return Err(fields.fault("private_test_cases", "holds no tests, and `public_test_cases` none either"));
    }
    let checks = match function(fields)? {
        Some(function) => calls(fields, &function, tests)?,
        None => {
            let cases = tests.into_iter().map(|test| StdioCase::new(test.input, test.output)).collect();
            Checks::Stdio(StdioChecks::new(cases, Comparison::by_set(JUDGE)))
        }
    };
    Ok(ProblemRow::Ready(Problem { prelude: prelude(), ..Problem::new(task_id, checks) }))
}

/// `metadata.func_name`; `metadata` is an object, as JSON text.
pub(super) fn function(fields: &Fields) -> Result<Option<String>, RowFault> {
    let is_blank = match fields.get("metadata") {
        None => true,
        Some(Value::Str(text)) => text.trim().is_empty(),
        Some(_) => false,
    };
    if is_blank {
        return Ok(None);
    }
    let metadata = Fields::inside(&fields.place("metadata"), fields.json("metadata")?)?;
    let name = metadata.text_or_empty("func_name")?;
    Ok((!name.is_empty()).then(|| name.to_owned()))
}

struct Test {
    /// Field and index, for messages.
    place: String,
    input: String,
    output: String,
}

fn tests(fields: &Fields, name: &str, json: Value) -> Result<Vec<Test>, RowFault> {
    let Value::List(items) = json else {
        return Err(fields.fault(name, format!("expected a list of tests, found {}", json.type_name())));
    };
    let test = |(at, item): (usize, Value)| {
        let place = format!("{name}[{at}]");
        let test = Fields::inside(&place, item)?;
        if !matches!(test.text("testtype")?, "stdin" | "functional") {
            return Err(test.fault("testtype", format!("`{}` is not a kind of test", test.text("testtype")?)));
        }
        Ok(Test { input: test.text("input")?.to_owned(), output: test.text("output")?.to_owned(), place })
    };
    items.into_iter().enumerate().map(test).collect()
}

/// As JSON, or packed. No JSON list is base64, and no base64 text starts with a bracket.
fn private_tests(fields: &mut Fields, options: &ReadOptions) -> Result<Vec<Test>, RowFault> {
    const NAME: &str = "private_test_cases";
    let json = match fields.need(NAME)? {
        Value::Str(text) if text.is_empty() => return Ok(Vec::new()),
        Value::Str(text) if !text.trim_start().starts_with('[') => {
            let text = unpack_tests(text, options).map_err(|reason| fields.fault(NAME, reason))?;
            fields.parse_json(NAME, &text)?
        }
        _ => fields.take_json(NAME)?,
    };
    tests(fields, NAME, json)
}

/// base64, then zlib, then a pickled string.
fn unpack_tests(text: &str, options: &ReadOptions) -> Result<String, String> {
    let cap = options.max_row_bytes;
    let packed = STANDARD.decode(text.trim()).map_err(|error| format!("neither JSON nor base64: {error}"))?;
    let mut pickled = Vec::new();
    let mut inflated = ZlibDecoder::new(packed.as_slice()).take(cap.saturating_add(1));
    inflated.read_to_end(&mut pickled).map_err(|error| format!("is not zlib: {error}"))?;
    if pickled.len() as u64 > cap {
        return Err(format!("inflates to more than {cap} bytes"));
    }
    let text = pickle::pickled_string(&pickled).map_err(|error| format!("is not a pickled string: {error}"))?;
    if text_weight(text.as_bytes()) > options.max_row_weight {
        return Err(format!("holds more values than fit into {} bytes of memory", options.max_row_weight));
    }
    Ok(text.to_owned())
}

fn calls(fields: &Fields, function: &str, tests: Vec<Test>) -> Result<Checks, RowFault> {
    let mut cases = Vec::with_capacity(tests.len());
    for Test { place, input, output } in tests {
        let (input_field, output_field) = (format!("{place}.input"), format!("{place}.output"));
        check_arguments(input.split('\n').count()).map_err(|reason| fields.fault(&input_field, reason))?;
        let arguments = input.split('\n').map(|line| fields.parse_json(&input_field, line));
        cases.push(CallCase::new(arguments.collect::<Result<_, _>>()?, fields.parse_json(&output_field, &output)?));
    }
    let (function, comparison) = (format!("Solution.{function}"), Comparison::by_set(JUDGE));
    Ok(Checks::Calls(CallChecks { function, cases, fresh: true, comparison }))
}

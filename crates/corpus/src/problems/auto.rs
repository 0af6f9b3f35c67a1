//! `auto`: a row of any kind that its shape tells: of another format; with tests in the shapes of trainers (PRIME, verl, SYNTHETIC, INTELLECT,
//! DeepCoder); or with one of these in a field, as a text or as a value, as data sets and trainers carry what a completion is judged by.
//! `docs/reading.md` has the table.
//!
//! Invariants: the shape alone decides, never the name of a set; an error names the field by its path in the row as it was sent.

use veriplay_core::{Checks, Problem, Value};

use super::fields::{FieldError, Fields, shown};
use super::row_judge::choose_own_judge;
use super::row_tests::SetJudges;
use super::test_texts::{is_test_code, test_code};
use super::{
    PROBLEM_FORMATS, ProblemFormat, ProblemRow, ProblemStatement, ReadOptions, RowInput, apps, in_outs, livecodebench,
    problem_format, pyjson, row_limits, test_cases,
};

pub(super) const FORMAT: ProblemFormat = ProblemFormat { name: "auto", recognises: |_| false, parse, statement };

/// Fields that carry what a completion is judged by, the more telling first.
const CARRIERS: [&str; 13] = [
    "ground_truth",
    "verification_info",
    "reward_model",
    "reward_spec",
    "verifier_metadata",
    "test_cases",
    "tests",
    "test",
    "label",
    "labels",
    "info",
    "task",
    "answer",
];

/// NeMo Gym's field, and the judge of its tests.
const UNIT_TESTS: &str = "unit_tests";
const NEMO_GYM: SetJudges = SetJudges { texts: "nemo_gym", values: "nemo_gym" };

/// The names of a row.
const NAMES: [&str; 4] = ["task_id", "problem_id", "question_id", "id"];

/// Carriers inside one another. A row of verl has three: `reward_model`, `ground_truth`, and the text in it.
const MOST_LEVELS: usize = 6;

fn statement(fields: &Fields) -> Result<ProblemStatement, FieldError> {
    match recognised(fields) {
        Some(format) => (format.statement)(fields),
        None => Err(FieldError::new("", "its shape does not say which field states the task; hint: name its format")),
    }
}

fn parse(row: &RowInput<'_>) -> Result<ProblemRow, FieldError> {
    let finder = Finder { index: row.index, options: row.options };
    match first_byte(row.text) {
        Some(b'{') => finder.find_in_object(&RowInput::of_trainer(row.text, row.index, row.options), MOST_LEVELS),
        Some(b'[' | b'"') => finder.find_in_text(row.text, MOST_LEVELS),
        _ => Err(unknown_shape(&format!("`{}`", row.text.chars().take(40).collect::<String>()))),
    }
}

fn recognised(fields: &Fields) -> Option<&'static ProblemFormat> {
    PROBLEM_FORMATS.iter().find(|format| (format.recognises)(fields))
}

fn first_byte(text: &str) -> Option<u8> {
    text.trim_start().bytes().next()
}

fn unknown_shape(found: &str) -> FieldError {
    let looked_for = "`inputs` and `outputs`, `assert_case`, `test_cases`, a list of tests or of lines of test code, or a row of a known set";
    let hint = "docs/reading.md lists the shapes; name the format of a set with `format` and `row`";
    FieldError::new("", format!("holds no tests: looked for {looked_for}; found {found}; hint: {hint}"))
}

/// Finds the tests of one row.
struct Finder<'a> {
    index: usize,
    options: &'a ReadOptions,
}

impl Finder<'_> {
    /// The tests of an object. A judge or a limit that it names counts more than one that is named inside.
    fn find_in_object(&self, row: &RowInput<'_>, levels: usize) -> Result<ProblemRow, FieldError> {
        let mut found = self.find_in_fields(row, levels)?;
        choose_own_judge(&mut found, row.fields()?)?;
        found.state_limits(row_limits::stated_limits(row.fields()?)?);
        Ok(found)
    }

    fn find_in_fields(&self, row: &RowInput<'_>, levels: usize) -> Result<ProblemRow, FieldError> {
        let fields = row.fields()?;
        if levels == 0 {
            return Err(FieldError::new("", format!("lies in more than {MOST_LEVELS} fields inside one another")));
        }
        if let (Some(Value::Str(format)), true) = (fields.get("format"), fields.has("row")) {
            let format = problem_format(format).map_err(|error| fields.fault("format", error.to_string()))?;
            if format.name == FORMAT.name {
                return self.read_member(row, "row", |inner| self.find_in_object(inner, levels - 1));
            }
            return self.read_member(row, "row", |inner| (format.parse)(inner));
        }
        if let Some(format) = recognised(fields) {
            return (format.parse)(row);
        }
        if in_outs::recognises(fields) {
            let checks = in_outs::checks(fields, apps::JUDGES)?;
            return Ok(self.problem(row, checks, apps::JUDGES));
        }
        if fields.has(UNIT_TESTS) {
            let tests = Fields::inside(UNIT_TESTS, fields.json(UNIT_TESTS)?)?;
            let checks = in_outs::checks(&tests, NEMO_GYM)?;
            return Ok(self.problem(row, checks, NEMO_GYM));
        }
        let Some(carrier) = CARRIERS.into_iter().find(|name| fields.has(name)) else {
            return Err(unknown_shape(&format!("an object with {}", fields.names())));
        };
        let mut found = match fields.need(carrier)? {
            Value::Str(text) => self.find_in_text(text, levels - 1).map_err(|error| error.inside(carrier)),
            Value::List(items) => self.read_list(items).map_err(|error| error.inside(carrier)),
            Value::Dict(_) => self.read_member(row, carrier, |inner| self.find_in_object(inner, levels - 1)),
            other => Err(unknown_shape(&shown(other)).inside(carrier)),
        }?;
        if let Ok(name) = fields.id(&NAMES) {
            found.set_task_id(name);
        }
        Ok(found)
    }

    /// Reads the row that a member of `row` is, or is the text of.
    fn read_member(
        &self,
        row: &RowInput<'_>,
        name: &str,
        read: impl FnOnce(&RowInput<'_>) -> Result<ProblemRow, FieldError>,
    ) -> Result<ProblemRow, FieldError> {
        let inner = match row.fields()?.need(name)? {
            Value::Str(text) => RowInput::of_trainer(text, self.index, self.options),
            Value::Dict(pairs) => match pyjson::member(row.text, name) {
                Some(text) => RowInput::of_trainer(text, self.index, self.options),
                // The row is a Python literal.
                None => RowInput::of_literal(row.text, pairs.clone(), self.index, self.options),
            },
            other => return Err(unknown_shape(&shown(other)).inside(name)),
        };
        read(&inner).map_err(|error| error.inside(name))
    }

    /// A text may be JSON, lines of test code, a module of tests, or a Python literal.
    fn find_in_text(&self, text: &str, levels: usize) -> Result<ProblemRow, FieldError> {
        if levels == 0 {
            return Err(FieldError::new("", format!("lies in more than {MOST_LEVELS} fields inside one another")));
        }
        let row = RowInput::of_trainer(text, self.index, self.options);
        let not_json = match first_byte(text) {
            Some(b'{') => match row.fields() {
                Ok(_) => return self.find_in_object(&row, levels),
                Err(error) => Some(error),
            },
            Some(b'[' | b'"') => match pyjson::parse(text) {
                Ok(Value::List(items)) => return self.read_list(&items),
                Ok(Value::Str(inner)) => return self.find_in_text(&inner, levels - 1),
                Ok(other) => return Err(unknown_shape(&shown(&other))),
                Err(error) => Some(FieldError::new("", format!("no JSON: {error}"))),
            },
            _ => None,
        };
        if is_test_code(text) {
            let texts = [text.to_owned()];
            return Ok(self.problem(&row, Checks::Tests(test_code(&texts)), apps::JUDGES));
        }
        match Value::parse_literal(text.trim()) {
            Ok(Value::Dict(pairs)) => {
                self.find_in_object(&RowInput::of_literal(text, pairs, self.index, self.options), levels)
            }
            Ok(Value::List(items)) => self.read_list(&items),
            Ok(other) => Err(not_json.unwrap_or_else(|| unknown_shape(&shown(&other)))),
            Err(_) => Err(not_json.unwrap_or_else(|| unknown_shape(&shown(&Value::str(text))))),
        }
    }

    fn read_list(&self, items: &[Value]) -> Result<ProblemRow, FieldError> {
        let row = RowInput::of_literal("", Vec::new(), self.index, self.options);
        let texts = items.iter().map(|item| if let Value::Str(text) = item { Some(text.clone()) } else { None });
        if let Some(texts) = texts.collect::<Option<Vec<String>>>()
            && !texts.is_empty()
        {
            return match texts.iter().position(|text| !is_test_code(text)) {
                None => Ok(self.problem(&row, Checks::Tests(test_code(&texts)), apps::JUDGES)),
                Some(at) => Err(FieldError::new(format!("[{at}]"), format!("is no test code: {}", shown(&items[at])))),
            };
        }
        let (checks, judges) = test_cases::checks("", items)?;
        Ok(self.problem(&row, checks, judges))
    }

    fn problem(&self, row: &RowInput<'_>, checks: Checks, judges: SetJudges) -> ProblemRow {
        let name = row.fields().and_then(|fields| fields.id(&NAMES)).unwrap_or_else(|_| self.index.to_string());
        let prelude = prelude(&checks, judges);
        ProblemRow::Ready(Problem { prelude, ..Problem::new(name, checks) })
    }
}

/// What the graders of these sets let every program have imported.
fn prelude(checks: &Checks, judges: SetJudges) -> String {
    match checks {
        _ if judges == livecodebench::JUDGES || judges == NEMO_GYM => livecodebench::prelude(),
        Checks::Calls(_) => format!("{}{}", apps::PRELUDE, livecodebench::prelude()),
        // verl keeps the imports of calls for tests that name their function. Not all of them: the names of builtins are the tests'.
        Checks::Tests(code) if !code.functions.is_empty() => format!("{}from typing import *\n", apps::PRELUDE),
        Checks::Stdio(_) => apps::PRELUDE.to_owned(),
        _ => String::new(),
    }
}

//! `auto`: a row of any kind that its shape tells: of another format; with tests in the shapes of trainers (PRIME, verl, SYNTHETIC, INTELLECT,
//! DeepCoder); or with one of these in a field, as a text or as a value, as data sets and trainers carry what a completion is judged by.
//! `docs/verifying.md` has the table.
//!
//! Invariants: the shape alone decides, never the name of a set; an error names the field by its path in the row as it was sent.

use veriplay_core::{Checks, Language, Problem, ProblemRow, SCANNED, ScannedLanguage, Value};

use super::fields::{Fields, RowFault, shown};
use super::row_tests::{SetJudges, has_in_outs, in_out_checks, is_test_code, test_code};
use super::{
    PROBLEM_FORMATS, ProblemFormat, ProblemStatement, ReadOptions, RowInput, apps, livecodebench, problem_format,
    pyjson, row_options, test_cases,
};

pub(super) const FORMAT: ProblemFormat = ProblemFormat { name: "auto", recognises: |_| false, parse, statement };

/// Fields that carry what a completion is judged by, the more telling first.
const CARRIERS: [&str; 13] = [
    "ground_truth", "verification_info", "reward_model", "reward_spec", "verifier_metadata", "test_cases", "tests",
    "test", "label", "labels", "info", "task", "answer",
];

/// NeMo Gym's field, and the judge of its tests.
const UNIT_TESTS: &str = "unit_tests";
const NEMO_GYM: SetJudges = SetJudges { texts: "nemo_gym", values: "nemo_gym" };

pub(super) const NAMES: [&str; 4] = ["task_id", "problem_id", "question_id", "id"];

/// Carriers inside one another. A row of verl has three: `reward_model`, `ground_truth`, and the text in it.
const MOST_LEVELS: usize = 6;

fn statement(fields: &Fields) -> Result<ProblemStatement, RowFault> {
    match recognised(fields) {
        Some(format) => (format.statement)(fields),
        None => Err(RowFault::new("", "its shape does not say which field states the task; hint: name its format")),
    }
}

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let finder = Finder { index: row.index, options: row.options };
    match first_byte(row.text) {
        Some(b'{') => finder.find_in_object(RowInput::of_trainer(row.text, row.index, row.options), MOST_LEVELS),
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

fn unknown_shape(found: &str) -> RowFault {
    let looked_for = "`inputs` and `outputs`, `assert_case`, `test_cases`, a list of tests or of lines of test code, or a row of a known set";
    let hint = "docs/verifying.md lists the shapes; name the format of a set with `format` and `row`";
    RowFault::new("", format!("holds no tests: looked for {looked_for}; found {found}; hint: {hint}"))
}

/// Finds the tests of one row. What a row has inside is moved out of it, and the rest dropped, before it is read: a row may be large.
struct Finder<'a> {
    index: usize,
    options: &'a ReadOptions,
}

impl Finder<'_> {
    /// The tests of an object. A judge or a limit that it names counts more than one that is named inside.
    fn find_in_object(&self, row: RowInput<'_>, levels: usize) -> Result<ProblemRow, RowFault> {
        let fields = row.fields()?;
        let (judge, limits) = (row_options::named_judge(fields)?, row_options::stated_limits(fields)?);
        let language = row_options::named_language(fields);
        let mut found = self.find_in_fields(row, levels)?;
        if let Some(language) = language {
            row_options::write_in(&mut found, language)?;
        }
        if let Some(judge) = judge {
            row_options::choose(&mut found, &judge)?;
        }
        found.state_limits(limits);
        Ok(found)
    }

    fn find_in_fields(&self, mut row: RowInput<'_>, levels: usize) -> Result<ProblemRow, RowFault> {
        let fields = row.fields()?;
        if levels == 0 {
            return Err(RowFault::new("", format!("lies in more than {MOST_LEVELS} fields inside one another")));
        }
        let own_name = fields.id(&NAMES).ok();
        if let (Some(Value::Str(format)), true) = (fields.get("format"), fields.has("row")) {
            let format = problem_format(format).map_err(|error| fields.fault("format", error.to_string()))?;
            let found = match format.name == FORMAT.name {
                true => self.read_member(row, "row", |inner| self.find_in_object(inner, levels - 1)),
                false => self.read_member(row, "row", |mut inner| format.read(&mut inner)),
            };
            return found.map(|found| found.named(own_name));
        }
        if let Some(format) = recognised(fields) {
            return (format.parse)(&mut row);
        }
        check_language(fields)?;
        let name = own_name.clone().unwrap_or_else(|| self.index.to_string());
        if has_in_outs(fields) {
            return Ok(problem(name, in_out_checks(row.into_fields()?, apps::JUDGES)?, apps::JUDGES));
        }
        if fields.has(UNIT_TESTS) {
            let tests = Fields::inside(UNIT_TESTS, row.fields_mut()?.take_json(UNIT_TESTS)?)?;
            return Ok(problem(name, in_out_checks(tests, NEMO_GYM)?, NEMO_GYM));
        }
        let Some(carrier) = CARRIERS.into_iter().find(|name| fields.has(name)) else {
            return Err(unknown_shape(&format!("an object with {}", fields.names())));
        };
        self.find_in_carrier(row, carrier, levels).map(|found| found.named(own_name))
    }

    fn find_in_carrier(&self, mut row: RowInput<'_>, carrier: &str, levels: usize) -> Result<ProblemRow, RowFault> {
        if let Value::Dict(_) = row.fields()?.need(carrier)? {
            return self.read_member(row, carrier, |inner| self.find_in_object(inner, levels - 1));
        }
        let carried = row.fields_mut()?.take_needed(carrier)?;
        drop(row);
        let found = match carried {
            Value::Str(text) => self.find_in_text(&text, levels - 1),
            Value::List(items) => self.read_list(items),
            other => Err(unknown_shape(&shown(&other))),
        };
        found.map_err(|error| error.inside(carrier))
    }

    /// Reads the row that a member of `row` is, or is the text of.
    fn read_member(
        &self,
        mut row: RowInput<'_>,
        name: &str,
        read: impl FnOnce(RowInput<'_>) -> Result<ProblemRow, RowFault>,
    ) -> Result<ProblemRow, RowFault> {
        let (member, text) = (row.fields_mut()?.take_needed(name)?, row.text);
        drop(row);
        let found = match member {
            Value::Str(text) => read(RowInput::of_trainer(&text, self.index, self.options)),
            Value::Dict(pairs) => {
                // There is no such text where the row is a Python literal.
                let text = pyjson::member(text, name).unwrap_or(text);
                read(RowInput::of_pairs(text, pairs, self.index, self.options))
            }
            other => Err(unknown_shape(&shown(&other))),
        };
        found.map_err(|error| error.inside(name))
    }

    /// A text may be JSON, lines of test code, a module of tests, or a Python literal.
    fn find_in_text(&self, text: &str, levels: usize) -> Result<ProblemRow, RowFault> {
        if levels == 0 {
            return Err(RowFault::new("", format!("lies in more than {MOST_LEVELS} fields inside one another")));
        }
        let not_json = match first_byte(text) {
            Some(b'{') => {
                let row = RowInput::of_trainer(text, self.index, self.options);
                match row.fields() {
                    Ok(_) => return self.find_in_object(row, levels),
                    Err(error) => Some(error),
                }
            }
            Some(b'[' | b'"') => match pyjson::parse(text) {
                Ok(Value::List(items)) => return self.read_list(items),
                Ok(Value::Str(inner)) => return self.find_in_text(&inner, levels - 1),
                Ok(other) => return Err(unknown_shape(&shown(&other))),
                Err(error) => Some(RowFault::new("", format!("no JSON: {error}"))),
            },
            _ => None,
        };
        if is_test_code(text) {
            let texts = [text.to_owned()];
            return Ok(problem(self.index.to_string(), Checks::Tests(test_code(&texts)), apps::JUDGES));
        }
        match Value::parse_literal(text.trim()) {
            Ok(Value::Dict(pairs)) => {
                // Its text is no JSON, and formats of our own records read theirs from that.
                self.find_in_object(RowInput::of_pairs("", pairs, self.index, self.options), levels)
            }
            Ok(Value::List(items)) => self.read_list(items),
            Ok(other) => Err(not_json.unwrap_or_else(|| unknown_shape(&shown(&other)))),
            Err(_) => Err(not_json.unwrap_or_else(|| unknown_shape(&shown(&Value::str(text))))),
        }
    }

    fn read_list(&self, items: Vec<Value>) -> Result<ProblemRow, RowFault> {
        let name = self.index.to_string();
        if items.is_empty() || items.iter().any(|item| !matches!(item, Value::Str(_))) {
            let (checks, judges) = test_cases::checks("", items)?;
            return Ok(problem(name, checks, judges));
        }
        let texts = items.into_iter().filter_map(|item| if let Value::Str(text) = item { Some(text) } else { None });
        let texts: Vec<String> = texts.collect();
        match texts.iter().position(|text| !is_test_code(text)) {
            None => Ok(problem(name, Checks::Tests(test_code(&texts)), apps::JUDGES)),
            Some(at) => {
                let found = shown(&Value::str(&texts[at]));
                Err(RowFault::new(format!("[{at}]"), format!("is no test code: {found}")))
            }
        }
    }
}

/// Languages of programs, beside Python, that rows of SYNTHETIC's shape name. `language` may be that of the task's text, too.
const OTHER_LANGUAGES: &str = "javascript js typescript ts java c c++ cpp c# csharp go golang rust ruby php kotlin swift scala haskell perl lua r julia bash sql";

/// Checks that tests are for programs in a language that is judged, where the name of a language lies beside them.
fn check_language(fields: &Fields) -> Result<(), RowFault> {
    let is_other = |language: &str| OTHER_LANGUAGES.split(' ').any(|other| other.eq_ignore_ascii_case(language.trim()));
    match fields.get("language") {
        Some(Value::Str(language))
            if is_other(language) && ScannedLanguage::find(language).is_none() && fields.has("test_cases") =>
        {
            let known: Vec<&str> = SCANNED.iter().map(|known| known.names()[0]).collect();
            let reason = format!("is `{language}`; programs in Python are judged, and in {}", known.join(", "));
            Err(fields.fault("language", reason))
        }
        _ => Ok(()),
    }
}

fn problem(name: String, checks: Checks, judges: SetJudges) -> ProblemRow {
    let prelude = prelude(&checks, judges);
    ProblemRow::Ready(Problem { prelude, ..Problem::new(name, checks) })
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

//! `codeforces`: `open-r1/codeforces`: `id, description, input_format, output_format, official_tests, time_limit, memory_limit, input_mode,
//! generated_checker, interaction_format`. A row with a checker is judged by it, a script of Python's or a program of testlib's in the language that
//! `checker_language` names. Tests that its authors generated lie in files of their own, so only the official ones are run.

use veriplay_core::{Checks, Comparison, Language, Problem, ProblemRow, Value};

use super::fields::{Fields, RowFault, shown};
use super::row_options::{is_python, required_language};
use super::row_tests::through_files;
use super::{ProblemFormat, ProblemStatement, RowInput, apps, test_cases};

pub(super) const FORMAT: ProblemFormat =
    ProblemFormat { name: "codeforces", recognises: |fields| fields.has(TESTS), parse, statement };

const TESTS: &str = "official_tests";

fn statement(fields: &Fields) -> Result<ProblemStatement, RowFault> {
    let mut text = fields.filled_text("description")?.to_owned();
    for (name, title) in [("input_format", "Input"), ("output_format", "Output"), ("note", "Note")] {
        let part = fields.text_or_empty(name)?;
        if !part.is_empty() {
            text += &format!("\n\n{title}\n{part}");
        }
    }
    Ok(ProblemStatement::Instruction { text, tests: Vec::new(), starter_code: String::new() })
}

/// The language of a checker that is not in Python: that which the row names, or C++ where a line includes a header, which is a comment in Python.
fn checker_language(fields: &Fields, checker: &str) -> Result<Option<String>, RowFault> {
    let word = match fields.text_or_empty("checker_language")?.trim() {
        "" if checker.lines().any(|line| line.trim_start().starts_with("#include")) => "cpp",
        word if word.is_empty() || is_python(word) => return Ok(None),
        word => word,
    };
    let language = required_language(fields, "checker_language", word)?;
    Ok(Some(language.names()[0].to_owned()))
}

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let fields = row.fields()?;
    if !fields.text_or_empty("interaction_format")?.trim().is_empty() {
        return Err(fields.fault("interaction_format", "the problem is interactive, and the row has no interactor"));
    }
    let tests = match row.fields_mut()?.take_json(TESTS)? {
        Value::List(tests) => tests,
        other => return Err(RowFault::new(TESTS, format!("expected a list of tests, found {}", shown(&other)))),
    };
    let (checks, _) = test_cases::checks(TESTS, tests)?;
    let fields = row.fields()?;
    let mut checks = match fields.text_or_empty("input_mode")? {
        "" | "stdio" => checks,
        "file" => through_files(checks, "input.txt", "output.txt"),
        mode => {
            return Err(fields.fault("input_mode", format!("`{mode}` is not a mode; known are `stdio` and `file`")));
        }
    };
    let checker = fields.text_or_empty("generated_checker")?;
    if let (Checks::Stdio(checks), false) = (&mut checks, checker.trim().is_empty()) {
        let checker_language = checker_language(fields, checker)?;
        let checker_script = Some(checker.to_owned());
        checks.comparison = Comparison { checker_script, checker_language, ..Comparison::by("checker") };
    }
    let prelude = apps::PRELUDE.to_owned();
    Ok(ProblemRow::Ready(Problem { prelude, ..Problem::new(row.id(&["task_id", "id"])?, checks) }))
}

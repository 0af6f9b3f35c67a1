//! `multipl_e`: MultiPL-E (arXiv 2208.08227), HumanEval and MBPP in other languages: `name, language, prompt, tests, stop_tokens`. A completion is
//! put behind the prompt, up to the first stop token, and the tests behind it.

use veriplay_core::{AppendedTests, Checks, Language, Problem, ProblemRow};

use super::fields::RowFault;
use super::row_options::required_language;
use super::{ProblemFormat, RowInput, humaneval};

pub(super) const FORMAT: ProblemFormat = ProblemFormat {
    name: "multipl_e",
    recognises: |fields| fields.has("stop_tokens") && fields.has("tests"),
    parse,
    statement: humaneval::statement,
};

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let fields = row.fields()?;
    let language = required_language(fields, "language", fields.filled_text("language")?)?;
    let source = fields.filled_text("tests")?.to_owned();
    let stop = fields.texts_or_empty("stop_tokens")?;
    let tests = AppendedTests { source, stop, silent: false };
    let prompt = fields.filled_text("prompt")?.to_owned();
    let language = Some(language.names()[0].to_owned());
    Ok(ProblemRow::Ready(Problem { language, prompt, ..Problem::new(row.name(&["name"])?, Checks::Appended(tests)) }))
}

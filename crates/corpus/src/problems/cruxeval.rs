//! `cruxeval`: CRUXEval (arXiv 2401.03065): `code, input, output, id`. An attempt predicts the output, or, with
//! [`Predicted::Input`], an input that gives it.

use veriplay_core::{Checks, Prediction, Problem, ProblemRow, Value};

use super::fields::{Fields, RowFault};
use super::{ProblemFormat, ProblemStatement, RowInput};

pub(super) const FORMAT: ProblemFormat = ProblemFormat {
    name: "cruxeval",
    // `code`, `input` and `output` say too little: other sets have them too.
    recognises: |_| false,
    parse,
    statement,
};

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let fields = row.fields()?;
    let output = Value::parse_literal(fields.text("output")?);
    let prediction = Prediction {
        program: fields.filled_text("code")?.to_owned(),
        input: fields.text("input")?.to_owned(),
        output: output.map_err(|error| fields.fault("output", format!("is no Python literal: {error}")))?,
        wanted: row.options.predict,
    };
    Ok(ProblemRow::Ready(Problem::new(row.name(&["id"])?, Checks::Prediction(prediction))))
}

fn statement(fields: &Fields) -> Result<ProblemStatement, RowFault> {
    let [program, input, output] = ["code", "input", "output"].map(|name| fields.text(name).map(str::to_owned));
    Ok(ProblemStatement::Prediction { program: program?, input: input?, output: output? })
}

//! `evalplus`: HumanEval+ and MBPP+ as EvalPlus publishes them (arXiv 2305.01210): `task_id, prompt, entry_point,
//! canonical_solution, base_input, plus_input, atol`.
//!
//! The expected values are not in the file: they are what the canonical solution, put behind the prompt, returns. A row is
//! therefore [`ProblemRow::Unexecuted`]. All calls of an attempt run in one state, as they do there.

use veriplay_core::{
    CallChecks, Comparison, ExpectedResult, LimitOverrides, ProblemRow, Tolerance, UnexecutedProblem, Value,
};

use super::fields::{Fields, RowFault};
use super::humaneval::statement;
use super::{ProblemFormat, RowInput, mbpp_plus};

pub(super) const FORMAT: ProblemFormat = ProblemFormat {
    name: "evalplus",
    recognises: |fields| fields.has("entry_point") && fields.has("base_input"),
    parse,
    statement,
};

/// The judge of EvalPlus' rule.
const JUDGE: &str = "evalplus";

/// The relative tolerance in addition to `atol`: numpy's `assert_allclose` has it.
const RELATIVE: f64 = 1e-7;

/// Functions of MBPP+ that are only asked whether they find anything: the canonical ones return match objects.
const NOT_NONE: [&str; 3] = ["check_str", "text_match_three", "text_starta_endb"];

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let fields = row.fields()?;
    let task_id = row.name(&["task_id"])?;
    let prompt = fields.filled_text("prompt")?.to_owned();
    let reference = format!("{prompt}{}", fields.filled_text("canonical_solution")?);
    let function = fields.filled_text("entry_point")?.to_owned();
    let asks_not_none = task_id.starts_with(mbpp_plus::PREFIX) && NOT_NONE.contains(&function.as_str());
    let expects = if asks_not_none { ExpectedResult::NotNone } else { ExpectedResult::Value };
    let comparison = Comparison { tolerance: tolerance(fields)?, ..Comparison::by_set(JUDGE) };
    let inputs = inputs(row.fields_mut()?, &task_id)?;
    let checks = CallChecks { function, cases: Vec::new(), fresh: false, comparison };
    let limits = LimitOverrides::default();
    Ok(ProblemRow::Unexecuted(UnexecutedProblem { task_id, prompt, checks, inputs, reference, expects, limits }))
}

/// `None` for an `atol` of zero: then the judge's own rule for floats holds.
fn tolerance(fields: &Fields) -> Result<Option<Tolerance>, RowFault> {
    let absolute = match fields.get("atol") {
        None => 0.0,
        Some(Value::Float(value)) => *value,
        Some(Value::Int(value)) => value.to_string().parse().unwrap_or(f64::NAN),
        Some(other) => return Err(fields.fault("atol", format!("expected a number, found {}", other.type_name()))),
    };
    if !(absolute.is_finite() && absolute >= 0.0) {
        return Err(fields.fault("atol", format!("`{absolute}` is not a tolerance")));
    }
    Ok((absolute > 0.0).then_some(Tolerance { absolute, relative: RELATIVE }))
}

fn inputs(fields: &mut Fields, task_id: &str) -> Result<Vec<Vec<Value>>, RowFault> {
    let mut inputs = Vec::new();
    for name in ["base_input", "plus_input"] {
        // MBPP+ writes `{}` where there are no inputs beyond the first ones.
        let none = matches!(fields.get(name), Some(Value::Dict(pairs)) if pairs.is_empty());
        let found = if none || !fields.has(name) { Vec::new() } else { fields.take_list(name)? };
        for (at, input) in found.into_iter().enumerate() {
            let place = format!("{name}[{at}]");
            let arguments = match input {
                Value::List(arguments) => arguments,
                other => {
                    let reason = format!("expected a list of arguments, found {}", other.type_name());
                    return Err(fields.fault(&place, reason));
                }
            };
            let arguments = mbpp_plus::arguments(task_id, arguments);
            inputs.push(arguments.map_err(|reason| fields.fault(&place, reason))?);
        }
    }
    if inputs.is_empty() { Err(fields.fault("base_input", "holds no inputs")) } else { Ok(inputs) }
}

//! The judge that a row of any set may name for itself, in the field `judge`: a name, a name with options, or an object. The verifier knows which judges
//! there are.

use serde_json::{Map, Number, Value as Json};
use veriplay_core::{Comparison, Value};

use super::ProblemRow;
use super::fields::{FieldError, Fields, shown};

/// The field.
const JUDGE: &str = "judge";

/// Takes over the judge that the row itself names, if it does.
pub(super) fn choose_own_judge(row: &mut ProblemRow, fields: &Fields) -> Result<(), FieldError> {
    let Some(named) = fields.get(JUDGE) else { return Ok(()) };
    let text = match (named, json(named)) {
        (Value::Str(name), _) => name.clone(),
        (Value::Dict(_), Some(object)) => object.to_string(),
        _ => {
            let reason = format!("expected the name of a judge, or an object with `judge`; found {}", shown(named));
            return Err(fields.fault(JUDGE, reason));
        }
    };
    let chosen = Comparison::parse(&text).map_err(|why| fields.fault(JUDGE, why))?;
    let Some(own) = row.comparison_mut() else {
        return Err(fields.fault(JUDGE, "no judge compares outputs of this task; hint: leave it out"));
    };
    own.choose(&chosen);
    own.is_default = false;
    Ok(())
}

/// Options as JSON.
fn json(value: &Value) -> Option<Json> {
    match value {
        Value::Str(text) => Some(Json::from(text.as_str())),
        Value::Int(number) => number.to_string().parse().ok().map(Json::Number),
        Value::Float(number) => Number::from_f64(*number).map(Json::Number),
        Value::Dict(pairs) => {
            let member = |(key, value): &(Value, Value)| match key {
                Value::Str(key) => Some((key.clone(), json(value)?)),
                _ => None,
            };
            pairs.iter().map(member).collect::<Option<Map<_, _>>>().map(Json::Object)
        }
        _ => None,
    }
}

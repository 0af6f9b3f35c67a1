//! The judge that a row of any set may name for itself, in the field `judge`: a name, a name with options, or an object. The verifier knows which judges
//! there are.

use serde_json::{Map, Number, Value as Json};
use veriplay_core::{Comparison, ProblemRow, Value};

use super::fields::{FieldError, Fields, shown};

/// The field.
const JUDGE: &str = "judge";

/// The judge that the row itself names, if it does.
pub(super) fn named_judge(fields: &Fields) -> Result<Option<Comparison>, FieldError> {
    let Some(named) = fields.get(JUDGE) else { return Ok(None) };
    let text = match (named, json(named)) {
        (Value::Str(name), _) => name.clone(),
        (Value::Dict(_), Some(object)) => object.to_string(),
        _ => {
            let reason = format!("expected the name of a judge, or an object with `judge`; found {}", shown(named));
            return Err(fields.fault(JUDGE, reason));
        }
    };
    Comparison::parse(&text).map(Some).map_err(|why| fields.fault(JUDGE, why))
}

/// Takes over the judge that the row itself names.
pub(super) fn choose(row: &mut ProblemRow, named: &Comparison) -> Result<(), FieldError> {
    let Some(own) = row.comparison_mut() else {
        return Err(FieldError::new(JUDGE, "no judge compares outputs of this task; hint: leave it out"));
    };
    own.choose(named);
    own.is_default = false;
    Ok(())
}

/// Options as JSON.
fn json(value: &Value) -> Option<Json> {
    match value {
        Value::None => Some(Json::Null),
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

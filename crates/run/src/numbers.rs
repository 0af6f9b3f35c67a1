//! The numbers of events and timings, by their paths: what is plotted, printed and sent to trackers.

use serde_json::Value;

/// Keys of objects in a list that tell them apart.
const LABELS: &[&str] = &["role", "task_type", "mode", "name", "operator", "row"];

/// The numbers of an event or a timing, each with its path, apart from those that number it.
pub fn named_numbers(event: &Value) -> Vec<(String, f64)> {
    let mut numbers = Vec::new();
    add_numbers(&mut numbers, String::new(), event);
    numbers.retain(|(name, _)| !["schema_version", "step"].contains(&name.as_str()));
    numbers
}

fn add_numbers(numbers: &mut Vec<(String, f64)>, path: String, value: &Value) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    match value {
        Value::Number(number) => numbers.extend(number.as_f64().map(|number| (path, number))),
        Value::Object(fields) => fields.iter().for_each(|(name, field)| add_numbers(numbers, below(name), field)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let labels: Vec<&str> = LABELS.iter().filter_map(|label| item.get(*label)?.as_str()).collect();
                let name = if labels.is_empty() { index.to_string() } else { labels.join(" ") };
                add_numbers(numbers, below(&name), item);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_number_of_an_event_has_a_path() {
        let event = json!({
            "schema_version": 1, "step": 4, "actor/loss": null, "actor/lr": 0.5,
            "play": {"statuses": {"accepted": 3}, "roles": [{"role": "solver", "task_type": "induction", "solve_rate": 0.25}], "list": [7]},
        });
        let mut numbers = named_numbers(&event);
        numbers.sort_by(|one, other| one.0.cmp(&other.0));
        let numbers: Vec<(&str, f64)> = numbers.iter().map(|(name, number)| (name.as_str(), *number)).collect();
        let rate = "play/roles/solver induction/solve_rate";
        assert_eq!(numbers, [("actor/lr", 0.5), ("play/list/0", 7.0), (rate, 0.25), ("play/statuses/accepted", 3.0)]);
    }
}

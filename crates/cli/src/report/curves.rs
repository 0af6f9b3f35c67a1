//! The curves of a run: every number of `events.jsonl`, by its path.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context;
use minijinja::context;
use serde_json::Value;

use super::chart;
use crate::exit::{ExitCode, Failure, ResultExt};

/// Points (step, value) of each number, by its path, such as `play/roles/solver deduction/solve_rate`.
pub(crate) type Curves = BTreeMap<String, Vec<(f64, f64)>>;

/// Last parts of paths whose curves come first: how the policy learns, and what it makes.
const MAIN: &[&str] = &[
    "reward_mean",
    "solve_rate",
    "valid_rate",
    "valid_share",
    "learnable_share",
    "code_pass_rate",
    "test_accuracy",
    "entropy",
    "loss",
    "grad_norm",
    "ppo_kl",
    "kl_loss",
];

/// Keys of objects in a list that tell them apart.
const LABELS: &[&str] = &["role", "task_type", "mode", "name", "operator"];

/// Reads the curves of `events.jsonl`. A last line that is still being written is left out.
pub(crate) fn read_curves(path: &Path) -> Result<Curves, Failure> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()));
    let text = text.or_fail(ExitCode::Input)?;
    let mut curves = Curves::new();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    for (number, line) in whole.lines().enumerate() {
        let event: Value = serde_json::from_str(line)
            .with_context(|| format!("`{}` line {} is not an event", path.display(), number + 1))
            .or_fail(ExitCode::Input)?;
        let step = event["step"].as_f64().unwrap_or(number as f64);
        add_numbers(&mut curves, String::new(), step, &event);
    }
    for key in ["schema_version", "step"] {
        curves.remove(key);
    }
    Ok(curves)
}

fn add_numbers(curves: &mut Curves, path: String, step: f64, value: &Value) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    match value {
        Value::Number(number) => {
            curves.entry(path).or_default().extend(number.as_f64().map(|number| (step, number)));
        }
        Value::Object(fields) => fields.iter().for_each(|(name, field)| add_numbers(curves, below(name), step, field)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let labels: Vec<&str> = LABELS.iter().filter_map(|label| item.get(*label)?.as_str()).collect();
                let name = if labels.is_empty() { index.to_string() } else { labels.join(" ") };
                add_numbers(curves, below(&name), step, item);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// A chart of each number with the curves of all runs, as `title` and `svg`: the main ones, and the others. What never changes has none.
pub(crate) fn charts(names: &[&str], runs: &[&Curves]) -> (Vec<minijinja::Value>, Vec<minijinja::Value>) {
    let paths: BTreeSet<&String> = runs.iter().flat_map(|run| run.keys()).collect();
    let (mut main, mut others) = (Vec::new(), Vec::new());
    for path in paths {
        let curves: Vec<(usize, &[(f64, f64)])> =
            runs.iter().enumerate().filter_map(|(run, curves)| Some((run, curves.get(path)?.as_slice()))).collect();
        let first = curves.iter().find_map(|(_, points)| Some(points.first()?.1));
        if curves.iter().all(|(_, points)| points.iter().all(|(_, value)| Some(*value) == first)) {
            continue;
        }
        let chart = context!(title => path.as_str(), svg => chart::draw(&curves, names));
        let last = path.rsplit('/').next().unwrap_or(path);
        if MAIN.contains(&last) { main.push(chart) } else { others.push(chart) }
    }
    (main, others)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Curves, add_numbers, charts};

    #[test]
    fn every_number_of_an_event_has_a_path() {
        let mut curves = Curves::new();
        let event = json!({
            "actor/loss": null, "actor/lr": 0.5,
            "play": {"statuses": {"accepted": 3}, "roles": [{"role": "solver", "task_type": "induction", "solve_rate": 0.25}], "list": [7]},
        });
        add_numbers(&mut curves, String::new(), 4.0, &event);
        let paths: Vec<&str> = curves.keys().map(String::as_str).collect();
        assert_eq!(
            paths,
            ["actor/lr", "play/list/0", "play/roles/solver induction/solve_rate", "play/statuses/accepted"]
        );
        assert_eq!(curves["play/statuses/accepted"], [(4.0, 3.0)]);
    }

    #[test]
    fn a_number_that_never_changes_has_no_chart() {
        let flat = Curves::from([("a/loss".to_owned(), vec![(0.0, 1.0), (1.0, 1.0)])]);
        let moving = Curves::from([("a/loss".to_owned(), vec![(0.0, 1.0), (1.0, 2.0)])]);
        let counted = |runs: &[&Curves]| (charts(&["one", "two"], runs).0.len(), charts(&["one", "two"], runs).1.len());
        assert_eq!(counted(&[&flat, &flat]), (0, 0));
        assert_eq!(counted(&[&flat, &moving]), (1, 0));
    }
}

//! What codes and assertions reach for that no program and no test needs: source text, frames, modules, the test runner.
//!
//! Python's own parser reads them in the sandbox; nothing of them is run.

use std::collections::BTreeMap;

use veriplay_core::{CallResult, Dropped, Entry, Execute, Exit, Job, Value};

use super::rules::AgreementRules;
use crate::run::{NoValue, Runner, calls, value};

const PROGRAM: &str = include_str!("python/reach.py");
/// Uses that are no reach: without the module of builtins, which is one, `compile` is an attribute of `re` and the like.
const PLAIN: [&str; 1] = ["attribute compile"];
/// The answers have no chance in them.
const SEED: u64 = 0;

/// The first thing that each of `texts` reaches for; nothing for those that reach for nothing.
pub(super) fn scan(
    execute: &dyn Execute,
    rules: &AgreementRules,
    texts: &[&str],
) -> Result<BTreeMap<String, String>, Dropped> {
    let mut found = BTreeMap::new();
    if texts.is_empty() {
        return Ok(found);
    }
    let arguments = texts.iter().map(|text| vec![Value::str(*text)]).collect();
    let mut runner = Runner::new(execute);
    let job = calls(&rules.image, PROGRAM, Vec::new(), rules.tool_limits, SEED);
    let outcome = runner.run(&Job { entry: Entry::Calls { function: "reach".to_owned(), arguments }, ..job })?;
    if outcome.exit == Exit::Returned && outcome.calls.len() == texts.len() {
        let read = texts
            .iter()
            .zip(&outcome.calls)
            .filter_map(|(text, call)| Some(((*text).to_owned(), use_of(call, rules)?)));
        found.extend(read);
        return Ok(found);
    }
    match texts {
        // What cannot be read within the limits is not trusted.
        [text] => drop(found.insert((*text).to_owned(), "it cannot be read".to_owned())),
        _ => {
            for text in texts {
                found.extend(scan(execute, rules, &[*text])?);
            }
        }
    }
    Ok(found)
}

fn use_of(call: &CallResult, rules: &AgreementRules) -> Option<String> {
    match value(call, &rules.tool_limits) {
        Ok(Value::List(uses)) => uses.iter().map(text_of).find(|text| !PLAIN.contains(&text.as_str())),
        Ok(other) => Some(format!("`{other}` is no list of uses")),
        Err(NoValue::Raised(text) | NoValue::NoPlainValue(text)) => Some(format!("it cannot be read: {text}")),
    }
}

fn text_of(value: &Value) -> String {
    if let Value::Str(text) = value { text.clone() } else { value.to_string() }
}

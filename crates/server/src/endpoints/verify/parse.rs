//! Reads the bodies of `/v1/verify` and `/v1/tasks`. A row that cannot be read is the fault of the attempts at its task alone; anything else that is wrong
//! refuses the request.

use std::collections::HashMap;
use std::sync::Arc;

use veriplay_core::{AttemptText, Digest, Predicted};

use super::{AttemptPlace, AttemptRequest, KeptTask, Name};
use crate::answer::shortened;
use crate::body::parse_record;
use crate::compat::read_judge;
use crate::json_slices::{array_items, object_members};
use crate::judge::{AUTO_FORMAT, Judge, JudgeOptions, OpenTask, TaskError, TaskSource};
use crate::limits::LimitsRequest;
use crate::objects::{Count, Object};
use crate::problem::Problem;
use crate::rows::{Fault, ServedRow};
use crate::service::AttemptWork;

/// The members of a request's object, as texts.
pub(super) struct Members<'a>(Vec<(String, &'a str)>);

impl<'a> Members<'a> {
    pub(super) fn parse(text: &'a [u8], known: &[&str]) -> Result<Self, Problem> {
        let text = std::str::from_utf8(text).map_err(|error| Problem::not_json(error.to_string()))?;
        let members = object_members(text).map_err(|error| Problem::not_json(error.to_string()))?;
        Self::named(members, known, "")
    }

    /// Checks that each key is known and stands once.
    fn named(members: Vec<(&'a str, &'a str)>, known: &[&str], path: &str) -> Result<Self, Problem> {
        let mut found: Vec<(String, &str)> = Vec::with_capacity(members.len());
        for (key, value) in members {
            let key: String = serde_json::from_str(key).map_err(|error| Problem::not_json(error.to_string()))?;
            let field = format!("{path}{key}");
            if !known.contains(&key.as_str()) {
                return Err(Problem::invalid(field, format!("unknown field; known are {}", known.join(", "))));
            }
            if found.iter().any(|(other, _)| *other == key) {
                return Err(Problem::invalid(field, "it is given twice"));
            }
            found.push((key, value));
        }
        Ok(Self(found))
    }

    /// A member, unless it is absent or `null`.
    fn get(&self, name: &str) -> Option<&'a str> {
        self.get_any(name).filter(|value| *value != "null")
    }

    /// A member that may be `null`.
    fn get_any(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    pub(super) fn required(&self, name: &str) -> Result<&'a str, Problem> {
        self.get(name).ok_or_else(|| Problem::invalid(name, "it is missing"))
    }

    /// A member as a record; its default where it is absent.
    fn record<T: serde::de::DeserializeOwned + Default>(&self, name: &str) -> Result<T, Problem> {
        self.get(name).map_or_else(|| Ok(T::default()), |text| parse_member(name, text))
    }
}

/// Parses a member. Problems name it, and the place in it.
fn parse_member<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> Result<T, Problem> {
    parse_record(text.as_bytes()).map_err(|problem| {
        let field = match problem.field.as_deref() {
            None => name.to_owned(),
            Some(inner) if inner.starts_with('[') => format!("{name}{inner}"),
            Some(inner) => format!("{name}.{inner}"),
        };
        Problem { field: Some(field), ..problem }
    })
}

/// A request whose fields are right.
pub(super) struct ParsedVerify {
    pub(super) tasks: Vec<KeptTask>,
    pub(super) attempts: Vec<AttemptWork>,
    /// The places of `attempts`.
    pub(super) places: Vec<AttemptPlace>,
    /// The rows of attempts at tasks that cannot be read.
    pub(super) refused: Vec<ServedRow>,
    pub(super) deadline_ms: Option<u64>,
}

impl ParsedVerify {
    pub(super) fn parse(judge: &Arc<dyn Judge>, text: &[u8]) -> Result<Self, Problem> {
        let known = ["tasks", "attempts", "judge", "limits", "seed", "early_stop", "deadline_ms"];
        let members = Members::parse(text, &known)?;
        let limits: Option<Object<LimitsRequest>> = members.record("limits")?;
        let limits = limits.map(|Object(limits)| limits).unwrap_or_default().overrides()?;
        let facts = judge.facts();
        facts.check_limits(&limits.apply(facts.limits)).map_err(|(field, why)| Problem::invalid(field, why))?;
        let (Count(seed), early_stop) = (members.record::<Count>("seed")?, members.record("early_stop")?);
        let judge_named = members.get("judge").map(|text| parse_member("judge", text)).transpose()?;
        let chosen = judge_named.as_ref().map(read_judge).transpose().map_err(|why| Problem::invalid("judge", why))?;
        let options = JudgeOptions { judge: chosen, limits, seed, early_stop };
        let deadline_ms = members.record::<Option<Count>>("deadline_ms")?.map(|Count(ms)| ms);
        let attempts: Vec<Object<AttemptRequest>> = parse_member("attempts", members.required("attempts")?)?;
        let tasks = open_tasks(judge, members.required("tasks")?, &options)?;
        let kept = tasks.iter().map(RequestedTask::kept).collect();
        let mut parsed =
            Self { tasks: kept, attempts: Vec::new(), places: Vec::new(), refused: Vec::new(), deadline_ms };
        parsed.pair(attempts, &tasks)?;
        Ok(parsed)
    }

    fn pair(&mut self, attempts: Vec<Object<AttemptRequest>>, tasks: &[RequestedTask]) -> Result<(), Problem> {
        let names = tasks.iter().enumerate().filter_map(|(at, task)| Some((task.name.as_deref()?, at)));
        let by_name: HashMap<&str, usize> = names.collect();
        let nameless = tasks.iter().position(|task| task.name.is_none());
        let mut seen = vec![0_u64; tasks.len()];
        for (index, Object(attempt)) in attempts.into_iter().enumerate() {
            let path = |field: &str| format!("attempts[{index}].{field}");
            let task_id = attempt.task_id.0;
            // An attempt that names no other task is at one whose row does not say its name.
            let Some(task) = by_name.get(task_id.as_str()).copied().or(nameless) else {
                let why = format!("no task of this request has the name `{task_id}`");
                return Err(Problem::invalid(path("task_id"), why));
            };
            let text = match (attempt.completion, attempt.program) {
                (Some(text), None) => AttemptText::Completion(text),
                (None, Some(text)) => AttemptText::Program(text),
                (None, None) => return Err(Problem::invalid(path("completion"), "it is missing, and `program` too")),
                (Some(_), Some(_)) => {
                    let why = "it stands beside `completion`; one of them is judged";
                    return Err(Problem::invalid(path("program"), why));
                }
            };
            let attempt_id = attempt.attempt_id.map_or_else(|| seen[task].to_string(), |name| name.0);
            seen[task] += 1;
            let place = AttemptPlace { index, task_id, attempt_id: attempt_id.clone() };
            let requested = &tasks[task];
            match &requested.opened {
                Ok(task) => {
                    self.attempts.push(AttemptWork { task: Arc::clone(task), attempt_id, text });
                    self.places.push(place);
                }
                Err(fault) if requested.name.is_some() => self.refused.push(place.row(Err(fault.clone()))),
                Err(fault) => {
                    let why = &fault.message;
                    let message = format!("no other task has this name, and `tasks[{task}].row` cannot be read: {why}");
                    self.refused.push(place.row(Err(Fault { message: shortened(message, 2048), ..fault.clone() })));
                }
            }
        }
        Ok(())
    }
}

/// A task of a request, or the fault of a row that cannot be read.
pub(super) struct RequestedTask {
    name: Option<String>,
    opened: Result<Arc<dyn OpenTask>, Fault>,
}

impl RequestedTask {
    pub(super) fn kept(&self) -> KeptTask {
        let digest = self.opened.as_ref().ok().map(|task| task.digest().to_string());
        KeptTask { task_id: self.name.clone(), digest, fault: self.opened.as_ref().err().cloned() }
    }
}

/// Opens the tasks of a request. A row that cannot be read costs no other its verdict.
pub(super) fn open_tasks(
    judge: &Arc<dyn Judge>,
    text: &str,
    options: &JudgeOptions,
) -> Result<Vec<RequestedTask>, Problem> {
    let items = array_items(text).map_err(|error| Problem::invalid("tasks", error.to_string()))?;
    let mut tasks: Vec<RequestedTask> = Vec::with_capacity(items.len());
    let mut names: HashMap<String, usize> = HashMap::new();
    for (at, item) in items.into_iter().enumerate() {
        let path = format!("tasks[{at}]");
        let NamedSource { name, source } = parse_task(item, &path)?;
        let opened = match source {
            Err(fault) => Err(fault),
            Ok(source) => match Arc::clone(judge).open_task(&source, options) {
                Ok(task) => Ok(task),
                Err(error) => Err(task_fault(error, &path)?),
            },
        };
        let name = name.or_else(|| opened.as_ref().ok().map(|task| task.task_id().to_owned()));
        let task = RequestedTask { name, opened };
        if let Some(name) = &task.name
            && let Some(first) = names.insert(name.clone(), at)
        {
            let why = format!("`{name}` is the name of tasks[{first}] too; hint: give each task a `task_id`");
            return Err(Problem::invalid(path, why));
        }
        tasks.push(task);
    }
    Ok(tasks)
}

struct NamedSource {
    /// Its name, where the request gives it one.
    name: Option<String>,
    /// Where it comes from. A fault where its row is a text that cannot be read.
    source: Result<TaskSource, Fault>,
}

fn parse_task(item: &str, path: &str) -> Result<NamedSource, Problem> {
    let members = object_members(item).map_err(|error| Problem::invalid(path, error.to_string()))?;
    let members = Members::named(members, &["format", "row", "predict", "digest", "task_id"], &format!("{path}."))?;
    let text = |name: &str| -> Result<Option<String>, Problem> {
        members.get(name).map(|text| parse_member(&format!("{path}.{name}"), text)).transpose()
    };
    let name = members.get("task_id").map(|text| parse_member(&format!("{path}.task_id"), text)).transpose()?;
    let name = name.map(|Name(name)| name);
    let (digest, format) = (text("digest")?, text("format")?);
    // A row that is `null` cannot be read, as any other.
    let row = if format.is_some() { members.get_any("row") } else { members.get("row") };
    let source = match (digest, format, row) {
        (Some(digest), None, None) => match Digest::try_from(digest) {
            Ok(digest) => Ok(TaskSource::Digest(digest)),
            Err(error) => return Err(Problem::invalid(format!("{path}.digest"), error.to_string())),
        },
        (None, Some(format), Some(row)) => {
            let predict = match text("predict")?.as_deref() {
                None | Some("output") => Predicted::Output,
                Some("input") => Predicted::Input,
                Some(other) => {
                    let why = format!("expected `output` or `input`, found `{other}`");
                    return Err(Problem::invalid(format!("{path}.predict"), why));
                }
            };
            // In `auto` a text may be more than JSON, and is told by its quotes.
            let is_text = row.starts_with('"') && format != AUTO_FORMAT;
            let row = if is_text { parse_record(row.as_bytes()) } else { Ok(row.to_owned()) };
            let row = row.map_err(|problem| Fault::unreadable_task(String::new(), problem.detail));
            row.map(|row| TaskSource::Row { format, row, predict, name: name.clone() })
        }
        _ => return Err(Problem::invalid(path, "a task is either `format` and `row`, or `digest`")),
    };
    Ok(NamedSource { name, source })
}

/// The fault of a row that cannot be read.
///
/// # Errors
/// Anything else is wrong with the request.
fn task_fault(error: TaskError, path: &str) -> Result<Fault, Problem> {
    let detail = error.to_string();
    match error {
        TaskError::Invalid { field, reason } => Ok(Fault::unreadable_task(field, reason)),
        TaskError::UnknownDigest(_) => Err(Problem::unknown_task(format!("{path}.digest"), detail)),
        TaskError::UnknownFormat(_) => Err(Problem::invalid(format!("{path}.format"), detail)),
        TaskError::Options { field, .. } => Err(Problem::invalid(field, detail)),
    }
}

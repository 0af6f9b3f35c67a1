//! The pages, made of what the other files read.

use std::collections::BTreeSet;

use minijinja::{Value, context};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::progress::counted;
use veriplay_core::{Entry, Job, Outcome, RunReport as JobReport};

use super::filter::RolloutFilter;
use super::rerun::Judged;
use super::rollout_log::{Rollout, RolloutLog, TaskKey};
use super::runs::{Run, RunFolder};
use crate::RunReport;
use crate::records::{Response, ResponseId, cut, responses};
use crate::templates::render_template;
use crate::tokens::TokenTexts;

const PAGE: usize = 50;
/// Tokens that are shown of a rollout.
const TOKENS: usize = 8192;
/// Rows that are shown of one value.
const ROWS: usize = 200;

/// The templates that are not shared with `veriplay report`.
const TEMPLATES: [(&str, &str); 7] = [
    ("layout.html", include_str!("layout.html")),
    ("list.html", include_str!("list.html")),
    ("runs.html", include_str!("runs.html")),
    ("rollouts.html", include_str!("rollouts.html")),
    ("rollout.html", include_str!("rollout.html")),
    ("judged.html", include_str!("judged.html")),
    ("message.html", include_str!("message.html")),
];

pub(crate) struct Views {
    token: String,
    /// Whether there is a list of runs to go back to.
    has_list: bool,
    token_texts: TokenTexts,
}

impl Views {
    pub(crate) fn new(folder: &RunFolder, token: String) -> Self {
        Self { token, has_list: folder.only_run().is_none(), token_texts: TokenTexts::default() }
    }

    fn render(&self, template: &str, tag: &str, values: Value) -> Result<String, Failure> {
        let own = context!(token => &*self.token, tag, has_list => self.has_list, ..values);
        render_template(&TEMPLATES, template, own)
    }

    pub(crate) fn message(&self, what: &str) -> Result<String, Failure> {
        self.render("message.html", "", context!(what))
    }

    pub(crate) fn list(&self, tag: &str, runs: &[Run]) -> Result<String, Failure> {
        self.render("list.html", tag, context!(runs => runs.iter().map(Run::summary).collect::<Vec<_>>()))
    }

    pub(crate) fn runs(&self, tag: &str, runs: &[Run]) -> Result<String, Failure> {
        let read = |run: &Run| RunReport::read(run.folder(), run.name().to_owned(), 0);
        let reports = runs.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
        let summaries = runs.iter().map(Run::summary).collect::<Vec<_>>();
        self.render("runs.html", tag, context!(runs => summaries, ..crate::values(&reports)))
    }

    /// A page of the rollouts that fit, the newest first.
    pub(crate) fn rollouts(
        &self,
        tag: &str,
        run: &Run,
        log: &RolloutLog,
        filter: &RolloutFilter,
    ) -> Result<String, Failure> {
        let all = log.rollouts();
        let mut found: Vec<usize> = (0..all.len()).rev().filter(|place| filter.fits(&all[*place])).collect();
        if !filter.text.is_empty() {
            found = log.search(found, &filter.text)?;
        }
        let pages = found.len().div_ceil(PAGE).max(1);
        let page = filter.page.min(pages);
        let path = format!("{}/rollouts", run.address());
        let shown: Vec<usize> = found.iter().skip((page - 1) * PAGE).take(PAGE).copied().collect();
        let row = |(place, beginning): (&usize, String)| {
            let facts = &all[*place].facts;
            context!(path => format!("{path}/{}", facts.id), beginning, ..facts.to_value())
        };
        let rows = shown.iter().zip(log.beginnings(&shown)?).map(row).collect::<Vec<_>>();
        let at = |page: usize| format!("{path}{}", filter.query(page));
        let values = context!(
            run => run.summary(),
            path => &*path,
            filter => filter_value(filter),
            choices => choices(all),
            rows,
            found => found.len(),
            total => all.len(),
            page,
            pages,
            newer => (page > 1).then(|| at(page - 1)),
            older => (page < pages).then(|| at(page + 1)),
        );
        self.render("rollouts.html", tag, values)
    }

    /// One rollout, whose line of the log is `line`.
    pub(crate) fn rollout(&self, tag: &str, run: &Run, id: ResponseId, line: &str) -> Result<String, Failure> {
        let line: serde_json::Value = serde_json::from_str(line).or_fail(ExitCode::Input)?;
        let found = responses(&line).into_iter().find(|response| response.id == id);
        let Some(response) = found else { return self.message("This rollout is not in the log any more.") };
        let path = format!("{}/rollouts", run.address());
        let values = context!(
            run => run.summary(),
            path => &*path,
            record => response.to_value(run.name(), Vec::new()),
            others => other_rollouts(&path, &response),
            episode => rows(&without(response.episode, &["turns"])),
            tokens => self.token_texts.of(run.folder(), response.episode, TOKENS),
            task => rows(response.task()),
            request => rows(&response.record["request"]),
            detail => rows(&response.judged["detail"]),
            evidence => rows(&response.verdict()["evidence"]),
        );
        self.render("rollout.html", tag, values)
    }

    /// What came of judging a rollout again: a part of a page.
    pub(crate) fn judged(&self, judged: &Judged) -> Result<String, Failure> {
        let jobs = judged.recorded.jobs.iter().map(job_value).collect::<Vec<_>>();
        let report = &judged.report;
        let values = context!(
            verdicts => report.verdicts,
            same => report.same,
            dropped => report.dropped,
            recovered => report.recovered,
            deadline => report.deadline,
            jobs,
            left_out => judged.recorded.left_out,
        );
        self.render("judged.html", "", values)
    }
}

fn filter_value(filter: &RolloutFilter) -> Value {
    context!(
        role => &*filter.role,
        type => &*filter.task_type,
        status => &*filter.status,
        rule => &*filter.rule,
        step => filter.step,
        task => filter.task.map(|task| task.to_string()),
        only => filter.special.map(super::filter::Special::word),
        text => &*filter.text,
    )
}

/// What can be chosen in the form: what there is.
fn choices(all: &[Rollout]) -> Value {
    context!(
        role => each(all, |rollout| rollout.facts.id.kind.role()),
        type => each(all, |rollout| &rollout.facts.task_type),
        status => each(all, |rollout| &rollout.facts.status),
        rule => each(all, |rollout| &rollout.facts.rule),
    )
}

/// The different texts that `text_of` finds, in order.
fn each(all: &[Rollout], text_of: fn(&Rollout) -> &str) -> Vec<String> {
    let found: BTreeSet<&str> = all.iter().map(text_of).filter(|text| !text.is_empty()).collect();
    found.into_iter().map(str::to_owned).collect()
}

/// Addresses of rollouts that belong to this one: at its task, and in its step.
fn other_rollouts(path: &str, response: &Response<'_>) -> Value {
    let task = Some(TaskKey::of(response)).filter(|task| *task != TaskKey::default());
    let of_task = RolloutFilter { task, ..RolloutFilter::default() };
    let of_step = RolloutFilter { step: Some(response.id.step), ..RolloutFilter::default() };
    let at = |filter: &RolloutFilter| format!("{path}{}", filter.query(1));
    context!(task => task.map(|_| at(&of_task)), step => at(&of_step))
}

/// JSON as rows of paths and texts.
fn rows(value: &serde_json::Value) -> Vec<Value> {
    fields(value).iter().map(|(path, text)| context!(path => path.as_str(), text => text.as_str())).collect()
}

fn without(value: &serde_json::Value, names: &[&str]) -> serde_json::Value {
    let fields = value.as_object().into_iter().flatten().filter(|(name, _)| !names.contains(&name.as_str()));
    fields.map(|(name, field)| (name.clone(), field.clone())).collect()
}

fn job_value((job, outcome): &(Job, Outcome)) -> Value {
    let report = JobReport::new(outcome.clone(), &job.limits);
    context!(
        digest => job.digest().to_string(),
        program => cut(job.program.clone()),
        callee => job.callee.as_ref().map(|callee| cut(callee.program.clone())),
        calls => cut(calls(&job.entry)),
        stdin => cut(String::from_utf8_lossy(&job.stdin).into_owned()),
        exit => report.exit,
        exit_code => report.exit_code,
        value => report.value.map(|value| cut(value.to_string())),
        error => report.error.map(|error| cut(format!("{}: {}", error.kind, error.message))),
        stdout => cut(report.stdout),
        stderr => cut(report.stderr),
        fuel => report.fuel,
        memory_mib => report.peak_memory_bytes >> 20,
    )
}

/// The calls of a job; nothing for a script.
fn calls(entry: &Entry) -> String {
    let Entry::Calls { function, arguments } = entry else { return String::new() };
    let call = |arguments: &Vec<veriplay_core::Value>| {
        let texts: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        format!("{function}({})", texts.join(", "))
    };
    arguments.iter().map(call).collect::<Vec<_>>().join("\n")
}

/// JSON for people, so that a program in it is read as a program: paths such as `question/deduction/program`, and texts. Lists of plain values are one row.
fn fields(value: &serde_json::Value) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    add_rows(&mut rows, String::new(), value);
    if rows.len() > ROWS {
        let left = rows.len() - ROWS;
        rows.truncate(ROWS);
        rows.push(("…".to_owned(), format!("{}: see `rollouts.jsonl.zst`", counted(left, "more value"))));
    }
    rows
}

fn add_rows(rows: &mut Vec<(String, String)>, path: String, value: &serde_json::Value) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    let is_plain = |value: &serde_json::Value| !value.is_object() && !value.is_array();
    match value {
        serde_json::Value::Null => {}
        serde_json::Value::String(text) if text.is_empty() => {}
        serde_json::Value::String(text) => rows.push((path, cut(text.clone()))),
        serde_json::Value::Object(fields) => fields.iter().for_each(|(name, field)| add_rows(rows, below(name), field)),
        serde_json::Value::Array(items) if !items.iter().all(is_plain) => {
            items.iter().enumerate().for_each(|(index, item)| add_rows(rows, below(&index.to_string()), item));
        }
        other => rows.push((path, cut(other.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ROWS, fields};

    #[test]
    fn every_value_has_a_row() {
        let value = json!({"question": {"program": "def f(x):\n    return x", "inputs": [1, 2], "pairs": [{"a": 1}, {"a": "<b>"}]}, "none": null, "empty": ""});
        let rows: Vec<(String, String)> = fields(&value);
        let rows: Vec<(&str, &str)> = rows.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let expected = [
            ("question/inputs", "[1,2]"),
            ("question/pairs/0/a", "1"),
            ("question/pairs/1/a", "<b>"),
            ("question/program", "def f(x):\n    return x"),
        ];
        assert!(expected.iter().all(|row| rows.contains(row)) && rows.len() == 4, "{rows:?}");
    }

    #[test]
    fn a_large_value_is_cut() {
        let rows = fields(&json!((0..1000).map(|number| json!({"n": number})).collect::<Vec<_>>()));
        assert_eq!((rows.len(), rows[ROWS].1.as_str()), (ROWS + 1, "800 more values: see `rollouts.jsonl.zst`"));
    }
}

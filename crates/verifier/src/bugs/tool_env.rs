//! The tool environment in which a policy works on a repository: it lists, reads, searches, edits, and runs tests.
//!
//! Called by the game `bug_repair`, for solvers and injectors alike. Where each tool runs, and why:
//! - **list, read, search** are a program of ours in the sandbox, over the layer and the tree's changes as job files. A pattern
//!   is the policy's, so what it costs is the job's fuel, and a hostile one ends by it.
//! - **run** is pytest in the sandbox, as everywhere else. What it runs is the policy's tree: in a solver's, the oracle tests are
//!   weakened. Each result is a record; nothing is read from a log.
//! - **edit** is a replacement of text on the host. Nothing is executed there that the policy wrote: a search for an exact
//!   piece of text, and a copy.
//!
//! # Invariants
//! No job of a tool environment holds, within reach of what runs in it, the text of a file that its tree has changed: the tree's own files
//! lie over the layer's. The image must not hold it either: one that was warmed for the repository has the original's sources,
//! compiled, in its memory, where code under test finds them. [`RepoToolRequest::image`] is therefore another than the one repairs
//! are graded in: plain, or warmed for pytest and an empty package.

mod batch;
mod functions;
mod solver_view;
mod test_report;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use veriplay_core::{
    Base, Digest, Dropped, Evidence, Execute, Job, LayerRoot, Limits, Mounted, Outcome, Status, TextFiles, Value,
    check_path,
};

pub use batch::{
    GradeRequest, MutateRequest, ValidateRequest, functions_all, grade_all, mutate_all, propose_all, serve_all,
    validate_all, view_all,
};
pub use functions::{EMPTY_BODY, FunctionSource, changed_function, list_functions};
pub use solver_view::{SolverView, ViewRequest, repair_of, solver_view, test_function};

use super::RepoContext;
use super::bug_states::Overlay;
use super::paths::is_loaded_by_itself;
use crate::runner::{NoValue, Runner, decode_call, job_failure, truncate_detail};

/// Lists, reads and searches; see its docstring.
const TOOL_SERVER: &str = include_str!("python/tool_server.py");
/// Seeds list, read and search, which draw nothing.
const SEED: u64 = 0;

/// One call of a tool. Paths are relative to the repository; the empty one is its root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RepoToolCall {
    /// Names the files under a path.
    List {
        /// A directory or a file.
        path: String,
    },
    /// Shows lines of a file.
    Read {
        /// The file.
        path: String,
        /// The first line, from 1.
        first: usize,
        /// The last line.
        last: usize,
    },
    /// Shows the lines that hold a pattern.
    Search {
        /// Where: a directory or a file.
        path: String,
        /// What.
        pattern: String,
        /// Whether it is a regular expression of Python's `re`, and not the text itself.
        expression: bool,
    },
    /// Replaces a piece of text that a file has exactly once.
    Edit {
        /// The file.
        path: String,
        /// The text that is there; not empty.
        old: String,
        /// Its replacement.
        new: String,
    },
    /// Runs tests.
    Run {
        /// Test files, ids, or ids without their parameters. None: what [`DefaultTests`] says.
        tests: Vec<String>,
    },
}

impl RepoToolCall {
    /// The tool's name, in dialects and in metrics.
    #[must_use]
    pub const fn tool(&self) -> &'static str {
        match self {
            RepoToolCall::List { .. } => "list",
            RepoToolCall::Read { .. } => "read",
            RepoToolCall::Search { .. } => "search",
            RepoToolCall::Edit { .. } => "edit",
            RepoToolCall::Run { .. } => "run",
        }
    }
}

/// The tests that a run without names runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultTests {
    /// Those that can notice how the tree differs from the original: an injector's.
    Affected,
    /// All of these files: a solver's. Which tests notice the bug would say where it is.
    Files(Vec<String>),
}

/// A call to be served.
#[derive(Debug, Clone, Copy)]
pub struct RepoToolRequest<'a> {
    /// The repository.
    pub repo: &'a RepoContext<'a>,
    /// The image of its jobs, in which nothing of the repository was compiled.
    pub image: &'a str,
    /// The repository's text files as the policy has them.
    pub tree: &'a TextFiles,
    /// Tests that a run without names runs.
    pub suite: &'a DefaultTests,
    /// The call.
    pub call: &'a RepoToolCall,
    /// Fuel that it may use, beside the repo's own limit of each job.
    pub fuel: u64,
    /// Characters that are shown of what came of it.
    pub shown_chars: usize,
    /// Seeds runs of tests.
    pub seed: u64,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    /// It did what was asked.
    Done,
    /// It could not be done, and nothing was.
    Refused,
    /// It used up a limit.
    Stopped(Status),
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoToolOutcome {
    /// How it ended.
    pub end: CallEnd,
    /// What the policy is shown.
    pub shown: String,
    /// The file that was edited, and its text now.
    pub edited: Option<(String, String)>,
    /// Jobs and fuel.
    pub evidence: Evidence,
}

impl RepoToolOutcome {
    fn done(shown: String, evidence: Evidence) -> Self {
        Self { end: CallEnd::Done, shown, edited: None, evidence }
    }

    fn refused(why: impl Into<String>) -> Self {
        let shown = format!("Refused: {}.", why.into());
        Self { end: CallEnd::Refused, shown, edited: None, evidence: Evidence::default() }
    }
}

/// Does what the call asks.
///
/// # Errors
/// A host fault. Whatever the policy's tree, pattern or tests do is in the [`RepoToolOutcome`].
pub fn serve_tool_call(execute: &dyn Execute, request: &RepoToolRequest<'_>) -> Result<RepoToolOutcome, Dropped> {
    let served = match request.call {
        RepoToolCall::Edit { path, old, new } => Ok(edit(request.tree, path, old, new)),
        RepoToolCall::Run { tests } => test_report::run_named_tests(execute, request, tests),
        RepoToolCall::List { path } | RepoToolCall::Read { path, .. } | RepoToolCall::Search { path, .. } => {
            match path.is_empty() || check_path(path).is_ok() {
                true => run_tool_server(execute, request),
                false => Ok(RepoToolOutcome::refused(format!("`{path}` is no path in the repository"))),
            }
        }
    };
    served.map(|outcome| RepoToolOutcome { shown: truncate_output(&outcome.shown, request.shown_chars), ..outcome })
}

/// Lists, reads or searches. The caller has checked the path.
fn run_tool_server(execute: &dyn Execute, request: &RepoToolRequest<'_>) -> Result<RepoToolOutcome, Dropped> {
    let Some((path, arguments)) = tool_arguments(request.call) else {
        return Ok(RepoToolOutcome::refused("it is no tool that looks"));
    };
    let mut runner = Runner::new(execute);
    let outcome = runner.run(&tool_job(request, path, arguments))?;
    let evidence = std::mem::take(&mut runner.evidence);
    Ok(match (job_failure(&outcome), parse_tool_answer(&outcome, &request.repo.limits)) {
        (None, Ok((true, text))) => RepoToolOutcome::done(text, evidence),
        (None, Ok((false, why))) => RepoToolOutcome { evidence, ..RepoToolOutcome::refused(why) },
        (Some((status, why)), _) => {
            let shown = format!("Stopped: {}.", truncate_detail(&why));
            RepoToolOutcome { end: CallEnd::Stopped(status), shown, ..RepoToolOutcome::done(String::new(), evidence) }
        }
        (None, Err(why)) => return Err(Dropped { why: format!("the tool environment: {why}") }),
    })
}

/// The path, and what follows it in the guest's call.
fn tool_arguments(call: &RepoToolCall) -> Option<(&str, Vec<Value>)> {
    match call {
        RepoToolCall::List { path } => Some((path, Vec::new())),
        RepoToolCall::Read { path, first, last } => Some((path, vec![Value::int(*first), Value::int(*last)])),
        RepoToolCall::Search { path, pattern, expression } => {
            Some((path, vec![Value::str(pattern.as_str()), Value::Bool(*expression)]))
        }
        RepoToolCall::Edit { .. } | RepoToolCall::Run { .. } => None,
    }
}

fn tool_job(request: &RepoToolRequest<'_>, path: &str, arguments: Vec<Value>) -> Job {
    let repo = request.repo;
    let Overlay { files, without } = Overlay::between(repo.texts, request.tree);
    let arguments = vec![
        Value::str(request.call.tool()),
        Value::str(path),
        Value::List(arguments),
        // One more than is shown, so that the cut is told.
        Value::int(request.shown_chars.saturating_add(1)),
    ];
    let package: &Digest = &repo.baseline.package;
    Job {
        image: request.image.to_owned(),
        files,
        limits: Limits { fuel: request.fuel.min(repo.limits.fuel), ..repo.limits },
        seed: SEED,
        base: Some(Base { layers: vec![Mounted { layer: package.clone(), at: LayerRoot::Work }], without }),
        ..Job::calls(TOOL_SERVER, "desk", vec![arguments])
    }
}

/// Whether it was done, and the text.
fn parse_tool_answer(outcome: &Outcome, limits: &Limits) -> Result<(bool, String), String> {
    let call = outcome.calls.first().ok_or("it answered nothing")?;
    match decode_call(call, limits).map_err(NoValue::text)? {
        Value::Tuple(parts) => match parts.as_slice() {
            [Value::Str(word), Value::Str(text)] => Ok((word == "done", text.clone())),
            _ => Err("its answer is none".to_owned()),
        },
        _ => Err("its answer is none".to_owned()),
    }
}

/// Replaces `old`, which must be in the file once. Test files may be edited: they are restored before anything is judged.
fn edit(tree: &TextFiles, path: &str, old: &str, new: &str) -> RepoToolOutcome {
    let Some(text) = tree.get(path) else {
        return RepoToolOutcome::refused(format!("there is no text file `{path}`"));
    };
    if is_loaded_by_itself(path) {
        return RepoToolOutcome::refused(format!(
            "`{path}` is read by pytest or the interpreter without being asked for"
        ));
    }
    let (old, new) = (&*ended_as_in(text, old), &*ended_as_in(text, new));
    match places(text, old) {
        _ if old.is_empty() => RepoToolOutcome::refused("the text to replace is empty; quote what is there"),
        _ if old == new => RepoToolOutcome::refused("the new text is the old one"),
        (None, _) => {
            RepoToolOutcome::refused(format!("`{path}` has no such text; quote it exactly, with its indentation"))
        }
        (Some(at), None) => {
            let edited = Some((path.to_owned(), format!("{}{new}{}", &text[..at], &text[at + old.len()..])));
            RepoToolOutcome { edited, ..RepoToolOutcome::done(format!("`{path}` is edited."), Evidence::default()) }
        }
        (Some(_), Some(_)) => {
            RepoToolOutcome::refused(format!("`{path}` has that text more than once; quote more of what is around it"))
        }
    }
}

/// `part` with the line ends of `text`: a policy writes line feeds, and a file whose lines all end in carriage return and line feed has to
/// keep them.
fn ended_as_in<'a>(text: &str, part: &'a str) -> Cow<'a, str> {
    let ends = text.matches('\n').count();
    if ends == 0 || text.matches("\r\n").count() != ends {
        return Cow::Borrowed(part);
    }
    Cow::Owned(part.replace("\r\n", "\n").replace('\n', "\r\n"))
}

/// Where `old` begins, first and again. Places that overlap are two.
fn places(text: &str, old: &str) -> (Option<usize>, Option<usize>) {
    let first = text.find(old);
    let next = |at: usize| at + text[at..].chars().next().map_or(1, char::len_utf8);
    let again = first.and_then(|at| text.get(next(at)..).and_then(|rest| rest.find(old)));
    (first, again)
}

/// At most `chars` characters, and how many there were more.
fn truncate_output(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}… ({} more characters)", &text[..at], text[at..].chars().count()),
        None => text.to_owned(),
    }
}

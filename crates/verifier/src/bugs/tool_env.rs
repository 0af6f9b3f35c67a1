//! The tool environment of a repository, in which a policy lists, reads and searches, makes, edits and deletes files, and runs tests.
//!
//! The game `bug_repair` uses it for solvers and injectors. Where each tool runs:
//! - **list, read, search** run in a program in the sandbox, over the layer and the changes of the tree as job files. The pattern comes
//!   from the policy; the fuel of the job bounds its cost.
//! - **run** is pytest in the sandbox, on the tree of the policy. In the tree of a solver the oracle tests are weakened. Results come from
//!   records, never from a log.
//! - **edit**, **create** and **delete** change the tree on the host, which executes nothing. They refuse what no patch may change, so
//!   that a policy learns of it before it is judged.
//!
//! # Invariants
//! No job of a tool environment can reach the original text of a file that the tree has changed: the files of the tree lie over those of
//! the layer, and the image must not hold them either. An image that was warmed for the repository has its compiled sources in memory,
//! where code under test finds them. [`RepoToolRequest::image`] is therefore another image than the one that grades repairs: plain, or
//! warmed for pytest and an empty package.

mod batch;
mod functions;
mod solver_view;
mod test_report;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use veriplay_core::{
    Dropped, Evidence, Execute, FileChange, Job, LayerMount, LayerRoot, LayerStack, Limits, Outcome, Status, TextFiles,
    Value, check_path,
};
use veriplay_image_python::programs::bugs::TOOL_SERVER;

pub use batch::{GradeRequest, ValidateRequest, grade_all, validate_all};
pub use functions::{FunctionSource, changed_function, list_functions};
pub use solver_view::{SolverView, ViewRequest, repair_of, solver_view, test_function};

use super::RepoContext;
use super::bug_states::Overlay;
use super::paths::forbidden_to_tools;
use crate::repository::tuple;
use crate::runner::{NoValue, Runner, decode_call, job_failure, truncate_detail, truncate_output};

/// Seeds list, read and search, which draw nothing.
const SEED: u64 = 0;

/// A tool call. Paths are relative to the repository; the empty path is its root.
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
    /// Shows the lines that match a pattern.
    Search {
        /// A directory or a file.
        path: String,
        /// The pattern.
        pattern: String,
        /// Whether the pattern is a regular expression of Python's `re` instead of a literal text.
        expression: bool,
    },
    /// Replaces a text that occurs exactly once in a file.
    Edit {
        /// The file.
        path: String,
        /// The existing text, which is not empty.
        old: String,
        /// Its replacement.
        new: String,
    },
    /// Makes a file that the tree does not have.
    Create {
        /// The file.
        path: String,
        /// Its whole text.
        text: String,
    },
    /// Deletes a file.
    Delete {
        /// The file.
        path: String,
    },
    /// Runs tests.
    Run {
        /// Test files, test ids, or ids without their parameters. Empty for [`DefaultTests`].
        tests: Vec<String>,
    },
}

impl RepoToolCall {
    /// The name of the tool, in prompt formats and metrics.
    #[must_use]
    pub const fn tool(&self) -> &'static str {
        match self {
            RepoToolCall::List { .. } => "list",
            RepoToolCall::Read { .. } => "read",
            RepoToolCall::Search { .. } => "search",
            RepoToolCall::Edit { .. } => "edit",
            RepoToolCall::Create { .. } => "create",
            RepoToolCall::Delete { .. } => "delete",
            RepoToolCall::Run { .. } => "run",
        }
    }
}

/// The tests of a run without names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultTests {
    /// The tests that the changes of the tree can affect, for injectors.
    Affected,
    /// All tests of these files, for solvers: the affected tests would show where the bug is.
    Files(Vec<String>),
}

/// A tool call to serve.
#[derive(Debug, Clone, Copy)]
pub struct RepoToolRequest<'a> {
    /// The repository.
    pub repo: &'a RepoContext<'a>,
    /// The image of its jobs, which holds nothing compiled from the repository.
    pub image: &'a str,
    /// The text files of the repository as the policy has changed them.
    pub tree: &'a TextFiles,
    /// The tests of a run without names.
    pub suite: &'a DefaultTests,
    /// The call.
    pub call: &'a RepoToolCall,
    /// The maximum fuel of the call. The limits of each job apply too.
    pub fuel: u64,
    /// The maximum length of the shown output, in characters.
    pub shown_chars: usize,
    /// Seeds runs of tests.
    pub seed: u64,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    /// It succeeded.
    Done,
    /// It was refused and had no effect.
    Refused,
    /// It exceeded a limit.
    Stopped(Status),
}

/// The outcome of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoToolOutcome {
    /// How it ended.
    pub end: CallEnd,
    /// The output for the policy.
    pub shown: String,
    /// The path and the new text of the changed file; without a text the file is deleted.
    pub edited: Option<(String, Option<String>)>,
    /// The jobs and their cost.
    pub evidence: Evidence,
}

impl RepoToolOutcome {
    fn done(shown: String, evidence: Evidence) -> Self {
        Self { end: CallEnd::Done, shown, edited: None, evidence }
    }

    /// The file `path` now has `text`, or is gone.
    fn edited(path: &str, text: Option<String>, what: &str) -> Self {
        let edited = Some((path.to_owned(), text));
        Self { edited, ..Self::done(format!("`{path}` is {what}."), Evidence::default()) }
    }

    fn refused(why: impl Into<String>) -> Self {
        let shown = format!("Refused: {}.", why.into());
        Self { end: CallEnd::Refused, shown, edited: None, evidence: Evidence::default() }
    }
}

/// Serves a tool call.
///
/// # Errors
/// A host fault. Failures of trees, patterns and tests are in the [`RepoToolOutcome`].
pub fn serve_tool_call(execute: &dyn Execute, request: &RepoToolRequest<'_>) -> Result<RepoToolOutcome, Dropped> {
    let served = match request.call {
        RepoToolCall::Edit { path, old, new } => Ok(edit(request, path, old, new)),
        RepoToolCall::Create { path, text } => Ok(create(request, path, text)),
        RepoToolCall::Delete { path } => Ok(delete(request, path)),
        RepoToolCall::Run { tests } => test_report::run_named_tests(execute, request, tests),
        RepoToolCall::List { path } => look(execute, request, path, Vec::new()),
        RepoToolCall::Read { path, first, last } => {
            look(execute, request, path, vec![Value::int(*first), Value::int(*last)])
        }
        RepoToolCall::Search { path, pattern, expression } => {
            look(execute, request, path, vec![Value::str(pattern.as_str()), Value::Bool(*expression)])
        }
    };
    served.map(|outcome| RepoToolOutcome { shown: truncate_output(&outcome.shown, request.shown_chars), ..outcome })
}

/// Lists, reads or searches: the guest's program has the path and the other arguments of the call.
fn look(
    execute: &dyn Execute,
    request: &RepoToolRequest<'_>,
    path: &str,
    arguments: Vec<Value>,
) -> Result<RepoToolOutcome, Dropped> {
    if !path.is_empty() && check_path(path).is_err() {
        return Ok(RepoToolOutcome::refused(format!("`{path}` is no path in the repository")));
    }
    let mut runner = Runner::new(execute);
    let outcome = runner.run(&tool_job(request, path, arguments))?;
    let evidence = runner.evidence;
    Ok(match (job_failure(&outcome), parse_tool_answer(&outcome, &request.repo.limits)) {
        (None, Ok((true, text))) => RepoToolOutcome::done(text, evidence),
        (None, Ok((false, why))) => RepoToolOutcome { evidence, ..RepoToolOutcome::refused(why) },
        (Some((status, why)), _) => {
            let shown = format!("Stopped: {}.", truncate_detail(&why));
            RepoToolOutcome { end: CallEnd::Stopped(status), ..RepoToolOutcome::done(shown, evidence) }
        }
        (None, Err(why)) => return Err(Dropped { why: format!("the tool environment: {why}") }),
    })
}

fn tool_job(request: &RepoToolRequest<'_>, path: &str, arguments: Vec<Value>) -> Job {
    let repo = request.repo;
    let Overlay { files, without } = Overlay::between(repo.texts, request.tree);
    let arguments = vec![
        Value::str(request.call.tool()),
        Value::str(path),
        Value::List(arguments),
        // One more than the limit, so that [`truncate_output`] notices the cut.
        Value::int(request.shown_chars.saturating_add(1)),
    ];
    let mounted = LayerMount { layer: repo.baseline.package.clone(), at: LayerRoot::Work };
    Job {
        image: request.image.to_owned(),
        files,
        limits: Limits { fuel: request.fuel.min(repo.limits.fuel), ..repo.limits },
        seed: SEED,
        base: Some(LayerStack { layers: vec![mounted], without }),
        ..Job::calls(TOOL_SERVER, "desk", vec![arguments])
    }
}

/// Parses whether the call succeeded, and its text.
fn parse_tool_answer(outcome: &Outcome, limits: &Limits) -> Result<(bool, String), String> {
    let call = outcome.calls.first().ok_or("it answered nothing")?;
    match tuple(&decode_call(call, limits).map_err(NoValue::text)?) {
        Some([Value::Str(word), Value::Str(text)]) => Ok((word == "done", text.clone())),
        _ => Err("its answer is none".to_owned()),
    }
}

/// Replaces `old`, which must occur exactly once in the file. Test files may be edited: they are restored before judging.
fn edit(request: &RepoToolRequest<'_>, path: &str, old: &str, new: &str) -> RepoToolOutcome {
    let Some(text) = request.tree.get(path) else { return no_text_file(path) };
    if let Some(refused) = refuse_change(request.repo, path, FileChange::Modified) {
        return refused;
    }
    let (old, new) = (&*ended_as_in(text, old), &*ended_as_in(text, new));
    match places(text, old) {
        _ if old.is_empty() => RepoToolOutcome::refused("the text to replace is empty; quote what is there"),
        _ if old == new => RepoToolOutcome::refused("the new text is the old one"),
        (None, _) => {
            RepoToolOutcome::refused(format!("`{path}` has no such text; quote it exactly, with its indentation"))
        }
        (Some(at), None) => {
            let text = format!("{}{new}{}", &text[..at], &text[at + old.len()..]);
            RepoToolOutcome::edited(path, Some(text), "edited")
        }
        (Some(_), Some(_)) => {
            RepoToolOutcome::refused(format!("`{path}` has that text more than once; quote more of what is around it"))
        }
    }
}

/// Makes a file. One that is there already is edited, so that no text is lost by mistake.
fn create(request: &RepoToolRequest<'_>, path: &str, text: &str) -> RepoToolOutcome {
    if check_path(path).is_err() {
        return RepoToolOutcome::refused(format!("`{path}` is no path in the repository"));
    }
    let (tree, below) = (request.tree, format!("{path}/"));
    let mut above = path.match_indices('/').map(|(end, _)| &path[..end]);
    if tree.contains_key(path) {
        return RepoToolOutcome::refused(format!("`{path}` is there already; edit it"));
    }
    if tree.keys().any(|file| file.starts_with(&below)) {
        return RepoToolOutcome::refused(format!("`{path}` is a directory"));
    }
    if let Some(file) = above.find(|dir| tree.contains_key(*dir)) {
        return RepoToolOutcome::refused(format!("`{file}` is a file"));
    }
    let refused = refuse_change(request.repo, path, FileChange::Created);
    refused.unwrap_or_else(|| RepoToolOutcome::edited(path, Some(text.to_owned()), "made"))
}

fn delete(request: &RepoToolRequest<'_>, path: &str) -> RepoToolOutcome {
    if !request.tree.contains_key(path) {
        return no_text_file(path);
    }
    // A file that the policy has made itself is in no patch once it is gone.
    let is_own = !request.repo.texts.contains_key(path);
    let refused = if is_own { None } else { refuse_change(request.repo, path, FileChange::Deleted) };
    refused.unwrap_or_else(|| RepoToolOutcome::edited(path, None, "deleted"))
}

fn no_text_file(path: &str) -> RepoToolOutcome {
    RepoToolOutcome::refused(format!("there is no text file `{path}`"))
}

fn refuse_change(repo: &RepoContext<'_>, path: &str, change: FileChange) -> Option<RepoToolOutcome> {
    forbidden_to_tools(repo, path, change).map(|why| RepoToolOutcome::refused(format!("`{path}` {why}")))
}

/// Gives `part` the line ends of `text`. Policies write line feeds, and a file whose lines all end in CRLF keeps these.
fn ended_as_in<'a>(text: &str, part: &'a str) -> Cow<'a, str> {
    let ends = text.matches('\n').count();
    if ends == 0 || text.matches("\r\n").count() != ends {
        return Cow::Borrowed(part);
    }
    Cow::Owned(part.replace("\r\n", "\n").replace('\n', "\r\n"))
}

/// The positions of the first two occurrences of `old`, which may overlap.
fn places(text: &str, old: &str) -> (Option<usize>, Option<usize>) {
    let first = text.find(old);
    let next = |at: usize| at + text[at..].chars().next().map_or(1, char::len_utf8);
    let again = first.and_then(|at| text.get(next(at)..).and_then(|rest| rest.find(old)));
    (first, again)
}

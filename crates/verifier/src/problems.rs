//! Judges an attempt at a [`Problem`] of a public or private set, for `veriplay verify`.
//!
//! A problem is checked before anything runs. Then its kind plans jobs, and a named judge of [`crate::judges`] compares on the host.
//! Invariants: expected values enter only jobs of checkers and of test code; a case without a result of its own is not passed, and Accepted
//! means that every case is; a host fault is [`Dropped`].

mod appended;
mod assertions;
mod cases;
mod interaction;
mod literal_tests;
mod plain_program;
mod prediction;
mod row_tables;
mod sql_queries;
mod test_code;
mod test_results;

use std::collections::BTreeSet;

use veriplay_core::{
    Checks, Comparison, Digest, Dropped, Execute, Language, Limits, Problem, ProblemRow, SCANNED, StdioCase,
    StdioChecks, TestCode, TestStyle, Verdict, content_hash, is_plain_relative,
};

use assertions::asserts_something;
use interaction::interactor_image;

use crate::environments::{self, CodeRequest};
use crate::judges::{Judge, JudgeContext, OutputKind, image_beside, judge_by_name, judge_names};
use crate::languages::image_of;
use crate::prelude::with_prelude;
use crate::runner::on_all_cores;

pub use prediction::check_prediction;
pub(crate) use test_results::VACUOUS;

/// Names what [`judge_program`] does with its jobs. A verdict that is kept for an equal request is of one number: it grows where one could
/// differ, in its evidence too, and the image is the same.
pub(crate) const JUDGE_VERSION: u32 = 10;

/// One attempt to judge.
#[derive(Debug, Clone, Copy)]
pub struct ProblemRequest<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The attempt: a whole program without the problem's prelude, or the predicted text.
    pub program: &'a str,
    /// The name of the image.
    pub image: &'a str,
    /// Limits of every job, unless the problem has its own.
    pub limits: Limits,
    /// Seeds its jobs.
    pub seed: u64,
    /// Whether to stop at the first failed case, where each case is a job.
    pub early_stop: bool,
}

impl<'a> ProblemRequest<'a> {
    /// A request for the image `python`, seed 0 and all cases, under [`Limits::small`] unless the problem has limits.
    #[must_use]
    pub const fn new(problem: &'a Problem, program: &'a str) -> Self {
        Self { problem, program, image: "python", limits: Limits::small(), seed: 0, early_stop: false }
    }

    pub(crate) fn job_limits(&self) -> Limits {
        self.problem.limits.apply(self.limits)
    }
}

/// Why a problem cannot be judged: what is wrong, and what to do. It is found before anything runs, and no attempt can cause it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProblemError(String);

/// Alternatives of a case: each is compared with the whole output.
const MOST_ALTERNATIVES: usize = 1000;
/// Functions that test code names: each is a statement before the program. Python has some 150 builtins.
const MOST_FUNCTIONS: usize = 1000;

/// Checks that `problem` can be judged.
///
/// # Errors
/// Why it cannot.
pub fn check_problem(problem: &Problem) -> Result<(), ProblemError> {
    let task_id = &problem.task_id;
    check_language(problem)?;
    match &problem.checks {
        Checks::Calls(checks) => {
            let alternatives = checks.cases.iter().map(|case| case.alternatives.len());
            check_cases(task_id, checks.cases.len(), alternatives)?;
            check_named(task_id, &checks.function, "function to call")?;
            judge_of(problem, &checks.comparison, OutputKind::Values).map(|_| ())
        }
        Checks::Stdio(checks) => {
            let alternatives = checks.cases.iter().map(|case| case.alternatives.len());
            check_cases(task_id, checks.cases.len(), alternatives)?;
            for (case, StdioCase { files, expected_files, .. }) in checks.cases.iter().enumerate() {
                if let Some(path) = files.keys().chain(expected_files.keys()).find(|path| !is_plain_relative(path)) {
                    return Err(ProblemError(format!(
                        "case {case} of `{task_id}` has a file `{path}`; give each a plain path relative to the working directory"
                    )));
                }
            }
            check_interactor_language(problem, checks)?;
            if let Some(interactor) = &checks.interactor {
                check_named(task_id, interactor, "interactor decides")?;
                if let Some(case) = checks.cases.iter().position(|case| !case.alternatives.is_empty()) {
                    return Err(ProblemError(format!(
                        "case {case} of `{task_id}` has `alternatives`, and an interactor decides; leave them out"
                    )));
                }
            }
            judge_of(problem, &checks.comparison, OutputKind::Texts).map(|_| ())
        }
        Checks::Tests(code) => match code.functions.len() {
            count if count > MOST_FUNCTIONS => Err(ProblemError(format!(
                "the test code of `{task_id}` has {count} `functions`; give at most {MOST_FUNCTIONS}, those that share a name with a builtin"
            ))),
            _ => check_some(task_id, has_tests(code)),
        },
        Checks::Prediction(prediction) => check_named(task_id, &prediction.program, "program to run"),
        Checks::Environment(checks) => check_named(task_id, &checks.verify, "function verifies the state"),
        Checks::Sql(checks) => sql_queries::check_queries(problem, checks),
        Checks::Appended(tests) => check_some(task_id, !tests.source.trim().is_empty()),
    }
}

/// Checks that the checks of a problem are there for its language.
fn check_language(problem: &Problem) -> Result<(), ProblemError> {
    let (task_id, is_appended) = (&problem.task_id, matches!(problem.checks, Checks::Appended(_)));
    let Some(named) = &problem.language else {
        let why = "has `appended` tests and no `language`; name it, or give Python's test code as `tests`";
        return if is_appended { Err(ProblemError(format!("`{task_id}` {why}"))) } else { Ok(()) };
    };
    if image_of(named).is_none() {
        let known = known_languages();
        return Err(ProblemError(format!(
            "`{task_id}` is of language `{named}`; known are {known}, and Python without one"
        )));
    }
    let is_script = is_appended || matches!(problem.checks, Checks::Stdio(_));
    match is_script && problem.prelude.is_empty() {
        true => Ok(()),
        false => Err(ProblemError(format!(
            "`{task_id}` is of language `{named}`; give it `stdio` cases or `appended` tests, and no `prelude`, which is Python's"
        ))),
    }
}

/// Checks that programs of the row's language run in the image of this name. Images of one's own are Python's.
///
/// # Errors
/// Which image they run in.
pub fn check_image(row: &ProblemRow, image: &str) -> Result<(), ProblemError> {
    let language = if let ProblemRow::Ready(problem) = row { problem.language.as_deref() } else { None };
    check_image_of(row.task_id(), language, image)
}

/// Checks that the row's checker and interactor run in images that are `open`, where its programs run in the image of this name.
///
/// # Errors
/// Which image it needs.
pub fn check_checker_images(row: &ProblemRow, image: &str, open: &[&str]) -> Result<(), ProblemError> {
    match checker_images(row, image).into_iter().find(|needed| !open.contains(needed)) {
        None => Ok(()),
        Some(needed) => Err(ProblemError(format!(
            "the checker or the interactor of `{}` runs in the image `{needed}`, which is not open; `veriplay verify` opens it, and `veriplay serve` \
             does by `--languages`",
            row.task_id()
        ))),
    }
}

/// The images in which the row's checker and its interactor run, where those are others than this, in which its programs do.
#[must_use]
pub fn checker_images(row: &ProblemRow, image: &str) -> Vec<&'static str> {
    let ProblemRow::Ready(problem) = row else { return Vec::new() };
    let Checks::Stdio(checks) = &problem.checks else { return Vec::new() };
    image_beside(&checks.comparison, image).into_iter().chain(interactor_image(checks, image)).collect()
}

/// An image that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenImage {
    /// The name by which jobs ask for it.
    pub name: String,
    /// The digest of its content, on which verdicts depend.
    pub digest: Digest,
    /// Bytes of memory that it needs itself: a job that may have less does not run.
    pub memory_bytes: u64,
}

/// Checks that jobs which may have `memory_bytes` bytes of memory run in each of the `open` images that the row needs: that of its programs, which has
/// this name, and those of its checker and interactor.
///
/// # Errors
/// The image that needs more, and how much.
pub fn check_memory(row: &ProblemRow, image: &str, memory_bytes: u64, open: &[OpenImage]) -> Result<(), ProblemError> {
    let beside = checker_images(row, image);
    let mut needed = open.iter().filter(|open| open.name == image || beside.contains(&open.name.as_str()));
    match needed.find(|open| open.memory_bytes > memory_bytes) {
        None => Ok(()),
        Some(OpenImage { name, memory_bytes: least, .. }) => Err(ProblemError(format!(
            "jobs of `{}` may have {memory_bytes} bytes of memory, and the image `{name}`, which they run in, needs {least} itself; set \
             `memory_bytes` of its limits to more",
            row.task_id()
        ))),
    }
}

/// The digest of conditions with the content of those `open` images that the row's checker and interactor run in beside this, in which its programs do.
#[must_use]
pub fn digest_with_checkers(conditions: &Digest, row: &ProblemRow, image: &str, open: &[OpenImage]) -> Digest {
    let needed: BTreeSet<&str> = checker_images(row, image).into_iter().collect();
    let needed = needed.into_iter().filter_map(|name| open.iter().find(|open| open.name == name));
    needed.fold(conditions.clone(), |digest, open| content_hash(&(&digest, &open.digest)))
}

fn check_image_of(task_id: &str, language: Option<&str>, image: &str) -> Result<(), ProblemError> {
    let fits = match language.and_then(image_of) {
        Some(needed) => needed == image,
        None => SCANNED.iter().all(|language| language.image() != image),
    };
    match fits {
        true => Ok(()),
        false => Err(ProblemError(format!(
            "`{task_id}` is of language `{}`, whose programs do not run in the image `{image}`",
            language.unwrap_or("python")
        ))),
    }
}

/// Checks that an interactor is in a language that has an image.
fn check_interactor_language(problem: &Problem, checks: &StdioChecks) -> Result<(), ProblemError> {
    let Some(named) = &checks.interactor_language else { return Ok(()) };
    match image_of(named).is_some() && checks.interactor.is_some() {
        true => Ok(()),
        false => Err(ProblemError(format!(
            "`{}` has the `interactor_language` `{named}`; give one of {} and an `interactor`, or leave it out for Python",
            problem.task_id,
            known_languages()
        ))),
    }
}

/// The languages beside Python, for messages.
fn known_languages() -> String {
    SCANNED.iter().map(|language| format!("`{}`", language.names()[0])).collect::<Vec<_>>().join(", ")
}

/// Without checks it would accept any attempt.
fn check_some(task_id: &str, has_checks: bool) -> Result<(), ProblemError> {
    match has_checks {
        true => Ok(()),
        false => Err(ProblemError(format!("`{task_id}` has no checks; give it at least one case or test"))),
    }
}

fn check_named(task_id: &str, name: &str, what: &str) -> Result<(), ProblemError> {
    match name.trim() {
        "" => Err(ProblemError(format!("`{task_id}` does not say which {what}"))),
        _ => Ok(()),
    }
}

/// Checks how many cases there are, and how many alternatives each has.
fn check_cases(task_id: &str, cases: usize, counts: impl Iterator<Item = usize>) -> Result<(), ProblemError> {
    check_some(task_id, cases > 0)?;
    match counts.enumerate().find(|(_, count)| *count > MOST_ALTERNATIVES) {
        Some((case, count)) => Err(ProblemError(format!(
            "case {case} of `{task_id}` has {count} `alternatives`; give at most {MOST_ALTERNATIVES}, or a checker"
        ))),
        None => Ok(()),
    }
}

/// Checks that the test code of a problem that a user states tests anything. Games judge what models propose, and have rules of their own for it.
///
/// # Errors
/// Test code that passes every program.
pub(crate) fn check_tests(problem: &Problem) -> Result<(), ProblemError> {
    match &problem.checks {
        Checks::Tests(code) if !asserts_something(code) => Err(ProblemError(format!(
            "the test code of `{}` asserts nothing where it runs, so that every program would pass; hint: give `assert` statements, functions \
             `test…`, or classes `Test…` or of `unittest.TestCase`",
            problem.task_id
        ))),
        _ => Ok(()),
    }
}

/// Whether the test code has any test.
fn has_tests(code: &TestCode) -> bool {
    match &code.style {
        TestStyle::Asserts(asserts) => !asserts.is_empty(),
        TestStyle::Check { source, .. } | TestStyle::Functions(source) => !source.trim().is_empty(),
    }
}

/// The judge of `problem`, checked for `kind` and options.
fn judge_of(problem: &Problem, comparison: &Comparison, kind: OutputKind) -> Result<&'static Judge, ProblemError> {
    let (task_id, name) = (&problem.task_id, &comparison.judge);
    let Some(judge) = judge_by_name(name) else {
        let known = judge_names();
        return Err(ProblemError(format!("`{task_id}` names an unknown judge `{name}`; known are {known}")));
    };
    let name = judge.name();
    if !judge.supports(kind) {
        let kind = kind.word();
        return Err(ProblemError(format!("judge `{name}` of `{task_id}` does not judge {kind}; name one that does")));
    }
    match judge.check_options(comparison, kind) {
        Ok(()) => Ok(judge),
        Err(what) => Err(ProblemError(format!("judge `{name}` of `{task_id}`: {what}"))),
    }
}

fn dropped(error: ProblemError) -> Dropped {
    Dropped { why: error.0 }
}

/// What is run of an attempt. Other languages than Python have no prelude.
fn whole_program(request: &ProblemRequest<'_>) -> String {
    match request.problem.language {
        None => with_prelude(request.problem, request.program, None),
        Some(_) => request.program.to_owned(),
    }
}

/// Judges one attempt. A pure function of the request and the image.
///
/// # Errors
/// A host fault, a problem that [`check_problem`] refuses, or a checker that does not decide.
pub fn judge_program(execute: &dyn Execute, request: &ProblemRequest<'_>) -> Result<Verdict, Dropped> {
    check_problem(request.problem).map_err(dropped)?;
    let Problem { task_id, language, .. } = request.problem;
    check_image_of(task_id, language.as_deref(), request.image).map_err(dropped)?;
    let mut context = JudgeContext::new(execute, request.image, request.job_limits(), request.seed);
    let program = || whole_program(request);
    let decision = match &request.problem.checks {
        Checks::Calls(checks) => cases::judge_calls(&mut context, checks, request)?,
        Checks::Stdio(checks) => cases::judge_stdio(&mut context, checks, &program(), request)?,
        Checks::Tests(code) => test_code::judge(&mut context.runner, code, &program(), request)?,
        Checks::Prediction(prediction) => prediction::judge(&mut context, prediction, request)?,
        Checks::Environment(checks) => {
            let ProblemRequest { image, seed, .. } = *request;
            let (environment, limits, code) = (&checks.environment, request.job_limits(), &program());
            let code = CodeRequest { environment, history: &[], code, image, limits, seed };
            environments::judge_code(&mut context.runner, checks, &code)?
        }
        Checks::Sql(checks) => sql_queries::judge(&mut context, checks, request)?,
        Checks::Appended(tests) => appended::judge(&mut context, tests, &program(), request)?,
    };
    Ok(decision.into_verdict(context.runner.evidence))
}

/// [`judge_program`] for each request, on all cores, in the order of the requests.
pub fn judge_programs(execute: &dyn Execute, requests: &[ProblemRequest<'_>]) -> Vec<Result<Verdict, Dropped>> {
    on_all_cores(requests, |request| judge_program(execute, request))
}

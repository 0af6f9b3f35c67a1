//! Judges an attempt at a [`Problem`] of a public or private set, for `veriplay verify`.
//!
//! A problem is checked before anything runs. Then its kind plans jobs, and a named judge of [`crate::judges`] compares on the host.
//! Invariants: expected values enter only jobs of checkers and of test code; a case without a result of its own is not passed, and Accepted
//! means that every case is; a host fault is [`Dropped`].

mod assertions;
mod cases;
mod interaction;
mod literal_tests;
mod plain_program;
mod prediction;
mod test_code;
mod test_results;

use veriplay_core::{
    Checks, Comparison, Dropped, Execute, Limits, Problem, StdioCase, TestCode, TestStyle, Verdict, is_plain_relative,
};

use assertions::asserts_something;

use crate::environments::{self, CodeRequest};
use crate::judges::{Judge, JudgeContext, OutputKind, judge_by_name, judge_names};
use crate::prelude::with_prelude;
use crate::runner::on_all_cores;

pub use prediction::check_prediction;
pub(crate) use test_results::VACUOUS;

/// Names what [`judge_program`] does with its jobs. A verdict that is kept for an equal request is of one number: it grows where one could
/// differ, in its evidence too, and the image is the same.
pub const JUDGE_VERSION: u32 = 7;

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

    /// Limits of every job.
    #[must_use]
    pub(crate) fn job_limits(&self) -> Limits {
        self.problem.limits.apply(self.limits)
    }
}

/// Why a problem cannot be judged. It is found before anything runs, and no attempt can cause it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProblemError {
    /// No judge has that name.
    #[error("`{task_id}` names an unknown judge `{judge}`; known are {known}")]
    UnknownJudge {
        /// The problem.
        task_id: String,
        /// The unknown name.
        judge: String,
        /// The known names.
        known: String,
    },
    /// The judge does not support this kind of output.
    #[error("judge `{judge}` of `{task_id}` does not judge {}; name one that does", .kind.word())]
    WrongKind {
        /// The problem.
        task_id: String,
        /// Its judge.
        judge: &'static str,
        /// The kind of output.
        kind: OutputKind,
    },
    /// An option of the judge is missing or wrong.
    #[error("judge `{judge}` of `{task_id}`: {what}")]
    BadOptions {
        /// The problem.
        task_id: String,
        /// Its judge.
        judge: &'static str,
        /// What is wrong.
        what: &'static str,
    },
    /// The test code passes every program.
    #[error(
        "the test code of `{task_id}` asserts nothing where it runs, so that every program would pass; hint: give `assert` statements, functions \
         `test…`, or classes `Test…` or of `unittest.TestCase`"
    )]
    AssertsNothing {
        /// The problem.
        task_id: String,
    },
    /// A file of a case has no usable path.
    #[error("case {case} of `{task_id}` has a file `{path}`; give each a plain path relative to the working directory")]
    BadPath {
        /// The problem.
        task_id: String,
        /// The number of the case, from 0.
        case: usize,
        /// The path.
        path: String,
    },
    /// A case has alternatives to an output that an interactor judges.
    #[error("case {case} of `{task_id}` has `alternatives`, and an interactor decides; leave them out")]
    UselessAlternatives {
        /// The problem.
        task_id: String,
        /// The number of the case, from 0.
        case: usize,
    },
    /// A case has more alternatives than are compared with one output.
    #[error("case {case} of `{task_id}` has {count} `alternatives`; give at most {MOST_ALTERNATIVES}, or a checker")]
    ManyAlternatives {
        /// The problem.
        task_id: String,
        /// The number of the case, from 0.
        case: usize,
        /// How many.
        count: usize,
    },
    /// Test code names more functions than a program can be asked for.
    #[error(
        "the test code of `{task_id}` has {count} `functions`; give at most {MOST_FUNCTIONS}, those that share a name with a builtin"
    )]
    ManyFunctions {
        /// The problem.
        task_id: String,
        /// How many.
        count: usize,
    },
    /// It has no checks, and would accept any attempt.
    #[error("`{task_id}` has no checks; give it at least one case or test")]
    NoChecks {
        /// The problem.
        task_id: String,
    },
    /// A name or a source is empty.
    #[error("`{task_id}` does not say which {what}")]
    MissingName {
        /// The problem.
        task_id: String,
        /// What is missing.
        what: &'static str,
    },
}

/// Alternatives of a case: each is compared with the whole output.
const MOST_ALTERNATIVES: usize = 1000;
/// Functions that test code names: each is a statement before the program. Python has some 150 builtins.
const MOST_FUNCTIONS: usize = 1000;

/// Checks that `problem` can be judged.
///
/// # Errors
/// Why it cannot.
pub fn check_problem(problem: &Problem) -> Result<(), ProblemError> {
    let task_id = || problem.task_id.clone();
    let some = |some: bool| some.then_some(()).ok_or_else(|| ProblemError::NoChecks { task_id: task_id() });
    let named = |name: &str, what| match name.trim() {
        "" => Err(ProblemError::MissingName { task_id: task_id(), what }),
        _ => Ok(()),
    };
    match &problem.checks {
        Checks::Calls(checks) => {
            some(!checks.cases.is_empty())?;
            check_alternatives(problem, checks.cases.iter().map(|case| case.alternatives.len()))?;
            named(&checks.function, "function to call")?;
            judge_of(problem, &checks.comparison, OutputKind::Values).map(|_| ())
        }
        Checks::Stdio(checks) => {
            some(!checks.cases.is_empty())?;
            check_alternatives(problem, checks.cases.iter().map(|case| case.alternatives.len()))?;
            for (case, StdioCase { files, expected_files, .. }) in checks.cases.iter().enumerate() {
                if let Some(path) = files.keys().chain(expected_files.keys()).find(|path| !is_plain_relative(path)) {
                    return Err(ProblemError::BadPath { task_id: task_id(), case, path: path.clone() });
                }
            }
            if let Some(interactor) = &checks.interactor {
                named(interactor, "interactor decides")?;
                if let Some(case) = checks.cases.iter().position(|case| !case.alternatives.is_empty()) {
                    return Err(ProblemError::UselessAlternatives { task_id: task_id(), case });
                }
            }
            judge_of(problem, &checks.comparison, OutputKind::Texts).map(|_| ())
        }
        Checks::Tests(code) => match code.functions.len() {
            count if count > MOST_FUNCTIONS => Err(ProblemError::ManyFunctions { task_id: task_id(), count }),
            _ => some(has_tests(code)),
        },
        Checks::Prediction(prediction) => named(&prediction.program, "program to run"),
        Checks::Environment(checks) => named(&checks.verify, "function verifies the state"),
    }
}

/// Checks that the test code of a problem that a user states tests anything. Games judge what models propose, and have rules of their own for it.
///
/// # Errors
/// Test code that passes every program.
pub fn check_tests(problem: &Problem) -> Result<(), ProblemError> {
    match &problem.checks {
        Checks::Tests(code) if !asserts_something(code) => {
            Err(ProblemError::AssertsNothing { task_id: problem.task_id.clone() })
        }
        _ => Ok(()),
    }
}

/// Checks how many alternatives the cases have.
fn check_alternatives(problem: &Problem, counts: impl Iterator<Item = usize>) -> Result<(), ProblemError> {
    match counts.enumerate().find(|(_, count)| *count > MOST_ALTERNATIVES) {
        Some((case, count)) => Err(ProblemError::ManyAlternatives { task_id: problem.task_id.clone(), case, count }),
        None => Ok(()),
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
fn judge_of(problem: &Problem, comparison: &Comparison, kind: OutputKind) -> Result<&'static dyn Judge, ProblemError> {
    let task_id = problem.task_id.clone();
    let Some(judge) = judge_by_name(&comparison.judge) else {
        return Err(ProblemError::UnknownJudge { task_id, judge: comparison.judge.clone(), known: judge_names() });
    };
    if !judge.supports(kind) {
        return Err(ProblemError::WrongKind { task_id, judge: judge.name(), kind });
    }
    match judge.check_options(comparison, kind) {
        Ok(()) => Ok(judge),
        Err(what) => Err(ProblemError::BadOptions { task_id, judge: judge.name(), what }),
    }
}

/// As [`judge_of`], for callers that drop the attempt.
fn fit_judge(problem: &Problem, comparison: &Comparison, kind: OutputKind) -> Result<&'static dyn Judge, Dropped> {
    judge_of(problem, comparison, kind).map_err(dropped)
}

fn dropped(error: ProblemError) -> Dropped {
    Dropped { why: error.to_string() }
}

/// Judges one attempt. A pure function of the request and the image.
///
/// # Errors
/// A host fault, a problem that [`check_problem`] refuses, or a checker that does not decide.
pub fn judge_program(execute: &dyn Execute, request: &ProblemRequest<'_>) -> Result<Verdict, Dropped> {
    check_problem(request.problem).map_err(dropped)?;
    let mut context = JudgeContext::new(execute, request.image, request.job_limits(), request.seed);
    let program = || with_prelude(request.problem, request.program, None);
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
    };
    Ok(decision.into_verdict(context.runner.evidence))
}

/// [`judge_program`] for each request, on all cores, in the order of the requests.
pub fn judge_programs(execute: &dyn Execute, requests: &[ProblemRequest<'_>]) -> Vec<Result<Verdict, Dropped>> {
    on_all_cores(requests, |request| judge_program(execute, request))
}

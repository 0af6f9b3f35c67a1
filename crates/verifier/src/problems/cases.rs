//! Judges cases: calls of a function, and runs of a script. Only inputs enter a job; the judge compares the outputs on the host.

use veriplay_core::{
    CallCase, CallChecks, CallResult, Comparison, Dropped, Exit, Job, Limits, Outcome, REFERENCE_RULE, Status,
    StdioCase, StdioChecks, Value,
};
use veriplay_python::large::LargePermit;

use super::interaction::{failure_in, interactor_of};
use super::{ProblemRequest, dropped, judge_of};
use crate::judges::{Judge, JudgeContext, JudgeFinding, OutputKind, ReturnedCall, ScriptRun};
use crate::prelude::with_prelude;
use crate::runner::{
    Decision, MISSING_ENTRY, NoValue, configure_job, decode_call, encoded_bytes, has_left_with_zero, job_failure,
    saturating_u32,
};

/// The most bytes of output that a job may get for a long expected result, in times its usual limit.
const MAX_OUTPUT_FACTOR: u64 = 32;

/// Bytes of output that a program may write beside twice the expected ones, for their framing and for a wrong answer to be seen as one.
const OUTPUT_SLACK: u64 = 64 << 10;

/// The limits of a job whose expected results cost so much of the limit on output: the usual ones where they fit, and twice as much where they do
/// not, so that the right answer is not refused: numpy's numbers cost twice what Python's do. A problem's own limit of output stays as it is.
fn limits_for(request: &ProblemRequest<'_>, expected: u64) -> Limits {
    let limits = request.job_limits();
    if request.problem.limits.output_bytes.is_some() || expected <= limits.output_bytes {
        return limits;
    }
    let most = limits.output_bytes.saturating_mul(MAX_OUTPUT_FACTOR);
    Limits { output_bytes: expected.saturating_mul(2).saturating_add(OUTPUT_SLACK).min(most), ..limits }
}

/// The jobs of one attempt, and what judges them.
struct Cases<'a, 'e> {
    context: &'a mut JudgeContext<'e>,
    judge: &'static Judge,
    comparison: &'a Comparison,
    request: &'a ProblemRequest<'a>,
}

/// Runs all cases in one job, or each in a job of its own where it needs a fresh state.
pub(super) fn judge_calls(
    context: &mut JudgeContext<'_>,
    checks: &CallChecks,
    request: &ProblemRequest<'_>,
) -> Result<Decision, Dropped> {
    let judge = judge_of(request.problem, &checks.comparison, OutputKind::Values).map_err(dropped)?;
    let function = judge.called_function(request.program, &checks.function);
    let program = with_prelude(request.problem, request.program, Some(&function));
    let mut cases = Cases { context, judge, comparison: &checks.comparison, request };
    let mut tally = CaseTally::new(checks.cases.len());
    let mut lacks_entry = false;
    let size = if checks.fresh { 1 } else { checks.cases.len() };
    for chunk in checks.cases.chunks(size.max(1)) {
        let (results, is_entry_missing) = cases.run_calls(&program, &function, chunk)?;
        results.into_iter().for_each(|result| tally.add(result));
        lacks_entry |= is_entry_missing;
        if request.early_stop && tally.has_failed() {
            break;
        }
    }
    let decision = tally.decision();
    Ok(if lacks_entry { Decision { rule: MISSING_ENTRY.to_owned(), ..decision } } else { decision })
}

/// Runs each script in a job of its own.
pub(super) fn judge_stdio(
    context: &mut JudgeContext<'_>,
    checks: &StdioChecks,
    program: &str,
    request: &ProblemRequest<'_>,
) -> Result<Decision, Dropped> {
    let judge = judge_of(request.problem, &checks.comparison, OutputKind::Texts).map_err(dropped)?;
    let mut cases = Cases { context, judge, comparison: &checks.comparison, request };
    let mut tally = CaseTally::new(checks.cases.len());
    for case in &checks.cases {
        tally.add(cases.run_script(program, checks, case)?);
        if request.early_stop && tally.has_failed() {
            break;
        }
    }
    Ok(tally.decision())
}

impl Cases<'_, '_> {
    /// Runs one job with `cases` as its calls. Returns a result for each, and whether the program lacks the function.
    fn run_calls(
        &mut self,
        program: &str,
        function: &str,
        cases: &[CallCase],
    ) -> Result<(Vec<CaseResult>, bool), Dropped> {
        let arguments = cases.iter().map(|case| case.input.clone());
        let JudgeContext { image, seed, .. } = *self.context;
        let expected: u64 = cases.iter().map(|case| Value::output_cost(&case.expected.encode())).sum();
        let limits = limits_for(self.request, expected);
        let calls = Job::calls(program, function, arguments);
        let outcome = self.context.runner.run(&configure_job(image, limits, seed, calls))?;
        let mut results = Vec::with_capacity(cases.len());
        for (place, case) in cases.iter().enumerate() {
            results.push(match outcome.calls.get(place) {
                Some(call) => self.judge_call(function, case, call, &limits)?,
                None => Some(missing(&outcome)),
            });
        }
        // The failure of the job as a whole is charged to its last case, even where all results are right.
        if let Some(last @ None) = results.last_mut() {
            let excess = (outcome.calls.len() > cases.len())
                .then(|| (Status::RuntimeError, "more results than calls".to_owned()));
            *last = job_failure(&outcome).or(excess);
        }
        Ok((results, outcome.exit == Exit::MissingEntry))
    }

    fn judge_call(
        &mut self,
        function: &str,
        case: &CallCase,
        call: &CallResult,
        limits: &Limits,
    ) -> Result<CaseResult, Dropped> {
        let _permit = LargePermit::wait(encoded_bytes(call));
        let (actual, no_value) = match decode_call(call, limits) {
            Ok(value) => (Some(value), String::new()),
            Err(NoValue::Raised(detail)) => return Ok(Some((Status::RuntimeError, detail))),
            Err(NoValue::NoPlainValue(detail)) => (None, detail),
        };
        let mut result = None;
        for expected in std::iter::once(&case.expected).chain(&case.alternatives) {
            self.context.runner.check_cancelled()?;
            let call = ReturnedCall {
                task_id: &self.request.problem.task_id,
                function,
                input: &case.input,
                expected,
                actual: actual.as_ref(),
                comparison: self.comparison,
            };
            match case_result(self.judge.compare_call(self.context, &call)?) {
                None => return Ok(None),
                wrong => result = result.or(wrong),
            }
        }
        Ok(result.map(|(status, detail)| (status, if actual.is_some() { detail } else { no_value })))
    }

    /// The end of the program comes first: right output before an exception, or truncated output, passes no case.
    fn run_script(&mut self, program: &str, checks: &StdioChecks, case: &StdioCase) -> Result<CaseResult, Dropped> {
        let files = case.files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
        let fetch = case.expected_files.keys().cloned().collect();
        let interactor = interactor_of(self.context, checks, case);
        let is_interactive = interactor.is_some();
        let stdin = if is_interactive { Vec::new() } else { case.stdin.clone().into_bytes() };
        let script = Job { stdin, files, fetch, interactor, ..Job::script(program) };
        let expected_files: usize = case.expected_files.values().map(String::len).sum();
        let limits = limits_for(self.request, case.stdout.len().max(expected_files) as u64);
        let job = configure_job(self.context.image, limits, self.context.seed, script);
        let outcome = self.context.runner.run(&job)?;
        let failure = match &outcome.interaction {
            Some(interaction) => failure_in(self.context, &job, interaction, &outcome)?,
            None if is_interactive => Some(missing(&outcome)),
            None => job_failure(&outcome).filter(|_| !has_left_with_zero(&outcome)),
        };
        if failure.is_some() {
            return Ok(failure);
        }
        // Stderr may have been cut, too.
        if outcome.truncated && outcome.stdout.len() as u64 >= limits.output_bytes {
            return Ok(Some((Status::OutputExceeded, "its output was cut".to_owned())));
        }
        let run = ScriptRun {
            task_id: &self.request.problem.task_id,
            stdin: case.files.values().next().filter(|_| case.stdin.is_empty()).unwrap_or(&case.stdin),
            expected: &case.stdout,
            actual: &outcome.stdout,
            comparison: self.comparison,
        };
        if !is_interactive && (case.expected_files.is_empty() || !case.stdout.is_empty()) {
            let wrong = self.judge_output(run, &case.alternatives)?;
            if wrong.is_some() {
                return Ok(wrong);
            }
        }
        self.judge_files(run, case, &outcome)
    }

    /// Judges standard output, for which any of the expected ones is right.
    fn judge_output(&mut self, run: ScriptRun<'_>, alternatives: &[String]) -> Result<CaseResult, Dropped> {
        let mut result = None;
        for expected in std::iter::once(run.expected).chain(alternatives.iter().map(String::as_str)) {
            self.context.runner.check_cancelled()?;
            match case_result(self.judge.compare_script(self.context, &ScriptRun { expected, ..run })?) {
                None => return Ok(None),
                wrong => result = result.or(wrong),
            }
        }
        Ok(result)
    }

    /// Judges the files that a program must leave, as its output is judged.
    fn judge_files(&mut self, run: ScriptRun<'_>, case: &StdioCase, outcome: &Outcome) -> Result<CaseResult, Dropped> {
        for (path, expected) in &case.expected_files {
            let Some((_, actual)) = outcome.fetched.iter().find(|(found, _)| found == path) else {
                return Ok(Some(match outcome.truncated {
                    true => {
                        (Status::OutputExceeded, format!("its file `{path}` is missing, or larger than output may be"))
                    }
                    false => (Status::WrongAnswer, format!("it left no file `{path}`")),
                }));
            };
            let run = ScriptRun { expected, actual, ..run };
            if let Some((status, detail)) = case_result(self.judge.compare_script(self.context, &run)?) {
                return Ok(Some((status, format!("file `{path}`: {detail}"))));
            }
        }
        Ok(None)
    }
}

/// The failure of a call or an interaction without a result.
fn missing(outcome: &Outcome) -> (Status, String) {
    job_failure(outcome).unwrap_or_else(|| (Status::RuntimeError, "its result is missing".to_owned()))
}

/// The result of one case: `None` when it passes, else a status and a detail.
pub(super) type CaseResult = Option<(Status, String)>;

/// The result of a case by the judge's finding.
fn case_result(finding: JudgeFinding) -> CaseResult {
    match finding {
        JudgeFinding::Right => None,
        JudgeFinding::Wrong(detail) => Some((Status::WrongAnswer, detail)),
        JudgeFinding::Undecided(why) => {
            Some((Status::Unjudgeable, format!("the task's checker does not decide: {why}")))
        }
    }
}

/// Counts the results of the cases of one attempt, in order.
pub(super) struct CaseTally {
    total: usize,
    seen: usize,
    passed: usize,
    first: CaseResult,
}

impl CaseTally {
    pub(super) const fn new(total: usize) -> Self {
        Self { total, seen: 0, passed: 0, first: None }
    }

    pub(super) fn add(&mut self, result: CaseResult) {
        match result {
            None => self.passed += 1,
            Some((status, detail)) if self.first.is_none() => {
                self.first = Some((status, format!("case {}: {detail}", self.seen)));
            }
            Some(_) => {}
        }
        self.seen += 1;
    }

    pub(super) const fn has_failed(&self) -> bool {
        self.first.is_some()
    }

    pub(super) fn decision(self) -> Decision {
        let (status, detail) = match self.first {
            Some(first) => first,
            None if self.passed == self.total && self.total > 0 => (Status::Accepted, String::new()),
            None => (Status::RuntimeError, "results are missing".to_owned()),
        };
        let rule = if status == Status::Unjudgeable { REFERENCE_RULE.to_owned() } else { String::new() };
        Decision { status, passed: saturating_u32(self.passed), total: saturating_u32(self.total), rule, detail }
    }
}

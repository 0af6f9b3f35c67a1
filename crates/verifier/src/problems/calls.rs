//! Calls of one function: inputs go in, values come out, the judge compares here.

use veriplay_core::{CallCase, CallChecks, CallResult, Dropped, Entry, Job, Outcome, Status};

use super::tally::{CaseResult, Tally, case_result};
use super::{Decision, ProblemRequest, fit_judge};
use crate::judges::{Bench, Call, Judge, Kind};
use crate::run::{self, NoValue, failure, value};

/// All cases in one job, or one job a case where each is to have a fresh state.
pub(super) fn judge(
    bench: &mut Bench<'_>,
    checks: &CallChecks,
    program: &str,
    request: &ProblemRequest<'_>,
) -> Result<Decision, Dropped> {
    let judge = fit_judge(request.problem, &checks.comparison, Kind::Values)?;
    let mut plan = Plan { bench, judge, checks, program, task_id: &request.problem.task_id };
    let mut tally = Tally::of(checks.cases.len());
    let size = if checks.fresh { 1 } else { checks.cases.len() };
    for cases in checks.cases.chunks(size.max(1)) {
        plan.job(cases)?.into_iter().for_each(|result| tally.add(result));
        if request.early_stop && tally.has_failed() {
            break;
        }
    }
    Ok(tally.decision())
}

/// What the jobs of one attempt share.
struct Plan<'a, 'e> {
    bench: &'a mut Bench<'e>,
    judge: &'static dyn Judge,
    checks: &'a CallChecks,
    program: &'a str,
    task_id: &'a str,
}

impl Plan<'_, '_> {
    /// One job with `cases` as its calls; one result for each.
    fn job(&mut self, cases: &[CallCase]) -> Result<Vec<CaseResult>, Dropped> {
        let arguments = cases.iter().map(|case| case.input.clone()).collect();
        let bench = &mut *self.bench;
        let job = run::calls(bench.image, self.program, Vec::new(), bench.limits, bench.seed);
        let entry = Entry::Calls { function: self.checks.function.clone(), arguments };
        let outcome = bench.runner.run(&Job { entry, ..job })?;
        let mut results = Vec::with_capacity(cases.len());
        for (place, case) in cases.iter().enumerate() {
            results.push(match outcome.calls.get(place) {
                Some(call) => self.case(case, call)?,
                None => Some(missing(&outcome)),
            });
        }
        charge_end(&mut results, bad_end(&outcome, cases.len()));
        Ok(results)
    }

    fn case(&mut self, case: &CallCase, call: &CallResult) -> Result<CaseResult, Dropped> {
        let (actual, no_value) = match value(call, &self.bench.limits) {
            Ok(value) => (Some(value), String::new()),
            Err(NoValue::Raised(detail)) => return Ok(Some((Status::RuntimeError, detail))),
            Err(NoValue::NoPlainValue(detail)) => (None, detail),
        };
        let call = Call {
            task_id: self.task_id,
            function: &self.checks.function,
            input: &case.input,
            expected: &case.expected,
            actual: actual.as_ref(),
            comparison: &self.checks.comparison,
        };
        let result = case_result(self.judge.compare_call(self.bench, &call))?;
        Ok(result.map(|(status, detail)| (status, if actual.is_some() { detail } else { no_value })))
    }
}

/// Why a call has no result.
fn missing(outcome: &Outcome) -> (Status, String) {
    failure(outcome).unwrap_or_else(|| (Status::RuntimeError, "its result is missing".to_owned()))
}

/// What is wrong with the end of a job, whatever its results say.
fn bad_end(outcome: &Outcome, cases: usize) -> CaseResult {
    let excess = outcome.calls.len() > cases;
    failure(outcome).or_else(|| excess.then(|| (Status::RuntimeError, "more results than calls".to_owned())))
}

/// A job that did not come to its end has not passed its last case, even where all results are there and right.
fn charge_end(results: &mut [CaseResult], end: CaseResult) {
    if let Some(last @ None) = results.last_mut() {
        *last = end;
    }
}

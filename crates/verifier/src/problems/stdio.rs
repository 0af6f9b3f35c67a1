//! Runs of the whole program: standard input goes in, standard output comes out, the judge compares here.

use veriplay_core::{Dropped, Entry, Job, Status, StdioCase, StdioChecks};

use super::tally::{CaseResult, Tally, case_result};
use super::{Decision, ProblemRequest, fit_judge};
use crate::judges::{Bench, Judge, Kind, Run};
use crate::run::{calls, failure};

/// One job a case: a script that has ended leaves nothing to the next.
pub(super) fn judge(
    bench: &mut Bench<'_>,
    checks: &StdioChecks,
    program: &str,
    request: &ProblemRequest<'_>,
) -> Result<Decision, Dropped> {
    let judge = fit_judge(request.problem, &checks.comparison, Kind::Texts)?;
    let mut tally = Tally::of(checks.cases.len());
    for case in &checks.cases {
        tally.add(judged(bench, judge, checks, program, &request.problem.task_id, case)?);
        if request.early_stop && tally.has_failed() {
            break;
        }
    }
    Ok(tally.decision())
}

/// How the program ended comes first: right text before an exception, or text that was cut, passes no case.
fn judged(
    bench: &mut Bench<'_>,
    judge: &dyn Judge,
    checks: &StdioChecks,
    program: &str,
    task_id: &str,
    case: &StdioCase,
) -> Result<CaseResult, Dropped> {
    let job = calls(bench.image, program, Vec::new(), bench.limits, bench.seed);
    let outcome = bench.runner.run(&Job { entry: Entry::Script, stdin: case.stdin.clone().into_bytes(), ..job })?;
    if let Some(failure) = failure(&outcome) {
        return Ok(Some(failure));
    }
    if outcome.truncated {
        return Ok(Some((Status::OutputExceeded, "its output was cut".to_owned())));
    }
    let run = Run {
        task_id,
        stdin: &case.stdin,
        expected: &case.stdout,
        actual: &outcome.stdout,
        comparison: &checks.comparison,
    };
    case_result(judge.compare_run(bench, &run))
}

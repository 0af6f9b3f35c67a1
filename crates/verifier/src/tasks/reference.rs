//! Expected values that are not in the file: the values that the reference returns. It runs in the sandbox once per task, and again with
//! another seed.
//!
//! A reference that gives no expected values is a fault of its task, and all attempts at the task are
//! [`Status::Unjudgeable`]; a sandbox that fails, or a deadline met, is a fault of the host.

use veriplay_core::{
    CallResult, Dropped, EncodeCaps, Evidence, Exit, ExpectedResult, GuestError, Job, LimitKind, LimitOverrides,
    Limits, Outcome, Problem, REFERENCE_RULE, Status, UnexecutedProblem, Value, Verdict,
};

use super::{ReferenceFailure, TaskContext, scaled_limits};
use crate::runner::{configure_job, saturating_u32};

/// At most one input in this many may be left out.
const LEFT_OUT: usize = 5;

/// Why a run of the reference gives no expected values.
enum ReferenceError {
    /// It does not do what a reference must.
    Task(String),
    /// It needs more than the limits it ran under.
    Excess(String),
    /// A fault of the host.
    Host(Dropped),
}

/// Makes the problem by running the reference on its inputs. Inputs that exceed its limits are left out where they are few, as in EvalPlus'
/// own files without extreme inputs.
pub(super) fn execute_reference(
    context: &TaskContext<'_>,
    unexecuted: &UnexecutedProblem,
) -> Result<Problem, ReferenceFailure> {
    let problem = match problem_from_reference(context, unexecuted) {
        Err(ReferenceError::Excess(why)) => problem_without_excess(context, unexecuted, why),
        found => found,
    };
    problem.map_err(|failed| no_problem(unexecuted, failed))
}

fn no_problem(unexecuted: &UnexecutedProblem, failed: ReferenceError) -> ReferenceFailure {
    let what = match failed {
        ReferenceError::Task(what) | ReferenceError::Excess(what) => what,
        ReferenceError::Host(dropped) => return ReferenceFailure::Host(dropped),
    };
    let detail = format!("the reference of `{}` gives no expected values: {what}", unexecuted.task_id);
    let evidence = Evidence { rule: REFERENCE_RULE.to_owned(), detail, ..Evidence::default() };
    let total = saturating_u32(unexecuted.inputs.len());
    ReferenceFailure::Task(Box::new(Verdict { status: Status::Unjudgeable, passed: 0, total, evidence }))
}

/// The problem on all inputs of `unexecuted`.
fn problem_from_reference(
    context: &TaskContext<'_>,
    unexecuted: &UnexecutedProblem,
) -> Result<Problem, ReferenceError> {
    let caps = unexecuted.limits.apply(scaled_limits::reference_caps(context.conditions.limits));
    let outcome = run_reference(context, unexecuted, &unexecuted.inputs, caps, context.conditions.seed)?;
    let expected = expected_values(unexecuted.expects, &outcome, caps)?;
    check_repeats(context, unexecuted, caps, &outcome)?;
    let scaled = context.conditions.scaled.then(|| scaled_limits::scale_limits(context.conditions.limits, &outcome));
    let problem = unexecuted.with_expected(expected).map_err(|error| ReferenceError::Task(error.to_string()))?;
    let scaled = scaled.map(LimitOverrides::from).unwrap_or_default();
    Ok(Problem { limits: unexecuted.limits.or(scaled), ..problem })
}

/// Runs the reference again with another seed, under which it must return the same.
fn check_repeats(
    context: &TaskContext<'_>,
    unexecuted: &UnexecutedProblem,
    limits: Limits,
    first: &Outcome,
) -> Result<(), ReferenceError> {
    let seed = context.conditions.seed.wrapping_add(1);
    let again = run_reference(context, unexecuted, &unexecuted.inputs, limits, seed)?;
    let value = |call: &CallResult| expected_value(unexecuted.expects, call, limits);
    for (at, (first, again)) in first.calls.iter().zip(&again.calls).enumerate() {
        // What was sent as the same bytes is the same, and others may be.
        if first != again && value(first) != value(again) {
            return Err(ReferenceError::Task(format!("input {at}: it returns another value under another seed")));
        }
    }
    Ok(())
}

/// Makes the problem with those inputs that the reference handles one by one within the limits of [`scaled_limits::input_caps`], and reports how many
/// were left out.
fn problem_without_excess(
    context: &TaskContext<'_>,
    unexecuted: &UnexecutedProblem,
    why: String,
) -> Result<Problem, ReferenceError> {
    let all = unexecuted.inputs.len();
    for caps in scaled_limits::input_caps(context.conditions.limits) {
        let inputs = inputs_within(context, unexecuted, unexecuted.limits.apply(caps))?;
        let left_out = all - inputs.len();
        if left_out > 0 && left_out * LEFT_OUT <= all {
            let problem = problem_from_reference(context, &UnexecutedProblem { inputs, ..unexecuted.clone() })?;
            tracing::warn!(
                "`{}`: left out {left_out} of {all} inputs, because its reference needs more for all of them than it may use",
                unexecuted.task_id
            );
            return Ok(problem);
        }
    }
    Err(ReferenceError::Excess(why))
}

/// The inputs that the reference handles one by one within these limits.
fn inputs_within(
    context: &TaskContext<'_>,
    unexecuted: &UnexecutedProblem,
    limits: Limits,
) -> Result<Vec<Vec<Value>>, ReferenceError> {
    let mut inputs = Vec::with_capacity(unexecuted.inputs.len());
    for input in &unexecuted.inputs {
        let outcome = run_reference(context, unexecuted, std::slice::from_ref(input), limits, context.conditions.seed);
        match outcome.and_then(|outcome| expected_values(unexecuted.expects, &outcome, limits)) {
            Ok(_) => inputs.push(input.clone()),
            Err(ReferenceError::Excess(_)) => {}
            Err(failed) => return Err(failed),
        }
    }
    Ok(inputs)
}

fn run_reference(
    context: &TaskContext<'_>,
    unexecuted: &UnexecutedProblem,
    inputs: &[Vec<Value>],
    limits: Limits,
    seed: u64,
) -> Result<Outcome, ReferenceError> {
    let calls = Job::calls(&unexecuted.reference, &unexecuted.checks.function, inputs.iter().cloned());
    let job = configure_job(context.image, limits, seed, calls);
    let host = |why: String| ReferenceError::Host(Dropped { why });
    let outcome = context.execute.execute(&job).map_err(|error| host(error.to_string()))?;
    match outcome.exit {
        Exit::Exceeded { limit: LimitKind::DeadlineNs, allowed, .. } => {
            Err(host(format!("the reference of `{}` met the deadline of {allowed} ns", unexecuted.task_id)))
        }
        Exit::Exceeded { limit, allowed, .. } => Err(ReferenceError::Excess(format!(
            "it needs more than the {} limit of references, {allowed}",
            limit_word(limit)
        ))),
        Exit::Returned => Ok(outcome),
        exit => {
            let error = outcome.error.as_ref().map(error_text).unwrap_or_default();
            Err(ReferenceError::Task(format!("it ended with {exit:?} {error}")))
        }
    }
}

fn expected_values(expects: ExpectedResult, outcome: &Outcome, limits: Limits) -> Result<Vec<Value>, ReferenceError> {
    let mut values = Vec::with_capacity(outcome.calls.len());
    for (at, call) in outcome.calls.iter().enumerate() {
        let value = expected_value(expects, call, limits);
        values.push(value.map_err(|what| ReferenceError::Task(format!("input {at}: {what}")))?);
    }
    Ok(values)
}

/// What a call must return; of one that must return something, whether it did.
fn expected_value(expects: ExpectedResult, call: &CallResult, limits: Limits) -> Result<Value, String> {
    let is_something = matches!(expects, ExpectedResult::NotNone);
    let value = match call {
        // A value without an encoding is something.
        CallResult::Unencodable(_) if is_something => return Ok(Value::Bool(true)),
        CallResult::Unencodable(what) => return Err(format!("it returned {what}, which has no encoding")),
        CallResult::Raised(error) => return Err(error_text(error)),
        CallResult::Returned(bytes) => {
            let caps = EncodeCaps::with_bytes(usize::try_from(limits.output_bytes).unwrap_or(usize::MAX));
            Value::decode(bytes, caps).map_err(|error| error.to_string())?
        }
    };
    Ok(if is_something { Value::Bool(value != Value::None) } else { value })
}

const fn limit_word(limit: LimitKind) -> &'static str {
    match limit {
        LimitKind::Fuel => "fuel",
        LimitKind::MemoryBytes => "memory",
        LimitKind::OutputBytes => "output",
        LimitKind::FileBytes => "file",
        LimitKind::DeadlineNs => "deadline",
    }
}

fn error_text(error: &GuestError) -> String {
    format!("{}: {}", error.kind, error.message)
}

#[cfg(test)]
mod tests {
    use veriplay_core::{CallChecks, Checks, Comparison, Digest, Entry, Execute, ExecuteError};

    use super::*;
    use crate::tasks::JudgeConditions;

    const LIMITS: Limits = Limits { fuel: 100, memory_bytes: 1, output_bytes: 1000, file_bytes: 1, deadline_ns: 1 };

    /// Gives these outcomes, one a seed, whatever the job.
    struct Scripted([Outcome; 2]);

    impl Execute for Scripted {
        fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
            let (limits, Entry::Calls { arguments, .. }) = (job.limits, &job.entry) else {
                panic!("a reference is called")
            };
            let allowed: &[(u64, u64)] = if arguments.len() == 1 { &[(12, 125), (100, 1000)] } else { &[(250, 1500)] };
            assert!(allowed.contains(&(limits.fuel, limits.output_bytes)), "{limits:?}");
            Ok(self.0[usize::try_from(job.seed).unwrap()].clone())
        }
    }

    /// Returns each argument, and uses up its fuel on those below the number it holds.
    struct Extreme(i64);

    impl Execute for Extreme {
        fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
            let Entry::Calls { arguments, .. } = &job.entry else { panic!("a reference is called") };
            if (1..self.0).any(|extreme| arguments.contains(&vec![Value::int(extreme)])) {
                return Ok(exceeded(LimitKind::Fuel, job.limits.fuel));
            }
            Ok(outcome(arguments.iter().map(|input| returned(&input[0])).collect()))
        }
    }

    fn outcome(calls: Vec<CallResult>) -> Outcome {
        Outcome { calls, fuel: 50, ..Outcome::new(Exit::Returned) }
    }

    fn exceeded(limit: LimitKind, allowed: u64) -> Outcome {
        Outcome::new(Exit::Exceeded { limit, allowed, used: allowed + 1 })
    }

    fn returned(value: &Value) -> CallResult {
        CallResult::Returned(value.encode())
    }

    fn raised(kind: &str) -> CallResult {
        CallResult::Raised(GuestError { kind: kind.to_owned(), message: "why".to_owned() })
    }

    fn two(first: i64) -> Outcome {
        outcome(vec![returned(&Value::int(first)), returned(&Value::None)])
    }

    /// The problem of a task with so many inputs.
    fn executed(
        execute: &dyn Execute,
        expects: ExpectedResult,
        inputs: i64,
        scaled: bool,
    ) -> Result<Problem, ReferenceFailure> {
        let comparison = Comparison::by("evalplus");
        let unexecuted = UnexecutedProblem {
            task_id: "Mbpp/1".to_owned(),
            prompt: String::new(),
            checks: CallChecks { function: "f".to_owned(), cases: Vec::new(), fresh: false, comparison },
            inputs: (1..=inputs).map(|input| vec![Value::int(input)]).collect(),
            reference: String::new(),
            expects,
            limits: LimitOverrides::default(),
        };
        let conditions = JudgeConditions { scaled, ..JudgeConditions::new(Digest::of(b"image"), LIMITS) };
        execute_reference(&TaskContext::new(execute, "python", &conditions), &unexecuted)
    }

    /// The expected values that it gives, or the detail of the verdict on every attempt.
    fn values(execute: &dyn Execute, expects: ExpectedResult, inputs: u32) -> Result<Vec<Value>, String> {
        match executed(execute, expects, inputs.into(), true) {
            Ok(Problem { checks: Checks::Calls(checks), .. }) => {
                Ok(checks.cases.into_iter().map(|case| case.expected).collect())
            }
            Err(ReferenceFailure::Task(verdict)) => {
                assert_eq!((verdict.status, verdict.passed, verdict.total), (Status::Unjudgeable, 0, inputs));
                Err(verdict.evidence.detail)
            }
            other => panic!("calls become calls, and this is no fault of the host: {other:?}"),
        }
    }

    fn run(expects: ExpectedResult, outcome: Outcome) -> Result<Vec<Value>, String> {
        values(&Scripted([outcome.clone(), outcome]), expects, 2)
    }

    #[test]
    fn expected_values_are_those_the_reference_returns() {
        assert_eq!(run(ExpectedResult::Value, two(3)), Ok(vec![Value::int(3), Value::None]));
        // What is not `None` needs no encoding.
        let calls = vec![CallResult::Unencodable("a generator".to_owned()), returned(&Value::None)];
        assert_eq!(run(ExpectedResult::NotNone, outcome(calls)), Ok(vec![Value::Bool(true), Value::Bool(false)]));
    }

    #[test]
    fn attempts_get_four_times_what_the_reference_needed_unless_the_fuel_is_fixed() {
        let reference = Scripted([two(3), two(3)]);
        let limits = |scaled| executed(&reference, ExpectedResult::Value, 2, scaled).expect("it gives values").limits;
        assert_eq!(limits(true), Limits { fuel: 200, output_bytes: 2000, deadline_ns: 2, ..LIMITS }.into());
        assert!(limits(false).is_empty());
    }

    #[test]
    fn a_reference_that_fails_is_a_fault_of_the_task_and_says_how() {
        for (outcome, words) in [
            (outcome(vec![returned(&Value::int(3)), raised("ValueError")]), "input 1: ValueError: why"),
            (outcome(vec![returned(&Value::int(3))]), "1 values for 2 inputs"),
            (Outcome::new(Exit::Trapped), "Trapped"),
            (outcome(vec![raised("Unencodable")]), "input 0: Unencodable"),
            (exceeded(LimitKind::Fuel, 2500), "fuel limit of references, 2500"),
        ] {
            let why = run(ExpectedResult::Value, outcome).expect_err(words);
            assert!(why.contains("`Mbpp/1`") && why.contains(words), "{why}");
        }
        assert!(run(ExpectedResult::NotNone, outcome(vec![raised("ValueError")])).is_err());
        let by_seed = values(&Scripted([two(3), two(4)]), ExpectedResult::Value, 2);
        assert!(by_seed.is_err_and(|why| why.contains("input 0: it returns another value")));
    }

    #[test]
    fn a_deadline_is_a_fault_of_the_host() {
        let late = || exceeded(LimitKind::DeadlineNs, 25);
        let found = executed(&Scripted([late(), late()]), ExpectedResult::Value, 2, true);
        assert!(matches!(found, Err(ReferenceFailure::Host(_))));
    }

    #[test]
    fn inputs_that_are_too_much_for_the_reference_are_left_out_where_they_are_few() {
        for (extreme, cases) in [(1, Ok(20)), (2, Ok(19)), (5, Ok(16)), (6, Err(()))] {
            let found = values(&Extreme(extreme), ExpectedResult::Value, 20);
            assert_eq!(found.map(|values| values.len()).map_err(drop), cases);
        }
    }
}

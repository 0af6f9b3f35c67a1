//! Expected values that are not in the file: what the reference returns, run once a task in the sandbox.

use veriplay_core::{
    CallResult, Dropped, EncodeCaps, Entry, Execute, Exit, GuestError, Job, Limits, Outcome, Problem, Value,
};
use veriplay_corpus::{Expects, Unexecuted};

/// Where and how everything of this command runs.
pub(crate) struct Bench<'a> {
    pub(crate) execute: &'a dyn Execute,
    /// Name of the image.
    pub(crate) image: &'a str,
    /// Limits of a job where its problem names none.
    pub(crate) limits: Limits,
    pub(crate) seed: u64,
    pub(crate) early_stop: bool,
}

/// Runs the reference on its inputs and makes the problem.
pub(super) fn executed(bench: &Bench<'_>, unexecuted: &Unexecuted) -> Result<Problem, Dropped> {
    let limits = unexecuted.limits.unwrap_or(bench.limits);
    let function = unexecuted.checks.function.clone();
    let job = Job {
        image: bench.image.to_owned(),
        program: unexecuted.reference.clone(),
        entry: Entry::Calls { function, arguments: unexecuted.inputs.clone() },
        stdin: Vec::new(),
        files: Vec::new(),
        limits,
        seed: bench.seed,
        peer: None,
        base: None,
    };
    let outcome = bench.execute.execute(&job).map_err(|error| Dropped { why: error.to_string() })?;
    let expected = expected(unexecuted.expects, &outcome, limits);
    let problem = expected.and_then(|expected| unexecuted.with_expected(expected).map_err(|error| error.to_string()));
    let why = |what: String| Dropped {
        why: format!("the reference of `{}` gives no expected values: {what}", unexecuted.task_id),
    };
    problem.map_err(why)
}

fn expected(expects: Expects, outcome: &Outcome, limits: Limits) -> Result<Vec<Value>, String> {
    if outcome.exit != Exit::Returned {
        let error = outcome.error.as_ref().map(text).unwrap_or_default();
        return Err(format!("it ended with {:?} {error}", outcome.exit));
    }
    let values = outcome.calls.iter().enumerate().map(|(at, call)| {
        let value = match expects {
            Expects::Value => value(call, limits),
            Expects::NotNone => not_none(call, limits),
        };
        value.map_err(|what| format!("input {at}: {what}"))
    });
    values.collect()
}

fn value(call: &CallResult, limits: Limits) -> Result<Value, String> {
    match call {
        CallResult::Returned(bytes) => {
            let caps = EncodeCaps::with_bytes(usize::try_from(limits.output_bytes).unwrap_or(usize::MAX));
            Value::decode(bytes, caps).map_err(|error| error.to_string())
        }
        CallResult::Raised(error) => Err(text(error)),
        CallResult::Unencodable(what) => Err(format!("it returned {what}, which has no encoding")),
    }
}

/// What has no encoding is something.
fn not_none(call: &CallResult, limits: Limits) -> Result<Value, String> {
    match call {
        CallResult::Unencodable(_) => Ok(Value::Bool(true)),
        _ => value(call, limits).map(|value| Value::Bool(value != Value::None)),
    }
}

fn text(error: &GuestError) -> String {
    format!("{}: {}", error.kind, error.message)
}

#[cfg(test)]
mod tests {
    use veriplay_core::{CallChecks, Comparison, ExecuteError};

    use super::*;

    /// Gives what it is told, whatever the job.
    struct Told(Outcome);

    impl Execute for Told {
        fn execute(&self, _job: &Job) -> Result<Outcome, ExecuteError> {
            Ok(self.0.clone())
        }
    }

    fn outcome(calls: Vec<CallResult>) -> Outcome {
        Outcome {
            exit: Exit::Returned,
            calls,
            error: None,
            stdout: Vec::new(),
            stderr: Vec::new(),
            truncated: false,
            fuel: 1,
            peak_memory_bytes: 1,
            peer: None,
        }
    }

    fn run(expects: Expects, outcome: Outcome) -> Result<Vec<Value>, String> {
        let limits = Limits { fuel: 1, memory_bytes: 1, output_bytes: 1000, file_bytes: 1, deadline_ns: 1 };
        let comparison = Comparison::by("evalplus");
        let checks = CallChecks { function: "f".to_owned(), cases: Vec::new(), fresh: false, comparison };
        let unexecuted = Unexecuted {
            task_id: "Mbpp/1".to_owned(),
            prompt: String::new(),
            checks,
            inputs: vec![vec![Value::int(1)], vec![Value::int(2)]],
            reference: String::new(),
            expects,
            limits: None,
        };
        let execute = Told(outcome);
        let bench = Bench { execute: &execute, image: "python", limits, seed: 0, early_stop: false };
        let problem = executed(&bench, &unexecuted).map_err(|dropped| dropped.why)?;
        let veriplay_core::Checks::Calls(checks) = problem.checks else { panic!("calls become calls") };
        Ok(checks.cases.into_iter().map(|case| case.expected).collect())
    }

    fn returned(value: &Value) -> CallResult {
        CallResult::Returned(value.encode())
    }

    fn raised(kind: &str) -> CallResult {
        CallResult::Raised(GuestError { kind: kind.to_owned(), message: "why".to_owned() })
    }

    #[test]
    fn what_the_reference_returns_is_expected() {
        let calls = vec![returned(&Value::int(3)), returned(&Value::None)];
        assert_eq!(run(Expects::Value, outcome(calls)), Ok(vec![Value::int(3), Value::None]));
    }

    #[test]
    fn not_none_takes_what_is_no_plain_value() {
        let calls = vec![raised("Unencodable"), returned(&Value::None)];
        assert_eq!(run(Expects::NotNone, outcome(calls)), Ok(vec![Value::Bool(true), Value::Bool(false)]));
    }

    #[test]
    fn a_reference_that_fails_says_how() {
        let raising = outcome(vec![returned(&Value::int(3)), raised("ValueError")]);
        let why = run(Expects::Value, raising).expect_err("the second call raised");
        assert!(why.contains("`Mbpp/1`") && why.contains("input 1: ValueError: why"), "{why}");
        let short = run(Expects::Value, outcome(vec![returned(&Value::int(3))])).expect_err("a call is missing");
        assert!(short.contains("1 values for 2 inputs"), "{short}");
        let stopped = Outcome { exit: Exit::Trapped, ..outcome(Vec::new()) };
        assert!(run(Expects::Value, stopped).expect_err("it trapped").contains("Trapped"));
        assert!(run(Expects::NotNone, outcome(vec![raised("ValueError")])).is_err());
        assert!(run(Expects::Value, outcome(vec![raised("Unencodable")])).is_err());
    }
}

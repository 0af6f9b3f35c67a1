//! Forgeries are the verifier's probes, and they too must be able to escape: from graders as people write them.
//!
//! Two weakened verifiers judge them: one puts program and tests into one script and believes its exit status, the other
//! lets program and tests share an instance. What neither accepts is in the corpus for other reasons, and is not counted
//! among those that are shown to work.

use std::collections::BTreeSet;

use veriplay_core::{CallCase, Checks, Execute, Exit, Job, Limits, Predicted, Problem, TestStyle, Value};
use veriplay_corpus::built_in_forgeries;
use veriplay_corpus::forgeries::{ForgeryEnding, JudgingMode};
use veriplay_tests::python_sandbox;

const LIMITS: Limits = Limits {
    fuel: 100_000_000,
    memory_bytes: 128 << 20,
    output_bytes: 1 << 20,
    deadline_ns: 300_000_000_000,
    ..Limits::small()
};

/// Program and tests as one script; `None` where the problem is not judged by running tests.
fn one_script(problem: &Problem, attempt: &str) -> Option<String> {
    let text = match &problem.checks {
        Checks::Calls(checks) => {
            let case = |case: &CallCase| {
                format!("assert {}({}) == {}\n", checks.function, Value::arguments_text(&case.input), case.expected)
            };
            format!("{attempt}\n{}", checks.cases.iter().map(case).collect::<String>())
        }
        Checks::Tests(code) => match &code.style {
            TestStyle::Asserts(lines) => format!("{attempt}\n{}\n{}", code.setup, lines.join("\n")),
            TestStyle::Check { source, function } => format!("{attempt}\n{source}\ncheck({function})"),
            TestStyle::Functions(_) => return None,
        },
        // As the release of CRUXEval does it.
        Checks::Prediction(asked) => match asked.wanted {
            Predicted::Output => format!("{}\nassert {} == {}", asked.program, asked.input, attempt.trim()),
            Predicted::Input => format!("{}\nassert {} == {}", asked.program, asked.output, attempt.trim()),
        },
        Checks::Stdio(_) | Checks::Environment(_) | Checks::Sql(_) | Checks::Appended(_) => return None,
    };
    // Such a script has no module of that name to import the program from.
    (!text.contains("solution")).then_some(text)
}

/// Whether the script ends with status 0, which this grader takes for success.
fn exits_with_zero(script: String) -> bool {
    let job = Job { limits: LIMITS, seed: 1, ..Job::script(script) };
    let outcome = python_sandbox().execute(&job).expect("the sandbox does not fail");
    let ended_itself = outcome.error.is_some_and(|error| error.message.ends_with("with code 0"));
    outcome.exit == Exit::Returned || (outcome.exit == Exit::Trapped && ended_itself)
}

#[test]
fn forgeries_are_accepted_by_graders_as_people_write_them_and_so_are_honest_attempts() {
    let corpus = built_in_forgeries();
    for target in corpus.targets.values().filter(|target| !matches!(target.problem.checks, Checks::Calls(_))) {
        if let Some(script) = one_script(&target.problem, &target.honest) {
            assert!(exits_with_zero(script), "the honest attempt at {} is refused", target.name);
        }
    }
    let (mut believed, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for forgery in &corpus.forgeries {
        for expected in &forgery.expected {
            let problem = &corpus.targets[&expected.problem].problem;
            if one_script(problem, &forgery.attempt).is_some_and(exits_with_zero) {
                believed.insert(forgery.name.as_str());
            }
            if expected.judging == JudgingMode::Shared && expected.ending == ForgeryEnding::Undefended {
                shared.insert(forgery.name.as_str());
            }
        }
    }
    let counted = believed.union(&shared).count();
    let all = corpus.forgeries.len();
    assert!(
        believed.len() >= 25 && counted >= 34,
        "{counted} of {all} forgeries fool a weak grader, by exit status: {believed:?}"
    );
}

//! Problems as a whole: what is refused before anything runs, the order of many, and what all kinds share.

use veriplay_core::{
    CallCase, CallChecks, Checks, Comparison, Dropped, Entry, Execute, LimitOverrides, Predicted, Prediction, Problem,
    Status, StdioCase, StdioChecks, TestCode, TestStyle, Trust, Value, Verdict,
};
use veriplay_verifier::{ProblemRequest, check_problem, judge_program, judge_programs};

use crate::judges::within;
use crate::table::{Gives, LIMITS, Table, arguments, int_of, read};

pub(crate) fn problem(checks: Checks) -> Problem {
    Problem::new("set/1", checks)
}

/// Calls of `g`: argument list and expected value, all in one job.
pub(crate) fn calls_problem(cases: &[(&str, &str)], comparison: Comparison) -> Problem {
    let case = |(input, expected): &(&str, &str)| CallCase::new(arguments(input), read(expected));
    let cases = cases.iter().map(case).collect();
    problem(Checks::Calls(CallChecks { function: "g".to_owned(), cases, fresh: false, comparison }))
}

/// The same with a job for each call.
pub(crate) fn fresh_problem(cases: &[(&str, &str)], comparison: Comparison) -> Problem {
    let mut problem = calls_problem(cases, comparison);
    if let Checks::Calls(checks) = &mut problem.checks {
        checks.fresh = true;
    }
    problem
}

/// Runs: standard input and expected output.
pub(crate) fn stdio_problem(cases: &[(&str, &str)], comparison: Comparison) -> Problem {
    let case = |(stdin, stdout): &(&str, &str)| StdioCase::new(*stdin, *stdout);
    problem(Checks::Stdio(StdioChecks::new(cases.iter().map(case).collect(), comparison)))
}

pub(crate) fn request<'a>(problem: &'a Problem, program: &'a str) -> ProblemRequest<'a> {
    ProblemRequest { problem, program, image: "python", limits: LIMITS, seed: 9, early_stop: false }
}

pub(crate) fn try_judge(execute: &dyn Execute, problem: &Problem) -> Result<Verdict, Dropped> {
    judge_program(execute, &request(problem, "p"))
}

pub(crate) fn judged(execute: &dyn Execute, problem: &Problem) -> (Status, u32, u32) {
    let verdict = try_judge(execute, problem).unwrap();
    (verdict.status, verdict.passed, verdict.total)
}

fn tests(style: TestStyle) -> Problem {
    problem(Checks::Tests(TestCode::new(Trust::Split, style)))
}

#[test]
fn a_problem_that_cannot_be_judged_is_refused_by_name_before_anything_runs() {
    let exact = || Comparison::by("exact");
    let mut nameless = calls_problem(&[("1", "1")], exact());
    if let Checks::Calls(checks) = &mut nameless.checks {
        checks.function = " ".to_owned();
    }
    let prediction =
        Prediction { program: String::new(), input: "1".to_owned(), output: read("1"), wanted: Predicted::Input };
    let check = |source: &str| TestStyle::Check { source: source.to_owned(), function: "g".to_owned() };
    let alternatives = |count| {
        let case = StdioCase { alternatives: vec!["1".to_owned(); count], ..StdioCase::new("", "1") };
        problem(Checks::Stdio(StdioChecks::new(vec![case], Comparison::by("lines"))))
    };
    let functions = |count| {
        let style = TestStyle::Asserts(vec!["assert g(1)".to_owned()]);
        problem(Checks::Tests(TestCode {
            functions: vec!["g".to_owned(); count],
            ..TestCode::new(Trust::Split, style)
        }))
    };
    for (problem, wanted) in [
        (calls_problem(&[], exact()), "has no checks"),
        (stdio_problem(&[], exact()), "has no checks"),
        (tests(TestStyle::Asserts(vec![])), "has no checks"),
        (tests(TestStyle::Functions(" \n".to_owned())), "has no checks"),
        (tests(check("")), "has no checks"),
        (calls_problem(&[("1", "1")], Comparison::by("exat")), "unknown judge `exat`; known are exact, lines"),
        (calls_problem(&[("1", "1")], Comparison::by("stdio")), "judge `lines` of `set/1` does not judge values"),
        (stdio_problem(&[("1", "1")], Comparison::by("cruxeval")), "does not judge standard output"),
        (stdio_problem(&[("1", "1")], within("float", f64::NAN, 0.0)), "finite"),
        (calls_problem(&[("1", "1")], Comparison::by("checker")), "source of a checker"),
        (calls_problem(&[("1", "1")], within("checker", 1.0, 1.0)), "source of a checker"),
        (alternatives(1001), "has 1001 `alternatives`; give at most 1000"),
        (functions(1001), "has 1001 `functions`; give at most 1000"),
        (nameless, "which function"),
        (problem(Checks::Prediction(prediction)), "which program"),
    ] {
        let table = Table::default();
        let error = check_problem(&problem).unwrap_err();
        assert!(error.to_string().contains(wanted) && error.to_string().contains("set/1"), "{error}");
        assert_eq!(try_judge(&table, &problem).unwrap_err().why, error.to_string());
        assert!(table.jobs().is_empty());
    }
    assert_eq!(check_problem(&calls_problem(&[("1", "1")], exact())), Ok(()));
    assert_eq!(check_problem(&stdio_problem(&[("", "1")], within("float", 0.0, 0.0))), Ok(()));
    assert_eq!(check_problem(&tests(TestStyle::Asserts(vec!["assert g(1)".to_owned()]))), Ok(()));
    assert_eq!((check_problem(&alternatives(1000)), check_problem(&functions(1000))), (Ok(()), Ok(())));
}

#[test]
fn the_judges_of_apps_and_livecodebench_call_what_the_program_has() {
    let called = |judge: &str, function: &str, program: &str| {
        let mut problem = calls_problem(&[("1", "1")], Comparison::by(judge));
        if let Checks::Calls(checks) = &mut problem.checks {
            checks.function = function.to_owned();
        }
        let table = Table::default().with(program, |_| Gives::Value(read("1")));
        judge_program(&table, &request(&problem, program)).expect("a verdict");
        match &table.jobs()[0].entry {
            Entry::Calls { function, .. } => function.clone(),
            other => panic!("{other:?} calls nothing"),
        }
    };
    let (method, function) = ("class Solution:\n    def g(self, x): return x", "def g(x): return x");
    for judge in ["apps", "livecodebench"] {
        for named in ["g", "Solution.g"] {
            assert_eq!(called(judge, named, method), "Solution.g");
            assert_eq!(called(judge, named, function), "g");
        }
    }
    // Any other judge has the problem's word.
    assert_eq!(called("exact", "Solution.g", function), "Solution.g");
    assert_eq!(called("exact", "g", method), "g");
}

#[test]
fn many_come_back_in_order_and_as_one_by_one() {
    let table = Table::of(|call| match int_of(&call.arguments[0]) {
        x if x % 7 == 0 => Gives::HostFault,
        x => Gives::Value(Value::int(x * x)),
    });
    let square = |x: i64| calls_problem(&[(&x.to_string(), &(x * x + x % 2).to_string())], Comparison::by("exact"));
    let problems: Vec<Problem> = (0..40).map(square).collect();
    let requests: Vec<_> = problems.iter().map(|problem| request(problem, "p")).collect();
    let together = judge_programs(&table, &requests);
    assert_eq!(together, requests.iter().map(|request| judge_program(&table, request)).collect::<Vec<_>>());
    let word = |x: usize| together[x].as_ref().map(|verdict| verdict.status).ok();
    assert_eq!((word(2), word(3), word(7)), (Some(Status::Accepted), Some(Status::WrongAnswer), None));
    assert!(judge_programs(&table, &[]).is_empty());
}

#[test]
fn the_prelude_stands_before_the_program_on_lines_of_its_own() {
    // What it binds by the name of the function goes: a star import may have that very one.
    let whole = "import re\nglobals().pop('g', None)\np";
    for (prelude, whole) in [("", "p"), ("import re", whole), ("import re\n", whole)] {
        let table = Table::default().with(whole, |_| Gives::Value(read("1")));
        let problem = Problem { prelude: prelude.to_owned(), ..calls_problem(&[("1", "1")], Comparison::by("exact")) };
        assert_eq!(judged(&table, &problem).0, Status::Accepted);
    }
}

#[test]
fn the_problems_own_limits_are_those_of_its_jobs() {
    let own = LimitOverrides { fuel: Some(5), ..LimitOverrides::default() };
    for (limits, fuel) in [(LimitOverrides::default(), LIMITS.fuel), (own, 5)] {
        let table = Table::of(|_| Gives::Value(read("1")));
        let problem = Problem { limits, ..calls_problem(&[("1", "1")], Comparison::by("exact")) };
        try_judge(&table, &problem).unwrap();
        assert_eq!(table.jobs()[0].limits.fuel, fuel);
        assert_eq!((table.jobs()[0].seed, table.jobs()[0].image.as_str()), (9, "python"));
    }
}

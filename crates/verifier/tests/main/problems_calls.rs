//! Calls: statuses, counts, early stop, completeness, and what enters a job.

use proptest::prelude::*;
use veriplay_core::{Comparison, Entry, Execute, ExecuteError, Exit, Job, LimitKind, Limits, Outcome, Status, Value};
use veriplay_verifier::{ProblemRequest, judge_program};

use crate::problems::{calls_problem, fresh_problem, judged, request, try_judge};
use crate::table::{Call, Gives, Table, exceeded, int_of, on_int, read, stops};

fn exact() -> Comparison {
    Comparison::by("exact")
}

/// Squares of 1, 2 and 3.
const SQUARES: &[(&str, &str)] = &[("1", "1"), ("2", "4"), ("3", "9")];

/// Squares, but for the call of 2.
fn but_for_two(gives: Gives) -> Table {
    Table::of(move |call: &Call<'_>| match int_of(&call.arguments[0]) {
        2 => gives.clone(),
        x => Gives::Value(Value::int(x * x)),
    })
}

#[test]
fn all_cases_run_in_one_job_and_all_must_be_right() {
    let right = on_int(|x| Value::int(x * x));
    assert_eq!(judged(&right, &calls_problem(SQUARES, exact())), (Status::Accepted, 3, 3));
    assert_eq!(right.jobs().len(), 1);
    assert!(
        matches!(&right.jobs()[0].entry, Entry::Calls { function, arguments } if function == "g" && arguments.len() == 3)
    );
    let wrong = but_for_two(Gives::Value(read("5")));
    let verdict = try_judge(&wrong, &calls_problem(SQUARES, exact())).unwrap();
    assert_eq!((verdict.status, verdict.passed, verdict.total), (Status::WrongAnswer, 2, 3));
    assert_eq!(verdict.evidence.detail, "case 1: `5` instead of `4`");
    assert_eq!((verdict.evidence.jobs.len(), verdict.evidence.fuel), (1, 7));
}

#[test]
fn an_expected_value_beyond_the_limit_gets_room() {
    let list = |last: i64| Value::List((0..100_000).map(Value::int).chain([Value::int(last)]).collect());
    let expected = list(1).to_string();
    for (last, status) in [(1, Status::Accepted), (2, Status::WrongAnswer)] {
        let table = on_int(move |_| list(last));
        let problem = calls_problem(&[("1", &expected)], exact());
        let small = Limits { output_bytes: 64 << 10, ..Limits::large() };
        let request = ProblemRequest { limits: small, ..request(&problem, "p") };
        assert_eq!(judge_program(&table, &request).unwrap().status, status);
        let cost = Value::output_cost(&list(1).encode());
        let wanted = 2 * cost + (64 << 10);
        assert_eq!(table.jobs()[0].limits.output_bytes, wanted);
    }
}

#[test]
fn fresh_cases_have_a_job_each_and_a_program_cannot_count_its_calls() {
    let counting = |call: &Call<'_>| Gives::Value(Value::int(call.place as i64));
    let zeros = [("1", "0"), ("2", "0"), ("3", "0")];
    let table = Table::of(counting);
    assert_eq!(judged(&table, &fresh_problem(&zeros, exact())), (Status::Accepted, 3, 3));
    assert_eq!(table.jobs().len(), 3);
    assert_eq!(judged(&Table::of(counting), &calls_problem(&zeros, exact())), (Status::WrongAnswer, 1, 3));
}

#[test]
fn the_status_is_the_first_failing_cases() {
    let two_ways = |call: &Call<'_>| match int_of(&call.arguments[0]) {
        1 => Gives::Value(read("1")),
        2 => Gives::Raises("KeyError"),
        _ => Gives::Value(read("0")),
    };
    for problem in [calls_problem(SQUARES, exact()), fresh_problem(SQUARES, exact())] {
        assert_eq!(judged(&Table::of(two_ways), &problem), (Status::RuntimeError, 1, 3));
    }
    // A wrong value stands before the limit that a later call met.
    let late = |call: &Call<'_>| match int_of(&call.arguments[0]) {
        1 => Gives::Value(read("0")),
        _ => Gives::Stops(exceeded(LimitKind::Fuel)),
    };
    assert_eq!(judged(&Table::of(late), &calls_problem(SQUARES, exact())), (Status::WrongAnswer, 0, 3));
}

#[test]
fn early_stop_ends_at_the_first_failing_case_of_its_own_job() {
    for (problem, jobs, passed) in [(fresh_problem(SQUARES, exact()), 2, 1), (calls_problem(SQUARES, exact()), 1, 2)] {
        let table = but_for_two(Gives::Value(read("5")));
        let early = ProblemRequest { early_stop: true, ..request(&problem, "p") };
        let verdict = judge_program(&table, &early).unwrap();
        assert_eq!((verdict.status, verdict.passed, verdict.total), (Status::WrongAnswer, passed, 3));
        assert_eq!((table.jobs().len(), verdict.evidence.jobs.len()), (jobs, jobs));
    }
    let right = on_int(|x| Value::int(x * x));
    let problem = fresh_problem(SQUARES, exact());
    let early = ProblemRequest { early_stop: true, ..request(&problem, "p") };
    assert_eq!(judge_program(&right, &early).unwrap().status, Status::Accepted);
    assert_eq!(right.jobs().len(), 3);
}

#[test]
fn ends_become_the_words_of_an_online_judge() {
    // The last one: done, says the harness, with results missing.
    let others = [Exit::Raised, Exit::Returned].map(|exit| (exit, Status::RuntimeError));
    for (exit, wanted) in stops().into_iter().chain(others) {
        let table = but_for_two(Gives::Stops(exit));
        assert_eq!(judged(&table, &calls_problem(SQUARES, exact())), (wanted, 1, 3));
        assert_eq!(judged(&table, &fresh_problem(SQUARES, exact())), (wanted, 2, 3));
    }
    for (exit, wanted) in [
        (Exit::CompileError, Status::CompileError),
        (Exit::MissingEntry, Status::RuntimeError),
        (Exit::Raised, Status::RuntimeError),
    ] {
        let table = Table::default().with_module_end("p", exit, "MissingEntry");
        assert_eq!(judged(&table, &calls_problem(SQUARES, exact())), (wanted, 0, 3));
    }
}

/// All three results are right, and then the job does not come to its end.
struct BadEnd(Exit, usize);

impl Execute for BadEnd {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        let mut outcome = on_int(|x| Value::int(x * x)).execute(job)?;
        let extra = outcome.calls[0].clone();
        outcome.calls.extend(std::iter::repeat_n(extra, self.1));
        Ok(Outcome { exit: self.0.clone(), ..outcome })
    }
}

#[test]
fn right_results_of_a_job_that_did_not_end_well_are_not_accepted() {
    for problem in [calls_problem(SQUARES, exact()), fresh_problem(SQUARES, exact())] {
        assert_eq!(judged(&BadEnd(Exit::Returned, 0), &problem), (Status::Accepted, 3, 3));
        for (end, wanted) in [
            (BadEnd(Exit::Trapped, 0), Status::RuntimeError),
            (BadEnd(exceeded(LimitKind::Fuel), 0), Status::FuelExceeded),
            (BadEnd(Exit::Returned, 1), Status::RuntimeError),
        ] {
            let (status, passed, total) = judged(&end, &problem);
            assert_eq!((status, total), (wanted, 3));
            assert!(passed < total);
        }
    }
}

#[test]
fn what_is_no_plain_value_equals_nothing_and_what_raised_is_an_error() {
    for (gives, wanted) in [
        (Gives::Unencodable, Status::WrongAnswer),
        (Gives::Raises("Unencodable"), Status::RuntimeError),
        (Gives::Bytes(b"T\0".to_vec()), Status::WrongAnswer),
        (Gives::Bytes(Vec::new()), Status::WrongAnswer),
        (Gives::Raises("SystemExit"), Status::RuntimeError),
        (Gives::Raises("SkipTest"), Status::RuntimeError),
    ] {
        let problem = calls_problem(&[("2", "True")], Comparison::by("cruxeval"));
        assert_eq!(judged(&but_for_two(gives), &problem), (wanted, 0, 1));
    }
}

#[test]
fn a_host_fault_is_dropped_whichever_job_it_meets() {
    for problem in [calls_problem(SQUARES, exact()), fresh_problem(SQUARES, exact())] {
        let dropped = try_judge(&but_for_two(Gives::HostFault), &problem).unwrap_err();
        assert!(dropped.why.contains("told to fail"), "{}", dropped.why);
    }
}

#[test]
fn no_job_holds_what_a_case_expects() {
    for problem in [calls_problem(&[("2", "987654321")], exact()), fresh_problem(&[("2", "987654321")], exact())] {
        let table = on_int(|_| read("987654321"));
        assert_eq!(judged(&table, &problem).0, Status::Accepted);
        assert!(table.jobs().iter().all(|job| !format!("{job:?}").contains("987654321")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn accepted_says_every_case_and_the_order_of_cases_changes_no_count(
        right in prop::collection::vec(any::<bool>(), 1..8), turn in 0..8usize, fresh in any::<bool>(),
    ) {
        let cases: Vec<(String, String)> =
            right.iter().enumerate().map(|(x, right)| (x.to_string(), (x + usize::from(!right)).to_string())).collect();
        let verdict = |turn: usize| {
            let mut cases: Vec<(&str, &str)> = cases.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            let places = cases.len();
            cases.rotate_left(turn % places);
            let problem = if fresh { fresh_problem(&cases, exact()) } else { calls_problem(&cases, exact()) };
            judged(&on_int(Value::int), &problem)
        };
        let (status, passed, total) = verdict(0);
        prop_assert_eq!(passed as usize, right.iter().filter(|right| **right).count());
        prop_assert_eq!(status == Status::Accepted, passed == total);
        prop_assert_eq!(verdict(turn), (status, passed, total));
    }
}

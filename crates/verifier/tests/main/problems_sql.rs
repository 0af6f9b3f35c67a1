//! Queries: what enters a job, what the words of its program mean, and what is refused before anything runs.

use veriplay_core::{
    Checks, ColumnOrder, LimitKind, Problem, REFERENCE_RULE, SqlCase, SqlChecks, SqlDatabase, SqlFile, Status, Value,
};
use veriplay_image_python::programs::sql::QUERY;
use veriplay_verifier::extraction::extract_query;
use veriplay_verifier::{check_problem, judge_program};

use crate::problems::request;
use crate::table::{Gives, Table, arguments, calls, exceeded, read};

const GOLD: &str = "SELECT a FROM t ORDER BY a";

/// The problem of these cases, by a reference or without.
fn queries(cases: Vec<SqlCase>, reference: Option<&str>) -> Problem {
    let reference = reference.map(str::to_owned);
    Problem::new("set/1", Checks::Sql(SqlChecks { cases, reference, rows: None, columns: ColumnOrder::Given }))
}

/// A database by its script, and a list of the lists that are expected of it.
fn case(script: &str, expected: Option<&str>) -> SqlCase {
    let expected = expected.map(|rows| arguments(rows).into_iter().map(row).collect());
    SqlCase { database: SqlDatabase::Script(script.to_owned()), expected }
}

fn row(row: Value) -> Vec<Value> {
    if let Value::List(values) = row { values } else { panic!("`{row}` is no row") }
}

/// Databases whose rows the reference tells.
fn on(scripts: &[&str]) -> Problem {
    queries(scripts.iter().map(|script| case(script, None)).collect(), Some(GOLD))
}

/// Answers the reference by the rows 1 and 2, and `attempt` as told.
fn answering(attempt: &'static str) -> Table {
    Table::default().with(QUERY, move |call| match &call.arguments[0] {
        Value::Str(query) if query == GOLD => Gives::Value(read("['rows', [[1], [2]]]")),
        _ => Gives::Value(read(attempt)),
    })
}

#[test]
fn no_job_of_an_attempt_has_the_reference_or_expected_rows() {
    let table = answering("['rows', [[1], [2]]]");
    let verdict = judge_program(&table, &request(&on(&["CREATE"]), "SELECT 1")).unwrap();
    assert_eq!((verdict.status, verdict.passed, verdict.total), (Status::Accepted, 1, 1));
    let [gold, attempt] = table.jobs().try_into().unwrap();
    assert_eq!(calls(&attempt), [vec![Value::str("SELECT 1"), Value::str("CREATE"), Value::int(1 << 16)]]);
    assert!(format!("{gold:?}").contains(GOLD) && !format!("{attempt:?}").contains(GOLD));
    let given = queries(vec![case("", Some("[987654321], [2]"))], None);
    let verdict = judge_program(&table, &request(&given, "SELECT 1")).unwrap();
    assert_eq!(verdict.status, Status::WrongAnswer);
    assert_eq!(
        verdict.evidence.detail,
        "case 0: `[(1,), (2,)]` instead of `[(987654321,), (2,)]`; rows: 2 instead of 2"
    );
    assert!(!format!("{:?}", table.jobs().last()).contains("987654321"));
}

#[test]
fn each_word_of_the_program_is_a_status() {
    for (answer, status, rule) in [
        ("['rows', [[1], [2]]]", Status::Accepted, ""),
        ("['rows', [[1.0], [2]]]", Status::Accepted, ""),
        // The reference has an order.
        ("['rows', [[2], [1]]]", Status::WrongAnswer, ""),
        ("['rows', []]", Status::WrongAnswer, ""),
        ("['compile', 'why']", Status::CompileError, ""),
        ("['refused', 'why']", Status::RuntimeError, ""),
        ("['failed', 'why']", Status::RuntimeError, ""),
        ("['large', 'why']", Status::OutputExceeded, ""),
        ("['database', 'why']", Status::Unjudgeable, REFERENCE_RULE),
        ("['rows', 1]", Status::RuntimeError, ""),
        ("['rows', [1]]", Status::RuntimeError, ""),
        ("['rows']", Status::RuntimeError, ""),
        ("None", Status::RuntimeError, ""),
    ] {
        let verdict = judge_program(&answering(answer), &request(&on(&["CREATE"]), "SELECT 1")).unwrap();
        assert_eq!((verdict.status, verdict.evidence.rule.as_str()), (status, rule), "{answer}");
    }
}

#[test]
fn an_image_without_sqlite_is_not_the_attempts_fault() {
    let table = Table::default().with_module_error(QUERY, "ImportError");
    let given = queries(vec![case("", Some("[1]"))], None);
    assert_eq!(judge_program(&table, &request(&given, "SELECT 1")).unwrap().status, Status::Unjudgeable);
}

#[test]
fn a_reference_that_gives_no_rows_is_the_tasks_fault_whatever_the_attempt_is() {
    for (gives, status) in [
        (Gives::Value(read("['compile', 'no such column']")), Status::Unjudgeable),
        (Gives::Stops(exceeded(LimitKind::Fuel)), Status::Unjudgeable),
        (Gives::Stops(exceeded(LimitKind::DeadlineNs)), Status::DeadlineExceeded),
    ] {
        let table = Table::default().with(QUERY, move |_| gives.clone());
        assert_eq!(judge_program(&table, &request(&on(&[""]), "SELEC")).unwrap().status, status);
        assert_eq!(table.jobs().len(), 1);
    }
}

#[test]
fn a_query_must_be_right_on_every_database() {
    let table = Table::default().with(QUERY, |call| match call.arguments {
        [Value::Str(query), Value::Str(script), _] if query != GOLD && script == "second" => {
            Gives::Value(read("['rows', [[1], [3]]]"))
        }
        _ => Gives::Value(read("['rows', [[1], [2]]]")),
    });
    let verdict = |scripts: &[&str]| judge_program(&table, &request(&on(scripts), "SELECT 1")).unwrap();
    assert_eq!(verdict(&["first"]).status, Status::Accepted);
    let both = verdict(&["first", "second", "first"]);
    assert_eq!((both.status, both.passed, both.total), (Status::WrongAnswer, 2, 3));
    assert!(both.evidence.detail.starts_with("case 1: "));
}

#[test]
fn queries_that_cannot_be_judged_are_refused_by_name() {
    let unread = SqlDatabase::File(SqlFile::new("a.sqlite", Vec::new()));
    for (problem, why) in [
        (queries(Vec::new(), Some(GOLD)), "no checks"),
        (queries(vec![case("", None)], None), "neither `expected` rows nor a `reference`"),
        (queries(vec![case("", Some("[1]")), case("", None)], Some(" ")), "case 1 of `set/1` has neither"),
        (queries(vec![SqlCase { database: unread, expected: None }], Some(GOLD)), "`--databases`"),
        (queries(vec![case("", Some("[1], [1, 2]"))], None), "same number of values"),
        (queries(vec![case("", Some("[[1]]"))], None), "none of SQLite's"),
        (queries(vec![case("", Some("[]"))], None), "none of SQLite's"),
        (Problem { prompt: "SELECT".to_owned(), ..on(&[""]) }, "leave out `prelude` and `prompt`"),
    ] {
        let error = check_problem(&problem).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("set/1"), "{error}");
    }
    let good = queries(vec![case("", Some("[1, None], ['x', b'y']")), case("", Some(""))], None);
    assert_eq!(check_problem(&good), Ok(()));
}

#[test]
fn the_query_is_found_in_what_a_model_wrote() {
    for (response, query, rule) in [
        ("SELECT 1", "SELECT 1", "whole"),
        ("<think>SELECT 2</think>\nSELECT 1;\n", "SELECT 1;", "whole"),
        ("<answer>SELECT 1</answer>", "SELECT 1", "whole"),
        ("So:\n```sql\nSELECT 1\n```\nIt gives 1.", "SELECT 1\n", "block"),
        ("```SQLite\nSELECT 1\n```", "SELECT 1\n", "block"),
        ("```sql\nSELECT 2\n```\nNo:\n```sql\nSELECT 1\n```\n```\n1\n```", "SELECT 1\n", "block"),
        ("```\nSELECT 1\n```\n```python\nprint(1)\n```", "SELECT 1\n", "block"),
        ("```sql\nSELECT 1", "SELECT 1\n", "unclosed_block"),
    ] {
        let found = extract_query(response).unwrap();
        assert_eq!((found.text.as_str(), found.extraction.rule.as_str()), (query, rule), "{response}");
    }
    for (response, why) in [("", "empty"), ("<think>SELECT 1", "does not end"), ("```python\nx\n```", "`python`")] {
        assert!(extract_query(response).unwrap_err().reason.contains(why), "{response}");
    }
}

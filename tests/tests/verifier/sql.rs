//! Queries on the real SQLite: what is right, what is refused, and databases as scripts and as files.

use serde_json::{Value as Json, json};
use veriplay_core::{
    Checks, Execute as _, Job, Limits, Problem, SqlCase, SqlChecks, SqlDatabase, SqlFile, Status, Value, Verdict,
};

use super::{LIMITS, LONG, judge, python};

const SHOP: &str = "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL, sold INTEGER);
INSERT INTO item VALUES (1, 'pen', 2, 7), (2, 'ink', 9.5, NULL), (3, 'pad', 2, 0);";
/// The same table, on which the dearest item is not the second.
const OTHER_SHOP: &str = "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL, sold INTEGER);
INSERT INTO item VALUES (1, 'ink', 30, 1), (2, 'pad', 4, 2);";

fn checks(sql: Json) -> SqlChecks {
    match serde_json::from_value(json!({"sql": sql})) {
        Ok(Checks::Sql(checks)) => checks,
        other => panic!("{other:?} are no queries"),
    }
}

fn verdict(sql: Json, query: &str) -> Verdict {
    judge(&Problem::new("t", Checks::Sql(checks(sql))), query, LONG)
}

/// The status of a query against a reference, on the shop.
fn against(reference: &str, query: &str) -> Status {
    verdict(json!({"cases": [{"database": {"script": SHOP}}], "reference": reference}), query).status
}

#[test]
fn checks_of_queries_are_read_as_they_are_written_and_a_fault_is_named() {
    let full = json!({"cases": [{"database": {"script": SHOP}, "expected": [["1", "None"], ["'x'", "b'y'"]]}],
        "reference": "SELECT 1", "rows": "set", "columns": "any"});
    assert_eq!(json!(checks(full.clone())), full);
    for (sql, why) in [
        (json!({"cases": [], "row": "set"}), "`row`"),
        (json!({"cases": [], "rows": "bag"}), "`bag`"),
        (json!({"cases": [{"script": SHOP}]}), "`script`"),
        (json!({"cases": [{"database": {"url": SHOP}}]}), "`url`"),
        (json!({"cases": [{"database": {"file": {}}}]}), "`path`"),
    ] {
        let error = serde_json::from_value::<Checks>(json!({"sql": sql})).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_query_is_right_that_gives_the_rows_of_the_reference() {
    let (unordered, ordered) = ("SELECT name, price FROM item", "SELECT name FROM item ORDER BY price DESC, id");
    for (reference, query, status) in [
        (unordered, "SELECT name, price FROM item ORDER BY id DESC;", Status::Accepted),
        (unordered, "SELECT name, price + 0.0 FROM item -- all of them", Status::Accepted),
        (unordered, "SELECT name, CAST(price AS TEXT) FROM item", Status::WrongAnswer),
        (unordered, "SELECT price, name FROM item", Status::WrongAnswer),
        (ordered, "WITH i AS (SELECT * FROM item) SELECT name FROM i ORDER BY -price, id", Status::Accepted),
        (ordered, "SELECT name FROM item", Status::WrongAnswer),
        ("SELECT price FROM item", "SELECT DISTINCT price FROM item", Status::WrongAnswer),
        ("SELECT sold FROM item", "SELECT coalesce(sold, 0) FROM item", Status::WrongAnswer),
        ("SELECT name FROM item WHERE id > 9", "SELECT id, name FROM item WHERE price < 0", Status::Accepted),
        ("SELECT random(), datetime('now')", "SELECT random(), datetime('now')", Status::Accepted),
    ] {
        assert_eq!(against(reference, query), status, "{reference} and {query}");
    }
    let any = json!({"cases": [{"database": {"script": SHOP}}], "reference": unordered, "columns": "any"});
    assert_eq!(verdict(any, "SELECT price, name FROM item").status, Status::Accepted);
    let set = json!({"cases": [{"database": {"script": SHOP}}], "reference": "SELECT price FROM item", "rows": "set"});
    assert_eq!(verdict(set, "SELECT DISTINCT price FROM item").status, Status::Accepted);
}

#[test]
fn a_query_that_is_right_on_one_database_by_chance_is_wrong_on_another() {
    let dearest = "SELECT name FROM item ORDER BY price DESC LIMIT 1";
    let cases = json!([{"database": {"script": SHOP}}, {"database": {"script": OTHER_SHOP}, "expected": [["'ink'"]]}]);
    let both = json!({"cases": cases, "reference": dearest});
    assert_eq!(verdict(both.clone(), "SELECT name FROM item ORDER BY -price LIMIT 1").status, Status::Accepted);
    let lucky = verdict(both, "SELECT name FROM item WHERE id = 2");
    assert_eq!((lucky.status, lucky.passed, lucky.total), (Status::WrongAnswer, 1, 2));
}

#[test]
fn what_is_no_query_or_does_more_than_read_is_refused() {
    for (query, status, why) in [
        ("", Status::CompileError, "no statement"),
        (" -- nothing", Status::CompileError, "no statement"),
        ("SELEC 1", Status::CompileError, "syntax error"),
        ("SELECT absent FROM item", Status::CompileError, "no such column"),
        ("SELECT 1; DROP TABLE item", Status::CompileError, "one statement at a time"),
        ("SELECT ?", Status::CompileError, "bindings"),
        ("SELECT 'a\0'", Status::CompileError, "null character"),
        ("SELECT sum(9223372036854775807) FROM item", Status::RuntimeError, "integer overflow"),
        ("DELETE FROM item RETURNING *", Status::RuntimeError, "more than read"),
        ("INSERT INTO item(name) VALUES ('x')", Status::RuntimeError, "more than read"),
        ("CREATE TEMP TABLE x(a)", Status::RuntimeError, "more than read"),
        ("ATTACH 'other.sqlite' AS other", Status::RuntimeError, "more than read"),
        ("PRAGMA query_only = OFF", Status::RuntimeError, "more than read"),
        ("VACUUM INTO 'copy.sqlite'", Status::RuntimeError, "more than read"),
        ("SELECT load_extension('x')", Status::CompileError, "no such function"),
        ("SELECT readfile('/etc/passwd')", Status::CompileError, "no such function"),
    ] {
        let expected = json!({"cases": [{"database": {"script": SHOP}, "expected": []}]});
        let verdict = verdict(expected, query);
        assert_eq!(verdict.status, status, "{query}: {}", verdict.evidence.detail);
        assert!(verdict.evidence.detail.contains(why), "{query}: {}", verdict.evidence.detail);
    }
}

#[test]
fn a_query_without_end_meets_a_limit() {
    const COUNT: &str = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT";
    let limits = Limits { output_bytes: 1 << 16, ..LIMITS };
    let problem = |sql| Problem::new("t", Checks::Sql(checks(sql)));
    let given = problem(json!({"cases": [{"database": {"script": SHOP}, "expected": []}]}));
    assert_eq!(judge(&given, &format!("{COUNT} x FROM c"), limits).status, Status::OutputExceeded);
    assert_eq!(judge(&given, &format!("{COUNT} count(*) FROM c"), limits).status, Status::FuelExceeded);
    let endless = json!({"cases": [{"database": {"script": SHOP}}], "reference": format!("{COUNT} count(*) FROM c")});
    assert_eq!(judge(&problem(endless), "SELECT 1", limits).status, Status::Unjudgeable);
    let broken = json!({"cases": [{"database": {"script": "CREATE TABL"}, "expected": []}]});
    assert_eq!(judge(&problem(broken), "SELECT 1", limits).status, Status::Unjudgeable);
}

/// The database of a script as SQLite stores it.
fn stored(script: &str) -> SqlDatabase {
    let program = "import sqlite3\ndef store(script):\n    connection = sqlite3.connect(':memory:')\n    \
        connection.executescript(script)\n    return connection.serialize()\n";
    let job = Job { limits: LONG, ..Job::call(program, "store", [Value::str(script)]) };
    match python().execute(&job).unwrap().value() {
        Ok(Value::Bytes(bytes)) => SqlDatabase::File(SqlFile::new("shop.sqlite", bytes)),
        other => panic!("{other:?} is no file"),
    }
}

#[test]
fn a_database_file_is_read_and_not_written() {
    let cases = vec![SqlCase { database: stored(SHOP), expected: None }];
    let sql = SqlChecks { cases, ..checks(json!({"cases": [], "reference": "SELECT sum(price) FROM item"})) };
    let problem = Problem::new("t", Checks::Sql(sql));
    for (query, status) in [
        ("SELECT 13.5", Status::Accepted),
        ("SELECT total(price) FROM item", Status::Accepted),
        ("SELECT 13", Status::WrongAnswer),
        ("UPDATE item SET price = 0", Status::RuntimeError),
    ] {
        let verdict = judge(&problem, query, LONG);
        assert_eq!(verdict.status, status, "{query}: {}", verdict.evidence.detail);
    }
    let no_database = SqlDatabase::File(SqlFile::new("shop.sqlite", b"no database, though long enough".repeat(40)));
    let cases = vec![SqlCase { database: no_database, expected: Some(Vec::new()) }];
    let sql = SqlChecks { cases, ..checks(json!({"cases": []})) };
    assert_eq!(judge(&Problem::new("t", Checks::Sql(sql)), "SELECT 1", LONG).status, Status::Unjudgeable);
}

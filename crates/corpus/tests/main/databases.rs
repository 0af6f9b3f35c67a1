//! Rows of Spider and BIRD, and our own, whose databases lie in a folder.

use std::path::Path;

use serde_json::{Value as Json, json};
use veriplay_core::{Checks, ColumnOrder, ProblemRow, RowOrder, SqlChecks, SqlDatabase};
use veriplay_corpus::{DatabaseFolder, ReadOptions, RowFault, parse_problem, problem_format};

/// A folder with a database of two files, one of a script, and one of nothing.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (path, content) in [
        ("shop/shop.sqlite", "first"),
        ("shop/shop_2.sqlite", "second"),
        ("shop/schema.sql", "CREATE TABLE unread(a)"),
        ("zoo/schema.sql", "CREATE TABLE t(a)"),
        ("empty/notes.txt", ""),
    ] {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the directory can be written");
        std::fs::write(path, content).expect("the directory can be written");
    }
    dir
}

fn parsed(folder: Option<&Path>, format: &str, row: &Json) -> Result<(String, SqlChecks), RowFault> {
    let options = ReadOptions { databases: folder.map(DatabaseFolder::new), ..ReadOptions::default() };
    let row = parse_problem(&row.to_string(), problem_format(format).expect("a format"), &options)?;
    let task_id = row.task_id().to_owned();
    match row {
        ProblemRow::Ready(problem) => match problem.checks {
            Checks::Sql(checks) => Ok((task_id, checks)),
            other => panic!("{other:?} are no queries"),
        },
        ProblemRow::Unexecuted(other) => panic!("{other:?} is no query"),
    }
}

/// The content of each database.
fn contents(checks: &SqlChecks) -> Vec<&str> {
    checks.cases.iter().map(|case| content(&case.database)).collect()
}

fn content(database: &SqlDatabase) -> &str {
    match database {
        SqlDatabase::Script(script) => script,
        SqlDatabase::File(file) => std::str::from_utf8(&file.bytes).expect("a text"),
    }
}

fn spider(db_id: &str) -> Json {
    json!({"db_id": db_id, "question": "How many?", "query": "SELECT count(*) FROM t WHERE a > = 1"})
}

fn bird(db_id: &str) -> Json {
    json!({"question_id": 7, "db_id": db_id, "question": "How many?", "evidence": "", "SQL": "SELECT 1",
        "difficulty": "simple"})
}

#[test]
fn rows_of_spider_and_bird_are_queries_on_the_databases_of_their_folder() {
    let folder = folder();
    for format in ["spider", "auto"] {
        let (name, checks) = parsed(Some(folder.path()), format, &spider("shop")).unwrap();
        assert_eq!((name.as_str(), contents(&checks)), ("0", vec!["first", "second"]));
        assert_eq!(checks.reference.as_deref(), Some("SELECT count(*) FROM t WHERE a >= 1"));
        assert_eq!((checks.rows, checks.columns), (None, ColumnOrder::Any));
    }
    for format in ["bird", "auto"] {
        let (name, checks) = parsed(Some(folder.path()), format, &bird("zoo")).unwrap();
        assert_eq!((name.as_str(), contents(&checks)), ("7", vec!["CREATE TABLE t(a)"]));
        assert_eq!((checks.rows, checks.columns), (Some(RowOrder::Set), ColumnOrder::Given));
    }
}

#[test]
fn a_row_whose_databases_are_missing_says_where_they_were_looked_for() {
    let folder = folder();
    for (folder, db_id, why) in [
        (None, "shop", "--databases DIR"),
        (Some(folder.path()), "empty", "neither a file `*.sqlite` nor `schema.sql`"),
        (Some(folder.path()), "circus", "cannot read the folder"),
        (Some(folder.path()), "../shop", "is no name of a folder"),
        (Some(folder.path()), " ", "is empty"),
    ] {
        let fault = parsed(folder, "spider", &spider(db_id)).unwrap_err();
        assert_eq!(fault.field, "db_id");
        assert!(fault.reason.contains(why), "{fault}");
    }
}

/// A row of our own on this file.
fn own(file: &Json) -> Json {
    let sql = json!({"cases": [{"database": {"file": file}}], "reference": "SELECT 1"});
    json!({"schema_version": 1, "problem": {"task_id": "a", "checks": {"sql": sql}}})
}

#[test]
fn a_row_of_our_own_names_a_file_of_the_folder_and_may_pin_its_content() {
    let folder = folder();
    let path = "shop/shop.sqlite";
    let (_, checks) = parsed(Some(folder.path()), "veriplay", &own(&json!({"path": path}))).unwrap();
    assert_eq!(contents(&checks), ["first"]);
    let SqlDatabase::File(file) = &checks.cases[0].database else { panic!("a file is named") };
    let written = serde_json::to_value(file).expect("it is written");
    let again = parsed(Some(folder.path()), "veriplay", &own(&written)).unwrap().1;
    assert_eq!(again, checks);
    let other = json!({"path": "shop/shop_2.sqlite", "digest": written["digest"]});
    for (folder, file, why) in [
        (None, json!({"path": path}), "--databases DIR"),
        (Some(folder.path()), json!({"path": "/etc/passwd"}), "no plain path"),
        (Some(folder.path()), json!({"path": "shop/none.sqlite"}), "cannot read the database"),
        (Some(folder.path()), other, "another content"),
    ] {
        let fault = parsed(folder, "veriplay", &own(&file)).unwrap_err();
        assert_eq!(fault.field, "problem.checks.sql.cases[0].database.file");
        assert!(fault.reason.contains(why), "{fault}");
    }
}

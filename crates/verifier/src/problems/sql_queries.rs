//! Judges queries: each runs on each database in a job of its own, and its rows are compared on the host.
//!
//! What SQLite makes of a text comes back as a word of our program's, so no message decides. The database is built before the query is looked at:
//! where there is none, the task is to blame.

use std::borrow::Cow;

use veriplay_core::{Dropped, Exit, Job, Problem, RowOrder, SqlCase, SqlChecks, SqlDatabase, Status, Value};
use veriplay_image_python::programs::sql::QUERY;

use super::cases::{CaseResult, CaseTally};
use super::row_tables::{Row, same_rows};
use super::{ProblemError, ProblemRequest, check_some};
use crate::judges::{JudgeContext, describe_values};
use crate::runner::{Decision, NoValue, decode_call, job_failure};
use crate::sql::has_outer_order;

/// The function of the program.
const RUN: &str = "run";
/// The file that the program opens.
const FILE: &str = "database.sqlite";

/// The rows of a query, or why there are none.
type QueryRows = Result<Vec<Row>, (Status, String)>;

/// Checks that attempts at the problem can be judged.
pub(super) fn check_queries(problem: &Problem, checks: &SqlChecks) -> Result<(), ProblemError> {
    let task_id = &problem.task_id;
    check_some(task_id, !checks.cases.is_empty())?;
    if !(problem.prelude.is_empty() && problem.prompt.is_empty()) {
        let what = "an attempt is a query by itself; leave out `prelude` and `prompt`";
        return Err(ProblemError(format!("`{task_id}`: {what}")));
    }
    let has_reference = checks.reference.as_ref().is_some_and(|query| !query.trim().is_empty());
    for (at, SqlCase { database, expected }) in checks.cases.iter().enumerate() {
        let wrong = match (database, expected) {
            (SqlDatabase::File(file), _) if file.bytes.is_empty() => {
                format!("has the database file `{}`, which is empty or was not read; hint: `--databases` names its folder", file.path)
            }
            (_, None) if !has_reference => "has neither `expected` rows nor a `reference` that gives them".to_owned(),
            (_, Some(rows)) if !is_table(rows) => {
                "has `expected` rows that are none of SQLite's: give each the same number of values, of None, int, float, str and bytes".to_owned()
            }
            _ => continue,
        };
        return Err(ProblemError(format!("case {at} of `{task_id}` {wrong}")));
    }
    Ok(())
}

fn is_table(rows: &[Row]) -> bool {
    rows.iter().all(|row| !row.is_empty() && row.len() == rows[0].len() && row.iter().all(is_sql))
}

const fn is_sql(value: &Value) -> bool {
    matches!(value, Value::None | Value::Int(_) | Value::Float(_) | Value::Str(_) | Value::Bytes(_))
}

/// Runs the query of the request on each database.
pub(super) fn judge(
    context: &mut JudgeContext<'_>,
    checks: &SqlChecks,
    request: &ProblemRequest<'_>,
) -> Result<Decision, Dropped> {
    let mut tally = CaseTally::new(checks.cases.len());
    for case in &checks.cases {
        tally.add(judge_case(context, checks, case, request.program)?);
        if request.early_stop && tally.has_failed() {
            break;
        }
    }
    Ok(tally.decision())
}

/// The reference runs first: a task whose reference fails is to blame whatever the attempt is.
fn judge_case(
    context: &mut JudgeContext<'_>,
    checks: &SqlChecks,
    case: &SqlCase,
    query: &str,
) -> Result<CaseResult, Dropped> {
    let expected = match (&case.expected, &checks.reference) {
        (Some(rows), _) => Cow::Borrowed(rows),
        (None, reference) => match run_query(context, &case.database, reference.as_deref().unwrap_or_default())? {
            Ok(rows) => Cow::Owned(rows),
            // A deadline depends on the machine.
            Err((Status::DeadlineExceeded, why)) => return Ok(Some((Status::DeadlineExceeded, why))),
            Err((_, why)) => return Ok(Some((Status::Unjudgeable, format!("the reference gives no rows: {why}")))),
        },
    };
    let rows = match run_query(context, &case.database, query)? {
        Ok(rows) => rows,
        Err(failure) => return Ok(Some(failure)),
    };
    if same_rows(&expected, &rows, row_order(checks), checks.columns) {
        return Ok(None);
    }
    let difference = describe_values(&first_rows(&rows), &first_rows(&expected));
    Ok(Some((Status::WrongAnswer, format!("{difference}; rows: {} instead of {}", rows.len(), expected.len()))))
}

fn row_order(checks: &SqlChecks) -> RowOrder {
    let by_reference = match &checks.reference {
        Some(query) if has_outer_order(query) => RowOrder::Ordered,
        _ => RowOrder::Multiset,
    };
    checks.rows.unwrap_or(by_reference)
}

/// As much of a table as a message shows.
fn first_rows(rows: &[Row]) -> Value {
    const SHOWN: usize = 10;
    Value::List(rows.iter().take(SHOWN).map(|row| Value::Tuple(row.clone())).collect())
}

/// Runs one query, which is an argument of our program, on one database.
fn run_query(context: &mut JudgeContext<'_>, database: &SqlDatabase, query: &str) -> Result<QueryRows, Dropped> {
    let (script, files) = match database {
        SqlDatabase::Script(script) => (Value::str(script.as_str()), Vec::new()),
        SqlDatabase::File(file) => (Value::None, vec![(FILE.to_owned(), file.bytes.to_vec())]),
    };
    let limits = context.limits;
    let call = Job::call(QUERY, RUN, [Value::str(query), script, Value::int(limits.output_bytes)]);
    let outcome = context.run(Job { files, ..call })?;
    if let Some((status, why)) = job_failure(&outcome) {
        // The program is ours, and raises before it is called where the image has no SQLite.
        let status = if outcome.exit == Exit::Raised { Status::Unjudgeable } else { status };
        return Ok(Err((status, why)));
    }
    let answer = outcome.calls.first().map(|call| decode_call(call, &limits).map_err(NoValue::text));
    Ok(match answer {
        Some(Ok(answer)) => read_answer(answer),
        Some(Err(why)) => Err((Status::RuntimeError, why)),
        None => Err((Status::RuntimeError, "its result is missing".to_owned())),
    })
}

/// Reads what the program answers: a word, and rows or a reason.
fn read_answer(answer: Value) -> QueryRows {
    let (word, rest) = match answer {
        Value::List(parts) => match <[Value; 2]>::try_from(parts) {
            Ok([Value::Str(word), rest]) => (word, rest),
            _ => return Err(no_answer()),
        },
        _ => return Err(no_answer()),
    };
    match (word.as_str(), rest) {
        ("rows", Value::List(rows)) => rows.into_iter().map(read_row).collect(),
        ("compile", Value::Str(why)) => Err((Status::CompileError, why)),
        ("refused", Value::Str(why)) => Err((Status::RuntimeError, format!("the query does more than read: {why}"))),
        ("failed", Value::Str(why)) => Err((Status::RuntimeError, why)),
        ("large", Value::Str(why)) => Err((Status::OutputExceeded, why)),
        ("database", Value::Str(why)) => Err((Status::Unjudgeable, format!("there is no database: {why}"))),
        _ => Err(no_answer()),
    }
}

fn read_row(row: Value) -> Result<Row, (Status, String)> {
    if let Value::List(values) = row { Ok(values) } else { Err(no_answer()) }
}

fn no_answer() -> (Status, String) {
    (Status::RuntimeError, "its result is not one of a query".to_owned())
}

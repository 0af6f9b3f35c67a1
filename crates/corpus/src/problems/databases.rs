//! The databases of tasks whose attempts are queries: files of a folder that the user names. Each is read once, and all tasks on it share its bytes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use veriplay_core::{
    Checks, ColumnOrder, Problem, ProblemRow, RowOrder, SqlCase, SqlChecks, SqlDatabase, SqlFile, is_plain_relative,
};

use super::fields::{Fields, RowFault};
use super::{ProblemStatement, RowInput};

/// The largest database file. A job carries its database.
const MOST_BYTES: u64 = 256 << 20;

/// Advice where there is no folder.
const HINT: &str = "hint: `veriplay verify --databases DIR` names the folder of databases";

/// A folder of databases. Clones share what has been read.
#[derive(Debug, Clone)]
pub struct DatabaseFolder {
    path: PathBuf,
    files: Arc<Mutex<HashMap<String, SqlFile>>>,
}

impl DatabaseFolder {
    /// The folder at `path`, of which nothing is read yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), files: Arc::default() }
    }

    /// The file at a path in the folder.
    fn file(&self, path: &str) -> Result<SqlFile, String> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(path) {
            return Ok(file.clone());
        }
        let place = self.path.join(path);
        let failed = |error: std::io::Error| format!("cannot read the database `{}`: {error}", place.display());
        let bytes = std::fs::metadata(&place).map_err(failed)?.len();
        if bytes > MOST_BYTES {
            return Err(format!("the database `{}` has {bytes} bytes; the most is {MOST_BYTES}", place.display()));
        }
        let file = SqlFile::new(path, std::fs::read(&place).map_err(failed)?);
        files.insert(path.to_owned(), file.clone());
        Ok(file)
    }

    /// The databases in the folder `name` of it: all files `*.sqlite`, by name, as test suites have several; else what `schema.sql` makes.
    fn databases(&self, name: &str) -> Result<Vec<SqlDatabase>, String> {
        let folder = self.path.join(name);
        let failed = |error: std::io::Error| format!("cannot read the folder `{}`: {error}", folder.display());
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let file = entry.map_err(failed)?.file_name();
            files.extend(file.to_str().filter(|file| file.ends_with(".sqlite")).map(|file| format!("{name}/{file}")));
        }
        if files.is_empty() {
            let script = std::fs::read_to_string(folder.join("schema.sql"));
            let nothing =
                |_| format!("the folder `{}` has neither a file `*.sqlite` nor `schema.sql`", folder.display());
            return Ok(vec![SqlDatabase::Script(script.map_err(nothing)?)]);
        }
        files.sort_unstable();
        files.iter().map(|file| self.file(file).map(SqlDatabase::File)).collect()
    }
}

/// The problem of a row whose attempts are compared with the query `reference`, on the databases that its field `db_id` names.
pub(super) fn query_problem(
    row: &RowInput<'_>,
    reference: String,
    rows: Option<RowOrder>,
    columns: ColumnOrder,
) -> Result<ProblemRow, RowFault> {
    const NAME: &str = "db_id";
    let fields = row.fields()?;
    let name = fields.filled_text(NAME)?;
    if !is_plain_relative(name) || name.contains('/') {
        return Err(fields.fault(NAME, format!("`{name}` is no name of a folder")));
    }
    let databases = match &row.options.databases {
        Some(folder) => folder.databases(name).map_err(|why| fields.fault(NAME, why))?,
        None => return Err(fields.fault(NAME, format!("names the database `{name}`, which is not in the row; {HINT}"))),
    };
    let cases = databases.into_iter().map(|database| SqlCase { database, expected: None }).collect();
    let checks = SqlChecks { cases, reference: Some(reference), rows, columns };
    Ok(ProblemRow::Ready(Problem::new(row.id(&["task_id", "question_id", "id"])?, Checks::Sql(checks))))
}

/// Reads the database files that a problem of our own names.
pub(super) fn read_files(problem: &mut Problem, folder: Option<&DatabaseFolder>) -> Result<(), RowFault> {
    let Checks::Sql(checks) = &mut problem.checks else { return Ok(()) };
    for (at, case) in checks.cases.iter_mut().enumerate() {
        let SqlDatabase::File(file) = &mut case.database else { continue };
        let wrong = |why: String| RowFault::new(format!("problem.checks.sql.cases[{at}].database.file"), why);
        if !is_plain_relative(&file.path) {
            return Err(wrong(format!("`{}` is no plain path in the folder of databases", file.path)));
        }
        let folder = folder.ok_or_else(|| wrong(format!("`{}` is not in the row; {HINT}", file.path)))?;
        let found = folder.file(&file.path).map_err(wrong)?;
        if file.digest.as_ref().is_some_and(|digest| Some(digest) != found.digest.as_ref()) {
            return Err(wrong(format!("`{}` has another content than the row says by its `digest`", file.path)));
        }
        *file = found;
    }
    Ok(())
}

/// The task in words is there, but no evaluation asks for queries.
pub(super) fn no_statement(_fields: &Fields) -> Result<ProblemStatement, RowFault> {
    Err(RowFault::new(
        "question",
        "asks for a query, and evaluations ask for programs; hint: judge queries by `veriplay verify`",
    ))
}

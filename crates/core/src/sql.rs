//! Queries as attempts: databases, the rows that a query must give on each of them, and how rows are compared.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Digest, Value};

/// Databases, and what a query must give on each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlChecks {
    /// The databases. The query runs on each in a fresh state.
    pub cases: Vec<SqlCase>,
    /// A query that gives the expected rows of the cases without. It runs in jobs of its own, so that no attempt can see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// How rows are compared. Left out, [`RowOrder::Ordered`] where the reference itself has an `ORDER BY`, not only a query inside it, and
    /// [`RowOrder::Multiset`] elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowOrder>,
    /// Whether the columns may stand in another order.
    #[serde(default)]
    pub columns: ColumnOrder,
}

/// A database, and what a query must give on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlCase {
    /// Its tables and their rows.
    pub database: SqlDatabase,
    /// The expected rows: `None` for NULL, an int, a float, a str or bytes in each place. Left out, those of the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Vec<Vec<Value>>>,
}

/// The tables that a query reads, and their rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SqlDatabase {
    /// Statements that make tables and fill them.
    Script(String),
    /// A database as SQLite stores it.
    File(SqlFile),
}

/// A file in SQLite's format. Cheap to clone, because many tasks share one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlFile {
    /// Its path in the folder of databases.
    pub path: String,
    /// The digest of its bytes. A record has it in place of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Its bytes; empty as long as nobody has read them.
    #[serde(skip)]
    pub bytes: Arc<Vec<u8>>,
}

impl SqlFile {
    /// The file at `path` of the folder of databases, with these bytes.
    pub fn new(path: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { path: path.into(), digest: Some(Digest::of(&bytes)), bytes: Arc::new(bytes) }
    }
}

/// What of two tables' rows must be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowOrder {
    /// The rows in their order.
    Ordered,
    /// The rows in any order, each as often.
    Multiset,
    /// The rows in any order, however often each is there: BIRD's execution accuracy.
    Set,
}

/// Whether columns may change places.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnOrder {
    /// Each column must stand in its place.
    #[default]
    Given,
    /// Some order of the columns must make the rows the same: Spider's test-suite accuracy.
    Any,
}

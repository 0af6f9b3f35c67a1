//! Whether two tables have the same rows. Values are equal as in Python and in SQLite: NULL equals NULL and nothing else, an integer the real number of
//! the same value, exactly; a text equals no number and no blob.
//!
//! Two tables without rows are the same, whatever their columns.

use std::collections::HashMap;
use std::hash::Hash;

use veriplay_core::{ColumnOrder, RowOrder, Value};

/// A row of a table.
pub(super) type Row = Vec<Value>;

/// Rows that are looked at in the search for an order of the columns. A query chooses its columns, and could make it try them all.
const MOST_LOOKED_AT: usize = 5_000_000;

/// Whether the rows are the same by these rules. Where so many orders of the columns are alike that the search for the right one does not end, they are not.
pub(super) fn same_rows(expected: &[Row], actual: &[Row], rows: RowOrder, columns: ColumnOrder) -> bool {
    let mut values = Numbers::default();
    let (mut expected, mut actual) = (number_values(expected, &mut values), number_values(actual, &mut values));
    if rows != RowOrder::Ordered {
        expected.sort_unstable();
        actual.sort_unstable();
    }
    if rows == RowOrder::Set {
        expected.dedup();
        actual.dedup();
    }
    if expected == actual {
        return true;
    }
    let width = |table: &[Vec<usize>]| table.first().map_or(0, Vec::len);
    if columns == ColumnOrder::Given || expected.len() != actual.len() || width(&expected) != width(&actual) {
        return false;
    }
    let (expected, actual) = (columns_of(&expected), columns_of(&actual));
    match rows {
        RowOrder::Ordered => sorted(expected) == sorted(actual),
        RowOrder::Multiset | RowOrder::Set => ColumnSearch::new(expected, actual).has_order(),
    }
}

/// Numbers for things: equal ones have the same.
struct Numbers<K>(HashMap<K, usize>);

impl<K> Default for Numbers<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Hash + Eq> Numbers<K> {
    fn number(&mut self, key: K) -> usize {
        let next = self.0.len();
        *self.0.entry(key).or_insert(next)
    }
}

fn number_values(rows: &[Row], values: &mut Numbers<Vec<u8>>) -> Vec<Vec<usize>> {
    rows.iter().map(|row| row.iter().map(|value| values.number(value.python_key())).collect()).collect()
}

fn columns_of(rows: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let width = rows.first().map_or(0, Vec::len);
    (0..width).map(|column| rows.iter().map(|row| row[column]).collect()).collect()
}

fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort_unstable();
    items
}

/// The search for an order of the actual columns in which the rows are the expected ones, in any order.
struct ColumnSearch {
    expected: Vec<Vec<usize>>,
    actual: Vec<Vec<usize>>,
    is_used: Vec<bool>,
    /// Rows that may still be looked at.
    left: usize,
}

impl ColumnSearch {
    fn new(expected: Vec<Vec<usize>>, actual: Vec<Vec<usize>>) -> Self {
        Self { is_used: vec![false; actual.len()], expected, actual, left: MOST_LOOKED_AT }
    }

    fn has_order(mut self) -> bool {
        let contents = |columns: &[Vec<usize>]| columns.iter().cloned().map(sorted).collect::<Vec<_>>();
        let (expected, actual) = (contents(&self.expected), contents(&self.actual));
        if sorted(expected.clone()) != sorted(actual.clone()) {
            return false;
        }
        let mut numbers = Numbers::default();
        let expected: Vec<usize> = expected.into_iter().map(|content| numbers.number(content)).collect();
        let actual: Vec<usize> = actual.into_iter().map(|content| numbers.number(content)).collect();
        // Which actual columns hold the values of each expected one, each content once: which of two equal columns is taken does not matter.
        let candidates: Vec<Vec<usize>> = expected
            .iter()
            .map(|content| (0..actual.len()).filter(|column| actual[*column] == *content).collect())
            .collect();
        let rows = self.expected.first().map_or(0, Vec::len);
        self.extend(&candidates, &vec![0; rows], &vec![0; rows], 0)
    }

    /// Whether the columns from `at` on can be found. The rows of either side are numbered by what they have in the columns before, which are the same.
    fn extend(&mut self, candidates: &[Vec<usize>], expected: &[usize], actual: &[usize], at: usize) -> bool {
        let Some(columns) = candidates.get(at) else { return true };
        let mut tried: Vec<usize> = Vec::new();
        for &column in columns {
            let is_alike = tried.iter().any(|other| self.actual[*other] == self.actual[column]);
            if self.is_used[column] || is_alike {
                continue;
            }
            let Some(left) = self.left.checked_sub(expected.len()) else { return false };
            self.left = left;
            tried.push(column);
            let mut numbers = Numbers::default();
            let longer_expected = refine(expected, &self.expected[at], &mut numbers);
            let longer_actual = refine(actual, &self.actual[column], &mut numbers);
            if sorted(longer_expected.clone()) != sorted(longer_actual.clone()) {
                continue;
            }
            self.is_used[column] = true;
            if self.extend(candidates, &longer_expected, &longer_actual, at + 1) {
                return true;
            }
            self.is_used[column] = false;
        }
        false
    }
}

/// The numbers of rows by their columns so far and one more.
fn refine(rows: &[usize], column: &[usize], numbers: &mut Numbers<(usize, usize)>) -> Vec<usize> {
    rows.iter().zip(column).map(|(row, value)| numbers.number((*row, *value))).collect()
}

#[cfg(test)]
mod tests {
    use veriplay_core::RowOrder::{Multiset, Ordered, Set};

    use super::*;
    use crate::cases::texts;

    fn table(rows: &str) -> Vec<Row> {
        let row = |row: Value| if let Value::Tuple(values) = row { values } else { panic!("`{row}` is no row") };
        Value::parse_arguments(rows).expect("tuples").into_iter().map(row).collect()
    }

    #[test]
    fn each_rule_accepts_what_it_allows_and_nothing_else() {
        for [expected, actual, accepting] in texts(include_str!("../../tests/main/cases/row_tables.txt")) {
            let rules = [("ordered", Ordered), ("multiset", Multiset), ("set", Set)];
            let columns = [("", ColumnOrder::Given), (" any", ColumnOrder::Any)];
            let mut found = Vec::new();
            for ((word, rows), (suffix, columns)) in
                rules.into_iter().flat_map(|rule| columns.map(|columns| (rule, columns)))
            {
                let (expected, actual) = (table(&expected), table(&actual));
                let is_same = same_rows(&expected, &actual, rows, columns);
                assert_eq!(same_rows(&actual, &expected, rows, columns), is_same, "{expected:?} {actual:?}");
                if is_same {
                    found.push(format!("{word}{suffix}"));
                }
            }
            assert_eq!(found.join(", "), accepting, "{expected} and {actual}");
        }
    }

    const WIDTH: i64 = 64;

    /// A row with 1 in these two columns.
    fn ones(first: i64, second: i64) -> Row {
        (0..WIDTH).map(|column| Value::int(i64::from(column == first || column == second))).collect()
    }

    /// Columns of a shape that most orders fit until the last one.
    #[test]
    fn a_search_that_would_try_every_order_of_the_columns_ends() {
        let expected: Vec<Row> = (0..WIDTH).map(|at| ones(at, at)).collect();
        assert!(same_rows(&expected, &expected.iter().rev().cloned().collect::<Vec<_>>(), Multiset, ColumnOrder::Any));
        // Two cycles of 32 columns instead of one of 64.
        let one: Vec<Row> = (0..WIDTH).map(|at| ones(at, (at + 1) % WIDTH)).collect();
        let two: Vec<Row> = (0..WIDTH).map(|at| ones(at, at / 32 * 32 + (at + 1) % 32)).collect();
        assert!(!same_rows(&one, &two, Multiset, ColumnOrder::Any));
    }
}

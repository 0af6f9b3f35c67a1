//! Judge `apps`: the rule of APPS' own grader for the values of calls (`eval/testing_util.py`).
//!
//! # What it decides
//! A returned tuple is made a list, at the top only; then Python's `==`, without tolerance. Where the expected value is a list of one item,
//! that item is right too; and where the returned value is a list that begins with a tuple, the list of its items as lists is
//! compared with that item. A program whose text has `class Solution` is asked for its method, any other for a function of the module.
//!
//! # Why
//! The set's rows from Codewars wrap each result in a list, those from LeetCode do not, and no field says which a row is. The grader takes
//! either, for each case anew.
//! Differences: the grader takes the first item of a longer list too, by which `1` is right for `[1, 2, 3]`; a value NaN equals NaN (see
//! [`Value::python_eq`]).
//!
//! # How it can be gamed
//! By an item in the place of a list of it: a program that returns `5` where `[5]` is meant is right.
//!
//! # Example
//! `5`, `[5]` and `(5,)` for `[5]` are right, and `[(1, 2)]` for `[[[1, 2]]]`; `[5]` for `5` and `[[5]]` for `[5]` are wrong.

use veriplay_core::Value;

use super::{Judge, equals_as_list};

pub(super) const APPS: Judge =
    Judge { finds_methods: true, values: Some(|_, call| Ok(call.compare_by(same))), ..Judge::named("apps") };

fn same(expected: &Value, actual: &Value) -> bool {
    let item = match expected {
        Value::List(items) if items.len() == 1 => Some(&items[0]),
        _ => None,
    };
    equals_as_list(expected, actual)
        || item.is_some_and(|item| equals_as_list(item, actual) || equals_as_rows(item, actual))
}

/// Python's `==`, where items of a list that begins with a tuple count as lists. One of them that is neither is equal to nothing.
fn equals_as_rows(expected: &Value, actual: &Value) -> bool {
    let (Value::List(expected), Value::List(rows) | Value::Tuple(rows)) = (expected, actual) else { return false };
    let begins = matches!(rows.first(), Some(Value::Tuple(_)));
    let plain = rows.iter().all(|row| matches!(row, Value::Tuple(_) | Value::List(_)));
    begins && plain && expected.len() == rows.len() && expected.iter().zip(rows).all(|(e, row)| equals_as_list(e, row))
}

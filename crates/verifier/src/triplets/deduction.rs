//! Deduction: the value that was named against the value that was executed. No job is run.

use veriplay_core::{IoPair, Status, Value};

use super::Ruling;
use crate::run::instead;

/// Compares as Python's `==` does.
pub(super) fn answer(pair: &IoPair, value: &Value) -> Ruling {
    if value.python_eq(&pair.output) {
        return Ruling::one(Status::Accepted, "");
    }
    Ruling::one(Status::WrongAnswer, &instead(value, &pair.output))
}

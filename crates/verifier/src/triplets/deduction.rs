//! Deduction: the value that was named against the value that was executed. No job is run.

use veriplay_core::{IoPair, Status, Value};

use super::Decision;
use crate::run::instead;

/// Compares as Python's `==` does.
pub(super) fn answer(pair: &IoPair, value: &Value) -> Decision {
    if value.python_eq(&pair.output) {
        return Decision::one(Status::Accepted, "");
    }
    Decision::one(Status::WrongAnswer, &instead(value, &pair.output))
}

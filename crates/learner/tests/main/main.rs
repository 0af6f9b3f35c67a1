//! Tests of the learner through its public interface.

mod common;
mod learning;

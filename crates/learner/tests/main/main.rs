//! Tests of the learner through its public interface.

mod common;
mod gradients;
mod learning;
mod oracle;

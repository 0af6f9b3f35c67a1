//! `veriplay corpus add-repo`: a package becomes a repository with a baseline. Files, pip and the clock are here; archives,
//! layouts and records are the corpus's.

mod baseline;
mod pip;
mod write;

pub(crate) use baseline::{Measured, measure};
pub(crate) use pip::{Requirement, pytest_layer, source_distribution};
pub(crate) use write::write;

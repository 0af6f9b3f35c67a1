//! `veriplay corpus`: a package becomes a repository with a baseline, and bugs are made in it. Files, pip and the clock are
//! here; archives and layouts are the corpus's, running and judging the verifier's.

mod baseline;
mod bugs;
mod dependencies;
mod generated;
mod journal;
mod open;
pub(crate) mod pip;
mod project;
mod records;
mod table;
mod warm;

pub(crate) use baseline::{MeasuredBaseline, Plan, measure};
pub(crate) use bugs::{InjectRequest, make_bugs, read_bugs};
pub(crate) use dependencies::{Source, read_pins};
pub(crate) use generated::generate;
pub(crate) use open::{Stored, cached};
pub(crate) use pip::{Requirement, pytest_layer};
pub(crate) use project::{Sources, Tests};
pub(crate) use table::{TableRequest, tabulate};
pub(crate) use warm::RepoImages;

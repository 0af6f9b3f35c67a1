//! `veriplay corpus`: a package becomes a repository with a baseline, and bugs are made in it. Files, pip and the clock are
//! here; archives and layouts are the corpus's, running and judging the verifier's.

mod baseline;
mod bugs;
mod dependencies;
mod generated;
mod history;
mod journal;
mod open;
pub(crate) mod pip;
mod project;
mod records;
mod table;
mod warm;

pub(crate) use baseline::{BaselineRequest, MeasuredBaseline, measure_baseline};
pub(crate) use bugs::{InjectRequest, inject_bugs, read_bugs};
pub(crate) use dependencies::{DependencySource, read_pins};
pub(crate) use generated::generate_repository;
pub(crate) use history::collect_history;
pub(crate) use open::{RepoSandboxes, StoredRepository, cache_directory, find_repository_directory};
pub(crate) use pip::{Requirement, pytest_layer};
pub(crate) use project::{CommitSource, RepositorySources, TestSource};
pub(crate) use records::write_history;
pub(crate) use table::{TableRequest, tabulate_repositories};
pub(crate) use warm::RepoImages;

//! `veriplay corpus`: a package becomes a repository with a baseline, and bugs are made in it. Files, pip and the clock are
//! here; archives and layouts are the corpus's, running and judging the verifier's.

mod baseline;
mod bugs;
mod code;
mod dependencies;
mod history;
mod journal;
mod open;
pub mod pip;
mod project;
mod records;
mod warm;

pub use baseline::{BASELINE_LIMITS, BaselineRequest, MeasuredBaseline, measure_baseline};
pub use bugs::{InjectRequest, inject_bugs, read_bugs};
pub use code::{definitions, read_code, read_files, read_folder, read_package};
pub use dependencies::{DependencySource, read_pins};
pub use history::collect_history;
pub use open::{RepoSandboxes, StoredRepository, cache_directory, find_repository_directory};
pub use pip::{Requirement, pytest_layer};
pub use project::{CommitSource, RepositorySources, TestSource};
pub use records::write_history;
pub use warm::RepoImages;

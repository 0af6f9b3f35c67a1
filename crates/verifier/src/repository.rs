//! Real repositories: which of a package's tests pass in the sandbox, under the real pytest.
//!
//! [`run_file`] runs one test file and [`run_tests`] some of its tests, through the seam [`veriplay_core::Execute`];
//! [`cover_file`] tells which functions a file enters; [`warming`] makes all of them cheap; two runs make a [`Baseline`]; an
//! [`Inspector`] reads what a repository says of itself. The command line and [`crate::bugs`] call them.
//!
//! pytest and the package share an instance, so what a test reports is evidence about a package that is not trying to lie.
//! [`run_split`] gives the package an instance of its own, which tests can be run with that call its functions by plain values.
//! A patch by somebody who might lie is judged by [`crate::bugs`].

mod baseline;
mod guest;
mod inspect;
mod run;
mod settings;
mod warm;

pub use baseline::{Baseline, Dependencies, FileBaseline, PinnedWheel, Unsupported, baseline_of};
pub use inspect::{Inspection, Inspector, Purpose, Required, Requirement};
pub use run::{
    Covered, FileRun, Function, Repository, TestRecord, TestResult, cover_file, run_file, run_split, run_tests,
};
pub use settings::{ImportMode, PytestSettings};
pub use warm::warming;

//! Real repositories: which of a package's tests pass in the sandbox, under the real pytest.
//!
//! [`run_file`] runs one test file, or some of its tests, through the seam [`veriplay_core::Execute`]; two runs make a
//! [`Baseline`]. The command line and [`crate::bugs`] call them.
//!
//! pytest and the package share an instance, so what a test reports is evidence about a package that is not trying to lie.
//! A patch by somebody who might is judged by [`crate::bugs`].

mod baseline;
mod run;

pub use baseline::{Baseline, FileBaseline, Unsupported, baseline_of};
pub use run::{FileRun, Repository, TestRecord, TestResult, run_file};

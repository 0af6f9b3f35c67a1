//! Real repositories: which of a package's tests pass in the sandbox, under the real pytest.
//!
//! [`run_file`] runs one test file and [`run_tests`] some of its tests, through the seam [`veriplay_core::Execute`];
//! `cover_file` tells which functions a file enters; [`warming`] makes all of them cheap; two runs make a [`Baseline`]; an
//! [`Inspector`] reads what a repository says of itself. The command line and [`crate::bugs`] call them.
//!
//! pytest and the package share an instance, so what a test reports is evidence about a package that is not trying to lie.
//! [`run_split`] gives the package an instance of its own, which tests can be run with that call its functions by plain values.
//! A patch by somebody who might lie is judged by [`crate::bugs`].

mod baseline;
mod inspect;
mod pytest;
mod settings;

use veriplay_core::{Base, Digest, Job, Limits};

use pytest::mounted;

pub use baseline::{Baseline, Dependencies, FileBaseline, PinnedWheel, Unsupported, baseline_of};
pub use inspect::{DeclaredRequirement, Inspection, Inspector, Requirement, RequirementPurpose};
pub(crate) use pytest::cover_file;
pub use pytest::{FileRun, Function, Repository, StarredNames, TestRecord, TestResult, run_file, run_split, run_tests};
pub use settings::{ImportMode, PytestSettings};

/// A job after whose program pytest is imported, and the sources of `package` and of its `dependencies` are compiled; nothing of
/// them has been run. The modules of the image that `library` names are imported too. In an image made of its end [`run_file`] and its
/// like cost a small part of what they cost elsewhere, and come to the same records: a source is compiled anew where a patch has changed
/// it. Made of such an image again, with another package, it adds that.
#[must_use]
pub fn warming(
    image: &str,
    pytest: &Digest,
    package: &Digest,
    dependencies: Option<&Digest>,
    library: &[String],
    limits: Limits,
) -> Job {
    Job {
        image: image.to_owned(),
        limits,
        base: Some(Base { layers: mounted(pytest, package, dependencies), without: Vec::new() }),
        ..Job::script(pytest::warm_program(library))
    }
}

//! Real repositories: runs the tests of a package in the sandbox, under the real pytest.
//!
//! [`run_file`] runs one test file and [`run_tests`] some of its tests, on any [`veriplay_core::Execute`]. `cover_file` finds the functions
//! that a file enters, [`warming`] makes all of them cheap, two runs make a [`Baseline`], and an [`Inspector`] reads the configuration of a
//! repository. The command line and [`crate::bugs`] call them.
//!
//! pytest and the package share an instance, so the results of tests are evidence only about a package that does not forge them.
//! [`run_split`] gives the package an instance of its own, for tests that call its functions with plain values. [`crate::bugs`] judges
//! untrusted patches.

mod baseline;
mod inspect;
mod pytest;
mod records;
mod settings;

use veriplay_core::{Digest, Job, LayerStack, Limits};

use pytest::mounted;

pub use baseline::{Baseline, Dependencies, FileBaseline, PinnedWheel, Unsupported, baseline_of};
pub use inspect::{DeclaredRequirement, Inspection, Inspector, Requirement, RequirementPurpose};
pub(crate) use pytest::cover_file;
pub use pytest::{Repository, run_file, run_split, run_tests};
pub(crate) use records::tuple;
pub use records::{FileRun, Function, StarredNames, TestRecord, TestResult};
pub use settings::{ImportMode, PytestSettings};

/// A job that imports pytest and the modules `library` of the image, and compiles the sources of `package` and `dependencies` without
/// running them. In an image of its final state [`run_file`] and similar functions cost a small part of their usual fuel and return the
/// same records: sources that a patch has changed are compiled again. Warming such an image with another package adds that package.
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
        base: Some(LayerStack { layers: mounted(pytest, package, dependencies), without: Vec::new() }),
        ..Job::script(pytest::warm_program(library))
    }
}

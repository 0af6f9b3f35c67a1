//! Real repositories: a Python package's source distribution, its tests, and which of them pass in the sandbox.
//!
//! [`unpack`] reads an archive that nobody has vouched for, [`Layout`] finds what is imported and what is tested,
//! [`run_file`] runs one test file under pytest through the seam [`veriplay_core::Execute`]. The command line fetches, puts
//! these together, and writes the [`Baseline`].
//!
//! pytest is the real one, a layer of pinned wheels ([`wheels`]); it and the package share an instance, so what a test
//! reports is evidence about a package that is not trying to lie. A patch by somebody who might is judged by the games.

mod baseline;
mod layout;
mod run;
mod unpack;
pub mod wheels;

pub use baseline::{Baseline, FileBaseline, Unsupported, baseline_of};
pub use layout::Layout;
pub use run::{FileRun, Repository, TestRecord, TestResult, run_file};
pub use unpack::{Archive, UnpackError, strip_top, unpack};

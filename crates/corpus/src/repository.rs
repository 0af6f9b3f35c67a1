//! Real repositories as they come: a Python package's source distribution, and where its tests are.
//!
//! [`unpack`] reads an archive that nobody has vouched for, [`Layout`] finds what is imported and what is tested,
//! [`wheels`] pins the pytest that runs it, and [`DependencyWheel`] is what it needs besides. Running and judging the tests is the verifier's.

mod dependencies;
mod layout;
mod unpack;
pub mod wheels;

pub use dependencies::{DependencyWheel, WheelError, canonical, dependency_layer, is_pytests_own, own_metadata};
pub use layout::{Layout, Selection};
pub use unpack::{Archive, UnpackError, strip_top, unpack};

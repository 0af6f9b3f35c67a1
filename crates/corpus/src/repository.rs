//! Real repositories as they come: a Python package's source distribution, and where its tests are.
//!
//! [`unpack`] reads an archive that nobody has vouched for, [`Layout`] finds what is imported and what is tested, and
//! [`wheels`] pins the pytest that runs it. Running and judging the tests is the verifier's.

mod layout;
mod unpack;
pub mod wheels;

pub use layout::Layout;
pub use unpack::{Archive, UnpackError, strip_top, unpack};

//! Real Python packages: source distributions, where their tests are, and the wheels that the tests need.
//!
//! [`unpack`] reads an untrusted archive, [`RepositoryLayout`] finds the import roots and the tests, [`PYTEST_WHEELS`] pins the pytest
//! that runs them, and a [`DependencyWheel`] is a dependency of the package. The verifier runs and judges the tests.

mod layout;
mod unpack;
mod wheels;

pub use layout::{RepositoryLayout, TestSelection};
pub use unpack::{ArchiveKind, UnpackError, strip_top_folder, unpack};
pub use wheels::{
    DependencyWheel, PYTEST_WHEELS, PytestWheel, WheelError, canonical_name, dependency_layer, installed_metadata,
    is_in_pytest_layer, wheel_layer,
};

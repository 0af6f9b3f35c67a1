//! Fixtures of the tests and benches that need more than one crate: the Python image, and what comes from outside the repository.

pub mod external;
mod image;

pub use image::{python_image, python_sandbox};

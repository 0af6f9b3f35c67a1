//! Fixtures of the tests and benches that need more than one crate: the Python image, and what comes from outside the repository.

pub mod external;
mod image;

pub use image::{python_image, python_sandbox};

/// Runs the Rust code of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

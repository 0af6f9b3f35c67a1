//! Fixtures of the tests and benches that need more than one crate: the Python image, the program, and what comes from outside the
//! repository.

pub mod external;
mod image;
mod program;

pub use image::{python_image, python_sandbox};
pub use program::veriplay_program;

/// Runs the Rust code of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

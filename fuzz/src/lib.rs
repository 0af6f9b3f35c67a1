//! Fuzz targets: every parser of bytes from a guest, a worker, a model or a file.
//!
//! A target is a function of bytes that panics when an invariant is violated. `cargo fuzz` runs them under libFuzzer
//! (`fuzz_targets/`), the tests run the saved corpus and mutations of it on any toolchain. Adding one is a file in
//! `src/targets`, or a function of the sandbox, its line in [`TARGETS`], its folder in `corpus`, and a file in `fuzz_targets`; a test names what is missing.

mod targets;

pub use targets::{TARGETS, Target, target};

#![doc = include_str!("../README.md")]

pub mod fingerprint;
pub mod large;
pub mod names;
pub mod prelude;
pub mod syntax;

use veriplay_core::{Digest, Language};

/// The names of Python's implementations, which a version may follow.
const IMPLEMENTATIONS: [&str; 5] = ["python", "ipython", "cpython", "pypy", "py"];

/// The language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Python;

impl Language for Python {
    fn names(&self) -> &'static [&'static str] {
        &["python"]
    }

    fn image(&self) -> &'static str {
        "python"
    }

    /// A name of Python or of one of its versions, or that of a file of it.
    fn is_label(&self, word: &str) -> bool {
        let mut versions = IMPLEMENTATIONS.iter().filter_map(|name| word.strip_prefix(name));
        versions.any(is_version) || word.ends_with(".py") || word.starts_with("python")
    }

    fn fingerprint(&self, program: &str) -> Digest {
        fingerprint::program_fingerprint(program)
    }
}

fn is_version(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || ".-_".contains(c))
}

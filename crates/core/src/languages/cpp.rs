//! C++20, which is compiled in the sandbox.

use super::ScannedLanguage;

/// C++, whose programs read and write streams.
pub const CPP: ScannedLanguage = ScannedLanguage {
    names: &["cpp"],
    image: "cpp",
    labels: &["c++", "cc", "cxx", "cplusplus", "c++11", "c++14", "c++17", "c++20", "cpp17", "cpp20"],
    extensions: &[".cpp", ".cc", ".cxx"],
    is_compiled: true,
    has_lines: true,
    numbers_names: false,
    arguments_push: None,
    literals: None,
};

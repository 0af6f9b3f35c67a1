//! C17, which is compiled in the sandbox.

use super::ScannedLanguage;

pub(super) const C: ScannedLanguage = ScannedLanguage {
    names: &["c"],
    image: "c",
    labels: &["c11", "c17", "c99"],
    extensions: &[".c"],
    is_compiled: true,
    has_lines: true,
    numbers_names: false,
    arguments_push: None,
    literals: None,
};

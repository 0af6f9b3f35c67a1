//! The seed files the binary carries. A new file of `task-corpus/absolute_zero/` needs a line here; a test says so.

/// Names its file and holds its text.
macro_rules! seed {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../task-corpus/absolute_zero/", $name)))
    };
}

/// File names and texts, sorted.
pub(super) const FILES: &[(&str, &str)] = &[seed!("zero.md")];

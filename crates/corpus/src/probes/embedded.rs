//! The probes the binary carries. A new file needs a line here; a test says so.

/// Names its file and holds its text.
macro_rules! probe {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../sandboxes/python/probes/", $name)))
    };
}

/// An image's name, its prelude, and its files by name.
type Embedded = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// All images that have probes.
pub(super) const IMAGES: &[Embedded] = &[("python", include_str!("../../../../sandboxes/python/probes/prelude.wat"), PYTHON)];

/// File names and texts, sorted.
const PYTHON: &[(&str, &str)] = &[
];

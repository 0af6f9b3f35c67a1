//! The files of the Python image, as text. No code of the host is here: `veriplay-sandbox` makes the image of them, and `veriplay-verifier` runs
//! [`programs`] in it.

pub mod programs;
pub mod snapshot;

/// The manifest: where the interpreter comes from, what is imported before the snapshot, default limits.
pub const MANIFEST: &str = include_str!("../sandbox.toml");

/// The program that fetches a job from the host, runs it and reports.
pub const HARNESS: &str = include_str!("../harness.py");

/// Modules that a job may import, by name, in the order in which they are made.
pub const MODULES: &[(&str, &str)] = &[
    ("_veriplay_after_import", include_str!("../after_import.py")),
    ("_veriplay_threads", include_str!("../threads.py")),
    ("_veriplay_pools", include_str!("../pools.py")),
    ("_veriplay_event_loop", include_str!("../event_loop.py")),
    ("_veriplay_pictures", include_str!("../pictures.py")),
    ("_veriplay_wide", include_str!("../wide.py")),
    ("pytest", include_str!("../pytest.py")),
    ("_veriplay_objects", include_str!("../objects.py")),
    ("_veriplay_inert", include_str!("../inert.py")),
    ("_veriplay_skips", include_str!("../skips.py")),
    ("_veriplay_tests", include_str!("../testing.py")),
];

/// The module that keeps the libraries of an image.
pub const LIBRARIES: &str = include_str!("../libraries.py");

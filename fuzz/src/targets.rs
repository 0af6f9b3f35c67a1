//! The targets, by their names.

mod attempts;
mod literals;
mod module;
mod patches;
mod responses;
mod tasks;
mod values;

use veriplay_sandbox::fuzzing;

/// One target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name of the target, its corpus and its binary.
    pub name: &'static str,
    /// Reads the bytes.
    ///
    /// # Panics
    /// When an invariant is violated.
    pub run: fn(&[u8]),
}

/// All targets. Those of the sandbox are its own: what a guest, a worker, a cache or an archive sends to code that nobody else sees.
pub const TARGETS: &[Target] = &[
    Target { name: "attempts", run: attempts::run },
    Target { name: "cache_manifest", run: fuzzing::cache_manifest },
    Target { name: "channel_frames", run: fuzzing::channel_frames },
    Target { name: "image_archives", run: fuzzing::image_archives },
    Target { name: "literals", run: literals::run },
    Target { name: "module", run: module::run },
    Target { name: "patches", run: patches::run },
    Target { name: "responses", run: responses::run },
    Target { name: "system_calls", run: fuzzing::system_calls },
    Target { name: "tasks", run: tasks::run },
    Target { name: "values", run: values::run },
    Target { name: "worker_frames", run: fuzzing::worker_frames },
];

/// Finds a target by its name.
///
/// # Panics
/// There is no target of this name.
#[must_use]
pub fn target(name: &str) -> Target {
    let found = TARGETS.iter().find(|target| target.name == name);
    *found.unwrap_or_else(|| panic!("there is no target `{name}`"))
}

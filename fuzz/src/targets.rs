//! All targets.

mod attempts;
mod cache_manifest;
mod channel_frames;
mod image_archives;
mod literals;
mod patches;
mod responses;
mod system_calls;
mod tasks;
mod values;
mod worker_frames;

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

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "attempts", run: attempts::run },
    Target { name: "cache_manifest", run: cache_manifest::run },
    Target { name: "channel_frames", run: channel_frames::run },
    Target { name: "image_archives", run: image_archives::run },
    Target { name: "literals", run: literals::run },
    Target { name: "patches", run: patches::run },
    Target { name: "responses", run: responses::run },
    Target { name: "system_calls", run: system_calls::run },
    Target { name: "tasks", run: tasks::run },
    Target { name: "values", run: values::run },
    Target { name: "worker_frames", run: worker_frames::run },
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

//! The manifest of a cached image, which decides whether native code is loaded.

/// Checks that a manifest only names files of an image, and that their digests are enforced.
pub(super) fn run(bytes: &[u8]) {
    veriplay_sandbox::fuzzing::cache_manifest(bytes);
}

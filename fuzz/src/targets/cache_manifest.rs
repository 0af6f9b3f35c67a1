//! The manifest that decides whether a cached `.cwasm` is loaded.

/// A manifest names files of an image alone, and holds their content to its digests.
pub(super) fn run(bytes: &[u8]) {
    veriplay_sandbox::fuzzing::cache_manifest(bytes);
}

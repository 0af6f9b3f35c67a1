//! The value channel between a guest and the host.

/// Checks that a guest cannot send more results or bytes than its job allows.
pub(super) fn run(bytes: &[u8]) {
    veriplay_sandbox::fuzzing::channel_frames(bytes);
}

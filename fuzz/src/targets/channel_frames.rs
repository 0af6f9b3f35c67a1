//! The value channel between a guest and the host.

/// However a guest talks, it cannot have more results, or more bytes, than its job has.
pub(super) fn run(bytes: &[u8]) {
    veriplay_sandbox::fuzzing::channel_frames(bytes);
}

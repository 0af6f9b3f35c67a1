//! The pipe between a worker process and its parent.

/// Checks that a frame is refused, or parsed as a record that survives a round trip.
pub(super) fn run(bytes: &[u8]) {
    veriplay_sandbox::fuzzing::worker_frames(bytes);
}

//! The pipe between a worker process and its parent.

/// A frame is refused, or read as a record that survives being sent.
pub(super) fn run(bytes: &[u8]) {
    veriplay_sandbox::fuzzing::worker_frames(bytes);
}

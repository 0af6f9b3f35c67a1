//! The wasip1 shim: sequences of system calls with hostile arguments.

/// Checks that calls are deterministic and keep output under its cap.
pub(super) fn run(bytes: &[u8]) {
    veriplay_sandbox::fuzzing::system_calls(bytes);
}

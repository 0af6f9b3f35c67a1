//! The archive of an image, which brings native code from another machine.

/// Checks that nothing of an archive belongs to no member, and that members have the sizes and digests that its header says.
pub(super) fn run(bytes: &[u8]) {
    veriplay_sandbox::fuzzing::image_archives(bytes);
}

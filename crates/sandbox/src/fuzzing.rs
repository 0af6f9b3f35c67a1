//! Entry points for fuzzers. Each takes arbitrary bytes in place of those that a guest, a worker or a cache writes.
//!
//! Only the fuzz crate enables this module. Each function panics when an invariant is violated.

use std::sync::LazyLock;

use veriplay_core::{CallResult, Value};
use wasmtime::Engine;

use crate::channel::Channel;
use crate::image::engine::engine_for_modules;
use crate::{image, program, wasi, worker};

/// Runs the bytes as a sequence of system calls of a guest, with hostile pointers, lengths and descriptors.
pub fn system_calls(bytes: &[u8]) {
    wasi::fuzzing::run_calls(bytes);
}

/// Reads the bytes as frames of a worker process, and as frames of its parent.
pub fn worker_frames(bytes: &[u8]) {
    worker::read_any_frames(bytes);
}

/// Reads the bytes as the manifest of a cached image.
pub fn cache_manifest(bytes: &[u8]) {
    let content = &bytes[..bytes.len().min(16)];
    image::read_any_manifest(bytes, content);
}

/// Reads the bytes as the archive of an image.
pub fn image_archives(bytes: &[u8]) {
    image::read_any_archive(bytes);
}

/// Checks, meters and compiles the bytes as the module of a job, and runs it twice.
pub fn module(bytes: &[u8]) {
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| engine_for_modules().expect("an engine for modules"));
    program::fuzzing::run_any_module(&ENGINE, bytes);
}

/// Reads the bytes as frames that a guest sends over the value channel, each after two bytes of length.
pub fn channel_frames(bytes: &[u8]) {
    const CALLS: usize = 3;
    const CAP: u64 = 400;
    let mut channel = Channel::new(b"request".to_vec(), CALLS, CAP);
    let mut rest = bytes;
    while let Some((length, body)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length)).min(body.len());
        let (frame, behind) = body.split_at(length);
        rest = behind;
        if frame.len() as u64 > channel.max_frame() || channel.receive(frame).is_err() {
            break;
        }
    }
    check_promises(&channel, CALLS, CAP);
}

fn check_promises(channel: &Channel, calls: usize, cap: u64) {
    let values = channel.calls.iter().filter_map(|call| match call {
        CallResult::Returned(bytes) => Some(bytes),
        CallResult::Raised(_) | CallResult::Unencodable(_) => None,
    });
    assert!(values.clone().map(Vec::len).sum::<usize>() as u64 <= cap, "values over their cap");
    assert!(channel.calls.len() <= calls, "more results than calls");
    assert!(!channel.done || channel.failed.is_some() || channel.calls.len() == calls, "done, with results missing");
    for bytes in values {
        if let Ok(value) = Value::decode(bytes, channel.caps()) {
            assert_eq!(value.encode(), *bytes, "a value with two encodings");
        }
    }
}

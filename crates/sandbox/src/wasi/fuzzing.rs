//! A program of system calls, read from arbitrary bytes: what the fuzzer of the shim runs.

use std::sync::Arc;

use super::any_call::{CALLS, call_by_number};
use super::errno::SyscallError;
use super::view::MemoryView;
use super::{Wasi, WasiSetup, base_tree};

const MEMORY: usize = 1 << 14;
/// How much of the input lies in memory as it is; the rest is the calls.
const GIVEN: usize = 96;
const OUTPUT_BYTES: u64 = 1000;
const FILE_BYTES: u64 = 10_000;
/// Where memory holds paths, as (offset, text): what a mutation would take long to find.
const PATHS: [(usize, &str); 8] = [
    (0x100, "/work/given"),
    (0x110, "/tmp/a"),
    (0x118, "/work/dir/inner"),
    (0x130, "../../etc/passwd"),
    (0x148, "/usr/local/lib/lib.zip"),
    (0x160, "/dev/null"),
    (0x170, "dir/./../new/"),
    (0x180, "/tmp/b/c"),
];

#[derive(Debug, PartialEq, Eq)]
struct CallTrace {
    answers: Vec<Result<(), SyscallError>>,
    memory: Vec<u8>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Runs `bytes` as a sequence of system calls.
///
/// # Panics
/// When a call does, when output goes over its cap, or when the same calls end in two ways.
pub(crate) fn run_calls(bytes: &[u8]) {
    let end = run(bytes);
    assert!(end.stdout.len() as u64 <= OUTPUT_BYTES && end.stderr.len() as u64 <= OUTPUT_BYTES);
    assert_eq!(end, run(bytes), "the same calls, and another end");
}

fn run(bytes: &[u8]) -> CallTrace {
    let (given, calls) = bytes.split_at(bytes.len().min(GIVEN));
    let (mut memory, mut wasi) = (memory(given), make_system());
    let (mut calls, mut answers) = (Bytes(calls), Vec::new());
    while let Some(which) = calls.next() {
        let n = std::array::from_fn(|_| calls.number());
        let l = std::array::from_fn(|_| calls.long());
        let answer = call_by_number(&mut wasi, &mut MemoryView(&mut memory), which % CALLS, n, l);
        let stopped = matches!(answer, Err(SyscallError::Trap(_)));
        answers.push(answer);
        if stopped {
            break;
        }
    }
    assert_eq!(memory.len(), MEMORY);
    CallTrace { answers, memory, stdout: wasi.stdout.bytes, stderr: wasi.stderr.bytes }
}

fn memory(given: &[u8]) -> Vec<u8> {
    let mut memory = vec![0; MEMORY];
    memory[..given.len()].copy_from_slice(given);
    for (at, path) in PATHS {
        memory[at..at + path.len()].copy_from_slice(path.as_bytes());
    }
    memory
}

fn make_system() -> Wasi {
    let files = [("given".to_owned(), b"content".to_vec()), ("dir/inner".to_owned(), vec![7; 100])];
    let base = base_tree("/usr/local/lib/lib.zip", Arc::new(vec![1; 5000])).expect("an absolute path");
    let setup = WasiSetup {
        seed: 1,
        stdin: b"input",
        files: &files,
        output_bytes: OUTPUT_BYTES,
        file_bytes: FILE_BYTES,
        ..WasiSetup::default()
    };
    Wasi::new(&base, &setup).expect("files that do not clash")
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// One byte for what is likely to matter: a small number, a path, the ends of memory and of the type; five for any.
    fn number(&mut self) -> i32 {
        match self.next().unwrap_or(0) {
            small @ 0..=0x9f => i32::from(small),
            path @ 0xa0..=0xa7 => PATHS[usize::from(path - 0xa0)].0 as i32,
            length @ 0xa8..=0xaf => PATHS[usize::from(length - 0xa8)].1.len() as i32,
            place @ 0xb0..=0xcf => 0x800 + i32::from(place - 0xb0) * 64,
            end @ 0xd0..=0xdf => MEMORY as i32 - i32::from(end - 0xd0),
            end @ 0xe0..=0xe7 => i32::MAX - i32::from(end - 0xe0),
            end @ 0xe8..=0xef => i32::MIN + i32::from(end - 0xe8),
            end @ 0xf0..=0xf7 => -1 - i32::from(end - 0xf0),
            _ => i32::from_le_bytes(std::array::from_fn(|_| self.next().unwrap_or(0))),
        }
    }

    /// As [`Bytes::number`]; with two bits of the wide type's own where a byte says so.
    fn long(&mut self) -> i64 {
        match self.next().unwrap_or(0) {
            small @ 0..=0xcf => i64::from(small),
            bit @ 0xd0..=0xef => 1 << (bit - 0xd0),
            end @ 0xf0..=0xf3 => i64::MAX - i64::from(end - 0xf0),
            end @ 0xf4..=0xf7 => i64::MIN + i64::from(end - 0xf4),
            _ => i64::from_le_bytes(std::array::from_fn(|_| self.next().unwrap_or(0))),
        }
    }
}

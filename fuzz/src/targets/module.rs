//! Modules that jobs bring: any that a generator makes in the shape of a command of WASI, and bytes as they are.

use std::sync::LazyLock;

use arbitrary::Unstructured;
use veriplay_sandbox::fuzzing;
use wasm_smith::{Config, Module};

/// What a module begins with.
const MAGIC: &[u8] = b"\0asm";

/// What a module may import and must export, as modules whose own imports and exports these are.
static SHAPE: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let imports = r#"(module
        (import "wasi_snapshot_preview1" "fd_read" (func (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "poll_oneoff" (func (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "random_get" (func (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "proc_exit" (func (param i32))))"#;
    let exports = r#"(module (memory (export "memory") 1 4) (func (export "_start")))"#;
    [imports, exports].map(|text| wat::parse_str(text).expect("it is WebAssembly text"))
});

/// Bytes that begin as a module does are read as one; from others one is generated.
pub(super) fn run(bytes: &[u8]) {
    if bytes.starts_with(MAGIC) {
        fuzzing::module(bytes);
    } else if let Some(module) = generate_command(bytes) {
        fuzzing::module(&module);
    }
}

fn generate_command(bytes: &[u8]) -> Option<Vec<u8>> {
    let [imports, exports] = &*SHAPE;
    let config = Config {
        available_imports: Some(imports.clone()),
        exports: Some(exports.clone()),
        max_imports: 5,
        max_memories: 1,
        allow_start_export: false,
        gc_enabled: false,
        memory64_enabled: false,
        threads_enabled: false,
        shared_everything_threads_enabled: false,
        custom_page_sizes_enabled: false,
        wide_arithmetic_enabled: false,
        custom_descriptors_enabled: false,
        relaxed_simd_enabled: false,
        exceptions_enabled: false,
        extended_const_enabled: false,
        ..Config::default()
    };
    Some(Module::new(config, &mut Unstructured::new(bytes)).ok()?.to_bytes())
}

//! The one engine configuration. All instances of all images run under it, and a cached image is native code for it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use wasmtime::{Config, Engine};

use super::ImageError;
use super::cpu;
pub(super) use super::cpu::CpuLevel;
use crate::stacks::Stacks;

/// Bytes of native stack a guest may use. Deep recursion beyond it is a trap; `c_stack_bytes` of the Python image is such that CPython
/// raises `RecursionError` long before.
const WASM_STACK: usize = 64 << 20;
/// Bytes of the stacks guests run on, which wasmtime makes: the guest's, and the host functions' on top of it.
const GUEST_STACK: usize = WASM_STACK + (4 << 20);

/// An engine whose code runs on every processor of a level: of [`CpuLevel::Native`], on this one.
pub(crate) fn engine_for(level: CpuLevel) -> Result<Engine, ImageError> {
    with_compiler(level, true)
}

/// The same, for a process that may start no threads: it compiles on the calling one.
pub(crate) fn engine_without_threads() -> Result<Engine, ImageError> {
    with_compiler(CpuLevel::Native, false)
}

/// An engine for modules that jobs bring: it compiles on the calling thread, opens no file for the data of a module, and knows nothing of what such
/// a module may not use.
pub(crate) fn engine_for_modules() -> Result<Engine, ImageError> {
    let mut config = configure(CpuLevel::Native, false)?;
    config.memory_init_cow(false).wasm_exceptions(false).wasm_gc(false).wasm_function_references(false);
    config.wasm_relaxed_simd(false).wasm_extended_const(false);
    Engine::new(&config).map_err(host_error)
}

fn with_compiler(level: CpuLevel, threads: bool) -> Result<Engine, ImageError> {
    Engine::new(&configure(level, threads)?).map_err(host_error)
}

fn host_error(error: wasmtime::Error) -> ImageError {
    ImageError::Host(format!("{error:#}"))
}

fn configure(level: CpuLevel, threads: bool) -> Result<Config, ImageError> {
    let mut config = Config::new();
    if level != CpuLevel::Native {
        // With a target named, the compiler uses no feature of this machine but those that it is given.
        config.target(&triple()).map_err(host_error)?;
        for flag in cpu::flags(level) {
            // SAFETY: the flag says that the target has a feature. Code that was compiled with it carries the flag, and wasmtime
            // loads it only where the processor has the feature.
            unsafe { config.cranelift_flag_enable(flag) };
        }
    }
    config
        // Fuel is ours: see `crate::meter`, which tells the compiler what is seldom.
        .wasm_branch_hinting(true)
        .wasm_memory64(false)
        .wasm_exceptions(true)
        .max_wasm_stack(WASM_STACK)
        .async_stack_size(GUEST_STACK)
        .with_host_stack(Arc::new(Stacks::default()))
        .parallel_compilation(threads)
        // What a program computes must not depend on the machine: NaN bits and relaxed vector operations do by default.
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        // The module is ours and fixed: nobody reads its backtraces, and its memory comes from the baseline.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        // Nor does a debugger or profiler unwind through it: 6 MB of tables, which each process would register.
        .native_unwind_info(false)
        .memory_init_cow(true)
        // Native exceptions are objects of a heap of the engine's, which would reserve as many addresses as a memory.
        .gc_heap_reservation(0)
        .gc_heap_reservation_for_growth(1 << 20);
    Ok(config)
}

/// This program's target, as the compiler names it.
fn triple() -> String {
    let libc = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    format!("{}-unknown-{}-{libc}", std::env::consts::ARCH, std::env::consts::OS)
}

/// Differs whenever compiled code of one engine cannot run in another: version, configuration, processor features.
pub(crate) fn fingerprint(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

//! The one engine configuration. All instances of all images run under it, and a cached image is native code for it.

use std::hash::{DefaultHasher, Hash, Hasher};

use wasmtime::{Config, Engine};

use super::ImageError;

/// Bytes of native stack a guest may use. Deep recursion beyond it is a trap.
const WASM_STACK: usize = 32 << 20;
/// Bytes of native stack a thread needs that runs guests: theirs, and ours below and above it.
pub(crate) const THREAD_STACK: usize = WASM_STACK + (4 << 20);

/// Makes the engine.
///
/// # Errors
/// When the host cannot run it.
pub(crate) fn engine() -> Result<Engine, ImageError> {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .epoch_interruption(true)
        .wasm_exceptions(true)
        .max_wasm_stack(WASM_STACK)
        .parallel_compilation(true)
        // What a program computes must not depend on the machine: NaN bits and relaxed vector operations do by default.
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        // The module is ours and fixed: nobody reads its backtraces, and its memory comes from the baseline.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .memory_init_cow(true);
    // Must exceed the wasm stack where the engine is built with async support, although nothing here is async.
    config.async_stack_size(THREAD_STACK);
    Engine::new(&config).map_err(|error| ImageError::Host(format!("{error:#}")))
}

/// Differs whenever compiled code of one engine cannot run in another: version, configuration, processor features.
pub(crate) fn fingerprint(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

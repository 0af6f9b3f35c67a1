//! The one engine configuration. All instances of all images run under it, and a cached image is native code for it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use wasmtime::{Config, Engine};

use super::ImageError;
use crate::ticker::Ticker;

/// Bytes of native stack a guest may use. Deep recursion beyond it is a trap.
const WASM_STACK: usize = 32 << 20;
/// Bytes of native stack a thread needs that runs guests: a job's, that of its peer on top of it, and ours around them.
pub(crate) const THREAD_STACK: usize = 2 * WASM_STACK + (4 << 20);

/// An engine with the one clock of its deadlines: two clocks would make its time run twice as fast.
#[derive(Clone)]
pub(crate) struct SharedEngine {
    pub(crate) engine: Engine,
    ticker: Arc<Mutex<Weak<Ticker>>>,
}

impl SharedEngine {
    /// # Errors
    /// When the host cannot run the engine.
    pub(crate) fn new() -> Result<Self, ImageError> {
        Ok(Self { engine: engine()?, ticker: Arc::default() })
    }

    /// The clock, which runs as long as somebody holds it.
    ///
    /// # Errors
    /// When its thread cannot be started.
    pub(crate) fn ticker(&self) -> Result<Arc<Ticker>, ImageError> {
        let mut shared = self.ticker.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = shared.upgrade() {
            return Ok(running);
        }
        let started = Ticker::start(self.engine.clone())
            .map_err(|error| ImageError::Host(format!("cannot start the deadline clock: {error}")))?;
        let started = Arc::new(started);
        *shared = Arc::downgrade(&started);
        Ok(started)
    }
}

fn engine() -> Result<Engine, ImageError> {
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
    config.async_stack_size(WASM_STACK + (4 << 20));
    Engine::new(&config).map_err(|error| ImageError::Host(format!("{error:#}")))
}

/// Differs whenever compiled code of one engine cannot run in another: version, configuration, processor features.
pub(crate) fn fingerprint(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::SharedEngine;

    #[test]
    fn all_users_of_an_engine_share_one_clock_and_it_can_be_started_again() {
        let engine = SharedEngine::new().unwrap();
        let (a, b) = (engine.ticker().unwrap(), engine.clone().ticker().unwrap());
        assert!(Arc::ptr_eq(&a, &b));
        let stopped = Arc::downgrade(&a);
        drop((a, b));
        assert!(stopped.upgrade().is_none());
        assert!(engine.ticker().is_ok());
    }
}

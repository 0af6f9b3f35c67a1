//! States behind the preloads of jobs ([`veriplay_core::Job::preload`]), kept so that jobs with the same one need not run it again.
//!
//! A state is a function of the image, the preload and the limits that it could have met, so a job's outcome is the same whether
//! its preload was run or its state was kept. What the state cost is charged to each job that starts there.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use veriplay_core::Limits;

use crate::exports::SavedValue;
use crate::memory::ChangedPages;

/// The most bytes of all kept states together, for each sandbox or worker process.
const MAX_BYTES: usize = 32 << 20;

/// What an instance has beyond the image, between two turns.
#[derive(Debug)]
pub(crate) struct PreloadedState {
    pub(crate) pages: ChangedPages,
    pub(crate) globals: Vec<(String, SavedValue)>,
    /// The fuel that the preload used.
    pub(crate) fuel: u64,
}

/// The kept states, the least recently used first.
#[derive(Debug, Default)]
pub(crate) struct Preloads(Mutex<Vec<KeptState>>);

type KeptState = (PreloadKey, Arc<PreloadedState>);

/// What a state hangs on, beside the image and the fuel that there was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PreloadKey {
    /// With the limit of output in it.
    request: Vec<u8>,
    memory_bytes: u64,
    file_bytes: u64,
}

impl PreloadKey {
    /// Of a preload, encoded for the harness, under these limits.
    pub(crate) fn new(request: Vec<u8>, limits: &Limits) -> Self {
        Self { request, memory_bytes: limits.memory_bytes, file_bytes: limits.file_bytes }
    }

    pub(crate) fn request(&self) -> &[u8] {
        &self.request
    }
}

impl Preloads {
    /// The state of this key, if it is kept.
    pub(crate) fn get(&self, key: &PreloadKey) -> Option<Arc<PreloadedState>> {
        let mut states = self.lock();
        let at = states.iter().rposition(|(known, _)| known == key)?;
        let entry = states.remove(at);
        let state = Arc::clone(&entry.1);
        states.push(entry);
        Some(state)
    }

    /// Keeps a state, in place of those that have not been used for longest.
    pub(crate) fn keep(&self, key: PreloadKey, state: PreloadedState) {
        let mut states = self.lock();
        if states.iter().any(|(known, _)| *known == key) {
            return;
        }
        states.push((key, Arc::new(state)));
        let bytes = |(key, state): &KeptState| key.request.len() + state.pages.bytes();
        let mut kept: usize = states.iter().map(bytes).sum();
        while kept > MAX_BYTES {
            kept -= bytes(&states.remove(0));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<KeptState>> {
        // No code under this lock can leave the states inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

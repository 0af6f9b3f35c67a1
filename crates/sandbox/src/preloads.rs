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

#[cfg(test)]
mod tests {
    use veriplay_core::{Job, Preload};

    use super::*;
    use crate::guest::GuestInstance;
    use crate::host_support::HostSupport;
    use crate::image::Image;
    use crate::request::encode_preload_request;

    const LIMITS: Limits = Limits::small();

    fn key(name: &str) -> PreloadKey {
        PreloadKey::new(name.as_bytes().to_vec(), &LIMITS)
    }

    fn state(pages: usize) -> PreloadedState {
        PreloadedState { pages: ChangedPages::of_zeros(pages), globals: Vec::new(), fuel: 1 }
    }

    #[test]
    fn those_that_were_not_used_for_longest_make_room() {
        let (preloads, half) = (Preloads::default(), MAX_BYTES / 2 / 4096 - 1);
        preloads.keep(key("a"), state(half));
        preloads.keep(key("b"), state(half));
        assert!(preloads.get(&key("a")).is_some());
        preloads.keep(key("c"), state(half));
        let kept = ["a", "b", "c"].map(|name| preloads.get(&key(name)).is_some());
        assert_eq!(kept, [true, false, true]);
        preloads.keep(key("d"), state(4 * half));
        assert!(["a", "c", "d"].iter().all(|name| preloads.get(&key(name)).is_none()));
    }

    #[test]
    fn other_limits_are_another_state() {
        let preloads = Preloads::default();
        preloads.keep(key("a"), state(1));
        let other = Limits { file_bytes: LIMITS.file_bytes + 1, ..LIMITS };
        assert!(preloads.get(&PreloadKey::new(b"a".to_vec(), &other)).is_none());
    }

    #[test]
    fn a_job_leaves_the_state_behind_its_preload() {
        let image = Image::python().unwrap();
        let preload = Preload { program: "def f(): pass".to_owned(), function: "f".to_owned(), arguments: Vec::new() };
        let job = Job { preload: Some(preload.clone()), ..Job::script("pass") };
        let preloads = Preloads::default();
        GuestInstance::new(&image).unwrap().run(&job, None, &preloads).unwrap();
        let kept = preloads.get(&PreloadKey::new(encode_preload_request(&job, &preload), &job.limits));
        assert_eq!(kept.is_some(), HostSupport::detect().page_scan);
    }
}

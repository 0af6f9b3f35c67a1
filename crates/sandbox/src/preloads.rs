//! States behind the preloads of jobs ([`veriplay_core::Job::preload`]), kept so that jobs with the same one need not run it again.
//!
//! A state is a function of the image, the text of the preload and the limits that it could have met, so a job's outcome is the same whether
//! its preload was run or its state was kept. What the state cost is charged to each job that starts there.

use std::sync::{Arc, Mutex, PoisonError};

use veriplay_core::Limits;

use crate::exports::SavedValue;
use crate::memory::ChangedPages;

/// The most bytes of all kept states together, for each sandbox or worker process. That of a task's tests has about 1 MB.
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
pub(crate) struct Preloads(Mutex<Vec<(PreloadKey, Arc<PreloadedState>)>>);

/// What a state hangs on, beside the image and the fuel that there was.
#[derive(Debug, PartialEq)]
struct PreloadKey {
    program: String,
    memory_bytes: u64,
    output_bytes: u64,
    file_bytes: u64,
}

impl PreloadKey {
    fn is_of(&self, program: &str, limits: &Limits) -> bool {
        self.program == program
            && self.memory_bytes == limits.memory_bytes
            && self.output_bytes == limits.output_bytes
            && self.file_bytes == limits.file_bytes
    }
}

impl Preloads {
    /// The state behind `program`, where it is kept and a job with these limits comes to it.
    pub(crate) fn get(&self, program: &str, limits: &Limits) -> Option<Arc<PreloadedState>> {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = states.iter().rposition(|(key, _)| key.is_of(program, limits))?;
        let entry = states.remove(at);
        let state = Arc::clone(&entry.1);
        states.push(entry);
        (state.fuel <= limits.fuel).then_some(state)
    }

    /// Keeps the state behind `program`, in place of those that have not been used for longest.
    pub(crate) fn keep(&self, program: &str, limits: &Limits, state: PreloadedState) {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if states.iter().any(|(key, _)| key.is_of(program, limits)) {
            return;
        }
        let Limits { memory_bytes, output_bytes, file_bytes, .. } = *limits;
        states.push((
            PreloadKey { program: program.to_owned(), memory_bytes, output_bytes, file_bytes },
            Arc::new(state),
        ));
        let mut bytes: usize = states.iter().map(|(_, state)| state.pages.bytes()).sum();
        while bytes > MAX_BYTES {
            bytes -= states.remove(0).1.pages.bytes();
        }
    }
}

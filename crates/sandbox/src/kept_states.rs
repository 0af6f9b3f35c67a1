//! States that jobs pass through before their program runs, kept so that other jobs need not come to them again: behind a
//! [preload](veriplay_core::Job::preload), and behind the compilation of a program.
//!
//! A state is a function of the image, what led to it, and the limits that it could have met, so a job's outcome is the same
//! whether it came to the state by itself or started there. What the state cost is charged to each job that starts there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use veriplay_core::Limits;

use crate::exports::SavedValue;
use crate::memory::ChangedPages;

/// The most bytes of all kept states together, for each sandbox or worker process.
const MAX_BYTES: usize = 64 << 20;
/// How many states are remembered that were not kept.
const REMEMBERED: usize = 4096;

/// What an instance has beyond the image, between two turns.
#[derive(Debug)]
pub(crate) struct GuestState {
    pub(crate) pages: ChangedPages,
    pub(crate) globals: Vec<(String, SavedValue)>,
    /// The fuel that it took to come here from the image's state.
    pub(crate) fuel: u64,
}

/// Names a state by what led to it from the image's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct StateKey([u8; 32]);

impl StateKey {
    pub(crate) const IMAGE: Self = Self([0; 32]);

    /// Behind the compilation of a program, which meets no limit but those that end the job. `request` asks for it.
    pub(crate) fn behind_program(self, request: &[u8]) -> Self {
        self.behind(b"program", request)
    }

    /// Behind a preload under these limits: `request` runs what `program` defines, which is a request to compile it.
    pub(crate) fn behind_preload(self, program: &[u8], request: &[u8], limits: &Limits) -> Self {
        let limits = [limits.memory_bytes, limits.file_bytes, limits.output_bytes].map(u64::to_le_bytes).concat();
        self.behind_program(program).behind(b"limits", &limits).behind(b"request", request)
    }

    fn behind(self, kind: &[u8], what: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0).update(kind).update(what);
        Self(*hasher.finalize().as_bytes())
    }

    fn place(self) -> usize {
        let [a, b, ..] = self.0;
        usize::from(u16::from_le_bytes([a, b])) % REMEMBERED
    }
}

#[derive(Debug, Default)]
pub(crate) struct KeptStates(Mutex<Shelf>);

#[derive(Debug)]
struct Shelf {
    states: HashMap<StateKey, KeptState>,
    bytes: usize,
    uses: u64,
    /// States that jobs have come to. Each has one place, where a later one takes over.
    remembered: Box<[StateKey]>,
}

#[derive(Debug)]
struct KeptState {
    state: Arc<GuestState>,
    last_use: u64,
}

impl Default for Shelf {
    fn default() -> Self {
        let remembered = vec![StateKey::IMAGE; REMEMBERED].into();
        Self { states: HashMap::new(), bytes: 0, uses: 0, remembered }
    }
}

impl KeptStates {
    /// The state of this key, if it is kept.
    pub(crate) fn get(&self, key: StateKey) -> Option<Arc<GuestState>> {
        let mut shelf = self.lock();
        shelf.uses += 1;
        let last_use = shelf.uses;
        let found = shelf.states.get_mut(&key)?;
        found.last_use = last_use;
        Some(Arc::clone(&found.state))
    }

    /// Whether a job came to this state before, as far as that is remembered. Most programs run once, and keeping their state would cost
    /// more than they do.
    pub(crate) fn is_known(&self, key: StateKey) -> bool {
        let known = &mut self.lock().remembered[key.place()];
        std::mem::replace(known, key) == key
    }

    /// Keeps a state, in place of those that have not been used for longest.
    pub(crate) fn keep(&self, key: StateKey, state: GuestState) {
        let mut shelf = self.lock();
        let (bytes, last_use) = (state.pages.bytes(), shelf.uses);
        if bytes > MAX_BYTES || shelf.states.contains_key(&key) {
            return;
        }
        shelf.make_room(bytes);
        shelf.bytes += bytes;
        shelf.states.insert(key, KeptState { state: Arc::new(state), last_use });
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        // No code under this lock can leave the states inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn make_room(&mut self, bytes: usize) {
        while self.bytes + bytes > MAX_BYTES {
            let oldest = self.states.iter().min_by_key(|(_, kept)| kept.last_use).map(|(key, _)| *key);
            let Some(removed) = oldest.and_then(|key| self.states.remove(&key)) else { return };
            self.bytes -= removed.state.pages.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use veriplay_core::{Job, Preload};

    use super::*;
    use crate::guest::GuestInstance;
    use crate::host_support::HostSupport;
    use crate::image::Image;
    use crate::request::{encode_preload_request, encode_program};

    const LIMITS: Limits = Limits::small();

    fn key(name: &str) -> StateKey {
        StateKey::IMAGE.behind_program(name.as_bytes())
    }

    fn state(pages: usize) -> GuestState {
        GuestState { pages: ChangedPages::of_zeros(pages), globals: Vec::new(), fuel: 1 }
    }

    #[test]
    fn those_that_were_not_used_for_longest_make_room() {
        let (states, half) = (KeptStates::default(), MAX_BYTES / 2 / 4096);
        states.keep(key("a"), state(half));
        states.keep(key("b"), state(half));
        assert!(states.get(key("a")).is_some());
        states.keep(key("c"), state(half));
        let kept = ["a", "b", "c"].map(|name| states.get(key(name)).is_some());
        assert_eq!(kept, [true, false, true]);
        // One that is larger than all room takes none.
        states.keep(key("d"), state(4 * half));
        assert!(["a", "c"].iter().all(|name| states.get(key(name)).is_some()) && states.get(key("d")).is_none());
    }

    #[test]
    fn what_led_to_a_state_names_it() {
        let other = Limits { file_bytes: LIMITS.file_bytes + 1, ..LIMITS };
        let keys = [
            StateKey::IMAGE,
            key("a"),
            key("b"),
            key("a").behind_program(b"b"),
            key("a").behind_preload(b"b", b"c", &LIMITS),
            key("a").behind_preload(b"b", b"d", &LIMITS),
            key("a").behind_preload(b"b", b"c", &other),
        ];
        let different: std::collections::HashSet<StateKey> = keys.into_iter().collect();
        assert_eq!(different.len(), keys.len());
    }

    #[test]
    fn a_state_is_known_from_the_second_time_on() {
        let states = KeptStates::default();
        let known = ["a", "b", "a", "b", "a"].map(|name| states.is_known(key(name)));
        assert_eq!(known, [false, false, true, true, true]);
    }

    #[test]
    fn a_job_leaves_the_states_behind_its_preload_and_its_known_program() {
        let image = Image::python().unwrap();
        let preload = Preload { program: "def f(): pass".to_owned(), function: "f".to_owned(), arguments: Vec::new() };
        let job = Job { preload: Some(preload.clone()), ..Job::script("print(1)") };
        let request = encode_preload_request(&job, &preload);
        let [preloaded, program] =
            [&preload.program, &job.program].map(|program| encode_program(program, &job.entry, image.kind));
        let loaded = StateKey::IMAGE.behind_preload(&preloaded, &request, &job.limits);
        let compiled = loaded.behind_program(&program);
        let states = KeptStates::default();
        let can_keep = HostSupport::detect().page_scan;
        let mut outcomes = Vec::new();
        for kept in [[can_keep, false], [can_keep, can_keep], [can_keep, can_keep]] {
            let (outcome, _) = GuestInstance::new(&image).unwrap().run(&job, None, &states).unwrap();
            assert_eq!([loaded, compiled].map(|key| states.get(key).is_some()), kept);
            outcomes.push(outcome);
        }
        assert_eq!(outcomes[0].stdout, b"1\n");
        assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]));
    }
}

//! Instances ready for jobs, handed from one caller to the next.
//!
//! A job runs on its caller's thread: the guest has a stack of its own ([`crate::stacks`]), and waking another thread would
//! take as long as a short job. Instances are handed out last-in first-out, so that few callers keep few of them warm. A
//! panic of ours in there costs an instance and not the caller.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use veriplay_core::{Job, Outcome};

use crate::guest::{Fault, Guest};
use crate::image::Image;
use crate::memory::ResetMode;

/// What one job runs in: an instance, and one for its peer. Each is made when it is first needed.
#[derive(Default)]
struct Place {
    guest: Option<Guest>,
    peer: Option<Guest>,
}

struct State {
    idle: Vec<Place>,
    in_use: usize,
}

/// The instances of one sandbox.
pub(crate) struct Pool {
    image: Arc<Image>,
    reset: ResetMode,
    max_parallel: usize,
    state: Mutex<State>,
    freed: Condvar,
}

impl Pool {
    pub(crate) fn new(image: Arc<Image>, reset: ResetMode, max_parallel: usize) -> Self {
        let state = Mutex::new(State { idle: Vec::new(), in_use: 0 });
        Self { image, reset, max_parallel: max_parallel.max(1), state, freed: Condvar::new() }
    }

    /// Runs `job`, after others if too many run already.
    ///
    /// # Errors
    /// A fault of ours.
    pub(crate) fn run(&self, job: &Job, may_reuse: bool) -> Result<Outcome, Fault> {
        let mut place = self.take();
        if !may_reuse {
            place = Place::default();
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| self.run_in(&mut place, job)));
        // After a panic, what is in there is in doubt.
        let (outcome, place) =
            outcome.map_or_else(|_| (Err("a host function panicked".to_owned()), Place::default()), |ran| (ran, place));
        self.put(place);
        outcome
    }

    fn run_in(&self, place: &mut Place, job: &Job) -> Result<Outcome, Fault> {
        let ready = |kept: &mut Option<Guest>| kept.take().map_or_else(|| Guest::new(&self.image), Ok);
        let fresh = |mut used: Guest| used.reset(self.reset).then_some(used);
        let mut guest = ready(&mut place.guest)?;
        let peer = job.peer.as_ref().map(|_| ready(&mut place.peer)).transpose()?;
        let (outcome, peer) = guest.run(job, peer)?;
        place.guest = fresh(guest);
        place.peer = peer.and_then(fresh).or(place.peer.take());
        Ok(outcome)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing under this lock can leave the state half-changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Place {
        let full = |state: &mut State| state.in_use >= self.max_parallel;
        let mut state = self.freed.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        state.in_use += 1;
        state.idle.pop().unwrap_or_default()
    }

    fn put(&self, place: Place) {
        let mut state = self.lock();
        state.in_use -= 1;
        state.idle.push(place);
        drop(state);
        self.freed.notify_one();
    }
}

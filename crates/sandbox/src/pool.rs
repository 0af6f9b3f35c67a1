//! Places for jobs to run in, handed from one caller to the next.
//!
//! Places are handed out last-in first-out, so that few callers keep few of them warm. A panic of ours in one costs that
//! place and not its caller.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use veriplay_core::{Callee, Job, Outcome};

use crate::guest::{Fault, Guest};
use crate::image::Image;
use crate::layers::Layers;
use crate::memory::ResetMode;
use crate::wasi::files::Tree;

/// Why a job has no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RunError {
    /// The engine, or the host.
    #[error("{0}")]
    Fault(String),
    /// The worker process ended itself, by the signal of this number: a crash, or a system call it has no right to.
    #[error("a worker process died of signal {0}")]
    Crash(i32),
}

impl From<String> for RunError {
    fn from(fault: String) -> Self {
        Self::Fault(fault)
    }
}

/// A way to run jobs, each in a place that the last one left.
pub(crate) trait Runner {
    /// What is kept from one job to the next: nothing, at first or when in doubt.
    type Place: Default;

    /// Runs `job` in `place`, and leaves there what the next job may use.
    ///
    /// # Errors
    /// A fault of ours.
    fn run(&self, place: &mut Self::Place, job: &Job) -> Result<Outcome, RunError>;
}

struct State<P> {
    idle: Vec<P>,
    in_use: usize,
}

/// The places of one sandbox.
pub(crate) struct Pool<R: Runner> {
    runner: R,
    max_parallel: usize,
    state: Mutex<State<R::Place>>,
    freed: Condvar,
}

impl<R: Runner> Pool<R> {
    pub(crate) fn new(runner: R, max_parallel: usize) -> Self {
        Self::starting_with(runner, max_parallel, Vec::new())
    }

    /// A pool that has places already.
    pub(crate) fn starting_with(runner: R, max_parallel: usize, idle: Vec<R::Place>) -> Self {
        let state = Mutex::new(State { idle, in_use: 0 });
        Self { runner, max_parallel: max_parallel.max(1), state, freed: Condvar::new() }
    }

    /// Runs `job` on this thread, after others if too many run already.
    ///
    /// # Errors
    /// A fault of ours.
    pub(crate) fn run(&self, job: &Job, may_reuse: bool) -> Result<Outcome, RunError> {
        let mut place = self.take();
        if !may_reuse {
            place = R::Place::default();
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| self.runner.run(&mut place, job))).unwrap_or_else(|_| {
            place = R::Place::default();
            Err(RunError::Fault("a host function panicked".to_owned()))
        });
        self.give_back(place);
        outcome
    }

    /// The runner, while nobody runs anything; what the places hold is dropped.
    pub(crate) fn renew(&mut self) -> &mut R {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).idle.clear();
        &mut self.runner
    }

    fn lock(&self) -> MutexGuard<'_, State<R::Place>> {
        // Nothing under this lock can leave the state half-changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> R::Place {
        let full = |state: &mut State<R::Place>| state.in_use >= self.max_parallel;
        let mut state = self.freed.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        state.in_use += 1;
        state.idle.pop().unwrap_or_default()
    }

    fn give_back(&self, place: R::Place) {
        let mut state = self.lock();
        state.in_use -= 1;
        state.idle.push(place);
        drop(state);
        self.freed.notify_one();
    }
}

/// Runs jobs in this process, on the thread that asks: a guest has a stack of its own ([`crate::stacks`]), and waking
/// another thread would take as long as a short job.
pub(crate) struct Here {
    image: Arc<Image>,
    reset: ResetMode,
    layers: Layers,
}

/// An instance, and one for the callee. Each is made when it is first needed.
#[derive(Default)]
pub(crate) struct Instances {
    guest: Option<Guest>,
    callee: Option<Guest>,
}

impl Here {
    pub(crate) const fn new(image: Arc<Image>, reset: ResetMode, layers: Layers) -> Self {
        Self { image, reset, layers }
    }

    fn ready(&self, kept: &mut Option<Guest>, base: Option<&Arc<Tree>>) -> Result<Guest, Fault> {
        let mut guest = kept.take().map_or_else(|| Guest::new(&self.image), Ok)?;
        guest.set_base(base.map(Arc::clone));
        Ok(guest)
    }
}

impl Here {
    pub(crate) fn set_layers(&mut self, layers: Layers) {
        self.layers = layers;
    }
}

impl Runner for Here {
    type Place = Instances;

    fn run(&self, place: &mut Instances, job: &Job) -> Result<Outcome, RunError> {
        let fresh = |mut used: Guest| used.reset(self.reset).then_some(used);
        let tree = |callee: Option<&Callee>| {
            job.base.as_ref().map(|base| self.layers.tree(self.image.base_tree(), base, callee)).transpose()
        };
        let mut guest = self.ready(&mut place.guest, tree(None)?.as_ref())?;
        let callee = match &job.callee {
            Some(callee) => Some(self.ready(&mut place.callee, tree(Some(callee))?.as_ref())?),
            None => None,
        };
        let (outcome, callee) = guest.run(job, callee)?;
        place.guest = fresh(guest);
        place.callee = callee.and_then(fresh).or(place.callee.take());
        Ok(outcome)
    }
}

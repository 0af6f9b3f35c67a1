//! Slots for jobs to run in, handed from one caller to the next.
//!
//! Slots are handed out last-in first-out, so that few callers keep few of them warm. A panic of the host in one costs that
//! slot and not its caller.

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

/// A way to run jobs, each in a slot that the last one left.
pub(crate) trait Runner {
    /// The state kept from one job to the next: empty at first and when in doubt.
    type Slot: Default;

    /// Runs `job` in `slot`, and leaves there what the next job may use.
    ///
    /// # Errors
    /// A host fault.
    fn run(&self, slot: &mut Self::Slot, job: &Job) -> Result<Outcome, RunError>;
}

struct Slots<P> {
    idle: Vec<P>,
    in_use: usize,
}

/// The slots of one sandbox.
pub(crate) struct Pool<R: Runner> {
    runner: R,
    max_parallel: usize,
    state: Mutex<Slots<R::Slot>>,
    freed: Condvar,
}

impl<R: Runner> Pool<R> {
    pub(crate) fn new(runner: R, max_parallel: usize) -> Self {
        Self::starting_with(runner, max_parallel, Vec::new())
    }

    /// A pool that has slots already.
    pub(crate) fn starting_with(runner: R, max_parallel: usize, idle: Vec<R::Slot>) -> Self {
        let state = Mutex::new(Slots { idle, in_use: 0 });
        Self { runner, max_parallel: max_parallel.max(1), state, freed: Condvar::new() }
    }

    /// Runs `job` on this thread, after others if too many run already.
    ///
    /// # Errors
    /// A host fault.
    pub(crate) fn run(&self, job: &Job, may_reuse: bool) -> Result<Outcome, RunError> {
        let mut slot = self.take();
        if !may_reuse {
            slot = R::Slot::default();
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| self.runner.run(&mut slot, job))).unwrap_or_else(|_| {
            slot = R::Slot::default();
            Err(RunError::Fault("a host function panicked".to_owned()))
        });
        self.give_back(slot);
        outcome
    }

    /// The runner, while no job runs; the contents of the slots are dropped.
    pub(crate) fn renew(&mut self) -> &mut R {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).idle.clear();
        &mut self.runner
    }

    fn lock(&self) -> MutexGuard<'_, Slots<R::Slot>> {
        // Nothing under this lock can leave the state half-changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> R::Slot {
        let full = |state: &mut Slots<R::Slot>| state.in_use >= self.max_parallel;
        let mut state = self.freed.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        state.in_use += 1;
        state.idle.pop().unwrap_or_default()
    }

    fn give_back(&self, slot: R::Slot) {
        let mut state = self.lock();
        state.in_use -= 1;
        state.idle.push(slot);
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
    type Slot = Instances;

    fn run(&self, slot: &mut Instances, job: &Job) -> Result<Outcome, RunError> {
        let fresh = |mut used: Guest| used.reset(self.reset).then_some(used);
        let tree = |callee: Option<&Callee>| {
            job.base.as_ref().map(|base| self.layers.tree(self.image.base_tree(), base, callee)).transpose()
        };
        let mut guest = self.ready(&mut slot.guest, tree(None)?.as_ref())?;
        let callee = match &job.callee {
            Some(callee) => Some(self.ready(&mut slot.callee, tree(Some(callee))?.as_ref())?),
            None => None,
        };
        let (outcome, callee) = guest.run(job, callee)?;
        slot.guest = fresh(guest);
        slot.callee = callee.and_then(fresh).or(slot.callee.take());
        Ok(outcome)
    }
}

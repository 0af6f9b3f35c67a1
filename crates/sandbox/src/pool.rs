//! A pool of slots for jobs.
//!
//! Slots are handed out last-in first-out, so that few callers keep few slots warm. A panic of the host costs a slot, not its caller.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use veriplay_core::{Callee, CancellationToken, Job, Outcome};

use crate::call::HostFault;
use crate::guest::GuestInstance;
use crate::image::Image;
use crate::job_lock::wait_while;
use crate::job_profile::{JobProfile, Profiler, nanoseconds_since};
use crate::kept_states::KeptStates;
use crate::layers::Layers;
use crate::memory::ResetMode;
use crate::wasi::files::Tree;

/// Why a job has no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RunError {
    #[error("{0}")]
    Fault(String),
    /// The worker process died of this signal: a crash, or a forbidden system call.
    #[error("a worker process died of signal {0}")]
    Crash(i32),
}

impl RunError {
    /// The fault of a job that was cancelled. Nobody reads it: the caller knows.
    pub(crate) fn cancelled() -> Self {
        Self::Fault("the job was cancelled".to_owned())
    }
}

impl From<String> for RunError {
    fn from(fault: String) -> Self {
        Self::Fault(fault)
    }
}

/// Runs jobs, each in a slot that an earlier job left.
pub(crate) trait Runner {
    /// The state kept from one job to the next: empty at first and when in doubt.
    type Slot: Default;

    /// Whether what an earlier job left in `slot` is of use to `job`.
    fn suits(&self, _slot: &Self::Slot, _job: &Job) -> bool {
        true
    }

    /// Runs `job` in `slot`, and leaves in it what the next job may reuse once it is [reset](Self::reset).
    fn run(&self, slot: &mut Self::Slot, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, RunError>;

    /// Prepares `slot` for the next job, after [`Self::run`].
    fn reset(&self, _slot: &mut Self::Slot) {}
}

/// What `use_slot` returns. If it panics that is a fault of the host, and `slot` is empty.
pub(crate) fn catch_panic<S: Default, T>(
    slot: &mut S,
    use_slot: impl FnOnce(&mut S) -> Result<T, RunError>,
) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(|| use_slot(slot))).unwrap_or_else(|_| {
        *slot = S::default();
        Err(RunError::Fault("a host function panicked".to_owned()))
    })
}

struct Slots<P> {
    idle: Vec<P>,
    in_use: usize,
}

pub(crate) struct Pool<R: Runner> {
    runner: R,
    max_parallel: usize,
    state: Mutex<Slots<R::Slot>>,
    freed: Condvar,
}

impl<R: Runner> Pool<R> {
    pub(crate) fn new(runner: R, max_parallel: usize, idle: Vec<R::Slot>) -> Self {
        let state = Mutex::new(Slots { idle, in_use: 0 });
        Self { runner, max_parallel: max_parallel.max(1), state, freed: Condvar::new() }
    }

    /// Runs `job` on this thread, once fewer than the maximum run.
    pub(crate) fn run(
        &self,
        job: &Job,
        may_reuse: bool,
        cancellation: &CancellationToken,
    ) -> Result<Outcome, RunError> {
        let mut slot = self.take_slot(job, cancellation).ok_or_else(RunError::cancelled)?;
        if !may_reuse {
            slot = R::Slot::default();
        }
        let outcome = catch_panic(&mut slot, |slot| {
            let outcome = self.runner.run(slot, job, cancellation)?;
            self.runner.reset(slot);
            Ok(outcome)
        });
        self.return_slot(slot);
        outcome
    }

    /// Makes the slots that no job has needed yet, at once. One that cannot be made is left to the job that needs it.
    pub(crate) fn fill(&self, make: impl Fn(&R) -> Option<R::Slot> + Sync)
    where
        R: Sync,
        R::Slot: Send,
    {
        let missing = {
            let state = self.lock();
            self.max_parallel.saturating_sub(state.in_use + state.idle.len())
        };
        std::thread::scope(|scope| {
            for _ in 0..missing {
                scope.spawn(|| {
                    let made = make(&self.runner);
                    self.lock().idle.extend(made);
                });
            }
        });
    }

    /// Drops the idle slots and returns the runner, while no job runs.
    pub(crate) fn clear_idle(&mut self) -> &mut R {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).idle.clear();
        &mut self.runner
    }

    fn lock(&self) -> MutexGuard<'_, Slots<R::Slot>> {
        // No code under this lock can leave the state inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A slot, once there is one; `None` if the job is cancelled first. Where none suits the job, it is a new one, in place of the oldest if there
    /// are as many as may be.
    fn take_slot(&self, job: &Job, cancellation: &CancellationToken) -> Option<R::Slot> {
        let full = |state: &Slots<R::Slot>| state.in_use >= self.max_parallel;
        let mut state = wait_while(self.lock(), &self.freed, cancellation, full)?;
        state.in_use += 1;
        if let Some(at) = state.idle.iter().rposition(|slot| self.runner.suits(slot, job)) {
            return Some(state.idle.remove(at));
        }
        if state.in_use + state.idle.len() > self.max_parallel {
            state.idle.remove(0);
        }
        Some(R::Slot::default())
    }

    fn return_slot(&self, slot: R::Slot) {
        let mut state = self.lock();
        state.in_use -= 1;
        state.idle.push(slot);
        drop(state);
        self.freed.notify_one();
    }
}

/// Runs jobs in this process, on the caller's thread: a guest has a stack of its own ([`crate::stacks`]), and waking another thread would take
/// as long as a short job.
pub(crate) struct InProcessRunner {
    image: Arc<Image>,
    reset_mode: ResetMode,
    layers: Layers,
    states: KeptStates,
    profiler: Option<Profiler>,
}

/// An instance for the job and one for its callee or interactor. Each is made when first needed.
#[derive(Default)]
pub(crate) struct Instances {
    guest: Option<GuestInstance>,
    callee: Option<GuestInstance>,
    /// Those that the last job ran in, until they are reset.
    used: (Option<GuestInstance>, Option<GuestInstance>),
    begun: Option<Instant>,
}

impl InProcessRunner {
    pub(crate) fn new(image: Arc<Image>, reset_mode: ResetMode, layers: Layers) -> Self {
        Self { image, reset_mode, layers, states: KeptStates::default(), profiler: None }
    }

    fn take_or_make(
        &self,
        kept: &mut Option<GuestInstance>,
        base: Option<&Arc<Tree>>,
        cancellation: &CancellationToken,
    ) -> Result<GuestInstance, HostFault> {
        let mut guest = kept.take().map_or_else(|| GuestInstance::new(&self.image), Ok)?;
        guest.set_base(base.map(Arc::clone));
        guest.set_cancellation(cancellation.clone());
        Ok(guest)
    }

    pub(crate) fn set_layers(&mut self, layers: Layers) {
        self.layers = layers;
    }

    pub(crate) fn set_profiler(&mut self, profiler: Profiler) {
        self.profiler = Some(profiler);
    }
}

impl Runner for InProcessRunner {
    type Slot = Instances;

    fn run(&self, slot: &mut Instances, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, RunError> {
        slot.begun = self.profiler.is_some().then(Instant::now);
        let tree = |callee: Option<&Callee>| {
            job.base.as_ref().map(|base| self.layers.get_tree(&self.image.base_tree, base, callee)).transpose()
        };
        let mut guest = self.take_or_make(&mut slot.guest, tree(None)?.as_ref(), cancellation)?;
        let callee = match (&job.callee, &job.interactor) {
            (Some(callee), _) => {
                Some(self.take_or_make(&mut slot.callee, tree(Some(callee))?.as_ref(), cancellation)?)
            }
            (None, Some(_)) => Some(self.take_or_make(&mut slot.callee, None, cancellation)?),
            (None, None) => None,
        };
        let (outcome, callee) = guest.run(job, callee, &self.states)?;
        slot.used = (Some(guest), callee);
        Ok(outcome)
    }

    fn reset(&self, slot: &mut Instances) {
        let mut spent = JobProfile { jobs: 1, ..JobProfile::default() };
        let mut fresh = |mut used: GuestInstance| {
            let is_reset = used.reset(self.reset_mode);
            spent += used.take_spent();
            is_reset.then_some(used)
        };
        let (guest, callee) = std::mem::take(&mut slot.used);
        slot.guest = guest.and_then(&mut fresh).or(slot.guest.take());
        slot.callee = callee.and_then(fresh).or(slot.callee.take());
        if let (Some(profiler), Some(begun)) = (&self.profiler, slot.begun) {
            profiler.add(JobProfile { total_ns: nanoseconds_since(begun), ..spent });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use veriplay_core::Exit;

    use super::*;

    /// Runs each job until the test ends it.
    struct Held {
        begun: Sender<()>,
        end: Mutex<Receiver<()>>,
    }

    impl Runner for Held {
        type Slot = ();

        fn run(&self, _slot: &mut (), _job: &Job, _cancellation: &CancellationToken) -> Result<Outcome, RunError> {
            self.begun.send(()).unwrap();
            self.end.lock().unwrap().recv().unwrap();
            Ok(Outcome::new(Exit::Returned))
        }
    }

    #[test]
    fn a_job_that_waits_for_a_slot_ends_when_it_is_cancelled_and_takes_none() {
        let ((begun, has_begun), (end, ends)) = (channel(), channel());
        let pool = Pool::new(Held { begun, end: Mutex::new(ends) }, 1, Vec::new());
        let (job, token) = (Job::script("pass"), CancellationToken::new());
        let (first, second) = std::thread::scope(|scope| {
            let first = scope.spawn(|| pool.run(&job, true, &CancellationToken::new()));
            has_begun.recv().unwrap();
            let second = scope.spawn(|| pool.run(&job, true, &token));
            token.cancel();
            let second = second.join().unwrap();
            end.send(()).unwrap();
            (first.join().unwrap(), second)
        });
        assert_eq!((first.is_ok(), second), (true, Err(RunError::cancelled())));
        end.send(()).unwrap();
        assert!(pool.run(&job, true, &CancellationToken::new()).is_ok());
    }
}

//! Threads that run guests: each has a deep stack and keeps one instance, so that a job usually finds one ready.
//!
//! A guest runs on its own thread and not on the caller's, whose stack may be too small, and a panic of ours in there
//! costs a worker and not the caller. Workers are handed out last-in first-out, so that few jobs keep few instances warm.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use veriplay_core::{Job, Outcome};

use crate::guest::{Fault, Guest};
use crate::image::{Image, THREAD_STACK};
use crate::memory::ResetMode;
use crate::weakness::Weakened;

type Reply = std::sync::mpsc::SyncSender<Result<Outcome, Fault>>;

struct Order {
    job: Job,
    /// Whether an instance that is already there may be used.
    may_reuse: bool,
    reply: Reply,
}

struct Worker {
    orders: Sender<Order>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct State {
    idle: Vec<Worker>,
    started: usize,
}

/// The workers of one sandbox.
pub(crate) struct Pool {
    image: Arc<Image>,
    reset: ResetMode,
    max_workers: usize,
    weakened: Weakened,
    state: Mutex<State>,
    freed: Condvar,
}

impl Pool {
    pub(crate) fn new(image: Arc<Image>, reset: ResetMode, max_workers: usize, weakened: Weakened) -> Self {
        let state = Mutex::new(State::default());
        Self { image, reset, max_workers: max_workers.max(1), weakened, state, freed: Condvar::new() }
    }

    /// Runs `job` on a worker, waiting for one if all are busy.
    ///
    /// # Errors
    /// A fault of ours.
    pub(crate) fn run(&self, job: &Job, may_reuse: bool) -> Result<Outcome, Fault> {
        let worker = self.take()?;
        let (reply, answer) = sync_channel(1);
        let sent = worker.orders.send(Order { job: job.clone(), may_reuse, reply });
        let outcome = answer.recv();
        match (sent, outcome) {
            (Ok(()), Ok(outcome)) => {
                self.put(Some(worker));
                outcome
            }
            _ => {
                self.put(None);
                Err("a worker thread died".to_owned())
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // Nothing under this lock can leave the state half-changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Result<Worker, Fault> {
        let mut state = self.lock();
        loop {
            if let Some(worker) = state.idle.pop() {
                return Ok(worker);
            }
            if state.started < self.max_workers {
                let worker = start(Arc::clone(&self.image), self.reset, self.weakened.clone())?;
                state.started += 1;
                return Ok(worker);
            }
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives a worker back, or says that it is lost.
    fn put(&self, worker: Option<Worker>) {
        let mut state = self.lock();
        match worker {
            Some(worker) => state.idle.push(worker),
            None => state.started -= 1,
        }
        drop(state);
        self.freed.notify_one();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for Worker { orders, thread } in state.idle.drain(..) {
            drop(orders);
            // A worker that panicked has told its caller already.
            let _ = thread.join();
        }
    }
}

fn start(image: Arc<Image>, reset: ResetMode, weakened: Weakened) -> Result<Worker, Fault> {
    let (orders, received) = channel();
    let thread = std::thread::Builder::new()
        .name("veriplay-guest".to_owned())
        .stack_size(THREAD_STACK)
        .spawn(move || {
            weakened.enter();
            serve(&image, reset, &received);
        })
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    Ok(Worker { orders, thread })
}

/// The life of a worker. Instances are reset after the answer is sent: the caller need not wait for that. The second one
/// is made when the first job with a peer comes.
fn serve(image: &Arc<Image>, reset: ResetMode, orders: &Receiver<Order>) {
    let (mut guest, mut second): (Option<Guest>, Option<Guest>) = (None, None);
    for Order { job, may_reuse, reply } in orders {
        if !may_reuse {
            (guest, second) = (None, None);
        }
        let mut ran = (None, None);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let ready = |kept: &mut Option<Guest>| kept.take().map_or_else(|| Guest::new(image), Ok);
            let mut instance = ready(&mut guest)?;
            let peer = job.peer.as_ref().map(|_| ready(&mut second)).transpose()?;
            let (outcome, peer) = instance.run(&job, peer)?;
            ran = (Some(instance), peer);
            Ok(outcome)
        }));
        // A caller that has gone away needs no answer.
        let _ = reply.send(outcome.unwrap_or_else(|_| Err("a host function panicked".to_owned())));
        let fresh = |used: Option<Guest>| used.and_then(|mut guest| guest.reset(reset).then_some(guest));
        guest = fresh(ran.0);
        second = fresh(ran.1).or(second);
    }
}

//! Ends guests by the clock, from outside: a thread that looks at all that run every few milliseconds.
//!
//! Fuel ends programs. The wall-clock deadline only ends work that fuel underestimates, and jobs with more fuel than time; and a job can be
//! cancelled, or lose the process that asked for it. A guest cannot look for that itself at no cost: epochs would add a second check to every loop and
//! function (measured: 13 % of a CPU-bound job), and a call of the host in every loop made those a tenth slower. So it asks for nothing while it
//! runs, and its [fuel](crate::fuel) no longer suffices when it must end.

use std::sync::{Barrier, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use veriplay_core::CancellationToken;

use crate::fuel::Gauge;
use crate::parent_process::{is_orphan, parent_calls};

const TICK: Duration = Duration::from_millis(5);
/// After how many looks at nothing it sleeps until it is woken, which costs the next guest a system call.
const IDLE_TICKS: u32 = 200;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    started: Instant,
    limit: Duration,
}

impl Deadline {
    /// `ns` nanoseconds from now.
    pub(crate) fn after(ns: u64) -> Self {
        Self { started: Instant::now(), limit: Duration::from_nanos(ns) }
    }

    /// Nanoseconds since the turn began.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn has_passed(&self) -> bool {
        self.started.elapsed() > self.limit
    }
}

/// Why a guest must end before its fuel is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndReason {
    Deadline,
    Cancelled,
    /// The process that asked for the job has died.
    Orphaned,
}

struct WatchedTurn {
    id: u64,
    deadline: Deadline,
    cancellation: CancellationToken,
    gauge: Gauge,
    ended: Option<EndReason>,
}

impl WatchedTurn {
    /// Ends the turn where it must end; `parent` is what the parent of this process has to do with it.
    fn look(&mut self, parent: Option<EndReason>) {
        self.ended = match parent {
            _ if self.cancellation.is_cancelled() => Some(EndReason::Cancelled),
            Some(reason) => Some(reason),
            None => self.deadline.has_passed().then_some(EndReason::Deadline),
        };
        if self.ended.is_some() {
            // SAFETY: the turn is in the list, so its watch lives, and with it the store, as whoever made the watch promised.
            unsafe { self.gauge.interrupt() };
        }
    }
}

struct Turns {
    running: Vec<WatchedTurn>,
    next_id: u64,
    watched: bool,
    asleep: bool,
}

static TURNS: Mutex<Turns> = Mutex::new(Turns { running: Vec::new(), next_id: 0, watched: false, asleep: false });
static WAKE: Condvar = Condvar::new();

fn lock_turns() -> MutexGuard<'static, Turns> {
    TURNS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turns {
    fn start_thread(&mut self) -> Result<(), String> {
        static BEGUN: Barrier = Barrier::new(2);
        if self.watched {
            return Ok(());
        }
        let look_on = || {
            BEGUN.wait();
            look_for_ever()
        };
        let thread = thread::Builder::new().name("watchdog".to_owned()).spawn(look_on);
        thread.map_err(|error| format!("cannot start the thread that watches deadlines: {error}"))?;
        BEGUN.wait();
        self.watched = true;
        Ok(())
    }

    fn take(&mut self, id: u64) -> Option<WatchedTurn> {
        let at = self.running.iter().position(|turn| turn.id == id)?;
        Some(self.running.swap_remove(at))
    }
}

/// Starts the thread, unless it runs already. When this returns, it makes no system calls but those of locks, the clock, and the questions
/// for its parent.
pub(crate) fn start() -> Result<(), String> {
    lock_turns().start_thread()
}

fn look_for_ever() {
    let mut turns = lock_turns();
    let mut idle = 0;
    loop {
        idle = if turns.running.is_empty() { idle + 1 } else { 0 };
        if idle > IDLE_TICKS {
            turns.asleep = true;
            turns = WAKE.wait_while(turns, |turns| turns.asleep).unwrap_or_else(PoisonError::into_inner);
            idle = 0;
        } else {
            turns = WAKE.wait_timeout(turns, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
        if !turns.running.is_empty() {
            let parent = match (is_orphan(), parent_calls()) {
                (true, _) => Some(EndReason::Orphaned),
                (false, true) => Some(EndReason::Cancelled),
                (false, false) => None,
            };
            turns.running.iter_mut().for_each(|turn| turn.look(parent));
        }
    }
}

/// A turn that is being watched. It is not when this is dropped.
#[must_use]
pub(crate) struct Watch(u64);

/// Watches a turn of the guest with that gauge.
///
/// # Safety
/// The guest's store outlives the watch.
pub(crate) unsafe fn watch(gauge: Gauge, deadline: Deadline, cancellation: CancellationToken) -> Result<Watch, String> {
    let mut turns = lock_turns();
    turns.start_thread()?;
    let id = turns.next_id;
    turns.next_id += 1;
    turns.running.push(WatchedTurn { id, deadline, cancellation, gauge, ended: None });
    if turns.asleep {
        turns.asleep = false;
        WAKE.notify_one();
    }
    Ok(Watch(id))
}

impl Watch {
    /// Ends it; returns why the guest had to end, if it had to.
    pub(crate) fn end(&self) -> Option<EndReason> {
        lock_turns().take(self.0).and_then(|turn| turn.ended)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

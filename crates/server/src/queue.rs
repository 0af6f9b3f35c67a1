//! The queue in front of the judge threads: bounded, fair between clients, and open to short work while long work runs.
//!
//! Each client has a ring of its requests, and there is a ring of clients ([`rings`]). A free worker takes one piece of work from the next request of
//! the next client, so a client with 100,000 attempts delays another's one by at most one piece a worker.
//!
//! Where every worker has been at its piece for a while ([`FirstSlices::patience`]), spare threads give new pieces a first slice: what ends in it is
//! done, and what does not waits among the outgrown ones, which only workers take, in turns with new ones, and run from the start. So programs without
//! end do not keep short ones from their answers, and a piece loses one slice at most. The host's own part of a piece, such as reading a large value,
//! is not cut off by the slice, so spare threads take pieces of a request that has outgrown one only where no other request waits. Invariants:
//! - pieces of a request start in their order; a request that is dropped loses the pieces that do not run;
//! - a [`Admission::Bounded`] request enters whole or not at all, and one client never holds more than half of the room;
//! - of a [`Admission::Always`] request one piece is in the queue, and more as far as there is room: the others wait with it, and enter as pieces start.
//!   So no more pieces are in the queue than its bound, one for each such request, and one for each spare thread;
//! - after [`Queue::close`] nothing new starts, and waiting pieces are dropped.

mod rings;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use veriplay_core::CancellationToken;

use self::rings::{QueuedRequest, Rings};
use crate::client::ClientKey;

/// One piece of work: it judges and reports by itself.
pub(crate) type Piece = Box<dyn FnMut(Turn) -> Progress + Send>;

/// How long a piece may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// As long as it takes.
    Whole,
    /// For its first slice: so long at most.
    Slice(Duration),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It has reported, or nobody waits for it.
    Done,
    /// It did not end in its slice, and must run again from the start.
    Outgrown,
}

/// When new work runs beside workers that are all at long work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstSlices {
    /// Threads that give first slices. Each needs a place in the sandbox, as a worker does.
    pub spares: usize,
    /// How long every worker must have been at its piece.
    pub patience: Duration,
    /// How long a slice is.
    pub length: Duration,
}

impl FirstSlices {
    /// For so many workers: a spare thread for four of them.
    #[must_use]
    pub const fn beside(workers: usize) -> Self {
        Self { spares: workers.div_ceil(4), ..Self::none() }
    }

    /// No spare thread: new work waits for a worker, whatever that runs.
    #[must_use]
    pub const fn none() -> Self {
        Self { spares: 0, patience: Duration::from_secs(1), length: Duration::from_millis(50) }
    }
}

/// Whether the bound holds for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is refused where there is no room.
    Bounded,
    /// Its endpoint must not refuse it. The number of connections bounds such requests, and the room for bodies what they hold.
    Always,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QueueFull {
    /// The request alone is larger than one client's share.
    #[error("the request has {pieces} attempts, and one client may have {share} waiting")]
    TooLarge {
        pieces: usize,
        /// The most that one client may have waiting.
        share: usize,
    },
    #[error(
        "{waiting} attempts wait, {mine} of them of this client; the queue takes {capacity}, and {share} of one client"
    )]
    Busy {
        waiting: usize,
        mine: usize,
        /// The most that may wait.
        capacity: usize,
        /// The most that one client may have waiting.
        share: usize,
    },
    #[error("the service is stopping")]
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfinished {
    Full(QueueFull),
    Deadline,
    Stopped,
    Lost,
}

/// A queue that threads serve. Clones share it.
#[derive(Clone)]
pub(crate) struct Queue {
    shared: Arc<Shared>,
}

struct Shared {
    slices: FirstSlices,
    state: Mutex<State>,
    work: Condvar,
    new_work: Condvar,
}

#[derive(Default)]
struct State {
    capacity: usize,
    /// Pieces that have not run.
    new: Rings,
    /// Pieces that have outgrown their first slice.
    outgrown: Rings,
    /// Whether the last piece that a worker took had outgrown its slice.
    took_outgrown: bool,
    /// Of each worker when it began the piece that it runs.
    begun: Vec<Option<Instant>>,
    /// Spare threads that wait without a time limit.
    spares_asleep: usize,
    running: usize,
    next_id: u64,
    cancelled: u64,
    closed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueLoad {
    pub(crate) waiting: usize,
    pub(crate) running: usize,
    pub(crate) cancelled: u64,
}

/// A piece that a thread has taken, and whose it is.
struct TakenPiece {
    client: ClientKey,
    request: u64,
    piece: Piece,
}

/// A request in the queue. Dropping it cancels its pieces: those that have not started, and those that run by its token.
pub(crate) struct Ticket {
    shared: Arc<Shared>,
    client: ClientKey,
    id: u64,
    running: CancellationToken,
}

impl Queue {
    pub(crate) fn new(capacity: usize, slices: FirstSlices) -> Self {
        let state = Mutex::new(State { capacity: capacity.max(1), ..State::default() });
        Self { shared: Arc::new(Shared { slices, state, work: Condvar::new(), new_work: Condvar::new() }) }
    }

    /// Puts the pieces of a request into the queue, or the first of them.
    pub(crate) fn submit(
        &self,
        client: ClientKey,
        pieces: VecDeque<Piece>,
        admission: Admission,
    ) -> Result<Ticket, QueueFull> {
        let count = pieces.len();
        let mut state = self.shared.lock();
        if state.closed {
            return Err(QueueFull::Closed);
        }
        let queued = match admission {
            Admission::Bounded => state.check_room(&client, count).map(|()| count)?,
            Admission::Always => state.room(&client).max(1).min(count),
        };
        let id = state.next_id;
        state.next_id += 1;
        state.new.push(client.clone(), QueuedRequest { id, pieces, queued, is_long: false });
        let wakes_spare = state.spares_asleep > 0 && state.are_all_busy();
        drop(state);
        if count == 1 {
            self.shared.work.notify_one()
        } else {
            self.shared.work.notify_all()
        }
        if wakes_spare {
            self.shared.new_work.notify_all();
        }
        Ok(Ticket { shared: Arc::clone(&self.shared), client, id, running: CancellationToken::new() })
    }

    pub(crate) fn share(&self) -> usize {
        self.shared.lock().share()
    }

    pub(crate) fn capacity(&self) -> usize {
        self.shared.lock().capacity
    }

    pub(crate) fn load(&self) -> QueueLoad {
        let state = self.shared.lock();
        QueueLoad { waiting: state.waiting(), running: state.running, cancelled: state.cancelled }
    }

    pub(crate) fn count_cancelled(&self) {
        self.shared.lock().cancelled += 1;
    }

    /// Drops what waits; the threads end after what they run.
    pub(crate) fn close(&self) {
        let mut state = self.shared.lock();
        state.closed = true;
        let dropped = (std::mem::take(&mut state.new), std::mem::take(&mut state.outgrown));
        drop(state);
        drop(dropped);
        self.shared.work.notify_all();
        self.shared.new_work.notify_all();
    }

    /// Starts `workers` threads that serve the queue until it is closed, and the spare ones.
    pub(crate) fn start_threads(&self, workers: usize) -> std::io::Result<Vec<JoinHandle<()>>> {
        self.shared.lock().begun = vec![None; workers];
        let mut threads = Vec::new();
        for index in 0..workers {
            let queue = self.clone();
            let name = format!("judge-{index}");
            threads.push(std::thread::Builder::new().name(name).spawn(move || queue.run_whole_pieces(index))?);
        }
        for index in 0..self.shared.slices.spares {
            let queue = self.clone();
            let name = format!("judge-spare-{index}");
            threads.push(std::thread::Builder::new().name(name).spawn(move || queue.run_first_slices())?);
        }
        Ok(threads)
    }

    fn run_whole_pieces(&self, worker: usize) {
        while let Some(taken) = self.next_for_worker(worker) {
            self.run(taken, Turn::Whole);
        }
    }

    fn run_first_slices(&self) {
        while let Some(taken) = self.next_for_spare() {
            self.run(taken, Turn::Slice(self.shared.slices.length));
        }
    }

    fn run(&self, taken: TakenPiece, turn: Turn) {
        let TakenPiece { client, request, mut piece } = taken;
        // A piece reports its result by a channel, which a panic closes: the request sees it.
        let progress = catch_unwind(AssertUnwindSafe(|| piece(turn)));
        if progress.is_err() {
            tracing::error!("a judge thread panicked; its attempt has no verdict");
        }
        let mut state = self.shared.lock();
        state.running -= 1;
        // One that had all the time and has no result was ended from elsewhere, and is dropped.
        if matches!(progress, Ok(Progress::Outgrown)) && turn != Turn::Whole && !state.closed {
            state.new.mark_long(&client, request);
            state.outgrown.push_piece(client, request, piece);
            drop(state);
            self.shared.work.notify_one();
        }
    }

    /// Waits for the next piece of a worker; `None` once the queue is closed.
    fn next_for_worker(&self, worker: usize) -> Option<TakenPiece> {
        let mut state = self.shared.lock();
        state.begun[worker] = None;
        loop {
            if let Some(piece) = state.take_for_worker() {
                state.begun[worker] = Some(Instant::now());
                if state.spares_asleep > 0 && !state.new.is_empty() && state.are_all_busy() {
                    self.shared.new_work.notify_all();
                }
                return Some(piece);
            }
            if state.closed {
                return None;
            }
            state = self.shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for a new piece that no worker takes in time; `None` once the queue is closed.
    fn next_for_spare(&self) -> Option<TakenPiece> {
        let mut state = self.shared.lock();
        while !state.closed {
            match state.time_to_spare(self.shared.slices.patience) {
                Some(Duration::ZERO) => return state.take_for_spare(),
                Some(left) => {
                    let waited = self.shared.new_work.wait_timeout(state, left);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                None => {
                    state.spares_asleep += 1;
                    state = self.shared.new_work.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.spares_asleep -= 1;
                }
            }
        }
        None
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code under this lock can leave the state inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn share(&self) -> usize {
        self.capacity.div_ceil(2)
    }

    fn waiting(&self) -> usize {
        self.new.waiting() + self.outgrown.waiting()
    }

    fn mine(&self, client: &ClientKey) -> usize {
        self.new.waiting_of(client) + self.outgrown.waiting_of(client)
    }

    fn room(&self, client: &ClientKey) -> usize {
        let own = self.share().saturating_sub(self.mine(client));
        own.min(self.capacity.saturating_sub(self.waiting()))
    }

    fn check_room(&self, client: &ClientKey, pieces: usize) -> Result<(), QueueFull> {
        let (capacity, waiting) = (self.capacity, self.waiting());
        let (share, mine) = (self.share(), self.mine(client));
        if pieces > share {
            return Err(QueueFull::TooLarge { pieces, share });
        }
        match pieces > self.room(client) {
            true => Err(QueueFull::Busy { waiting, mine, capacity, share }),
            false => Ok(()),
        }
    }

    fn are_all_busy(&self) -> bool {
        self.begun.iter().all(Option::is_some)
    }

    /// How long until a spare thread may take a new piece; `None` while none waits, or a worker is free.
    fn time_to_spare(&self, patience: Duration) -> Option<Duration> {
        if self.new.is_empty() {
            return None;
        }
        let latest = self.begun.iter().copied().collect::<Option<Vec<Instant>>>()?.into_iter().max()?;
        Some((latest + patience).saturating_duration_since(Instant::now()))
    }

    /// New pieces and outgrown ones in turns.
    fn take_for_worker(&mut self) -> Option<TakenPiece> {
        self.took_outgrown = !self.outgrown.is_empty() && (!self.took_outgrown || self.new.is_empty());
        if self.took_outgrown { self.take_outgrown() } else { self.take_new() }
    }

    fn take_outgrown(&mut self) -> Option<TakenPiece> {
        let (client, mut request) = self.outgrown.pop()?;
        let piece = request.pieces.pop_front()?;
        self.running += 1;
        let id = request.id;
        request.queued -= 1;
        self.outgrown.push(client.clone(), request);
        Some(TakenPiece { client, request: id, piece })
    }

    /// A new piece, of a request that may be short if there is one.
    fn take_for_spare(&mut self) -> Option<TakenPiece> {
        let (client, request) = self.new.pop_short().or_else(|| self.new.pop())?;
        self.take_first(client, request)
    }

    fn take_new(&mut self) -> Option<TakenPiece> {
        let (client, request) = self.new.pop()?;
        self.take_first(client, request)
    }

    /// Takes the first piece of a request; with it others of its request may enter.
    fn take_first(&mut self, client: ClientKey, mut request: QueuedRequest) -> Option<TakenPiece> {
        let piece = request.pieces.pop_front()?;
        self.running += 1;
        let id = request.id;
        let left = request.queued - 1;
        let room = self.room(&client).saturating_sub(left);
        request.queued = (left + room).max(1).min(request.pieces.len());
        self.new.push(client.clone(), request);
        Some(TakenPiece { client, request: id, piece })
    }

    fn cancel(&mut self, client: &ClientKey, id: u64) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = self.new.remove(client, id).into();
        pieces.extend(self.outgrown.remove(client, id));
        self.cancelled += pieces.len() as u64;
        pieces
    }
}

impl Ticket {
    /// The same ticket, for pieces that end soon after `running` is cancelled.
    pub(crate) fn with_token(mut self, running: CancellationToken) -> Self {
        self.running = running;
        self
    }

    /// Drops the pieces that have not started, and cancels those that run.
    pub(crate) fn cancel(&self) {
        self.running.cancel();
        let cancelled = self.shared.lock().cancel(&self.client, self.id);
        // Outside of the lock: a piece holds a request's texts.
        drop(cancelled);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.cancel();
    }
}

//! The queue in front of the judge threads: bounded, fair between clients, and open to short work while long work runs.
//!
//! Each client has a ring of its requests, and there is a ring of clients ([`rings`]). A free worker takes one piece of work from the next request of
//! the next client, so a client with 100,000 attempts delays another's one by at most one piece a worker.
//!
//! Where every worker has been at its piece for a while ([`FirstSlices::patience`]), spare threads give new pieces a first slice: what ends in it is
//! done, and what does not waits among the outgrown ones, which only workers take, in turns with new ones, and run from the start. So programs without
//! end do not keep short ones from their answers, and a piece loses one slice at most. Invariants:
//! - pieces of a request start in their order; a request that is dropped loses the pieces that do not run;
//! - a [`Admission::Bounded`] request enters whole or not at all, and one client never holds more than half of the room;
//! - of a [`Admission::Always`] request one piece is in the queue, and more as far as there is room: the others wait with it, and enter as pieces start.
//!   So no more pieces are in the queue than its bound, one for each such request, and one for each spare thread;
//! - after [`Queue::close`] nothing new starts, and waiting pieces are dropped.

mod rings;

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

/// How far a piece has come.
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

/// There is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QueueFull {
    /// The request alone is larger than one client's share.
    #[error("the request has {pieces} attempts, and one client may have {share} waiting")]
    TooLarge {
        /// Pieces of the request.
        pieces: usize,
        /// The most that one client may have waiting.
        share: usize,
    },
    /// Others wait already.
    #[error(
        "{waiting} attempts wait, {mine} of them of this client; the queue takes {capacity}, and {share} of one client"
    )]
    Busy {
        /// Pieces that wait.
        waiting: usize,
        /// Those of this client.
        mine: usize,
        /// The most that may wait.
        capacity: usize,
        /// The most that one client may have waiting.
        share: usize,
    },
    /// The queue is closed.
    #[error("the service is stopping")]
    Closed,
}

/// Why work has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// There was no room in the queue.
    Full(QueueFull),
    /// The deadline passed first.
    Deadline,
    /// The service stopped first.
    Stopped,
    /// A judge thread panicked.
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
    /// Wakes workers.
    work: Condvar,
    /// Wakes spare threads.
    new_work: Condvar,
}

#[derive(Default)]
struct State {
    /// The most pieces that may wait.
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

/// What the queue holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueLoad {
    /// Pieces that wait.
    pub(crate) waiting: usize,
    /// Pieces that run.
    pub(crate) running: usize,
    /// Pieces that were cancelled, ever.
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
    ///
    /// # Errors
    /// There is no room.
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
        state.new.push(client.clone(), QueuedRequest { id, pieces, queued });
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

    /// The most pieces that one client may have waiting.
    pub(crate) fn share(&self) -> usize {
        self.shared.lock().share()
    }

    /// The most pieces that may wait.
    pub(crate) fn capacity(&self) -> usize {
        self.shared.lock().capacity
    }

    pub(crate) fn load(&self) -> QueueLoad {
        let state = self.shared.lock();
        QueueLoad { waiting: state.waiting(), running: state.running, cancelled: state.cancelled }
    }

    /// Counts a piece that was cancelled while it ran.
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
    ///
    /// # Errors
    /// A thread cannot be started.
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

    /// What a worker does.
    fn run_whole_pieces(&self, worker: usize) {
        while let Some(taken) = self.next_for_worker(worker) {
            self.run(taken, Turn::Whole);
        }
    }

    /// What a spare thread does.
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
            state.outgrown.push(client, QueuedRequest { id: request, pieces: VecDeque::from([piece]), queued: 1 });
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
                Some(Duration::ZERO) => return state.take_new(),
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

    /// Pieces in the queue.
    fn waiting(&self) -> usize {
        self.new.waiting() + self.outgrown.waiting()
    }

    /// Pieces of a client in the queue.
    fn mine(&self, client: &ClientKey) -> usize {
        self.new.waiting_of(client) + self.outgrown.waiting_of(client)
    }

    /// How many pieces of a client may enter.
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

    /// Whether no worker is free.
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

    /// Takes a new piece; with it others of its request may enter.
    fn take_new(&mut self) -> Option<TakenPiece> {
        let (client, mut request) = self.new.pop()?;
        let piece = request.pieces.pop_front()?;
        self.running += 1;
        let id = request.id;
        let left = request.queued - 1;
        let room = self.room(&client).saturating_sub(left);
        request.queued = (left + room).max(1).min(request.pieces.len());
        self.new.push(client.clone(), request);
        Some(TakenPiece { client, request: id, piece })
    }

    /// Removes what waits of a request.
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn client(name: &str) -> ClientKey {
        ClientKey::named(name)
    }

    /// A queue whose spare thread waits for nothing and gives slices of no length.
    fn new_queue(capacity: usize) -> Queue {
        Queue::new(capacity, FirstSlices { spares: 1, patience: Duration::ZERO, length: Duration::ZERO })
    }

    /// Pieces that report their number.
    fn pieces(report: &mpsc::Sender<u32>, numbers: impl IntoIterator<Item = u32>) -> VecDeque<Piece> {
        let piece = |number| {
            let report = report.clone();
            let piece = move |_| {
                report.send(number).expect("the test listens");
                Progress::Done
            };
            Box::new(piece) as Piece
        };
        numbers.into_iter().map(piece).collect()
    }

    /// Runs what waits on this thread.
    fn run_all(queue: &Queue) {
        loop {
            let Some(taken) = queue.shared.lock().take_for_worker() else { return };
            queue.run(taken, Turn::Whole);
        }
    }

    #[test]
    fn a_client_with_much_work_does_not_delay_another() {
        let (queue, (report, seen)) = (new_queue(1 << 20), mpsc::channel());
        let much = queue.submit(client("a"), pieces(&report, 0..100_000), Admission::Bounded).expect("there is room");
        let one = queue.submit(client("b"), pieces(&report, [200_000]), Admission::Bounded).expect("there is room");
        run_all(&queue);
        let order: Vec<u32> = seen.try_iter().collect();
        assert_eq!(order[..3], [0, 200_000, 1]);
        assert_eq!(order.len(), 100_001);
        drop((much, one));
        assert_eq!(queue.load(), QueueLoad { waiting: 0, running: 0, cancelled: 0 });
    }

    #[test]
    fn requests_of_one_client_take_turns_and_keep_their_order() {
        let (queue, (report, seen)) = (new_queue(100), mpsc::channel());
        let first = queue.submit(client("a"), pieces(&report, 0..3), Admission::Bounded).expect("there is room");
        let second = queue.submit(client("a"), pieces(&report, 10..12), Admission::Bounded).expect("there is room");
        run_all(&queue);
        assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0, 10, 1, 11, 2]);
        drop((first, second));
    }

    #[test]
    fn a_request_that_is_dropped_loses_what_has_not_started() {
        let (queue, (report, seen)) = (new_queue(100), mpsc::channel());
        let gone = queue.submit(client("a"), pieces(&report, 0..5), Admission::Bounded).expect("there is room");
        let kept = queue.submit(client("b"), pieces(&report, 10..12), Admission::Bounded).expect("there is room");
        (queue.shared.lock().take_for_worker().expect("a piece waits").piece)(Turn::Whole);
        drop(gone);
        assert_eq!(queue.load(), QueueLoad { waiting: 2, running: 1, cancelled: 4 });
        run_all(&queue);
        assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0, 10, 11]);
        drop(kept);
    }

    #[test]
    fn room_is_bounded_for_all_and_for_each_client() {
        let (queue, (report, _seen)) = (new_queue(10), mpsc::channel());
        let submit = |name, count, admission| queue.submit(client(name), pieces(&report, 0..count), admission);
        assert_eq!(submit("a", 6, Admission::Bounded).err(), Some(QueueFull::TooLarge { pieces: 6, share: 5 }));
        let a = submit("a", 5, Admission::Bounded).expect("half is free");
        let full = |waiting, mine| Some(QueueFull::Busy { waiting, mine, capacity: 10, share: 5 });
        assert_eq!(submit("a", 1, Admission::Bounded).err(), full(5, 5));
        let b = submit("b", 5, Admission::Bounded).expect("the other half is free");
        assert_eq!(submit("c", 1, Admission::Bounded).err(), full(10, 0));
        let always = submit("c", 1, Admission::Always).expect("this endpoint does not refuse");
        assert_eq!(queue.load().waiting, 11);
        drop(a);
        let again = submit("c", 1, Admission::Bounded).expect("a cancelled request makes room");
        drop((b, always, again));
        assert_eq!(queue.load().waiting, 0);
    }

    #[test]
    fn a_request_that_is_not_refused_enters_bit_by_bit() {
        let (queue, (report, seen)) = (new_queue(4), mpsc::channel());
        let many = queue.submit(client("a"), pieces(&report, 0..400), Admission::Always).expect("it is not refused");
        assert_eq!(queue.load().waiting, 2, "its client's half");
        let again =
            queue.submit(client("a"), pieces(&report, 1000..1003), Admission::Always).expect("it is not refused");
        assert_eq!(queue.load().waiting, 3, "one beyond the bound");
        let other = queue.submit(client("b"), pieces(&report, [2000]), Admission::Bounded).expect("there is room");
        // All of them run, in turns, and never more wait than the bound and one for each request that is not refused.
        let mut order = Vec::new();
        while queue.load().waiting > 0 {
            assert!(queue.load().waiting <= 4 + 2);
            let taken = queue.shared.lock().take_for_worker().expect("a piece waits");
            queue.run(taken, Turn::Whole);
            order.extend(seen.try_iter());
        }
        assert_eq!((order.len(), &order[..4]), (404, &[0, 2000, 1000, 1][..]));
        drop((many, again, other));
        assert_eq!(queue.load(), QueueLoad { waiting: 0, running: 0, cancelled: 0 });
    }

    #[test]
    fn a_request_that_is_dropped_loses_what_has_not_entered_too() {
        let (queue, (report, seen)) = (new_queue(2), mpsc::channel());
        let many = queue.submit(client("a"), pieces(&report, 0..400), Admission::Always).expect("it is not refused");
        (queue.shared.lock().take_for_worker().expect("a piece waits").piece)(Turn::Whole);
        drop(many);
        assert_eq!(queue.load(), QueueLoad { waiting: 0, running: 1, cancelled: 399 });
        run_all(&queue);
        assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn closing_drops_what_waits_and_ends_the_threads() {
        let (queue, (report, seen)) = (new_queue(10), mpsc::channel());
        let ticket = queue.submit(client("a"), pieces(&report, 0..3), Admission::Bounded).expect("there is room");
        queue.close();
        for thread in queue.start_threads(2).expect("threads start") {
            thread.join().expect("it ends");
        }
        drop(report);
        assert_eq!(seen.iter().count(), 0);
        assert_eq!(queue.submit(client("a"), VecDeque::new(), Admission::Always).err(), Some(QueueFull::Closed));
        drop(ticket);
    }

    #[test]
    fn a_panic_costs_its_piece_alone() {
        let (queue, (report, seen)) = (new_queue(10), mpsc::channel());
        let mut work = pieces(&report, [1]);
        work.push_front(Box::new(|_| panic!("a bug")));
        let ticket = queue.submit(client("a"), work, Admission::Bounded).expect("there is room");
        let threads = queue.start_threads(1).expect("a thread starts");
        assert_eq!(seen.recv(), Ok(1));
        queue.close();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        drop(ticket);
    }

    /// A piece without end in its first slice, which reports its number when it may run on.
    fn long_piece(report: &mpsc::Sender<u32>, number: u32) -> Piece {
        let report = report.clone();
        Box::new(move |turn| {
            if turn != Turn::Whole {
                return Progress::Outgrown;
            }
            report.send(number).expect("the test listens");
            Progress::Done
        })
    }

    #[test]
    fn long_pieces_do_not_keep_short_ones_waiting_and_all_are_done() {
        let (queue, (report, seen)) = (new_queue(1000), mpsc::channel());
        let (release, held) = mpsc::channel::<()>();
        let holds = Box::new(move |_| {
            let _ = held.recv();
            Progress::Done
        });
        let threads = queue.start_threads(1).expect("threads start");
        let first =
            queue.submit(client("a"), VecDeque::from([holds as Piece]), Admission::Bounded).expect("there is room");
        let long = (0..60).map(|number| long_piece(&report, number)).collect();
        let long = queue.submit(client("a"), long, Admission::Bounded).expect("there is room");
        let short = queue.submit(client("a"), pieces(&report, 100..160), Admission::Bounded).expect("there is room");
        let answered: Vec<u32> = seen.iter().take(60).collect();
        assert_eq!(answered, (100..160).collect::<Vec<_>>(), "while the only worker is held");
        drop(release);
        let answered: Vec<u32> = seen.iter().take(60).collect();
        assert_eq!(answered, (0..60).collect::<Vec<_>>());
        drop((first, long, short));
        queue.close();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        assert_eq!(queue.load(), QueueLoad { waiting: 0, running: 0, cancelled: 0 });
    }

    #[test]
    fn workers_take_new_and_outgrown_pieces_in_turns() {
        let (queue, (report, seen)) = (new_queue(1000), mpsc::channel());
        let long = (0..3).map(|number| long_piece(&report, number)).collect();
        let long = queue.submit(client("a"), long, Admission::Bounded).expect("there is room");
        for _ in 0..3 {
            let taken = queue.shared.lock().take_new().expect("a piece waits");
            queue.run(taken, Turn::Slice(Duration::ZERO));
        }
        let short = queue.submit(client("a"), pieces(&report, 10..15), Admission::Bounded).expect("there is room");
        assert_eq!(queue.load(), QueueLoad { waiting: 8, running: 0, cancelled: 0 });
        run_all(&queue);
        assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0, 10, 1, 11, 2, 12, 13, 14]);
        drop((long, short));
    }

    #[test]
    fn a_request_that_is_dropped_loses_its_outgrown_pieces() {
        let (queue, (report, seen)) = (new_queue(1000), mpsc::channel());
        let long = (0..4).map(|number| long_piece(&report, number)).collect();
        let long = queue.submit(client("a"), long, Admission::Bounded).expect("there is room");
        for _ in 0..2 {
            let taken = queue.shared.lock().take_new().expect("a piece waits");
            queue.run(taken, Turn::Slice(Duration::ZERO));
        }
        let runs = queue.shared.lock().take_new().expect("a piece waits");
        drop(long);
        assert_eq!(queue.load(), QueueLoad { waiting: 0, running: 1, cancelled: 3 });
        queue.run(runs, Turn::Whole);
        assert_eq!(seen.try_iter().collect::<Vec<_>>(), [2]);
    }
}

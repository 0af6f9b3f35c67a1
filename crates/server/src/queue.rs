//! The queue in front of the judge threads: bounded, and fair between clients.
//!
//! Each client has a ring of its requests, and there is a ring of clients. A free thread takes one piece of work from the next request of the
//! next client, so a client with 100,000 attempts delays another's one by at most one piece a thread. Invariants:
//! - pieces of a request start in their order; a request that is dropped loses the pieces that have not started;
//! - a [`Admission::Bounded`] request enters whole or not at all, and one client never holds more than half of the room;
//! - of a [`Admission::Always`] request one piece is in the queue, and more as far as there is room: the others wait with it, and enter as pieces start.
//!   So no more pieces are in the queue than its bound and one for each such request;
//! - after [`Queue::close`] nothing new starts, and waiting pieces are dropped.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use veriplay_core::CancellationToken;

use crate::client::ClientKey;

/// One piece of work: it judges and reports by itself.
pub(crate) type Piece = Box<dyn FnOnce() + Send>;

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
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    /// The most pieces that may wait.
    capacity: usize,
    clients: HashMap<ClientKey, ClientRing>,
    /// Clients with waiting work; the next one first.
    ring: VecDeque<ClientKey>,
    /// Pieces in the queue.
    waiting: usize,
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

/// The requests of one client; the next one first. None is empty.
#[derive(Default)]
struct ClientRing {
    requests: VecDeque<QueuedRequest>,
    waiting: usize,
}

/// What has not started of a request: at least one piece.
struct QueuedRequest {
    id: u64,
    pieces: VecDeque<Piece>,
    /// How many of them are in the queue: at least one.
    queued: usize,
}

/// A request in the queue. Dropping it cancels its pieces: those that have not started, and those that run by its token.
pub(crate) struct Ticket {
    shared: Arc<Shared>,
    client: ClientKey,
    id: u64,
    running: CancellationToken,
}

impl Queue {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = State { capacity: capacity.max(1), ..State::default() };
        Self { shared: Arc::new(Shared { state: Mutex::new(state), work: Condvar::new() }) }
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
        if count > 0 {
            state.waiting += queued;
            let ring = state.clients.entry(client.clone()).or_default();
            ring.waiting += queued;
            ring.requests.push_back(QueuedRequest { id, pieces, queued });
            if ring.requests.len() == 1 {
                state.ring.push_back(client.clone());
            }
        }
        drop(state);
        if count == 1 {
            self.shared.work.notify_one()
        } else {
            self.shared.work.notify_all()
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
        let State { waiting, running, cancelled, .. } = *self.shared.lock();
        QueueLoad { waiting, running, cancelled }
    }

    /// Counts a piece that was cancelled while it ran.
    pub(crate) fn count_cancelled(&self) {
        self.shared.lock().cancelled += 1;
    }

    /// Drops what waits; the threads end after what they run.
    pub(crate) fn close(&self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.waiting = 0;
        state.ring.clear();
        let dropped = std::mem::take(&mut state.clients);
        drop(state);
        drop(dropped);
        self.shared.work.notify_all();
    }

    /// Starts threads that serve the queue until it is closed.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub(crate) fn start_threads(&self, count: usize) -> std::io::Result<Vec<JoinHandle<()>>> {
        let start = |index| {
            let queue = self.clone();
            std::thread::Builder::new().name(format!("judge-{index}")).spawn(move || queue.serve())
        };
        (0..count).map(start).collect()
    }

    fn serve(&self) {
        while let Some(piece) = self.next_piece() {
            // A piece reports its result by a channel, which a panic closes: the request sees it.
            if catch_unwind(AssertUnwindSafe(piece)).is_err() {
                tracing::error!("a judge thread panicked; its attempt has no verdict");
            }
            self.shared.lock().running -= 1;
        }
    }

    /// Waits for the next piece; `None` once the queue is closed.
    fn next_piece(&self) -> Option<Piece> {
        let mut state = self.shared.lock();
        loop {
            if let Some(piece) = state.take_next() {
                return Some(piece);
            }
            if state.closed {
                return None;
            }
            state = self.shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
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

    /// Pieces of a client in the queue.
    fn mine(&self, client: &ClientKey) -> usize {
        self.clients.get(client).map_or(0, |ring| ring.waiting)
    }

    /// How many pieces of a client may enter.
    fn room(&self, client: &ClientKey) -> usize {
        let own = self.share().saturating_sub(self.mine(client));
        own.min(self.capacity.saturating_sub(self.waiting))
    }

    fn check_room(&self, client: &ClientKey, pieces: usize) -> Result<(), QueueFull> {
        let (capacity, waiting) = (self.capacity, self.waiting);
        let (share, mine) = (self.share(), self.mine(client));
        if pieces > share {
            return Err(QueueFull::TooLarge { pieces, share });
        }
        match pieces > self.room(client) {
            true => Err(QueueFull::Busy { waiting, mine, capacity, share }),
            false => Ok(()),
        }
    }

    /// Takes a piece from the next request of the next client, and moves both to the end of their rings.
    fn take_next(&mut self) -> Option<Piece> {
        let client = self.ring.pop_front()?;
        let ring = self.clients.get_mut(&client)?;
        let mut request = ring.requests.pop_front()?;
        let piece = request.pieces.pop_front()?;
        request.queued -= 1;
        ring.waiting -= 1;
        self.waiting -= 1;
        self.running += 1;
        let room = self.room(&client);
        let ring = self.clients.get_mut(&client)?;
        let enter = room.max(usize::from(request.queued == 0)).min(request.pieces.len() - request.queued);
        request.queued += enter;
        ring.waiting += enter;
        self.waiting += enter;
        if !request.pieces.is_empty() {
            ring.requests.push_back(request);
        }
        match ring.requests.is_empty() {
            true => drop(self.clients.remove(&client)),
            false => self.ring.push_back(client),
        }
        Some(piece)
    }

    /// Removes what waits of a request.
    fn cancel(&mut self, client: &ClientKey, id: u64) -> Option<VecDeque<Piece>> {
        let ring = self.clients.get_mut(client)?;
        let at = ring.requests.iter().position(|request| request.id == id)?;
        let QueuedRequest { pieces, queued, .. } = ring.requests.remove(at)?;
        ring.waiting -= queued;
        self.waiting -= queued;
        self.cancelled += pieces.len() as u64;
        if ring.requests.is_empty() {
            self.clients.remove(client);
            self.ring.retain(|other| other != client);
        }
        Some(pieces)
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

    /// Pieces that report their number.
    fn pieces(report: &mpsc::Sender<u32>, numbers: impl IntoIterator<Item = u32>) -> VecDeque<Piece> {
        let piece = |number| {
            let report = report.clone();
            Box::new(move || report.send(number).expect("the test listens")) as Piece
        };
        numbers.into_iter().map(piece).collect()
    }

    /// Runs what waits on this thread.
    fn run_all(queue: &Queue) {
        loop {
            let Some(piece) = queue.shared.lock().take_next() else { return };
            piece();
            queue.shared.lock().running -= 1;
        }
    }

    #[test]
    fn a_client_with_much_work_does_not_delay_another() {
        let (queue, (report, seen)) = (Queue::new(1 << 20), mpsc::channel());
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
        let (queue, (report, seen)) = (Queue::new(100), mpsc::channel());
        let first = queue.submit(client("a"), pieces(&report, 0..3), Admission::Bounded).expect("there is room");
        let second = queue.submit(client("a"), pieces(&report, 10..12), Admission::Bounded).expect("there is room");
        run_all(&queue);
        assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0, 10, 1, 11, 2]);
        drop((first, second));
    }

    #[test]
    fn a_request_that_is_dropped_loses_what_has_not_started() {
        let (queue, (report, seen)) = (Queue::new(100), mpsc::channel());
        let gone = queue.submit(client("a"), pieces(&report, 0..5), Admission::Bounded).expect("there is room");
        let kept = queue.submit(client("b"), pieces(&report, 10..12), Admission::Bounded).expect("there is room");
        queue.shared.lock().take_next().expect("a piece waits")();
        drop(gone);
        assert_eq!(queue.load(), QueueLoad { waiting: 2, running: 1, cancelled: 4 });
        run_all(&queue);
        assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0, 10, 11]);
        drop(kept);
    }

    #[test]
    fn room_is_bounded_for_all_and_for_each_client() {
        let (queue, (report, _seen)) = (Queue::new(10), mpsc::channel());
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
        let (queue, (report, seen)) = (Queue::new(4), mpsc::channel());
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
            let piece = queue.shared.lock().take_next().expect("a piece waits");
            piece();
            queue.shared.lock().running -= 1;
            order.extend(seen.try_iter());
        }
        assert_eq!((order.len(), &order[..4]), (404, &[0, 2000, 1000, 1][..]));
        drop((many, again, other));
        assert_eq!(queue.load(), QueueLoad { waiting: 0, running: 0, cancelled: 0 });
    }

    #[test]
    fn a_request_that_is_dropped_loses_what_has_not_entered_too() {
        let (queue, (report, seen)) = (Queue::new(2), mpsc::channel());
        let many = queue.submit(client("a"), pieces(&report, 0..400), Admission::Always).expect("it is not refused");
        queue.shared.lock().take_next().expect("a piece waits")();
        drop(many);
        assert_eq!(queue.load(), QueueLoad { waiting: 0, running: 1, cancelled: 399 });
        run_all(&queue);
        assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn closing_drops_what_waits_and_ends_the_threads() {
        let (queue, (report, seen)) = (Queue::new(10), mpsc::channel());
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
        let (queue, (report, seen)) = (Queue::new(10), mpsc::channel());
        let mut work = pieces(&report, [1]);
        work.push_front(Box::new(|| panic!("a bug")));
        let ticket = queue.submit(client("a"), work, Admission::Bounded).expect("there is room");
        let threads = queue.start_threads(1).expect("a thread starts");
        assert_eq!(seen.recv(), Ok(1));
        queue.close();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        drop(ticket);
    }
}

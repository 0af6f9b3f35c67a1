//! Room for the bodies of all requests under way. Bytes are counted as they arrive, not as they are announced, so that a client that announces
//! much and sends little keeps nobody out.
//!
//! Bodies that arrive in pieces could block each other: each would wait for the room that the begun others have. So a piece is admitted only if
//! afterwards all begun bodies could still be completed one after another (the banker's algorithm). What waits is admitted in the order of the bytes
//! that may still come, so that small bodies pass large ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Room for the bodies of all requests under way.
pub(crate) struct BodyRoom {
    all: u64,
    /// The most bytes of one.
    largest: u64,
    state: Mutex<RoomState>,
}

#[derive(Default)]
struct RoomState {
    held: u64,
    next_id: u64,
    bodies: BTreeMap<u64, ClaimedBody>,
    /// Bodies of which a piece waits: the bytes that may still come, and the body.
    waiting: BTreeSet<(u64, u64)>,
}

/// Pieces that are admitted at one time, so that the lock is not kept for long. Each of them gives its room back later, when the next ones come.
const ADMITTED_AT_ONCE: usize = 32;

/// A body that has room, or may ask for it.
struct ClaimedBody {
    held: u64,
    /// Bytes that may still come; 0 of a complete body.
    left: u64,
    waiting: Option<WaitingPiece>,
}

/// A piece that has arrived and has no room yet.
struct WaitingPiece {
    bytes: u64,
    admit: oneshot::Sender<()>,
}

/// The room that one body has. Dropping it gives the room back.
pub(crate) struct BodyClaim {
    room: Arc<BodyRoom>,
    id: u64,
}

impl BodyRoom {
    /// Room for `all` bytes, or for one body of `largest` bytes where that is more.
    pub(crate) fn new(all: u64, largest: u64) -> Arc<Self> {
        Arc::new(Self { all: all.max(largest), largest, state: Mutex::default() })
    }

    /// A claim for a body of at most that many bytes, or of the most that one may have. It has no room yet.
    pub(crate) fn claim(self: &Arc<Self>, most: Option<u64>) -> BodyClaim {
        let left = most.unwrap_or(self.largest).min(self.largest);
        let mut state = self.lock();
        let id = state.next_id;
        state.next_id += 1;
        state.bodies.insert(id, ClaimedBody { held: 0, left, waiting: None });
        BodyClaim { room: Arc::clone(self), id }
    }

    #[cfg(test)]
    fn held(&self) -> u64 {
        self.lock().held
    }

    fn lock(&self) -> MutexGuard<'_, RoomState> {
        // No code under this lock can leave the state inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the body room for `bytes` more, where that is safe.
    fn admit(&self, state: &mut RoomState, id: u64, bytes: u64) -> bool {
        let Some(body) = state.bodies.get_mut(&id) else { return false };
        if state.held + bytes > self.all {
            return false;
        }
        let (held, left) = (body.held, body.left);
        (body.held, body.left) = (held + bytes, left.saturating_sub(bytes));
        state.held += bytes;
        // Where the largest body fits, any order will do.
        if self.all - state.held >= self.largest || state.can_complete_all(self.all) {
            return true;
        }
        state.held -= bytes;
        if let Some(body) = state.bodies.get_mut(&id) {
            (body.held, body.left) = (held, left);
        }
        false
    }

    /// Admits what waits, the body of which the least is missing first, up to the first that must wait on.
    fn admit_waiting(&self, state: &mut RoomState) {
        for _ in 0..ADMITTED_AT_ONCE {
            let Some(&(left, id)) = state.waiting.first() else { return };
            let bytes = state.bodies.get(&id).and_then(|body| Some(body.waiting.as_ref()?.bytes)).unwrap_or_default();
            if !self.admit(state, id, bytes) {
                return;
            }
            state.waiting.remove(&(left, id));
            if let Some(piece) = state.bodies.get_mut(&id).and_then(|body| body.waiting.take()) {
                // A reader that has given up drops its claim next.
                let _ = piece.admit.send(());
            }
        }
    }
}

impl RoomState {
    /// Whether all begun bodies can be completed one after another, each giving its room back at its end.
    fn can_complete_all(&self, all: u64) -> bool {
        let begun = self.bodies.values().filter(|body| body.held > 0);
        let mut begun: Vec<(u64, u64)> = begun.map(|body| (body.left, body.held)).collect();
        begun.sort_unstable();
        let mut free = all - self.held;
        begun.into_iter().all(|(left, held)| {
            let fits = left <= free;
            free += held;
            fits
        })
    }
}

impl BodyClaim {
    /// Waits for room for `bytes` more, which have arrived.
    pub(crate) async fn take(&self, bytes: u64) {
        let admitted = {
            let mut state = self.room.lock();
            if self.room.admit(&mut state, self.id, bytes) {
                self.room.admit_waiting(&mut state);
                return;
            }
            let (admit, admitted) = oneshot::channel();
            if let Some(body) = state.bodies.get_mut(&self.id) {
                body.waiting = Some(WaitingPiece { bytes, admit });
                let place = (body.left, self.id);
                state.waiting.insert(place);
            }
            admitted
        };
        // The other side is dropped only with this claim.
        let _ = admitted.await;
    }

    /// Whether all the room that there is is enough for `bytes`.
    pub(crate) fn could_take(&self, bytes: u64) -> bool {
        bytes <= self.room.all
    }

    /// Takes room for `bytes` more of what the request takes beside its body, if there is any now: whoever waited for it could wait for itself.
    pub(crate) fn try_take(&self, bytes: u64) -> bool {
        let mut state = self.room.lock();
        self.room.admit(&mut state, self.id, bytes)
    }

    /// Gives the room back, and asks for no more: nobody reads the body any more.
    pub(crate) fn abandon(&self) {
        let mut state = self.room.lock();
        if let Some(mut body) = state.bodies.remove(&self.id) {
            state.held -= body.held;
            state.waiting.remove(&(body.left, self.id));
            (body.held, body.left, body.waiting) = (0, 0, None);
            state.bodies.insert(self.id, body);
        }
        self.room.admit_waiting(&mut state);
    }

    /// Notes that no more bytes come. The claim keeps what it has.
    pub(crate) fn complete(&self) {
        let mut state = self.room.lock();
        if let Some(body) = state.bodies.get_mut(&self.id) {
            body.left = 0;
        }
        self.room.admit_waiting(&mut state);
    }
}

impl Drop for BodyClaim {
    fn drop(&mut self) {
        let mut state = self.room.lock();
        if let Some(body) = state.bodies.remove(&self.id) {
            state.held -= body.held;
            state.waiting.remove(&(body.left, self.id));
        }
        self.room.admit_waiting(&mut state);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn gets(claim: &BodyClaim, bytes: u64) -> bool {
        let mut taking = pin!(claim.take(bytes));
        taking.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn what_is_announced_takes_no_room() {
        let room = BodyRoom::new(100, 50);
        let slow: Vec<_> = (0..10).map(|_| room.claim(Some(50))).collect();
        assert!(slow.iter().all(|claim| gets(claim, 1)));
        let small = room.claim(Some(50));
        assert!(gets(&small, 50));
        assert_eq!(room.held(), 60);
        drop((slow, small));
        assert_eq!(room.held(), 0);
    }

    #[test]
    fn a_small_body_passes_two_that_announce_all_the_room() {
        let room = BodyRoom::new(100, 100);
        let (first, second, small) = (room.claim(None), room.claim(None), room.claim(Some(99)));
        assert!(gets(&first, 1));
        assert!(!gets(&second, 1), "the first may need the rest");
        assert!(gets(&small, 50) && gets(&small, 49));
    }

    #[test]
    fn begun_bodies_do_not_block_each_other() {
        let room = BodyRoom::new(100, 100);
        let (first, second) = (room.claim(None), room.claim(None));
        assert!(gets(&first, 60));
        // With 30 of the second, 10 would be free: neither could be completed.
        let mut waiting = pin!(second.take(30));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        // A small one that fits beside them is complete at once.
        let small = room.claim(Some(20));
        assert!(gets(&small, 20));
        drop(small);
        assert!(gets(&first, 40));
        first.complete();
        assert_eq!(waiting.as_mut().poll(&mut context), Poll::Pending, "the first is still under way");
        drop(first);
        assert_eq!(waiting.as_mut().poll(&mut context), Poll::Ready(()));
        assert_eq!(room.held(), 30);
    }

    #[test]
    fn all_bodies_together_are_bounded_and_small_ones_pass_large_ones() {
        let room = BodyRoom::new(100, 60);
        let (first, second) = (room.claim(Some(60)), room.claim(Some(40)));
        assert!(gets(&first, 60) && gets(&second, 40));
        let (large, small) = (room.claim(Some(50)), room.claim(Some(10)));
        let (mut large_waits, mut small_waits) = (pin!(large.take(50)), pin!(small.take(10)));
        let mut context = Context::from_waker(Waker::noop());
        assert!(large_waits.as_mut().poll(&mut context).is_pending());
        assert!(small_waits.as_mut().poll(&mut context).is_pending());
        assert_eq!(room.held(), 100);
        drop(second);
        assert_eq!(small_waits.as_mut().poll(&mut context), Poll::Ready(()));
        assert_eq!(large_waits.as_mut().poll(&mut context), Poll::Pending);
        assert_eq!(room.held(), 70);
    }

    #[test]
    fn what_a_request_takes_beside_its_body_has_room_or_has_not() {
        let room = BodyRoom::new(100, 10);
        let (first, second) = (room.claim(None), room.claim(None));
        assert!(gets(&first, 10));
        first.complete();
        assert!(first.try_take(80) && !second.try_take(11) && second.try_take(10));
        assert_eq!(room.held(), 100);
        drop(first);
        assert!(second.try_take(90) && !second.try_take(1));
        assert!(second.could_take(100) && !second.could_take(101));
    }

    #[test]
    fn a_reader_that_gives_up_leaves_its_room() {
        let room = BodyRoom::new(10, 10);
        let first = room.claim(None);
        assert!(gets(&first, 10));
        let second = room.claim(None);
        assert!(!gets(&second, 5));
        drop(second);
        drop(first);
        assert_eq!(room.held(), 0);
    }
}

//! Connections: accepted up to a number, with a time limit for the head of each request, and closed in good order when the service stops.
//!
//! When all places are taken, the connection that has been idle longest is closed for the new one, so that idle connections cannot keep
//! others out. A connection with a request under way is never closed for another.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Notify;
use tower::ServiceExt;

use crate::answer::hold;
use crate::client::Peer;
use crate::listener::{Listener, Socket};
use crate::phase::{Life, Phase};
use crate::stall::StallGuard;

/// The most bytes that one connection has read and nobody has taken: they are beside the room for bodies. A head fits in it.
const READ_BUFFER: usize = 128 << 10;

/// Time for the connections that are still open when the service has stopped: their answers are being written.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The open connections. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct OpenConnections(Arc<Mutex<Registry>>);

#[derive(Default)]
struct Registry {
    open: BTreeMap<u64, Connection>,
    next_id: u64,
    /// Counts the moments at which connections became busy or idle.
    clock: u64,
}

struct Connection {
    /// The moment at which it became idle; `None` while a request is under way.
    idle_since: Option<u64>,
    close: Arc<Notify>,
}

impl OpenConnections {
    fn lock(&self) -> MutexGuard<'_, Registry> {
        // No code under this lock can leave the registry inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().open.len()
    }

    /// A number that changes with every request that begins or ends; `None` while one is under way.
    pub(crate) fn idle_mark(&self) -> Option<u64> {
        let registry = self.lock();
        registry.open.values().all(|connection| connection.idle_since.is_some()).then_some(registry.clock)
    }

    /// The number of a new connection, and what tells it to close.
    fn open(&self) -> (u64, Arc<Notify>) {
        let mut registry = self.lock();
        registry.next_id += 1;
        registry.clock += 1;
        let (id, close) = (registry.next_id, Arc::new(Notify::new()));
        let connection = Connection { idle_since: Some(registry.clock), close: Arc::clone(&close) };
        registry.open.insert(id, connection);
        (id, close)
    }

    fn closed(&self, id: u64) {
        self.lock().open.remove(&id);
    }

    fn set_busy(&self, id: u64, busy: bool) {
        let mut registry = self.lock();
        registry.clock += 1;
        let idle_since = (!busy).then_some(registry.clock);
        // One that was closed for another is not there any more.
        if let Some(connection) = registry.open.get_mut(&id) {
            connection.idle_since = idle_since;
        }
    }

    /// Closes the connection that has been idle longest, where more than `most` are open.
    fn make_room(&self, most: usize) {
        let mut registry = self.lock();
        if registry.open.len() <= most {
            return;
        }
        let idle = registry.open.iter().filter_map(|(id, connection)| Some((connection.idle_since?, *id)));
        let longest = idle.min();
        if let Some(connection) = longest.and_then(|(_, id)| registry.open.remove(&id)) {
            connection.close.notify_one();
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    pub(crate) most: usize,
    /// The time in which the head of a request must arrive.
    pub(crate) head_patience: Duration,
    /// The time in which a client must read a part of its answer.
    pub(crate) write_patience: Duration,
}

/// Accepts connections until the service drains, then waits for those with a request under way.
pub(crate) async fn serve_connections(
    listener: Listener,
    router: Router,
    open: OpenConnections,
    limits: ConnectionLimits,
    life: Life,
) {
    let mut tasks = tokio::task::JoinSet::new();
    loop {
        let next = open.lock().next_id + 1;
        let accepted = tokio::select! {
            accepted = listener.accept(next) => accepted,
            () = life.reached(Phase::Draining) => break,
        };
        while tasks.try_join_next().is_some() {}
        match accepted {
            Ok((socket, peer)) => {
                tasks.spawn(serve_connection(socket, peer, router.clone(), open.clone(), limits, life.clone()));
            }
            Err(error) => {
                // Out of descriptors, or a connection that broke before it was accepted.
                tracing::warn!(%error, "a connection cannot be accepted");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    drop(listener);
    let all = async { while tasks.join_next().await.is_some() {} };
    tokio::select! {
        () = all => {}
        () = async { life.reached(Phase::Stopped).await; tokio::time::sleep(LAST_WORDS).await } => {}
    }
}

async fn serve_connection(
    socket: Box<dyn Socket>,
    peer: Peer,
    router: Router,
    open: OpenConnections,
    limits: ConnectionLimits,
    life: Life,
) {
    let (id, close) = open.open();
    open.make_room(limits.most);
    let requests = open.clone();
    let answer = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        let busy = Busy::new(&requests, id);
        let answer = router.clone().oneshot(request);
        async move { answer.await.map(|response| response.map(|inner| hold(inner, busy))) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.head_patience).max_buf_size(READ_BUFFER);
    let socket = TokioIo::new(StallGuard::new(socket, limits.write_patience));
    let mut served = std::pin::pin!(builder.serve_connection(socket, answer));
    let ended = tokio::select! {
        ended = served.as_mut() => Some(ended),
        () = close.notified() => None,
        () = life.reached(Phase::Draining) => {
            served.as_mut().graceful_shutdown();
            tokio::select! {
                ended = served.as_mut() => Some(ended),
                () = close.notified() => None,
            }
        }
    };
    if let Some(Err(error)) = ended {
        tracing::debug!(%error, "a connection ended");
    }
    open.closed(id);
}

/// Marks a connection as busy while a request is under way.
struct Busy {
    open: OpenConnections,
    connection: u64,
}

impl Busy {
    fn new(open: &OpenConnections, connection: u64) -> Self {
        open.set_busy(connection, true);
        Self { open: open.clone(), connection }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.open.set_busy(self.connection, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_that_is_idle_longest_makes_room() {
        let open = OpenConnections::default();
        (0..3).for_each(|_| drop(open.open()));
        open.set_busy(1, true);
        open.set_busy(2, true);
        open.set_busy(2, false);
        open.make_room(3);
        assert_eq!(open.count(), 3);
        let ids = |open: &OpenConnections| open.lock().open.keys().copied().collect::<Vec<_>>();
        open.make_room(2);
        assert_eq!(ids(&open), [1, 2], "the third has been idle since it was opened");
        open.make_room(1);
        assert_eq!(ids(&open), [1]);
        open.make_room(0);
        assert_eq!(ids(&open), [1], "a busy one is never closed");
        open.closed(1);
        assert_eq!(open.count(), 0);
    }
}

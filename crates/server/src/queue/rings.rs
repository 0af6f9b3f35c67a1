//! The order of what waits: a ring of clients, and of each a ring of its requests.

use std::collections::{HashMap, VecDeque};

use super::Piece;
use crate::client::ClientKey;

/// Requests of all clients, the next one first.
#[derive(Default)]
pub(super) struct Rings {
    clients: HashMap<ClientKey, ClientRing>,
    order: VecDeque<ClientKey>,
    waiting: usize,
}

/// The requests of one client. There is at least one, and none is empty.
#[derive(Default)]
struct ClientRing {
    requests: VecDeque<QueuedRequest>,
    waiting: usize,
}

pub(super) struct QueuedRequest {
    pub(super) id: u64,
    pub(super) pieces: VecDeque<Piece>,
    /// How many of them are in the queue: at least one of those that there are.
    pub(super) queued: usize,
    /// Whether a piece of it has outgrown its first slice.
    pub(super) is_long: bool,
}

impl Rings {
    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    pub(super) fn waiting_of(&self, client: &ClientKey) -> usize {
        self.clients.get(client).map_or(0, |ring| ring.waiting)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Puts a request behind the others of its client, and a client without one behind the other clients. One without pieces is dropped.
    pub(super) fn push(&mut self, client: ClientKey, request: QueuedRequest) {
        if request.pieces.is_empty() {
            return;
        }
        let ring = self.clients.entry(client.clone()).or_default();
        if ring.requests.is_empty() {
            self.order.push_back(client);
        }
        ring.waiting += request.queued;
        self.waiting += request.queued;
        ring.requests.push_back(request);
    }

    /// Puts a long piece behind those of its request, which takes one turn for all of them.
    pub(super) fn push_piece(&mut self, client: ClientKey, id: u64, piece: Piece) {
        let found = self.clients.get_mut(&client).and_then(|ring| {
            let request = ring.requests.iter_mut().find(|request| request.id == id)?;
            ring.waiting += 1;
            Some(request)
        });
        let Some(request) = found else {
            return self.push(client, QueuedRequest { id, pieces: VecDeque::from([piece]), queued: 1, is_long: true });
        };
        request.pieces.push_back(piece);
        request.queued += 1;
        self.waiting += 1;
    }

    /// Takes the next request of the next client, whose others then wait behind those of all clients.
    pub(super) fn pop(&mut self) -> Option<(ClientKey, QueuedRequest)> {
        self.take(0, 0)
    }

    /// The same, passing over requests that are long.
    pub(super) fn pop_short(&mut self) -> Option<(ClientKey, QueuedRequest)> {
        let mut clients = self.order.iter().enumerate();
        let (client, request) = clients.find_map(|(place, client)| {
            let requests = &self.clients.get(client)?.requests;
            Some((place, requests.iter().position(|request| !request.is_long)?))
        })?;
        self.take(client, request)
    }

    /// Notes of a request, if it is here, that a piece of it is long.
    pub(super) fn mark_long(&mut self, client: &ClientKey, id: u64) {
        let Some(ring) = self.clients.get_mut(client) else { return };
        for request in ring.requests.iter_mut().filter(|request| request.id == id) {
            request.is_long = true;
        }
    }

    /// Takes a request by the place of its client, and its own among those of the client.
    fn take(&mut self, client: usize, request: usize) -> Option<(ClientKey, QueuedRequest)> {
        let client = self.order.remove(client)?;
        let ring = self.clients.get_mut(&client)?;
        let request = ring.requests.remove(request)?;
        ring.waiting -= request.queued;
        self.waiting -= request.queued;
        match ring.requests.is_empty() {
            true => drop(self.clients.remove(&client)),
            false => self.order.push_back(client.clone()),
        }
        Some((client, request))
    }

    /// Removes a request, of which there may be parts, and returns its pieces.
    pub(super) fn remove(&mut self, client: &ClientKey, id: u64) -> VecDeque<Piece> {
        let mut removed = VecDeque::new();
        let Some(ring) = self.clients.get_mut(client) else { return removed };
        for request in std::mem::take(&mut ring.requests) {
            if request.id != id {
                ring.requests.push_back(request);
                continue;
            }
            ring.waiting -= request.queued;
            self.waiting -= request.queued;
            removed.extend(request.pieces);
        }
        if ring.requests.is_empty() {
            self.clients.remove(client);
            self.order.retain(|other| other != client);
        }
        removed
    }
}

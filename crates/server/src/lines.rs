//! A body of JSON lines that grows as rows are made.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::HttpBody;
use bytes::Bytes;
use hyper::body::Frame;
use serde::Serialize;
use tokio::sync::mpsc;

/// Lines that wait for a client that reads slowly; whoever makes them waits then.
const AHEAD: usize = 64;

/// The body.
pub(crate) struct LineBody(mpsc::Receiver<Bytes>);

/// Writes lines to the body.
pub(crate) struct Lines(mpsc::Sender<Bytes>);

/// The client has hung up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HungUp;

impl LineBody {
    pub(crate) fn new() -> (Lines, Self) {
        let (lines, body) = mpsc::channel(AHEAD);
        (Lines(lines), Self(body))
    }
}

impl Lines {
    /// Writes one record as a line.
    pub(crate) async fn send(&self, record: &impl Serialize) -> Result<(), HungUp> {
        let mut line = serde_json::to_vec(record).unwrap_or_default();
        line.push(b'\n');
        self.0.send(Bytes::from(line)).await.map_err(|_| HungUp)
    }

    /// Waits until the client has hung up.
    pub(crate) async fn closed(&self) {
        self.0.closed().await;
    }
}

impl HttpBody for LineBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}

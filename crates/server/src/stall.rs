//! A socket whose writes must make progress: a client that asks and never reads would hold its answer for ever.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

pub(crate) struct StallGuard<S> {
    socket: S,
    patience: Duration,
    /// Runs while a write waits.
    timer: Pin<Box<Sleep>>,
    waiting: bool,
}

impl<S> StallGuard<S> {
    pub(crate) fn new(socket: S, patience: Duration) -> Self {
        Self { socket, patience, timer: Box::pin(sleep(patience)), waiting: false }
    }

    /// Passes on what a write came to, unless it has waited too long.
    fn check<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = false;
            return written;
        }
        if !self.waiting {
            self.waiting = true;
            self.timer.as_mut().reset(Instant::now() + self.patience);
        }
        ready!(self.timer.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its answer")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallGuard<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallGuard<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.check(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, pieces);
        self.check(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(context);
        self.check(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.socket).poll_shutdown(context);
        self.check(context, closed)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn a_reader_that_stops_ends_the_writer() {
        let (ours, theirs) = duplex(16);
        let mut guarded = StallGuard::new(ours, Duration::from_millis(20));
        let stalled = guarded.write_all(&[0; 64]).await.expect_err("nobody reads");
        assert_eq!(stalled.kind(), io::ErrorKind::TimedOut);
        drop(theirs);
    }

    #[tokio::test]
    async fn a_reader_that_goes_on_gets_everything() {
        let (ours, mut theirs) = duplex(16);
        let mut guarded = StallGuard::new(ours, Duration::from_secs(60));
        let reader = tokio::spawn(async move {
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).await.map(|_| all)
        });
        guarded.write_all(&[7; 1000]).await.expect("somebody reads");
        drop(guarded);
        assert_eq!(reader.await.expect("it does not panic").expect("it reads"), [7; 1000]);
    }
}

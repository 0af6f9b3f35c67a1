//! The life of a service: starting, serving, draining, stopped. It only goes forward.

use tokio::sync::watch;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// The judge is not there yet: the image is being loaded or built.
    Starting,
    Serving,
    /// It was told to stop: what it has accepted is finished, and nothing new is accepted.
    Draining,
    /// The time for draining is over: what is unfinished is answered as such.
    Stopped,
}

/// The phase, which many tasks watch.
#[derive(Clone)]
pub(crate) struct Life(watch::Sender<Phase>);

impl Life {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(Phase::Starting))
    }

    pub(crate) fn phase(&self) -> Phase {
        *self.0.borrow()
    }

    /// Goes forward to `phase`, unless it is there or further already.
    pub(crate) fn advance(&self, phase: Phase) {
        self.0.send_if_modified(|current| {
            let forward = *current < phase;
            if forward {
                *current = phase;
            }
            forward
        });
    }

    /// Waits until the service is in `phase` or further.
    pub(crate) async fn reached(&self, phase: Phase) {
        // The sender is `self`, so the channel cannot close.
        let _ = self.0.subscribe().wait_for(|current| *current >= phase).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_only_goes_forward() {
        let life = Life::new();
        life.advance(Phase::Draining);
        life.advance(Phase::Serving);
        assert_eq!(life.phase(), Phase::Draining);
        life.reached(Phase::Serving).await;
        let waiting = tokio::spawn({
            let life = life.clone();
            async move { life.reached(Phase::Stopped).await }
        });
        life.advance(Phase::Stopped);
        waiting.await.expect("it was told");
    }
}

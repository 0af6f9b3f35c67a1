//! Judges one chunk while the next is sampled: the one other thread of this crate, whose timing changes nothing.

use std::sync::mpsc;

/// Runs `produce` over `chunks` on this thread and `consume` over its results on another. Results keep their order, so what comes out
/// does not depend on timing.
///
/// # Errors
/// The first error of `produce`; work already handed over is finished first.
pub(crate) fn run_pipelined<C, P: Send, V: Send, E>(
    chunks: impl IntoIterator<Item = C>,
    mut produce: impl FnMut(C) -> Result<P, E>,
    consume: impl FnMut(P) -> V + Send,
) -> Result<Vec<V>, E> {
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel::<P>(2);
        let consumer = scope.spawn(move || receiver.into_iter().map(consume).collect::<Vec<V>>());
        let produced = chunks.into_iter().try_for_each(|chunk| {
            // A send fails only when the consumer panicked; joining it below passes the panic on.
            produce(chunk).map(|product| drop(sender.send(product)))
        });
        drop(sender);
        let consumed = consumer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        produced.map(|()| consumed)
    })
}

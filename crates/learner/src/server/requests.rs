//! Many requests side by side, each asked again after faults that pass.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::wire::Completion;
use super::{ServerError, ServerOptions};
use crate::decoding::uniform;

/// Does `work` for each index below `count`, at most `concurrency` at a time, until one has failed. `None` for those that were not begun.
pub(super) fn run_each<T: Send>(
    count: usize,
    concurrency: usize,
    work: impl Fn(usize) -> Result<T, ServerError> + Sync,
) -> Vec<Option<Result<T, ServerError>>> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let done: Vec<Mutex<Option<_>>> = (0..count).map(|_| Mutex::new(None)).collect();
    // Relaxed: neither orders anything but itself.
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&index| index < count);
    let run = || {
        while let Some(index) = take().filter(|_| !failed.load(Ordering::Relaxed)) {
            let result = work(index);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            *done[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..concurrency.clamp(1, count.max(1)) {
            scope.spawn(run);
        }
    });
    done.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// `wanted` completions of prompt `index`. Where the server gives fewer than requested, the rest is requested again. `exchange` is called
/// with the number that is missing and the seed of the request.
pub(super) fn request_samples(
    options: &ServerOptions,
    (seed, index): (u64, u64),
    wanted: usize,
    temperature: f32,
    exchange: impl Fn(usize, u32) -> Result<Vec<Completion>, ServerError>,
) -> Result<Vec<Completion>, ServerError> {
    // Greedy samples are equal, and vLLM refuses to make several.
    let drawn = if temperature == 0.0 { wanted.min(1) } else { wanted };
    let mut completions: Vec<Completion> = Vec::with_capacity(wanted);
    let mut retries = Retries::new(options, seed, index);
    while completions.len() < drawn {
        match exchange(drawn - completions.len(), request_seed(seed, index, completions.len())) {
            Ok(more) => {
                completions.extend(more);
                retries.reset();
            }
            Err(fault) => retries.wait(index as usize, fault)?,
        }
    }
    if let Some(only) = completions.first().cloned().filter(|_| drawn < wanted) {
        completions.resize(wanted, only);
    }
    Ok(completions)
}

/// The seed of a request, of 31 bits, which every server accepts unchanged.
fn request_seed(seed: u64, prompt: u64, sample: usize) -> u32 {
    (uniform(seed, prompt, sample as u64, 0) * f64::from(1_u32 << 31)) as u32
}

/// Retries of one prompt: which faults are retried, how often, and after which wait.
pub(super) struct Retries<'a> {
    options: &'a ServerOptions,
    /// Spread those who failed together.
    seed: u64,
    stream: u64,
    failed: usize,
    timed_out: usize,
}

impl<'a> Retries<'a> {
    pub(super) const fn new(options: &'a ServerOptions, seed: u64, stream: u64) -> Self {
        Self { options, seed, stream, failed: 0, timed_out: 0 }
    }

    /// Starts counting afresh: the server works.
    const fn reset(&mut self) {
        (self.failed, self.timed_out) = (0, 0);
    }

    /// Waits until it is time for another request, or gives up.
    pub(super) fn wait(&mut self, index: usize, fault: ServerError) -> Result<(), ServerError> {
        self.failed += 1;
        let give_up = |cause| Err(ServerError::Prompt { index, attempts: self.failed, cause: Box::new(cause) });
        self.timed_out += usize::from(matches!(fault, ServerError::Timeout(_)));
        let is_last = self.failed >= self.options.attempts || self.timed_out >= self.options.timeouts;
        if !fault.is_transient() || is_last {
            return give_up(fault);
        }
        let wait = match fault {
            ServerError::Status { status, retry_after: Some(wait), .. } if wait > self.options.longest_wait => {
                return give_up(ServerError::Wait { status, wait, longest: self.options.longest_wait });
            }
            ServerError::Status { retry_after: Some(wait), .. } => wait,
            _ => self.backoff(),
        };
        tracing::warn!(prompt = index, attempt = self.failed, wait = ?wait, %fault, "asking the server again");
        std::thread::sleep(wait);
        Ok(())
    }

    /// Exponential, between half of the full wait and all of it.
    fn backoff(&self) -> Duration {
        let doublings = (self.failed - 1).min(16) as u32;
        let full = self.options.backoff.saturating_mul(1 << doublings).min(self.options.longest_wait);
        full.mul_f64(f64::midpoint(1.0, uniform(self.seed, self.stream, 0, self.failed as u64)))
    }
}

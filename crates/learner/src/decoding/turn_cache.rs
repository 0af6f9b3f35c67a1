//! Keys and values of prompts that the next turn of an episode continues, kept from one call of the policy to the next.
//!
//! Used by [`super::CpuLoop`] alone. Only what was computed as a prompt is kept, and a row of a prompt has the same bits whether those before it
//! were computed with it or read: so nothing that is sampled depends on what is kept, and a resumed run, which has nothing, samples the same.
//! Tokens of a response are computed anew as a part of the next prompt: a decoding step sums in another order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use veriplay_kernels::attention::KvCache;

/// Caches by the tokens of their prompts.
type Caches = HashMap<Vec<u32>, Arc<KvCache>>;

#[derive(Debug, Default)]
pub(crate) struct TurnCache(Mutex<Caches>);

impl TurnCache {
    /// Hands over what the last call kept to a call that keeps `most` bytes at most.
    pub(crate) fn begin(&self, most: usize) -> CallCache {
        CallCache { before: std::mem::take(&mut *self.lock()), most, kept: Mutex::default() }
    }

    pub(crate) fn end(&self, call: CallCache) {
        *self.lock() = call.kept.into_inner().unwrap_or_else(PoisonError::into_inner).caches;
    }

    /// Drops everything: the weights are others from now on.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Caches> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
pub(crate) struct CallCache {
    before: Caches,
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    caches: Caches,
    bytes: usize,
}

impl CallCache {
    /// What the last call kept of this prompt.
    pub(crate) fn find(&self, prompt: &[u32]) -> Option<&KvCache> {
        self.before.get(prompt).map(|cache| &**cache)
    }

    /// Keeps the cache of a prompt for the next call, where there is room.
    pub(crate) fn keep(&self, prompt: &[u32], cache: &Arc<KvCache>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes.saturating_add(cache.bytes()) > self.most {
            return;
        }
        if kept.caches.insert(prompt.to_vec(), Arc::clone(cache)).is_none() {
            kept.bytes += cache.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use veriplay_kernels::attention::KvCache;

    use super::TurnCache;

    #[test]
    fn what_one_call_kept_is_there_for_the_next_one_alone_and_takes_no_more_than_its_share() {
        let caches = TurnCache::default();
        let cache = Arc::new(KvCache::new(2, 4, 8));
        let call = caches.begin(2 * cache.bytes());
        (0..4).for_each(|prompt| call.keep(&[prompt], &cache));
        assert!((0..4).all(|prompt| call.find(&[prompt]).is_none()), "it is of this call");
        caches.end(call);
        let call = caches.begin(0);
        assert_eq!([0, 1, 2, 3].map(|prompt| call.find(&[prompt]).is_some()), [true, true, false, false]);
        call.keep(&[0], &cache);
        caches.end(call);
        assert!(caches.begin(0).find(&[0]).is_none(), "nothing was to be kept");
        let call = caches.begin(cache.bytes());
        call.keep(&[0], &cache);
        caches.end(call);
        caches.clear();
        assert!(caches.begin(0).find(&[0]).is_none(), "the weights are others");
    }
}

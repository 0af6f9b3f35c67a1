//! What a host call has done, in fuel: every byte, entry and name that the host handles for the guest has its price.
//!
//! The calls note their work here while they do it, and [`super::imports`] charges it when they are over. What is noted is a
//! function of the job alone (its arguments, and what it did before), never of the host's caches, so that fuel stays
//! reproducible. The prices are measured: `veriplay bench --job cost` shows what a unit buys where.

/// Fuel for a byte that is copied or cleared: what `memory.copy` and `memory.fill` charge in the guest.
const BYTE: u64 = 1;
/// For a byte of the random source.
const RANDOM_BYTE: u64 = 4;
/// For each step over entries of a directory, or over directories on the way up to the root.
const STEP: u64 = 24;
/// For an operation on a table: a name looked up in a directory, a vector of a transfer, a subscription.
const LOOK_UP: u64 = 400;

/// The fuel that the running call owes beside its base price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Work(u64);

impl Work {
    /// `count` bytes were copied or cleared.
    pub(crate) fn bytes(&mut self, count: u64) {
        self.add(count, BYTE);
    }

    /// `count` random bytes were drawn.
    pub(crate) fn random_bytes(&mut self, count: u64) {
        self.add(count, RANDOM_BYTE);
    }

    /// `count` entries or directories were stepped over.
    pub(crate) fn steps(&mut self, count: u64) {
        self.add(count, STEP);
    }

    /// `count` names, vectors or subscriptions were looked at.
    pub(crate) fn look_ups(&mut self, count: u64) {
        self.add(count, LOOK_UP);
    }

    /// What is owed; from now on nothing is.
    pub(crate) fn take(&mut self) -> u64 {
        std::mem::take(&mut self.0)
    }

    fn add(&mut self, count: u64, price: u64) {
        self.0 = self.0.saturating_add(count.saturating_mul(price));
    }
}

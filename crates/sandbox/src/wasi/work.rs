//! The fuel that a system call costs: every byte, entry and name that the host handles for the guest has a price.
//!
//! Calls record their work here, and [`crate::imports`] charges it at their end. The work depends only on the job (its arguments and earlier
//! calls), never on caches of the host, so that fuel is reproducible. The prices are measured with `veriplay bench --job cost`.

/// Fuel for a byte that is copied or cleared: what `memory.copy` and `memory.fill` charge in the guest.
const BYTE: u64 = 1;
/// For a byte of the random source.
const RANDOM_BYTE: u64 = 4;
/// For each step over entries of a directory, or over directories on the way up to the root.
const STEP: u64 = 24;
/// For an operation on a table: a name looked up in a directory, a vector of a transfer, a subscription.
const LOOK_UP: u64 = 400;

/// The fuel that the running call costs beyond the base price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SyscallWork(u64);

impl SyscallWork {
    /// `count` bytes were copied or cleared.
    pub(crate) fn add_bytes(&mut self, count: u64) {
        self.add(count, BYTE);
    }

    /// `count` random bytes were drawn.
    pub(crate) fn add_random_bytes(&mut self, count: u64) {
        self.add(count, RANDOM_BYTE);
    }

    /// `count` entries or directories were stepped over.
    pub(crate) fn add_steps(&mut self, count: u64) {
        self.add(count, STEP);
    }

    /// `count` names, vectors or subscriptions were looked at.
    pub(crate) fn add_look_ups(&mut self, count: u64) {
        self.add(count, LOOK_UP);
    }

    /// The program slept `ns`, at a price for each second.
    pub(crate) fn add_sleep(&mut self, ns: u64, price_of_second: u64) {
        let price = u128::from(ns) * u128::from(price_of_second) / 1_000_000_000;
        self.add(u64::try_from(price).unwrap_or(u64::MAX), 1);
    }

    pub(crate) fn take(&mut self) -> u64 {
        std::mem::take(&mut self.0)
    }

    fn add(&mut self, count: u64, price: u64) {
        self.0 = self.0.saturating_add(count.saturating_mul(price));
    }
}

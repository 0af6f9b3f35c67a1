//! What the machine allows: how many workers, how much memory for what clients send, how many descriptors.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use veriplay_console::free_memory::free_memory;
use veriplay_console::processors::processors;

use crate::queue::FirstSlices;
use crate::service::Settings;

/// Memory of a worker at rest and with a program of usual size.
const WORKER_BYTES: u64 = 256 << 20;
/// Memory for the service itself and the rest of the machine.
const SPARE_BYTES: u64 = 512 << 20;
/// The bounds of what is kept of each kind.
const LEAST_KEPT: u64 = 64 << 20;
const MOST_KEPT: u64 = 1 << 30;
/// Descriptors besides those of connections: workers, the cache, the log.
const OTHER_DESCRIPTORS: u64 = 256;

/// How the free memory is shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Workers by default: one for each processor that this process may use, and no more than fit beside the rest.
    pub workers: usize,
    /// Spare places beside them: for first slices.
    pub spares: usize,
    /// The bodies of all open requests.
    pub body_bytes: u64,
    /// Tasks that are kept as rows, and as many bytes of tasks that are ready to judge. A task takes several times the bytes of its JSON.
    pub kept_bytes: u64,
}

impl MemoryPlan {
    /// For this machine, where one body may have `body_bytes`.
    pub fn of_this_machine(body_bytes: u64) -> Self {
        Self::new(processors(), free_memory(), body_bytes)
    }

    fn new(processors: usize, free_memory: Option<u64>, one_body: u64) -> Self {
        let free = free_memory.unwrap_or(u64::MAX);
        let kept_bytes = (free / 16).clamp(LEAST_KEPT, MOST_KEPT);
        // The largest body that is allowed must fit, whatever the machine has.
        let body_bytes = (free / 8).min(Settings::default().all_body_bytes).max(one_body);
        let fit = free.saturating_sub(SPARE_BYTES + body_bytes + 2 * kept_bytes) / WORKER_BYTES;
        let fit = usize::try_from(fit).unwrap_or(usize::MAX);
        // The spare places beside them are at most one of five.
        let workers = processors.min(fit - fit.div_ceil(5)).max(1);
        let spares = FirstSlices::beside(workers).spares.min(fit.saturating_sub(workers));
        Self { workers, spares, body_bytes, kept_bytes }
    }
}

/// Raises the number of descriptors that this process may open to what the system allows, and returns how many connections fit.
pub fn raise_descriptor_limit(connections: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    if setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).is_err() {
        tracing::warn!("the number of descriptors cannot be raised");
    }
    let fit = getrlimit(Resource::Nofile).current.map_or(u64::MAX, |most| most.saturating_sub(OTHER_DESCRIPTORS));
    connections.min(usize::try_from(fit).unwrap_or(usize::MAX)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn plan(processors: usize, free_mib: u64) -> MemoryPlan {
        MemoryPlan::new(processors, Some(free_mib * MIB), 64 * MIB)
    }

    #[test]
    fn workers_are_bounded_by_processors_and_by_memory() {
        assert_eq!(MemoryPlan::new(8, None, 64 * MIB).workers, 8);
        assert_eq!(plan(8, 64 << 10).workers, 8);
        let small = plan(64, 3 << 10);
        assert_eq!((small.workers, small.spares), (5, 2));
        assert_eq!((plan(8, 1 << 10).workers, plan(8, 1 << 10).spares), (1, 0));
        assert_eq!(plan(8, 0).workers, 1);
    }

    #[test]
    fn a_plan_fits_in_the_memory_that_is_free() {
        for free in [1024, 2048, 4096, 10_000, 65_536] {
            let MemoryPlan { workers, spares, body_bytes, kept_bytes } = plan(usize::MAX, free);
            let planned = SPARE_BYTES + body_bytes + 2 * kept_bytes + (workers + spares) as u64 * WORKER_BYTES;
            assert!(planned <= free * MIB, "{planned} of {free} MiB");
        }
    }

    #[test]
    fn the_largest_body_fits_into_the_memory_for_bodies() {
        assert_eq!(plan(1, 256).body_bytes, 64 * MIB);
        assert_eq!(MemoryPlan::new(1, Some(0), 2 << 30).body_bytes, 2 << 30);
    }

    #[test]
    fn no_more_connections_than_descriptors() {
        assert_eq!(raise_descriptor_limit(3), 3);
        assert!(raise_descriptor_limit(usize::MAX) > 3);
    }
}

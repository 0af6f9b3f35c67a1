//! What the machine allows: how many workers, how many descriptors.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::memory;
use crate::processors::processors;

/// Memory of a worker at rest and with a program of usual size.
const WORKER_BYTES: u64 = 256 << 20;
/// Memory that is left for the service itself and the rest of the machine.
const SPARE_BYTES: u64 = 1 << 30;
/// The bounds of [`kept_bytes`].
const LEAST_KEPT: u64 = 64 << 20;
const MOST_KEPT: u64 = 1 << 30;
/// Descriptors besides those of connections: workers, the cache, the log.
const OTHER_DESCRIPTORS: u64 = 256;

/// Workers by default: one for each processor that this process may use, and no more than fit in memory.
pub(crate) fn default_workers() -> usize {
    workers_in(processors(), free_memory())
}

fn workers_in(processors: usize, free_memory: Option<u64>) -> usize {
    let fit = free_memory.map_or(u64::MAX, |bytes| bytes.saturating_sub(SPARE_BYTES) / WORKER_BYTES);
    processors.min(usize::try_from(fit).unwrap_or(usize::MAX)).max(1)
}

/// Bytes of tasks that a service keeps: a part of the free memory, where a task takes several times the bytes of its JSON.
pub(crate) fn kept_bytes() -> u64 {
    (free_memory().unwrap_or(MOST_KEPT) / 16).clamp(LEAST_KEPT, MOST_KEPT)
}

/// Memory that is free on the machine and in the control group.
pub(crate) fn free_memory() -> Option<u64> {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let group = match (number("/sys/fs/cgroup/memory.max"), number("/sys/fs/cgroup/memory.current")) {
        (Some(most), Some(used)) => Some(most.saturating_sub(used)),
        _ => None,
    };
    [group, memory::available()].into_iter().flatten().min()
}

/// Raises the number of descriptors that this process may open to what the system allows, and returns how many connections fit.
pub(crate) fn raise_descriptor_limit(connections: usize) -> usize {
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

    #[test]
    fn workers_are_bounded_by_processors_and_by_memory() {
        let gib = |count: u64| Some(count << 30);
        assert_eq!(workers_in(8, None), 8);
        assert_eq!(workers_in(8, gib(64)), 8);
        assert_eq!(workers_in(64, gib(3)), 8);
        assert_eq!(workers_in(8, gib(0)), 1);
    }

    #[test]
    fn no_more_connections_than_descriptors() {
        assert_eq!(raise_descriptor_limit(3), 3);
        assert!(raise_descriptor_limit(usize::MAX) > 3);
    }
}

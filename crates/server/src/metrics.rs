//! Counters, gauges and histograms of the service, in the OpenMetrics text format. Each service has its own: nothing is global.

use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::time::Duration;

use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Metric, Registry};

use crate::queue::QueueLoad;

pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A name, and the value of one of its series.
type Label = (&'static str, String);

pub(crate) struct Metrics {
    registry: Registry,
    jobs: Family<[Label; 1], Counter>,
    faults: Family<[Label; 1], Counter>,
    requests: Family<[Label; 2], Counter>,
    job_seconds: Histogram,
    queue_seconds: Histogram,
    fuel: Counter,
    cache_hits: Counter,
    cancelled: Counter,
    waiting: Gauge,
    running: Gauge,
    workers: Gauge,
    connections: Gauge,
}

const CANCELLED: &str = "Attempts and programs cancelled, in the queue or on a worker, because their client hung up or their deadline passed";

fn seconds_histogram() -> Histogram {
    // 0.25 ms to about 65 s, and more.
    Histogram::new(exponential_buckets(0.000_25, 2.0, 19))
}

/// Registers a metric. The format adds `_total` to the name of a counter.
fn add<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("veriplay");
        let to = &mut registry;
        Self {
            jobs: add(to, "jobs", "Attempts judged and programs run, by verdict or exit", Family::default()),
            faults: add(to, "faults", "Attempts without a verdict, by cause", Family::default()),
            requests: add(to, "http_requests", "Requests answered, by path and status code", Family::default()),
            job_seconds: add(to, "job_seconds", "Time that an attempt held a worker", seconds_histogram()),
            queue_seconds: add(to, "queue_seconds", "Time that an attempt waited for a worker", seconds_histogram()),
            fuel: add(to, "fuel", "Wasm fuel used by programs", Counter::default()),
            cache_hits: add(to, "cache_hits", "Verdicts that were in the cache", Counter::default()),
            cancelled: add(to, "cancelled", CANCELLED, Counter::default()),
            waiting: add(to, "queue_length", "Attempts that wait for a worker", Gauge::default()),
            running: add(to, "running", "Attempts that hold a worker", Gauge::default()),
            workers: add(to, "workers", "Worker threads, each with a sandbox of its own", Gauge::default()),
            connections: add(to, "connections", "Open connections", Gauge::default()),
            registry,
        }
    }

    /// Counts an attempt with a verdict, or a program that ran.
    pub(crate) fn count_job(&self, status: &str, fuel: u64, took: Duration) {
        self.jobs.get_or_create(&[("status", status.to_owned())]).inc();
        self.fuel.inc_by(fuel);
        self.job_seconds.observe(took.as_secs_f64());
    }

    pub(crate) fn count_wait(&self, waited: Duration) {
        self.queue_seconds.observe(waited.as_secs_f64());
    }

    pub(crate) fn count_fault(&self, kind: &str) {
        self.faults.get_or_create(&[("kind", kind.to_owned())]).inc();
    }

    pub(crate) fn count_cache_hit(&self) {
        self.cache_hits.inc();
    }

    /// Counts a request. `path` is a route, never what a client wrote.
    pub(crate) fn count_request(&self, path: &str, code: u16) {
        self.requests.get_or_create(&[("path", path.to_owned()), ("code", code.to_string())]).inc();
    }

    /// All of them as text, with the load at this moment.
    pub(crate) fn render(&self, queue: QueueLoad, workers: usize, connections: usize) -> String {
        for (gauge, value) in [
            (&self.waiting, queue.waiting),
            (&self.running, queue.running),
            (&self.workers, workers),
            (&self.connections, connections),
        ] {
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        }
        self.cancelled.inner().store(queue.cancelled, Ordering::Relaxed);
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode_registry(&mut text, &self.registry);
        add_process(&mut text);
        let _ = encode_eof(&mut text);
        text
    }
}

/// Adds memory, descriptors and threads of this process, by the names that Prometheus' clients use; nothing where the kernel does not tell them.
fn add_process(text: &mut String) -> Option<()> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let number = |name: &str| {
        let rest = status.lines().find_map(|line| line.strip_prefix(name))?;
        rest.split_whitespace().next()?.parse::<u64>().ok()
    };
    let descriptors = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    for (name, help, value) in [
        ("resident_memory_bytes", "Resident memory in bytes", number("VmRSS:")? * 1024),
        ("open_fds", "Open descriptors", descriptors),
        ("threads", "Threads", number("Threads:")?),
    ] {
        let _ = writeln!(text, "# HELP process_{name} {help}\n# TYPE process_{name} gauge\nprocess_{name} {value}");
    }
    Some(())
}

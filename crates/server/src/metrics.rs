//! Counters, gauges and histograms of the service, in the OpenMetrics text format. Each service has its own: nothing is global.

use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::queue::QueueLoad;

/// The content type of [`Metrics::render`].
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StatusLabel {
    status: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct FaultLabel {
    kind: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    path: String,
    code: u32,
}

/// The metrics of a service.
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    jobs: Family<StatusLabel, Counter>,
    faults: Family<FaultLabel, Counter>,
    requests: Family<RequestLabels, Counter>,
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

/// What is read at the moment of a scrape.
pub(crate) struct Load {
    pub(crate) queue: QueueLoad,
    pub(crate) workers: usize,
    pub(crate) connections: usize,
}

fn seconds_histogram() -> Histogram {
    // 0.25 ms to about 65 s, and more.
    Histogram::new(exponential_buckets(0.000_25, 2.0, 19))
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let metrics = Self {
            registry: Mutex::default(),
            jobs: Family::default(),
            faults: Family::default(),
            requests: Family::default(),
            job_seconds: seconds_histogram(),
            queue_seconds: seconds_histogram(),
            fuel: Counter::default(),
            cache_hits: Counter::default(),
            cancelled: Counter::default(),
            waiting: Gauge::default(),
            running: Gauge::default(),
            workers: Gauge::default(),
            connections: Gauge::default(),
        };
        metrics.register();
        metrics
    }

    /// Names all of them. The format adds `_total` to counters.
    fn register(&self) {
        let mut registry = Registry::with_prefix("veriplay");
        registry.register("jobs", "Attempts judged and programs run, by verdict or exit", self.jobs.clone());
        registry.register("faults", "Attempts without a verdict, by cause", self.faults.clone());
        registry.register("http_requests", "Requests answered, by path and status code", self.requests.clone());
        registry.register("job_seconds", "Time that an attempt held a worker", self.job_seconds.clone());
        registry.register("queue_seconds", "Time that an attempt waited for a worker", self.queue_seconds.clone());
        registry.register("fuel", "Wasm fuel used by programs", self.fuel.clone());
        registry.register("cache_hits", "Verdicts that were in the cache", self.cache_hits.clone());
        registry.register(
            "cancelled",
            "Attempts and programs cancelled, in the queue or on a worker, because their client hung up or their deadline passed",
            self.cancelled.clone(),
        );
        registry.register("queue_length", "Attempts that wait for a worker", self.waiting.clone());
        registry.register("running", "Attempts that hold a worker", self.running.clone());
        registry.register("workers", "Worker threads, each with a sandbox of its own", self.workers.clone());
        registry.register("connections", "Open connections", self.connections.clone());
        if let Ok(mut place) = self.registry.lock() {
            *place = registry;
        }
    }

    /// Counts an attempt with a verdict, or a program that ran.
    pub(crate) fn count_job(&self, status: &str, fuel: u64, took: Duration) {
        self.jobs.get_or_create(&StatusLabel { status: status.to_owned() }).inc();
        self.fuel.inc_by(fuel);
        self.job_seconds.observe(took.as_secs_f64());
    }

    pub(crate) fn count_wait(&self, waited: Duration) {
        self.queue_seconds.observe(waited.as_secs_f64());
    }

    pub(crate) fn count_fault(&self, kind: &str) {
        self.faults.get_or_create(&FaultLabel { kind: kind.to_owned() }).inc();
    }

    pub(crate) fn count_cache_hit(&self) {
        self.cache_hits.inc();
    }

    /// Counts a request. `path` is a route, never what a client wrote.
    pub(crate) fn count_request(&self, path: &str, code: u16) {
        self.requests.get_or_create(&RequestLabels { path: path.to_owned(), code: code.into() }).inc();
    }

    /// All of them as text.
    pub(crate) fn render(&self, load: &Load) -> String {
        let set = |gauge: &Gauge, value: usize| {
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        };
        set(&self.waiting, load.queue.waiting);
        set(&self.running, load.queue.running);
        set(&self.workers, load.workers);
        set(&self.connections, load.connections);
        self.cancelled.inner().store(load.queue.cancelled, Ordering::Relaxed);
        let mut text = String::new();
        if let Ok(registry) = self.registry.lock() {
            // Writing to a string cannot fail.
            let _ = encode(&mut text, &registry);
        }
        // The end of the document comes last.
        let end = "# EOF\n";
        text.truncate(text.len() - if text.ends_with(end) { end.len() } else { 0 });
        let _ = process_metrics(&mut text);
        text + end
    }
}

/// Memory, processor time and descriptors of this process, by the names that Prometheus' clients use.
fn process_metrics(text: &mut String) -> std::fmt::Result {
    let Some(process) = ProcessUse::read() else { return Ok(()) };
    let mut line = |kind: &str, name: &str, suffix: &str, help: &str, value: String| {
        writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name}{suffix} {value}")
    };
    line("gauge", "process_resident_memory_bytes", "", "Resident memory in bytes", process.resident.to_string())?;
    line("gauge", "process_open_fds", "", "Open descriptors", process.descriptors.to_string())?;
    line("gauge", "process_threads", "", "Threads", process.threads.to_string())
}

struct ProcessUse {
    resident: u64,
    descriptors: usize,
    threads: u64,
}

impl ProcessUse {
    fn read() -> Option<Self> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let number = |name: &str| {
            let rest = status.lines().find_map(|line| line.strip_prefix(name))?;
            rest.split_whitespace().next()?.parse::<u64>().ok()
        };
        let descriptors = std::fs::read_dir("/proc/self/fd").ok()?.count();
        Some(Self { resident: number("VmRSS:")? * 1024, descriptors, threads: number("Threads:")? })
    }
}

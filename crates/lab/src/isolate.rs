//! `veriplay isolate`: the isolation suite on our own sandbox, or on somebody else's.
//!
//! `veriplay_corpus::probes` has the probes and judges their runs. This module runs them, in [`own_sandbox`] or on a [`Target`] (any
//! [`command`] that runs a Python file, an image of [`docker`], or a [`fusion`] server), and reports the results ([`report`], [`sarif`]). [`selection`] says which
//! probes are tried, [`allow`] which need not be contained. [`report_files`] are checked first. [`forgeries`] are probes of the
//! verifier, counted apart. [`bait`] is planted on the host for programs to find: a listener, a file, a variable. [`service`] has probes of
//! another kind, of a service and its clients; [`catalog`] has the names of all.

pub mod allow;
pub mod bait;
pub mod catalog;
pub mod command;
pub mod docker;
pub mod forgeries;
pub mod fusion;
pub mod own_sandbox;
pub mod report;
pub mod report_files;
pub mod sarif;
pub mod selection;
pub mod service;
pub mod target;
pub mod tokens;

use std::time::{Duration, Instant};

use chrono::NaiveDate;
use serde::{Serialize, Serializer};
use veriplay_corpus::probes::Probe;
use veriplay_corpus::probes::judge::{Containment, Finding};
use veriplay_corpus::probes::run::in_parallel;

use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::interrupt;

use bait::Bait;
use command::CommandTarget;
use docker::DockerTarget;
use fusion::{ConnectOptions, FusionTarget};
use target::Target;

/// The result of one probe.
#[derive(Debug, Clone, Serialize)]
pub struct ProbeResult {
    /// The class of attacks that it belongs to.
    pub class: String,
    /// Its name within the class.
    pub name: String,
    /// What it tries, in one line.
    pub title: String,
    /// Whether it was contained, and the evidence.
    #[serde(flatten)]
    pub finding: Finding,
    /// Why it need not be contained, where an allow-list says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
    /// How long it ran on the target.
    #[serde(rename = "seconds", serialize_with = "serialize_seconds")]
    pub took: Duration,
}

fn serialize_seconds<S: Serializer>(took: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(took.as_secs_f64())
}

impl ProbeResult {
    /// The result of a probe that was begun at `started` and has ended.
    fn new(class: &str, name: &str, title: &str, finding: Finding, started: Instant) -> Self {
        let (class, name, title) = (class.to_owned(), name.to_owned(), title.to_owned());
        Self { class, name, title, finding, took: started.elapsed(), allowed: None }
    }

    /// Class and name.
    pub fn id(&self) -> String {
        format!("{}/{}", self.class, self.name)
    }

    /// Whether it makes the suite fail.
    pub fn is_failure(&self) -> bool {
        self.finding.verdict != Containment::Contained && self.allowed.is_none()
    }
}

/// What was attacked, and how the suite ended.
#[derive(Debug)]
pub struct SuiteEnd<'a> {
    /// What was attacked, as reports name it.
    pub target: &'a str,
    /// How long the whole suite ran.
    pub took: Duration,
    /// Whether a signal stopped it.
    pub stopped: bool,
    /// The day by which allow-list entries expire.
    pub today: NaiveDate,
}

/// Runs `probes` on this number of threads, and calls `each` after every one. After a signal the rest is left out.
pub fn run_probes(
    probes: &[Probe],
    threads: usize,
    attempt: &(dyn Fn(&Probe) -> Finding + Sync),
    each: &(dyn Fn() + Sync),
) -> Vec<ProbeResult> {
    let run = |probe: &Probe| {
        if interrupt::requested() {
            return None;
        }
        let started = Instant::now();
        let finding = attempt(probe);
        each();
        Some(ProbeResult::new(probe.class, &probe.name, &probe.title, finding, started))
    };
    in_parallel(probes, threads, &run).into_iter().flatten().collect()
}

/// Opens what `--target` names: anything but a service, whose probes are others.
pub fn open_target(text: &str, bait: &Bait, options: ConnectOptions<'_>) -> Result<Box<dyn Target>, Failure> {
    match text.split_once(':') {
        Some(("cmd", command)) => Ok(Box::new(CommandTarget::new(command, bait.secret())?)),
        Some(("docker", image)) => Ok(Box::new(DockerTarget::new(image, bait.secret())?)),
        Some(("sandboxfusion", url)) => Ok(Box::new(FusionTarget::new(url, options)?)),
        _ => Err(Failure::message(ExitCode::Input, format!("--target `{text}` has an unknown kind"))
            .hint("write `cmd:\"python3 {file}\"`, `docker:IMAGE`, `sandboxfusion:http://host:8080`, `service` or `service:http://host:8080`")),
    }
}

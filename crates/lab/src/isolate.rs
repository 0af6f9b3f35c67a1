//! `veriplay isolate`: the isolation suite on our own sandbox, or on somebody else's.
//!
//! `veriplay_corpus::probes` has the probes and judges their runs. This module runs them, in [`own_sandbox`] or on a [`Target`] (any
//! [`command`] that runs a Python file, an image of [`docker`], or a [`fusion`] server), and reports the results ([`report`], [`sarif`], whose results are at a [`sarif_place`]). [`selection`] says which
//! probes are tried, [`not_tried`] which are not and why, [`allow`] which need not be contained. [`report_files`] are checked first. [`forgeries`] are probes of the
//! verifier, counted apart. [`bait`] is planted on the host for programs to find: a listener, a file, a variable. [`service`] has probes of
//! another kind, of a service and its clients; [`catalog`] has the names of all.

pub mod allow;
pub mod bait;
pub mod catalog;
pub mod command;
pub mod docker;
pub mod forgeries;
pub mod fusion;
pub mod not_tried;
pub mod own_sandbox;
pub mod report;
pub mod report_files;
pub mod sarif;
mod sarif_place;
pub mod selection;
pub mod service;
pub mod target;
pub mod tokens;

use std::time::{Duration, Instant};

use chrono::NaiveDate;
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
#[derive(Debug, Clone)]
pub struct ProbeResult {
    /// The class of attacks that it belongs to.
    pub class: String,
    /// Its name within the class.
    pub name: String,
    /// What it tries, in one line.
    pub title: String,
    /// Whether it was contained, and the evidence.
    pub finding: Finding,
    /// How long it ran on the target.
    pub took: Duration,
    /// Why it need not be contained, where an allow-list says so.
    pub allowed: Option<String>,
}

impl ProbeResult {
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
        let (class, name, title) = (probe.class.to_owned(), probe.name.clone(), probe.title.clone());
        Some(ProbeResult { class, name, title, finding, took: started.elapsed(), allowed: None })
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

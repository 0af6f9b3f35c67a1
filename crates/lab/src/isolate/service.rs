//! Probes of a *service* that judges or runs programs: what a malicious or broken client can do to it, and what one client may see of
//! another. The target is a `veriplay serve` that the suite starts ([`own`]), or any service that answers SandboxFusion's `/run_code`.
//!
//! A probe sends bytes over sockets of its own ([`client`]) and judges what comes back. After each, a known program must be answered right on
//! a new connection; otherwise the probe has escaped, whatever else it found. Probes run one after another, so that an effect has one cause.
//! What the service does not have, such as tokens, is not held against it: the probe is skipped, with the reason.

mod access;
mod client;
mod clients;
mod framing;
mod input;
mod load;
mod own;
pub mod probe;

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use anyhow::Context;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::interrupt;
use veriplay_corpus::probes::judge::{Containment, Finding};
use veriplay_server::raise_descriptor_limit;

use super::ProbeResult;
use super::tokens::read_tokens;
use crate::http::Target;
use client::{Failed, PATIENCE, Planted, Service};
use own::OwnService;
use probe::{Needs, ServiceProbe};

/// The name of such a target before its address.
pub const KIND: &str = "service";
/// Idle connections to a service that the suite has started, where descriptors allow them, and to others.
const MOST_IDLE: usize = 10_000;
const IDLE_ELSEWHERE: usize = 512;
/// What a slow client is waited for beyond the limits that our own service was started with.
const SLACK: Duration = Duration::from_secs(10);
/// How often a signal is looked for while a probe runs, and how long the probe is waited for after one.
const LOOK: Duration = Duration::from_millis(50);
const LAST_WAIT: Duration = Duration::from_secs(1);
const THREAD: &str = "probe";

static PROBES: LazyLock<Vec<ServiceProbe>> = LazyLock::new(|| {
    [
        ServiceProbe::all_of("service_input", include_str!("service/input.toml"), input::ATTEMPTS),
        ServiceProbe::all_of("service_framing", include_str!("service/framing.toml"), framing::ATTEMPTS),
        ServiceProbe::all_of("service_load", include_str!("service/load.toml"), load::ATTEMPTS),
        ServiceProbe::all_of("service_access", include_str!("service/access.toml"), access::ATTEMPTS),
        ServiceProbe::all_of("service_clients", include_str!("service/clients.toml"), clients::ATTEMPTS),
    ]
    .into_iter()
    .flatten()
    .collect()
});

/// All probes, in the order of reports.
pub fn probes() -> Vec<&'static ServiceProbe> {
    PROBES.iter().collect()
}

/// A service that answers, and its process where the suite has started it.
pub struct OpenService {
    service: Arc<Service>,
    own: Option<OwnService>,
}

/// How to speak to a service.
pub struct ServiceOptions<'a> {
    /// A file with one token a line; the second is another client's.
    pub token_file: Option<&'a Path>,
    /// The service's log.
    pub log: Option<&'a Path>,
    /// How long a client that is too slow is watched.
    pub slow_patience: Duration,
}

impl OpenService {
    /// Opens the service at `url`, or starts one.
    pub fn open(url: Option<&str>, options: &ServiceOptions<'_>) -> Result<Self, Failure> {
        let (own, mut service) = match url {
            None => {
                let own = OwnService::start()?;
                let service = Service {
                    tokens: own.tokens.clone(),
                    idle_connections: raise_descriptor_limit(MOST_IDLE),
                    host_secrets: own.secrets(),
                    log: Some(own.log()),
                    slow_patience: Duration::from_secs(own::HEAD_SECONDS.max(own::BODY_SECONDS)) + SLACK,
                    ..Service::at(parse_address(&own.address)?)?
                };
                (Some(own), service)
            }
            Some(url) => {
                let tokens = options.token_file.map(read_tokens).transpose()?.unwrap_or_default();
                let service = Service {
                    idle_connections: raise_descriptor_limit(IDLE_ELSEWHERE),
                    host_secrets: tokens.clone(),
                    tokens,
                    log: options.log.map(Path::to_owned),
                    slow_patience: options.slow_patience,
                    ..Service::at(parse_address(url)?)?
                };
                (None, service)
            }
        };
        service.target.token = service.tokens.first().cloned();
        service.meet()?;
        Ok(Self { service: Arc::new(service), own })
    }

    /// What it is, for reports.
    pub fn name(&self) -> String {
        match &self.own {
            Some(_) => "`veriplay serve`, started by the suite".to_owned(),
            None => format!("the service at {}", self.service.target),
        }
    }

    /// Why a probe says nothing about this service.
    pub fn reason_against(&self, probe: &ServiceProbe) -> Option<&'static str> {
        let Service { is_native, tokens, log, .. } = &*self.service;
        match probe.text.needs {
            Needs::RunCode => None,
            Needs::Native => (!is_native).then_some("it has no `/v1/verify`"),
            Needs::Token => tokens.is_empty().then_some("no token is known: `--token-file` has one a line"),
            Needs::TwoClients if !is_native => Some("it has no `/v1/verify`"),
            Needs::TwoClients => (tokens.len() < 2).then_some("they need two tokens: `--token-file` has one a line"),
            Needs::Log => log.is_none().then_some("its log is not known: `--service-log` names it"),
        }
    }

    /// Runs probes one after another, and calls `each` after every one. After a signal the rest is left out.
    pub fn attack(&self, probes: &[&'static ServiceProbe], each: &dyn Fn()) -> Vec<ProbeResult> {
        let run = |&probe: &&'static ServiceProbe| {
            let started = Instant::now();
            let finding = self.attempt_until_signal(probe)?;
            each();
            Some(ProbeResult::new(probe.class, &probe.text.name, &probe.text.title, finding, started))
        };
        probes.iter().map_while(run).collect()
    }

    /// The finding about a probe, unless a signal comes first. Probes wait for time limits of the service, which a person who stops the suite does
    /// not: the thread of such a probe is left alone, and ends with this process.
    fn attempt_until_signal(&self, probe: &'static ServiceProbe) -> Option<Finding> {
        if interrupt::requested() {
            return None;
        }
        let unclear = |why: &str| Some(Finding::new(Containment::Unclear, why));
        let (sender, receiver) = channel();
        let service = Arc::clone(&self.service);
        // The receiver may have gone.
        let attempt = move || drop(sender.send(service.attempt(probe)));
        if let Err(error) = std::thread::Builder::new().name(THREAD.to_owned()).spawn(attempt) {
            return unclear(&format!("its thread cannot be started: {error}"));
        }
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(finding) => return Some(finding),
                Err(RecvTimeoutError::Disconnected) => return unclear("the thread that ran it panicked"),
                Err(RecvTimeoutError::Timeout) if interrupt::requested() => {
                    return receiver.recv_timeout(LAST_WAIT).ok();
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Service {
    /// Checks that it runs a known program, and finds out what it is. The first answer of a service that starts takes a while.
    fn meet(&mut self) -> Result<(), Failure> {
        let unfit = |why: String| {
            let what = format!("`--target` does not run a plain program by POST /run_code: {why}");
            Failure::message(ExitCode::Input, what)
                .hint("the address is the service's own, as `http://HOST:PORT` or `unix:/PATH`; nothing was attacked")
        };
        self.check_known_program(PATIENCE.saturating_mul(2)).map_err(unfit)?;
        let info = clients::get_json(self, "/v1/info").map_err(unfit)?;
        self.is_native = info.as_ref().is_some_and(|info| info["image_digest"].is_string());
        self.body_bytes = info.as_ref().and_then(|info| info["body_bytes"].as_u64());
        Ok(())
    }

    fn attempt(&self, probe: &ServiceProbe) -> Finding {
        let attempted = match (probe.attempt, probe.text.hiding.as_slice()) {
            (Some(attempt), _) => attempt(self),
            (None, []) => input::expect_refusals(self, &probe.text.refused),
            (None, heads) => framing::expect_one_request(self, heads),
        };
        let (verdict, evidence) = match (attempted, self.check_known_program(PATIENCE)) {
            (Err(Failed::Escaped(evidence)), _) => (Containment::Escaped, evidence),
            (_, Err(why)) => (Containment::Escaped, format!("afterwards {why}")),
            (Err(Failed::Unclear(why)), Ok(())) => (Containment::Unclear, why),
            (Ok(evidence), Ok(())) => (Containment::Contained, evidence),
        };
        // Reports are read by more people than tokens are for.
        let evidence = self.tokens.iter().fold(evidence, |text, token| text.replace(token.as_str(), "TOKEN"));
        Finding::new(verdict, &evidence)
    }

    /// A service of which nothing is known but its address.
    fn at(target: Target) -> Result<Self, Failure> {
        let planted =
            Planted::lay().context("cannot write a file in the temporary directory").or_fail(ExitCode::Host)?;
        Ok(Self {
            target,
            tokens: Vec::new(),
            is_native: false,
            body_bytes: None,
            slow_patience: SLACK,
            idle_connections: IDLE_ELSEWHERE,
            host_secrets: Vec::new(),
            planted,
            log: None,
        })
    }
}

fn parse_address(url: &str) -> Result<Target, Failure> {
    url.parse::<Target>().map_err(|error| {
        Failure::message(ExitCode::Input, format!("`--target service:{url}`: {error}"))
            .hint("these probes speak to the service's own socket, byte by byte; behind TLS they would try the proxy")
    })
}

//! A probe of a service: what it does, what it needs, and the classes that such probes are counted in.

use veriplay_corpus::probes::{ProbeClass, Severity};

use super::client::{Failed, Service};

/// The classes, in the order of reports. Their probes are in the file of the class's name.
pub const CLASSES: &[ProbeClass] = &[
    ProbeClass {
        name: "service_input",
        tries: "send malformed, oversized and deep requests",
        hint: "refuse with a 4xx that names the field; bound bodies, depth and time limits before anything is parsed or run",
        severity: Severity::Medium,
    },
    ProbeClass {
        name: "service_framing",
        tries: "send two requests where the service, or a proxy before it, sees one; write headers of answers",
        hint: "refuse what HTTP/1.1 (RFC 9112) calls ambiguous, end the connection after it, and never copy a client's bytes into a head",
        severity: Severity::High,
    },
    ProbeClass {
        name: "service_load",
        tries: "keep others from being answered",
        hint: "bound heads, bodies, connections and waiting work in time and number, cancel the work of clients that left, take turns, and give each \
               program limits and a process that may die",
        severity: Severity::Medium,
    },
    ProbeClass {
        name: "service_access",
        tries: "use the service without its token, or reach files of its host",
        hint: "ask every path for the whole token before anything else is done, and let no path or file name leave the program's own folder",
        severity: Severity::Critical,
    },
    ProbeClass {
        name: "service_clients",
        tries: "learn of the host or of other clients from answers, or change what others are answered",
        hint: "answer errors in fixed words, key every kept verdict by all that it depends on, and give each program a fresh state",
        severity: Severity::Critical,
    },
];

/// One attack on a service.
pub struct ServiceProbe {
    /// One of [`CLASSES`].
    pub class: &'static str,
    /// Its name within the class.
    pub name: &'static str,
    /// What it tries, in one line.
    pub title: &'static str,
    /// What it sends, why that matters, and when it is contained.
    pub statement: &'static str,
    /// Without which it says nothing.
    pub needs: Needs,
    pub(super) attempt: fn(&Service) -> Result<String, Failed>,
}

/// What a service must have for a probe to say anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// `POST /run_code` alone.
    RunCode,
    /// Veriplay's own endpoints too.
    Native,
    /// A token that every request must have.
    Token,
    /// Veriplay's own endpoints, and two tokens.
    TwoClients,
    /// A log that the suite can read.
    Log,
}

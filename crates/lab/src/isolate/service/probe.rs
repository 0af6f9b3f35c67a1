//! A probe of a service: what it does, what it needs, and the classes that such probes are counted in.

use serde::Deserialize;
use veriplay_corpus::probes::{ProbeClass, Severity};

use super::client::Attempt;

/// The classes, in the order of reports. The texts of their probes and their attempts are in the two files of the class's name.
pub(crate) const CLASSES: &[ProbeClass] = &[
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
    /// What its class's file says of it.
    pub text: ProbeText,
    /// `None` where the text has what is sent.
    pub(super) attempt: Option<Attempt>,
}

/// A probe in the file of its class.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeText {
    /// Its name within the class.
    pub name: String,
    /// What it tries, in one line.
    pub title: String,
    /// What it sends, why that matters, and when it is contained.
    pub statement: String,
    /// Without which it says nothing.
    #[serde(default)]
    pub needs: Needs,
    /// The whole probe, where it is nothing but requests that must be refused.
    #[serde(default)]
    pub(super) refused: Vec<RefusedRequest>,
    /// The whole probe, where it is nothing but heads of requests behind which another request hides, each as its lines. `{all}` is the length of
    /// what follows the head.
    #[serde(default)]
    pub(super) hiding: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RefusedRequest {
    pub(super) path: String,
    pub(super) body: String,
    /// What the answer must speak of.
    #[serde(default)]
    pub(super) names: String,
    /// What evidence calls it, if not by its path and `names`.
    pub(super) called: Option<String>,
}

/// What a service must have for a probe to say anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Needs {
    /// `POST /run_code` alone.
    #[default]
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassText {
    probe: Vec<ProbeText>,
}

impl ServiceProbe {
    /// The probes of a class, in the order of its file. Each has there what it sends, or one of `attempts` by its name.
    pub(super) fn all_of(class: &'static str, file: &str, attempts: &[(&str, Attempt)]) -> Vec<Self> {
        let ClassText { probe: texts } = toml::from_str(file).expect("the file is part of this program");
        let without = texts.iter().filter(|text| text.refused.is_empty() && text.hiding.is_empty()).count();
        assert_eq!(without, attempts.len(), "attempts of {class}");
        let with_attempt = |text: ProbeText| {
            let attempt = attempts.iter().find(|(name, _)| *name == text.name).map(|(_, attempt)| *attempt);
            let sends = !text.refused.is_empty() || !text.hiding.is_empty();
            assert!(attempt.is_some() != sends, "what does `{}` of {class} do?", text.name);
            Self { class, text, attempt }
        };
        texts.into_iter().map(with_attempt).collect()
    }
}

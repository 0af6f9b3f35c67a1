//! The client's side of the probes: requests byte by byte, answers, why a probe was not contained, and the known program by which a service
//! shows that it still works.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use veriplay_console::leftovers::TemporaryFolder;

use crate::http::{Answer, Connection, ExchangeError, Request, Target};

/// How long an answer is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// How long a known program may take while the service is attacked.
pub(super) const BUSY_PATIENCE: Duration = Duration::from_secs(10);
/// Characters of an answer that evidence shows.
const SHOWN: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failed {
    Escaped(String),
    Unclear(String),
}

/// What a probe does: the evidence that it was contained, or why it was not.
pub(super) type Attempt = fn(&Service) -> Result<String, Failed>;

impl From<ExchangeError> for Failed {
    fn from(error: ExchangeError) -> Self {
        Failed::Unclear(words(&error))
    }
}

pub(super) fn words(error: &ExchangeError) -> String {
    match error {
        ExchangeError::Closed => "the connection was closed without an answer".to_owned(),
        ExchangeError::TimedOut => "there was no answer in time".to_owned(),
        ExchangeError::Failed(why) => why.clone(),
    }
}

/// Ends a probe as escaped, where `is_out`.
pub(super) fn escaped_if(is_out: bool, evidence: impl FnOnce() -> String) -> Result<(), Failed> {
    if is_out { Err(Failed::Escaped(evidence())) } else { Ok(()) }
}

pub(crate) struct Service {
    pub(super) target: Target,
    /// What a request must have, if anything. The second is another client's.
    pub(super) tokens: Vec<String>,
    pub(super) is_native: bool,
    /// The largest body, where the service says so.
    pub(super) body_bytes: Option<u64>,
    /// How long a client that is too slow is watched before the service is said to wait for ever.
    pub(super) slow_patience: Duration,
    /// Idle connections that are opened at once.
    pub(super) idle_connections: usize,
    /// What no answer may contain: secrets and names of the host.
    pub(super) host_secrets: Vec<String>,
    /// A file of this host that no answer may contain, and its content.
    pub(super) planted: Planted,
    pub(super) log: Option<std::path::PathBuf>,
}

/// A file on this machine for requests to find, and the folder that it is alone in.
pub(super) struct Planted {
    pub(super) folder: TemporaryFolder,
    pub(super) content: String,
}

impl Planted {
    pub(super) fn lay() -> std::io::Result<Self> {
        let folder = TemporaryFolder::new("veriplay-planted-")?;
        let content = marker("planted");
        std::fs::write(folder.path().join("file"), &content)?;
        Ok(Self { folder, content })
    }

    pub(super) fn path(&self) -> String {
        self.folder.path().join("file").display().to_string()
    }
}

/// A text that stands nowhere else.
pub(super) fn marker(what: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{what}-{:016x}", RandomState::new().hash_one((number, std::process::id())))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) stdout: String,
    pub(super) text: String,
}

pub(super) fn run_code(program: &str) -> Request {
    Request::post("/run_code", run_body(program).to_string())
}

pub(super) fn run_body(program: &str) -> Value {
    json!({"code": program, "language": "python", "compile_timeout": 10, "run_timeout": 5})
}

impl Service {
    pub(super) fn connect(&self) -> Result<Connection, ExchangeError> {
        self.target.connect(PATIENCE)
    }

    /// Sends a request on a connection of its own and reads the answer.
    pub(super) fn ask(&self, request: &Request) -> Result<Answer, ExchangeError> {
        self.ask_within(request, PATIENCE)
    }

    pub(super) fn ask_within(&self, request: &Request, patience: Duration) -> Result<Answer, ExchangeError> {
        let mut connection = self.target.connect(patience)?;
        connection.send(&request.bytes(&self.target))?;
        connection.read_answer()
    }

    /// Runs a program as the client with this request's token.
    pub(super) fn run(&self, request: &Request, patience: Duration) -> Result<Ran, String> {
        let answer = self.ask_within(request, patience).map_err(|error| words(&error))?;
        parse_ran(&answer)
    }

    /// Whether a known program of the last client is answered right, on a new connection.
    pub(super) fn check_known_program(&self, patience: Duration) -> Result<(), String> {
        let marker = marker("known");
        let (half, rest) = marker.split_at(9);
        let mut request = run_code(&format!("print({half:?} + {rest:?})"));
        if let Some(token) = self.tokens.last() {
            request = request.with_token(token);
        }
        let ran = self.run(&request, patience).map_err(|why| format!("a known program has no answer: {why}"))?;
        if ran.stdout.trim() == marker {
            return Ok(());
        }
        Err(format!("a known program is answered wrong: {}", excerpt(&ran.text)))
    }

    /// The evidence that a request was refused with a 4xx, and by name where one is given.
    pub(super) fn expect_refusal(&self, what: &str, request: &Request, name: &str) -> Result<String, Failed> {
        let answer = match self.ask(request) {
            Ok(answer) => answer,
            Err(error) => return Err(Failed::Escaped(format!("{what}: {}", words(&error)))),
        };
        let text = String::from_utf8_lossy(&answer.body);
        match answer.status {
            400..=499 if text.contains(name) => Ok(format!("{what}: {}", answer.status)),
            400..=499 => {
                Err(Failed::Escaped(format!("{what}: {} does not name `{name}`: {}", answer.status, excerpt(&text))))
            }
            status => Err(Failed::Escaped(format!("{what}: status {status}: {}", excerpt(&text)))),
        }
    }

    pub(super) fn json_paths(&self) -> &'static [&'static str] {
        const OTHERS: &[&str] =
            &["/run_code", "/submit", "/get_reward", "/verify", "/v1/run", "/v1/verify", "/v1/tasks"];
        if self.is_native { OTHERS } else { &OTHERS[..1] }
    }
}

/// The result of a program, from an answer of `/run_code`.
pub(super) fn parse_ran(answer: &Answer) -> Result<Ran, String> {
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    match body["run_result"]["stdout"].as_str() {
        Some(stdout) if answer.status == 200 => Ok(Ran { stdout: stdout.to_owned(), text }),
        _ => Err(format!("status {}: {}", answer.status, excerpt(&text))),
    }
}

pub(super) fn excerpt(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

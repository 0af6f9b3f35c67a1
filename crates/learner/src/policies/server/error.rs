//! What can go wrong between this process and a server.

use std::time::Duration;

/// A fault of a server, of the way to it, or of what it answered.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The name of a served model that cannot be used.
    #[error("`{name}` names no served model: {problem}; want `URL#MODEL`, such as `http://127.0.0.1:8000#org/name`")]
    Name {
        /// What was given, without its user information.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The tokenizer that was named with it.
    #[error(transparent)]
    Tokenizer(#[from] crate::tokenizer::TokenizerError),
    /// A prompt, or sampling options, that no server could take.
    #[error(transparent)]
    Refused(#[from] veriplay_core::PolicyError),
    /// No answer: the connection failed or was cut.
    #[error("no answer: {0}")]
    Connection(String),
    /// No answer in time.
    #[error("no answer within {}", seconds(*.0))]
    Timeout(Duration),
    /// The server says no.
    #[error("the server answered {status}: {message}")]
    Status {
        /// HTTP status.
        status: u16,
        /// The beginning of what it said.
        message: String,
        /// How long it wants us to wait.
        retry_after: Option<Duration>,
    },
    /// The server wants us to wait longer than is allowed.
    #[error("the server answered {status} and wants to be asked again in {}, longer than the {} allowed", seconds(*.wait), seconds(*.longest))]
    Wait {
        /// HTTP status.
        status: u16,
        /// What it asks for.
        wait: Duration,
        /// What is allowed.
        longest: Duration,
    },
    /// The answer is larger than is allowed.
    #[error("the answer is larger than the {0} bytes allowed: ask for fewer samples or tokens")]
    TooLarge(u64),
    /// The answer is not JSON, or JSON of another kind.
    #[error("the answer is not that of a completions server: {reason}; it begins `{excerpt}`")]
    Malformed {
        /// The parser's word.
        reason: String,
        /// Its beginning.
        excerpt: String,
    },
    /// The answer contradicts itself or what was asked.
    #[error("the answer contradicts what was asked: {0}")]
    Shape(String),
    /// A prompt failed for good.
    #[error("prompt {index} after {attempts} attempts: {source}")]
    Prompt {
        /// Which prompt of the call.
        index: usize,
        /// How often the server was asked without getting on.
        attempts: usize,
        /// The last fault.
        source: Box<Self>,
    },
}

impl ServerError {
    /// Whether asking again may help.
    pub(super) const fn is_passing(&self) -> bool {
        match self {
            Self::Connection(_) | Self::Timeout(_) | Self::Malformed { .. } | Self::Shape(_) => true,
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599) && *status != 501,
            _ => false,
        }
    }
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

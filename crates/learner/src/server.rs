//! A model that is served elsewhere, by a server that speaks OpenAI's protocol: vLLM, SGLang, llama.cpp. A prompt in text goes to its
//! completions, and a conversation to its chat completions, where the server renders it by its own chat template.
//!
//! The command line uses it for `openai:URL#MODEL`. The group of a prompt is one request (`n`); at most
//! [`ServerOptions::concurrency`] requests run at a time; a transient fault is retried, and received samples are kept.
//!
//! Rollouts hold only what the server reports:
//! - Token ids are there if the server gives them (vLLM), or llama.cpp's log-probabilities do; else [`Rollout::tokens`] is empty.
//! - Log-probabilities are there at temperature 1. At other temperatures servers differ in whether theirs are taken before or after
//!   scaling, so they are left empty.
//! - Sample j of prompt i is requested with a seed that is a function of (seed, i) for the whole group; whether the server's samples
//!   repeat is up to the server, and with batching most do not, to the bit.

mod requests;
mod rollouts;
mod sglang;
mod transport;
mod wire;

use std::time::Duration;

use veriplay_core::{Policy, PolicyError, PolicyVersion, Prompt, PromptContent, Rollout, Sampling};

use self::requests::{request_samples, run_each};
pub(crate) use self::rollouts::CurrentWeights;
pub use self::rollouts::{RolloutServer, ServerProtocol};
pub use self::transport::ApiKey;
use self::transport::{Client, ServerUrl, quote_name};
use self::wire::Completion;
use crate::sampling::check_sampling;
use crate::tokenizer::Tokenizer;

/// Limits and options of requests to a server.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Sent as `Authorization: Bearer`.
    pub key: Option<ApiKey>,
    /// Maximum requests in flight.
    pub concurrency: usize,
    /// Attempts for a prompt without progress, the first one included.
    pub attempts: usize,
    /// Of them, attempts that may end without an answer in time.
    pub timeouts: usize,
    /// The wait before the second attempt; doubled before each further one.
    pub backoff: Duration,
    /// The longest wait, including waits that the server requests.
    pub longest_wait: Duration,
    /// For one exchange, from the connection to the last byte.
    pub timeout: Duration,
    /// Maximum bytes of an answer.
    pub response_bytes: u64,
    /// Whether to request log-probabilities.
    pub logprobs: bool,
    /// Whether vLLM gives its memory back while a learner trains (`/sleep`, `/wake_up`).
    pub sleep: bool,
    /// Names the run whose weights are handed over, in a folder's name: what a killed process of that run has left is removed. Absent removes nothing.
    pub run: Option<String>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            key: None,
            concurrency: 16,
            attempts: 6,
            timeouts: 6,
            backoff: Duration::from_millis(500),
            longest_wait: Duration::from_secs(60),
            timeout: Duration::from_secs(600),
            response_bytes: 64 << 20,
            logprobs: true,
            sleep: false,
            run: None,
        }
    }
}

/// A served model. It never learns here: the version of its rollouts is 0.
#[derive(Debug)]
pub struct ServerPolicy {
    client: Client,
    model: String,
    tokenizer: Tokenizer,
    options: ServerOptions,
}

impl ServerPolicy {
    /// For `URL#MODEL`, or `URL#MODEL#TOKENIZER` with the path of the model's `tokenizer.json`: prompts are then sent as token ids.
    /// Sends no request yet.
    pub fn open(name: &str, options: ServerOptions) -> Result<Self, ServerError> {
        let mut parts = name.splitn(3, '#');
        let (url, model) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let wrong = |problem| ServerError::Name { name: quote_name(name), problem };
        let url = ServerUrl::parse(url).map_err(wrong)?;
        if model.is_empty() {
            return Err(wrong("no model is named behind the `#`"));
        }
        let tokenizer = parts.next().map_or(Ok(Tokenizer::missing()), |path| Tokenizer::load(path.as_ref()))?;
        Ok(Self { client: Client::new(&url, &options), model: model.to_owned(), tokenizer, options })
    }

    /// Completes all prompts. After one has failed permanently no other is started.
    fn run(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, ServerError> {
        check_sampling(sampling).map_err(PolicyError::Backend)?;
        let request = |index: usize| self.request_group(index, &prompts[index], sampling);
        run_each(prompts.len(), self.options.concurrency, request).into_iter().flatten().collect()
    }

    fn request_group(&self, index: usize, prompt: &Prompt, sampling: &Sampling) -> Result<Vec<Rollout>, ServerError> {
        let stop = [&prompt.stop[..], &sampling.stop].concat();
        let ids = self.encode_prompt(index, prompt)?;
        let sent = match (&prompt.content, &ids) {
            (PromptContent::Messages(messages), _) => wire::WirePrompt::Messages(messages),
            (PromptContent::Text(_), Some(ids)) => wire::WirePrompt::Tokens(ids),
            (PromptContent::Text(text), None) => wire::WirePrompt::Text(text),
        };
        let completions = self.request_samples(index, sent, &Sampling { stop, ..sampling.clone() })?;
        Ok(completions.into_iter().map(|completion| rollout(completion, ids.as_deref(), sampling)).collect())
    }

    /// The tokens of a prompt in text, if there is a tokenizer.
    fn encode_prompt(&self, index: usize, prompt: &Prompt) -> Result<Option<Vec<u32>>, ServerError> {
        let refused = |reason| ServerError::Refused(PolicyError::Tokenize { index, reason });
        match &prompt.content {
            PromptContent::Text(text) if !text.is_empty() => {
                let encode = || self.tokenizer.encode_prompt(text).map_err(|e| refused(e.to_string()));
                self.tokenizer.is_present().then(encode).transpose()
            }
            PromptContent::Messages(messages) if !messages.is_empty() => Ok(None),
            PromptContent::Text(_) | PromptContent::Messages(_) => Err(refused("it is empty".to_owned())),
        }
    }

    /// All samples of a prompt. Where the server gives fewer than requested, the rest is requested again.
    fn request_samples(
        &self,
        index: usize,
        prompt: wire::WirePrompt<'_>,
        sampling: &Sampling,
    ) -> Result<Vec<Completion>, ServerError> {
        let seeds = (sampling.seed, index as u64);
        request_samples(&self.options, seeds, sampling.group, sampling.temperature, |missing, seed| {
            let (path, mut body) =
                wire::completion_request(Some(&self.model), prompt, missing, self.options.logprobs, sampling);
            body["seed"] = seed.into();
            Ok(wire::parse_response(&self.client.post(path, &body)?, missing, sampling.max_tokens)?.completions)
        })
    }
}

fn rollout(completion: Completion, ids: Option<&[u32]>, sampling: &Sampling) -> Rollout {
    let tokens = completion.tokens.unwrap_or_default();
    let reported = completion.logprobs.filter(|logprobs| logprobs.len() == tokens.len() && sampling.temperature == 1.0);
    let logprobs = reported.unwrap_or_default();
    let prompt_tokens = ids.map(<[u32]>::to_vec).or(completion.prompt_tokens).unwrap_or_default();
    Rollout {
        id: None,
        prompt_tokens,
        // The server renders conversations.
        rendered_prompt: None,
        tokens,
        logprobs,
        text: completion.text,
        finish: completion.finish,
        policy: PolicyVersion(0),
    }
}

impl Policy for ServerPolicy {
    /// See the trait, and the module for what a rollout holds. After a prompt has failed permanently no other is started.
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        self.run(prompts, sampling).map_err(|error| match error {
            ServerError::Refused(error) => error,
            other => PolicyError::Backend(other.to_string()),
        })
    }
}

/// A fault of a server, of the connection, or of a response.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The name of a served model that cannot be used.
    #[error("`{name}` names no served model: {problem}; want `URL#MODEL`, such as `http://127.0.0.1:8000#org/name`")]
    Name {
        /// The given name, without its user information.
        name: String,
        /// The problem.
        problem: &'static str,
    },
    /// The address of a server that cannot be used.
    #[error("`{url}` is no server's address: {problem}; want such as `http://127.0.0.1:8000`")]
    Url {
        /// The given address, without its user information.
        url: String,
        /// The problem.
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
    /// The server answered with an error status.
    #[error("the server answered {status}: {message}")]
    Status {
        /// HTTP status.
        status: u16,
        /// The beginning of the answer.
        message: String,
        /// The wait that it asks for.
        retry_after: Option<Duration>,
    },
    /// The server requests a longer wait than is allowed.
    #[error("the server answered {status} and wants to be asked again in {}, longer than the {} allowed", seconds(*.wait), seconds(*.longest))]
    Wait {
        /// HTTP status.
        status: u16,
        /// The wait that it asks for.
        wait: Duration,
        /// The longest wait allowed.
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
    /// The answer contradicts itself or the request.
    #[error("the answer contradicts what was asked: {0}")]
    Shape(String),
    /// Rollouts of other weights than those that were handed over.
    #[error(
        "the server sampled from `{found}`, and `{wanted}` was handed over to it: nothing else may give it weights while it serves this run"
    )]
    OtherWeights {
        /// What the server says that it sampled from.
        found: String,
        /// The name of the weights that it was given.
        wanted: String,
    },
    /// The weights could not be handed over.
    #[error("the weights could not be handed over to the server: {0}")]
    HandOver(String),
    /// A prompt failed permanently.
    #[error("prompt {index} after {attempts} attempts: {cause}")]
    Prompt {
        /// Which prompt of the call.
        index: usize,
        /// Attempts without progress.
        attempts: usize,
        /// The last fault. The message shows it, so it is no `source()`.
        cause: Box<Self>,
    },
}

impl ServerError {
    /// Whether the server does not have the weights that it was given.
    pub(super) fn tells_of_lost_weights(&self) -> bool {
        match self {
            Self::Prompt { cause, .. } => cause.tells_of_lost_weights(),
            Self::Status { status, .. } => *status == 404,
            Self::OtherWeights { .. } => true,
            _ => false,
        }
    }

    pub(super) const fn is_transient(&self) -> bool {
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

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

mod transport;
mod wire;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use veriplay_core::{Policy, PolicyError, PolicyVersion, Prompt, PromptContent, Rollout, Sampling};

pub use self::transport::ApiKey;
use self::transport::{Client, Endpoint};
use self::wire::{Completion, CompletionRequest};
use crate::decoding::uniform;
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
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            key: None,
            concurrency: 16,
            attempts: 6,
            backoff: Duration::from_millis(500),
            longest_wait: Duration::from_secs(60),
            timeout: Duration::from_secs(600),
            response_bytes: 64 << 20,
            logprobs: true,
        }
    }
}

/// The rollouts of one prompt.
type GroupResult = Result<Vec<Rollout>, ServerError>;

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
    ///
    /// # Errors
    /// A name that cannot be used, or a tokenizer that cannot be read.
    pub fn open(name: &str, options: ServerOptions) -> Result<Self, ServerError> {
        let endpoint = Endpoint::parse(name)?;
        let tokenizer = endpoint.tokenizer.as_deref().map_or(Ok(Tokenizer::missing()), Tokenizer::load)?;
        let client = Client::new(&endpoint, &options);
        Ok(Self { client, model: endpoint.model, tokenizer, options })
    }

    /// As [`Policy::generate`], but with a result per prompt, so that one failure does not lose the others.
    ///
    /// # Errors
    /// Sampling options that no server could take.
    pub fn generate_each(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<GroupResult>, ServerError> {
        let all = self.run(prompts, sampling, false)?;
        Ok(all.into_iter().flatten().collect())
    }

    /// Completes all prompts, or with `stop_at_failure` until one has failed permanently; `None` for prompts that were not started.
    fn run(
        &self,
        prompts: &[Prompt],
        sampling: &Sampling,
        stop_at_failure: bool,
    ) -> Result<Vec<Option<GroupResult>>, ServerError> {
        check_sampling(sampling).map_err(PolicyError::Backend)?;
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let done: Vec<Mutex<Option<_>>> = prompts.iter().map(|_| Mutex::new(None)).collect();
        // Relaxed: neither orders anything but itself.
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&index| index < prompts.len());
        let work = || {
            while let Some(index) = take().filter(|_| !(stop_at_failure && failed.load(Ordering::Relaxed))) {
                let group = self.request_group(index, &prompts[index], sampling);
                failed.fetch_or(group.is_err(), Ordering::Relaxed);
                *done[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(group);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.options.concurrency.clamp(1, prompts.len().max(1)) {
                scope.spawn(work);
            }
        });
        Ok(done.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
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
                let encode = || self.tokenizer.encode(text).map_err(|e| refused(e.to_string()));
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
        let mut completions: Vec<Completion> = Vec::with_capacity(sampling.group);
        let mut retries = Retries::new(&self.options, |attempt| uniform(sampling.seed, index as u64, 0, attempt));
        while completions.len() < sampling.group {
            let missing = sampling.group - completions.len();
            let seed = seed(sampling.seed, index, completions.len());
            let request = CompletionRequest::new(&self.model, prompt, missing, seed, self.options.logprobs, sampling);
            match self.exchange(&request, missing, sampling.max_tokens) {
                Ok(more) => {
                    completions.extend(more);
                    retries.reset();
                }
                Err(fault) => retries.wait(index, fault)?,
            }
        }
        Ok(completions)
    }

    fn exchange(
        &self,
        request: &CompletionRequest<'_>,
        n: usize,
        max_tokens: usize,
    ) -> Result<Vec<Completion>, ServerError> {
        let body = serde_json::to_vec(request).expect("a request has no map with odd keys");
        wire::parse_response(&self.client.post(request.path(), &body)?, n, max_tokens)
    }
}

/// The seed of a request, of 31 bits, which every server accepts unchanged.
fn seed(seed: u64, prompt: usize, sample: usize) -> u32 {
    (uniform(seed, prompt as u64, sample as u64, 0) * f64::from(1_u32 << 31)) as u32
}

fn rollout(completion: Completion, ids: Option<&[u32]>, sampling: &Sampling) -> Rollout {
    let tokens = completion.tokens.unwrap_or_default();
    let reported = completion.logprobs.filter(|logprobs| logprobs.len() == tokens.len() && sampling.temperature == 1.0);
    let logprobs = reported.unwrap_or_default();
    let prompt_tokens = ids.map(<[u32]>::to_vec).or(completion.prompt_tokens).unwrap_or_default();
    Rollout {
        id: None,
        prompt_tokens,
        tokens,
        logprobs,
        text: completion.text,
        finish: completion.finish,
        policy: PolicyVersion(0),
    }
}

impl Policy for ServerPolicy {
    /// See the trait, and the module for what a rollout holds. After a prompt has failed permanently no other is started;
    /// [`ServerPolicy::generate_each`] also returns those that succeeded.
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let groups = self.run(prompts, sampling, true).and_then(|groups| groups.into_iter().flatten().collect());
        groups.map_err(|error| match error {
            ServerError::Refused(error) => error,
            other => PolicyError::Backend(other.to_string()),
        })
    }
}

/// Retries of one prompt: which faults are retried, how often, and after which wait.
struct Retries<'a, F> {
    options: &'a ServerOptions,
    /// A number in (0, 1) for an attempt: spreads those who failed together.
    spread: F,
    failed: usize,
}

impl<'a, F: Fn(u64) -> f64> Retries<'a, F> {
    const fn new(options: &'a ServerOptions, spread: F) -> Self {
        Self { options, spread, failed: 0 }
    }

    /// Starts counting afresh: the server works.
    const fn reset(&mut self) {
        self.failed = 0;
    }

    /// Waits until it is time for another request, or gives up.
    fn wait(&mut self, index: usize, fault: ServerError) -> Result<(), ServerError> {
        self.failed += 1;
        let give_up = |cause| Err(ServerError::Prompt { index, attempts: self.failed, cause: Box::new(cause) });
        if !fault.is_transient() || self.failed >= self.options.attempts {
            return give_up(fault);
        }
        let wait = match fault {
            ServerError::Status { status, retry_after: Some(wait), .. } if wait > self.options.longest_wait => {
                return give_up(ServerError::Wait { status, wait, longest: self.options.longest_wait });
            }
            ServerError::Status { retry_after: Some(wait), .. } => wait,
            _ => self.backoff(),
        };
        tracing::warn!(prompt = index, attempt = self.failed, wait = ?wait, %fault, "asking the server again");
        std::thread::sleep(wait);
        Ok(())
    }

    /// Exponential, between half of the full wait and all of it.
    fn backoff(&self) -> Duration {
        let doublings = (self.failed - 1).min(16) as u32;
        let full = self.options.backoff.saturating_mul(1 << doublings).min(self.options.longest_wait);
        full.mul_f64(f64::midpoint(1.0, (self.spread)(self.failed as u64)))
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
    /// Whether a retry may help.
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

//! Requests: prompts with options and seeds of their own, sampled together.
//!
//! Called by `veriplay generate` and by whoever serves prompts that come one by one. What a request gives is a function of the request
//! and the weights: not of the other requests, of their order, of the number of slots, or of threads.

use veriplay_core::PolicyError;

use crate::generate::Continuation;
use crate::learner::Learner;
use crate::rollout::{Ask, Stops, TokenSampler};
use crate::score::backend;
use crate::speaker::Speaker;

/// What is to be sampled behind one prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The prompt's tokens.
    pub prompt: Vec<u32>,
    /// Independent samples; they share the prompt's prefill.
    pub samples: usize,
    /// Tokens of a sample at most, the end token included.
    pub max_tokens: usize,
    /// How tokens are drawn.
    pub sampler: TokenSampler,
    /// Seeds the samples. Sample `j` depends on the seed, `j`, the options above and the weights.
    pub seed: u64,
    /// A sample whose text comes to hold one of them ends there.
    pub stop: Vec<String>,
    /// Draw on behind an end token, to `max_tokens`.
    pub ignore_end: bool,
}

impl Request {
    /// One sample at temperature 1, seed 0.
    #[must_use]
    pub fn new(prompt: Vec<u32>, max_tokens: usize) -> Self {
        let (sampler, stop) = (TokenSampler::default(), Vec::new());
        Self { prompt, samples: 1, max_tokens, sampler, seed: 0, stop, ignore_end: false }
    }
}

/// A request that cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// An option out of its range.
    #[error("request {index}: {key} is `{value}`, want {want}")]
    Option {
        /// Which request.
        index: usize,
        /// The option.
        key: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        want: &'static str,
    },
    /// A token that the model does not have.
    #[error("request {index}: token `{token}` of the prompt is outside the vocabulary of {vocabulary} tokens")]
    Vocabulary {
        /// Which request.
        index: usize,
        /// The token.
        token: u32,
        /// Tokens that there are.
        vocabulary: usize,
    },
    /// No room.
    #[error(
        "request {index}: a prompt of {prompt} tokens and {max_tokens} new ones do not fit in the model's context of {context}: shorten the prompt or ask for {} tokens at most", context.saturating_sub(*prompt)
    )]
    TooLong {
        /// Which request.
        index: usize,
        /// Tokens of the prompt.
        prompt: usize,
        /// Tokens asked for.
        max_tokens: usize,
        /// The model's context length.
        context: usize,
    },
    /// Stop strings need text.
    #[error(
        "request {index} has stop strings, and the checkpoint has no `tokenizer.json`: put the file beside its config.json"
    )]
    NoTokenizer {
        /// Which request.
        index: usize,
    },
    /// The model failed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

impl Learner {
    /// Continues every request: [`Request::samples`] continuations each, in the order of the requests.
    ///
    /// # Errors
    /// The first request that cannot be done; nothing is sampled then.
    pub fn complete(&self, requests: &[Request]) -> Result<Vec<Vec<Continuation>>, RequestError> {
        self.speaker().check(requests)?;
        let asks = requests.iter().map(|request| self.speaker().request(request)).collect();
        Ok(self.continuations(asks).map_err(backend)?)
    }
}

impl<'a> Speaker<'a> {
    /// Refuses what cannot be done.
    pub(crate) fn check(&self, requests: &[Request]) -> Result<(), RequestError> {
        requests.iter().enumerate().try_for_each(|(index, request)| self.check_request(index, request))
    }

    /// What a request asks of the sampling loop.
    pub(crate) fn request(&self, request: &'a Request) -> Ask<'a> {
        let stops = Stops { texts: &request.stop, tokenizer: self.tokenizer };
        Ask {
            prompt: &request.prompt,
            samples: request.samples,
            max_tokens: request.max_tokens,
            sampler: request.sampler,
            seed: request.seed,
            stream: 0,
            end_tokens: if request.ignore_end { &[] } else { self.end_tokens },
            stops: (!request.stop.is_empty()).then_some(stops),
            forced: None,
        }
    }

    fn check_request(&self, index: usize, request: &Request) -> Result<(), RequestError> {
        request.check_options(index)?;
        let Self { vocabulary, context, .. } = *self;
        if let Some(&token) = request.prompt.iter().find(|&&token| token as usize >= vocabulary) {
            return Err(RequestError::Vocabulary { index, token, vocabulary });
        }
        let (prompt, max_tokens) = (request.prompt.len(), request.max_tokens);
        if prompt.saturating_add(max_tokens) > context {
            return Err(RequestError::TooLong { index, prompt, max_tokens, context });
        }
        let mute = !request.stop.is_empty() && !self.tokenizer.is_present();
        if mute { Err(RequestError::NoTokenizer { index }) } else { Ok(()) }
    }
}

impl Request {
    fn check_options(&self, index: usize) -> Result<(), RequestError> {
        let TokenSampler { temperature, top_p, min_p, .. } = self.sampler;
        let rules: [(bool, &'static str, String, &'static str); 7] = [
            (!self.prompt.is_empty(), "prompt", String::new(), "at least one token"),
            (self.samples > 0, "samples", self.samples.to_string(), "at least 1"),
            (self.max_tokens > 0, "max_tokens", self.max_tokens.to_string(), "at least 1"),
            (
                temperature.is_finite() && temperature >= 0.0,
                "temperature",
                temperature.to_string(),
                "0 (greedy) or a positive number",
            ),
            (top_p > 0.0 && top_p <= 1.0, "top_p", top_p.to_string(), "a number above 0, and 1 at most"),
            ((0.0..=1.0).contains(&min_p), "min_p", min_p.to_string(), "a number from 0 to 1"),
            (
                !self.stop.iter().any(String::is_empty),
                "stop",
                String::new(),
                "text: an empty stop string ends everything",
            ),
        ];
        match rules.into_iter().find(|rule| !rule.0) {
            Some((_, key, value, want)) => Err(RequestError::Option { index, key, value, want }),
            None => Ok(()),
        }
    }
}

//! Turns prompts and options into the queue of the decoding loop, and samples into rollouts; shared by [`crate::Learner`] and
//! [`crate::GgufPolicy`].
//!
//! The samples of a [`SamplingRequest`] are a function of the request and the weights: not of the other requests, of their order, of the number
//! of slots, or of threads. Knows no weights.

use veriplay_core::{
    LengthLimit, Message, MessageRole, PLAIN_USER, PolicyError, PolicyVersion, Prompt, PromptContent, Rollout, Sampling,
};

use crate::chat::{Chat, ChatTemplate};
use crate::decoding::{Continuation, QueuedPrompt, StopReason, StopStrings, TokenSampler};
use crate::model::Model;
use crate::score::check_tokens;
use crate::tokenizer::Tokenizer;

/// One prompt to continue, with its options.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingRequest {
    /// The prompt's tokens.
    pub prompt: Vec<u32>,
    /// Independent samples; they share the prompt's prefill.
    pub samples: usize,
    /// Maximum tokens of a sample, the end token included.
    pub max_tokens: usize,
    /// How tokens are drawn.
    pub sampler: TokenSampler,
    /// Seeds the samples. Sample `j` depends on the seed, `j`, the options above and the weights.
    pub seed: u64,
    /// A sample ends when its text contains one of them.
    pub stop: Vec<String>,
    /// Draw on behind an end token, to `max_tokens`.
    pub ignore_end: bool,
}

impl SamplingRequest {
    /// One sample at temperature 1, seed 0.
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
        /// The values allowed.
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
        "request {index} has a prompt of {prompt} tokens and asks for {max_tokens} new ones, and {limit} to {} tokens at most", limit.tokens().saturating_sub(*prompt)
    )]
    TooLong {
        /// Which request.
        index: usize,
        /// Tokens of the prompt.
        prompt: usize,
        /// New tokens requested.
        max_tokens: usize,
        /// What both may have together.
        limit: LengthLimit,
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

#[derive(Debug, Clone, Copy)]
pub(crate) struct SamplingContext<'a> {
    pub(crate) tokenizer: &'a Tokenizer,
    /// Any of them ends an answer.
    pub(crate) end_tokens: &'a [u32],
    pub(crate) vocabulary: usize,
    /// Tokens that prompt and answer may have together.
    pub(crate) limit: LengthLimit,
}

impl<'a> SamplingContext<'a> {
    /// Of a model of ours.
    pub(crate) fn new(model: &'a Model) -> Self {
        Self {
            tokenizer: &model.tokenizer,
            end_tokens: &model.end_tokens,
            vocabulary: model.config.vocab_size,
            limit: LengthLimit::of_context(model.config.context()),
        }
    }

    /// Rollouts of prompts. `template` renders those that are conversations, `continuations` samples.
    pub(crate) fn generate(
        &self,
        prompts: &[Prompt],
        sampling: &Sampling,
        template: Option<&ChatTemplate>,
        version: PolicyVersion,
        continuations: impl FnOnce(Vec<QueuedPrompt<'_>>) -> Result<Vec<Vec<Continuation>>, PolicyError>,
    ) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let encode = |(index, prompt)| self.encode_prompt(index, prompt, &sampling.stop, template);
        let encoded: Vec<EncodedPrompt> = prompts.iter().enumerate().map(encode).collect::<Result<_, _>>()?;
        let queued = encoded.iter().zip(prompts).enumerate().map(|(index, (encoded, prompt))| {
            let EncodedPrompt { tokens, stops, earlier } = encoded;
            self.check_prompt(index, tokens, sampling)?;
            let stops = StopStrings { texts: stops, tokenizer: self.tokenizer };
            let stops = (!stops.texts.is_empty()).then_some(stops);
            let (earlier, may_continue) = (*earlier, prompt.may_continue);
            Ok(QueuedPrompt { stops, earlier, may_continue, ..self.queue_prompt(index, tokens, sampling) })
        });
        let queued: Vec<QueuedPrompt<'_>> = queued.collect::<Result<_, _>>()?;
        if sampling.group == 0 {
            return Ok(prompts.iter().map(|_| Vec::new()).collect());
        }
        let groups = continuations(queued)?;
        let rollouts = encoded.iter().zip(prompts).zip(groups).map(|((encoded, prompt), group)| {
            let is_rendered = template.is_some() && matches!(prompt.content, PromptContent::Messages(_));
            let rendered = is_rendered.then(|| self.tokenizer.decode(&encoded.tokens));
            group.into_iter().map(|one| self.rollout(&encoded.tokens, rendered.clone(), one, version)).collect()
        });
        Ok(rollouts.collect())
    }

    pub(crate) fn queue_prompt<'p>(&self, index: usize, prompt: &'p [u32], sampling: &Sampling) -> QueuedPrompt<'p>
    where
        'a: 'p,
    {
        let Sampling { temperature, top_k, top_p, min_p, .. } = *sampling;
        QueuedPrompt {
            prompt,
            samples: sampling.group,
            max_tokens: sampling.max_tokens,
            sampler: TokenSampler { temperature, top_k, top_p, min_p },
            seed: sampling.seed,
            stream: index as u64,
            end_tokens: self.end_tokens,
            stops: None,
            earlier: 0,
            may_continue: false,
        }
    }

    /// A prompt in tokens. `stop` ends its response too.
    pub(crate) fn encode_prompt(
        &self,
        index: usize,
        prompt: &Prompt,
        stop: &[String],
        template: Option<&ChatTemplate>,
    ) -> Result<EncodedPrompt, PolicyError> {
        let fail = |reason: String| PolicyError::Tokenize { index, reason };
        let mut stops = [&prompt.stop[..], stop].concat();
        if template.is_none() && matches!(prompt.content, PromptContent::Messages(_)) {
            stops.push(PLAIN_USER.to_owned());
        }
        if let Some((tokens, earlier)) = self.continue_turn(prompt, &stops, template) {
            return Ok(EncodedPrompt { tokens, stops, earlier });
        }
        let tokens = match (&prompt.content, template) {
            (PromptContent::Text(text), _) => self.tokenizer.encode_prompt(text),
            (PromptContent::Messages(messages), Some(template)) => {
                self.tokenizer.encode(&render(messages, template).map_err(fail)?)
            }
            (plain @ PromptContent::Messages(_), None) => self.tokenizer.encode_document(&plain.to_string()),
        };
        let tokens = tokens.map_err(|e| fail(e.to_string()))?;
        if tokens.is_empty() {
            return Err(fail("it is empty".to_owned()));
        }
        Ok(EncodedPrompt { tokens, stops, earlier: 0 })
    }

    /// The tokens of an episode's next prompt: those of the turn before as they were seen and sampled, then those of the text behind its
    /// response; and the number of those of the prompt before. An end token is the template's own, or none; a stop string stays. `None` where the prompt does not begin with that turn, such
    /// as under a template that leaves out earlier reasoning: it is then read anew.
    fn continue_turn(
        &self,
        prompt: &Prompt,
        stops: &[String],
        template: Option<&ChatTemplate>,
    ) -> Option<(Vec<u32>, usize)> {
        let (turn, PromptContent::Messages(messages)) = (prompt.earlier.as_deref()?, &prompt.content) else {
            return None;
        };
        let is_response = |message: &Message| message.role == MessageRole::Assistant;
        let at = messages.iter().rposition(is_response).filter(|at| at + 1 < messages.len())?;
        let response = messages[at].content.as_str();
        let [before, whole] = match template {
            Some(template) => [render(&messages[..at], template).ok()?, render(messages, template).ok()?],
            None => [format!("{} ", plain_text(&messages[..at])), plain_text(messages)],
        };
        let added = whole.strip_prefix(before.as_str())?.strip_prefix(response)?;
        let ended = turn.response.last().is_some_and(|token| self.end_tokens.contains(token));
        let read = &turn.response[..turn.response.len() - usize::from(ended)];
        let sampled = self.tokenizer.decode(read);
        let stopped_at = stops.iter().filter_map(|stop| sampled.find(stop)).min().unwrap_or(sampled.len());
        let (text, stop) = sampled.split_at(stopped_at);
        if text.trim() != response {
            return None;
        }
        // The next message begins with the stop string of plain text, which has been read.
        let added = self.tokenizer.encode(added.strip_prefix(stop).unwrap_or(added)).ok()?;
        Some(([turn.prompt.as_slice(), read, &added].concat(), turn.prompt.len()))
    }

    pub(crate) fn check_prompt(&self, index: usize, prompt: &[u32], sampling: &Sampling) -> Result<(), PolicyError> {
        check_sampling(sampling).map_err(PolicyError::Backend)?;
        if prompt.is_empty() {
            return Err(PolicyError::Tokenize { index, reason: "it is empty".to_owned() });
        }
        check_tokens(prompt, self.vocabulary)?;
        let (tokens, response, limit) = (prompt.len(), sampling.max_tokens, self.limit);
        if tokens.saturating_add(response) > limit.tokens() {
            return Err(PolicyError::PromptTooLong { index, tokens, response, limit });
        }
        Ok(())
    }

    /// The text of a continuation: without the end token, and up to the stop string that ended it.
    pub(crate) fn text(&self, continuation: &Continuation) -> String {
        let Continuation { tokens, end, .. } = continuation;
        let mut text =
            self.tokenizer.decode(&tokens[..tokens.len() - usize::from(matches!(end, StopReason::Token(_)))]);
        if let StopReason::Stop(stop) = end {
            text.truncate(text.find(stop.as_str()).unwrap_or(text.len()));
        }
        text
    }

    fn rollout(
        &self,
        prompt: &[u32],
        rendered_prompt: Option<String>,
        continuation: Continuation,
        policy: PolicyVersion,
    ) -> Rollout {
        let (text, finish) = (self.text(&continuation), continuation.finish());
        let Continuation { tokens, logprobs, .. } = continuation;
        Rollout { id: None, prompt_tokens: prompt.to_vec(), rendered_prompt, tokens, logprobs, text, finish, policy }
    }
}

/// A prompt in tokens, and the text that ends a response to it.
pub(crate) struct EncodedPrompt {
    pub(crate) tokens: Vec<u32>,
    stops: Vec<String>,
    /// How many of the tokens are the prompt of the turn before.
    earlier: usize,
}

/// A conversation as a base model is shown it.
fn plain_text(messages: &[Message]) -> String {
    PromptContent::Messages(messages.to_vec()).to_string()
}

/// The text of a conversation, which a last message of the assistant ends. `Err` is the reason why there is none.
fn render(messages: &[Message], template: &ChatTemplate) -> Result<String, String> {
    let (asked, begun) = match messages {
        [asked @ .., Message { role: MessageRole::Assistant, content }] => (asked, content.as_str()),
        asked => (asked, ""),
    };
    if asked.is_empty() {
        return Err("the conversation has no message to answer".to_owned());
    }
    let text = template.render(&Chat::from_messages(asked)).map_err(|e| e.to_string())?;
    if text.is_empty() { Err("the chat template renders nothing".to_owned()) } else { Ok(text + begun) }
}

/// Refuses sampling options that cannot work. `Err` names the option and its value.
pub(crate) fn check_sampling(sampling: &Sampling) -> Result<(), String> {
    let &Sampling { temperature, top_k, top_p, min_p, max_tokens, .. } = sampling;
    let sampler = TokenSampler { temperature, top_k, top_p, min_p };
    match invalid_option(1, max_tokens, &sampler, &sampling.stop) {
        Some((key, value, want)) => Err(format!("{key} is `{value}`, want {want}")),
        None => Ok(()),
    }
}

/// The first option out of its range: its key, its value and the values allowed.
fn invalid_option(
    samples: usize,
    max_tokens: usize,
    sampler: &TokenSampler,
    stop: &[String],
) -> Option<(&'static str, String, &'static str)> {
    let TokenSampler { temperature, top_p, min_p, .. } = *sampler;
    let no_empty = !stop.iter().any(String::is_empty);
    let rules: [(bool, &'static str, String, &'static str); 6] = [
        (samples > 0, "samples", samples.to_string(), "at least 1"),
        (max_tokens > 0, "max_tokens", max_tokens.to_string(), "at least 1"),
        (
            temperature.is_finite() && temperature >= 0.0,
            "temperature",
            temperature.to_string(),
            "0 (greedy) or a positive number",
        ),
        (top_p > 0.0 && top_p <= 1.0, "top_p", top_p.to_string(), "a number above 0, and 1 at most"),
        ((0.0..=1.0).contains(&min_p), "min_p", min_p.to_string(), "a number from 0 to 1"),
        (no_empty, "stop", String::new(), "text: an empty stop string ends everything"),
    ];
    rules.into_iter().find(|rule| !rule.0).map(|(_, key, value, want)| (key, value, want))
}

impl<'a> SamplingContext<'a> {
    pub(crate) fn check(&self, requests: &[SamplingRequest]) -> Result<(), RequestError> {
        requests.iter().enumerate().try_for_each(|(index, request)| self.check_request(index, request))
    }

    pub(crate) fn queue_request(&self, request: &'a SamplingRequest) -> QueuedPrompt<'a> {
        let stops = StopStrings { texts: &request.stop, tokenizer: self.tokenizer };
        QueuedPrompt {
            prompt: &request.prompt,
            samples: request.samples,
            max_tokens: request.max_tokens,
            sampler: request.sampler,
            seed: request.seed,
            stream: 0,
            end_tokens: if request.ignore_end { &[] } else { self.end_tokens },
            stops: (!request.stop.is_empty()).then_some(stops),
            earlier: 0,
            may_continue: false,
        }
    }

    fn check_request(&self, index: usize, request: &SamplingRequest) -> Result<(), RequestError> {
        let SamplingRequest { samples, max_tokens, sampler, stop, .. } = request;
        let invalid = match request.prompt.is_empty() {
            true => Some(("prompt", String::new(), "at least one token")),
            false => invalid_option(*samples, *max_tokens, sampler, stop),
        };
        if let Some((key, value, want)) = invalid {
            return Err(RequestError::Option { index, key, value, want });
        }
        let Self { vocabulary, limit, .. } = *self;
        if let Some(&token) = request.prompt.iter().find(|&&token| token as usize >= vocabulary) {
            return Err(RequestError::Vocabulary { index, token, vocabulary });
        }
        let (prompt, max_tokens) = (request.prompt.len(), request.max_tokens);
        if prompt.saturating_add(max_tokens) > limit.tokens() {
            return Err(RequestError::TooLong { index, prompt, max_tokens, limit });
        }
        let mute = !request.stop.is_empty() && !self.tokenizer.is_present();
        if mute { Err(RequestError::NoTokenizer { index }) } else { Ok(()) }
    }
}

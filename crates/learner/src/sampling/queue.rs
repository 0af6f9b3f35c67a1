//! What the sampling threads share: prompts to continue, taken one by one, and what comes of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use veriplay_core::Finish;

use super::stops::Stops;
use super::token_sampler::{TokenSampler, log_probability, uniform};

/// One prompt to continue, with all options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueuedPrompt<'a> {
    /// Never empty.
    pub(crate) prompt: &'a [u32],
    /// Samples of it; at least one.
    pub(crate) samples: usize,
    /// At least one.
    pub(crate) max_tokens: usize,
    pub(crate) sampler: TokenSampler,
    pub(crate) seed: u64,
    /// Tells queued prompts of one seed apart.
    pub(crate) stream: u64,
    /// Any of them ends a sample.
    pub(crate) end_tokens: &'a [u32],
    /// Text that ends a sample.
    pub(crate) stops: Option<Stops<'a>>,
    /// Tokens of its one sample, which are taken instead of drawn.
    pub(crate) forced: Option<&'a [u32]>,
}

impl QueuedPrompt<'_> {
    /// Gives a sample of this prompt one more token, from the logits behind what it has. Says why the sample is done, if it is.
    pub(crate) fn extend(
        &self,
        sample: usize,
        tokens: &mut Vec<u32>,
        logprobs: &mut Vec<f32>,
        logits: &mut [f32],
    ) -> Option<End> {
        if let Some(forced) = self.forced {
            let token = forced[tokens.len()];
            tokens.push(token);
            logprobs.push(log_probability(logits, token));
            return (tokens.len() == forced.len()).then_some(End::Length);
        }
        let (token, logprob) =
            self.sampler.draw(logits, uniform(self.seed, self.stream, sample as u64, tokens.len() as u64));
        self.accept(tokens, logprobs, token, logprob)
    }

    /// Whether its tokens cannot be drawn where the logits are: they are given, or a truncation ranks them.
    pub(super) fn needs_host(&self) -> bool {
        self.forced.is_some() || self.sampler != TokenSampler::at(self.sampler.temperature)
    }

    /// Gives a sample a token that was drawn. Says why the sample is done, if it is.
    pub(super) fn accept(
        &self,
        tokens: &mut Vec<u32>,
        logprobs: &mut Vec<f32>,
        token: u32,
        logprob: f32,
    ) -> Option<End> {
        tokens.push(token);
        logprobs.push(logprob);
        if self.end_tokens.contains(&token) {
            return Some(End::Token(token));
        }
        let stop = self.stops.and_then(|stops| stops.find_in(tokens)).map(End::Stop);
        stop.or_else(|| (tokens.len() >= self.max_tokens).then_some(End::Length))
    }
}

/// Prompts to continue, and how much of them is in work at a time.
#[derive(Debug)]
pub(crate) struct Queue<'a> {
    pub(crate) prompts: Vec<QueuedPrompt<'a>>,
    /// Samples in flight in one loop, at most.
    pub(crate) slots: usize,
    /// Prompt tokens computed together, about.
    pub(crate) prefill_tokens: usize,
    /// The next prompt that no thread has taken.
    next: AtomicUsize,
}

impl<'a> Queue<'a> {
    pub(crate) const fn new(prompts: Vec<QueuedPrompt<'a>>, slots: usize, prefill_tokens: usize) -> Self {
        Self { prompts, slots, prefill_tokens, next: AtomicUsize::new(0) }
    }

    /// Takes a prompt that no thread has taken, by its index.
    pub(super) fn take(&self) -> Option<usize> {
        // Relaxed: the counter orders nothing but itself.
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        (index < self.prompts.len()).then_some(index)
    }
}

/// Why a sample ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// With this end token, which is its last.
    Token(u32),
    /// Its text came to hold this stop string.
    Stop(String),
    /// It has as many tokens as were allowed.
    Length,
}

/// What was sampled behind a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Continuation {
    /// Its tokens; the end token included, and those of a stop string, where there is one.
    pub tokens: Vec<u32>,
    /// Log-probability of every token in the distribution that it was drawn from, in nats: see [`TokenSampler`].
    pub logprobs: Vec<f32>,
    /// Why it ended.
    pub end: End,
}

impl Continuation {
    /// Whether it ended by itself or by the limit.
    #[must_use]
    pub const fn finish(&self) -> Finish {
        match self.end {
            End::Token(_) | End::Stop(_) => Finish::Stop,
            End::Length => Finish::Length,
        }
    }
}

/// One finished sample.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sampled {
    /// Index of its queued prompt.
    pub(crate) queued: usize,
    pub(crate) sample: usize,
    pub(crate) tokens: Vec<u32>,
    pub(crate) logprobs: Vec<f32>,
    pub(crate) end: End,
}

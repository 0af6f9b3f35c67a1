//! The queue that decoding loops share: prompts to continue, taken one by one, and their samples.

use std::sync::atomic::{AtomicUsize, Ordering};

use veriplay_core::FinishReason;

use super::token_sampler::{TokenSampler, log_probability, uniform};
use crate::tokenizer::Tokenizer;

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
    pub(crate) stops: Option<StopStrings<'a>>,
    /// Tokens of its one sample, which are taken instead of drawn.
    pub(crate) forced: Option<&'a [u32]>,
}

impl QueuedPrompt<'_> {
    /// Gives a sample of this prompt one more token, from the logits behind the tokens that it has.
    pub(crate) fn extend(&self, sample: &mut Sample, logits: &mut [f32]) {
        let at = sample.tokens.len();
        if let Some(forced) = self.forced {
            sample.push(forced[at], log_probability(logits, forced[at]));
            sample.end = (at + 1 == forced.len()).then_some(End::Length);
            return;
        }
        let u = uniform(self.seed, self.stream, sample.index as u64, at as u64);
        let (token, logprob) = self.sampler.draw(logits, u);
        self.accept(sample, token, logprob);
    }

    /// Whether its tokens cannot be drawn where the logits are: they are given, or a truncation ranks them.
    pub(super) fn needs_host(&self) -> bool {
        self.forced.is_some() || self.sampler != TokenSampler::at(self.sampler.temperature)
    }

    /// Gives a sample a token that was drawn.
    pub(super) fn accept(&self, sample: &mut Sample, token: u32, logprob: f32) {
        sample.push(token, logprob);
        if self.end_tokens.contains(&token) {
            sample.end = Some(End::Token(token));
            return;
        }
        let stop = self.stops.and_then(|stops| stops.find_in(&sample.tokens)).map(End::Stop);
        sample.end = stop.or_else(|| (sample.tokens.len() >= self.max_tokens).then_some(End::Length));
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
    /// This stop string, which its text contains.
    Stop(String),
    /// It has as many tokens as were allowed.
    Length,
}

/// One sample of a prompt.
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
    pub const fn finish(&self) -> FinishReason {
        match self.end {
            End::Token(_) | End::Stop(_) => FinishReason::Stop,
            End::Length => FinishReason::Length,
        }
    }
}

/// One sample of a queued prompt: in flight as long as it has no end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    /// Index of its queued prompt.
    pub(crate) queued: usize,
    /// Index among the samples of its prompt.
    pub(crate) index: usize,
    pub(crate) tokens: Vec<u32>,
    pub(crate) logprobs: Vec<f32>,
    pub(crate) end: Option<End>,
}

impl Sample {
    pub(crate) const fn new(queued: usize, index: usize) -> Self {
        Self { queued, index, tokens: Vec::new(), logprobs: Vec::new(), end: None }
    }

    fn push(&mut self, token: u32, logprob: f32) {
        self.tokens.push(token);
        self.logprobs.push(logprob);
    }

    /// The continuation of a sample that has ended, as all that a loop returns have.
    pub(crate) fn into_continuation(self) -> Continuation {
        let end = self.end.expect("a decoding loop runs until every sample has ended");
        Continuation { tokens: self.tokens, logprobs: self.logprobs, end }
    }
}

/// The stop strings of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StopStrings<'a> {
    pub(crate) texts: &'a [String],
    pub(crate) tokenizer: &'a Tokenizer,
}

impl StopStrings<'_> {
    /// The stop string that the text of `tokens` contains.
    pub(super) fn find_in(&self, tokens: &[u32]) -> Option<String> {
        find_first(&self.tokenizer.decode(tokens), self.texts).map(|stop| stop.to_owned())
    }
}

/// The stop string that begins first in `text`; of those that begin together, the one that was named first.
fn find_first<'s>(text: &str, stops: &'s [String]) -> Option<&'s str> {
    let at = |stop: &'s String| text.find(stop.as_str()).map(|at| (at, stop.as_str()));
    stops.iter().filter_map(at).min_by_key(|&(at, _)| at).map(|(_, stop)| stop)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{StopStrings, find_first};
    use crate::tokenizer::Tokenizer;

    #[test]
    fn the_stop_string_that_begins_first_is_found_and_of_equals_the_one_named_first() {
        let stops = ["c", "bc", "bcd"].map(str::to_owned);
        assert_eq!(find_first("abcd", &stops), Some("bc"));
        assert_eq!(find_first("acbcd", &stops), Some("c"));
        assert_eq!(find_first("ab", &stops), None);
        assert_eq!(find_first("é→c", &stops), Some("c"));
    }

    #[test]
    fn a_stop_string_is_found_when_the_last_byte_of_its_last_character_is_there() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chat/plain/tokenizer.json");
        let tokenizer = Tokenizer::load(&file).expect("a byte-level tokenizer");
        let texts = ["é→".to_owned()];
        let stops = StopStrings { texts: &texts, tokenizer: &tokenizer };
        let tokens = tokenizer.encode("a é→ b").expect("bytes spell everything");
        let whole = (0..=tokens.len()).find(|&n| stops.find_in(&tokens[..n]).is_some()).expect("it is there");
        assert!(tokenizer.decode(&tokens[..whole]).ends_with('→'));
        assert!(tokenizer.encode("→").expect("bytes").len() > 2, "tokens cut the character");
        assert!(
            tokenizer.decode(&tokens[..whole - 1]).ends_with('\u{fffd}'),
            "the last token holds a part of a character"
        );
    }
}

//! The queue that decoding loops share: prompts to continue, taken one by one, and their samples.

use std::sync::atomic::{AtomicUsize, Ordering};

use veriplay_core::FinishReason;

use super::token_sampler::{TokenSampler, log_probability, uniform};
use super::turn_cache::CallCache;
use crate::tokenizer::Tokenizer;

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
    /// Distinguishes queued prompts that share a seed.
    pub(crate) stream: u64,
    /// Any of them ends a sample.
    pub(crate) end_tokens: &'a [u32],
    pub(crate) stops: Option<StopStrings<'a>>,
    /// Tokens at its start that are the prompt of the turn before. There are more behind them.
    pub(crate) earlier: usize,
    /// Whether a later prompt may begin with it.
    pub(crate) may_continue: bool,
}

impl QueuedPrompt<'_> {
    /// Gives a sample of this prompt one more token, from the logits behind the tokens that it has.
    pub(crate) fn extend(&self, sample: &mut DecodingSample, logits: &mut [f32]) {
        let at = sample.tokens.len();
        let u = uniform(self.seed, self.stream, sample.index as u64, at as u64);
        let (token, logprob) = if self.sampler == TokenSampler::default() {
            self.sampler.draw(logits, u)
        } else {
            // Drawing overwrites the logits.
            let mut own = logits.to_vec();
            let (token, _) = self.sampler.draw(logits, u);
            (token, log_probability(&mut own, token))
        };
        self.accept(sample, token, logprob);
    }

    /// Whether its tokens cannot be drawn where the logits are: a truncation ranks them.
    pub(super) fn needs_host(&self) -> bool {
        self.sampler != TokenSampler::at(self.sampler.temperature)
    }

    pub(super) fn accept(&self, sample: &mut DecodingSample, token: u32, logprob: f32) {
        sample.push(token, logprob);
        if self.end_tokens.contains(&token) {
            sample.end = Some(StopReason::Token(token));
            return;
        }
        let stop = self.stops.and_then(|stops| stops.find_in(&sample.tokens)).map(StopReason::Stop);
        sample.end = stop.or_else(|| (sample.tokens.len() >= self.max_tokens).then_some(StopReason::Length));
    }
}

/// What one loop may have in flight at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slots {
    pub(crate) samples: usize,
    /// Tokens that the caches of a device have room for. One sample is always in flight.
    pub(crate) tokens: usize,
}

/// Prompts to continue, and how much of them is in work at a time.
#[derive(Debug)]
pub(crate) struct PromptQueue<'a> {
    pub(crate) prompts: Vec<QueuedPrompt<'a>>,
    /// What one loop has in flight at most.
    pub(crate) slots: Slots,
    /// Prompt tokens computed together, about.
    pub(crate) prefill_tokens: usize,
    /// Prompts of the turns before, and those that later turns continue.
    pub(crate) turns: CallCache,
    /// The next prompt that no thread has taken.
    next: AtomicUsize,
}

impl<'a> PromptQueue<'a> {
    pub(crate) const fn new(
        prompts: Vec<QueuedPrompt<'a>>,
        slots: Slots,
        prefill_tokens: usize,
        turns: CallCache,
    ) -> Self {
        Self { prompts, slots, prefill_tokens, turns, next: AtomicUsize::new(0) }
    }

    /// Every sample of every prompt, before it has tokens.
    pub(super) fn samples(&self) -> impl Iterator<Item = DecodingSample> {
        let prompts = self.prompts.iter().enumerate();
        prompts.flat_map(|(queued, prompt)| (0..prompt.samples).map(move |index| DecodingSample::new(queued, index)))
    }

    /// Takes a prompt that no thread has taken, by its index.
    pub(super) fn take(&self) -> Option<usize> {
        // Relaxed: no other memory access depends on the counter's order.
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        (index < self.prompts.len()).then_some(index)
    }
}

/// Why a sample ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
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
    /// The model's log-probability of every token, in nats: at temperature 1 and over all tokens, however they were drawn.
    pub logprobs: Vec<f32>,
    /// Why it ended.
    pub end: StopReason,
}

impl Continuation {
    /// Whether it ended by itself or by the limit.
    pub const fn finish(&self) -> FinishReason {
        match self.end {
            StopReason::Token(_) | StopReason::Stop(_) => FinishReason::Stop,
            StopReason::Length => FinishReason::Length,
        }
    }
}

/// One sample of a queued prompt: in flight as long as it has no end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DecodingSample {
    /// Index of its queued prompt.
    pub(crate) queued: usize,
    /// Index among the samples of its prompt.
    pub(crate) index: usize,
    pub(crate) tokens: Vec<u32>,
    pub(crate) logprobs: Vec<f32>,
    pub(crate) end: Option<StopReason>,
}

impl DecodingSample {
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

#[derive(Debug, Clone, Copy)]
pub(crate) struct StopStrings<'a> {
    pub(crate) texts: &'a [String],
    pub(crate) tokenizer: &'a Tokenizer,
}

impl StopStrings<'_> {
    /// The stop string that the text of `tokens` contains, where that of all but the last contains none. Only the end of the text can
    /// hold it, so that the cost does not grow with the text.
    pub(crate) fn find_in(&self, tokens: &[u32]) -> Option<String> {
        // A token is a byte at least, but for control tokens; some tokenizers drop a space before the first token.
        let longest = self.texts.iter().map(String::len).max().unwrap_or(0) + SPARE_TOKENS;
        let tail = &tokens[tokens.len().saturating_sub(longest)..];
        find_first(&self.tokenizer.decode(tail), self.texts).map(|stop| stop.to_owned())
    }
}

/// Tokens that are searched for a stop string in addition to those that could spell it.
const SPARE_TOKENS: usize = 8;

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

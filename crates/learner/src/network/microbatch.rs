//! How samples become micro-batches: turns of episodes joined to sequences, groups of sequences that share a prompt, packed row by row, and dealt
//! to data-parallel workers.
//!
//! Pure and deterministic: the same samples give the same micro-batches on every machine.

use veriplay_kernels::attention::AttentionGroup;
use veriplay_kernels::logprob::Prediction;

/// A response with the tokens of its prompt, which are never empty.
pub(crate) type PromptedResponse<'a> = (&'a [u32], Response<'a>);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Response<'a> {
    /// Its index in the caller's list.
    pub(crate) index: usize,
    /// Its tokens; never empty.
    pub(crate) tokens: &'a [u32],
    /// Tokens at its start that are context only.
    pub(crate) masked: usize,
    /// Whether it stays in the group of the response before it, whatever their joint length.
    pub(crate) bound: bool,
    /// Neighbours with the same number are turns of one episode, in their order.
    pub(crate) episode: Option<u32>,
}

impl<'a> Response<'a> {
    /// A response on its own that counts as a whole.
    pub(crate) const fn new(index: usize, tokens: &'a [u32]) -> Self {
        Self { index, tokens, masked: 0, bound: false, episode: None }
    }
}

/// What is read behind a prompt as one: a response, or several turns of an episode with what the policy was shown between them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sequence<'a> {
    /// The prompt of the first turn.
    prompt: &'a [u32],
    /// What stands between that prompt and the last response; empty where there is one response.
    between: &'a [u32],
    /// The turns, and how many tokens stand between the prompt and each of them. Never empty.
    turns: Vec<(usize, Response<'a>)>,
}

impl<'a> Sequence<'a> {
    fn new((prompt, response): PromptedResponse<'a>) -> Self {
        Self { prompt, between: &[], turns: vec![(0, response)] }
    }

    fn last(&self) -> Response<'a> {
        self.turns[self.turns.len() - 1].1
    }

    fn tokens(&self) -> impl Iterator<Item = u32> + 'a {
        self.between.iter().chain(self.last().tokens).copied()
    }

    fn len(&self) -> usize {
        self.between.len() + self.last().tokens.len()
    }

    /// Whether a prompt begins with all that this sequence reads, and goes on. The last token of a response is predicted and never read, so
    /// another one may stand there: a template ends messages with a token of its own.
    fn is_continued_by(&self, prompt: &[u32]) -> bool {
        let tail = prompt.strip_prefix(self.prompt).and_then(|tail| tail.strip_prefix(self.between));
        let read = &self.last().tokens[..self.last().tokens.len() - 1];
        tail.and_then(|tail| tail.strip_prefix(read)).is_some_and(|shown| !shown.is_empty())
    }

    /// Appends a turn whose prompt continues this sequence.
    fn push(&mut self, (prompt, response): PromptedResponse<'a>) {
        self.between = &prompt[self.prompt.len()..];
        self.turns.push((self.between.len(), response));
    }
}

/// Sequences, and how many turns became part of the sequence of an earlier one.
#[derive(Debug, Default)]
pub(crate) struct JoinedTurns<'a> {
    /// Of each episode the one that begins with its first turn, in the order of the responses; then those of turns that could not be joined.
    pub(crate) sequences: Vec<Sequence<'a>>,
    /// Turns of episodes, without first ones.
    pub(crate) later: usize,
    /// Those of them that became part of a sequence.
    pub(crate) joined: usize,
}

/// Joins turns of episodes to sequences wherever a prompt continues the turn before it, token for token: what they have in common goes
/// through the model once. Log-probabilities and gradients are those of the turns one by one, but for rounding.
pub(crate) fn join_turns<'a>(responses: &[PromptedResponse<'a>]) -> JoinedTurns<'a> {
    let (mut all, mut apart) = (JoinedTurns::default(), Vec::new());
    for turns in responses.chunk_by(|(_, a), (_, b)| a.episode.is_some() && a.episode == b.episode) {
        let mut sequences: Vec<Sequence<'a>> = Vec::new();
        for &turn in turns {
            match sequences.last_mut() {
                Some(last) if last.is_continued_by(turn.0) => last.push(turn),
                _ => sequences.push(Sequence::new(turn)),
            }
        }
        all.later += turns.len() - 1;
        all.joined += turns.len() - sequences.len();
        let mut sequences = sequences.into_iter();
        all.sequences.extend(sequences.next());
        apart.extend(sequences);
    }
    all.sequences.extend(apart);
    all
}

/// A prompt and some of the sequences behind it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PromptGroup<'a> {
    /// Tokens of the prompt; never empty.
    prompt: &'a [u32],
    sequences: Vec<Sequence<'a>>,
}

impl PromptGroup<'_> {
    /// Rows it takes: the last token of a sequence is predicted, never read.
    fn rows(&self) -> usize {
        self.prompt.len() + self.sequences.iter().map(|sequence| sequence.len() - 1).sum::<usize>()
    }

    fn fits(&self, sequence: &Sequence<'_>, limit: usize) -> bool {
        self.rows() + sequence.len() <= limit + 1
    }
}

/// Groups consecutive sequences behind the same prompt, as long as they fit in `limit` rows together. One that begins with a bound response
/// has the prompt of the one before it.
pub(crate) fn group_by_prompt<'a>(
    sequences: impl IntoIterator<Item = Sequence<'a>>,
    limit: usize,
) -> Vec<PromptGroup<'a>> {
    let mut groups: Vec<PromptGroup<'a>> = Vec::new();
    for sequence in sequences {
        let (prompt, bound) = (sequence.prompt, sequence.turns[0].1.bound);
        match groups.last_mut() {
            Some(last) if bound || last.prompt == prompt && last.fits(&sequence, limit) => {
                last.sequences.push(sequence)
            }
            _ => groups.push(PromptGroup { prompt, sequences: vec![sequence] }),
        }
    }
    groups
}

/// Assigns groups to data-parallel workers, each to the one with the fewest rows so far, and cuts every worker's share into micro-batches of
/// about `limit` rows.
pub(crate) fn assign_to_workers(groups: Vec<PromptGroup<'_>>, workers: usize, limit: usize) -> Vec<Vec<MicroBatch>> {
    let mut shares: Vec<(usize, Vec<PromptGroup<'_>>)> = (0..workers).map(|_| (0, Vec::new())).collect();
    for group in groups {
        if let Some(share) = shares.iter_mut().min_by_key(|share| share.0) {
            share.0 += group.rows();
            share.1.push(group);
        }
    }
    shares.into_iter().map(|(rows, share)| split_into_micro_batches(&share, rows, limit)).collect()
}

/// Splits groups into micro-batches of nearly equal size.
fn split_into_micro_batches(groups: &[PromptGroup<'_>], rows: usize, limit: usize) -> Vec<MicroBatch> {
    let pieces = rows.div_ceil(limit).max(1);
    let target = rows.div_ceil(pieces);
    let mut out = Vec::with_capacity(pieces);
    let mut current = MicroBatch::default();
    for group in groups {
        if !current.tokens.is_empty() && current.tokens.len() + group.rows() / 2 > target {
            out.push(std::mem::take(&mut current));
        }
        current.push(group);
    }
    if !current.tokens.is_empty() {
        out.push(current);
    }
    out
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MicroBatch {
    pub(crate) tokens: Vec<u32>,
    /// Which rows attend to which.
    pub(crate) groups: Vec<AttentionGroup>,
    /// Rows whose output is needed, ascending.
    pub(crate) outputs: Vec<usize>,
    /// Their predictions: `row` indexes `outputs`; ascending.
    pub(crate) predictions: Vec<Prediction>,
    /// For every prediction, which response and which of its tokens it is.
    pub(crate) origins: Vec<(usize, usize)>,
}

impl MicroBatch {
    /// Appends a group. The last row of its prompt predicts the first token of every response to it. What the policy was shown between turns
    /// is read, and predicted by nothing.
    fn push(&mut self, group: &PromptGroup<'_>) {
        let start = self.tokens.len();
        self.tokens.extend_from_slice(group.prompt);
        let mut rows =
            AttentionGroup { prompt: start..self.tokens.len(), responses: Vec::with_capacity(group.sequences.len()) };
        let mut open = group.sequences.iter().map(|sequence| &sequence.turns[0].1).filter(|r| r.masked == 0).peekable();
        if open.peek().is_some() {
            self.outputs.push(rows.prompt.end - 1);
        }
        open.for_each(|response| self.predict(response, 0));
        for sequence in &group.sequences {
            let first = self.tokens.len();
            self.tokens.extend(sequence.tokens().take(sequence.len() - 1));
            for &(before, ref response) in &sequence.turns {
                // The row behind the prompt has been an output already.
                let predicted = response.masked.max(usize::from(before == 0))..response.tokens.len();
                for at in predicted {
                    self.outputs.push(first + before + at - 1);
                    self.predict(response, at);
                }
            }
            rows.responses.push(first..self.tokens.len());
        }
        self.groups.push(rows);
    }

    /// Appends a prompt without responses; its last row is an output.
    pub(crate) fn push_prompt(&mut self, prompt: &[u32]) {
        self.push_samples(prompt, std::iter::once::<&[u32]>(&[]));
    }

    /// Appends a prompt, and the tokens that samples of it have so far. The last row of each sample is an output: the prompt's, where it has none.
    pub(crate) fn push_samples<'t>(&mut self, prompt: &[u32], samples: impl Iterator<Item = &'t [u32]>) {
        let start = self.tokens.len();
        self.tokens.extend_from_slice(prompt);
        let mut rows = AttentionGroup { prompt: start..self.tokens.len(), responses: Vec::new() };
        for tokens in samples {
            let first = self.tokens.len();
            self.tokens.extend_from_slice(tokens);
            if tokens.is_empty() {
                self.outputs.push(rows.prompt.end - 1);
            } else {
                self.outputs.push(self.tokens.len() - 1);
                rows.responses.push(first..self.tokens.len());
            }
        }
        self.groups.push(rows);
    }

    /// The last output predicts token `at` of `response`.
    fn predict(&mut self, response: &Response<'_>, at: usize) {
        self.predictions.push(Prediction { row: self.outputs.len() - 1, token: response.tokens[at] });
        self.origins.push((response.index, at));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{MicroBatch, PromptedResponse, Response, assign_to_workers, group_by_prompt, join_turns};

    /// One turn: prompt and response.
    type Turn = (Vec<u32>, Vec<u32>);

    /// A response, what the template puts in the place of its last token, what is shown then, and whether the transcript is rewritten.
    type SampledTurn = (Vec<u32>, Option<u32>, Vec<u32>, bool);

    /// Episodes behind one prompt. Between two turns the template may put another end, may show nothing but that, and may rewrite the
    /// transcript.
    fn episodes() -> impl Strategy<Value = Vec<Vec<Turn>>> {
        let tokens = |least: usize, most: usize| prop::collection::vec(0_u32..50, least..=most);
        let turn = (tokens(1, 4), prop::option::of(50_u32..60), tokens(0, 3), prop::bool::weighted(0.1));
        let episode = prop::collection::vec(turn, 1..5);
        (tokens(1, 5), prop::collection::vec(episode, 1..4)).prop_map(|(prompt, episodes)| {
            let turns = |episode: Vec<SampledTurn>| {
                let mut transcript = prompt.clone();
                let mut turns = Vec::new();
                for (response, end, shown, is_rewritten) in episode {
                    turns.push((transcript.clone(), response.clone()));
                    transcript.extend(response);
                    if let (Some(end), Some(last)) = (end, transcript.last_mut()) {
                        *last = end;
                    }
                    transcript.extend(shown);
                    if is_rewritten {
                        transcript[0] = 60;
                    }
                }
                turns
            };
            episodes.into_iter().map(turns).collect()
        })
    }

    fn responses(episodes: &[Vec<Turn>], is_marked: bool) -> Vec<PromptedResponse<'_>> {
        let mut all: Vec<PromptedResponse<'_>> = Vec::new();
        for (number, turns) in (0..).zip(episodes) {
            for (prompt, response) in turns {
                let episode = is_marked.then_some(number);
                all.push((prompt, Response { episode, ..Response::new(all.len(), response) }));
            }
        }
        all
    }

    /// Of every prediction, by response and token: the tokens that its row sees, and the token that is predicted.
    fn contexts(batches: &[MicroBatch]) -> BTreeMap<(usize, usize), (Vec<u32>, u32)> {
        let mut contexts = BTreeMap::new();
        for batch in batches {
            let mut seen = Vec::new();
            for group in &batch.groups {
                let rows = &batch.tokens[group.rows()];
                seen.extend(group.visible_rows().map(|row| {
                    let context = [&rows[row.shared], &rows[row.own]].concat();
                    assert_eq!(row.position + 1, context.len());
                    context
                }));
            }
            assert!(batch.outputs.is_sorted_by(|a, b| a < b), "no row is an output twice");
            assert!(batch.predictions.is_sorted_by_key(|prediction| prediction.row));
            for (prediction, origin) in batch.predictions.iter().zip(&batch.origins) {
                let context = seen[batch.outputs[prediction.row]].clone();
                assert!(contexts.insert(*origin, (context, prediction.token)).is_none(), "predicted twice");
            }
        }
        contexts
    }

    fn rows(batches: &[MicroBatch]) -> usize {
        batches.iter().map(|batch| batch.tokens.len()).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// So what is shown between turns carries no loss: nothing predicts it.
        #[test]
        fn every_response_token_is_predicted_once_behind_its_own_context_and_nothing_else_is(
            episodes in episodes(), limit in 5_usize..60,
        ) {
            let marked = responses(&episodes, true);
            let joined = join_turns(&marked);
            let (later, count) = (joined.later, joined.joined);
            prop_assert_eq!(later, episodes.iter().map(|turns| turns.len() - 1).sum::<usize>());
            prop_assert_eq!(joined.sequences.len() + count, marked.len());
            let batches = assign_to_workers(group_by_prompt(joined.sequences, limit), 2, limit).concat();
            let found = contexts(&batches);
            prop_assert_eq!(found.len(), marked.iter().map(|(_, response)| response.tokens.len()).sum::<usize>());
            for ((index, at), (context, token)) in found {
                let (prompt, response) = marked[index];
                prop_assert_eq!(context, [prompt, &response.tokens[..at]].concat());
                prop_assert_eq!(token, response.tokens[at]);
            }
            let apart = join_turns(&responses(&episodes, false));
            prop_assert_eq!((apart.later, apart.joined), (0, 0));
            let apart = assign_to_workers(group_by_prompt(apart.sequences, limit), 2, limit).concat();
            prop_assert!(rows(&batches) <= rows(&apart));
        }
    }

    #[test]
    fn turns_are_joined_where_the_transcript_is_append_only_up_to_the_token_that_ends_a_response() {
        let joined = |prompt: &[u32]| {
            let turn = |index, tokens: &'static [u32]| Response { episode: Some(3), ..Response::new(index, tokens) };
            let turns = [(&[1, 2][..], turn(0, &[5, 6, 9])), (prompt, turn(1, &[7]))];
            join_turns(&turns).joined
        };
        assert_eq!(joined(&[1, 2, 5, 6, 9, 3]), 1, "as it was sampled");
        assert_eq!(joined(&[1, 2, 5, 6, 8, 3]), 1, "the template ends it otherwise");
        assert_eq!(joined(&[1, 2, 5, 6, 3]), 1, "or not at all");
        for rewritten in [&[1, 2, 5, 7, 9, 3][..], &[1, 3, 5, 6, 9, 3], &[1, 2, 5, 6], &[1, 2], &[4]] {
            assert_eq!(joined(rewritten), 0, "{rewritten:?}");
        }
    }
}

//! How samples become micro-batches: groups that share a prompt, packed row by row, and dealt to data-parallel workers.
//!
//! Pure and deterministic: the same samples give the same micro-batches on every machine.

use veriplay_kernels::attention::AttentionGroup;
use veriplay_kernels::logprob::Prediction;

/// A prompt and some of its responses, by index into the list of responses it came from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PromptGroup<'a> {
    /// Tokens of the prompt; never empty.
    pub(crate) prompt: &'a [u32],
    /// Index and tokens (never empty) of each response.
    pub(crate) responses: Vec<Response<'a>>,
}

/// One response of a [`PromptGroup`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Response<'a> {
    /// Its index in the caller's list.
    pub(crate) index: usize,
    /// Its tokens.
    pub(crate) tokens: &'a [u32],
    /// Tokens at its start that are context only.
    pub(crate) masked: usize,
    /// Whether it stays in the group of the response before it, whatever their joint length.
    pub(crate) bound: bool,
}

impl PromptGroup<'_> {
    /// Rows it takes: the last token of a response is predicted, never read.
    pub(crate) fn rows(&self) -> usize {
        self.prompt.len() + self.responses.iter().map(|r| r.tokens.len() - 1).sum::<usize>()
    }

    fn fits(&self, response: &Response<'_>, limit: usize) -> bool {
        self.rows() + response.tokens.len() <= limit + 1
    }
}

/// Groups consecutive responses to the same prompt, as long as they fit in `limit` rows together. A bound response
/// has the prompt of the one before it.
pub(crate) fn group_by_prompt<'a>(
    samples: impl Iterator<Item = (&'a [u32], Response<'a>)>,
    limit: usize,
) -> Vec<PromptGroup<'a>> {
    let mut groups: Vec<PromptGroup<'a>> = Vec::new();
    for (prompt, response) in samples {
        match groups.last_mut() {
            Some(last) if response.bound || last.prompt == prompt && last.fits(&response, limit) => {
                last.responses.push(response)
            }
            _ => groups.push(PromptGroup { prompt, responses: vec![response] }),
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

/// Rows that go through the model together.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MicroBatch {
    /// Token of every row.
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
    /// Appends a group. The last row of its prompt predicts the first token of every response.
    fn push(&mut self, group: &PromptGroup<'_>) {
        let start = self.tokens.len();
        self.tokens.extend_from_slice(group.prompt);
        let mut rows =
            AttentionGroup { prompt: start..self.tokens.len(), responses: Vec::with_capacity(group.responses.len()) };
        let mut open = group.responses.iter().filter(|r| r.masked == 0).peekable();
        if open.peek().is_some() {
            self.outputs.push(rows.prompt.end - 1);
        }
        open.for_each(|response| self.predict(response, 0));
        for response in &group.responses {
            let first = self.tokens.len();
            self.tokens.extend_from_slice(&response.tokens[..response.tokens.len() - 1]);
            for at in response.masked.max(1)..response.tokens.len() {
                self.outputs.push(first + at - 1);
                self.predict(response, at);
            }
            rows.responses.push(first..self.tokens.len());
        }
        self.groups.push(rows);
    }

    /// Appends a prompt without responses; its last row is an output.
    pub(crate) fn push_prompt(&mut self, prompt: &[u32]) {
        let start = self.tokens.len();
        self.tokens.extend_from_slice(prompt);
        self.outputs.push(self.tokens.len() - 1);
        self.groups.push(AttentionGroup { prompt: start..self.tokens.len(), responses: Vec::new() });
    }

    /// The last output predicts token `at` of `response`.
    fn predict(&mut self, response: &Response<'_>, at: usize) {
        self.predictions.push(Prediction { row: self.outputs.len() - 1, token: response.tokens[at] });
        self.origins.push((response.index, at));
    }
}

//! A frozen quantised model: a GGUF file of the Qwen2, Qwen3 or Llama family, run by candle-transformers.
//!
//! Called by the command line for `gguf:PATH`: a proposer or an evaluation on a laptop. Tokens are drawn by our own sampler
//! ([`crate::TokenSampler`]) from seeds of their own, one sequence at a time: candle's models hold one cache, and a row of a larger
//! product may round otherwise, so a sample would depend on its batch. Samples of one prompt share its computation for Llama alone.

mod convert;
mod error;
mod file;
mod model;
mod tokens;

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use veriplay_core::{Policy, PolicyError, PolicyVersion, Prompt, Rollout, Sampling};

use self::file::Gguf;
use self::model::Model;
use crate::config::Architecture;
use crate::sampling::{Continuation, QueuedPrompt, Request, RequestError, SamplingContext};
use crate::score::backend;
use crate::tokenizer::Tokenizer;

pub use self::convert::convert_gguf;
pub use self::error::GgufError;

/// A model in a GGUF file, with its tokenizer. It never learns: the version of its rollouts is 0.
pub struct GgufPolicy {
    architecture: Architecture,
    vocabulary: usize,
    context: usize,
    tokenizer: Tokenizer,
    end_tokens: Vec<u32>,
    model: Mutex<Model>,
}

impl fmt::Debug for GgufPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GgufPolicy({:?}, {} tokens of context)", self.architecture, self.context)
    }
}

impl GgufPolicy {
    /// Reads `PATH` or `PATH#TOKENIZER`: the part behind the `#` is a `tokenizer.json`, seen from the model's directory.
    ///
    /// # Errors
    /// As [`GgufPolicy::load`].
    pub fn open(name: &str) -> Result<Self, GgufError> {
        let (path, tokenizer) = name.split_once('#').map_or((name, None), |(path, json)| (path, Some(json)));
        let path = Path::new(path);
        let tokenizer = tokenizer.map(|json| path.parent().unwrap_or(Path::new("")).join(json));
        Self::load(path, tokenizer.as_deref())
    }

    /// Reads a model. Its tokenizer is `tokenizer`, or else the `tokenizer.json` beside the file, or else the one inside the file;
    /// with none it works by token ids alone.
    ///
    /// # Errors
    /// A file that is not GGUF, is cut off, lacks a tensor or holds one that candle would leave out; an unknown architecture; a
    /// tokenizer with more tokens than the model, or of a kind that is not read here.
    pub fn load(path: &Path, tokenizer: Option<&Path>) -> Result<Self, GgufError> {
        let mut file = Gguf::open(path)?;
        let shape = file.shape()?;
        let tokenizer = tokens::tokenizer(&mut file, tokenizer)?;
        let (vocabulary, tokens) = (shape.vocabulary, tokenizer.vocab_size());
        if tokens > vocabulary {
            return Err(GgufError::Vocabulary { path: path.to_owned(), vocabulary, tokens });
        }
        let end_tokens = tokens::end_tokens(&file, vocabulary)?;
        let model = Model::read(file, shape.architecture)
            .map_err(|e| GgufError::Model { path: path.to_owned(), reason: e.to_string() })?;
        Ok(Self {
            architecture: shape.architecture,
            vocabulary,
            context: shape.context,
            tokenizer,
            end_tokens,
            model: Mutex::new(model),
        })
    }

    /// The family.
    #[must_use]
    pub const fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Tokens that prompt and answer may have together. candle's quantised Llama ends at 4,096.
    #[must_use]
    pub const fn context(&self) -> usize {
        self.context
    }

    /// The tokenizer.
    #[must_use]
    pub const fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The tokens that end an answer, as the file names them.
    #[must_use]
    pub fn end_tokens(&self) -> &[u32] {
        &self.end_tokens
    }

    /// As [`crate::Learner::complete`].
    ///
    /// # Errors
    /// The first request that cannot be done; nothing is sampled then.
    pub fn complete(&self, requests: &[Request]) -> Result<Vec<Vec<Continuation>>, RequestError> {
        self.sampling_context().check(requests)?;
        let queued_prompts = requests.iter().map(|request| self.sampling_context().queue_request(request)).collect();
        Ok(self.continuations(queued_prompts)?)
    }

    /// Logits of the next token behind `tokens` [vocabulary].
    ///
    /// # Errors
    /// No token, one outside the vocabulary, or more than the context holds.
    pub fn logits(&self, tokens: &[u32]) -> Result<Vec<f32>, PolicyError> {
        let sampling = Sampling { temperature: 0.0, max_tokens: 1, group: 1, seed: 0 };
        self.sampling_context().check_prompts(&[tokens.to_vec()], &sampling)?;
        self.model.lock().unwrap_or_else(PoisonError::into_inner).begin(tokens).map_err(backend)
    }

    /// The text of a continuation, as [`crate::Learner::text`].
    #[must_use]
    pub fn text(&self, continuation: &Continuation) -> String {
        self.sampling_context().text(continuation)
    }

    fn sampling_context(&self) -> SamplingContext<'_> {
        let Self { tokenizer, end_tokens, vocabulary, context, .. } = self;
        SamplingContext { tokenizer, end_tokens, vocabulary: *vocabulary, context: *context }
    }

    fn continuations(&self, queued_prompts: Vec<QueuedPrompt<'_>>) -> Result<Vec<Vec<Continuation>>, PolicyError> {
        // A call that panicked left a sequence behind; the next one begins with another anyway.
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        queued_prompts.iter().map(|queued| group(&mut model, queued).map_err(backend)).collect()
    }
}

/// All samples of one queued prompt.
fn group(model: &mut Model, queued: &QueuedPrompt<'_>) -> candle_core::Result<Vec<Continuation>> {
    if queued.samples == 0 {
        return Ok(Vec::new());
    }
    let mut logits = model.begin(queued.prompt)?;
    let one = |sample| {
        if let Some(mut fork) = model.fork() {
            return continuation(&mut fork, queued, sample, logits.clone());
        }
        if sample > 0 {
            logits = model.begin(queued.prompt)?;
        }
        continuation(model, queued, sample, logits.clone())
    };
    (0..queued.samples).map(one).collect()
}

/// One sample, from the logits behind its prompt, which the model holds.
fn continuation(
    model: &mut Model,
    queued: &QueuedPrompt<'_>,
    sample: usize,
    mut logits: Vec<f32>,
) -> candle_core::Result<Continuation> {
    let (mut tokens, mut logprobs) = (Vec::new(), Vec::new());
    loop {
        if let Some(end) = queued.extend(sample, &mut tokens, &mut logprobs, &mut logits) {
            return Ok(Continuation { tokens, logprobs, end });
        }
        let last = tokens.len() - 1;
        logits = model.extend(&tokens[last..], queued.prompt.len() + last)?;
    }
}

impl Policy for GgufPolicy {
    /// See the trait. A rollout's text is without the end token; at temperature 0 every log-probability is 0.
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let context = self.sampling_context();
        let continuations = |tokens: &[Vec<u32>]| self.continuations(context.queue_prompts(tokens, sampling));
        context.generate(prompts, sampling, PolicyVersion(0), continuations)
    }
}

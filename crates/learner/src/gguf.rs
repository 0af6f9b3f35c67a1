//! A frozen quantised model: a GGUF file of the Qwen2, Qwen3 or Llama family.
//!
//! Called by the command line for `gguf:PATH`: a proposer or an evaluation on a laptop. Tokens are drawn by our own sampler
//! ([`crate::TokenSampler`]) from seeds of their own, one sequence at a time: a row of a larger product may round otherwise, so a sample
//! would depend on its batch. Samples of one prompt share its computation.

mod convert;
mod file;
mod model;
mod word_splitting;

use std::fmt;
use std::path::{Path, PathBuf};

use candle_core::Result as CandleResult;
use candle_core::quantized::gguf_file::Value;
use candle_core::quantized::tokenizer::TokenizerFromGguf;
use tokenizers::Tokenizer as Inner;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::sequence::Sequence as PreTokenizers;
use tokenizers::processors::PostProcessorWrapper;
use veriplay_core::{LengthLimit, Policy, PolicyError, PolicyVersion, Prompt, Rollout, Sampling};

use crate::chat::ChatTemplate;
use crate::config::MAX_CONTEXT;
use crate::decoding::{Continuation, DecodingSample, QueuedPrompt};
use crate::sampling::{RequestError, SamplingContext, SamplingRequest};
use crate::score::policy_error;
use crate::tokenizer::Tokenizer;
use file::GgufFile;
use model::{QuantizedModel, Sequence};
use word_splitting::{WordSplitting, keeps_words_that_are_tokens};

pub use convert::{GgufDescription, convert_gguf, describe_gguf};
pub use file::GgufError;

const CHAT_TEMPLATE: &str = "tokenizer.chat_template";

/// A model in a GGUF file, with its tokenizer. It never learns: the version of its rollouts is 0.
pub struct GgufPolicy {
    vocabulary: usize,
    context: usize,
    tokenizer: Tokenizer,
    end_tokens: Vec<u32>,
    /// For prompts that are conversations.
    template: Option<ChatTemplate>,
    model: QuantizedModel,
}

impl fmt::Debug for GgufPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GgufPolicy({} tokens of context)", self.context)
    }
}

impl GgufPolicy {
    /// Reads `PATH` or `PATH#TOKENIZER`: the part behind the `#` is a `tokenizer.json`, seen from the model's directory.
    pub fn open(name: &str) -> Result<Self, GgufError> {
        let (path, tokenizer) = name.split_once('#').map_or((name, None), |(path, json)| (path, Some(json)));
        let path = Path::new(path);
        let tokenizer = tokenizer.map(|json| path.parent().unwrap_or(Path::new("")).join(json));
        Self::load(path, tokenizer.as_deref())
    }

    /// Reads a model. Its tokenizer is `tokenizer`, or else the `tokenizer.json` next to the file, or else the one inside the file;
    /// with none it works only by token ids.
    ///
    /// # Errors
    /// A file that is not GGUF, is cut off, lacks a tensor or holds one that its architecture does not have; an unknown architecture;
    /// scaled positions, but for Llama's factors; a tokenizer with more tokens than the model, or of a kind that is not read here.
    pub fn load(path: &Path, tokenizer: Option<&Path>) -> Result<Self, GgufError> {
        let mut file = GgufFile::open(path)?;
        let mut config = file.config()?;
        config.max_position_embeddings = config.max_position_embeddings.min(MAX_CONTEXT);
        let vocabulary = config.vocab_size;
        let tokenizer = find_tokenizer(&mut file, tokenizer, vocabulary)?;
        let end_tokens = end_tokens(&file, vocabulary)?;
        let template = chat_template(&file, &tokenizer)?;
        let model = QuantizedModel::read(&mut file, &config)?;
        Ok(Self { vocabulary, context: config.max_position_embeddings, tokenizer, end_tokens, template, model })
    }

    /// Tokens that prompt and answer may have together: as the file says, and 262,144 at most.
    pub const fn context(&self) -> usize {
        self.context
    }

    /// The tokenizer.
    pub const fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The tokens that end an answer, as the file names them.
    pub fn end_tokens(&self) -> &[u32] {
        &self.end_tokens
    }

    /// As [`crate::Learner::complete`].
    ///
    /// # Errors
    /// The first request that cannot be done; nothing is sampled then.
    pub fn complete(&self, requests: &[SamplingRequest]) -> Result<Vec<Vec<Continuation>>, RequestError> {
        self.sampling_context().check(requests)?;
        let queued_prompts = requests.iter().map(|request| self.sampling_context().queue_request(request)).collect();
        Ok(self.continuations(queued_prompts)?)
    }

    /// Logits of the next token behind `tokens` `[vocabulary]`.
    ///
    /// # Errors
    /// No token, one outside the vocabulary, or more than the context holds.
    pub fn logits(&self, tokens: &[u32]) -> Result<Vec<f32>, PolicyError> {
        let sampling = Sampling::new(1);
        self.sampling_context().check_prompt(0, tokens, &sampling)?;
        Ok(self.model.compute(tokens).map_err(policy_error)?.logits)
    }

    /// The text of a continuation, as [`crate::Learner::text`].
    pub fn text(&self, continuation: &Continuation) -> String {
        self.sampling_context().text(continuation)
    }

    /// Whether conversations are rendered by a template of the file; otherwise as plain text.
    #[must_use]
    pub const fn has_chat_template(&self) -> bool {
        self.template.is_some()
    }

    fn sampling_context(&self) -> SamplingContext<'_> {
        let Self { tokenizer, end_tokens, .. } = self;
        let limit = LengthLimit::of_context(self.context);
        SamplingContext { tokenizer, end_tokens, vocabulary: self.vocabulary, limit }
    }

    fn continuations(&self, queued_prompts: Vec<QueuedPrompt<'_>>) -> Result<Vec<Vec<Continuation>>, PolicyError> {
        queued_prompts.iter().map(|queued| group(&self.model, queued).map_err(policy_error)).collect()
    }
}

fn group(model: &QuantizedModel, queued: &QueuedPrompt<'_>) -> CandleResult<Vec<Continuation>> {
    if queued.samples == 0 {
        return Ok(Vec::new());
    }
    let prompt = model.compute(queued.prompt)?;
    let one = |index| continuation(model.begin(&prompt), queued, index, prompt.logits.clone());
    (0..queued.samples).map(one).collect()
}

/// One sample, from the logits behind its prompt.
fn continuation(
    mut sequence: Sequence<'_>,
    queued: &QueuedPrompt<'_>,
    index: usize,
    mut logits: Vec<f32>,
) -> CandleResult<Continuation> {
    let mut sample = DecodingSample::new(0, index);
    loop {
        queued.extend(&mut sample, &mut logits);
        if sample.end.is_some() {
            return Ok(sample.into_continuation());
        }
        logits = sequence.extend(sample.tokens[sample.tokens.len() - 1])?;
    }
}

impl Policy for GgufPolicy {
    /// See the trait. A rollout's text is without the end token and the stop string.
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let context = self.sampling_context();
        context
            .generate(prompts, sampling, self.template.as_ref(), PolicyVersion(0), |queued| self.continuations(queued))
    }
}

/// The named tokenizer, or the one next to the file, or the one inside it, or none; it may have no more tokens than the model.
fn find_tokenizer(file: &mut GgufFile, named: Option<&Path>, vocabulary: usize) -> Result<Tokenizer, GgufError> {
    let beside = file.path.with_file_name("tokenizer.json");
    let found: Option<PathBuf> = named.map(Path::to_owned).or_else(|| beside.exists().then_some(beside));
    let tokenizer = match found {
        Some(json) => {
            Tokenizer::load(&json).map_err(|e| GgufError(format!("the tokenizer of `{}`: {e}", file.path.display())))?
        }
        None if file.has("tokenizer.ggml.model") => read_inner_tokenizer(file)?,
        None => Tokenizer::missing(),
    };
    match tokenizer.vocab_size() {
        tokens if tokens > vocabulary => Err(GgufError(format!(
            "`{}` has a vocabulary of {vocabulary} tokens, and its tokenizer has {tokens}: it is another model's",
            file.path.display()
        ))),
        _ => Ok(tokenizer),
    }
}

fn read_inner_tokenizer(file: &mut GgufFile) -> Result<Tokenizer, GgufError> {
    let model = file.text("tokenizer.ggml.model")?.to_owned();
    let pre = file.text("tokenizer.ggml.pre").unwrap_or("none").to_owned();
    let Some(splitting) = WordSplitting::of_kind(&pre).filter(|_| model == "gpt2") else {
        return Err(file.invalid(format!(
            "it holds a tokenizer of kind `{model}, {pre}`, which is not read here: put the model's tokenizer.json beside it, or name it \
             behind a `#`"
        )));
    };
    let metadata = &mut file.content.metadata;
    metadata.insert("tokenizer.ggml.pre".to_owned(), Value::String(splitting.candle_name().to_owned()));
    if keeps_words_that_are_tokens(&pre) {
        metadata.insert("tokenizer.ggml.ignore_merges".to_owned(), Value::Bool(true));
    }
    let mut inner = Inner::from_gguf(&file.content).map_err(|e| file.invalid(e.to_string()))?;
    let steps = splitting.steps().map_err(|e| file.invalid(e.to_string()))?;
    if !steps.is_empty() {
        inner.with_pre_tokenizer(Some(PreTokenizers::new(steps))).with_decoder(Some(ByteLevel::new(false, true, true)));
        // candle's other step trims offsets, which nothing reads; the files of these models have none.
        let around = tokens_around(inner.get_post_processor());
        inner.with_post_processor(around);
    }
    Ok(Tokenizer::from_inner(inner))
}

/// The step that adds tokens around a text, where the file asks for that (`add_bos_token`, `add_eos_token`).
fn tokens_around(steps: Option<&PostProcessorWrapper>) -> Option<PostProcessorWrapper> {
    let adds = |step: &&PostProcessorWrapper| matches!(step, PostProcessorWrapper::Template(_));
    let found = match steps? {
        PostProcessorWrapper::Sequence(steps) => steps.as_ref().iter().find(adds),
        step => Some(step).filter(adds),
    };
    found.cloned()
}

/// The chat template inside the file, with the special tokens that templates spell.
fn chat_template(file: &GgufFile, tokenizer: &Tokenizer) -> Result<Option<ChatTemplate>, GgufError> {
    if !file.has(CHAT_TEMPLATE) {
        return Ok(None);
    }
    let mut template = ChatTemplate::from_text(file.text(CHAT_TEMPLATE)?);
    for (name, key) in [("bos_token", "tokenizer.ggml.bos_token_id"), ("eos_token", "tokenizer.ggml.eos_token_id")] {
        if let Some(token) = file.number_if_there(key)? {
            template = template.with_token(name, &tokenizer.token(token as u32).unwrap_or_default());
        }
    }
    Ok(Some(template))
}

/// The tokens that end an answer, as the file names them.
fn end_tokens(file: &GgufFile, vocabulary: usize) -> Result<Vec<u32>, GgufError> {
    let mut ends = Vec::new();
    for key in ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"] {
        let Some(token) = file.number_if_there(key)? else { continue };
        if token >= vocabulary {
            let problem = format!("is `{token}`, outside the vocabulary of {vocabulary} tokens");
            return Err(file.invalid_key(key, &problem));
        }
        ends.push(token as u32);
    }
    ends.dedup();
    Ok(ends)
}

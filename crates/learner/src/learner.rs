//! The learner: a [`Model`] that samples, by a [`Sampler`] or a server, and learns (`training`), behind the seams `Policy` and `Learn`.
//!
//! Called by the command line. All randomness comes from seeds, all sums have a fixed order, and the number of data-parallel workers is part of
//! the options: the same calls give the same bits on the same machine.

mod roles;
mod training;

use std::path::Path;
use std::sync::Arc;

use veriplay_core::{Policy, PolicyError, PolicyVersion, Prompt, PromptContent, Role, Rollout, Sampling};

use crate::chat::{Chat, ChatError, ChatTemplate, seconds_of};
use crate::checkpoint::CheckpointError;
use crate::config::{ConfigError, ModelConfig, TensorSpec};
use crate::decoding::{Continuation, QueuedPrompt};
use crate::device::Precision;
use crate::model::{Model, NamedTensor, out_of_memory};
use crate::network::Weights;
use crate::ops::SharedWorkspace;
use crate::optim::OptimizerState;
use crate::options::LearnerOptions;
use crate::sampling::{RequestError, Sampler, SamplingContext, SamplingRequest};
use crate::score::{check_score, logits, policy_error, score};
use crate::server::{CurrentWeights, RolloutServer, ServerError, ServerProtocol};
use crate::tokenizer::Tokenizer;
pub use roles::RoleLearners;

/// A model that samples and learns.
#[derive(Debug)]
pub struct Learner {
    model: Model,
    options: LearnerOptions,
    sampler: Sampler,
    /// Samples in place of `sampler` what [`Policy::generate`] is asked for.
    rollout_server: Option<Arc<RolloutServer>>,
    /// Whose adapters these are, where others have adapters of their own beside the same base.
    role: Option<Role>,
    /// Tensors that train: all weights, or the adapters.
    trainable: Vec<TensorSpec>,
    optimizer: OptimizerState,
    version: PolicyVersion,
    /// Whether an update has shown that every parameter gets a gradient.
    checked: bool,
    reference: Option<Weights>,
    /// Buffers of the data-parallel workers.
    workspaces: Vec<SharedWorkspace>,
}

impl Learner {
    fn new(model: Model, options: LearnerOptions) -> Result<Self, ConfigError> {
        let (device, lora) = (options.device, options.lora.clone());
        if let Some((module, own)) = lora.as_ref().and_then(|lora| lora.missing_module(&model.specs)) {
            let (key, value) = ("lora.target_modules".to_owned(), module.to_owned());
            return Err(ConfigError::Option { key, value, want: format!("some of {own}, which this model has") });
        }
        let mut learner = Self {
            sampler: Sampler::new(&options),
            rollout_server: None,
            role: None,
            trainable: Vec::new(),
            optimizer: OptimizerState::new(&[], model.steps_on_host()),
            version: PolicyVersion(0),
            checked: false,
            reference: None,
            workspaces: Vec::new(),
            model,
            options,
        };
        let adapters = lora.as_ref().map(|lora| learner.fresh_adapters(lora)).transpose();
        let started = adapters.and_then(|adapters| learner.restart_with(lora, adapters));
        started.map_err(|e| out_of_memory(device, &e))?;
        Ok(learner)
    }

    /// A new model with random weights: a pure function of `config` and `seed`.
    pub fn initialize(
        config: ModelConfig,
        tokenizer: Tokenizer,
        seed: u64,
        options: LearnerOptions,
    ) -> Result<Self, ConfigError> {
        options.validate()?;
        Self::new(Model::initialize(config, tokenizer, seed, &options)?, options)
    }

    /// Loads a model directory. The optimizer starts fresh; see [`Learner::load_trainer_state`].
    ///
    /// # Errors
    /// A file that is missing or broken, or that contradicts the others; the error names the file and the tensor or key.
    pub fn load(dir: &Path, options: LearnerOptions) -> Result<Self, CheckpointError> {
        Self::load_with(options, &dir.display().to_string(), |options| Model::load(dir, true, options))
    }

    /// As [`Learner::load`], but `tokenizer.json` may be missing: the learner then works only by token ids, and methods that need
    /// text fail.
    pub fn load_by_ids(dir: &Path, options: LearnerOptions) -> Result<Self, CheckpointError> {
        Self::load_with(options, &dir.display().to_string(), |options| Model::load(dir, false, options))
    }

    /// As [`Learner::load`], from the contents of the three files: for a model that is part of the program.
    pub fn from_bytes(
        config_json: &str,
        tokenizer_json: &str,
        safetensors: &[u8],
        options: LearnerOptions,
    ) -> Result<Self, CheckpointError> {
        Self::load_with(options, "(built-in)", |options| {
            Model::from_bytes(config_json, tokenizer_json, safetensors, options)
        })
    }

    fn load_with(
        options: LearnerOptions,
        origin: &str,
        load: impl FnOnce(&LearnerOptions) -> Result<Model, CheckpointError>,
    ) -> Result<Self, CheckpointError> {
        let config = |error| CheckpointError::invalid(origin, error);
        options.validate().map_err(config)?;
        Self::new(load(&options)?, options).map_err(config)
    }

    /// The model's shape.
    pub fn config(&self) -> &ModelConfig {
        &self.model.config
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.model.tokenizer
    }

    /// The tokens that end an answer: those of `generation_config.json`, or else those of `config.json`.
    pub fn end_tokens(&self) -> &[u32] {
        &self.model.end_tokens
    }

    /// The options.
    pub const fn options(&self) -> &LearnerOptions {
        &self.options
    }

    /// The version of the weights.
    pub const fn version(&self) -> PolicyVersion {
        self.version
    }

    /// Number of parameters.
    pub fn parameter_count(&self) -> usize {
        self.model.parameter_count()
    }

    /// Number of parameters that train.
    pub fn trainable_count(&self) -> usize {
        self.trainable.iter().map(TensorSpec::elements).sum()
    }

    /// Every weight tensor as it is saved, in the order of [`crate::tensor_specs`].
    pub fn named_weights(&self) -> Vec<NamedTensor> {
        self.model.named_weights()
    }

    /// Free bytes of the device; `None` for the CPU, or where the driver does not report them.
    pub fn device_memory(&self) -> Option<u64> {
        self.model.device.free_memory()
    }

    /// The most bytes of the device that were in use at once since the last call; `None` as for [`Learner::device_memory`].
    pub fn take_peak_device_memory(&self) -> Option<u64> {
        self.model.device.take_peak_memory()
    }

    /// The chat templates of the checkpoint.
    ///
    /// # Errors
    /// A file that is broken, named with its key. A checkpoint without a template is no error until one is rendered.
    pub fn chat_template(&self) -> Result<ChatTemplate, ChatError> {
        let date = self.options.chat_date.as_deref();
        Ok(ChatTemplate::from_files(&self.model.sidecar_files)?.at(date.and_then(seconds_of)))
    }

    /// Whether conversations are rendered by the checkpoint's template; otherwise as plain text.
    #[must_use]
    pub fn has_chat_template(&self) -> bool {
        self.options.chat_template && self.chat_template().is_ok_and(|template| template.is_present())
    }

    /// Tokens of a conversation's prompt: the template's text, with nothing added around it.
    pub fn encode_chat(&self, chat: &Chat) -> Result<Vec<u32>, ChatError> {
        Ok(self.model.tokenizer.encode(&self.chat_template()?.render(chat)?)?)
    }

    /// Writes the model directory, which is made when missing. The result loads in `transformers` as the class that
    /// `config.json` names. Weights above 5 GB are sharded.
    pub fn save(&self, dir: &Path) -> Result<(), CheckpointError> {
        self.model.save(dir, None, Precision::F32)
    }

    /// As [`Learner::save`], with weights in this precision.
    pub fn save_in(&self, dir: &Path, precision: Precision) -> Result<(), CheckpointError> {
        self.model.save(dir, None, precision)
    }

    /// As [`Learner::save`], with weight files of `max_shard_bytes` at most (a single larger tensor has a file of its own).
    pub fn save_sharded(&self, dir: &Path, max_shard_bytes: usize) -> Result<(), CheckpointError> {
        self.model.save(dir, Some(max_shard_bytes), Precision::F32)
    }

    /// The bytes of `model.safetensors`: equal weights give equal bytes.
    pub fn weights_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        self.model.weights_bytes()
    }

    /// Has a server sample what [`Policy::generate`] is asked for. It gets the weights whenever they have changed: adapters, where these train and its
    /// protocol takes them.
    pub fn sample_from(&mut self, server: impl Into<Arc<RolloutServer>>) {
        self.rollout_server = Some(server.into());
    }

    /// The policy as it is now, which samples, by the same server where there is one, while this one learns. What trains is copied, and a base under
    /// adapters is shared.
    pub fn freeze(&self) -> Result<impl Policy + use<>, PolicyError> {
        self.frozen()
    }

    fn frozen(&self) -> Result<Self, PolicyError> {
        Ok(Self {
            model: self.model.freeze().map_err(policy_error)?,
            options: self.options.clone(),
            sampler: Sampler::new(&self.options),
            rollout_server: self.rollout_server.clone(),
            role: self.role,
            trainable: self.trainable.clone(),
            optimizer: OptimizerState::new(&[], self.model.steps_on_host()),
            version: self.version,
            checked: self.checked,
            reference: None,
            workspaces: Vec::new(),
        })
    }

    /// Frees what sampling has computed, and has a server that shares the device give its memory back.
    fn end_sampling(&self) {
        self.sampler.forget();
        self.rollout_server.iter().for_each(|server| server.sleep());
    }

    /// What the server has is not of the weights that this version will have, and neither is what the sampler has computed.
    fn forget_handed_over(&self) {
        self.rollout_server.iter().for_each(|server| server.forget(self.role));
        self.sampler.forget();
    }

    /// The continuations of every queued prompt by a server, which gets the weights first where they have changed.
    fn continuations_by(
        &self,
        server: &RolloutServer,
        queued: &[QueuedPrompt<'_>],
        vocabulary: usize,
    ) -> Result<Vec<Vec<Continuation>>, ServerError> {
        server.wake_up(|| self.model.device.release_memory())?;
        let are_adapters = self.hands_over_adapters(server.protocol());
        let save = |folder: &Path| self.save_for(folder, are_adapters);
        let (version, role) = (self.version, self.role);
        server.continuations(queued, vocabulary, &CurrentWeights { version, role, are_adapters, save: &save })
    }

    fn save_for(&self, folder: &Path, are_adapters: bool) -> Result<(), CheckpointError> {
        if are_adapters { self.save_adapters(folder) } else { self.save_in(folder, self.options.precision) }
    }

    const fn hands_over_adapters(&self, protocol: ServerProtocol) -> bool {
        self.options.lora.is_some() && protocol.takes_adapters()
    }
}

impl Policy for Learner {
    /// See the trait. A rollout's text is without the end token and the stop string.
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let template = self.prompt_template(prompts)?;
        let context = self.sampling_context();
        let continuations = |queued: Vec<QueuedPrompt<'_>>| match &self.rollout_server {
            None => self.sampler.continuations(&self.model, queued).map_err(policy_error),
            Some(server) => {
                let groups = self.continuations_by(server, &queued, context.vocabulary);
                groups.map_err(|error| PolicyError::Backend(error.to_string()))
            }
        };
        context.generate(prompts, sampling, template.as_ref(), self.version, continuations)
    }

    /// See the trait. A prompt that cannot be tokenized has room: sampling says what is wrong with it.
    fn has_room(&self, prompt: &Prompt, max_tokens: usize) -> bool {
        let context = self.options.context(&self.model.config);
        self.encode_prompt(prompt).map_or(true, |tokens| tokens.len().saturating_add(max_tokens) <= context)
    }

    fn encode_response(&self, text: &str) -> Result<Vec<u32>, PolicyError> {
        let fail = |reason: String| PolicyError::Tokenize { index: 0, reason };
        let mut tokens = self.model.tokenizer.encode(text).map_err(|error| fail(error.to_string()))?;
        let end = self.model.end_tokens.first().ok_or_else(|| fail("the checkpoint names no end token".to_owned()))?;
        tokens.push(*end);
        Ok(tokens)
    }

    fn score_responses(&self, prompts: &[Prompt], responses: &[&[u32]]) -> Result<Vec<Vec<f32>>, PolicyError> {
        self.end_sampling();
        let (template, context) = (self.prompt_template(prompts)?, self.sampling_context());
        let mut encoded = Vec::with_capacity(prompts.len());
        for (index, (prompt, response)) in prompts.iter().zip(responses).enumerate() {
            let tokens = context.encode_prompt(index, prompt, &[], template.as_ref())?.tokens;
            check_score(&self.model, &tokens, &[response.to_vec()])?;
            encoded.push(tokens);
        }
        let pairs: Vec<_> =
            encoded.iter().zip(responses).map(|(prompt, response)| (prompt.as_slice(), *response)).collect();
        score(&self.model, &pairs, self.options.micro_tokens).map_err(policy_error)
    }
}

impl Learner {
    /// A prompt in tokens, as [`Policy::generate`] continues it.
    pub fn encode_prompt(&self, prompt: &Prompt) -> Result<Vec<u32>, PolicyError> {
        let template = self.prompt_template(std::slice::from_ref(prompt))?;
        self.sampling_context().encode_prompt(0, prompt, &[], template.as_ref()).map(|encoded| encoded.tokens)
    }

    fn sampling_context(&self) -> SamplingContext<'_> {
        let limit = self.options.length_limit(&self.model.config);
        SamplingContext { limit, ..SamplingContext::new(&self.model) }
    }

    /// The chat template for these prompts; `None` where none is a conversation, the checkpoint has no template, or the options say so.
    fn prompt_template(&self, prompts: &[Prompt]) -> Result<Option<ChatTemplate>, PolicyError> {
        let is_chat = |prompt: &Prompt| matches!(prompt.content, PromptContent::Messages(_));
        if !self.options.chat_template || !prompts.iter().any(is_chat) {
            return Ok(None);
        }
        let template = self.chat_template().map_err(|e| PolicyError::Backend(e.to_string()))?;
        Ok(Some(template).filter(ChatTemplate::is_present))
    }

    /// Continues every request: [`SamplingRequest::samples`] continuations each, in the order of the requests.
    ///
    /// # Errors
    /// The first request that cannot be done; nothing is sampled then.
    pub fn complete(&self, requests: &[SamplingRequest]) -> Result<Vec<Vec<Continuation>>, RequestError> {
        let context = self.sampling_context();
        context.check(requests)?;
        let queued_prompts = requests.iter().map(|request| context.queue_request(request)).collect();
        Ok(self.sampler.continuations(&self.model, queued_prompts).map_err(policy_error)?)
    }

    /// The text of a continuation: without the end token, and up to the stop string that ended it. Empty where the checkpoint has no
    /// tokenizer.
    pub fn text(&self, continuation: &Continuation) -> String {
        self.sampling_context().text(continuation)
    }

    /// Log-probability, in nats at temperature 1, of every token of every response, by the path that trains.
    ///
    /// # Errors
    /// An empty prompt or response, a token outside the vocabulary, or more tokens than the context holds.
    pub fn score(&self, prompt: &[u32], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        check_score(&self.model, prompt, responses)?;
        let pairs: Vec<_> = responses.iter().map(|response| (prompt, response.as_slice())).collect();
        score(&self.model, &pairs, self.options.micro_tokens).map_err(policy_error)
    }

    /// Logits of the next token behind every token of `tokens` [tokens, vocab], by the path that trains.
    pub fn logits(&self, tokens: &[u32]) -> Result<Vec<Vec<f32>>, PolicyError> {
        check_score(&self.model, tokens, &[])?;
        logits(&self.model, tokens).map_err(policy_error)
    }
}

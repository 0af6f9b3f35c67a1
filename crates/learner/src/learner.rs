//! The learner: a [`Model`], a [`Trainer`] and a [`Sampler`] behind the seams `Policy` and `Learn`.
//!
//! Called by the command line. Every method hands its work to one of the three. All randomness comes from seeds, all sums have a fixed
//! order, and the number of data-parallel workers is part of the options: the same calls give the same bits on the same machine.

use std::path::Path;

use veriplay_core::{
    Learn, LearnError, Policy, PolicyError, PolicyVersion, PreferenceBatch, Prompt, PromptContent, Rollout, Sampling,
    Snapshot, TrainBatch, Update,
};

use crate::chat::{Chat, ChatError, ChatTemplate, seconds_of};
use crate::checkpoint::CheckpointError;
use crate::config::{ConfigError, ModelConfig};
use crate::decoding::{Continuation, QueuedPrompt};
use crate::device::Precision;
use crate::lora::Lora;
use crate::model::{Model, NamedTensor, Placement, out_of_memory};
use crate::ops::IdleBuffers;
use crate::options::LearnerOptions;
use crate::sampling::{RequestError, Sampler, SamplingContext, SamplingRequest};
use crate::score::{PromptAndResponse, check_score, logits, policy_error, score, whole_responses};
use crate::server::{RolloutServer, ServerProtocol};
use crate::tokenizer::Tokenizer;
use crate::trainer::Trainer;

/// A model that samples and learns.
#[derive(Debug)]
pub struct Learner {
    model: Model,
    trainer: Trainer,
    sampler: Sampler,
    /// Samples in place of `sampler` what [`Policy::generate`] is asked for.
    rollout_server: Option<RolloutServer>,
}

/// Where the options say that a model computes.
const fn placement(options: &LearnerOptions) -> Placement {
    Placement { device: options.device, precision: options.precision, workers: options.data_parallel }
}

/// Constructors.
impl Learner {
    fn new(mut model: Model, options: LearnerOptions) -> Result<Self, ConfigError> {
        let (device, sampler) = (options.device, Sampler::new(&options));
        let trainer = Trainer::new(&mut model, options).map_err(|e| out_of_memory(device, &e))?;
        Ok(Self { model, trainer, sampler, rollout_server: None })
    }

    /// A new model with random weights: a pure function of `config` and `seed`.
    ///
    /// # Errors
    /// A config that contradicts itself, the tokenizer or the options.
    pub fn initialize(
        config: ModelConfig,
        tokenizer: Tokenizer,
        seed: u64,
        options: LearnerOptions,
    ) -> Result<Self, ConfigError> {
        options.validate()?;
        Self::new(Model::initialize(config, tokenizer, seed, placement(&options))?, options)
    }

    /// Loads a model directory. The optimizer starts fresh; see [`Learner::load_trainer_state`].
    ///
    /// # Errors
    /// A file that is missing or broken, or that contradicts the others; the error names the file and the tensor or key.
    pub fn load(dir: &Path, options: LearnerOptions) -> Result<Self, CheckpointError> {
        Self::load_with(options, &dir.display().to_string(), |placement| Model::load(dir, true, placement))
    }

    /// As [`Learner::load`], but `tokenizer.json` may be missing: the learner then works only by token ids, and methods that need
    /// text fail.
    ///
    /// # Errors
    /// As [`Learner::load`].
    pub fn load_by_ids(dir: &Path, options: LearnerOptions) -> Result<Self, CheckpointError> {
        Self::load_with(options, &dir.display().to_string(), |placement| Model::load(dir, false, placement))
    }

    /// As [`Learner::load`], from the contents of the three files: for a model that is part of the program.
    ///
    /// # Errors
    /// As [`Learner::load`].
    pub fn from_bytes(
        config_json: &str,
        tokenizer_json: &str,
        safetensors: &[u8],
        options: LearnerOptions,
    ) -> Result<Self, CheckpointError> {
        Self::load_with(options, "(built-in)", |placement| {
            Model::from_bytes(config_json, tokenizer_json, safetensors, placement)
        })
    }

    fn load_with(
        options: LearnerOptions,
        origin: &str,
        load: impl FnOnce(Placement) -> Result<Model, CheckpointError>,
    ) -> Result<Self, CheckpointError> {
        let config = |error| CheckpointError::invalid(origin, error);
        options.validate().map_err(config)?;
        Self::new(load(placement(&options))?, options).map_err(config)
    }
}

/// Parts.
impl Learner {
    /// The model's shape.
    pub fn config(&self) -> &ModelConfig {
        &self.model.config
    }

    /// The tokenizer.
    pub const fn tokenizer(&self) -> &Tokenizer {
        &self.model.tokenizer
    }

    /// The tokens that end an answer: those of `generation_config.json`, or else those of `config.json`.
    pub fn end_tokens(&self) -> &[u32] {
        &self.model.end_tokens
    }

    /// The options.
    pub const fn options(&self) -> &LearnerOptions {
        self.trainer.options()
    }

    /// The version of the weights.
    pub const fn version(&self) -> PolicyVersion {
        self.trainer.version()
    }

    /// Number of parameters.
    pub fn parameter_count(&self) -> usize {
        self.model.parameter_count()
    }

    /// Number of parameters that train.
    pub fn trainable_count(&self) -> usize {
        self.trainer.trainable_count()
    }

    /// Every weight tensor as the model uses it, in the order of [`crate::tensor_specs`].
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
        let date = self.options().chat_date.as_deref();
        Ok(ChatTemplate::from_files(&self.model.sidecar_files)?.at(date.and_then(seconds_of)))
    }

    /// Whether conversations are rendered by the checkpoint's template; otherwise as plain text.
    #[must_use]
    pub fn has_chat_template(&self) -> bool {
        self.options().chat_template && self.chat_template().is_ok_and(|template| template.is_present())
    }

    /// Tokens of a conversation's prompt: the template's text, with nothing added around it.
    ///
    /// # Errors
    /// As [`Learner::chat_template`], [`ChatTemplate::render`] and [`crate::Tokenizer::encode`].
    pub fn encode_chat(&self, chat: &Chat) -> Result<Vec<u32>, ChatError> {
        Ok(self.model.tokenizer.encode(&self.chat_template()?.render(chat)?)?)
    }
}

/// Files.
impl Learner {
    /// Writes the model directory, which is made when missing. The result loads in `transformers` as the class that
    /// `config.json` names. Weights above 5 GB are sharded.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, dir: &Path) -> Result<(), CheckpointError> {
        self.model.save(dir, None, Precision::F32)
    }

    /// As [`Learner::save`], with weights in this precision.
    ///
    /// # Errors
    /// As [`Learner::save`].
    pub fn save_in(&self, dir: &Path, precision: Precision) -> Result<(), CheckpointError> {
        self.model.save(dir, None, precision)
    }

    /// As [`Learner::save`], with weight files of `max_shard_bytes` at most (a single larger tensor has a file of its own).
    ///
    /// # Errors
    /// As [`Learner::save`].
    pub fn save_sharded(&self, dir: &Path, max_shard_bytes: usize) -> Result<(), CheckpointError> {
        self.model.save(dir, Some(max_shard_bytes), Precision::F32)
    }

    /// The bytes of `model.safetensors`: equal weights give equal bytes.
    ///
    /// # Errors
    /// The format's library refuses the tensors.
    pub fn weights_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        self.model.weights_bytes()
    }

    /// Writes the optimizer's moments and counters next to the model.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save_trainer_state(&self, dir: &Path) -> Result<(), CheckpointError> {
        self.trainer.save_state(dir)
    }

    /// Restores what [`Learner::save_trainer_state`] wrote: the next update gives the same bits as without the interruption.
    ///
    /// # Errors
    /// A file that is missing, broken, of another schema, or of another model; the learner is then unchanged.
    pub fn load_trainer_state(&mut self, dir: &Path) -> Result<(), CheckpointError> {
        self.forget_handed_over();
        self.trainer.load_state(dir)
    }

    /// Writes the adapters, and nothing of the base, into a directory, which is made when missing.
    ///
    /// # Errors
    /// A file that cannot be written, or a learner without adapters.
    pub fn save_adapters(&self, dir: &Path) -> Result<(), CheckpointError> {
        self.trainer.save_adapters(&self.model, dir)
    }

    /// Trains the adapters of a directory on this base from now on, with a fresh optimizer. Those it trained before are lost.
    ///
    /// # Errors
    /// A file that is missing or broken, an option of PEFT that this learner does not have, or tensors of another model; the learner
    /// is then unchanged.
    pub fn load_adapters(&mut self, dir: &Path) -> Result<(), CheckpointError> {
        self.forget_handed_over();
        self.trainer.load_adapters(&mut self.model, dir)
    }

    /// Merges the adapters into the weights; from then on the weights themselves are trained, with a fresh optimizer.
    ///
    /// # Errors
    /// The tensor backend failed.
    pub fn merge_adapters(&mut self) -> Result<(), CheckpointError> {
        self.forget_handed_over();
        self.trainer.merge_adapters(&mut self.model)
    }
}

/// Rollouts by a server.
impl Learner {
    /// Has a server sample what [`Policy::generate`] is asked for. It gets the weights whenever they have changed.
    ///
    /// # Errors
    /// The server takes adapters, and this learner trains none.
    pub fn sample_from(&mut self, server: RolloutServer) -> Result<(), ConfigError> {
        if server.protocol().takes_adapters() && self.options().lora.is_none() {
            return Err(ConfigError::Option {
                key: "lora".to_owned(),
                value: "absent".to_owned(),
                want: "adapters, because a server by the protocol `vllm` takes nothing else".to_owned(),
            });
        }
        self.rollout_server = Some(server);
        Ok(())
    }

    /// What the server has is not of the weights that this version will have, and neither is what the sampler has computed.
    fn forget_handed_over(&self) {
        self.rollout_server.iter().for_each(RolloutServer::forget);
        self.sampler.forget();
    }

    fn save_for(&self, protocol: ServerProtocol, folder: &Path) -> Result<(), CheckpointError> {
        if protocol.takes_adapters() {
            self.save_adapters(folder)
        } else {
            self.save_in(folder, self.options().precision)
        }
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
                let save = |folder: &Path| self.save_for(server.protocol(), folder);
                let groups = server.continuations(&queued, context.vocabulary, self.version(), save);
                groups.map_err(|error| PolicyError::Backend(error.to_string()))
            }
        };
        context.generate(prompts, sampling, template.as_ref(), self.version(), continuations)
    }

    /// See the trait. A prompt that cannot be tokenized has room: sampling says what is wrong with it.
    fn has_room(&self, prompt: &Prompt, max_tokens: usize) -> bool {
        let context = self.options().context(&self.model.config);
        self.encode_prompt(prompt).map_or(true, |tokens| tokens.len().saturating_add(max_tokens) <= context)
    }
}

/// Sampling.
impl Learner {
    /// A prompt in tokens, as [`Policy::generate`] continues it.
    ///
    /// # Errors
    /// It is empty, its chat template refuses it, or it cannot be tokenized.
    pub fn encode_prompt(&self, prompt: &Prompt) -> Result<Vec<u32>, PolicyError> {
        let template = self.prompt_template(std::slice::from_ref(prompt))?;
        self.sampling_context().encode_prompt(0, prompt, &[], template.as_ref()).map(|encoded| encoded.tokens)
    }

    /// A response in tokens, with the end token that closes it.
    ///
    /// # Errors
    /// It cannot be tokenized, or the checkpoint names no end token.
    pub fn encode_response(&self, text: &str) -> Result<Vec<u32>, PolicyError> {
        let fail = |reason: String| PolicyError::Tokenize { index: 0, reason };
        let mut tokens = self.model.tokenizer.encode(text).map_err(|error| fail(error.to_string()))?;
        let end = self.model.end_tokens.first().ok_or_else(|| fail("the checkpoint names no end token".to_owned()))?;
        tokens.push(*end);
        Ok(tokens)
    }

    /// Its tokenizer and limits.
    fn sampling_context(&self) -> SamplingContext<'_> {
        let limit = self.options().length_limit(&self.model.config);
        SamplingContext { limit, ..SamplingContext::new(&self.model) }
    }

    /// The chat template for these prompts; `None` where none is a conversation, the checkpoint has no template, or the options say so.
    fn prompt_template(&self, prompts: &[Prompt]) -> Result<Option<ChatTemplate>, PolicyError> {
        let is_chat = |prompt: &Prompt| matches!(prompt.content, PromptContent::Messages(_));
        if !self.options().chat_template || !prompts.iter().any(is_chat) {
            return Ok(None);
        }
        let template = self.chat_template().map_err(|e| PolicyError::Backend(e.to_string()))?;
        Ok(Some(template).filter(ChatTemplate::is_present))
    }

    /// `sampling.group` continuations of each prompt, which is given in tokens: no tokenizer is needed. As
    /// [`Policy::generate`] samples: one seed for all prompts, and the index of a prompt as its stream. For prompts with options and seeds of
    /// their own see [`Learner::complete`].
    ///
    /// # Errors
    /// A prompt that is empty, holds a token outside the vocabulary or does not fit, or sampling options that cannot work.
    pub fn continue_tokens(
        &self,
        prompts: &[Vec<u32>],
        sampling: &Sampling,
    ) -> Result<Vec<Vec<Continuation>>, PolicyError> {
        let context = self.sampling_context();
        context.check_prompts(prompts, sampling)?;
        if sampling.group == 0 {
            return Ok(prompts.iter().map(|_| Vec::new()).collect());
        }
        self.sampler.continuations(&self.model, context.queue_prompts(prompts, sampling)).map_err(policy_error)
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
}

/// Scoring.
impl Learner {
    /// Log-probability, in nats at temperature 1, of every token of every response, by the path that trains.
    ///
    /// # Errors
    /// An empty prompt or response, a token outside the vocabulary, or more tokens than the context holds.
    pub fn score(&self, prompt: &[u32], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        check_score(&self.model, prompt, responses)?;
        score(&self.model, &pairs(prompt, responses), self.options().micro_tokens).map_err(policy_error)
    }

    /// As [`Learner::score`], under the reference policy.
    ///
    /// # Errors
    /// As [`Learner::score`], and no reference.
    pub fn reference_logprobs(&self, prompt: &[u32], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        check_score(&self.model, prompt, responses)?;
        let responses = whole_responses(&pairs(prompt, responses));
        self.trainer.reference_scores(&self.model, &responses).map_err(policy_error)
    }

    /// As [`Learner::score`] for one response behind each prompt, by the path that samples: prompts go through the cache, and the
    /// tokens of a response one by one. Rollouts keep these numbers; tests compare them with [`Learner::score`].
    ///
    /// # Errors
    /// As [`Learner::score`], and lists of unequal length.
    pub fn rollout_score(&self, prompts: &[Vec<u32>], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        if prompts.len() != responses.len() {
            let (prompts, responses) = (prompts.len(), responses.len());
            return Err(PolicyError::Backend(format!(
                "{responses} responses for {prompts} prompts: want one for each"
            )));
        }
        for (prompt, response) in prompts.iter().zip(responses) {
            check_score(&self.model, prompt, std::slice::from_ref(response))?;
        }
        self.sampler.score_forced(&self.model, prompts, responses).map_err(policy_error)
    }

    /// Logits of the next token behind every token of `tokens` [tokens, vocab], by the path that trains.
    ///
    /// # Errors
    /// As [`Learner::score`].
    pub fn logits(&self, tokens: &[u32]) -> Result<Vec<Vec<f32>>, PolicyError> {
        check_score(&self.model, tokens, &[])?;
        logits(&self.model, tokens).map_err(policy_error)
    }
}

/// Every response with the one prompt.
fn pairs<'a>(prompt: &'a [u32], responses: &'a [Vec<u32>]) -> Vec<PromptAndResponse<'a>> {
    responses.iter().map(|response| (prompt, response.as_slice())).collect()
}

impl Learn for Learner {
    /// See the trait. Samples on which the loss does not depend, such as those of weight 0 under the default one, are not computed,
    /// and `entropy` and `tokens` cover only the others. A batch without others changes only the version.
    fn update(&mut self, batch: &TrainBatch, learning_rate: f64) -> Result<Update, LearnError> {
        self.sampler.forget();
        self.trainer.update(&self.model, batch, learning_rate)
    }

    fn prefer(&mut self, batch: &PreferenceBatch, learning_rate: f64) -> Result<Update, LearnError> {
        self.sampler.forget();
        self.trainer.prefer(&self.model, batch, learning_rate)
    }

    fn snapshot(&self) -> Result<Snapshot, LearnError> {
        self.trainer.snapshot(&self.model).map(Snapshot::new)
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), LearnError> {
        self.sampler.forget();
        self.forget_handed_over();
        self.trainer.restore(&self.model, snapshot.state()?)
    }
}

/// Training.
impl Learner {
    /// Makes the present weights the reference: the start model's at the start of a run, the opponent's at the start of a SPIN
    /// iteration.
    ///
    /// # Errors
    /// The tensor backend failed.
    pub fn hold_reference(&mut self) -> Result<(), PolicyError> {
        self.trainer.hold_reference(&self.model.weights).map_err(policy_error)
    }

    /// Makes the present weights of another learner the reference.
    ///
    /// # Errors
    /// It has another shape.
    pub fn hold_reference_of(&mut self, other: &Self) -> Result<(), PolicyError> {
        if self.model.config != other.model.config {
            let what = "the reference's config.json differs from the policy's: they must be the same model";
            return Err(PolicyError::Backend(what.to_owned()));
        }
        self.trainer.hold_reference(&other.model.weights).map_err(policy_error)
    }

    /// Trains fresh adapters on the same base from now on, those that a learner with this option begins with, with a fresh optimizer. The version
    /// counts on; the reference and the server that samples stay.
    ///
    /// # Errors
    /// The tensor backend failed.
    pub fn restart_adapters(&mut self, lora: &Lora) -> Result<(), LearnError> {
        self.forget_handed_over();
        self.trainer.restart_adapters(&mut self.model, lora)
    }

    /// Begins with a fresh optimizer, and frees the buffers of training and sampling.
    pub fn reset_optimizer(&mut self) {
        self.sampler = Sampler::new(self.options());
        self.model.buffers = IdleBuffers::default();
        self.trainer.reset_optimizer(&self.model);
    }

    /// Goes on with the weights, the options and the fresh optimizer of `start`, which has the same shape. The version counts on; the
    /// reference and the server that samples stay. Until it returns there are two copies of the weights: behind [`Learner::reset_optimizer`], which
    /// frees the moments, that is less than training takes.
    ///
    /// # Errors
    /// It has another shape; the learner is then unchanged.
    pub fn restart_from(&mut self, start: Self) -> Result<(), LearnError> {
        if self.model.config != start.model.config {
            let what = "the start model's config.json differs from the policy's: they must be the same model";
            return Err(LearnError::Backend(what.to_owned()));
        }
        self.forget_handed_over();
        (self.model, self.sampler) = (start.model, start.sampler);
        self.trainer.restart_from(start.trainer);
        Ok(())
    }

    /// Whether there is a reference.
    pub const fn holds_reference(&self) -> bool {
        self.trainer.holds_reference()
    }

    /// Loss of a batch and its gradient in every weight tensor that trains, without a step: for diagnosis and tests.
    ///
    /// # Errors
    /// A bad batch.
    pub fn named_gradients(&mut self, batch: &TrainBatch) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        self.trainer.gradients(&self.model, batch)
    }

    /// As [`Learner::named_gradients`], of pairs.
    ///
    /// # Errors
    /// A bad batch.
    pub fn named_preference_gradients(
        &mut self,
        batch: &PreferenceBatch,
    ) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        self.trainer.preference_gradients(&self.model, batch)
    }
}

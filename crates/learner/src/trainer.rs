//! The trainer: from a batch to an optimizer step on a model's weights.
//!
//! Called by the learner. It holds the parts of training besides the model: options, the optimizer's state, the reference policy of KL
//! terms and losses over pairs, and the version of the weights. The reference is a frozen copy: it costs one more copy of the weights
//! (4 bytes a parameter), or of the adapters alone where there are some, and the weights' packed form while it scores.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use veriplay_core::{LearnError, LengthLimit, PolicyVersion, PreferenceBatch, Sample, TrainBatch, Update};

use crate::Result;
use crate::backward::{compute_gradients, warn_about_candle_pool};
use crate::checkpoint::{
    CheckpointError, TrainerState, read_adapters, read_trainer_state, write_adapters, write_trainer_state,
};
use crate::config::TensorSpec;
use crate::gradients::Gradients;
use crate::lora::{Adapters, Lora, is_a};
use crate::model::{Model, NamedTensor, name_tensors};
use crate::network::{GradientMode, PromptedResponse, Response, Weights, values};
use crate::objective::{BatchTotals, Objective, PairObjective, SampleObjective};
use crate::ops::{Purpose, SharedWorkspace};
use crate::optim::{Moments, OptimizerState, StepSettings};
use crate::options::LearnerOptions;
use crate::score::{score_with, whole_responses};

/// Options, state and reference of training.
#[derive(Debug)]
pub(crate) struct Trainer {
    options: LearnerOptions,
    /// Tensors that train: all weights, or the adapters.
    trainable: Vec<TensorSpec>,
    optimizer: OptimizerState,
    version: PolicyVersion,
    /// Whether an update has shown that every parameter gets a gradient.
    checked: bool,
    /// The reference policy, where there is one.
    reference: Option<Weights>,
    /// Buffers of the data-parallel workers.
    workspaces: Vec<SharedWorkspace>,
}

impl Trainer {
    /// With a fresh optimizer, and with fresh adapters on the model where the options require them.
    pub(crate) fn new(model: &mut Model, options: LearnerOptions) -> Result<Self> {
        let mut trainer = Self {
            trainable: Vec::new(),
            optimizer: OptimizerState::new(&[], model.device.kernels),
            version: PolicyVersion(0),
            checked: false,
            reference: None,
            workspaces: Vec::new(),
            options,
        };
        let lora = trainer.options.lora.clone();
        let initialize = |lora: &Lora| Adapters::initialize(lora, &model.specs, &model.device.device);
        let adapters = lora.as_ref().map(initialize).transpose()?;
        trainer.restart_with(model, lora, adapters)?;
        Ok(trainer)
    }

    /// Trains these adapters from now on, or the weights themselves, with a fresh optimizer.
    fn restart_with(&mut self, model: &mut Model, lora: Option<Lora>, adapters: Option<Adapters>) -> Result<()> {
        self.trainable = lora.as_ref().map_or_else(|| model.specs.clone(), |lora| lora.specs(&model.specs));
        self.optimizer = OptimizerState::new(&self.trainable, model.device.kernels);
        model.weights.set_adapters(adapters, model.device.dtype)?;
        self.options.lora = lora;
        self.checked = false;
        Ok(())
    }

    /// Trains the adapters that a trainer with these options begins with, with a fresh optimizer; the version and the reference stay.
    pub(crate) fn restart_adapters(&mut self, model: &mut Model, lora: &Lora) -> Result<(), LearnError> {
        let adapters = Adapters::initialize(lora, &model.specs, &model.device.device).map_err(learn_error)?;
        self.restart_with(model, Some(lora.clone()), Some(adapters)).map_err(learn_error)
    }

    /// Begins with a fresh optimizer, and frees the buffers of updates.
    pub(crate) fn reset_optimizer(&mut self, model: &Model) {
        self.optimizer = OptimizerState::new(&self.trainable, model.device.kernels);
        self.workspaces.clear();
    }

    /// Goes on with the fresh optimizer of another trainer; the version and the reference stay.
    pub(crate) fn restart_from(&mut self, fresh: Self) {
        *self = Self { version: self.version, reference: self.reference.take(), ..fresh };
    }

    pub(crate) const fn options(&self) -> &LearnerOptions {
        &self.options
    }

    pub(crate) const fn version(&self) -> PolicyVersion {
        self.version
    }

    /// Number of parameters that train.
    pub(crate) fn trainable_count(&self) -> usize {
        self.trainable.iter().map(TensorSpec::elements).sum()
    }

    /// One step on a batch of samples.
    pub(crate) fn update(&mut self, model: &Model, batch: &TrainBatch, rate: f64) -> Result<Update, LearnError> {
        check_rate(rate)?;
        let batch = self.add_references(model, batch)?;
        self.step(model, &SampleObjective::new(self.options.terms(), &batch)?, rate)
    }

    /// One step on a batch of preference pairs.
    pub(crate) fn prefer(&mut self, model: &Model, batch: &PreferenceBatch, rate: f64) -> Result<Update, LearnError> {
        check_rate(rate)?;
        self.token_limits(model).check_pairs(batch)?;
        let references = self.score_pair_references(model, batch)?;
        self.step(model, &PairObjective::new(self.options.preference, batch, &references)?, rate)
    }

    /// Loss of a batch and its gradient in every tensor that trains, without a step.
    pub(crate) fn gradients(
        &mut self,
        model: &Model,
        batch: &TrainBatch,
    ) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        let batch = self.add_references(model, batch)?;
        let objective = SampleObjective::new(self.options.terms(), &batch)?;
        let computed = self.compute(model, &objective);
        self.name_gradients(computed)
    }

    /// As [`Trainer::gradients`], of pairs.
    pub(crate) fn preference_gradients(
        &mut self,
        model: &Model,
        batch: &PreferenceBatch,
    ) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        self.token_limits(model).check_pairs(batch)?;
        let references = self.score_pair_references(model, batch)?;
        let objective = PairObjective::new(self.options.preference, batch, &references)?;
        let computed = self.compute(model, &objective);
        self.name_gradients(computed)
    }

    fn name_gradients(
        &self,
        computed: Result<(BatchTotals, Gradients)>,
    ) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        let (totals, gradients) = computed.map_err(learn_error)?;
        Ok((totals.loss, name_tensors(&self.trainable, gradients.values(&self.trainable).map_err(learn_error)?)))
    }

    /// One optimizer step on an objective.
    fn step(&mut self, model: &Model, objective: &dyn Objective, rate: f64) -> Result<Update, LearnError> {
        let responses = objective.responses();
        if responses.is_empty() {
            self.version.0 += 1;
            return Ok(self.report(BatchTotals::default(), 0.0));
        }
        // A batch whose contexts have a single token gives queries and keys no gradient, and its zeros are no sign of a cut graph.
        let has_context = responses.iter().any(|(prompt, r)| prompt.len() + r.tokens.len() > 2);
        let (totals, gradients) = self.compute(model, objective).map_err(learn_error)?;
        // Nor are those at a minimum of the objective, such as a policy that is its own reference.
        let reaches_all = has_context && totals.steepest > 0.0;
        // As long as every B of an adapter is zero, so is the gradient of its A.
        let fresh_adapters = model.weights.has_fresh_adapters().map_err(learn_error)?;
        let must_be_nonzero = |name: &str| reaches_all && !self.checked && !(fresh_adapters && is_a(name));
        let norm = gradients.checked_norm(&self.trainable, must_be_nonzero)?;
        self.checked |= reaches_all && !fresh_adapters;
        self.apply(model, &gradients, norm, rate).map_err(learn_error)?;
        self.version.0 += 1;
        Ok(self.report(totals, norm))
    }

    fn report(&self, totals: BatchTotals, gradient_norm: f64) -> Update {
        let entropy = totals.entropy / totals.count.max(1) as f64;
        let BatchTotals { loss, tokens, .. } = totals;
        Update { policy: self.version, loss, entropy, gradient_norm, tokens, metrics: totals.metrics.means() }
    }

    fn compute(&mut self, model: &Model, objective: &dyn Objective) -> Result<(BatchTotals, Gradients)> {
        warn_about_candle_pool();
        self.workspaces.resize_with(model.workers(), SharedWorkspace::default);
        let backend = model.backend(GradientMode::Tracked, Purpose::Training)?;
        compute_gradients(&*backend, &model.weights, &self.workspaces, objective, self.options.batch_sizes())
    }

    fn apply(&mut self, model: &Model, gradients: &Gradients, norm: f64, learning_rate: f64) -> Result<()> {
        let clip = self.options.clip_norm;
        let scale = if norm > clip { (clip / norm) as f32 } else { 1.0 };
        let settings = StepSettings { learning_rate, scale, threads: model.workers() };
        self.optimizer.step(&self.options.optimizer, &self.trainable, &model.weights, gradients, settings)
    }
}

/// What a trainer has learned at some time.
pub(crate) struct TrainerSnapshot {
    weights: Weights,
    optimizer: OptimizerState,
    version: PolicyVersion,
}

/// Snapshots.
impl Trainer {
    pub(crate) fn snapshot(&self, model: &Model) -> Result<TrainerSnapshot, LearnError> {
        let weights = model.weights.snapshot().map_err(learn_error)?;
        Ok(TrainerSnapshot { weights, optimizer: self.optimizer.clone(), version: self.version })
    }

    pub(crate) fn restore(&mut self, model: &Model, snapshot: &TrainerSnapshot) -> Result<(), LearnError> {
        let restore = |spec: &TensorSpec| model.weights.var(&spec.name)?.set(snapshot.weights.var(&spec.name)?);
        self.trainable.iter().try_for_each(restore).map_err(learn_error)?;
        (self.optimizer, self.version) = (snapshot.optimizer.clone(), snapshot.version);
        Ok(())
    }
}

/// The reference.
impl Trainer {
    /// Makes these weights the reference.
    pub(crate) fn hold_reference(&mut self, weights: &Weights) -> Result<()> {
        self.reference = Some(weights.snapshot()?);
        Ok(())
    }

    pub(crate) const fn holds_reference(&self) -> bool {
        self.reference.is_some()
    }

    /// Log-probabilities under the reference of every response behind its prompt.
    pub(crate) fn reference_scores(&self, model: &Model, responses: &[PromptedResponse<'_>]) -> Result<Vec<Vec<f32>>> {
        let none = || candle_core::Error::Msg("no reference is held: call `hold_reference` first".to_owned());
        let weights = self.reference.as_ref().ok_or_else(none)?;
        let backend = model.backend_for(weights, GradientMode::Detached, Purpose::Forward)?;
        score_with(model, &*backend, responses, self.options.micro_tokens)
    }

    /// What the tokens of a batch must keep to.
    fn token_limits(&self, model: &Model) -> TokenLimits {
        TokenLimits { length: self.options.length_limit(&model.config), vocabulary: model.config.vocab_size }
    }

    /// The batch, checked, with the reference log-probabilities that its loss needs, where there is a reference.
    fn add_references<'a>(&self, model: &Model, batch: &'a TrainBatch) -> Result<Cow<'a, TrainBatch>, LearnError> {
        self.token_limits(model).check_batch(batch)?;
        let terms = self.options.terms();
        let (Some(_), Some(_)) = (terms.kl, &self.reference) else { return Ok(Cow::Borrowed(batch)) };
        let wanting = |sample: &&mut Sample| !sample.imitate && sample.reference.is_none() && terms.keeps(sample);
        let mut filled = batch.clone();
        let mut wanting: Vec<_> = filled.samples.iter_mut().filter(wanting).collect();
        let responses = wanting.iter().enumerate().map(|(index, sample)| {
            (&*sample.prompt, Response { episode: sample.episode, ..Response::new(index, &sample.response) })
        });
        let responses: Vec<PromptedResponse<'_>> = responses.collect();
        let scores = self.reference_scores(model, &responses).map_err(learn_error)?;
        wanting.iter_mut().zip(scores).for_each(|(sample, score)| sample.reference = Some(score));
        Ok(Cow::Owned(filled))
    }

    /// The log-probabilities, under the reference, of the whole responses of every pair that comes without.
    fn score_pair_references(
        &self,
        model: &Model,
        batch: &PreferenceBatch,
    ) -> Result<BTreeMap<usize, [f64; 2]>, LearnError> {
        if self.reference.is_none() {
            return Ok(BTreeMap::new());
        }
        let wanting: Vec<usize> = (0..batch.pairs.len()).filter(|&i| batch.pairs[i].reference.is_none()).collect();
        let pairs = wanting.iter().map(|&i| &batch.pairs[i]);
        let both = pairs.flat_map(|p| [(&*p.prompt, p.chosen.as_slice()), (&*p.prompt, p.rejected.as_slice())]);
        let scores = self.reference_scores(model, &whole_responses(&both.collect::<Vec<_>>())).map_err(learn_error)?;
        let sums: Vec<f64> = scores.iter().map(|s| s.iter().map(|&l| f64::from(l)).sum()).collect();
        Ok(wanting.into_iter().zip(sums.chunks_exact(2).map(|pair| [pair[0], pair[1]])).collect())
    }
}

/// Files.
impl Trainer {
    /// Writes the optimizer's moments and counters.
    pub(crate) fn save_state(&self, dir: &Path) -> Result<(), CheckpointError> {
        let moments = self.optimizer.moments().map_err(|e| format_error("optimizer.safetensors", &e))?;
        let moments = moments.iter().map(|Moments { first, second }| [first.as_slice(), second.as_slice()]);
        write_trainer_state(dir, &TrainerState::new(self.optimizer.step, self.version), &self.trainable, moments)
    }

    /// Restores what [`Trainer::save_state`] wrote.
    pub(crate) fn load_state(&mut self, dir: &Path) -> Result<(), CheckpointError> {
        let (state, values) = read_trainer_state(dir, &self.trainable)?;
        let mut values = values.into_iter();
        let mut moments = Vec::with_capacity(self.trainable.len());
        while let (Some(first), Some(second)) = (values.next(), values.next()) {
            moments.push(Moments { first, second });
        }
        self.optimizer.restore(state.step, moments);
        self.version = state.policy_version;
        Ok(())
    }

    /// Writes the adapters, and nothing of the base.
    pub(crate) fn save_adapters(&self, model: &Model, dir: &Path) -> Result<(), CheckpointError> {
        let file = dir.join("adapter_config.json").display().to_string();
        let none = || CheckpointError::Format { file, what: "the learner has no adapters to save".to_owned() };
        let lora = self.options.lora.as_ref().ok_or_else(none)?;
        let data = |spec: &TensorSpec| model.weights.var(&spec.name).and_then(|var| values(var));
        let data = self.trainable.iter().map(data).collect::<Result<Vec<_>>>();
        let data = data.map_err(|e| format_error("adapter_model.safetensors", &e))?;
        write_adapters(dir, lora, &self.trainable, &data)
    }

    /// Trains the adapters of a directory on the model from now on, with a fresh optimizer.
    pub(crate) fn load_adapters(&mut self, model: &mut Model, dir: &Path) -> Result<(), CheckpointError> {
        let (lora, values) = read_adapters(dir, &model.specs)?;
        let adapters = Adapters::new(&lora, &model.specs, values, &model.device.device);
        let file = dir.join("adapter_config.json").display().to_string();
        let adapters = adapters.map_err(|e| format_error(&file, &e))?;
        self.restart_with(model, Some(lora), Some(adapters)).map_err(|e| format_error(&file, &e))
    }

    /// Merges the adapters into the weights, which are trained from then on, with a fresh optimizer.
    pub(crate) fn merge_adapters(&mut self, model: &mut Model) -> Result<(), CheckpointError> {
        model.merge_adapters().map_err(|e| format_error("(weights)", &e))?;
        self.restart_with(model, None, None).map_err(|e| format_error("(weights)", &e))
    }
}

fn format_error(file: &str, error: &candle_core::Error) -> CheckpointError {
    CheckpointError::Format { file: file.to_owned(), what: error.to_string() }
}

fn learn_error(error: candle_core::Error) -> LearnError {
    LearnError::Backend(error.to_string())
}

fn bad<T>(what: String) -> Result<T, LearnError> {
    Err(LearnError::BadBatch(what))
}

/// Rejects an invalid learning rate.
fn check_rate(rate: f64) -> Result<(), LearnError> {
    if rate.is_finite() && rate >= 0.0 {
        return Ok(());
    }
    bad(format!("learning rate is `{rate}`: want zero or a positive number"))
}

/// What the tokens of a batch must keep to. Memory is planned for sequences of that length.
struct TokenLimits {
    length: LengthLimit,
    vocabulary: usize,
}

impl TokenLimits {
    /// Checks every sample and the normalizer.
    fn check_batch(&self, batch: &TrainBatch) -> Result<(), LearnError> {
        if !(batch.normalizer.is_finite() && batch.normalizer > 0.0) {
            return bad(format!("normalizer is `{}`: want a positive number", batch.normalizer));
        }
        batch.samples.iter().enumerate().try_for_each(|(i, sample)| self.check_sample(i, sample))
    }

    fn check_sample(&self, i: usize, sample: &Sample) -> Result<(), LearnError> {
        self.check_tokens(&format!("sample {i}"), &sample.prompt, &sample.response)?;
        let length = sample.response.len();
        if sample.masked >= length {
            return bad(format!(
                "sample {i} masks {} of {length} response tokens: nothing is left to learn",
                sample.masked
            ));
        }
        if !sample.weight.is_finite() || sample.imitate && sample.weight < 0.0 {
            return bad(format!("sample {i} has weight `{}`", sample.weight));
        }
        if !(sample.scale.is_finite() && sample.scale >= 0.0) {
            return bad(format!("sample {i} has scale `{}`: want a number that is not negative", sample.scale));
        }
        for (what, logprobs) in [("behaviour", &sample.behaviour), ("reference", &sample.reference)] {
            let Some(logprobs) = logprobs else { continue };
            if logprobs.len() != length {
                return bad(format!("sample {i} has {} {what} log-probabilities for {length} tokens", logprobs.len()));
            }
            if let Some(logprob) = logprobs.iter().find(|l| !l.is_finite()) {
                return bad(format!("sample {i} has the {what} log-probability `{logprob}`"));
            }
        }
        Ok(())
    }

    /// Checks every pair.
    fn check_pairs(&self, batch: &PreferenceBatch) -> Result<(), LearnError> {
        for (i, pair) in batch.pairs.iter().enumerate() {
            self.check_tokens(&format!("the chosen response of pair {i}"), &pair.prompt, &pair.chosen)?;
            self.check_tokens(&format!("the rejected response of pair {i}"), &pair.prompt, &pair.rejected)?;
            if !(pair.weight.is_finite() && pair.weight >= 0.0) {
                return bad(format!("pair {i} has weight `{}`: want a number that is not negative", pair.weight));
            }
            if let Some(logprob) = pair.reference.iter().flatten().find(|l| !l.is_finite()) {
                return bad(format!("pair {i} has the reference log-probability `{logprob}`"));
            }
        }
        Ok(())
    }

    fn check_tokens(&self, what: &str, prompt: &[u32], response: &[u32]) -> Result<(), LearnError> {
        if prompt.is_empty() || response.is_empty() {
            return bad(format!("{what} has an empty prompt or response"));
        }
        let (prompted, answered, limit) = (prompt.len(), response.len(), self.length);
        if prompted + answered > limit.tokens() {
            return bad(format!(
                "{what} has {prompted} tokens in its prompt and {answered} in its response, and {limit}"
            ));
        }
        match prompt.iter().chain(response).find(|&&t| t as usize >= self.vocabulary) {
            Some(token) => bad(format!("{what} holds token {token}, and the vocabulary has {}", self.vocabulary)),
            None => Ok(()),
        }
    }
}

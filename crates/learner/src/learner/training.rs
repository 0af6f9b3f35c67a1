//! Training: from a batch to an optimizer step on the model's weights, and the files that this adds to a model.
//!
//! The reference policy, of KL terms and of losses over pairs, is a frozen copy: it costs one more copy of the weights (4 bytes a parameter), or
//! of the adapters alone where there are some, and the weights' packed form while it scores.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use candle_core::DType;
use veriplay_core::{
    Learn, LearnError, LengthLimit, PolicyError, PolicyVersion, PreferenceBatch, Role, Sample, Snapshot, TrainBatch,
    Update,
};

use super::Learner;
use crate::backward::{compute_gradients, warn_about_candle_pool};
use crate::checkpoint::{
    CheckpointError, TrainerState, read_adapters, read_trainer_state, write_adapters, write_trainer_state,
};
use crate::config::TensorSpec;
use crate::device::{Precision, host_threads};
use crate::gradients::Gradients;
use crate::lora::{AdapterCheckpoint, Adapters, BaseModel, Lora, is_a};
use crate::model::{NamedTensor, name_tensors};
use crate::network::{GradientMode, PromptedResponse, Response, Weights, values};
use crate::objective::{BatchTotals, Objective, PairObjective, SampleObjective};
use crate::ops::{IdleBuffers, SharedWorkspace};
use crate::optim::{Moments, OptimizerState, StepSettings};
use crate::sampling::Sampler;
use crate::score::{policy_error, score_with, whole_responses};

/// A step that is computed, and not taken yet.
pub(super) struct ComputedStep {
    pub(super) totals: BatchTotals,
    /// `None` where there is nothing to learn.
    gradients: Option<Gradients>,
    pub(super) norm: f64,
}

/// What a learner has learned at some time.
struct TrainedState {
    weights: Weights,
    optimizer: OptimizerState,
    version: PolicyVersion,
}

impl Learn for Learner {
    /// See the trait. Samples on which the loss does not depend, such as those of weight 0 under the default one, are not computed,
    /// and `entropy` and `tokens` cover only the others. A batch without others changes only the version.
    fn update(&mut self, batch: &TrainBatch, learning_rate: f64) -> Result<Update, LearnError> {
        check_rate(learning_rate)?;
        let step = self.compute_update(batch)?;
        self.take(step, learning_rate)
    }

    fn prefer(&mut self, batch: &PreferenceBatch, learning_rate: f64) -> Result<Update, LearnError> {
        self.end_sampling();
        check_rate(learning_rate)?;
        let references = self.check_pairs(batch)?;
        let step = self.compute_step(&PairObjective::new(self.options.preference, batch, &references)?)?;
        self.take(step, learning_rate)
    }

    fn snapshot(&self) -> Result<Snapshot, LearnError> {
        self.end_sampling();
        let weights = self.model.weights.snapshot_of_trained().map_err(learn_error)?;
        Ok(Snapshot::new(TrainedState { weights, optimizer: self.optimizer.clone(), version: self.version }))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), LearnError> {
        self.forget_handed_over();
        let (weights, state) = (&self.model.weights, snapshot.state::<TrainedState>()?);
        let restore = |spec: &TensorSpec| weights.restore(&spec.name, &state.weights);
        self.trainable.iter().try_for_each(restore).map_err(learn_error)?;
        (self.optimizer, self.version) = (state.optimizer.clone(), state.version);
        Ok(())
    }
}

impl Learner {
    /// Loss of a batch and its gradient in every weight tensor that trains, without a step: for diagnosis and tests.
    pub fn named_gradients(&mut self, batch: &TrainBatch) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        let batch = self.add_references(batch)?;
        self.gradients_of(&SampleObjective::new(self.options.terms(), &batch)?)
    }

    /// The norm of the gradient that the samples of each role give on their own, without a step, before clipping; supervised examples have the
    /// key `None`. Roles whose samples the loss does not depend on have none.
    pub fn gradient_norms(&mut self, batch: &TrainBatch) -> Result<BTreeMap<Option<Role>, f64>, LearnError> {
        self.end_sampling();
        let mut roles: BTreeMap<Option<Role>, Vec<Sample>> = BTreeMap::new();
        for sample in self.add_references(batch)?.samples.iter() {
            roles.entry(sample.role).or_default().push(sample.clone());
        }
        let mut norms = BTreeMap::new();
        for (role, samples) in roles {
            let own = TrainBatch { samples, normalizer: batch.normalizer };
            let objective = SampleObjective::new(self.options.terms(), &own)?;
            if !objective.responses().is_empty() {
                let (_, gradients) = self.compute(&objective).map_err(learn_error)?;
                norms.insert(role, gradients.checked_norm(&self.trainable, |_| false)?);
            }
        }
        Ok(norms)
    }

    /// As [`Learner::named_gradients`], of pairs.
    pub fn named_preference_gradients(
        &mut self,
        batch: &PreferenceBatch,
    ) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        let references = self.check_pairs(batch)?;
        self.gradients_of(&PairObjective::new(self.options.preference, batch, &references)?)
    }

    fn gradients_of(&mut self, objective: &dyn Objective) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        let (totals, gradients) = self.compute(objective).map_err(learn_error)?;
        Ok((totals.loss, name_tensors(&self.trainable, gradients.values(&self.trainable).map_err(learn_error)?)))
    }

    /// The step of [`Learn::update`], up to where it changes the weights.
    pub(super) fn compute_update(&mut self, batch: &TrainBatch) -> Result<ComputedStep, LearnError> {
        self.end_sampling();
        let batch = self.add_references(batch)?;
        self.compute_step(&SampleObjective::new(self.options.terms(), &batch)?)
    }

    fn compute_step(&mut self, objective: &dyn Objective) -> Result<ComputedStep, LearnError> {
        let responses = objective.responses();
        if responses.is_empty() {
            return Ok(ComputedStep { totals: BatchTotals::default(), gradients: None, norm: 0.0 });
        }
        // A batch whose contexts have a single token gives queries and keys no gradient, and its zeros are no sign of a cut graph.
        let has_context = responses.iter().any(|(prompt, r)| prompt.len() + r.tokens.len() > 2);
        let (totals, gradients) = self.compute(objective).map_err(learn_error)?;
        // Nor are those at a minimum of the objective, such as a policy that is its own reference.
        let reaches_all = has_context && totals.steepest > 0.0;
        // As long as every B of an adapter is zero, so is the gradient of its A.
        let fresh_adapters = self.model.weights.has_fresh_adapters().map_err(learn_error)?;
        let must_be_nonzero = |name: &str| reaches_all && !self.checked && !(fresh_adapters && is_a(name));
        let norm = gradients.checked_norm(&self.trainable, must_be_nonzero)?;
        self.checked |= reaches_all && !fresh_adapters;
        Ok(ComputedStep { totals, gradients: Some(gradients), norm })
    }

    /// Takes a step that was computed with the weights as they are.
    pub(super) fn take(&mut self, step: ComputedStep, rate: f64) -> Result<Update, LearnError> {
        let ComputedStep { totals, gradients, norm } = step;
        gradients.map_or(Ok(()), |gradients| self.apply(&gradients, norm, rate)).map_err(learn_error)?;
        self.version.0 += 1;
        Ok(self.report(totals, norm))
    }

    pub(super) fn report(&self, totals: BatchTotals, gradient_norm: f64) -> Update {
        let entropy = totals.entropy / totals.count.max(1) as f64;
        let BatchTotals { loss, tokens, .. } = totals;
        Update { policy: self.version, loss, entropy, gradient_norm, tokens, metrics: totals.metrics.values() }
    }

    fn compute(&mut self, objective: &dyn Objective) -> candle_core::Result<(BatchTotals, Gradients)> {
        warn_about_candle_pool();
        self.workspaces.resize_with(self.model.workers(), SharedWorkspace::default);
        let backend = self.model.backend(GradientMode::Tracked)?;
        compute_gradients(&backend, &self.model.weights, &self.workspaces, objective, &self.options)
    }

    fn apply(&mut self, gradients: &Gradients, norm: f64, learning_rate: f64) -> candle_core::Result<()> {
        let clip = self.options.clip_norm;
        let scale = if norm > clip { (clip / norm) as f32 } else { 1.0 };
        if self.options.lora.is_none() {
            self.model.base = BaseModel::default();
        }
        let threads = if self.model.weights.is_offloaded() { host_threads() } else { self.model.workers() };
        let settings = StepSettings { learning_rate, scale, threads };
        self.optimizer.step(&self.options.optimizer, &self.trainable, &self.model.weights, gradients, settings)
    }

    /// Trains these adapters from now on, or the weights themselves, with a fresh optimizer.
    pub(super) fn restart_with(&mut self, lora: Option<Lora>, adapters: Option<Adapters>) -> candle_core::Result<()> {
        let Self { model, trainable, .. } = self;
        *trainable = lora.as_ref().map_or_else(|| model.specs.clone(), |lora| lora.specs(&model.specs));
        model.weights.set_adapters(adapters, model.device.dtype)?;
        self.optimizer = OptimizerState::new(trainable, model.steps_on_host());
        self.options.lora = lora;
        self.checked = false;
        Ok(())
    }

    /// The adapters that a learner with this option begins with.
    pub(super) fn fresh_adapters(&self, lora: &Lora) -> candle_core::Result<Adapters> {
        Adapters::initialize(lora, &self.model.specs, &self.model.device.device)
    }

    /// Trains fresh adapters on the same base from now on, those that a learner with this option begins with, with a fresh optimizer. The version
    /// counts on; the reference and the server that samples stay.
    pub fn restart_adapters(&mut self, lora: &Lora) -> Result<(), LearnError> {
        self.forget_handed_over();
        let adapters = self.fresh_adapters(lora).map_err(learn_error)?;
        self.restart_with(Some(lora.clone()), Some(adapters)).map_err(learn_error)
    }

    /// Begins with a fresh optimizer, and frees the buffers of training and sampling. A server that shares the device gives its memory back.
    pub fn reset_optimizer(&mut self) {
        self.end_sampling();
        self.sampler = Sampler::new(&self.options);
        self.model.buffers = IdleBuffers::default();
        self.optimizer = OptimizerState::new(&self.trainable, self.model.steps_on_host());
        self.workspaces.clear();
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
        let (reference, rollout_server) = (self.reference.take(), self.rollout_server.take());
        *self = Self { version: self.version, reference, rollout_server, ..start };
        Ok(())
    }

    /// Sets another coefficient of the divergence from the reference, where there is one.
    pub fn set_kl_coefficient(&mut self, coefficient: f64) {
        self.options.kl.iter_mut().for_each(|kl| kl.coefficient = coefficient);
    }

    /// Makes the present weights the reference: the start model's at the start of a run, the opponent's at the start of a SPIN
    /// iteration.
    pub fn hold_reference(&mut self) -> Result<(), PolicyError> {
        self.end_sampling();
        self.reference = Some(self.model.weights.snapshot().map_err(policy_error)?);
        Ok(())
    }

    /// Makes the present weights of another learner the reference.
    pub fn hold_reference_of(&mut self, other: &Self) -> Result<(), PolicyError> {
        if self.model.config != other.model.config {
            let what = "the reference's config.json differs from the policy's: they must be the same model";
            return Err(PolicyError::Backend(what.to_owned()));
        }
        self.reference = Some(other.model.weights.snapshot().map_err(policy_error)?);
        Ok(())
    }

    /// Log-probabilities under these weights of every response behind its prompt.
    fn scores_under(&self, weights: &Weights, responses: &[PromptedResponse<'_>]) -> Result<Vec<Vec<f32>>, LearnError> {
        let backend = self.model.backend_for(weights, GradientMode::Detached).map_err(learn_error)?;
        score_with(&self.model, &backend, responses, self.options.micro_tokens).map_err(learn_error)
    }

    /// What the tokens of a batch must keep to.
    pub(super) fn token_limits(&self) -> TokenLimits {
        let config = &self.model.config;
        TokenLimits { length: self.options.length_limit(config), vocabulary: config.vocab_size }
    }

    /// The batch, checked, with the reference log-probabilities that its loss needs, where there is a reference.
    fn add_references<'a>(&self, batch: &'a TrainBatch) -> Result<Cow<'a, TrainBatch>, LearnError> {
        self.token_limits().check_batch(batch)?;
        let (Some(_), Some(reference)) = (self.options.kl, &self.reference) else { return Ok(Cow::Borrowed(batch)) };
        self.add_scores(batch, reference, |sample| &mut sample.reference).map(Cow::Owned)
    }

    /// The batch with the log-probabilities of the policy as it is, for several updates on it under a correction, each of which compares itself with
    /// them. A single one needs none.
    pub fn add_old_logprobs<'a>(&self, batch: &'a TrainBatch) -> Result<Cow<'a, TrainBatch>, LearnError> {
        self.token_limits().check_batch(batch)?;
        match self.options.correction {
            Some(_) => {
                self.end_sampling();
                self.add_scores(batch, &self.model.weights, |sample| &mut sample.old).map(Cow::Owned)
            }
            None => Ok(Cow::Borrowed(batch)),
        }
    }

    /// The batch with log-probabilities under these weights in this field of every rollout that counts and has none there.
    fn add_scores(
        &self,
        batch: &TrainBatch,
        weights: &Weights,
        field: fn(&mut Sample) -> &mut Option<Vec<f32>>,
    ) -> Result<TrainBatch, LearnError> {
        let (terms, mut filled) = (self.options.terms(), batch.clone());
        let rollouts = filled.samples.iter_mut().filter(|sample| !sample.imitate && terms.keeps(sample));
        let mut wanting: Vec<&mut Sample> = rollouts.collect();
        wanting.retain_mut(|sample| field(sample).is_none());
        let responses = wanting.iter().enumerate().map(|(index, sample)| {
            (&*sample.prompt, Response { episode: sample.episode, ..Response::new(index, &sample.response) })
        });
        let responses: Vec<PromptedResponse<'_>> = responses.collect();
        let scores = self.scores_under(weights, &responses)?;
        wanting.iter_mut().zip(scores).for_each(|(sample, score)| *field(sample) = Some(score));
        Ok(filled)
    }

    /// Checks a batch of pairs. Returns the log-probabilities, under the reference, of the whole responses of every pair that comes without.
    fn check_pairs(&self, batch: &PreferenceBatch) -> Result<BTreeMap<usize, [f64; 2]>, LearnError> {
        self.token_limits().check_pairs(batch)?;
        let Some(reference) = &self.reference else { return Ok(BTreeMap::new()) };
        let wanting: Vec<usize> = (0..batch.pairs.len()).filter(|&i| batch.pairs[i].reference.is_none()).collect();
        let pairs = wanting.iter().map(|&i| &batch.pairs[i]);
        let both = pairs.flat_map(|p| [(&*p.prompt, p.chosen.as_slice()), (&*p.prompt, p.rejected.as_slice())]);
        let scores = self.scores_under(reference, &whole_responses(&both.collect::<Vec<_>>()))?;
        let sums: Vec<f64> = scores.iter().map(|s| s.iter().map(|&l| f64::from(l)).sum()).collect();
        Ok(wanting.into_iter().zip(sums.chunks_exact(2).map(|pair| [pair[0], pair[1]])).collect())
    }

    /// Writes the optimizer's moments and counters next to the model.
    pub fn save_trainer_state(&self, dir: &Path) -> Result<(), CheckpointError> {
        let moments = self.optimizer.moments().map_err(|e| CheckpointError::unreadable("optimizer.safetensors", e))?;
        let moments = moments.iter().flat_map(|Moments { first, second }| [first.as_slice(), second.as_slice()]);
        write_trainer_state(dir, &TrainerState::new(self.optimizer.step, self.version), &self.trainable, moments)
    }

    /// Restores what [`Learner::save_trainer_state`] wrote: the next update gives the same bits as without the interruption.
    ///
    /// # Errors
    /// A file that is missing, broken, of another schema, or of another model; the learner is then unchanged.
    pub fn load_trainer_state(&mut self, dir: &Path) -> Result<(), CheckpointError> {
        self.forget_handed_over();
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

    /// Writes the adapters, and nothing of the base, into a directory, which is made when missing.
    ///
    /// # Errors
    /// A file that cannot be written, or a learner without adapters.
    pub fn save_adapters(&self, dir: &Path) -> Result<(), CheckpointError> {
        let none = || CheckpointError::unreadable(&adapter_file(dir), "the learner has no adapters to save");
        let lora = self.options.lora.clone().ok_or_else(none)?;
        let adapters = AdapterCheckpoint { lora, base: self.model.base.clone() };
        let data = |spec: &TensorSpec| self.model.weights.var(&spec.name).and_then(|var| values(var));
        let data = self.trainable.iter().map(data).collect::<candle_core::Result<Vec<_>>>();
        let data = data.map_err(|e| CheckpointError::unreadable("adapter_model.safetensors", e))?;
        write_adapters(dir, &adapters, &self.trainable, &data)
    }

    /// Writes what a run goes on from: the model directory with the trainer state, where adapters train with these in place of the weights.
    pub fn save_checkpoint(&self, dir: &Path) -> Result<(), CheckpointError> {
        if self.options.lora.is_some() {
            self.model.save_small_files(dir, Precision::F32)?;
            self.save_adapters(dir)?;
        } else {
            self.save(dir)?;
        }
        self.save_trainer_state(dir)
    }

    /// Says by what name others find the model that was loaded, where its directory is not that name: adapters are saved with it.
    pub fn name_base(&mut self, name: &str) {
        self.model.base.name = Some(name.to_owned());
    }

    /// Trains the adapters of a directory on this base from now on, with a fresh optimizer. Those it trained before are lost.
    ///
    /// # Errors
    /// A file that is missing or broken, an option of PEFT that this learner does not have, tensors of another model, or adapters of a base with
    /// other weights; the learner is then unchanged.
    pub fn load_adapters(&mut self, dir: &Path) -> Result<(), CheckpointError> {
        self.forget_handed_over();
        let (lora, adapters) = self.open_adapters(dir)?;
        self.restart_with(Some(lora), Some(adapters)).map_err(|e| unusable_adapters(dir, e))
    }

    /// Adds the adapters of a directory to the weights, in f32, whatever the precision of activations is; from then on the weights themselves are
    /// trained, with a fresh optimizer.
    ///
    /// # Errors
    /// As of [`Learner::load_adapters`].
    pub fn merge_adapters_from(&mut self, dir: &Path) -> Result<(), CheckpointError> {
        self.forget_handed_over();
        let (_, adapters) = self.open_adapters(dir)?;
        let added = self.model.weights.set_adapters(Some(adapters), DType::F32);
        added.and_then(|()| self.add_adapters_to_weights()).map_err(|e| unusable_adapters(dir, e))
    }

    /// The adapters of a directory, which must be of this base.
    fn open_adapters(&self, dir: &Path) -> Result<(Lora, Adapters), CheckpointError> {
        let (AdapterCheckpoint { lora, base }, values) = read_adapters(dir, &self.model.specs)?;
        self.check_base(&adapter_file(dir), &base)?;
        let adapters = Adapters::new(&lora, &self.model.specs, values, &self.model.device.device);
        Ok((lora, adapters.map_err(|e| unusable_adapters(dir, e))?))
    }

    /// Refuses adapters that were trained on other weights than these, or on weights that these may not be. Those that do not say on which, as files
    /// of PEFT, pass.
    fn check_base(&self, file: &str, wanted: &BaseModel) -> Result<(), CheckpointError> {
        let BaseModel { name, digest } = &self.model.base;
        let Some(want) = &wanted.digest else { return Ok(()) };
        if digest.as_ref() == Some(want) {
            return Ok(());
        }
        let named = |name: &Option<String>| name.clone().unwrap_or_else(|| "(unnamed)".to_owned());
        let problem = format!(
            "these adapters belong to the base `{}`, whose weights have the digest {want}, and those of `{}` have {}; hint: use the base they \
             were trained on",
            named(&wanted.name),
            named(name),
            digest.as_deref().unwrap_or("none: they have trained since they were read, or come from no file")
        );
        Err(CheckpointError::invalid(file, problem))
    }

    /// Merges the adapters into the weights; from then on the weights themselves are trained, with a fresh optimizer.
    pub fn merge_adapters(&mut self) -> Result<(), CheckpointError> {
        self.forget_handed_over();
        self.add_adapters_to_weights().map_err(|e| CheckpointError::unreadable("(weights)", e))
    }

    fn add_adapters_to_weights(&mut self) -> candle_core::Result<()> {
        self.options.lora = None;
        self.model.merge_adapters(self.options.offloads())?;
        self.restart_with(None, None)
    }
}

/// How errors name the adapters of a directory.
fn adapter_file(dir: &Path) -> String {
    dir.join("adapter_config.json").display().to_string()
}

fn unusable_adapters(dir: &Path, error: candle_core::Error) -> CheckpointError {
    CheckpointError::unreadable(&adapter_file(dir), error)
}

pub(super) fn learn_error(error: candle_core::Error) -> LearnError {
    LearnError::Backend(error.to_string())
}

pub(super) fn bad<T>(what: String) -> Result<T, LearnError> {
    Err(LearnError::BadBatch(what))
}

pub(super) fn check_rate(rate: f64) -> Result<(), LearnError> {
    if rate.is_finite() && rate >= 0.0 {
        return Ok(());
    }
    bad(format!("learning rate is `{rate}`: want zero or a positive number"))
}

/// What the tokens of a batch must keep to. Memory is planned for sequences of that length.
pub(super) struct TokenLimits {
    length: LengthLimit,
    vocabulary: usize,
}

impl TokenLimits {
    pub(super) fn check_batch(&self, batch: &TrainBatch) -> Result<(), LearnError> {
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
        if let Some(own) = &sample.token_advantages {
            if own.len() != length || own.iter().any(|one| !one.is_finite()) {
                return bad(format!("sample {i} wants {length} finite advantages of tokens, and has {own:?}"));
            }
            if sample.imitate || sample.weight == 0.0 {
                return bad(format!("sample {i} has advantages of tokens alone: they are added to that of an outcome"));
            }
        }
        if let Some(rate) = sample.rate.filter(|rate| !(0.0..=1.0).contains(rate)) {
            return bad(format!("sample {i} has the solve rate `{rate}`: want a number from 0 to 1"));
        }
        if !(sample.scale.is_finite() && sample.scale >= 0.0) {
            return bad(format!("sample {i} has scale `{}`: want a number that is not negative", sample.scale));
        }
        let others = [("behaviour", &sample.behaviour), ("old", &sample.old), ("reference", &sample.reference)];
        for (what, logprobs) in others {
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
            if let Some(number) = pair.win.iter().chain(&pair.rewards).flatten().find(|number| !number.is_finite()) {
                return bad(format!("pair {i} has the share of wins or the reward `{number}`: want a finite number"));
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

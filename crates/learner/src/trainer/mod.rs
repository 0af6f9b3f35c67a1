//! The trainer: from a batch to an optimizer step on a model's weights.
//!
//! Called by the learner. It holds what training needs besides the model: options, the optimizer's state, the reference that the policy
//! is held to, and the version of the weights. The reference is a frozen copy, for KL terms and losses over pairs: it costs one more
//! copy of the weights (4 bytes a parameter) while it is held, or of the adapters alone where there are some, and the weights'
//! packed form while it scores.

mod checks;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use candle_core::DType;
use veriplay_core::{LearnError, PolicyVersion, PreferenceBatch, TrainBatch, Update};

use crate::Result;
use crate::backward::{gradients, warn_of_pool};
use crate::checkpoint::{
    CheckpointError, TrainerState, read_adapters, read_trainer_state, write_adapters, write_trainer_state,
};
use crate::config::TensorSpec;
use crate::gradients::Gradients;
use crate::lora::{Lora, is_a};
use crate::model::{Adapters, Engine, Mode, Model, NamedTensor, View, Weights, name_tensors, values};
use crate::objective::{Objective, PairObjective, SampleObjective, Totals};
use crate::ops::{Purpose, SharedSpace};
use crate::optim::{Moments, OptimizerState, Rate};
use crate::options::LearnerOptions;
use crate::score::{Pair, score_with};
use checks::{check_batch, check_pairs, check_rate};

/// What training holds besides the model.
#[derive(Debug)]
pub(crate) struct Trainer {
    options: LearnerOptions,
    /// Tensors that train: all weights, or the adapters.
    trainable: Vec<TensorSpec>,
    optimizer: OptimizerState,
    version: PolicyVersion,
    /// Whether an update has shown that every parameter gets a gradient.
    checked: bool,
    /// What the policy is held to, when it is.
    reference: Option<Weights>,
    /// Buffers of the data-parallel workers.
    spaces: Vec<SharedSpace>,
}

impl Trainer {
    /// With a fresh optimizer, and with fresh adapters on the model where the options ask for them.
    pub(crate) fn new(model: &mut Model, options: LearnerOptions) -> Result<Self> {
        let mut trainer = Self {
            trainable: Vec::new(),
            optimizer: OptimizerState::new(&[]),
            version: PolicyVersion(0),
            checked: false,
            reference: None,
            spaces: Vec::new(),
            options,
        };
        let lora = trainer.options.lora.clone();
        let start = |lora: &Lora| Adapters::start(lora, &model.specs, &model.device.device);
        let adapters = lora.as_ref().map(start).transpose()?;
        trainer.train_from_now_on(model, lora, adapters);
        Ok(trainer)
    }

    /// Trains these adapters from now on, or the weights themselves, with a fresh optimizer.
    fn train_from_now_on(&mut self, model: &mut Model, lora: Option<Lora>, adapters: Option<Adapters>) {
        self.trainable = lora.as_ref().map_or_else(|| model.specs.clone(), |lora| lora.specs(&model.specs));
        self.optimizer = OptimizerState::new(&self.trainable);
        model.weights.set_adapters(adapters);
        self.options.lora = lora;
        self.checked = false;
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
        let batch = self.with_references(model, batch)?;
        self.step(model, &SampleObjective::new(self.options.terms(), &batch)?, rate)
    }

    /// One step on a batch of preference pairs.
    pub(crate) fn prefer(&mut self, model: &Model, batch: &PreferenceBatch, rate: f64) -> Result<Update, LearnError> {
        check_rate(rate)?;
        check_pairs(batch, &model.config)?;
        let references = self.pair_references(model, batch)?;
        self.step(model, &PairObjective::new(self.options.preference, batch, &references)?, rate)
    }

    /// Loss of a batch and its gradient in every tensor that trains, without a step.
    pub(crate) fn gradients(
        &mut self,
        model: &Model,
        batch: &TrainBatch,
    ) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        let batch = self.with_references(model, batch)?;
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
        check_pairs(batch, &model.config)?;
        let references = self.pair_references(model, batch)?;
        let objective = PairObjective::new(self.options.preference, batch, &references)?;
        let computed = self.compute(model, &objective);
        self.name_gradients(computed)
    }

    /// As [`Trainer::gradients`], by candle's own operations in f64 instead of our kernels: the oracle of tests.
    pub(crate) fn gradients_by_candle(
        &self,
        model: &Model,
        batch: &TrainBatch,
    ) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        let batch = self.with_references(model, batch)?;
        let objective = SampleObjective::new(self.options.terms(), &batch)?;
        let compute = || {
            let weights = model.weights.converted(DType::F64)?;
            let view = View::new(&model.config, &weights, Mode::Tracked, DType::F64)?;
            let engine = Engine::stock(&model.config, &model.rope, view);
            gradients(&engine, &weights, &[SharedSpace::default()], &objective, self.options.sizes())
        };
        self.name_gradients(compute())
    }

    fn name_gradients(&self, computed: Result<(Totals, Gradients)>) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        let (totals, gradients) = computed.map_err(backend)?;
        Ok((totals.loss, name_tensors(&self.trainable, gradients.values(&self.trainable).map_err(backend)?)))
    }

    /// One optimizer step on an objective.
    fn step(&mut self, model: &Model, objective: &dyn Objective, rate: f64) -> Result<Update, LearnError> {
        let responses = objective.responses();
        if responses.is_empty() {
            self.version.0 += 1;
            return Ok(self.report(Totals::default(), 0.0));
        }
        // A single token of context gives queries and keys no gradient, rightly: such a batch proves nothing.
        let telling = responses.iter().any(|(prompt, r)| prompt.len() + r.tokens.len() > 2);
        let (totals, gradients) = self.compute(model, objective).map_err(backend)?;
        // Neither does a batch at a minimum of its objective, such as a policy that is its own reference.
        let telling = telling && totals.steepest > 0.0;
        // As long as every B of an adapter is zero, so is the gradient of its A, rightly.
        let asleep = model.weights.asleep().map_err(backend)?;
        let doubted = |name: &str| telling && !self.checked && !(asleep && is_a(name));
        let norm = gradients.checked_norm(&self.trainable, doubted)?;
        self.checked |= telling && !asleep;
        self.apply(model, &gradients, norm, rate).map_err(backend)?;
        self.version.0 += 1;
        Ok(self.report(totals, norm))
    }

    fn report(&self, totals: Totals, gradient_norm: f64) -> Update {
        let entropy = totals.entropy / totals.count.max(1) as f64;
        let Totals { loss, tokens, .. } = totals;
        Update { policy: self.version, loss, entropy, gradient_norm, tokens, metrics: totals.metrics.means() }
    }

    fn compute(&mut self, model: &Model, objective: &dyn Objective) -> Result<(Totals, Gradients)> {
        warn_of_pool();
        self.spaces.resize_with(model.workers(), SharedSpace::default);
        let engine = model.engine(Mode::Tracked, Purpose::Training)?;
        gradients(&engine, &model.weights, &self.spaces, objective, self.options.sizes())
    }

    fn apply(&mut self, model: &Model, gradients: &Gradients, norm: f64, learning_rate: f64) -> Result<()> {
        let clip = self.options.clip_norm;
        let scale = if norm > clip { (clip / norm) as f32 } else { 1.0 };
        let rate = Rate { learning_rate, scale, threads: model.workers() };
        let Self { options, trainable, optimizer, .. } = self;
        match model.device.kernels {
            true => optimizer.step(&options.optimizer, trainable, &model.weights, gradients, rate),
            false => optimizer.step_by_tensors(&options.optimizer, trainable, &model.weights, gradients, rate),
        }
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
    pub(crate) fn reference_scores(&self, model: &Model, pairs: &[Pair<'_>]) -> Result<Vec<Vec<f32>>> {
        let none = || candle_core::Error::Msg("no reference is held: call `hold_reference` first".to_owned());
        let weights = self.reference.as_ref().ok_or_else(none)?;
        let engine = model.engine_of(weights, Mode::Detached, Purpose::Forward)?;
        score_with(model, &engine, pairs, self.options.micro_tokens)
    }

    /// The batch, checked, with the reference log-probabilities that its loss needs and that the held reference can give.
    fn with_references<'a>(&self, model: &Model, batch: &'a TrainBatch) -> Result<Cow<'a, TrainBatch>, LearnError> {
        check_batch(batch, &model.config)?;
        let terms = self.options.terms();
        let (Some(_), Some(_)) = (terms.kl, &self.reference) else { return Ok(Cow::Borrowed(batch)) };
        let wanting =
            |sample: &&mut veriplay_core::Sample| !sample.imitate && sample.reference.is_none() && terms.keeps(sample);
        let mut filled = batch.clone();
        let mut wanting: Vec<_> = filled.samples.iter_mut().filter(wanting).collect();
        let pairs: Vec<Pair<'_>> = wanting.iter().map(|s| (&*s.prompt, s.response.as_slice())).collect();
        let scores = self.reference_scores(model, &pairs).map_err(backend)?;
        wanting.iter_mut().zip(scores).for_each(|(sample, score)| sample.reference = Some(score));
        Ok(Cow::Owned(filled))
    }

    /// Of every pair that brings none: the log-probabilities of its responses as wholes, if a reference is held.
    fn pair_references(&self, model: &Model, batch: &PreferenceBatch) -> Result<BTreeMap<usize, [f64; 2]>, LearnError> {
        if self.reference.is_none() {
            return Ok(BTreeMap::new());
        }
        let wanting: Vec<usize> = (0..batch.pairs.len()).filter(|&i| batch.pairs[i].reference.is_none()).collect();
        let pairs = wanting.iter().map(|&i| &batch.pairs[i]);
        let both = pairs.flat_map(|p| [(&*p.prompt, p.chosen.as_slice()), (&*p.prompt, p.rejected.as_slice())]);
        let scores = self.reference_scores(model, &both.collect::<Vec<_>>()).map_err(backend)?;
        let sums: Vec<f64> = scores.iter().map(|s| s.iter().map(|&l| f64::from(l)).sum()).collect();
        Ok(wanting.into_iter().zip(sums.chunks_exact(2).map(|pair| [pair[0], pair[1]])).collect())
    }
}

/// Files.
impl Trainer {
    /// Writes the optimizer's moments and counters.
    pub(crate) fn save_state(&self, dir: &Path) -> Result<(), CheckpointError> {
        let moments = self.optimizer.moments().map_err(|e| failed("optimizer.safetensors", &e))?;
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
        self.optimizer = OptimizerState::restored(state.step, moments);
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
        let data = data.map_err(|e| failed("adapter_model.safetensors", &e))?;
        write_adapters(dir, lora, &self.trainable, &data)
    }

    /// Trains the adapters of a directory on the model from now on, with a fresh optimizer.
    pub(crate) fn load_adapters(&mut self, model: &mut Model, dir: &Path) -> Result<(), CheckpointError> {
        let (lora, values) = read_adapters(dir, &model.specs)?;
        let adapters = Adapters::new(&lora, &model.specs, values, &model.device.device);
        let file = dir.join("adapter_config.json").display().to_string();
        let adapters = adapters.map_err(|e| failed(&file, &e))?;
        self.train_from_now_on(model, Some(lora), Some(adapters));
        Ok(())
    }

    /// Adds the adapters to the weights for good, which train from now on, with a fresh optimizer.
    pub(crate) fn merge_adapters(&mut self, model: &mut Model) -> Result<(), CheckpointError> {
        model.merge_adapters().map_err(|e| failed("(weights)", &e))?;
        self.train_from_now_on(model, None, None);
        Ok(())
    }
}

fn failed(file: &str, error: &candle_core::Error) -> CheckpointError {
    CheckpointError::Format { file: file.to_owned(), what: error.to_string() }
}

fn backend(error: candle_core::Error) -> LearnError {
    LearnError::Backend(error.to_string())
}

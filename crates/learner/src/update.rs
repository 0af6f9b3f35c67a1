//! `Learn` for the learner: from a batch to an optimizer step.

use std::borrow::Cow;

use candle_core::DType;
use veriplay_core::{Learn, LearnError, PreferenceBatch, TrainBatch, Update};

use crate::Result;
use crate::batch::{check_batch, check_pairs, check_rate};
use crate::gradients::Gradients;
use crate::learner::{Learner, NamedTensor, named};
use crate::lora::is_a;
use crate::model::packed::Purpose;
use crate::model::{Mode, View};
use crate::objective::{Objective, SampleObjective};
use crate::ops::{Engine, SharedSpace};
use crate::optim::Rate;
use crate::preference::PairObjective;
use crate::train::{Totals, gradients, warn_of_pool};

impl Learn for Learner {
    /// See the trait. Samples on which the loss does not depend, such as those of weight 0 under the default one, are not computed,
    /// and `entropy` and `tokens` speak of the others. A batch without any other changes nothing but the version.
    fn update(&mut self, batch: &TrainBatch, learning_rate: f64) -> Result<Update, LearnError> {
        check_rate(learning_rate)?;
        let batch = self.referenced(batch)?;
        self.step(&SampleObjective::new(self.options.terms(), &batch)?, learning_rate)
    }

    fn prefer(&mut self, batch: &PreferenceBatch, learning_rate: f64) -> Result<Update, LearnError> {
        check_rate(learning_rate)?;
        check_pairs(batch, &self.config)?;
        let held = self.referenced_pairs(batch)?;
        self.step(&PairObjective::new(self.options.preference, batch, &held)?, learning_rate)
    }
}

impl Learner {
    /// Loss of a batch and its gradient in every weight tensor that trains, without a step: for diagnosis and tests.
    ///
    /// # Errors
    /// A bad batch.
    pub fn named_gradients(&mut self, batch: &TrainBatch) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        let batch = self.referenced(batch)?;
        let objective = SampleObjective::new(self.options.terms(), &batch)?;
        let (totals, gradients) = self.compute(&objective).map_err(backend)?;
        Ok((totals.loss, named(&self.trainable, gradients.values(&self.trainable).map_err(backend)?)))
    }

    /// As [`Learner::named_gradients`], of pairs.
    ///
    /// # Errors
    /// A bad batch.
    pub fn named_preference_gradients(
        &mut self,
        batch: &PreferenceBatch,
    ) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        check_pairs(batch, &self.config)?;
        let held = self.referenced_pairs(batch)?;
        let objective = PairObjective::new(self.options.preference, batch, &held)?;
        let (totals, gradients) = self.compute(&objective).map_err(backend)?;
        Ok((totals.loss, named(&self.trainable, gradients.values(&self.trainable).map_err(backend)?)))
    }

    /// As [`Learner::named_gradients`], by candle's own operations in f64 instead of our kernels: what they are held to.
    ///
    /// # Errors
    /// A bad batch.
    pub fn reference_gradients(&self, batch: &TrainBatch) -> Result<(f64, Vec<NamedTensor>), LearnError> {
        let batch = self.referenced(batch)?;
        let objective = SampleObjective::new(self.options.terms(), &batch)?;
        let compute = || {
            let weights = self.weights.converted(DType::F64)?;
            let engine =
                Engine::stock(&self.config, &self.rope, View::new(&self.config, &weights, Mode::Tracked, DType::F64)?);
            gradients(&engine, &weights, &[SharedSpace::default()], &objective, self.options.sizes())
        };
        let (totals, gradients) = compute().map_err(backend)?;
        Ok((totals.loss, named(&self.trainable, gradients.values(&self.trainable).map_err(backend)?)))
    }

    /// One optimizer step on an objective.
    fn step(&mut self, objective: &dyn Objective, learning_rate: f64) -> Result<Update, LearnError> {
        let responses = objective.responses();
        if responses.is_empty() {
            self.version.0 += 1;
            return Ok(self.report(Totals::default(), 0.0));
        }
        // A single token of context gives queries and keys no gradient, rightly: such a batch proves nothing.
        let telling = responses.iter().any(|(prompt, r)| prompt.len() + r.tokens.len() > 2);
        let (totals, gradients) = self.compute(objective).map_err(backend)?;
        // Neither does a batch at a minimum of its objective, such as a policy that is its own reference.
        let telling = telling && totals.steepest > 0.0;
        // As long as every B of an adapter is zero, so is the gradient of its A, rightly.
        let asleep = self.weights.asleep().map_err(backend)?;
        let doubted = |name: &str| telling && !self.checked && !(asleep && is_a(name));
        let norm = gradients.checked_norm(&self.trainable, doubted)?;
        self.checked |= telling && !asleep;
        self.apply(&gradients, norm, learning_rate).map_err(backend)?;
        self.version.0 += 1;
        Ok(self.report(totals, norm))
    }

    fn report(&self, totals: Totals, gradient_norm: f64) -> Update {
        let entropy = totals.entropy / totals.count.max(1) as f64;
        let Totals { loss, tokens, .. } = totals;
        Update { policy: self.version, loss, entropy, gradient_norm, tokens, metrics: totals.metrics.means() }
    }

    fn compute(&mut self, objective: &dyn Objective) -> Result<(Totals, Gradients)> {
        warn_of_pool();
        self.spaces.resize_with(self.shards(), SharedSpace::default);
        let engine = self.engine(Mode::Tracked, Purpose::Training)?;
        gradients(&engine, &self.weights, &self.spaces, objective, self.options.sizes())
    }

    fn apply(&mut self, gradients: &Gradients, norm: f64, learning_rate: f64) -> Result<()> {
        let clip = self.options.clip_norm;
        let scale = if norm > clip { (clip / norm) as f32 } else { 1.0 };
        let rate = Rate { learning_rate, scale, threads: self.shards() };
        if !self.compute.kernels {
            return self.state.step_by_tensors(
                &self.options.optimizer,
                &self.trainable,
                &self.weights,
                gradients,
                rate,
            );
        }
        self.state.step(&self.options.optimizer, &self.trainable, &self.weights, gradients, rate)
    }

    /// The batch, checked, with the reference log-probabilities that its loss needs and that the held reference can give.
    fn referenced<'a>(&self, batch: &'a TrainBatch) -> Result<Cow<'a, TrainBatch>, LearnError> {
        check_batch(batch, &self.config)?;
        let terms = self.options.terms();
        let (Some(_), Some(_)) = (terms.kl, &self.reference) else { return Ok(Cow::Borrowed(batch)) };
        let wanting =
            |sample: &&mut veriplay_core::Sample| !sample.imitate && sample.reference.is_none() && terms.keeps(sample);
        let mut filled = batch.clone();
        let mut wanting: Vec<_> = filled.samples.iter_mut().filter(wanting).collect();
        let asked: Vec<(&[u32], &[u32])> = wanting.iter().map(|s| (&*s.prompt, s.response.as_slice())).collect();
        let scores = self.reference_scores(&asked).map_err(backend)?;
        wanting.iter_mut().zip(scores).for_each(|(sample, score)| sample.reference = Some(score));
        Ok(Cow::Owned(filled))
    }
}

pub(crate) fn backend(error: candle_core::Error) -> LearnError {
    LearnError::Backend(error.to_string())
}

//! Learners of several roles on one base (`learn.lora.per_role`): each role that learns has adapters, an optimizer and a reference of its own, and
//! the base is in memory once.
//!
//! Called by a run, which has one [`RoleLearners`] however many learners there are. A prompt is answered by the learner of its role, and a sample
//! trains that of its role alone. The learner of the solver is there always: it plays the roles that do not learn, and learns from examples of which
//! nobody knows whose answers they are, because it is what is evaluated. Without roles of their own it is the learner of all.
//!
//! Invariant: what trains one role leaves the bits of the others' adapters and of the base. All have one version, the number of updates.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter::once;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use veriplay_core::{
    Learn, LearnError, Policy, PolicyError, PolicyVersion, PreferenceBatch, Prompt, Role, Rollout, Sample, Sampling,
    Snapshot, TrainBatch, Update,
};

use super::Learner;
use super::training::{bad, check_rate, learn_error};
use crate::checkpoint::CheckpointError;
use crate::lora::Lora;
use crate::objective::BatchTotals;
use crate::ops::SharedWorkspace;
use crate::optim::OptimizerState;
use crate::server::RolloutServer;

/// The learner of a run, or those of its roles.
#[derive(Debug)]
pub struct RoleLearners {
    solver: Learner,
    /// Of the roles that have adapters beside the solver's.
    others: BTreeMap<Role, Learner>,
}

impl RoleLearners {
    /// Of a model, with fresh adapters for each of the roles that its options name beside the solver.
    ///
    /// # Errors
    /// There is no memory for them, or the learner trains its weights, which others cannot share then.
    pub fn new(mut solver: Learner) -> Result<Self, LearnError> {
        let mut others = BTreeMap::new();
        for role in solver.options.roles.clone().into_iter().filter(|role| *role != Role::SOLVER) {
            others.insert(role, solver.beside(role)?);
        }
        solver.role = (!others.is_empty()).then_some(Role::SOLVER);
        Ok(Self { solver, others })
    }

    /// The learner of the solver, or of all roles.
    pub const fn solver(&self) -> &Learner {
        &self.solver
    }

    /// The learner that plays a role.
    pub fn of(&self, role: Role) -> &Learner {
        self.others.get(&role).unwrap_or(&self.solver)
    }

    fn all(&self) -> impl Iterator<Item = &Learner> {
        once(&self.solver).chain(self.others.values())
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Learner> {
        once(&mut self.solver).chain(self.others.values_mut())
    }

    /// Whether a sample trains the adapters of this learner.
    fn trains(&self, learner: &Learner, sample: &Sample) -> bool {
        let role = sample.role.or(sample.example_of).unwrap_or(Role::SOLVER);
        std::ptr::eq(self.of(role), learner)
    }

    /// The samples of a batch that each learner trains on. Their normalizer is the batch's: a role weighs as it does where weights are shared.
    fn shares<'b>(&self, batch: &'b TrainBatch) -> Vec<Cow<'b, TrainBatch>> {
        if self.others.is_empty() {
            return vec![Cow::Borrowed(batch)];
        }
        let own = |learner: &Learner| batch.samples.iter().filter(|one| self.trains(learner, one)).cloned().collect();
        let share = |samples| Cow::Owned(TrainBatch { samples, normalizer: batch.normalizer });
        self.all().map(own).map(share).collect()
    }

    /// The learner that plays the roles of these prompts.
    fn of_prompts(&self, prompts: &[Prompt]) -> Result<&Learner, PolicyError> {
        let Some(first) = prompts.first() else { return Ok(&self.solver) };
        let learner = self.of(first.role);
        match prompts.iter().find(|prompt| !std::ptr::eq(self.of(prompt.role), learner)) {
            None => Ok(learner),
            Some(other) => Err(PolicyError::Backend(format!(
                "one call has prompts of the roles `{}` and `{}`, whose weights differ: ask for each role on its own",
                first.role.name(),
                other.role.name()
            ))),
        }
    }

    /// Whether conversations are rendered by the checkpoint's template; otherwise as plain text.
    #[must_use]
    pub fn has_chat_template(&self) -> bool {
        self.solver.has_chat_template()
    }

    /// Has a server sample for all of them, as [`Learner::sample_from`] does. It has the adapters of each role under a name of their own.
    pub fn sample_from(&mut self, server: RolloutServer) {
        let server = Arc::new(server);
        self.all_mut().for_each(|learner| learner.sample_from(Arc::clone(&server)));
    }

    /// The policies as they are now, which sample while these learn, as [`Learner::freeze`] does.
    pub fn freeze(&self) -> Result<impl Policy + use<>, PolicyError> {
        let others = self.others.iter().map(|(role, learner)| Ok((*role, learner.frozen()?)));
        Ok(Self { solver: self.solver.frozen()?, others: others.collect::<Result<_, PolicyError>>()? })
    }

    /// The number of updates so far.
    pub const fn version(&self) -> PolicyVersion {
        self.solver.version
    }

    /// Makes the present weights of each its reference.
    pub fn hold_reference(&mut self) -> Result<(), PolicyError> {
        self.all_mut().try_for_each(Learner::hold_reference)
    }

    /// Sets another coefficient of the divergence from the reference, where there is one.
    pub fn set_kl_coefficient(&mut self, coefficient: f64) {
        self.all_mut().for_each(|learner| learner.set_kl_coefficient(coefficient));
    }

    /// The batch with the log-probabilities of each role's policy as it is, where [`Learner::add_old_logprobs`] adds them.
    pub fn add_old_logprobs<'b>(&self, batch: &'b TrainBatch) -> Result<Cow<'b, TrainBatch>, LearnError> {
        if self.others.is_empty() {
            return self.solver.add_old_logprobs(batch);
        }
        let mut filled = batch.clone();
        for (learner, own) in self.all().zip(self.shares(batch)) {
            let places = filled.samples.iter_mut().filter(|sample| self.trains(learner, sample));
            let scored = learner.add_old_logprobs(&own)?.into_owned().samples;
            places.zip(scored).for_each(|(place, sample)| *place = sample);
        }
        Ok(Cow::Owned(filled))
    }

    /// The norms of the gradients that the samples of each role give on their own, as [`Learner::gradient_norms`] has them: of supervised examples
    /// in the adapters of all roles together.
    pub fn gradient_norms(&mut self, batch: &TrainBatch) -> Result<BTreeMap<Option<Role>, f64>, LearnError> {
        let (shares, mut norms) = (self.shares(batch), BTreeMap::new());
        for (learner, own) in self.all_mut().zip(shares) {
            for (role, norm) in learner.gradient_norms(&own)? {
                let sum: &mut f64 = norms.entry(role).or_default();
                *sum = sum.hypot(norm);
            }
        }
        Ok(norms)
    }

    /// Trains fresh adapters of every role from now on, as [`Learner::restart_adapters`] does.
    pub fn restart_adapters(&mut self, lora: &Lora) -> Result<(), LearnError> {
        self.all_mut().try_for_each(|learner| learner.restart_adapters(lora))
    }

    /// Begins with fresh optimizers, as [`Learner::reset_optimizer`] does.
    pub fn reset_optimizer(&mut self) {
        self.all_mut().for_each(Learner::reset_optimizer);
    }

    /// Goes on with what `start` has of each role, as [`Learner::restart_from`] does.
    ///
    /// # Errors
    /// It has another shape or other roles.
    pub fn restart_from(&mut self, start: Self) -> Result<(), LearnError> {
        if !self.others.keys().eq(start.others.keys()) {
            return Err(LearnError::Backend("the start model has adapters of other roles than the policy".to_owned()));
        }
        let starts = once(start.solver).chain(start.others.into_values());
        self.all_mut().zip(starts).try_for_each(|(learner, start)| learner.restart_from(start))
    }

    /// Writes what a run goes on from: a checkpoint as [`Learner::save_checkpoint`] has it, or one of each role in a folder of its name.
    pub fn save_checkpoint(&self, dir: &Path) -> Result<(), CheckpointError> {
        self.all().try_for_each(|learner| learner.save_checkpoint(&learner.folder(dir)))
    }

    /// Goes on with the adapters of each role in a checkpoint, with fresh optimizers, as [`Learner::load_adapters`] does.
    pub fn load_adapters(&mut self, dir: &Path) -> Result<(), CheckpointError> {
        self.all_mut().try_for_each(|learner| learner.load_adapters(&learner.folder(dir)))
    }

    /// Restores the optimizer and the counters of each role, as [`Learner::load_trainer_state`] does.
    pub fn load_trainer_state(&mut self, dir: &Path) -> Result<(), CheckpointError> {
        self.all_mut().try_for_each(|learner| learner.load_trainer_state(&learner.folder(dir)))
    }
}

impl Policy for RoleLearners {
    /// See the trait, and [`Learner`]. All prompts of a call are for roles of the same weights.
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        self.of_prompts(prompts)?.generate(prompts, sampling)
    }

    fn has_room(&self, prompt: &Prompt, max_tokens: usize) -> bool {
        self.solver.has_room(prompt, max_tokens)
    }

    fn encode_response(&self, text: &str) -> Result<Vec<u32>, PolicyError> {
        self.solver.encode_response(text)
    }

    fn score_responses(&self, prompts: &[Prompt], responses: &[&[u32]]) -> Result<Vec<Vec<f32>>, PolicyError> {
        self.of_prompts(prompts)?.score_responses(prompts, responses)
    }
}

impl Learn for RoleLearners {
    /// See the trait, and [`Learner`]. The losses of the roles are summed, and their gradients are clipped each by its own norm.
    fn update(&mut self, batch: &TrainBatch, learning_rate: f64) -> Result<Update, LearnError> {
        if self.others.is_empty() {
            return self.solver.update(batch, learning_rate);
        }
        check_rate(learning_rate)?;
        self.solver.token_limits().check_batch(batch)?;
        self.all().for_each(Learner::end_sampling);
        let (shares, mut steps) = (self.shares(batch), Vec::new());
        for (learner, own) in self.all_mut().zip(&shares) {
            steps.push(learner.compute_update(own)?);
        }
        let (mut totals, mut norm) = (BatchTotals::default(), 0.0_f64);
        for (learner, step) in self.all_mut().zip(steps) {
            totals.add(step.totals.clone());
            norm = norm.hypot(step.norm);
            learner.take(step, learning_rate)?;
        }
        Ok(self.solver.report(totals, norm))
    }

    fn prefer(&mut self, batch: &PreferenceBatch, learning_rate: f64) -> Result<Update, LearnError> {
        if !self.others.is_empty() {
            return bad("pairs do not say whose responses they are, and roles have adapters of their own".to_owned());
        }
        self.solver.prefer(batch, learning_rate)
    }

    fn snapshot(&self) -> Result<Snapshot, LearnError> {
        let snapshots: Vec<Snapshot> = self.all().map(Learner::snapshot).collect::<Result<_, _>>()?;
        Ok(Snapshot::new(snapshots))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), LearnError> {
        let snapshots = snapshot.state::<Vec<Snapshot>>()?;
        self.all_mut().zip(snapshots).try_for_each(|(learner, snapshot)| learner.restore(snapshot))
    }
}

impl Learner {
    /// A learner of another role, with fresh adapters on the base of this one, in the same memory.
    fn beside(&mut self, role: Role) -> Result<Self, LearnError> {
        let Some(lora) = self.options.lora.clone() else {
            let what = "roles are to have adapters of their own, and the learner trains all weights";
            return Err(LearnError::Backend(what.to_owned()));
        };
        self.workspaces.resize_with(self.model.workers(), SharedWorkspace::default);
        let mut other = Self {
            model: self.model.share_base(),
            options: self.options.clone(),
            sampler: self.sampler.beside(),
            rollout_server: self.rollout_server.clone(),
            role: Some(role),
            trainable: Vec::new(),
            optimizer: OptimizerState::new(&[], self.model.steps_on_host()),
            version: self.version,
            checked: false,
            reference: None,
            workspaces: self.workspaces.clone(),
        };
        let adapters = other.fresh_adapters(&lora).map_err(learn_error)?;
        other.restart_with(Some(lora), Some(adapters)).map_err(learn_error)?;
        Ok(other)
    }

    /// Where its checkpoint lies in that of a run: in a folder of its role, where others have adapters of their own.
    fn folder(&self, dir: &Path) -> PathBuf {
        self.role.map_or_else(|| dir.to_owned(), |role| dir.join(role.name()))
    }
}

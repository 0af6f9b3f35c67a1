//! What a script may do when the update of a step is done: measure tasks with the new policy, try updates and undo them, leave numbers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use veriplay_core::{Digest, Execute, LearnError, Policy, Snapshot, TrainBatch, Trainable};

use crate::environment::{Environment, Stage};
use crate::metrics::{SolveCount, is_right};
use crate::play::{PlayError, StepContext};
use crate::rollout::Part;
use crate::stages::{StageCall, Stages};
use crate::task_pool::{PoolTask, StepTask, TaskPool};

/// The policy after the update of a step.
pub enum UpdatedPolicy<'a> {
    /// One whose weights are in this process.
    Learner(&'a mut (dyn Trainable + 'static)),
    /// One whose weights are elsewhere: it can be sampled alone.
    Sampled(&'a dyn Policy),
}

impl UpdatedPolicy<'_> {
    fn policy(&self) -> &dyn Policy {
        match self {
            Self::Learner(learner) => &**learner,
            Self::Sampled(policy) => *policy,
        }
    }

    fn learner(&mut self) -> Result<&mut (dyn Trainable + 'static), PlayError> {
        match self {
            Self::Learner(learner) => Ok(&mut **learner),
            Self::Sampled(_) => {
                let what = "the loop tries updates, and the weights are those of a trainer outside this process: use a model that learns here";
                Err(PlayError::Setup(what.to_owned()))
            }
        }
    }
}

/// The end of a step, behind its update.
pub struct AfterUpdate<'a, E: Environment> {
    pub(crate) game: &'a E,
    pub(crate) policy: UpdatedPolicy<'a>,
    pub(crate) execute: &'a dyn Execute,
    pub(crate) seed: u64,
    pub(crate) step: u64,
    pub(crate) learning_rate: f64,
    pub(crate) pool: &'a TaskPool<E::Task>,
    pub(crate) deferred: &'a mut BTreeMap<String, Value>,
    pub(crate) numbers: BTreeMap<String, f64>,
    /// Measurements so far: each has samples of its own.
    pub(crate) measured: usize,
}

impl<E: Environment> AfterUpdate<'_, E> {
    /// The step that was learned from.
    pub const fn number(&self) -> u64 {
        self.step
    }

    /// The run's seed, which names random streams.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Runs jobs of the script's own.
    pub const fn execute(&self) -> &dyn Execute {
        self.execute
    }

    /// The pool as the step left it.
    pub const fn pool(&self) -> &TaskPool<E::Task> {
        self.pool
    }

    /// How often the policy as it is now solves each of these tasks, of as many attempts as a step makes; `None` for a task that has no prompt, or
    /// none that the policy has room for.
    ///
    /// # Errors
    /// A fault of the policy or of the host, a game whose attempts need verifiers, or a task that is evaluated on: that would be training on it.
    pub fn measure(&mut self, tasks: &[E::Task]) -> Result<Vec<Option<SolveCount>>, PlayError> {
        if self.game.verifier().is_some() {
            let what = "the loop measures tasks behind an update, and in this game attempts are judged with those of verifiers";
            return Err(PlayError::Setup(what.to_owned()));
        }
        let evaluated: BTreeSet<Digest> = self.game.evaluation_tasks().iter().map(|one| one.task.id()).collect();
        if tasks.iter().any(|task| evaluated.contains(&task.id())) {
            let what =
                "the loop measures a task behind an update that the policy is evaluated on: use tasks of the pool";
            return Err(PlayError::Setup(what.to_owned()));
        }
        let context = StepContext { policy: self.policy.policy(), execute: self.execute, seed: self.seed };
        let stages = Stages { game: self.game, context };
        let seeds = self.game.seeds(Stage::AfterUpdate, self.seed, self.step);
        let opened = self.game.solver_episodes(self.execute, seeds, &tasks.iter().collect::<Vec<_>>());
        let (mut asked, mut places, mut episodes) = (Vec::new(), Vec::new(), Vec::new());
        for (place, episode) in opened.into_iter().enumerate() {
            if let Some(episode) = episode?.filter(|one| stages.has_room(Part::Solution, None, one)) {
                asked.push(StepTask::seed(&tasks[place]));
                places.push(place);
                episodes.push(episode);
            }
        }
        let call = StageCall { first_chunk: self.measured, ..StageCall::new(Stage::AfterUpdate, self.step) };
        let solutions = stages.solve(call, None, &asked, episodes, &mut |_| {})?;
        self.measured += stages.chunks(Stage::AfterUpdate, asked.len());
        let mut counts: Vec<Option<SolveCount>> = vec![None; tasks.len()];
        for one in solutions {
            let status = one.judged.verdict?.status;
            counts[places[one.finished.source]].get_or_insert_default().add(is_right(status));
        }
        Ok(counts)
    }

    /// The learning rate of the update.
    pub const fn learning_rate(&self) -> f64 {
        self.learning_rate
    }

    /// Takes one optimizer step at this learning rate.
    pub fn train(&mut self, batch: &TrainBatch, rate: f64) -> Result<(), PlayError> {
        self.policy.learner()?.update(batch, rate).map(drop).map_err(failed)
    }

    /// What the policy has learned so far.
    pub fn snapshot(&mut self) -> Result<Snapshot, PlayError> {
        self.policy.learner()?.snapshot().map_err(failed)
    }

    /// Undoes the updates since a snapshot.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), PlayError> {
        self.policy.learner()?.restore(snapshot).map_err(failed)
    }

    /// What a step left under this name.
    pub fn deferred(&self, name: &str) -> Option<&Value> {
        self.deferred.get(name)
    }

    /// Takes what a step left under this name.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.deferred.remove(name)
    }

    /// Leaves something for later steps, as [`crate::step::Step::defer`] does.
    pub fn defer(&mut self, name: &str, value: Value) {
        self.deferred.insert(name.to_owned(), value);
    }

    /// States a number of the step: it is logged as `play/NAME`, and monitors see it.
    pub fn fact(&mut self, name: &str, number: f64) {
        self.numbers.insert(name.to_owned(), number);
    }
}

fn failed(error: LearnError) -> PlayError {
    PlayError::Setup(format!("an update that the loop tries failed: {error}"))
}

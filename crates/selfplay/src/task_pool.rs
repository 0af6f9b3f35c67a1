//! The tasks that solvers may be asked and proposers are shown, and how a step chooses among them.

use std::collections::BTreeSet;
use std::fmt::Debug;

use rand_chacha::ChaCha8Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use veriplay_core::Digest;

use crate::metrics::SolveCount;
use crate::randomness::ordered;

/// A task as the pool keeps it.
pub trait PoolTask: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync {
    /// Names it, however it came to be.
    fn id(&self) -> Digest;

    /// Two tasks with one key are the same to proposers: the second is a duplicate.
    fn key(&self) -> Digest;

    /// Its kind, one of the environment's.
    fn kind(&self) -> &'static str;
}

/// One task of the pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "T: PoolTask")]
pub struct Entry<T> {
    /// [`PoolTask::id`], kept because hashing it again costs.
    pub id: Digest,
    /// [`PoolTask::key`], likewise.
    pub key: Digest,
    /// The task.
    pub task: T,
    /// Whether it was there before step 0: such tasks are never lost.
    pub seed: bool,
    /// The step that admitted it.
    pub step: u64,
    /// How often it was solved when it was last asked.
    pub last: Option<SolveCount>,
}

/// Seeds and admitted proposals, oldest first; no two with the same id or the same key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent, bound = "T: PoolTask")]
pub struct TaskPool<T> {
    entries: Vec<Entry<T>>,
}

impl<T> Default for TaskPool<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<T: PoolTask> TaskPool<T> {
    /// Its entries, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[Entry<T>] {
        &self.entries
    }

    /// Those of one kind.
    pub fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Entry<T>> {
        self.entries.iter().filter(move |entry| entry.task.kind() == kind)
    }

    /// The keys of all its tasks.
    #[must_use]
    pub fn keys(&self) -> BTreeSet<Digest> {
        self.entries.iter().map(|entry| entry.key.clone()).collect()
    }

    /// Adds seeds; those that are there already are left out.
    pub fn add_seeds(&mut self, tasks: impl IntoIterator<Item = T>) {
        self.add(tasks, true, 0);
    }

    /// Adds what is new of `tasks`, and forgets the oldest proposals of each kind beyond `capacity`.
    pub fn admit(&mut self, tasks: impl IntoIterator<Item = T>, step: u64, capacity: usize) {
        let kinds = self.add(tasks, false, step);
        for kind in kinds {
            let is_proposal = |entry: &Entry<T>| !entry.seed && entry.task.kind() == kind;
            let count = self.entries.iter().filter(|entry| is_proposal(entry)).count();
            let mut excess = count.saturating_sub(capacity);
            self.entries.retain(|entry| {
                let evicted = is_proposal(entry) && excess > 0;
                excess -= usize::from(evicted);
                !evicted
            });
        }
    }

    fn add(&mut self, tasks: impl IntoIterator<Item = T>, seed: bool, step: u64) -> BTreeSet<&'static str> {
        let mut ids: BTreeSet<Digest> = self.entries.iter().map(|entry| entry.id.clone()).collect();
        let (mut keys, mut kinds) = (self.keys(), BTreeSet::new());
        for task in tasks {
            let (id, key) = (task.id(), task.key());
            if !ids.contains(&id) && keys.insert(key.clone()) {
                ids.insert(id.clone());
                kinds.insert(task.kind());
                self.entries.push(Entry { id, key, task, seed, step, last: None });
            }
        }
        kinds
    }

    /// Notes how often a task was solved, if it is still here.
    pub fn note(&mut self, id: &Digest, count: SolveCount) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.id == *id) {
            entry.last = Some(count);
        }
    }

    /// Forgets a proposal, if it is still here. Seeds stay.
    pub fn remove_proposal(&mut self, id: &Digest) {
        self.entries.retain(|entry| entry.seed || entry.id != *id);
    }
}

/// Where a task of a step comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A proposal of this step.
    Fresh,
    /// A proposal of an earlier one.
    Pool,
    /// There before step 0.
    Seed,
}

/// A task that solvers are asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked<T> {
    /// The task.
    pub task: T,
    /// Where it comes from.
    pub source: Source,
    /// Index of the step's proposal that made it.
    pub proposal: Option<usize>,
}

/// The choice of a step's tasks.
pub struct TaskChoice<'a, T> {
    pub(crate) pool: &'a TaskPool<T>,
    /// Valid, new proposals of the step, with their indices.
    pub(crate) fresh: Vec<(usize, &'a T)>,
    pub(crate) learnable_weight: f64,
    pub(crate) generator: ChaCha8Rng,
    pub(crate) asked: Vec<Asked<T>>,
}

impl<'a, T: PoolTask> TaskChoice<'a, T> {
    /// Takes up to `count` of this step's proposals of one kind, in the order they were made. Says how many that were.
    pub fn take_fresh(&mut self, kind: &str, count: usize) -> usize {
        let fresh = self.fresh.iter().filter(|(_, task)| task.kind() == kind).take(count);
        let taken = fresh.map(|(proposal, task)| Asked {
            task: (*task).clone(),
            source: Source::Fresh,
            proposal: Some(*proposal),
        });
        let before = self.asked.len();
        self.asked.extend(taken.collect::<Vec<_>>());
        self.asked.len() - before
    }

    /// The entries of the pool of one kind, seeds or proposals.
    pub fn entries(&self, kind: &str, seed: bool) -> Vec<&'a Entry<T>> {
        self.pool.of_kind(kind).filter(|entry| entry.seed == seed).collect()
    }

    /// Draws `count` of `entries` without replacement, weighted by the curriculum.
    pub fn draw(&mut self, entries: Vec<&'a Entry<T>>, count: usize) {
        let weigh = |entry: &'a Entry<T>| {
            let learnable = entry.last.is_some_and(SolveCount::is_learnable);
            (entry, if learnable { self.learnable_weight } else { 1.0 })
        };
        let weighted = entries.into_iter().map(weigh).collect();
        let drawn = ordered(weighted, &mut self.generator).into_iter().take(count).map(|entry| Asked {
            task: entry.task.clone(),
            source: if entry.seed { Source::Seed } else { Source::Pool },
            proposal: None,
        });
        self.asked.extend(drawn);
    }
}

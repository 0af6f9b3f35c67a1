//! The pool of tasks for solvers and of references for proposers, and how a step chooses among them.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Debug;

use rand_chacha::ChaCha8Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Dropped};

use crate::metrics::SolveCount;
use crate::randomness::weighted_shuffle;

/// A task as the pool keeps it.
pub trait PoolTask: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync {
    /// Names it, however it came to be.
    fn id(&self) -> Digest;

    /// Two tasks with one key are the same to proposers: the second is a duplicate.
    fn key(&self) -> Digest;

    /// Its kind, one of the environment's.
    fn kind(&self) -> &'static str;

    /// Its class among those of its kind, such as how long its program is: curricula keep one score for each kind and class.
    fn class(&self) -> u64 {
        0
    }

    /// What intrinsic rewards look at; nothing, where the game does not say.
    fn content(&self) -> TaskContent {
        TaskContent::default()
    }
}

/// What a task is made of, as far as intrinsic rewards look at it ([`crate::intrinsic`]).
#[derive(Debug, Clone, Default)]
pub struct TaskContent {
    /// The code that it is about, or that does it.
    pub code: Option<String>,
    /// What a solver must find, where one thing was proposed.
    pub answer: Option<String>,
    shape: OnceCell<BTreeSet<Trigram>>,
}

/// Kinds of three tokens in a row.
pub(crate) type Trigram = [u8; 3];

impl TaskContent {
    /// Of a task with this code and this answer.
    pub fn new(code: impl Into<String>, answer: Option<String>) -> Self {
        Self { code: Some(code.into()), answer, shape: OnceCell::new() }
    }

    /// The trigrams of the code, computed once; `None` without code.
    pub(crate) fn shape(&self, trigrams: impl FnOnce(&str) -> BTreeSet<Trigram>) -> Option<&BTreeSet<Trigram>> {
        let code = self.code.as_deref()?;
        Some(self.shape.get_or_init(|| trigrams(code)))
    }
}

/// One task of the pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "T: PoolTask")]
pub struct PoolEntry<T> {
    /// [`PoolTask::id`], kept because hashing it again costs.
    pub id: Digest,
    /// [`PoolTask::key`], likewise.
    pub key: Digest,
    /// The task.
    pub task: T,
    /// Whether it was there before step 0: such tasks are never lost.
    pub seed: bool,
    /// Whether a policy proposed it, before step 0 or in one, or what it was derived of; else it was given, or derived of what was.
    #[serde(default)]
    pub is_proposed: bool,
    /// The step that admitted it.
    pub step: u64,
    /// How often it was solved when solvers last attempted it.
    pub last: Option<SolveCount>,
}

impl<T> PoolEntry<T> {
    /// Where it comes from.
    pub const fn source(&self) -> Source {
        if self.seed { Source::Seed } else { Source::Pool }
    }
}

/// Seeds and admitted proposals, oldest first; no two with the same id or the same key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent, bound = "T: PoolTask")]
pub struct TaskPool<T> {
    entries: Vec<PoolEntry<T>>,
}

impl<T> Default for TaskPool<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<T: PoolTask> TaskPool<T> {
    /// Its entries, oldest first.
    pub fn entries(&self) -> &[PoolEntry<T>] {
        &self.entries
    }

    /// Those of one kind.
    pub fn of_kind(&self, kind: &str) -> impl Iterator<Item = &PoolEntry<T>> {
        self.entries.iter().filter(move |entry| entry.task.kind() == kind)
    }

    /// The keys of all its tasks.
    pub fn keys(&self) -> BTreeSet<Digest> {
        self.entries.iter().map(|entry| entry.key.clone()).collect()
    }

    /// Adds seeds; those that are there already are left out.
    pub fn add_seeds(&mut self, tasks: impl IntoIterator<Item = T>) {
        self.add(tasks, Origin { seed: true, is_proposed: false, step: 0 });
    }

    /// As [`TaskPool::add_seeds`], of tasks that the start model proposed.
    pub fn add_proposed_seeds(&mut self, tasks: impl IntoIterator<Item = T>) {
        self.add(tasks, Origin { seed: true, is_proposed: true, step: 0 });
    }

    /// Adds what is new of `tasks`, which a policy proposed or which were derived, and forgets the oldest of each kind beyond `capacity`.
    pub fn admit(&mut self, tasks: impl IntoIterator<Item = T>, is_proposed: bool, step: u64, capacity: usize) {
        let kinds = self.add(tasks, Origin { seed: false, is_proposed, step });
        for kind in kinds {
            let is_proposal = |entry: &PoolEntry<T>| !entry.seed && entry.task.kind() == kind;
            let count = self.entries.iter().filter(|entry| is_proposal(entry)).count();
            let mut excess = count.saturating_sub(capacity);
            self.entries.retain(|entry| {
                let evicted = is_proposal(entry) && excess > 0;
                excess -= usize::from(evicted);
                !evicted
            });
        }
    }

    fn add(&mut self, tasks: impl IntoIterator<Item = T>, origin: Origin) -> BTreeSet<&'static str> {
        let Origin { seed, is_proposed, step } = origin;
        let mut ids: BTreeSet<Digest> = self.entries.iter().map(|entry| entry.id.clone()).collect();
        let (mut keys, mut kinds) = (self.keys(), BTreeSet::new());
        for task in tasks {
            let (id, key) = (task.id(), task.key());
            if !ids.contains(&id) && keys.insert(key.clone()) {
                ids.insert(id.clone());
                kinds.insert(task.kind());
                self.entries.push(PoolEntry { id, key, task, seed, is_proposed, step, last: None });
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
    pub(crate) fn remove_proposal(&mut self, id: &Digest) {
        self.entries.retain(|entry| entry.seed || entry.id != *id);
    }
}

/// How a task came into the pool.
#[derive(Clone, Copy)]
struct Origin {
    seed: bool,
    is_proposed: bool,
    step: u64,
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

/// A task that solvers attempt in a step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTask<T> {
    /// The task.
    pub task: T,
    /// Where it comes from.
    pub source: Source,
    /// Whether a policy proposed it, in this step or before, or what it was derived of.
    pub is_proposed: bool,
    /// Index of the step's proposal that made it, where a proposer did.
    pub proposal: Option<usize>,
    /// Index of the step's derivation that made it, where one did.
    pub derivation: Option<usize>,
}

impl<T: PoolTask> StepTask<T> {
    /// Names its task.
    pub fn id(&self) -> Digest {
        self.task.id()
    }

    /// A task that was there before step 0, or is evaluated on.
    pub(crate) fn seed(task: &T) -> Self {
        Self { task: task.clone(), source: Source::Seed, is_proposed: false, proposal: None, derivation: None }
    }
}

/// A task that a step may take.
#[derive(Debug)]
pub struct TaskCandidate<'a, T> {
    task: &'a T,
    source: Source,
    is_proposed: bool,
    maker: Option<Maker>,
}

/// What made a task of this step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maker {
    /// The proposal of this index.
    Proposal(usize),
    /// The derivation of this index, and whether it is made of what a policy proposed.
    Derivation { index: usize, is_proposed: bool },
}

impl<'a, T> TaskCandidate<'a, T> {
    const fn fresh(maker: Maker, task: &'a T) -> Self {
        let is_proposed = matches!(maker, Maker::Proposal(_) | Maker::Derivation { is_proposed: true, .. });
        Self { task, source: Source::Fresh, is_proposed, maker: Some(maker) }
    }

    /// The task.
    pub const fn task(&self) -> &'a T {
        self.task
    }
}

impl<'a, T> From<&'a PoolEntry<T>> for TaskCandidate<'a, T> {
    fn from(entry: &'a PoolEntry<T>) -> Self {
        Self { task: &entry.task, source: entry.source(), is_proposed: entry.is_proposed, maker: None }
    }
}

/// Whether each task has a prompt, or the host fault.
pub(crate) type PrepareResults = Vec<Result<bool, Dropped>>;

/// The choice of a step's tasks.
pub struct TaskChoice<'a, T> {
    pool: &'a TaskPool<T>,
    /// Valid, new tasks of the step that no draw has taken.
    fresh: Vec<(Maker, &'a T)>,
    /// The curriculum: the weight of each task of the pool.
    weights: &'a HashMap<Digest, f64>,
    generator: ChaCha8Rng,
    /// Prepares the solvers' episodes of tasks.
    prepare: &'a mut dyn FnMut(&[&T]) -> PrepareResults,
    chosen: StepTasks<T>,
    /// The ids of all that were taken, or asked for in vain.
    taken: BTreeSet<Digest>,
}

/// The tasks of a step, and how many could not be one.
#[derive(Debug)]
pub(crate) struct StepTasks<T> {
    pub(crate) tasks: Vec<StepTask<T>>,
    /// Ids of those that have no prompt.
    pub(crate) without_prompt: BTreeSet<Digest>,
    /// How many the host failed to prepare.
    pub(crate) dropped_tasks: usize,
}

impl<'a, T: PoolTask> TaskChoice<'a, T> {
    pub(crate) fn new(
        pool: &'a TaskPool<T>,
        fresh: Vec<(Maker, &'a T)>,
        weights: &'a HashMap<Digest, f64>,
        generator: ChaCha8Rng,
        prepare: &'a mut dyn FnMut(&[&T]) -> PrepareResults,
    ) -> Self {
        let chosen = StepTasks { tasks: Vec::new(), without_prompt: BTreeSet::new(), dropped_tasks: 0 };
        Self { pool, fresh, weights, generator, prepare, chosen, taken: BTreeSet::new() }
    }

    pub(crate) fn finish(self) -> StepTasks<T> {
        self.chosen
    }

    /// This step's valid, new tasks that are wanted, in the order they were made.
    pub fn fresh(&self, wanted: impl Fn(&T) -> bool) -> Vec<TaskCandidate<'a, T>> {
        let wanted = self.fresh.iter().filter(|(_, task)| wanted(task));
        wanted.map(|&(maker, task)| TaskCandidate::fresh(maker, task)).collect()
    }

    /// The entries of the pool that are wanted, oldest first.
    pub fn entries(&self, wanted: impl Fn(&PoolEntry<T>) -> bool) -> Vec<&'a PoolEntry<T>> {
        self.pool.entries().iter().filter(|entry| wanted(entry)).collect()
    }

    /// `entries` in random order, those that the curriculum prefers rather first.
    pub fn by_curriculum(&mut self, entries: Vec<&'a PoolEntry<T>>) -> Vec<TaskCandidate<'a, T>> {
        let weighted = entries.into_iter().map(|entry| (entry, self.weights[&entry.id])).collect();
        weighted_shuffle(weighted, &mut self.generator).into_iter().map(TaskCandidate::from).collect()
    }

    /// `entries` in random order, without preference.
    pub fn shuffled(&mut self, entries: Vec<&'a PoolEntry<T>>) -> Vec<TaskCandidate<'a, T>> {
        let even = entries.into_iter().map(|entry| (entry, 1.0)).collect();
        weighted_shuffle(even, &mut self.generator).into_iter().map(TaskCandidate::from).collect()
    }

    /// Takes the first `count` of the candidates that have a prompt and are not taken yet. Returns how many there were.
    pub fn take(&mut self, candidates: Vec<TaskCandidate<'a, T>>, count: usize) -> usize {
        let before = self.chosen.tasks.len();
        let mut candidates = candidates.into_iter();
        loop {
            let missing = count - (self.chosen.tasks.len() - before);
            let untaken = candidates.by_ref().filter(|one| self.taken.insert(one.task.id()));
            let next: Vec<TaskCandidate<'a, T>> = untaken.take(missing).collect();
            if next.is_empty() {
                return self.chosen.tasks.len() - before;
            }
            let askable = (self.prepare)(&next.iter().map(|one| one.task).collect::<Vec<_>>());
            for (TaskCandidate { task, source, is_proposed, maker }, askable) in next.into_iter().zip(askable) {
                let (proposal, derivation) = match maker {
                    Some(Maker::Proposal(index)) => (Some(index), None),
                    Some(Maker::Derivation { index, .. }) => (None, Some(index)),
                    None => (None, None),
                };
                match askable {
                    Ok(true) => {
                        let task = task.clone();
                        self.chosen.tasks.push(StepTask { task, source, is_proposed, proposal, derivation });
                    }
                    Ok(false) => drop(self.chosen.without_prompt.insert(task.id())),
                    Err(_) => self.chosen.dropped_tasks += 1,
                }
            }
        }
    }

    /// How many tasks are taken.
    pub fn len(&self) -> usize {
        self.chosen.tasks.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.chosen.tasks.is_empty()
    }
}

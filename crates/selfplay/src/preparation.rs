//! Preparation: before step 0 the start model proposes tasks, until the pool has `seed_proposals` of each kind, and makes supervised examples.
//!
//! Proposals of a round see what earlier rounds made, as references, and pass the gate of every other proposal. What they make are seeds: they
//! are never lost. Nothing is learned from them, and they are not logged. Rounds are a function of the run's seed and the start model.

use std::collections::BTreeMap;

use veriplay_core::Status;

use crate::environment::{Proposing, Stage};
use crate::game::Game;
use crate::play::{PlayError, StepContext};
use crate::randomness::derive_seed;
use crate::rollout::{FinishedEpisode, Part};
use crate::scoring::SftExample;
use crate::stages::{StageCall, Stages};
use crate::task_pool::{PoolTask, StepTask, TaskPool};

/// How far the sampling of the start model before step 0 is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preparation {
    /// What it is sampled for: `seed proposals`, or `supervised examples`.
    pub purpose: &'static str,
    /// Tasks that it has proposed, or episodes that have ended.
    pub done: usize,
    /// How many are known to be wanted.
    pub total: usize,
}

/// Rounds in a row without a new task after which there are no more.
const ROUNDS_WITHOUT_TASK: u64 = 32;

/// Fills the pool up to `seed_proposals` tasks of each kind.
pub(crate) fn seed_pool<G: Game>(
    stages: &Stages<'_, G>,
    pool: &mut TaskPool<G::Task>,
    watch: &mut dyn FnMut(Preparation),
) -> Result<(), PlayError> {
    let Stages { game, context } = *stages;
    let wanted = game.settings().seed_proposals;
    let stages =
        Stages { game, context: StepContext { seed: derive_seed(context.seed, 0, "seed proposals"), ..context } };
    let count_missing = |pool: &TaskPool<G::Task>| missing_tasks(game, pool, wanted).values().sum::<usize>();
    let (mut round, mut fruitful, all) = (0, 0, count_missing(pool));
    while let Some((kind, count)) = missing_tasks(game, pool, wanted).first_key_value() {
        if round - fruitful >= ROUNDS_WITHOUT_TASK {
            let found = wanted - count;
            return Err(PlayError::Setup(format!(
                "`game.seed_proposals` is `{wanted}`, and the start model and the given seeds make only `{found}` tasks of kind \
                 `{kind}`: the last {ROUNDS_WITHOUT_TASK} of {round} rounds of proposals gave none; lower it, widen the rules for \
                 valid proposals, or start from another model"
            )));
        }
        round += 1;
        watch(Preparation { purpose: "seed proposals", done: all - count_missing(pool), total: all });
        if seed_round(&stages, pool, wanted, round - 1)? {
            fruitful = round;
        }
    }
    Ok(())
}

/// One round of proposals for the kinds that miss tasks. Returns whether it made any.
fn seed_round<G: Game>(
    stages: &Stages<'_, G>,
    pool: &mut TaskPool<G::Task>,
    wanted: usize,
    round: u64,
) -> Result<bool, PlayError> {
    let mut missing = missing_tasks(stages.game, pool, wanted);
    let proposing = Proposing { context: stages.context, pool, stage: Stage::Propose, step: round };
    let mut proposers = stages.game.proposers(&proposing)?;
    proposers.retain(|one| missing.contains_key(one.kind));
    stages.retain_some_with_room(None, &mut proposers)?;
    let proposals = stages.propose(StageCall::new(Stage::Propose, round), &proposers, &mut pool.keys(), &[])?;
    let mut made = false;
    for proposal in &proposals {
        // Every run from this model has the same seeds, or none.
        proposal.judged.verdict.as_ref().map_err(Clone::clone)?;
        let Some(task) = proposal.admission.task() else { continue };
        let Some(count) = missing.get_mut(task.kind()).filter(|count| **count > 0) else { continue };
        *count -= 1;
        made = true;
        pool.add_proposed_seeds([task.clone()]);
    }
    Ok(made)
}

/// How many tasks are missing of each kind that has too few.
fn missing_tasks<G: Game>(game: &G, pool: &TaskPool<G::Task>, wanted: usize) -> BTreeMap<&'static str, usize> {
    let kinds = game.kinds().into_iter();
    let missing = kinds.map(|kind| (kind, wanted.saturating_sub(pool.of_kind(kind).count())));
    missing.filter(|(_, count)| *count > 0).collect()
}

/// The turns of what the start model did right. A host fault is an error: every run from this model has the same examples, or none.
pub(crate) fn sft_examples<G: Game>(
    stages: &Stages<'_, G>,
    pool: &TaskPool<G::Task>,
    watch: &mut dyn FnMut(Preparation),
) -> Result<Vec<SftExample>, PlayError> {
    let Stages { game, context } = *stages;
    let seeds = pool.entries().iter().filter(|entry| entry.seed).map(|entry| &entry.task);
    let own: Vec<&G::Task> = seeds.take(game.sft_tasks()).collect();
    let asked = game.solver_episodes(context.execute, game.seeds(Stage::SftSolve, context.seed, 0), &own);
    let (mut tasks, mut episodes) = (Vec::new(), Vec::new());
    for (task, episode) in own.into_iter().zip(asked) {
        if let Some(episode) = episode?.filter(|one| stages.has_room(Part::Solution, None, one)) {
            tasks.push(StepTask::seed(task));
            episodes.push(episode);
        }
    }
    let attempts = episodes.len() * game.settings().group_size;
    let mut examples = SftExamples::default();
    let mut known = Preparation { purpose: "supervised examples", done: 0, total: attempts };
    let solutions = stages.solve(StageCall::new(Stage::SftSolve, 0), None, &tasks, episodes, &mut |more| {
        known.done += more;
        watch(known);
    });
    for solution in solutions? {
        if solution.judged.verdict?.status == Status::Accepted {
            examples.add(&solution.finished, false);
        }
    }
    let mut proposers = game.proposers(&Proposing { context, pool, stage: Stage::SftPropose, step: 0 })?;
    stages.retain_some_with_room(None, &mut proposers)?;
    known.total += proposers.iter().map(|one| one.rollouts).sum::<usize>();
    watch(known);
    for proposal in stages.propose(StageCall::new(Stage::SftPropose, 0), &proposers, &mut pool.keys(), &[])? {
        proposal.judged.verdict.as_ref().map_err(Clone::clone)?;
        if proposal.admission.task().is_some() {
            examples.add(&proposal.finished, true);
        }
    }
    Ok(examples.turns)
}

/// The turns of episodes, numbered by episode where one has several.
#[derive(Default)]
struct SftExamples {
    turns: Vec<SftExample>,
    /// The number of the next episode of several turns.
    next: u32,
}

impl SftExamples {
    fn add<E>(&mut self, finished: &FinishedEpisode<E>, proposed: bool) {
        let rollouts = finished.turns.iter().map(|(_, rollout)| rollout).filter(|rollout| !rollout.tokens.is_empty());
        let turns: Vec<SftExample> = rollouts.map(SftExample::from).collect();
        let episode = (turns.len() > 1).then_some(self.next);
        self.next += u32::from(episode.is_some());
        self.turns.extend(turns.into_iter().map(|turn| SftExample { episode, proposed, ..turn }));
    }
}

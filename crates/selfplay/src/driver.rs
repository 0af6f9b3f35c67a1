//! The one driver of all games. A step: propose, verify, admit, choose tasks, solve, verify, reward, advantage, batch, record.
//!
//! # Invariants
//! No IO and no clock; one other thread, which judges while this one samples, and whose timing changes nothing. The same environment,
//! state, seed and step give the same result. A dropped episode is no part of a solve rate, a reward, a mean or a batch.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Execute, Role, Status, TrainBatch};

use crate::advantages::AdvantageMemory;
use crate::anchors::{Anchor, Imitation};
use crate::environment::{
    Draw, Environment, Proposed, Proposer, RoleSampling, Seeds, Solution, Stage, Standing, ToJudge,
};
use crate::eval_table::{EvalTable, JudgedEpisode};
use crate::metrics::{SolveCount, solve_counts};
use crate::overlap::overlap;
use crate::play::{Again, Arena, Counts, Example, Lesson, Play, PlayError, Played};
use crate::randomness::generator;
use crate::rewards::ProposalOutcome;
use crate::rollout::{Finished, PolicySampler, run_episodes};
use crate::scoring::{Scored, train_batch, weigh};
use crate::splits::Guard;
use crate::step::{Derived, ProposalEpisode, Record, SolverEpisode, StepFacts};
use crate::task_pool::{Askable, Asked, Chosen, PoolTask, Source, TaskChoice, TaskPool};

/// A game as the loop plays it.
pub struct SelfPlay<E>(pub E);

/// What is carried from step to step and saved with every checkpoint. It holds no floating point number but those the advantage
/// estimator keeps as bits, so JSON gives it back exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "T: PoolTask")]
pub struct GameState<T> {
    /// The tasks.
    pub pool: TaskPool<T>,
    /// The start model's own valid responses, which the policy is held to.
    pub sft_examples: Vec<Anchor>,
    /// What the advantage estimator remembers, where it does.
    #[serde(default, skip_serializing_if = "AdvantageMemory::is_empty")]
    pub memory: AdvantageMemory,
}

impl<E: Environment> Play for SelfPlay<E> {
    type State = GameState<E::Task>;
    type Record = Record<E>;
    type Metrics = E::Metrics;
    type Held = EvalTable;

    fn guard(&self) -> &Guard {
        self.0.guard()
    }

    fn begin(&self, arena: &Arena<'_>) -> Result<Self::State, PlayError> {
        let pool = self.0.initial_pool(arena)?;
        let sft_examples = self.sft_examples(arena, &pool)?;
        Ok(GameState { pool, sft_examples, memory: AdvantageMemory::default() })
    }

    fn step(
        &self,
        arena: &Arena<'_>,
        state: &mut Self::State,
        step: u64,
    ) -> Result<Played<E::Metrics, Self::Record>, PlayError> {
        let mut known = state.pool.keys();
        let proposals = self.propose(arena, &state.pool, Stage::Propose, step, &mut known)?;
        let mut derived = self.derive(arena, self.0.mutants(arena, step), &mut known);
        let (chosen, episodes) = self.choose_tasks(arena, &state.pool, &proposals, &derived, step);
        self.admit(state, step, proposals.iter().filter_map(|one| one.standing.task()));
        self.admit(state, step, derived.iter().filter_map(|one| one.judged.admitted()));
        let solutions = self.solve(arena, &chosen.tasks, episodes, Stage::Solve, step)?;
        let judged: Vec<_> =
            solutions.iter().map(|one| (&chosen.tasks[one.finished.source].task, &one.judged)).collect();
        let later = self.derive(arena, self.0.derive_from_solutions(arena, step, &judged), &mut known);
        self.admit(state, step, later.iter().filter_map(|one| one.judged.admitted()));
        derived.extend(later);
        let solved = self.remember(state, &chosen, &solutions);
        let scored = self.score(state, (arena.seed, step), &proposals, &chosen.tasks, &solved, &solutions);
        let batch = self.batch(state, (arena.seed, step), &scored, &proposals, &solutions);
        let facts = StepFacts {
            proposals: &proposals,
            derived: &derived,
            unaskable: chosen.unaskable.len(),
            undelivered: chosen.undelivered,
            tasks: &chosen.tasks,
            solutions: &solutions,
            solved: &solved,
            scored: &scored,
            pool: &state.pool,
        };
        let (propose, solve) =
            (self.0.seeds(Stage::Propose, arena.seed, step), self.0.seeds(Stage::Solve, arena.seed, step));
        Ok(Played {
            lessons: batch.map(Lesson::Samples).into_iter().collect(),
            metrics: self.0.metrics(&facts),
            counts: counts(&facts),
            records: facts.records(step, propose, solve),
        })
    }

    fn measure(&self, arena: &Arena<'_>) -> Result<EvalTable, PlayError> {
        let all = self.0.evaluation_tasks();
        let tasks: Vec<Asked<E::Task>> = all.iter().map(|one| asked_seed(&one.task)).collect();
        let rows: Vec<&str> = all.iter().map(|one| one.row.as_str()).collect();
        let judged = |stage| -> Result<Vec<JudgedEpisode>, PlayError> {
            let own: Vec<&E::Task> = all.iter().map(|one| &one.task).collect();
            let episodes = self.0.solver_episodes(arena.execute, self.0.seeds(stage, arena.seed, 0), &own);
            let unaskable = |index: usize| {
                let what = format!("evaluation task `{index}`, of row `{}`, cannot be asked", rows[index]);
                PlayError::Setup(format!("{what}: leave it out, or raise the budget of its prompt"))
            };
            let episodes = episodes.into_iter().enumerate().map(|(index, one)| one?.ok_or_else(|| unaskable(index)));
            let solutions = self.solve(arena, &tasks, episodes.collect::<Result<_, PlayError>>()?, stage, 0)?;
            Ok(solutions.into_iter().map(|one| (one.finished.source, one.judged.verdict)).collect())
        };
        let (sampled, greedy) = (judged(Stage::Evaluate)?, judged(Stage::EvaluateGreedy)?);
        EvalTable::new(&rows, sampled, greedy)
    }

    fn judge_again(&self, execute: &dyn Execute, records: &[Self::Record]) -> Result<Again, PlayError> {
        self.replay(execute, records)
    }

    fn examples(&self, execute: &dyn Execute) -> Result<Vec<Example>, PlayError> {
        let preview = self.0.preview(execute)?;
        Ok(preview.into_iter().map(|(what, prompt)| Example { what, prompt }).collect())
    }
}

impl<E: Environment> SelfPlay<E> {
    /// The turns of what the start model did right. A host fault is an error: every run from this model has the same examples, or none.
    fn sft_examples(&self, arena: &Arena<'_>, pool: &TaskPool<E::Task>) -> Result<Vec<Anchor>, PlayError> {
        let mut examples = Vec::new();
        let mut add = |finished: &Finished<E::Episode>| {
            let rollouts = finished.turns.iter().map(|(_, rollout)| rollout);
            examples.extend(rollouts.filter(|rollout| !rollout.tokens.is_empty()).map(Anchor::from));
        };
        let seeds = pool.entries().iter().filter(|entry| entry.seed).map(|entry| &entry.task);
        let own: Vec<&E::Task> = seeds.take(self.0.settings().sft_tasks).collect();
        let asked = self.0.solver_episodes(arena.execute, self.0.seeds(Stage::SftSolve, arena.seed, 0), &own);
        let (mut tasks, mut episodes) = (Vec::new(), Vec::new());
        for (task, episode) in own.into_iter().zip(asked) {
            if let Some(episode) = episode? {
                tasks.push(asked_seed(task));
                episodes.push(episode);
            }
        }
        for solution in self.solve(arena, &tasks, episodes, Stage::SftSolve, 0)? {
            if solution.judged.verdict?.status == Status::Accepted {
                add(&solution.finished);
            }
        }
        for proposal in self.propose(arena, pool, Stage::SftPropose, 0, &mut pool.keys())? {
            proposal.judged.verdict.as_ref().map_err(Clone::clone)?;
            if proposal.standing.task().is_some() {
                add(&proposal.finished);
            }
        }
        Ok(examples)
    }

    /// Judges what was derived.
    fn derive(
        &self,
        arena: &Arena<'_>,
        derivations: Vec<E::Derivation>,
        known: &mut BTreeSet<Digest>,
    ) -> Vec<Derived<E>> {
        let judged = self.0.judge_derived(arena.execute, &derivations, &mut |_, key| !known.insert(key.clone()));
        derivations.into_iter().zip(judged).map(|(derivation, judged)| Derived { derivation, judged }).collect()
    }

    /// Samples proposers and judges each chunk while the next is sampled.
    fn propose(
        &self,
        arena: &Arena<'_>,
        pool: &TaskPool<E::Task>,
        stage: Stage,
        step: u64,
        known: &mut BTreeSet<Digest>,
    ) -> Result<Vec<ProposalEpisode<E>>, PlayError> {
        let proposers = self.0.proposers(arena, pool, stage, step)?;
        let (seeds, execute) = (self.0.seeds(stage, arena.seed, step), arena.execute);
        let mut first = 0;
        let chunks = proposers.chunk_by(|one, other| (one.kind, one.rollouts) == (other.kind, other.rollouts));
        let chunks = chunks.enumerate().map(|(chunk, proposers)| {
            first += proposers.len();
            (chunk, first - proposers.len(), proposers)
        });
        let judged = overlap(
            chunks,
            |(chunk, first, proposers): (usize, usize, &[Proposer<E>])| {
                let episodes = proposers.iter().enumerate().map(|(place, one)| (first + place, one.episode.clone()));
                let draw = Draw { stage, group: proposers[0].rollouts, chunk, round: 0 };
                let finished = self.sample(arena, episodes.collect(), draw, step, seeds)?;
                Ok::<_, PlayError>((chunk, finished))
            },
            |(chunk, finished)| {
                let judge: Vec<ToJudge<'_, E>> = finished
                    .iter()
                    .enumerate()
                    .map(|(offset, one)| ToJudge {
                        request: &proposers[one.source].request,
                        finished: one,
                        proposed: Proposed { step, chunk, offset },
                        stage,
                    })
                    .collect();
                let judged = self.0.judge_proposals(execute, &judge, &mut |_, key| !known.insert(key.clone()));
                drop(judge);
                let standings = self.0.standings(&judged);
                let all = finished.into_iter().zip(judged).zip(standings).enumerate();
                all.map(|(offset, ((finished, judged), standing))| ProposalEpisode {
                    request: proposers[finished.source].request.clone(),
                    kind: proposers[finished.source].kind,
                    proposed: Proposed { step, chunk, offset },
                    finished,
                    judged,
                    standing,
                })
                .collect::<Vec<_>>()
            },
        )?;
        Ok(judged.into_iter().flatten().collect())
    }

    /// Samples episodes of one stage to their ends.
    fn sample(
        &self,
        arena: &Arena<'_>,
        first: Vec<(usize, E::Episode)>,
        draw: Draw,
        step: u64,
        seeds: Seeds,
    ) -> Result<Vec<Finished<E::Episode>>, PlayError> {
        let settings = self.0.settings();
        let RoleSampling { temperature, max_tokens } = match draw.stage {
            Stage::SftPropose | Stage::Propose => settings.proposer,
            Stage::SftSolve | Stage::Solve => settings.solver,
            Stage::Evaluate => RoleSampling { temperature: 1.0, ..settings.solver },
            Stage::EvaluateGreedy => RoleSampling { temperature: 0.0, ..settings.solver },
        };
        let seed = |round| self.0.sampling_seed(arena.seed, step, &Draw { round, ..draw });
        let mut sampler = PolicySampler { policy: arena.policy, temperature, max_tokens, seed: &seed };
        run_episodes(first, draw.group, &mut sampler, |all| self.0.advance(arena.execute, seeds.tools, all))
    }

    fn choose_tasks(
        &self,
        arena: &Arena<'_>,
        pool: &TaskPool<E::Task>,
        proposals: &[ProposalEpisode<E>],
        derived: &[Derived<E>],
        step: u64,
    ) -> (Chosen<E::Task>, Vec<E::Episode>) {
        let proposed =
            proposals.iter().enumerate().filter_map(|(index, one)| Some((Some(index), one.standing.task()?)));
        let derived = derived.iter().filter_map(|one| Some((None, one.judged.admitted()?)));
        let seeds = self.0.seeds(Stage::Solve, arena.seed, step);
        let mut episodes = Vec::new();
        let mut prepare = |tasks: &[&E::Task]| -> Askable {
            let opened = self.0.solver_episodes(arena.execute, seeds, tasks).into_iter();
            let mut keep = |episode: Option<E::Episode>| {
                let askable = episode.is_some();
                episodes.extend(episode);
                askable
            };
            opened.map(|episode| episode.map(&mut keep)).collect()
        };
        let weight = self.0.settings().learnable_weight;
        let generator = generator(arena.seed, step, E::CHOICE_PURPOSE);
        let mut choice = TaskChoice::new(pool, proposed.chain(derived).collect(), weight, generator, &mut prepare);
        self.0.choose_tasks(&mut choice);
        (choice.finish(), episodes)
    }

    /// Samples a group of solvers for each task and judges each chunk while the next is sampled.
    fn solve(
        &self,
        arena: &Arena<'_>,
        tasks: &[Asked<E::Task>],
        episodes: Vec<E::Episode>,
        stage: Stage,
        step: u64,
    ) -> Result<Vec<SolverEpisode<E>>, PlayError> {
        let (settings, seeds, execute) = (self.0.settings(), self.0.seeds(stage, arena.seed, step), arena.execute);
        let group = match stage {
            Stage::Evaluate => settings.eval_samples,
            Stage::EvaluateGreedy => 1,
            _ => settings.group,
        };
        let size = self.0.chunk(stage).min(tasks.len().max(1));
        let mut episodes = episodes.into_iter().enumerate();
        let judged = overlap(
            0..tasks.len().div_ceil(size),
            |chunk| {
                let first = episodes.by_ref().take(size).collect();
                self.sample(arena, first, Draw { stage, group, chunk, round: 0 }, step, seeds)
            },
            |finished| self.judge_solutions(execute, seeds.judge, finished, |source| &tasks[source].task),
        )?;
        Ok(judged.into_iter().flatten().collect())
    }

    pub(crate) fn judge_solutions<'a>(
        &self,
        execute: &dyn Execute,
        seed: u64,
        finished: Vec<Finished<E::Episode>>,
        task: impl Fn(usize) -> &'a E::Task,
    ) -> Vec<SolverEpisode<E>>
    where
        E::Task: 'a,
    {
        let pairs: Vec<_> = finished.iter().map(|one| (task(one.source), one)).collect();
        let judged = self.0.judge_solutions(execute, seed, &pairs);
        drop(pairs);
        finished.into_iter().zip(judged).map(|(finished, judged)| SolverEpisode { finished, judged }).collect()
    }

    /// Lets valid, new tasks into the pool.
    fn admit<'a>(&self, state: &mut GameState<E::Task>, step: u64, tasks: impl Iterator<Item = &'a E::Task>)
    where
        E::Task: 'a,
    {
        state.pool.admit(tasks.cloned(), step, self.0.settings().pool_capacity);
    }

    /// How often each task was solved, which the pool notes. It forgets what would be drawn in vain.
    fn remember(
        &self,
        state: &mut GameState<E::Task>,
        chosen: &Chosen<E::Task>,
        solutions: &[SolverEpisode<E>],
    ) -> Vec<SolveCount> {
        let status = |one: &SolverEpisode<E>| Some((one.finished.source, one.judged.verdict.as_ref().ok()?.status));
        let solved = solve_counts(chosen.tasks.len(), solutions.iter().filter_map(status));
        chosen.unaskable.iter().for_each(|id| state.pool.remove_proposal(id));
        let drop_unsolved = self.0.settings().drop_unsolved;
        for (asked, count) in chosen.tasks.iter().zip(&solved).filter(|(_, count)| count.judged > 0) {
            let id = asked.task.id();
            state.pool.note(&id, *count);
            if drop_unsolved && count.solved == 0 {
                state.pool.remove_proposal(&id);
            }
        }
        solved
    }

    /// Rewards, advantages and weights.
    fn score(
        &self,
        state: &mut GameState<E::Task>,
        now: (u64, u64),
        proposals: &[ProposalEpisode<E>],
        tasks: &[Asked<E::Task>],
        solved: &[SolveCount],
        solutions: &[SolverEpisode<E>],
    ) -> Vec<Scored> {
        let mut scored = self.rewarded(proposals, tasks, solved, solutions);
        weigh(&mut scored, &self.0.settings(), E::KINDS, &mut state.memory, now);
        scored
    }

    /// What the learner takes of the step.
    fn batch(
        &self,
        state: &GameState<E::Task>,
        now: (u64, u64),
        scored: &[Scored],
        proposals: &[ProposalEpisode<E>],
        solutions: &[SolverEpisode<E>],
    ) -> Option<TrainBatch> {
        let settings = self.0.settings();
        let sft =
            Imitation { anchors: &state.sft_examples, samples: settings.sft_samples, weight: settings.sft_weight };
        train_batch(scored, &settings, sft, now, |scored| match scored.role {
            Role::Proposer => proposals[scored.index].finished.turns.as_slice(),
            Role::Solver | Role::Verifier => solutions[scored.index].finished.turns.as_slice(),
        })
    }

    /// The episodes that get a reward, proposals first. Not among them are dropped ones.
    fn rewarded(
        &self,
        proposals: &[ProposalEpisode<E>],
        tasks: &[Asked<E::Task>],
        solved: &[SolveCount],
        solutions: &[SolverEpisode<E>],
    ) -> Vec<Scored> {
        let scheme = self.0.settings().reward;
        let rates = tasks.iter().zip(solved).filter_map(|(asked, count)| Some((asked.proposal?, count.rate()?)));
        let rates: BTreeMap<usize, f64> = rates.collect();
        let proposer = |(index, one): (usize, &ProposalEpisode<E>)| {
            let outcome = outcome(&one.standing, rates.get(&index).copied())?;
            let reward = scheme.proposer(outcome, self.0.is_well_formed(&one.finished))?;
            // All proposals of a kind answered the same question, "invent a task", whatever they were shown: they are one group.
            Some(Scored::new(Role::Proposer, index, one.kind, 0, reward))
        };
        let solver = |(index, one): (usize, &SolverEpisode<E>)| {
            let status = one.judged.verdict.as_ref().ok()?.status;
            let reward = scheme.solver(status, self.0.is_well_formed(&one.finished));
            let group = one.finished.source;
            Some(Scored::new(Role::Solver, index, tasks[group].task.kind(), group, reward))
        };
        let proposers = proposals.iter().enumerate().filter_map(proposer);
        proposers.chain(solutions.iter().enumerate().filter_map(solver)).collect()
    }
}

/// What a reward may know of a proposal; `None` where it was dropped.
fn outcome<T>(standing: &Standing<T>, rate: Option<f64>) -> Option<ProposalOutcome> {
    Some(match (standing, rate) {
        (Standing::Dropped, _) => return None,
        (Standing::Malformed, _) => ProposalOutcome::Malformed,
        (Standing::Invalid, _) => ProposalOutcome::Invalid,
        (Standing::Duplicate, _) => ProposalOutcome::Duplicate,
        (Standing::Valid(_), Some(rate)) => ProposalOutcome::Solved { rate },
        (Standing::Valid(_), None) => ProposalOutcome::Unrated,
    })
}

/// A task that was there before step 0, or is evaluated on.
fn asked_seed<T: Clone>(task: &T) -> Asked<T> {
    Asked { task: task.clone(), source: Source::Seed, proposal: None }
}

fn counts<E: Environment>(facts: &StepFacts<'_, E>) -> Counts {
    let mut counts = Counts::default();
    let judged = facts.proposals.iter().map(|one| &one.judged).chain(facts.derived.iter().map(|one| &one.judged));
    for judged in judged {
        match &judged.verdict {
            Ok(_) => {
                counts.proposals += 1;
                counts.valid_proposals += u64::from(judged.admitted().is_some());
                counts.proposals_in_held_out += u64::from(judged.is_held_out());
            }
            Err(_) => counts.dropped += 1,
        }
    }
    for one in facts.solutions {
        let judged: &Solution<_> = &one.judged;
        match &judged.verdict {
            Ok(verdict) => {
                counts.attempts += 1;
                counts.accepted += u64::from(verdict.status == Status::Accepted);
            }
            Err(_) => counts.dropped += 1,
        }
    }
    counts
}

//! The one driver of all games. A step: propose, verify, admit, choose tasks, solve, verify, reward, advantage, batch, record.
//!
//! # Invariants
//! No IO and no clock; one other thread, which judges while this one samples, and whose timing changes nothing. The same environment,
//! state, seed and step give the same result. A dropped episode is no part of a solve rate, a reward, a mean or a batch.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Execute, Role, Status, Verdict};

use crate::advantages::AdvantageMemory;
use crate::anchors::{Anchor, Imitation};
use crate::environment::{
    Draw, Environment, Judged, Proposed, Proposer, RoleSampling, Seeds, Solution, Stage, Standing, ToJudge,
};
use crate::eval_table::EvalTable;
use crate::metrics::{SolveCount, solve_counts};
use crate::overlap::overlap;
use crate::play::{Again, Arena, Counts, Example, Lesson, Play, PlayError, Played};
use crate::randomness::generator;
use crate::rewards::ProposalOutcome;
use crate::rollout::{Episode, Finished, LoggedSampler, PolicySampler, run_episodes};
use crate::scoring::{Scored, train_batch, weigh};
use crate::splits::Guard;
use crate::step::{
    AttemptRecord, LogRecord, ProposalEpisode, ProposalRecord, Record, SolverEpisode, StepFacts, TaskRecord,
};
use crate::task_pool::{Asked, PoolTask, TaskChoice, TaskPool};

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
        let mut sft_examples = Vec::new();
        for proposal in self.propose(arena, &pool, Stage::SftPropose, 0)? {
            // Every run from this start model has the same examples, or none.
            proposal.judged.verdict.as_ref().map_err(Clone::clone)?;
            if proposal.standing.task().is_some() {
                let rollouts = proposal.finished.turns.iter().map(|(_, rollout)| rollout);
                sft_examples.extend(rollouts.filter(|rollout| !rollout.tokens.is_empty()).map(Anchor::from));
            }
        }
        Ok(GameState { pool, sft_examples, memory: AdvantageMemory::default() })
    }

    fn step(
        &self,
        arena: &Arena<'_>,
        state: &mut Self::State,
        step: u64,
    ) -> Result<Played<E::Metrics, Self::Record>, PlayError> {
        let (settings, now) = (self.0.settings(), (arena.seed, step));
        let proposals = self.propose(arena, &state.pool, Stage::Propose, step)?;
        let tasks = self.choose_tasks(arena, &state.pool, &proposals, step);
        let admitted = proposals.iter().filter_map(|proposal| proposal.standing.task()).cloned();
        state.pool.admit(admitted, step, settings.pool_capacity);
        let solutions = self.solve(arena, &tasks, Stage::Solve, step)?;
        let statuses =
            solutions.iter().filter_map(|one| Some((one.finished.source, one.judged.verdict.as_ref().ok()?.status)));
        let solved = solve_counts(tasks.len(), statuses);
        for (asked, count) in tasks.iter().zip(&solved).filter(|(_, count)| count.judged > 0) {
            let id = asked.task.id();
            state.pool.note(&id, *count);
            if settings.drop_unsolved && count.solved == 0 {
                state.pool.remove_proposal(&id);
            }
        }
        let mut scored = self.rewarded(&proposals, &tasks, &solved, &solutions);
        weigh(&mut scored, &settings, E::KINDS, &mut state.memory, now);
        let sft =
            Imitation { anchors: &state.sft_examples, samples: settings.sft_samples, weight: settings.sft_weight };
        let batch = train_batch(&scored, &settings, sft, now, |scored| match scored.role {
            Role::Proposer => proposals[scored.index].finished.turns.as_slice(),
            Role::Solver | Role::Verifier => solutions[scored.index].finished.turns.as_slice(),
        });
        let facts = StepFacts {
            proposals: &proposals,
            tasks: &tasks,
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
        let asked =
            |task: &E::Task| Asked { task: task.clone(), source: crate::task_pool::Source::Seed, proposal: None };
        let tasks: Vec<Asked<E::Task>> = all.iter().map(|one| asked(&one.task)).collect();
        let rows: Vec<&str> = all.iter().map(|one| one.row.as_str()).collect();
        let judged = |stage| -> Result<Vec<(usize, Result<Verdict, Dropped>)>, PlayError> {
            let solutions = self.solve(arena, &tasks, stage, 0)?;
            Ok(solutions.into_iter().map(|one| (one.finished.source, one.judged.verdict)).collect())
        };
        let (sampled, greedy) = (judged(Stage::Evaluate)?, judged(Stage::EvaluateGreedy)?);
        EvalTable::new(&rows, sampled, greedy)
    }

    fn judge_again(&self, execute: &dyn Execute, records: &[Self::Record]) -> Result<Again, PlayError> {
        let mut report = Again::default();
        let mut proposals: Vec<&ProposalRecord<_, _, _>> = Vec::new();
        for record in records {
            match record {
                LogRecord::Proposal(record) if record.judged.verdict.is_err() => report.dropped += 1,
                LogRecord::Proposal(record) => proposals.push(record),
                LogRecord::Task(record) => self.replay_task(execute, record, &mut report)?,
            }
        }
        // Proposals of one step share their seeds.
        for of_step in proposals.chunk_by(|one, other| one.proposed.step == other.proposed.step) {
            self.replay_proposals(execute, of_step, &mut report)?;
        }
        Ok(report)
    }

    fn examples(&self, execute: &dyn Execute) -> Result<Vec<Example>, PlayError> {
        let preview = self.0.preview(execute)?;
        Ok(preview.into_iter().map(|(what, prompt)| Example { what, prompt }).collect())
    }
}

impl<E: Environment> SelfPlay<E> {
    /// Samples proposers and judges each chunk while the next is sampled.
    fn propose(
        &self,
        arena: &Arena<'_>,
        pool: &TaskPool<E::Task>,
        stage: Stage,
        step: u64,
    ) -> Result<Vec<ProposalEpisode<E>>, PlayError> {
        let proposers = self.0.proposers(arena, pool, stage, step)?;
        let (seeds, execute) = (self.0.seeds(stage, arena.seed, step), arena.execute);
        let mut known = pool.keys();
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
            Stage::Solve => settings.solver,
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
        step: u64,
    ) -> Vec<Asked<E::Task>> {
        let valid = proposals.iter().enumerate();
        let mut choice = TaskChoice {
            pool,
            fresh: valid.filter_map(|(index, one)| Some((index, one.standing.task()?))).collect(),
            learnable_weight: self.0.settings().learnable_weight,
            generator: generator(arena.seed, step, E::CHOICE_PURPOSE),
            asked: Vec::new(),
        };
        self.0.choose_tasks(&mut choice);
        choice.asked
    }

    /// Samples a group of solvers for each task and judges each chunk while the next is sampled.
    fn solve(
        &self,
        arena: &Arena<'_>,
        tasks: &[Asked<E::Task>],
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
        let judged = overlap(
            tasks.chunks(size).enumerate(),
            |(chunk, asked)| {
                let own: Vec<&E::Task> = asked.iter().map(|asked| &asked.task).collect();
                let episodes = self.0.solver_episodes(execute, &own).into_iter().enumerate();
                let first = episodes.map(|(place, episode)| {
                    let place = chunk * size + place;
                    let unaskable = || PlayError::Setup(format!("task `{place}` of step `{step}` cannot be asked"));
                    Ok((place, episode?.ok_or_else(unaskable)?))
                });
                let first = first.collect::<Result<Vec<_>, PlayError>>()?;
                self.sample(arena, first, Draw { stage, group, chunk, round: 0 }, step, seeds)
            },
            |finished| self.judge_solutions(execute, seeds.judge, finished, |source| &tasks[source].task),
        )?;
        Ok(judged.into_iter().flatten().collect())
    }

    fn judge_solutions<'a>(
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

    fn replay_proposals(
        &self,
        execute: &dyn Execute,
        records: &[&ProposalRecord<E::Request, E::Task, E::ProposalDetail>],
        report: &mut Again,
    ) -> Result<(), PlayError> {
        let (mut first, mut kept) = (Vec::new(), Vec::new());
        for record in records {
            match self.0.proposer_episode(execute, &record.request)? {
                Some(episode) => {
                    first.push((kept.len(), episode));
                    kept.push(*record);
                }
                // The log does not fit the configuration: the verdict cannot come out the same.
                None => report.verdicts += 1,
            }
        }
        let Some(seeds) = kept.first().map(|record| record.seeds) else { return Ok(()) };
        let mut sampler = LoggedSampler(kept.iter().map(|record| record.episode.turns.as_slice()).collect());
        let finished = run_episodes(first, 1, &mut sampler, |all| self.0.advance(execute, seeds.tools, all))?;
        let judge: Vec<ToJudge<'_, E>> = finished
            .iter()
            .zip(&kept)
            .map(|(finished, record)| ToJudge {
                request: &record.request,
                finished,
                proposed: record.proposed,
                stage: Stage::Propose,
            })
            .collect();
        let judged = self.0.judge_proposals(execute, &judge, &mut |place, _| kept[place].judged.known);
        for (record, now) in kept.iter().zip(judged) {
            let verdict = now.verdict.as_ref().map_err(not_replayed)?;
            let same = now == record.judged;
            report.count(same, met_deadline(Some(verdict)) || met_deadline(record.judged.verdict.as_ref().ok()));
        }
        Ok(())
    }

    fn replay_task(
        &self,
        execute: &dyn Execute,
        record: &TaskRecord<E::Task, E::SolutionDetail>,
        report: &mut Again,
    ) -> Result<(), PlayError> {
        let judged = |attempt: &&AttemptRecord<E::SolutionDetail>| attempt.judged.verdict.is_ok();
        let kept: Vec<&AttemptRecord<E::SolutionDetail>> = record.attempts.iter().filter(judged).collect();
        report.dropped += (record.attempts.len() - kept.len()) as u64;
        if kept.is_empty() {
            return Ok(());
        }
        let Some(episode) = self.0.solver_episodes(execute, &[&record.task]).remove(0)? else {
            // The log does not fit the configuration.
            report.verdicts += kept.len() as u64;
            return Ok(());
        };
        let mut sampler = LoggedSampler(kept.iter().map(|attempt| attempt.episode.turns.as_slice()).collect());
        let advance = |all: &mut [Finished<E::Episode>]| self.0.advance(execute, record.seeds.tools, all);
        let finished = run_episodes(vec![(0, episode)], kept.len(), &mut sampler, advance)?;
        let now = self.judge_solutions(execute, record.seeds.judge, finished, |_| &record.task);
        for (attempt, now) in kept.iter().zip(now) {
            let verdict = now.judged.verdict.as_ref().map_err(not_replayed)?;
            let same = now.judged == attempt.judged && now.finished.episode.end() == attempt.episode.end.as_deref();
            report.count(same, met_deadline(Some(verdict)) || met_deadline(attempt.judged.verdict.as_ref().ok()));
        }
        Ok(())
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

fn met_deadline(verdict: Option<&Verdict>) -> bool {
    verdict.is_some_and(|verdict| verdict.evidence.met_deadline)
}

fn not_replayed(dropped: &Dropped) -> PlayError {
    let why =
        format!("a verdict could not be made again: {}; run `veriplay replay` again, nothing was changed", dropped.why);
    PlayError::Host(Dropped { why })
}

fn counts<E: Environment>(facts: &StepFacts<'_, E>) -> Counts {
    let mut counts = Counts::default();
    for one in facts.proposals {
        let judged: &Judged<E> = &one.judged;
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

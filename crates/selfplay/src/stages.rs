//! Samples the episodes of one stage and judges each chunk of them while the next is sampled: what steps, their preparation and evaluations
//! have in common.

use std::collections::BTreeSet;

use veriplay_core::{Digest, Execute, Role, Sampling};

use crate::admission::Admission;
use crate::environment::{
    Environment, JudgedProposalOf, JudgedRound, ProposalBatch, ProposalEpisode, ProposalToJudge, Proposer,
    RoleSampling, RoundRequest, SamplingCall, SolverEpisode, Stage, VerifierEpisode, VerifyOutput,
};
use crate::judgement::{JudgedResponse, ProposalPosition, Seeds};
use crate::pipeline::run_pipelined;
use crate::play::{PlayError, StepContext};
use crate::randomness::derive_seed;
use crate::rollout::{Episode, FinishedEpisode, Part, PolicySampler, run_episodes};
use crate::settings::SharedSettings;
use crate::task_pool::StepTask;

/// The stages of a game, with the policy that is sampled in them.
pub(crate) struct Stages<'a, E> {
    pub(crate) game: &'a E,
    pub(crate) context: StepContext<'a>,
}

/// A stage, and when it is played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StageCall {
    pub(crate) stage: Stage,
    pub(crate) step: u64,
    /// The role that is sampled, where it is not the part's own.
    pub(crate) role: Option<Role>,
    /// Number of its first chunk: a stage that a step plays again goes on counting, so that nothing is sampled with the same seed twice.
    pub(crate) first_chunk: usize,
    /// Which of several players of one stage it is.
    pub(crate) player: usize,
    /// The temperature that it is sampled at, where it is not that of the settings.
    pub(crate) temperature: Option<f64>,
}

impl StageCall {
    pub(crate) const fn new(stage: Stage, step: u64) -> Self {
        Self { stage, step, role: None, first_chunk: 0, player: 0, temperature: None }
    }
}

/// A verifier to sample: who plays it, by its number, the response that it is about, and its episode.
pub(crate) struct Verifier<E: Environment> {
    player: usize,
    task: usize,
    candidate: usize,
    episode: E::Episode,
}

/// A task with its solvers' episodes.
pub(crate) type SolvedTask<'a, E> = (&'a <E as Environment>::Task, &'a [SolverEpisode<E>]);

/// A judged round, with its verifiers' episodes.
type VerifiedRound<E> = (JudgedRound<E>, Vec<FinishedEpisode<<E as Environment>::Episode>>);

impl<E: Environment> Stages<'_, E> {
    /// Leaves out the proposers whose prompts the policy has no room for, and returns their number.
    pub(crate) fn retain_with_room(&self, role: Option<Role>, proposers: &mut Vec<Proposer<E>>) -> usize {
        let all = proposers.len();
        proposers.retain(|one| self.has_room(Part::Proposal, role, &one.episode));
        all - proposers.len()
    }

    /// As [`Stages::retain_with_room`], of the proposers that a game makes.
    ///
    /// # Errors
    /// The policy has room for none: then it is the settings that ask too much, and not the references that a prompt happens to show.
    pub(crate) fn retain_some_with_room(
        &self,
        role: Option<Role>,
        proposers: &mut Vec<Proposer<E>>,
    ) -> Result<usize, PlayError> {
        let without_room = self.retain_with_room(role, proposers);
        if without_room > 0 && proposers.is_empty() {
            let what = format!(
                "no prompt of a proposer fits into the model's context, or into `learn.options.max_length` where that is less, with \
                 `game.proposer_max_tokens` = {} tokens behind it: lower that, show fewer examples or references, or raise \
                 `learn.options.max_length`",
                self.game.settings().proposer_max_tokens
            );
            return Err(PlayError::Setup(what));
        }
        Ok(without_room)
    }

    /// Whether the policy has room for the first prompt of an episode and its response.
    pub(crate) fn has_room(&self, part: Part, role: Option<Role>, episode: &E::Episode) -> bool {
        let max_tokens = self.sampling(part, role).max_tokens;
        episode.prompt().is_none_or(|prompt| self.context.policy.has_room(&prompt, max_tokens))
    }

    /// How a part is sampled, as the settings say of its role.
    fn sampling(&self, part: Part, role: Option<Role>) -> RoleSampling {
        let settings = self.game.settings();
        let RoleSampling { temperature, max_tokens } = match (part, self.game.verifier()) {
            (Part::Proposal | Part::Deferred, _) => {
                RoleSampling { temperature: settings.proposer_temperature, max_tokens: settings.proposer_max_tokens }
            }
            (Part::Verification, Some(verifier)) => verifier.sampling,
            (Part::Solution | Part::Verification, _) => {
                RoleSampling { temperature: settings.solver_temperature, max_tokens: settings.solver_max_tokens }
            }
        };
        let own = role.and_then(|role| settings.roles.get(role.name()));
        RoleSampling {
            temperature: own.and_then(|own| own.temperature).unwrap_or(temperature),
            max_tokens: own.and_then(|own| own.max_tokens).unwrap_or(max_tokens),
        }
    }

    fn judge(&self, call: StageCall) -> StageJudge<'_, E> {
        StageJudge { game: self.game, execute: self.context.execute, call, seed: self.seeds(call).judge }
    }

    fn seeds(&self, call: StageCall) -> Seeds {
        self.game.seeds(call.stage, self.context.seed, call.step)
    }

    /// Samples proposers. `known` has the keys of what was proposed before, and gets those of what is; `earlier` are the step's earlier proposals.
    #[tracing::instrument(level = "debug", skip_all, fields(stage = ?call.stage, step = call.step))]
    pub(crate) fn propose(
        &self,
        call: StageCall,
        proposers: &[Proposer<E>],
        known: &mut BTreeSet<Digest>,
        earlier: &[ProposalEpisode<E>],
    ) -> Result<Vec<ProposalEpisode<E>>, PlayError> {
        let (judge, mut first) = (self.judge(call), 0);
        let chunks = proposers.chunk_by(|one, other| (one.kind, one.rollouts) == (other.kind, other.rollouts));
        let judged = run_pipelined(
            chunks.zip(call.first_chunk..),
            |(proposers, chunk)| {
                let episodes = (first..).zip(proposers.iter().map(|one| one.episode.clone()));
                first += proposers.len();
                let (part, group) = (Part::Proposal, proposers[0].rollouts);
                let draw = SamplingCall { stage: call.stage, part, group, chunk, round: 0 };
                Ok::<_, PlayError>((chunk, self.sample(call, draw, episodes.collect(), &mut |_| {})?))
            },
            |(chunk, finished)| judge.judge_proposals(chunk, proposers, finished, known),
        )?;
        let mut proposals: Vec<ProposalEpisode<E>> = judged.into_iter().flatten().collect();
        // Over all proposals of the step: a copy of one that was refused is refused too, wherever the original stands.
        let all: Vec<&JudgedProposalOf<E>> = earlier.iter().chain(&proposals).map(|one| &one.judged).collect();
        let admissions = self.game.admissions(&all).split_off(earlier.len());
        proposals.iter_mut().zip(admissions).for_each(|(one, admission)| one.admission = admission);
        Ok(proposals)
    }

    /// Samples episodes of one stage to their ends. `ended` is told how many more have ended, as they do.
    #[tracing::instrument(level = "debug", skip_all, fields(stage = ?call.stage, step = call.step))]
    pub(crate) fn sample(
        &self,
        call: StageCall,
        draw: SamplingCall,
        first: Vec<(usize, E::Episode)>,
        ended: &mut dyn FnMut(usize),
    ) -> Result<Vec<FinishedEpisode<E::Episode>>, PlayError> {
        let (settings, tools) = (self.game.settings(), self.seeds(call).tools);
        let RoleSampling { temperature, max_tokens } = self.sampling(draw.part, call.role);
        let all = Sampling { stop: settings.stop.clone(), ..Sampling::new(max_tokens) };
        let sampling = match draw.stage {
            Stage::Evaluate => all,
            Stage::EvaluateGreedy => Sampling { temperature: 0.0, ..all },
            _ => {
                let SharedSettings { top_k, top_p, min_p, .. } = *settings;
                let temperature = call.temperature.map_or(temperature, |chosen| chosen as f32);
                Sampling { temperature, top_k, top_p, min_p, ..all }
            }
        };
        let seed = |round| self.sampling_seed(call, SamplingCall { round, ..draw });
        let mut sampler = PolicySampler { policy: self.context.policy, sampling, seed: &seed };
        let mut over = 0;
        let all = run_episodes(first, draw.group, &mut sampler, |all| {
            self.game.advance(self.context.execute, tools, all);
            let now = all.iter().filter(|one| one.is_over()).count();
            ended(now.saturating_sub(over));
            over = now;
        })?;
        ended(all.len() - over);
        Ok(all)
    }

    fn sampling_seed(&self, call: StageCall, draw: SamplingCall) -> u64 {
        let seed = self.game.sampling_seed(self.context.seed, call.step, &draw);
        // Not every game's seed depends on the chunk: a stage that is played again has seeds of its own in any case.
        match (call.first_chunk, call.player) {
            (0, 0) => seed,
            (again, player) => derive_seed(seed, again as u64, &format!("played again/player {player}")),
        }
    }

    /// How many chunks `tasks` tasks of a stage are solved in.
    pub(crate) fn chunks(&self, stage: Stage, tasks: usize) -> usize {
        tasks.div_ceil(self.game.chunk(stage).min(tasks.max(1)))
    }

    /// Samples a group of solvers for each task, as large as the settings say where `group` does not. `ended` as for [`Stages::sample`].
    #[tracing::instrument(level = "debug", skip_all, fields(stage = ?call.stage, step = call.step))]
    pub(crate) fn solve(
        &self,
        call: StageCall,
        group: Option<usize>,
        tasks: &[StepTask<E::Task>],
        episodes: Vec<E::Episode>,
        ended: &mut dyn FnMut(usize),
    ) -> Result<Vec<SolverEpisode<E>>, PlayError> {
        let settings = self.game.settings();
        let (stage, StageJudge { game, execute, seed, .. }) = (call.stage, self.judge(call));
        let group = match stage {
            Stage::Evaluate => settings.eval_samples,
            Stage::EvaluateGreedy => 1,
            _ => group.unwrap_or(settings.group_size),
        };
        let size = self.game.chunk(stage).min(tasks.len().max(1));
        let mut episodes = episodes.into_iter().enumerate();
        let judged = run_pipelined(
            0..self.chunks(stage, tasks.len()),
            |chunk| {
                let first = episodes.by_ref().take(size).collect();
                let chunk = call.first_chunk + chunk;
                let draw = SamplingCall { stage, part: Part::Solution, group, chunk, round: 0 };
                self.sample(call, draw, first, ended)
            },
            |finished| judge_solutions(game, execute, seed, finished, |source| &tasks[source].task),
        )?;
        let mut solutions: Vec<SolverEpisode<E>> = judged.into_iter().flatten().collect();
        solutions.iter_mut().for_each(|one| one.role = call.role.unwrap_or(one.role));
        Ok(solutions)
    }

    /// The verifiers of chosen responses that player `number` plays. Those whose prompts the policy has no room for are left out.
    fn verifiers(
        &self,
        number: usize,
        role: Role,
        chosen: &[Vec<usize>],
        solved: &[SolvedTask<'_, E>],
    ) -> Vec<Verifier<E>> {
        let mut verifiers = Vec::new();
        for (task, ((asked, solutions), chosen)) in solved.iter().zip(chosen).enumerate() {
            verifiers.extend(chosen.iter().filter_map(|&candidate| {
                let episode = self.game.verifier_episode(asked, &solutions.get(candidate)?.finished)?;
                let has_room = self.has_room(Part::Verification, Some(role), &episode);
                has_room.then_some(Verifier { player: number, task, candidate, episode })
            }));
        }
        verifiers
    }
}

/// A player of verifiers: its policy, its role and what it verifies: places among each task's responses, each as often as it is verified.
pub(crate) struct VerifierPlayer<'a, E: Environment> {
    pub(crate) stages: Stages<'a, E>,
    pub(crate) role: Role,
    pub(crate) policy: Option<String>,
    pub(crate) chosen: Vec<Vec<usize>>,
}

/// Samples the verifiers of each player and judges the rounds. Every task has solvers' episodes, side by side. Gives every response the judgement
/// of its round.
#[tracing::instrument(level = "debug", skip_all, fields(stage = ?call.stage, step = call.step))]
pub(crate) fn verify<E: Environment>(
    call: StageCall,
    players: &[VerifierPlayer<'_, E>],
    tasks: &[StepTask<E::Task>],
    solutions: &mut [SolverEpisode<E>],
) -> Result<VerifyOutput<E>, PlayError> {
    let Some(first) = players.first() else {
        return Ok(VerifyOutput { prompts: 0, verifications: Vec::new(), rounds: Vec::new() });
    };
    let solved = solved_tasks(tasks, solutions);
    let mut verifiers = Vec::new();
    for (number, one) in players.iter().enumerate() {
        verifiers.extend(one.stages.verifiers(number, one.role, &one.chosen, &solved));
    }
    let Stages { game, .. } = first.stages;
    let (judge, size) = (first.stages.judge(call), game.chunk(call.stage).min(solved.len().max(1)));
    let group = game.verifier().map_or(0, |settings| settings.group);
    let judged: Vec<Vec<VerifiedRound<E>>> = run_pipelined(
        solved.chunks(size).enumerate(),
        |(chunk, tasks)| {
            let (first, mut finished) = (chunk * size, Vec::new());
            for (number, player) in players.iter().enumerate() {
                let of_chunk = |one: &Verifier<E>| one.player == number && (first..first + size).contains(&one.task);
                let own = verifiers.iter().enumerate().filter(|(_, one)| of_chunk(one));
                let episodes = own.map(|(source, one)| (source, one.episode.clone())).collect();
                let call = StageCall { role: Some(player.role), player: number, ..call };
                let (part, chunk) = (Part::Verification, call.first_chunk + chunk);
                let draw = SamplingCall { stage: call.stage, part, group, chunk, round: 0 };
                finished.extend(player.stages.sample(call, draw, episodes, &mut |_| {})?);
            }
            Ok::<_, PlayError>((first, tasks, finished))
        },
        |(first, tasks, finished)| judge.judge_rounds(first, tasks, &verifiers, finished),
    )?;
    Ok(apply_rounds(judged.into_iter().flatten(), players, &verifiers, solutions))
}

/// What judges episodes on another thread; a policy stays on its own.
struct StageJudge<'a, E> {
    game: &'a E,
    execute: &'a dyn Execute,
    call: StageCall,
    seed: u64,
}

impl<E: Environment> StageJudge<'_, E> {
    #[tracing::instrument(level = "debug", skip_all, fields(episodes = finished.len()))]
    fn judge_proposals(
        &self,
        chunk: usize,
        proposers: &[Proposer<E>],
        finished: Vec<FinishedEpisode<E::Episode>>,
        known: &mut BTreeSet<Digest>,
    ) -> Vec<ProposalEpisode<E>> {
        let StageCall { stage, step, .. } = self.call;
        let to_judge = finished.iter().enumerate().map(|(offset, one)| ProposalToJudge {
            request: &proposers[one.source].request,
            finished: one,
            proposed: ProposalPosition { step, chunk, offset },
            stage,
        });
        let to_judge: Vec<ProposalToJudge<'_, E>> = to_judge.collect();
        let is_known = &mut |_: usize, key: &Digest| !known.insert(key.clone());
        let judged = self.game.judge_proposals(self.execute, ProposalBatch { proposals: &to_judge, is_known });
        drop(to_judge);
        let all = finished.into_iter().zip(judged).enumerate();
        let role = self.call.role.unwrap_or(Role::PROPOSER);
        all.map(|(offset, (finished, judged))| ProposalEpisode {
            role,
            policy: None,
            request: proposers[finished.source].request.clone(),
            kind: proposers[finished.source].kind,
            proposed: ProposalPosition { step, chunk, offset },
            finished,
            admission: Admission::from_judgement(&judged),
            judged,
        })
        .collect()
    }

    /// Judges the rounds of neighbouring tasks, of which `first` is the number of the first.
    #[tracing::instrument(level = "debug", skip_all, fields(tasks = tasks.len()))]
    fn judge_rounds(
        &self,
        first: usize,
        tasks: &[SolvedTask<'_, E>],
        verifiers: &[Verifier<E>],
        finished: Vec<FinishedEpisode<E::Episode>>,
    ) -> Vec<VerifiedRound<E>> {
        let mut of_tasks: Vec<Vec<FinishedEpisode<E::Episode>>> = tasks.iter().map(|_| Vec::new()).collect();
        finished.into_iter().for_each(|one| of_tasks[verifiers[one.source].task - first].push(one));
        let rounds = tasks.iter().zip(&of_tasks).map(|((task, solutions), finished)| RoundRequest {
            task: *task,
            solutions,
            verifications: finished.iter().map(|one| (verifiers[one.source].candidate, one)).collect(),
        });
        let requests: Vec<RoundRequest<'_, E>> = rounds.collect();
        let judged = self.game.judge_rounds(self.execute, self.seed, &requests);
        drop(requests);
        judged.into_iter().zip(of_tasks).collect()
    }
}

/// Each task with its solvers' episodes, which stand side by side.
pub(crate) fn solved_tasks<'a, E: Environment>(
    tasks: &'a [StepTask<E::Task>],
    solutions: &'a [SolverEpisode<E>],
) -> Vec<SolvedTask<'a, E>> {
    let of_tasks = solutions.chunk_by(|one, other| one.finished.source == other.finished.source);
    tasks.iter().map(|asked| &asked.task).zip(of_tasks).collect()
}

/// Judges solvers' episodes apart from verifiers; `task` gives the task of a source.
#[tracing::instrument(level = "debug", skip_all, fields(episodes = finished.len()))]
pub(crate) fn judge_solutions<'a, E: Environment>(
    game: &E,
    execute: &dyn Execute,
    seed: u64,
    finished: Vec<FinishedEpisode<E::Episode>>,
    task: impl Fn(usize) -> &'a E::Task,
) -> Vec<SolverEpisode<E>>
where
    E::Task: 'a,
{
    let pairs: Vec<_> = finished.iter().map(|one| (task(one.source), one)).collect();
    let judged = game.judge_solutions(execute, seed, &pairs);
    drop(pairs);
    finished
        .into_iter()
        .zip(judged)
        .map(|(finished, judged)| SolverEpisode { role: Role::SOLVER, policy: None, finished, judged })
        .collect()
}

/// Gives every response the judgement of its round.
fn apply_rounds<E: Environment>(
    judged: impl Iterator<Item = VerifiedRound<E>>,
    players: &[VerifierPlayer<'_, E>],
    verifiers: &[Verifier<E>],
    solutions: &mut [SolverEpisode<E>],
) -> VerifyOutput<E> {
    let (mut verifications, mut rounds) = (Vec::new(), Vec::new());
    let mut of_solvers: Vec<JudgedResponse<E::SolutionDetail>> = Vec::with_capacity(solutions.len());
    for (round, finished) in judged {
        of_solvers.extend(round.solutions);
        rounds.push(round.round);
        verifications.extend(finished.into_iter().zip(round.verifications).map(|(finished, judged)| {
            let Verifier { player, task, candidate, .. } = verifiers[finished.source];
            let VerifierPlayer { role, policy, .. } = &players[player];
            VerifierEpisode { role: *role, policy: policy.clone(), task, candidate, finished, judged }
        }));
    }
    solutions.iter_mut().zip(of_solvers).for_each(|(one, judged)| one.judged = judged);
    VerifyOutput { prompts: verifiers.len(), verifications, rounds }
}

//! The verify stage of a step: verifiers of chosen responses are sampled, and the responses of both roles are judged together, task by
//! task. Games without verifiers have no such stage.

use veriplay_core::{Execute, Role};

use crate::driver::SelfPlay;
use crate::environment::{
    Environment, JudgedRound, RoundRequest, SamplingCall, SolverEpisode, Stage, VerifierEpisode, VerifyOutput,
};
use crate::judgement::JudgedResponse;
use crate::pipeline::run_pipelined;
use crate::play::{PlayError, StepContext};
use crate::rollout::FinishedEpisode;
use crate::task_pool::StepTask;

/// A task with its solvers' episodes.
type Solved<'a, E> = (&'a <E as Environment>::Task, &'a [SolverEpisode<E>]);

/// A verifier to sample.
struct Verifier<E: Environment> {
    task: usize,
    candidate: usize,
    episode: E::Episode,
}

/// A judged round, with its verifiers' episodes.
type VerifiedRound<E> = (JudgedRound<E>, Vec<FinishedEpisode<<E as Environment>::Episode>>);

impl<E: Environment> SelfPlay<E> {
    /// Samples verifiers and judges the rounds of each chunk of tasks while the next is sampled. Every task has solvers' episodes, side
    /// by side.
    pub(crate) fn verify(
        &self,
        context: &StepContext<'_>,
        tasks: &[StepTask<E::Task>],
        solutions: &mut [SolverEpisode<E>],
        step: u64,
    ) -> Result<VerifyOutput<E>, PlayError> {
        let Some(settings) = self.game.verifier() else {
            return Ok(VerifyOutput { verifications: Vec::new(), rounds: Vec::new() });
        };
        let of_tasks = solutions.chunk_by(|one, other| one.finished.source == other.finished.source);
        let solved: Vec<Solved<'_, E>> = tasks.iter().map(|asked| &asked.task).zip(of_tasks).collect();
        let verifiers = self.choose_verifiers(context, step, &solved);
        let (seeds, size) = (self.game.seeds(Stage::Solve, context.seed, step), self.game.chunk(Stage::Solve));
        let size = size.min(solved.len().max(1));
        let judged: Vec<Vec<VerifiedRound<E>>> = run_pipelined(
            solved.chunks(size).enumerate(),
            |(chunk, solved): (usize, &[Solved<'_, E>])| {
                let first = chunk * size;
                let own = verifiers.iter().enumerate().filter(|(_, one)| (first..first + size).contains(&one.task));
                let episodes = own.map(|(source, one)| (source, one.episode.clone())).collect();
                let draw =
                    SamplingCall { stage: Stage::Solve, role: Role::Verifier, group: settings.group, chunk, round: 0 };
                Ok::<_, PlayError>((first, solved, self.sample(context, episodes, (draw, step), seeds, &mut |_| {})?))
            },
            |(first, solved, finished)| {
                self.judge_chunk(context.execute, seeds.judge, (first, solved), &verifiers, finished)
            },
        )?;
        Ok(apply_rounds(judged.into_iter().flatten(), &verifiers, solutions))
    }

    fn choose_verifiers(&self, context: &StepContext<'_>, step: u64, solved: &[Solved<'_, E>]) -> Vec<Verifier<E>> {
        let chosen = self.game.choose_to_verify(context, step, solved);
        let mut verifiers = Vec::new();
        for (task, ((asked, solutions), chosen)) in solved.iter().zip(chosen).enumerate() {
            verifiers.extend(chosen.into_iter().filter_map(|candidate| {
                let episode = self.game.verifier_episode(asked, &solutions.get(candidate)?.finished)?;
                if !self.has_room(context, Role::Verifier, &episode) {
                    return None;
                }
                Some(Verifier { task, candidate, episode })
            }));
        }
        verifiers
    }

    /// Judges the rounds of neighbouring tasks, of which `first` is the first.
    fn judge_chunk(
        &self,
        execute: &dyn Execute,
        seed: u64,
        (first, solved): (usize, &[Solved<'_, E>]),
        verifiers: &[Verifier<E>],
        finished: Vec<FinishedEpisode<E::Episode>>,
    ) -> Vec<VerifiedRound<E>> {
        let mut of_tasks: Vec<Vec<FinishedEpisode<E::Episode>>> = solved.iter().map(|_| Vec::new()).collect();
        finished.into_iter().for_each(|one| of_tasks[verifiers[one.source].task - first].push(one));
        let rounds = solved.iter().zip(&of_tasks).map(|((task, solutions), finished)| RoundRequest {
            task: *task,
            solutions,
            verifications: finished.iter().map(|one| (verifiers[one.source].candidate, one)).collect(),
        });
        let requests: Vec<RoundRequest<'_, E>> = rounds.collect();
        let judged = self.game.judge_rounds(execute, seed, &requests);
        drop(requests);
        judged.into_iter().zip(of_tasks).collect()
    }
}

/// Gives every response the judgement of its round.
fn apply_rounds<E: Environment>(
    judged: impl Iterator<Item = VerifiedRound<E>>,
    verifiers: &[Verifier<E>],
    solutions: &mut [SolverEpisode<E>],
) -> VerifyOutput<E> {
    let (mut verifications, mut rounds) = (Vec::new(), Vec::new());
    let mut of_solvers: Vec<JudgedResponse<E::SolutionDetail>> = Vec::with_capacity(solutions.len());
    for (round, finished) in judged {
        of_solvers.extend(round.solutions);
        rounds.push(round.round);
        verifications.extend(finished.into_iter().zip(round.verifications).map(|(finished, judged)| {
            let Verifier { task, candidate, .. } = verifiers[finished.source];
            VerifierEpisode { task, candidate, finished, judged }
        }));
    }
    solutions.iter_mut().zip(of_solvers).for_each(|(one, judged)| one.judged = judged);
    VerifyOutput { verifications, rounds }
}

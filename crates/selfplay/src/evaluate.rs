//! Evaluates the policy on tasks that it is not trained on. Verifiers, where the game has them, work on the greedy response to each task.

use std::collections::BTreeSet;

use veriplay_core::Digest;

use crate::driver::SelfPlay;
use crate::environment::{Environment, JudgedRound, RoundRequest, SamplingCall, SolverEpisode, Stage};
use crate::eval_table::{EpisodeVerdict, EvalTable};
use crate::play::{PlayError, StepContext};
use crate::rollout::Part;
use crate::stages::StageCall;
use crate::task_pool::StepTask;

impl<E: Environment> SelfPlay<E> {
    /// Evaluates the policy with samples seeded by `context.seed`. The loop gives the same seed before and after every run, so that the two
    /// differ only in the weights.
    ///
    /// # Errors
    /// A fault of the policy, or of the host: a number with holes is no number.
    pub fn evaluate(&self, context: &StepContext<'_>) -> Result<EvalTable, PlayError> {
        self.evaluate_watched(context, &mut |_| {})
    }

    /// The episodes of an evaluation.
    pub fn evaluation_episodes(&self) -> usize {
        let roles = 1 + usize::from(self.game.verifier().is_some());
        self.game.evaluation_tasks().len() * (self.game.settings().eval_samples + 1) * roles
    }

    /// As [`SelfPlay::evaluate`]. `ended` is told how many more of [`SelfPlay::evaluation_episodes`] have ended, as they do.
    pub fn evaluate_watched(
        &self,
        context: &StepContext<'_>,
        ended: &mut dyn FnMut(usize),
    ) -> Result<EvalTable, PlayError> {
        let mut rows: Vec<&str> = self.game.evaluation_tasks().iter().map(|one| one.row.as_str()).collect();
        let sampled = self.solve_evaluation(context, Stage::Evaluate, ended)?;
        let greedy = self.solve_evaluation(context, Stage::EvaluateGreedy, ended)?;
        let Some(verifier) = self.game.verifier() else {
            let [sampled, greedy] = [sampled, greedy].map(|episodes| episodes.iter().map(verdict).collect::<Vec<_>>());
            let tasks = self.game.evaluation_tasks().iter();
            let names: BTreeSet<&str> = tasks.filter_map(|one| one.table).collect();
            let further =
                names.into_iter().map(|name| Ok((name.to_owned(), self.table(Some(name), &sampled, &greedy)?)));
            let further = further.collect::<Result<_, PlayError>>()?;
            return Ok(EvalTable { further, ..self.table(None, &sampled, &greedy)? });
        };
        let set = self.evaluation_digest(None)?;
        let judged = self.verify_evaluation(context, group_by_task(rows.len(), sampled, greedy), ended)?;
        let first = rows.len();
        rows.extend(vec![verifier.row; first]);
        let (mut sampled, mut greedy, mut verifications) = (Vec::new(), Vec::new(), Vec::new());
        for (task, round) in judged.into_iter().enumerate() {
            for (place, mut all) in [(task, round.solutions), (first + task, round.verifications)] {
                greedy.extend(all.pop().map(|one| (place, one.verdict)));
                sampled.extend(all.iter().map(|one| (place, one.verdict.clone())));
                if place >= first {
                    verifications.extend(all);
                }
            }
        }
        let numbers = self.game.evaluation_numbers(&verifications);
        Ok(EvalTable { numbers, ..EvalTable::new(&rows, set, sampled, greedy)? })
    }

    /// The table of this name, of all episodes of the evaluation.
    fn table(
        &self,
        name: Option<&str>,
        sampled: &[EpisodeVerdict],
        greedy: &[EpisodeVerdict],
    ) -> Result<EvalTable, PlayError> {
        let tasks = self.game.evaluation_tasks().iter().enumerate().filter(|(_, one)| one.table == name);
        let (places, rows): (Vec<usize>, Vec<&str>) = tasks.map(|(place, one)| (place, one.row.as_str())).unzip();
        EvalTable::new(&rows, self.evaluation_digest(name)?, at_places(sampled, &places), at_places(greedy, &places))
    }

    /// Names the tasks of a table.
    fn evaluation_digest(&self, table: Option<&str>) -> Result<Digest, PlayError> {
        let of_table = self.game.evaluation_tasks().iter().filter(|one| one.table == table);
        let tasks: Vec<(&str, &E::Task)> = of_table.map(|one| (one.row.as_str(), &one.task)).collect();
        let bytes = serde_json::to_vec(&tasks)
            .map_err(|error| PlayError::Setup(format!("an evaluation task cannot be written: {error}")))?;
        Ok(Digest::of(&bytes))
    }

    fn solve_evaluation(
        &self,
        context: &StepContext<'_>,
        stage: Stage,
        ended: &mut dyn FnMut(usize),
    ) -> Result<Vec<SolverEpisode<E>>, PlayError> {
        let all = self.game.evaluation_tasks();
        let tasks: Vec<StepTask<E::Task>> = all.iter().map(|one| StepTask::seed(&one.task)).collect();
        let own: Vec<&E::Task> = all.iter().map(|one| &one.task).collect();
        let episodes = self.game.solver_episodes(context.execute, self.game.seeds(stage, context.seed, 0), &own);
        let episodes =
            episodes.into_iter().enumerate().map(|(index, one)| one?.ok_or_else(|| self.without_prompt(index)));
        let episodes = episodes.collect::<Result<_, PlayError>>()?;
        self.stages(context).solve(StageCall::new(stage, 0), None, &tasks, episodes, ended)
    }

    fn without_prompt(&self, index: usize) -> PlayError {
        let what =
            format!("evaluation task `{index}`, of row `{}`, cannot be asked", self.game.evaluation_tasks()[index].row);
        PlayError::Setup(format!("{what}: leave it out, or raise the budget of its prompt"))
    }

    /// Samples verifiers of the greedy responses, and judges the rounds.
    fn verify_evaluation(
        &self,
        context: &StepContext<'_>,
        rounds: Vec<Vec<SolverEpisode<E>>>,
        ended: &mut dyn FnMut(usize),
    ) -> Result<Vec<JudgedRound<E>>, PlayError> {
        let tasks: Vec<&E::Task> = self.game.evaluation_tasks().iter().map(|one| &one.task).collect();
        let episode = |(index, solutions): (usize, &Vec<SolverEpisode<E>>)| {
            let greedy = solutions.last().ok_or_else(|| self.without_prompt(index))?;
            let episode = self.game.verifier_episode(tasks[index], &greedy.finished);
            Ok((index, episode.ok_or_else(|| self.without_prompt(index))?))
        };
        let episodes: Vec<(usize, E::Episode)> =
            rounds.iter().enumerate().map(episode).collect::<Result<_, PlayError>>()?;
        let mut sample = |stage: Stage, group: usize| {
            let draw = SamplingCall { stage, part: Part::Verification, group, chunk: 0, round: 0 };
            self.stages(context).sample(StageCall::new(stage, 0), draw, episodes.clone(), ended)
        };
        let sampled = sample(Stage::Evaluate, self.game.settings().eval_samples)?;
        let greedy = sample(Stage::EvaluateGreedy, 1)?;
        let of_task = |index: usize| sampled.iter().chain(&greedy).filter(move |one| one.source == index);
        let rounds = rounds.iter().enumerate().map(|(index, solutions)| RoundRequest {
            task: tasks[index],
            solutions,
            verifications: of_task(index).map(|one| (solutions.len() - 1, one)).collect(),
        });
        let requests: Vec<RoundRequest<'_, E>> = rounds.collect();
        Ok(self.game.judge_rounds(context.execute, self.game.seeds(Stage::Evaluate, context.seed, 0).judge, &requests))
    }
}

/// Of each task the sampled episodes, then the greedy one.
fn group_by_task<E: Environment>(
    tasks: usize,
    sampled: Vec<SolverEpisode<E>>,
    greedy: Vec<SolverEpisode<E>>,
) -> Vec<Vec<SolverEpisode<E>>> {
    let mut rounds: Vec<Vec<SolverEpisode<E>>> = (0..tasks).map(|_| Vec::new()).collect();
    sampled.into_iter().chain(greedy).for_each(|one| rounds[one.finished.source].push(one));
    rounds
}

fn verdict<E: Environment>(one: &SolverEpisode<E>) -> EpisodeVerdict {
    (one.finished.source, one.judged.verdict.clone())
}

/// The verdicts on the tasks at these places, which are in order, with their numbers among those.
fn at_places(verdicts: &[EpisodeVerdict], places: &[usize]) -> Vec<EpisodeVerdict> {
    let placed = verdicts.iter().map(|(task, verdict)| Some((places.binary_search(task).ok()?, verdict.clone())));
    placed.flatten().collect()
}

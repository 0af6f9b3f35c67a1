//! The game as the loop plays it.

use std::collections::BTreeSet;

use veriplay_core::{CodeTask, Digest, Execute, Prompt, Role, Status};

use super::SelfChallenge;
use super::challenging::Challenge;
use super::episode::{Episode, Move};
use super::executing::{Attempted, Draw};
use super::metrics::{Step, StepMetrics, step_metrics};
use super::records::{AttemptRecord, ChallengeRecord, EpisodeRecord, Record, TaskRecord, VERSION};
use super::state::{GameState, solution_digest};
use super::tasks::{Asked, Source};
use crate::episodes::{self, Paid};
use crate::eval_table::EvalTable;
use crate::metrics::{SolveCount, solve_counts};
use crate::play::{Again, Arena, Counts, Example, Lesson, Play, PlayError, Played};
use crate::randomness::derive_seed;
use crate::splits::{self, Guard};

impl Play for SelfChallenge {
    type State = GameState;
    type Record = Record;
    type Metrics = StepMetrics;
    type Held = EvalTable;

    fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The anchors: what the start model's challengers wrote on their way to a valid task.
    fn begin(&self, arena: &Arena<'_>) -> Result<GameState, PlayError> {
        let mut state = GameState::default();
        let count = self.config.anchor_challenges;
        if count > 0 {
            // Another seed than step 0's, whose challenges would be these otherwise.
            let seed = derive_seed(arena.seed, 0, "anchors of challengers");
            let mut known = self.known(&state);
            for challenge in self.challenges(&Arena { seed, ..*arena }, &mut known, 0, count)? {
                challenge.judged.as_ref().map_err(Clone::clone)?;
                if challenge.task().is_some() {
                    state.add_anchors(episodes::anchors(&challenge.done.said));
                }
            }
        }
        Ok(state)
    }

    fn step(
        &self,
        arena: &Arena<'_>,
        state: &mut GameState,
        step: u64,
    ) -> Result<Played<StepMetrics, Record>, PlayError> {
        let now = (arena.seed, step);
        let mut known = self.known(state);
        let challenges = self.challenges(arena, &mut known, step, self.config.challenges_per_step)?;
        let fresh: Vec<(usize, CodeTask)> = challenges
            .iter()
            .enumerate()
            .filter_map(|(index, challenge)| Some((index, challenge.task()?.clone())))
            .collect();
        let asked = self.tasks(state, &fresh, now);
        let tasks: Vec<&CodeTask> = asked.iter().map(|asked| &asked.task).collect();
        let temperature = self.config.executor_temperature;
        let draw = Draw { group: self.config.group, temperature, seed: (arena.seed, step, "executor") };
        let attempts = self.attempts(arena.policy, arena.execute, &tasks, draw)?;
        let counts = solve_counts(asked.len(), attempts.iter().filter_map(Attempted::status));
        self.remember(state, step, fresh, &asked, &counts);
        let paid = self.paid(state, now, &challenges, &rates(challenges.len(), &asked, &counts), &attempts);
        let lesson = self.lesson(state, now, &challenges, &attempts, &paid);
        let metrics = step_metrics(&Step {
            challenges: &challenges,
            asked: &asked,
            attempts: &attempts,
            counts: &counts,
            paid: &paid,
            buffer: state.entries().len(),
        });
        Ok(Played {
            lessons: lesson.map(Lesson::Samples).into_iter().collect(),
            metrics,
            counts: counted(&challenges, &attempts),
            records: records(now, &challenges, &asked, &attempts, &paid, draw.code_seed()),
        })
    }

    fn measure(&self, arena: &Arena<'_>) -> Result<EvalTable, PlayError> {
        self.measured(arena)
    }

    fn judge_again(&self, execute: &dyn Execute, records: &[Record]) -> Result<Again, PlayError> {
        self.judged_again(execute, records)
    }

    fn examples(&self, _execute: &dyn Execute) -> Result<Vec<Example>, PlayError> {
        let challenge = self.challenge_goals(0, 0, 1).pop();
        let task = self.given.first().or_else(|| self.held.first().map(|held| &held.task));
        let execute = task.map(|task| self.execute_goal(task)).transpose()?;
        let goals = [("challenger: make a task", challenge), ("executor: do a task", execute)];
        let example = |(what, goal): (&str, Option<_>)| {
            let (world, goal): (usize, _) = goal?;
            let about = std::sync::Arc::clone(&self.worlds[world].about);
            let episode = Episode::new(goal, about, self.dialect, self.config.budget);
            let Move::Ask(text) = episode.next_move() else { return None };
            let prompt = Prompt { role: episode.goal().role(), task_type: None, text };
            Some(Example { what: what.to_owned(), prompt })
        };
        Ok(goals.into_iter().filter_map(example).collect())
    }
}

impl SelfChallenge {
    /// Digests of the solutions that count as known.
    fn known(&self, state: &GameState) -> BTreeSet<Digest> {
        let all = self.given.iter().chain(state.entries().iter().map(|entry| &entry.task));
        all.map(solution_digest).collect()
    }

    /// Lets the step's tasks into the buffer, and notes what came of all that were asked.
    fn remember(
        &self,
        state: &mut GameState,
        step: u64,
        fresh: Vec<(usize, CodeTask)>,
        asked: &[Asked],
        counts: &[SolveCount],
    ) {
        for (_, task) in fresh {
            state.admit(task, step, self.config.buffer_capacity);
        }
        for (asked, count) in asked.iter().zip(counts).filter(|(_, count)| count.judged > 0) {
            match asked.source {
                Source::Given => state.note_given(&asked.task.task_id, *count),
                Source::Fresh | Source::Buffer => {
                    state.note_made(&asked.task.task_id, *count, self.config.drop_unsolved);
                }
            }
        }
    }
}

/// Of each challenge, what came of its task where it was asked.
fn rates(challenges: usize, asked: &[Asked], counts: &[SolveCount]) -> Vec<Option<SolveCount>> {
    let mut rates = vec![None; challenges];
    for (asked, count) in asked.iter().zip(counts) {
        if let Some(index) = asked.challenge {
            rates[index] = Some(*count);
        }
    }
    rates
}

fn counted(challenges: &[Challenge], attempts: &[Attempted]) -> Counts {
    let accepted = |one: &&Attempted| one.judged.as_ref().is_ok_and(|verdict| verdict.status == Status::Accepted);
    let (lost, missed) = (
        challenges.iter().filter(|one| one.judged.is_err()).count(),
        attempts.iter().filter(|one| one.judged.is_err()).count(),
    );
    Counts {
        proposals: (challenges.len() - lost) as u64,
        valid_proposals: challenges.iter().filter(|one| one.task().is_some()).count() as u64,
        proposals_in_held_out: challenges
            .iter()
            .filter(|one| one.judged.as_ref().is_ok_and(|judged| splits::is_refusal(&judged.verdict)))
            .count() as u64,
        attempts: (attempts.len() - missed) as u64,
        accepted: attempts.iter().filter(accepted).count() as u64,
        dropped: (lost + missed) as u64,
    }
}

fn records(
    (seed, step): (u64, u64),
    challenges: &[Challenge],
    asked: &[Asked],
    attempts: &[Attempted],
    paid: &[Paid],
    code_seed: u64,
) -> Vec<Record> {
    let mut of_role: [Vec<Option<&Paid>>; 2] = [vec![None; challenges.len()], vec![None; attempts.len()]];
    for paid in paid {
        of_role[usize::from(paid.role != Role::Proposer)][paid.index] = Some(paid);
    }
    let episode = |episode: EpisodeRecord, paid: Option<&Paid>| EpisodeRecord {
        reward: paid.map(|paid| paid.reward.clone()),
        advantage: paid.map(|paid| paid.advantage),
        ..episode
    };
    let challenge = |(index, one): (usize, &Challenge)| {
        Record::Challenge(Box::new(ChallengeRecord {
            schema_version: VERSION,
            step,
            index,
            environment: one.environment(),
            tool: one.tool.clone(),
            known: one.known,
            seed: SelfChallenge::challenge_seed(seed, step),
            episode: episode(EpisodeRecord::of(&one.done), of_role[0][index]),
            judged: one.judged.clone(),
        }))
    };
    let mut records: Vec<Record> = challenges.iter().enumerate().map(challenge).collect();
    let mut tasks: Vec<TaskRecord> = asked
        .iter()
        .enumerate()
        .map(|(index, asked)| TaskRecord {
            schema_version: VERSION,
            step,
            index,
            task: asked.task.clone(),
            source: asked.source,
            seed: code_seed,
            attempts: Vec::new(),
        })
        .collect();
    for (index, attempt) in attempts.iter().enumerate() {
        let episode = episode(EpisodeRecord::of(&attempt.done), of_role[1][index]);
        tasks[attempt.done.goal].attempts.push(AttemptRecord { episode, judged: attempt.judged.clone() });
    }
    records.extend(tasks.into_iter().map(|task| Record::Task(Box::new(task))));
    records
}

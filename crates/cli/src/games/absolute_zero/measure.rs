//! Measures a policy on a set of tasks: pass@1 and pass@8 of the sampling policy, and greedy accuracy, always together.

use veriplay_core::{Attempt, Dropped, Prompt, Sampling, Status, Task, Verdict};
use veriplay_selfplay::games::absolute_zero::AbsoluteZero;
use veriplay_selfplay::heldout::{EvalCounts, EvalTable};
use veriplay_selfplay::play::{Arena, PlayError};

use super::config::EvalConfig;
use super::judge;
use crate::overlap::overlap;

/// Prompts of one chunk: small enough that judging overlaps generating.
const CHUNK: usize = 100;

/// Measures `tasks`. A Dropped attempt is an error here: a number with holes is no number.
pub(crate) fn measure(
    arena: &Arena<'_>,
    game: &AbsoluteZero,
    tasks: &[Task],
    config: &EvalConfig,
) -> Result<EvalTable, PlayError> {
    let max_tokens = game.config().solver_max_tokens;
    let sampled = Sampling { temperature: 1.0, max_tokens, group: config.samples, seed: arena.seed };
    let greedy = Sampling { temperature: 0.0, group: 1, ..sampled.clone() };
    let sampled = solve_counts(arena, game, tasks, &sampled)?;
    let greedy = solve_counts(arena, game, tasks, &greedy)?;
    let counts = tasks.iter().zip(sampled).zip(greedy).map(|((task, accepted), greedy)| EvalCounts {
        task_type: task.question.task_type(),
        samples: config.samples,
        accepted,
        greedy: greedy > 0,
    });
    EvalTable::from_counts(&counts.collect::<Vec<_>>()).map_err(|error| PlayError::Setup(error.to_string()))
}

/// How many of each task's samples are Accepted, in the order of the tasks.
fn solve_counts(
    arena: &Arena<'_>,
    game: &AbsoluteZero,
    tasks: &[Task],
    sampling: &Sampling,
) -> Result<Vec<usize>, PlayError> {
    let chunks = overlap(
        tasks.chunks(CHUNK).enumerate(),
        |(index, chunk)| {
            let prompts: Vec<Prompt> = chunk.iter().map(|task| game.format().solver_prompt(task)).collect();
            // Each chunk draws from its own stream.
            let seed = sampling.seed.wrapping_add(index as u64);
            let rollouts = arena.policy.generate(&prompts, &Sampling { seed, ..sampling.clone() });
            Ok::<_, PlayError>((chunk, rollouts?))
        },
        |(chunk, rollouts)| {
            let pairs = chunk.iter().zip(&rollouts).flat_map(|(task, group)| group.iter().map(move |r| (task, r)));
            let attempts: Vec<(&Task, Attempt)> =
                pairs.map(|(task, rollout)| (task, judge::extract_answer(game.config(), task, rollout))).collect();
            let asked: Vec<(&Task, &Attempt)> = attempts.iter().map(|(task, attempt)| (*task, attempt)).collect();
            let verdicts = judge::answers(arena.execute, &asked);
            verdicts.chunks(sampling.group).map(count).collect::<Result<Vec<usize>, PlayError>>()
        },
    )?;
    chunks.into_iter().collect::<Result<Vec<_>, _>>().map(|chunks| chunks.concat())
}

fn count(verdicts: &[Result<Verdict, Dropped>]) -> Result<usize, PlayError> {
    let accepted = |judged: &Result<Verdict, Dropped>| match judged {
        Ok(verdict) => Ok(usize::from(verdict.status == Status::Accepted)),
        Err(dropped) => {
            Err(Dropped { why: format!("the measurement is void, an attempt was dropped: {}", dropped.why) })
        }
    };
    Ok(verdicts.iter().map(accepted).sum::<Result<usize, Dropped>>()?)
}

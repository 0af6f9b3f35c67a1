//! Measures a policy on a set of tasks: pass@1 and pass@8 of the sampling policy, and greedy accuracy, always together.

use veriplay_core::{Attempt, Dropped, Execute, Policy, Prompt, Sampling, Status, Task, TaskType, Verdict};
use veriplay_selfplay::games::absolute_zero::AbsoluteZero;
use veriplay_selfplay::heldout::{EvalCounts, EvalTable};

use crate::config::EvalConfig;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::judge;
use crate::overlap::overlap;

/// Prompts of one chunk: small enough that judging overlaps generating.
const CHUNK: usize = 100;

/// Measures `tasks`. A Dropped attempt is an error here: a number with holes is no number.
pub(crate) fn evaluate(
    policy: &dyn Policy,
    game: &AbsoluteZero,
    execute: &dyn Execute,
    tasks: &[Task],
    config: &EvalConfig,
    seed: u64,
) -> Result<EvalTable, Failure> {
    let max_tokens = game.config().solver_max_tokens;
    let sampled = Sampling { temperature: 1.0, max_tokens, group: config.samples, seed };
    let greedy = Sampling { temperature: 0.0, group: 1, ..sampled.clone() };
    let sampled = solve_counts(policy, game, execute, tasks, &sampled)?;
    let greedy = solve_counts(policy, game, execute, tasks, &greedy)?;
    let counts = tasks.iter().zip(sampled).zip(greedy).map(|((task, accepted), greedy)| EvalCounts {
        task_type: task.question.task_type(),
        samples: config.samples,
        accepted,
        greedy: greedy > 0,
    });
    EvalTable::from_counts(&counts.collect::<Vec<_>>()).or_fail(ExitCode::Input)
}

/// How many of each task's samples are Accepted, in the order of the tasks.
fn solve_counts(
    policy: &dyn Policy,
    game: &AbsoluteZero,
    execute: &dyn Execute,
    tasks: &[Task],
    sampling: &Sampling,
) -> Result<Vec<usize>, Failure> {
    let chunks = overlap(
        tasks.chunks(CHUNK).enumerate(),
        |(index, chunk)| {
            let prompts: Vec<Prompt> = chunk.iter().map(|task| game.format().solver_prompt(task)).collect();
            // Each chunk draws from its own stream.
            let seed = sampling.seed.wrapping_add(index as u64);
            let rollouts = policy.generate(&prompts, &Sampling { seed, ..sampling.clone() });
            rollouts.or_fail(ExitCode::Model).map(|rollouts| (chunk, rollouts))
        },
        |(chunk, rollouts)| {
            let pairs = chunk.iter().zip(&rollouts).flat_map(|(task, group)| group.iter().map(move |r| (task, r)));
            let attempts: Vec<(&Task, Attempt)> =
                pairs.map(|(task, rollout)| (task, judge::extract_answer(game.config(), task, rollout))).collect();
            let asked: Vec<(&Task, &Attempt)> = attempts.iter().map(|(task, attempt)| (*task, attempt)).collect();
            let verdicts = judge::answers(execute, &asked);
            verdicts.chunks(sampling.group).map(count).collect::<Result<Vec<usize>, Failure>>()
        },
    )?;
    chunks.into_iter().collect::<Result<Vec<_>, _>>().map(|chunks| chunks.concat())
}

fn count(verdicts: &[Result<Verdict, Dropped>]) -> Result<usize, Failure> {
    let mut accepted = 0;
    for verdict in verdicts {
        match verdict {
            Ok(verdict) => accepted += usize::from(verdict.status == Status::Accepted),
            Err(dropped) => {
                let what = format!("the measurement is void, an attempt was dropped: {}", dropped.why);
                return Err(Failure::message(ExitCode::Host, what));
            }
        }
    }
    Ok(accepted)
}

/// The rows of the three task types and their mean, in percent; with `before`, as `before → after`.
pub(crate) fn table_text(before: Option<&EvalTable>, after: &EvalTable) -> String {
    let mut text = String::from("| %, held-out | pass@1 (T=1) | greedy | pass@8 |\n|---|---|---|---|\n");
    let rows = TaskType::ALL.map(|task_type| (task_type.name(), Some(task_type)));
    for (name, task_type) in rows.into_iter().chain([("**mean**", None)]) {
        let cell = |column: fn(&EvalTable, Option<TaskType>) -> f64| match before {
            Some(before) => {
                format!("{:.1} → {:.1}", 100.0 * column(before, task_type), 100.0 * column(after, task_type))
            }
            None => format!("{:.1}", 100.0 * column(after, task_type)),
        };
        let cells = [cell(EvalTable::pass1), cell(EvalTable::greedy), cell(EvalTable::pass8)];
        text += &format!("| {name} | {} |\n", cells.join(" | "));
    }
    text
}

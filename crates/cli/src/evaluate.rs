//! Measures a policy on a set of tasks: pass@1 and pass@8 of the sampling policy, and greedy accuracy, always together.

use veriplay_core::{Execute, Policy, Prompt, Sampling, Task, TaskType};
use veriplay_learner::Learner;
use veriplay_selfplay::{AbsoluteZero, EvalCounts, EvalTable, GameConfig};
use veriplay_verifier::{AnswerRequest, judge_answers};

use crate::config::EvalConfig;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::overlap::overlap;

/// Prompts of one chunk: small enough that verification overlaps generation.
const CHUNK: usize = 100;

/// Measures `tasks`. A Dropped attempt is an error here: a number with holes is no number.
pub(crate) fn evaluate(
    learner: &Learner,
    game: &GameConfig,
    execute: &dyn Execute,
    tasks: &[Task],
    config: &EvalConfig,
    seed: u64,
) -> Result<EvalTable, Failure> {
    let game = AbsoluteZero::new(game.clone()).or_fail(ExitCode::Input)?;
    let sampled = Sampling {
        temperature: 1.0,
        max_tokens: game.config().solver_max_tokens,
        group: config.samples,
        seed,
    };
    let greedy = Sampling { temperature: 0.0, group: 1, ..sampled.clone() };
    let samples = accepted(learner, &game, execute, tasks, &sampled)?;
    let greedy = accepted(learner, &game, execute, tasks, &greedy)?;
    let counts = tasks.iter().zip(samples).zip(greedy).map(|((task, accepted), greedy)| EvalCounts {
        task_type: task.question.task_type(),
        samples: config.samples,
        accepted,
        greedy: greedy > 0,
    });
    Ok(EvalTable::from_counts(&counts.collect::<Vec<_>>()))
}

/// How many of each task's samples are Accepted, in the order of the tasks.
fn accepted(
    learner: &Learner,
    game: &AbsoluteZero,
    execute: &dyn Execute,
    tasks: &[Task],
    sampling: &Sampling,
) -> Result<Vec<usize>, Failure> {
    let chunks = overlap(
        tasks.chunks(CHUNK).enumerate(),
        |(index, chunk)| {
            let prompts: Vec<Prompt> = chunk.iter().map(|task| game.solver_prompt(task)).collect();
            // Each chunk draws from its own stream: the seed of one chunk says nothing of the next.
            let seed = sampling.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index as u64);
            let rollouts = learner.generate(&prompts, &Sampling { seed, ..sampling.clone() });
            rollouts.or_fail(ExitCode::Model).map(|rollouts| (chunk, rollouts))
        },
        |(chunk, rollouts)| {
            let requests: Vec<AnswerRequest<'_>> = chunk
                .iter()
                .zip(&rollouts)
                .flat_map(|(task, group)| group.iter().map(move |rollout| (task, rollout)))
                .map(|(task, rollout)| game.answer_request(task, rollout))
                .collect();
            let verdicts = judge_answers(execute, &requests);
            verdicts.chunks(sampling.group).map(count).collect::<Result<Vec<usize>, Failure>>()
        },
    )?;
    chunks.into_iter().collect::<Result<Vec<_>, _>>().map(|chunks| chunks.concat())
}

fn count(
    verdicts: &[Result<veriplay_core::Verdict, veriplay_core::Dropped>],
) -> Result<usize, Failure> {
    let mut accepted = 0;
    for verdict in verdicts {
        match verdict {
            Ok(verdict) => accepted += usize::from(verdict.status == veriplay_core::Status::Accepted),
            Err(dropped) => {
                let what = format!("the held-out measurement is void, an attempt was dropped: {}", dropped.why);
                return Err(Failure::message(ExitCode::Host, what));
            }
        }
    }
    Ok(accepted)
}

/// The three task types' rows and the mean, as the quickstart prints them.
pub(crate) fn table_text(before: Option<&EvalTable>, after: &EvalTable) -> String {
    let mut text = String::from("| held-out, in % | pass@1 (T=1) | greedy | pass@8 |\n|---|---|---|---|\n");
    let rows = TaskType::ALL.iter().map(|task_type| (task_type.name(), Some(*task_type)));
    for (name, task_type) in rows.chain([("**mean**", None)]) {
        let cell = |column: &dyn Fn(&EvalTable) -> f64| match before {
            Some(before) => format!("{:.1} → {:.1}", 100.0 * column(before), 100.0 * column(after)),
            None => format!("{:.1}", 100.0 * column(after)),
        };
        let row = [
            cell(&|table| table.pass1(task_type)),
            cell(&|table| table.greedy(task_type)),
            cell(&|table| table.pass8(task_type)),
        ];
        text += &format!("| {name} | {} |\n", row.join(" | "));
    }
    text
}

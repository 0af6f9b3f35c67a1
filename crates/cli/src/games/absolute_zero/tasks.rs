//! Task sets made from the corpus: drafts, executed and let through the same gate as proposals.

use std::collections::HashSet;

use veriplay_core::{Attempt, Execute, Proposal, Task, TaskType};
use veriplay_corpus::{Drafts, Grammar};
use veriplay_selfplay::games::absolute_zero::GameConfig;
use veriplay_selfplay::play::PlayError;
use veriplay_verifier::Gate;

use super::config::{EvalConfig, TaskConfig};
use super::judge;
use crate::games::EvalSet;

/// Drafts judged together.
const BLOCK: usize = 128;

/// One of the two sets: the same for every run, whatever its seed.
pub(crate) fn set(
    set: EvalSet,
    tasks: &TaskConfig,
    eval: &EvalConfig,
    game: &GameConfig,
    gate: &Gate,
    execute: &dyn Execute,
) -> Result<Vec<Task>, PlayError> {
    let grammar = Grammar::embedded_tiny();
    let mut all = Vec::new();
    for task_type in TaskType::ALL {
        let inputs = game.induction_inputs();
        let drafts = Drafts::new(&grammar, set.into(), &tasks.eval_mix, tasks.eval_seed, task_type, inputs);
        all.extend(gated(
            drafts.map_err(|error| PlayError::Setup(error.to_string()))?,
            eval.tasks_per_type,
            gate,
            execute,
        )?);
    }
    Ok(all)
}

/// The first `count` drafts that pass the gate, as tasks; no two alike.
pub(crate) fn gated(
    mut drafts: impl Iterator<Item = Proposal>,
    count: usize,
    gate: &Gate,
    execute: &dyn Execute,
) -> Result<Vec<Task>, PlayError> {
    let mut tasks = Vec::with_capacity(count);
    let mut seen = HashSet::new();
    while tasks.len() < count {
        let block: Vec<Attempt> = drafts.by_ref().take(BLOCK).map(Attempt::Proposal).collect();
        if block.is_empty() {
            let what = format!("the generator gave only {} of {count} valid tasks", tasks.len());
            return Err(PlayError::Setup(format!("{what}: ask for fewer tasks, or widen the gate")));
        }
        for judged in judge::seeds(execute, gate, &block) {
            let judged = judged?;
            tasks.extend(judged.task.filter(|task| seen.insert(task.id())));
        }
    }
    tasks.truncate(count);
    Ok(tasks)
}

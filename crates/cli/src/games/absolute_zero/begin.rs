//! What a run begins with: seed tasks from the corpus, and the anchor.

use veriplay_core::{Attempt, Dropped, Execute, Judged, Prompt, Role, Rollout, Status, Task, TaskType};
use veriplay_corpus::{Drafts, Grammar, Split};
use veriplay_selfplay::anchors::Anchor;
use veriplay_selfplay::games::absolute_zero::GameState;
use veriplay_selfplay::play::{Arena, PlayError};

use super::{AbsoluteZeroSetup, InPlay, judge, tasks};

/// Keeps the anchor's samples apart from those of the steps.
const ANCHOR_STREAM: u64 = 0xa17c;

/// The game's state before step 0. A function of the configuration, the run's seed and the start model.
pub(super) fn state(played: &InPlay, arena: &Arena<'_>) -> Result<GameState, PlayError> {
    let mut state = GameState::new();
    seed(played, arena, &mut state)?;
    anchor(played, arena, &mut state)?;
    Ok(state)
}

/// Seeds come from the corpus, through the same gate as proposals. None may be measured.
fn seed(played: &InPlay, arena: &Arena<'_>, state: &mut GameState) -> Result<(), PlayError> {
    let of_types = seeds(&played.setup, arena.seed, played.setup.tasks.seeds_per_type, arena.execute)?;
    for (task_type, tasks) in TaskType::ALL.into_iter().zip(of_types) {
        for (number, task) in tasks.iter().enumerate() {
            let item = format!("seed {number} of type `{}`", task_type.name());
            played.game.guard().check_program("`tasks.seed_mix`", &item, task.question.program())?;
        }
        state.add_seeds(tasks);
    }
    Ok(())
}

/// `count` tasks of the training split for each type.
pub(super) fn seeds(
    setup: &AbsoluteZeroSetup,
    seed: u64,
    count: usize,
    execute: &dyn Execute,
) -> Result<Vec<Vec<Task>>, PlayError> {
    let AbsoluteZeroSetup { game, gate, tasks, .. } = setup;
    let grammar = Grammar::embedded_tiny();
    let of_type = |task_type| {
        let inputs = game.induction_inputs();
        let drafts = Drafts::new(&grammar, Split::Train, &tasks.seed_mix, seed, task_type, inputs);
        let drafts = drafts.map_err(|error| PlayError::Setup(error.to_string()))?;
        tasks::gated(drafts, count, gate, execute)
    };
    TaskType::ALL.into_iter().map(of_type).collect()
}

/// The anchor is what the start model proposes when it is right: imitating it keeps the proposer from drifting.
fn anchor(played: &InPlay, arena: &Arena<'_>, state: &mut GameState) -> Result<(), PlayError> {
    let AbsoluteZeroSetup { game: config, tasks, .. } = &played.setup;
    if config.anchor_samples == 0 {
        return Ok(());
    }
    let turns = played.game.bootstrap_turns(state, arena.seed, 0, tasks.anchors_per_type);
    for turns in turns.chunk_by(|a, b| (a.task_type, a.rollouts) == (b.task_type, b.rollouts)) {
        let prompts: Vec<Prompt> = turns.iter().map(|turn| turn.prompt.clone()).collect();
        let mut sampling = played.game.sampling(Role::Proposer, turns[0].rollouts, arena.seed, 0);
        // Not the samples of step 0: those are scored, these are imitated.
        sampling.seed = sampling.seed.wrapping_add(ANCHOR_STREAM + turns[0].task_type as u64);
        let groups = arena.policy.generate(&prompts, &sampling)?;
        let written =
            turns.iter().zip(&groups).flat_map(|(turn, group)| group.iter().map(move |rollout| (turn, rollout)));
        let (rollouts, attempts): (Vec<&Rollout>, Vec<Attempt>) =
            written.map(|(turn, rollout)| (rollout, judge::extract_turn(config, turn, rollout))).unzip();
        let known = vec![false; attempts.len()];
        let judged = judge::proposals(arena.execute, played, &attempts, &known, 0, 0);
        let valid = rollouts.into_iter().zip(&judged).filter(|(_, judged)| is_valid(judged));
        state.add_anchors(valid.map(|(rollout, _)| Anchor::from(rollout)));
    }
    Ok(())
}

fn is_valid(judged: &Result<Judged, Dropped>) -> bool {
    judged.as_ref().is_ok_and(|judged| judged.verdict.status == Status::Valid)
}

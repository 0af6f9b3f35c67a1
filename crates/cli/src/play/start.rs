//! What a run begins with: seed tasks from the corpus, programs nobody may propose, and the anchor.

use std::path::Path;

use veriplay_core::{Attempt, Dropped, Judged, Policy, Prompt, Role, Rollout, Status, TaskType, program_hash};
use veriplay_corpus::{Drafts, Grammar, Split};
use veriplay_learner::Learner;
use veriplay_selfplay::games::absolute_zero::{AbsoluteZero, Anchor, GameState};

use crate::config::{EvalSet, PlayConfig};
use crate::executor::Referee;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::{embedded, judge, memory, model, tasks};

/// The start model, ready to learn.
pub(super) fn learner(config: &PlayConfig) -> Result<Learner, Failure> {
    let mut learner = model::trainable(&config.model, &config.learn.learner_options())?;
    memory::check(learner.config(), learner.options(), &config.game)?;
    if config.learn.needs_reference() {
        learner.hold_reference().or_fail(ExitCode::Model)?;
    }
    Ok(learner)
}

/// The model of a checkpoint, ready to learn on as if nothing had happened.
pub(super) fn resumed(config: &PlayConfig, checkpoint: &Path) -> Result<Learner, Failure> {
    let options = config.learn.learner_options();
    if config.learn.trains_adapters() {
        // The checkpoint's own weights are merged: the base is the start model, and adapters that start are the reference.
        let mut learner = self::learner(config)?;
        learner.load_adapters(checkpoint).or_fail(ExitCode::Model)?;
        learner.load_trainer_state(checkpoint).or_fail(ExitCode::Model)?;
        return Ok(learner);
    }
    let mut learner = Learner::load(checkpoint, options.clone()).or_fail(ExitCode::Model)?;
    memory::check(learner.config(), &options, &config.game)?;
    learner.load_trainer_state(checkpoint).or_fail(ExitCode::Model)?;
    if config.learn.needs_reference() {
        let start = embedded::load_model(&config.model, &options)?;
        learner.hold_reference_of(&start).or_fail(ExitCode::Model)?;
    }
    Ok(learner)
}

/// Keeps the anchor's samples apart from those of the steps.
const ANCHOR_STREAM: u64 = 0xa17c;

/// The game's state before step 0. A function of the configuration and the start model.
pub(super) fn state(
    config: &PlayConfig,
    game: &AbsoluteZero,
    learner: &Learner,
    referee: &Referee,
) -> Result<GameState, Failure> {
    let mut state = GameState::new();
    reserve(config, referee, &mut state)?;
    seed(config, referee, &mut state)?;
    anchor(config, game, learner, referee, &mut state)?;
    Ok(state)
}

/// No proposal may hold a program of the held-out or the validation set.
fn reserve(config: &PlayConfig, referee: &Referee, state: &mut GameState) -> Result<(), Failure> {
    for set in [EvalSet::HeldOut, EvalSet::Validation] {
        let tasks = tasks::set(set, &config.tasks, &config.eval, &config.game, &config.gate, referee)?;
        state.reserve_programs(tasks.iter().map(|task| program_hash(task.question.program())));
    }
    Ok(())
}

/// Seeds come from the corpus, through the same gate as proposals.
fn seed(config: &PlayConfig, referee: &Referee, state: &mut GameState) -> Result<(), Failure> {
    let grammar = Grammar::embedded_tiny();
    for task_type in TaskType::ALL {
        let inputs = config.game.induction_inputs();
        let drafts = Drafts::new(&grammar, Split::Train, &config.tasks.seed_mix, config.seed, task_type, inputs);
        let drafts = drafts.or_fail(ExitCode::Input)?;
        state.add_seeds(tasks::gated(drafts, config.tasks.seeds_per_type, &config.gate, referee)?);
    }
    Ok(())
}

/// The anchor is what the start model proposes when it is right: imitating it keeps the proposer from drifting.
fn anchor(
    config: &PlayConfig,
    game: &AbsoluteZero,
    learner: &Learner,
    referee: &Referee,
    state: &mut GameState,
) -> Result<(), Failure> {
    if config.game.anchor_samples == 0 {
        return Ok(());
    }
    let turns = game.bootstrap_turns(state, config.seed, 0, config.tasks.anchors_per_type);
    for turns in turns.chunk_by(|a, b| (a.task_type, a.rollouts) == (b.task_type, b.rollouts)) {
        let prompts: Vec<Prompt> = turns.iter().map(|turn| turn.prompt.clone()).collect();
        let mut sampling = game.sampling(Role::Proposer, turns[0].rollouts, config.seed, 0);
        // Not the samples of step 0: those are scored, these are imitated.
        sampling.seed = sampling.seed.wrapping_add(ANCHOR_STREAM + turns[0].task_type as u64);
        let groups = learner.generate(&prompts, &sampling).or_fail(ExitCode::Model)?;
        let written =
            turns.iter().zip(&groups).flat_map(|(turn, group)| group.iter().map(move |rollout| (turn, rollout)));
        let (rollouts, attempts): (Vec<&Rollout>, Vec<Attempt>) =
            written.map(|(turn, rollout)| (rollout, judge::extract_turn(&config.game, turn, rollout))).unzip();
        let known = vec![false; attempts.len()];
        let judged = judge::proposals(referee, &config.gate, &attempts, &known, 0, 0);
        let valid = rollouts.into_iter().zip(&judged).filter(|(_, judged)| is_valid(judged));
        state.add_anchors(valid.map(|(rollout, _)| Anchor::from(rollout)));
    }
    Ok(())
}

fn is_valid(judged: &Result<Judged, Dropped>) -> bool {
    judged.as_ref().is_ok_and(|judged| judged.verdict.status == Status::Valid)
}

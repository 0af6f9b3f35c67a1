//! The proposer's half of a step: generate proposals, and judge each chunk while the next one is generated.

use veriplay_core::{Attempt, Execute, Prompt, Role, Rollout};
use veriplay_selfplay::games::absolute_zero::{GameState, ProposalRecord, ProposerTurn};
use veriplay_selfplay::play::{Arena, PlayError};

use super::{InPlay, judge};
use crate::overlap::overlap;

/// Turns of one task type that want equally many rollouts, with the index of the first.
#[derive(Clone, Copy)]
struct Chunk<'a> {
    first: usize,
    turns: &'a [ProposerTurn],
}

/// All proposals of this step, judged, in the order of the turns.
pub(super) fn propose(
    played: &InPlay,
    arena: &Arena<'_>,
    state: &GameState,
    step: u64,
) -> Result<(Vec<ProposerTurn>, Vec<ProposalRecord>), PlayError> {
    let turns = played.game.proposer_turns(state, arena.seed, step);
    let judged = overlap(
        chunks(&turns),
        |chunk| generate(played, arena, step, &chunk).map(|rollouts| (chunk, rollouts)),
        |(chunk, rollouts)| judge_chunk(played, arena.execute, state, step, &chunk, rollouts),
    )?;
    Ok((turns, judged.concat()))
}

/// What is known is asked by task type and before anything is judged, so chunks can be judged one after another.
fn chunks(turns: &[ProposerTurn]) -> Vec<Chunk<'_>> {
    let mut first = 0;
    let chunks = turns.chunk_by(|a, b| (a.task_type, a.rollouts) == (b.task_type, b.rollouts)).map(|turns| {
        let chunk = Chunk { first, turns };
        first += turns.len();
        chunk
    });
    chunks.collect()
}

fn generate(played: &InPlay, arena: &Arena<'_>, step: u64, chunk: &Chunk<'_>) -> Result<Vec<Vec<Rollout>>, PlayError> {
    let prompts: Vec<Prompt> = chunk.turns.iter().map(|turn| turn.prompt.clone()).collect();
    let group = chunk.turns[0].rollouts;
    let mut sampling = played.game.sampling(Role::Proposer, group, arena.seed, step);
    sampling.seed = sampling.seed.wrapping_add(chunk.turns[0].task_type as u64);
    Ok(arena.policy.generate(&prompts, &sampling)?)
}

fn judge_chunk(
    played: &InPlay,
    execute: &dyn Execute,
    state: &GameState,
    step: u64,
    chunk: &Chunk<'_>,
    rollouts: Vec<Vec<Rollout>>,
) -> Vec<ProposalRecord> {
    let written: Vec<(usize, Rollout)> = rollouts
        .into_iter()
        .enumerate()
        .flat_map(|(offset, group)| group.into_iter().map(move |rollout| (chunk.first + offset, rollout)))
        .collect();
    let attempts: Vec<Attempt> = written
        .iter()
        .map(|(turn, rollout)| judge::extract_turn(&played.setup.game, &chunk.turns[turn - chunk.first], rollout))
        .collect();
    let known = played.game.known(state, &attempts);
    let base = chunk.turns[0].task_type as u64 * PROPOSALS_PER_TYPE_AT_MOST;
    let judged = judge::proposals(execute, played, &attempts, &known, step, base);
    let records = written.into_iter().zip(attempts).zip(known).zip(judged);
    records
        .map(|((((turn, rollout), attempt), known), judged)| ProposalRecord {
            turn,
            task_type: chunk.turns[0].task_type,
            rollout,
            attempt,
            known,
            judged,
        })
        .collect()
}

/// Keeps the numbers of proposals of different types apart; configurations allow fewer.
const PROPOSALS_PER_TYPE_AT_MOST: u64 = 1 << 20;

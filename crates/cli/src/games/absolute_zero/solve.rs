//! The solver's half of a step: admit proposals, choose tasks, generate groups, judge them meanwhile.

use veriplay_core::{Attempt, Execute, Prompt, Role, Rollout};
use veriplay_selfplay::games::absolute_zero::{GameState, ProposalRecord, SolverRecord, SolverTurn};
use veriplay_selfplay::play::{Arena, PlayError};

use super::{InPlay, judge};
use crate::overlap::overlap;

/// Tasks generated together: enough to fill a batch, few enough that judging overlaps generating.
const CHUNK: usize = 32;

/// This step's tasks and all attempts at them, judged, in the order of the tasks.
pub(super) fn solve(
    played: &InPlay,
    arena: &Arena<'_>,
    state: &mut GameState,
    step: u64,
    proposals: &[ProposalRecord],
) -> Result<(Vec<SolverTurn>, Vec<SolverRecord>), PlayError> {
    let turns = played.game.solver_turns(state, arena.seed, step, proposals);
    let records = overlap(
        turns.chunks(CHUNK).enumerate(),
        |(number, chunk)| generate(played, arena, step, number, chunk).map(|rollouts| (number, chunk, rollouts)),
        |(number, chunk, rollouts)| judge_chunk(played, arena.execute, number * CHUNK, chunk, rollouts),
    )?;
    Ok((turns, records.concat()))
}

fn generate(
    played: &InPlay,
    arena: &Arena<'_>,
    step: u64,
    number: usize,
    chunk: &[SolverTurn],
) -> Result<Vec<Vec<Rollout>>, PlayError> {
    let prompts: Vec<Prompt> = chunk.iter().map(|turn| turn.prompt.clone()).collect();
    let mut sampling = played.game.sampling(Role::Solver, played.setup.game.group, arena.seed, step);
    sampling.seed = sampling.seed.wrapping_add(number as u64);
    Ok(arena.policy.generate(&prompts, &sampling)?)
}

fn judge_chunk(
    played: &InPlay,
    execute: &dyn Execute,
    first: usize,
    chunk: &[SolverTurn],
    rollouts: Vec<Vec<Rollout>>,
) -> Vec<SolverRecord> {
    let written: Vec<(usize, Rollout)> = rollouts
        .into_iter()
        .enumerate()
        .flat_map(|(offset, group)| group.into_iter().map(move |rollout| (offset, rollout)))
        .collect();
    let attempts: Vec<Attempt> = written
        .iter()
        .map(|(offset, rollout)| judge::extract_answer(&played.setup.game, &chunk[*offset].task, rollout))
        .collect();
    let asked: Vec<_> =
        written.iter().zip(&attempts).map(|((offset, _), attempt)| (&chunk[*offset].task, attempt)).collect();
    let verdicts = judge::answers(execute, &asked);
    let records = written.into_iter().zip(attempts).zip(verdicts);
    records
        .map(|(((offset, rollout), attempt), judged)| SolverRecord { turn: first + offset, rollout, attempt, judged })
        .collect()
}

//! The solver's half of a step: admit proposals, choose tasks, generate groups, judge them meanwhile.

use veriplay_core::{Attempt, Policy, Prompt, Role, Rollout};
use veriplay_selfplay::games::absolute_zero::{ProposalRecord, SolverRecord, SolverTurn};

use super::session::Session;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::judge;
use crate::overlap::overlap;

/// Tasks generated together: enough to fill a batch, few enough that judging overlaps generating.
const CHUNK: usize = 32;

/// This step's tasks and all attempts at them, judged, in the order of the tasks.
pub(super) fn solve(
    session: &mut Session,
    step: u64,
    proposals: &[ProposalRecord],
) -> Result<(Vec<SolverTurn>, Vec<SolverRecord>), Failure> {
    let turns = session.game.solver_turns(&mut session.state, session.config.seed, step, proposals);
    let session: &Session = session;
    let records = overlap(
        turns.chunks(CHUNK).enumerate(),
        |(number, chunk)| generate(session, step, number, chunk).map(|rollouts| (number, chunk, rollouts)),
        |(number, chunk, rollouts)| judge_chunk(session, number * CHUNK, chunk, rollouts),
    )?;
    Ok((turns, records.concat()))
}

fn generate(session: &Session, step: u64, number: usize, chunk: &[SolverTurn]) -> Result<Vec<Vec<Rollout>>, Failure> {
    let prompts: Vec<Prompt> = chunk.iter().map(|turn| turn.prompt.clone()).collect();
    let mut sampling = session.game.sampling(Role::Solver, session.config.game.group, session.config.seed, step);
    sampling.seed = sampling.seed.wrapping_add(number as u64);
    session.learner.generate(&prompts, &sampling).or_fail(ExitCode::Model)
}

fn judge_chunk(
    session: &Session,
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
        .map(|(offset, rollout)| judge::extract_answer(&session.config.game, &chunk[*offset].task, rollout))
        .collect();
    let asked: Vec<_> =
        written.iter().zip(&attempts).map(|((offset, _), attempt)| (&chunk[*offset].task, attempt)).collect();
    let verdicts = judge::answers(&session.referee, &asked);
    let records = written.into_iter().zip(attempts).zip(verdicts);
    records
        .map(|(((offset, rollout), attempt), judged)| SolverRecord { turn: first + offset, rollout, attempt, judged })
        .collect()
}

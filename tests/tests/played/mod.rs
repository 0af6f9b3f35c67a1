//! Steps of any game as they were played: what was logged, and what is learned from it.

use veriplay_core::{Execute, PreferenceBatch, Status, TrainBatch};
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::game::Game;
use veriplay_selfplay::play::{Batch, ReplayReport, StepOutput};
use veriplay_selfplay::records::{EpisodeRecord, LogRecord, ProposalRecord, Record, TaskRecord};

pub(crate) fn proposals<M, R, T, P, S, V, J>(
    played: &StepOutput<M, LogRecord<R, T, P, S, V, J>>,
) -> Vec<&ProposalRecord<R, T, P>> {
    let records = played.records.iter();
    records.filter_map(|one| if let LogRecord::Proposal(one) = one { Some(&**one) } else { None }).collect()
}

pub(crate) fn tasks<M, R, T, P, S, V, J>(
    played: &StepOutput<M, LogRecord<R, T, P, S, V, J>>,
) -> Vec<&TaskRecord<T, S, J>> {
    let records = played.records.iter();
    records.filter_map(|one| if let LogRecord::Task(one) = one { Some(&**one) } else { None }).collect()
}

/// The statuses of the attempts at a task, none of which was dropped.
pub(crate) fn statuses<T, S, J>(task: &TaskRecord<T, S, J>) -> Vec<Status> {
    task.attempts.iter().map(|attempt| attempt.judged.verdict.as_ref().unwrap().status).collect()
}

/// The reward of an episode that has one.
pub(crate) fn reward(episode: &EpisodeRecord) -> f64 {
    episode.reward.as_ref().unwrap().total()
}

pub(crate) fn sample_batches<M, R>(played: &StepOutput<M, R>) -> Vec<&TrainBatch> {
    let batches = played.batches.iter();
    batches.filter_map(|batch| if let Batch::Samples(batch) = batch { Some(batch) } else { None }).collect()
}

pub(crate) fn preference_batches<M, R>(played: &StepOutput<M, R>) -> Vec<&PreferenceBatch> {
    let batches = played.batches.iter();
    batches.filter_map(|batch| if let Batch::Preferences(batch) = batch { Some(batch) } else { None }).collect()
}

/// Judges what was logged again, which must come out the same; how many verdicts there are.
#[track_caller]
pub(crate) fn assert_same_again<G: Game>(game: &SelfPlay<G>, execute: &dyn Execute, records: &[Record<G>]) -> u64 {
    let again = game.replay(execute, records).unwrap();
    assert_eq!(again, ReplayReport { verdicts: again.verdicts, same: again.verdicts, ..ReplayReport::default() });
    assert!(again.verdicts > 0);
    again.verdicts
}

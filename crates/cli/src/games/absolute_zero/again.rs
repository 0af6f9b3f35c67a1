//! Makes the verdicts of logged rollouts again, from their texts.

use veriplay_core::{Attempt, Dropped, Execute, Task};
use veriplay_selfplay::play::{Again, PlayError};
use veriplay_verifier::ProposalShape;

use super::records::{ProposerRecord, RecordLine, SolverRecordLine};
use super::{AbsoluteZeroSetup, InPlay, judge};

/// Makes the verdicts of `records` again.
pub(super) fn judge_again(played: &InPlay, execute: &dyn Execute, records: &[RecordLine]) -> Result<Again, PlayError> {
    let mut report = Again::default();
    for line in records {
        if let RecordLine::Proposer(record) = line {
            proposal_again(played, execute, record, &mut report)?;
        }
    }
    let solver = records.iter().filter_map(|line| match line {
        RecordLine::Solver(record) => Some(record.as_ref()),
        RecordLine::Proposer(_) => None,
    });
    answers_again(&played.setup, execute, &solver.collect::<Vec<_>>(), &mut report)?;
    Ok(report)
}

fn proposal_again(
    played: &InPlay,
    execute: &dyn Execute,
    record: &ProposerRecord,
    report: &mut Again,
) -> Result<(), PlayError> {
    let Ok(logged) = &record.judged else {
        report.dropped += 1;
        return Ok(());
    };
    let setup = &played.setup;
    let shape = ProposalShape {
        task_type: record.task_type,
        given: record.given.as_deref(),
        inputs: setup.game.induction_inputs(),
    };
    let format = judge::format(&setup.game);
    let attempt = judge::finished(record.written.finish, || format.extract_proposal(&shape, &record.written.text));
    let index = logged.task.as_ref().map_or(0, proposal_index);
    let again = judge::proposals(execute, played, &[attempt], &[record.known], record.step, index);
    for again in again {
        let again = again.map_err(host_fault)?;
        let met_deadline = again.verdict.evidence.met_deadline || logged.verdict.evidence.met_deadline;
        report.count(again == *logged, met_deadline);
    }
    Ok(())
}

fn proposal_index(task: &Task) -> u64 {
    match task.provenance {
        veriplay_core::Provenance::Proposed { index, .. } => index,
        veriplay_core::Provenance::Seed => 0,
    }
}

fn answers_again(
    setup: &AbsoluteZeroSetup,
    execute: &dyn Execute,
    records: &[&SolverRecordLine],
    report: &mut Again,
) -> Result<(), PlayError> {
    let format = judge::format(&setup.game);
    let mut logged = Vec::new();
    let mut attempts: Vec<(&Task, Attempt)> = Vec::new();
    for record in records {
        for answer in &record.attempts {
            let Ok(verdict) = &answer.judged else {
                report.dropped += 1;
                continue;
            };
            let task_type = record.task.question.task_type();
            let attempt =
                judge::finished(answer.written.finish, || format.extract_answer(task_type, &answer.written.text));
            attempts.push((&record.task, attempt));
            logged.push(verdict);
        }
    }
    let asked: Vec<(&Task, &Attempt)> = attempts.iter().map(|(task, attempt)| (*task, attempt)).collect();
    for (again, logged) in judge::answers(execute, &asked).into_iter().zip(logged) {
        let again = again.map_err(host_fault)?;
        let met_deadline = again.evidence.met_deadline || logged.evidence.met_deadline;
        report.count(again == *logged, met_deadline);
    }
    Ok(())
}

fn host_fault(dropped: Dropped) -> PlayError {
    let why =
        format!("a verdict could not be made again: {}; run `veriplay replay` again, nothing was changed", dropped.why);
    PlayError::Host(Dropped { why })
}

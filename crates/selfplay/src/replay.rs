//! Verdicts made again from the log: every episode is run with its logged responses, its tools in the sandbox, and judged.

use veriplay_core::{Dropped, Execute, Verdict};

use crate::driver::SelfPlay;
use crate::environment::{Environment, JudgedProposal, Stage, ToJudge};
use crate::play::{Again, PlayError};
use crate::rollout::{Episode, Finished, LoggedSampler, run_episodes};
use crate::step::{AttemptRecord, DerivedRecord, LogRecord, ProposalRecord, Record, TaskRecord};

impl<E: Environment> SelfPlay<E> {
    /// Judges what `records` hold again, and compares.
    pub(crate) fn replay(&self, execute: &dyn Execute, records: &[Record<E>]) -> Result<Again, PlayError> {
        let mut report = Again::default();
        let mut proposals: Vec<&ProposalRecord<_, _, _>> = Vec::new();
        let mut derived: Vec<&DerivedRecord<_, _, _>> = Vec::new();
        for record in records {
            match record {
                LogRecord::Proposal(record) if record.judged.verdict.is_err() => report.dropped += 1,
                LogRecord::Proposal(record) => proposals.push(record),
                LogRecord::Derived(record) if record.judged.verdict.is_err() => report.dropped += 1,
                LogRecord::Derived(record) => derived.push(record),
                LogRecord::Task(record) => self.replay_task(execute, record, &mut report)?,
            }
        }
        // Proposals of one step share their seeds.
        for of_step in proposals.chunk_by(|one, other| one.proposed.step == other.proposed.step) {
            self.replay_proposals(execute, of_step, &mut report)?;
        }
        self.replay_derived(execute, &derived, &mut report)?;
        Ok(report)
    }

    fn replay_proposals(
        &self,
        execute: &dyn Execute,
        records: &[&ProposalRecord<E::Request, E::Task, E::ProposalDetail>],
        report: &mut Again,
    ) -> Result<(), PlayError> {
        let (mut first, mut kept) = (Vec::new(), Vec::new());
        for record in records {
            match self.0.proposer_episode(execute, &record.request)? {
                Some(episode) => {
                    first.push((kept.len(), episode));
                    kept.push(*record);
                }
                // The log does not fit the configuration: the verdict cannot come out the same.
                None => report.verdicts += 1,
            }
        }
        let Some(seeds) = kept.first().map(|record| record.seeds) else { return Ok(()) };
        let mut sampler = LoggedSampler(kept.iter().map(|record| record.episode.turns.as_slice()).collect());
        let finished = run_episodes(first, 1, &mut sampler, |all| self.0.advance(execute, seeds.tools, all))?;
        let judge: Vec<ToJudge<'_, E>> = finished
            .iter()
            .zip(&kept)
            .map(|(finished, record)| ToJudge {
                request: &record.request,
                finished,
                proposed: record.proposed,
                stage: Stage::Propose,
            })
            .collect();
        let judged = self.0.judge_proposals(execute, &judge, &mut |place, _| kept[place].judged.known);
        for (record, now) in kept.iter().zip(judged) {
            compare_proposal(report, &record.judged, &now)?;
        }
        Ok(())
    }

    fn replay_derived(
        &self,
        execute: &dyn Execute,
        records: &[&DerivedRecord<E::Derivation, E::Task, E::ProposalDetail>],
        report: &mut Again,
    ) -> Result<(), PlayError> {
        let derivations: Vec<E::Derivation> = records.iter().map(|record| record.derivation.clone()).collect();
        let judged = self.0.judge_derived(execute, &derivations, &mut |place, _| records[place].judged.known);
        for (record, now) in records.iter().zip(judged) {
            compare_proposal(report, &record.judged, &now)?;
        }
        Ok(())
    }

    fn replay_task(
        &self,
        execute: &dyn Execute,
        record: &TaskRecord<E::Task, E::SolutionDetail>,
        report: &mut Again,
    ) -> Result<(), PlayError> {
        let judged = |attempt: &&AttemptRecord<E::SolutionDetail>| attempt.judged.verdict.is_ok();
        let kept: Vec<&AttemptRecord<E::SolutionDetail>> = record.attempts.iter().filter(judged).collect();
        report.dropped += (record.attempts.len() - kept.len()) as u64;
        if kept.is_empty() {
            return Ok(());
        }
        let Some(episode) = self.0.solver_episodes(execute, record.seeds, &[&record.task]).remove(0)? else {
            // The log does not fit the configuration.
            report.verdicts += kept.len() as u64;
            return Ok(());
        };
        let mut sampler = LoggedSampler(kept.iter().map(|attempt| attempt.episode.turns.as_slice()).collect());
        let advance = |all: &mut [Finished<E::Episode>]| self.0.advance(execute, record.seeds.tools, all);
        let finished = run_episodes(vec![(0, episode)], kept.len(), &mut sampler, advance)?;
        let now = self.judge_solutions(execute, record.seeds.judge, finished, |_| &record.task);
        for (attempt, now) in kept.iter().zip(now) {
            let verdict = now.judged.verdict.as_ref().map_err(not_replayed)?;
            let same = now.judged == attempt.judged && now.finished.episode.end() == attempt.episode.end.as_deref();
            report.count(same, met_deadline(Some(verdict)) || met_deadline(attempt.judged.verdict.as_ref().ok()));
        }
        Ok(())
    }
}

fn compare_proposal<T: PartialEq, D: PartialEq>(
    report: &mut Again,
    logged: &JudgedProposal<T, D>,
    now: &JudgedProposal<T, D>,
) -> Result<(), PlayError> {
    let verdict = now.verdict.as_ref().map_err(not_replayed)?;
    report.count(now == logged, met_deadline(Some(verdict)) || met_deadline(logged.verdict.as_ref().ok()));
    Ok(())
}

fn met_deadline(verdict: Option<&Verdict>) -> bool {
    verdict.is_some_and(|verdict| verdict.evidence.met_deadline)
}

fn not_replayed(dropped: &Dropped) -> PlayError {
    let why =
        format!("a verdict could not be made again: {}; run `veriplay replay` again, nothing was changed", dropped.why);
    PlayError::Host(Dropped { why })
}

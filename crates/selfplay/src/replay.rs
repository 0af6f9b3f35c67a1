//! Verdicts made again from the log: every episode is run with its logged responses, its tools in the sandbox, and judged.

use veriplay_core::{Digest, Dropped, Execute, Verdict};

use crate::admission::JudgedProposal;
use crate::driver::SelfPlay;
use crate::environment::{Environment, ProposalBatch, ProposalToJudge, RoundRequest, SolverEpisode, Stage};
use crate::judgement::Solution;
use crate::play::{PlayError, ReplayReport};
use crate::rollout::{Episode, FinishedEpisode, LoggedSampler, run_episodes};
use crate::step::{
    AttemptRecord, DerivedRecord, EpisodeRecord, LogRecord, ProposalRecord, Record, TaskRecord, VerificationRecord,
};

/// A line of the log about a task.
type SolvedTask<E> =
    TaskRecord<<E as Environment>::Task, <E as Environment>::SolutionDetail, <E as Environment>::Round>;

/// The episodes of a round: solvers', then verifiers'.
type Responses<E> = (Vec<SolverEpisode<E>>, Vec<FinishedEpisode<<E as Environment>::Episode>>);

impl<E: Environment> SelfPlay<E> {
    /// Judges what `records` hold again, from the logged texts, and compares. Records of one step may come in several calls.
    ///
    /// # Errors
    /// A host fault: a verdict could not be made again.
    pub fn replay(&self, execute: &dyn Execute, records: &[Record<E>]) -> Result<ReplayReport, PlayError> {
        let mut report = ReplayReport::default();
        let mut proposals: Vec<&ProposalRecord<_, _, _>> = Vec::new();
        let mut derived: Vec<&DerivedRecord<_, _, _>> = Vec::new();
        let (mut rounds, verifies) = (Vec::new(), self.game.verifier().is_some());
        for record in records {
            match record {
                LogRecord::Proposal(record) if record.judged.verdict.is_err() => report.dropped += 1,
                LogRecord::Proposal(record) => proposals.push(record),
                LogRecord::Derived(record) if record.judged.verdict.is_err() => report.dropped += 1,
                LogRecord::Derived(record) => derived.push(record),
                LogRecord::Task(record) if verifies => rounds.push(&**record),
                LogRecord::Task(record) => self.replay_task(execute, record, &mut report)?,
            }
        }
        // Proposals of one step share their seeds.
        for of_step in proposals.chunk_by(|one, other| one.proposed.step == other.proposed.step) {
            self.replay_proposals(execute, of_step, &mut report)?;
        }
        self.replay_derived(execute, &derived, &mut report)?;
        for of_seed in rounds.chunk_by(|one, other| one.seeds == other.seeds) {
            self.replay_rounds(execute, of_seed, &mut report)?;
        }
        Ok(report)
    }

    fn replay_proposals(
        &self,
        execute: &dyn Execute,
        records: &[&ProposalRecord<E::Request, E::Task, E::ProposalDetail>],
        report: &mut ReplayReport,
    ) -> Result<(), PlayError> {
        let (mut first, mut kept) = (Vec::new(), Vec::new());
        for record in records {
            match self.game.proposer_episode(execute, &record.request)? {
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
        let finished = run_episodes(first, 1, &mut sampler, |all| self.game.advance(execute, seeds.tools, all))?;
        let judge: Vec<ProposalToJudge<'_, E>> = finished
            .iter()
            .zip(&kept)
            .map(|(finished, record)| ProposalToJudge {
                request: &record.request,
                finished,
                proposed: record.proposed,
                stage: Stage::Propose,
            })
            .collect();
        let is_known = &mut |place: usize, _: &Digest| kept[place].judged.known;
        let judged = self.game.judge_proposals(execute, ProposalBatch { proposals: &judge, is_known });
        for (record, now) in kept.iter().zip(judged) {
            compare_proposal(report, &record.judged, &now)?;
        }
        Ok(())
    }

    fn replay_derived(
        &self,
        execute: &dyn Execute,
        records: &[&DerivedRecord<E::Derivation, E::Task, E::ProposalDetail>],
        report: &mut ReplayReport,
    ) -> Result<(), PlayError> {
        let derivations: Vec<E::Derivation> = records.iter().map(|record| record.derivation.clone()).collect();
        let judged = self.game.judge_derived(execute, &derivations, &mut |place, _| records[place].judged.known);
        for (record, now) in records.iter().zip(judged) {
            compare_proposal(report, &record.judged, &now)?;
        }
        Ok(())
    }

    fn replay_task(
        &self,
        execute: &dyn Execute,
        record: &SolvedTask<E>,
        report: &mut ReplayReport,
    ) -> Result<(), PlayError> {
        let judged = |attempt: &&AttemptRecord<E::SolutionDetail>| attempt.judged.verdict.is_ok();
        let kept: Vec<&AttemptRecord<E::SolutionDetail>> = record.attempts.iter().filter(judged).collect();
        report.dropped += (record.attempts.len() - kept.len()) as u64;
        let Some(solutions) = self.replay_solvers(execute, record, &kept)? else {
            // The log does not fit the configuration.
            report.verdicts += kept.len() as u64;
            return Ok(());
        };
        for (attempt, now) in kept.iter().zip(solutions) {
            compare_response(report, (&attempt.episode, &attempt.judged), (&now.finished, &now.judged))?;
        }
        Ok(())
    }

    /// The solvers' episodes of a task, from their logged responses, judged apart from verifiers.
    fn replay_solvers(
        &self,
        execute: &dyn Execute,
        record: &SolvedTask<E>,
        attempts: &[&AttemptRecord<E::SolutionDetail>],
    ) -> Result<Option<Vec<SolverEpisode<E>>>, PlayError> {
        if attempts.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let Some(episode) = self.game.solver_episodes(execute, record.seeds, &[&record.task]).remove(0)? else {
            return Ok(None);
        };
        let mut sampler = LoggedSampler(attempts.iter().map(|attempt| attempt.episode.turns.as_slice()).collect());
        let advance = |all: &mut [FinishedEpisode<E::Episode>]| self.game.advance(execute, record.seeds.tools, all);
        let finished = run_episodes(vec![(0, episode)], attempts.len(), &mut sampler, advance)?;
        Ok(Some(self.judge_solutions(execute, record.seeds.judge, finished, |_| &record.task)))
    }

    /// Replays the rounds of tasks whose seeds are the same. A round that was dropped was dropped as a whole.
    fn replay_rounds(
        &self,
        execute: &dyn Execute,
        records: &[&SolvedTask<E>],
        report: &mut ReplayReport,
    ) -> Result<(), PlayError> {
        let mut rounds = Vec::new();
        for record in records {
            let verdicts = (record.attempts.len() + record.verifications.len()) as u64;
            if record.round.is_none() {
                report.dropped += verdicts;
                continue;
            }
            match self.replay_responses(execute, record)? {
                Some((solutions, verifications)) => rounds.push((*record, solutions, verifications)),
                // The log does not fit the configuration.
                None => report.verdicts += verdicts + 1,
            }
        }
        let Some((first, ..)) = rounds.first() else { return Ok(()) };
        let requests = rounds.iter().map(|(record, solutions, verifications)| RoundRequest {
            task: &record.task,
            solutions,
            verifications: record.verifications.iter().map(|one| one.candidate).zip(verifications).collect(),
        });
        let judged = self.game.judge_rounds(execute, first.seeds.judge, &requests.collect::<Vec<_>>());
        for ((record, solutions, verifications), now) in rounds.iter().zip(judged) {
            for ((logged, one), now) in record.attempts.iter().zip(solutions).zip(&now.solutions) {
                compare_response(report, (&logged.episode, &logged.judged), (&one.finished, now))?;
            }
            for ((logged, one), now) in record.verifications.iter().zip(verifications).zip(&now.verifications) {
                compare_response(report, (&logged.episode, &logged.judged), (one, now))?;
            }
            let verdicts = now.solutions.iter().chain(&now.verifications).map(|one| &one.verdict);
            let logged = record.attempts.iter().map(|one| &one.judged.verdict);
            let met = verdicts.chain(logged).any(|verdict| met_deadline(verdict.as_ref().ok()));
            report.count(now.round == record.round, met);
        }
        Ok(())
    }

    /// The episodes of a round from their logged responses: the solvers', then the verifiers'.
    fn replay_responses(
        &self,
        execute: &dyn Execute,
        record: &SolvedTask<E>,
    ) -> Result<Option<Responses<E>>, PlayError> {
        let attempts: Vec<&AttemptRecord<E::SolutionDetail>> = record.attempts.iter().collect();
        let Some(solutions) = self.replay_solvers(execute, record, &attempts)? else { return Ok(None) };
        let episode = |one: &VerificationRecord<E::SolutionDetail>| {
            self.game.verifier_episode(&record.task, &solutions.get(one.candidate)?.finished)
        };
        let Some(episodes) = record.verifications.iter().map(episode).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let turns = record.verifications.iter().map(|one| one.episode.turns.as_slice());
        let advance = |all: &mut [FinishedEpisode<E::Episode>]| self.game.advance(execute, record.seeds.tools, all);
        let first = episodes.into_iter().enumerate().collect();
        let verifications = run_episodes(first, 1, &mut LoggedSampler(turns.collect()), advance)?;
        Ok(Some((solutions, verifications)))
    }
}

/// Compares the judgement on a response with the logged one, and how its episode ended.
fn compare_response<D: PartialEq, E: Episode>(
    report: &mut ReplayReport,
    (episode, logged): (&EpisodeRecord, &Solution<D>),
    (finished, now): (&FinishedEpisode<E>, &Solution<D>),
) -> Result<(), PlayError> {
    let verdict = now.verdict.as_ref().map_err(not_replayed)?;
    let same = now == logged && finished.episode.end() == episode.end.as_deref();
    report.count(same, met_deadline(Some(verdict)) || met_deadline(logged.verdict.as_ref().ok()));
    Ok(())
}

fn compare_proposal<T: PartialEq, D: PartialEq>(
    report: &mut ReplayReport,
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

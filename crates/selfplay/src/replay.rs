//! Verdicts made again from the log: every episode is run with its logged responses, its tools in the sandbox, and judged.

use std::collections::HashSet;

use veriplay_core::{Digest, Dropped, Execute, SCHEMA_VERSION, Verdict, content_hash};

use crate::admission::JudgedProposal;
use crate::driver::SelfPlay;
use crate::environment::{Environment, ProposalBatch, ProposalToJudge, RoundRequest, SolverEpisode, Stage};
use crate::judgement::{JudgedResponse, Seeds};
use crate::play::{PlayError, ReplayReport};
use crate::records::{
    AttemptRecord, DerivedRecord, EpisodeRecord, LogRecord, ProposalRecord, Record, TaskRecord, VerificationRecord,
};
use crate::rollout::{Episode, FinishedEpisode, LoggedSampler, run_episodes};
use crate::stages::judge_solutions;
use crate::task_pool::{PoolTask, Source};

/// A line of the log about a task.
type SolvedTask<E> =
    TaskRecord<<E as Environment>::Task, <E as Environment>::SolutionDetail, <E as Environment>::Round>;

/// The episodes of a round: solvers', then verifiers'.
type Responses<E> = (Vec<SolverEpisode<E>>, Vec<FinishedEpisode<<E as Environment>::Episode>>);

/// Checks that the records of a log, from its beginning, fit together. [`SelfPlay::replay`] judges each of them by itself.
#[derive(Debug, Default)]
pub struct LogCheck {
    step: u64,
    /// How many proposals, derivations and tasks of the step there were.
    seen: [usize; 3],
    /// The tasks that proposals and derivations made.
    made: HashSet<Digest>,
}

/// What is wrong with a record of a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LogFault(String);

impl LogCheck {
    /// The step of the last record.
    pub const fn step(&self) -> u64 {
        self.step
    }

    /// Checks the next record.
    pub fn check<R, T: PoolTask, P, S, V, J>(&mut self, record: &LogRecord<R, T, P, S, V, J>) -> Result<(), LogFault> {
        let (kind, version, step, index) = match record {
            LogRecord::Proposal(one) => (0, one.schema_version, one.proposed.step, one.index),
            LogRecord::Derived(one) => (1, one.schema_version, one.step, one.index),
            LogRecord::Task(one) => (2, one.schema_version, one.step, one.index),
        };
        let fault = |what: String| Err(LogFault(what));
        if version != SCHEMA_VERSION {
            return fault(format!("the record has version {version}, and this is version {SCHEMA_VERSION}"));
        }
        if step < self.step {
            return fault(format!("a record of step {step} follows one of step {}", self.step));
        }
        if step > self.step {
            (self.step, self.seen) = (step, [0; 3]);
        }
        let expected = self.seen[kind];
        if index != expected {
            let kind = ["proposal", "derivation", "task"][kind];
            return fault(format!(
                "{kind} {index} of step {step} stands where {kind} {expected} should: a record was taken out, doubled or \
                 moved"
            ));
        }
        self.seen[kind] += 1;
        match record {
            LogRecord::Proposal(one) => self.made.extend(one.judged.task.as_ref().map(content_hash)),
            LogRecord::Derived(one) => self.made.extend(one.judged.task.as_ref().map(content_hash)),
            LogRecord::Task(one) if one.source == Source::Seed || self.made.contains(&content_hash(&one.task)) => {}
            LogRecord::Task(_) => {
                return fault(format!("task {index} of step {step} is not what any proposal of the log made"));
            }
        }
        Ok(())
    }
}

impl<E: Environment> SelfPlay<E> {
    /// Judges what `records` hold again, from the logged texts, and compares. Records of one step may come in several calls.
    pub fn replay(&self, execute: &dyn Execute, records: &[Record<E>]) -> Result<ReplayReport, PlayError> {
        let mut report = ReplayReport::default();
        let mut proposals: Vec<&ProposalRecord<_, _, _>> = Vec::new();
        let mut derived: Vec<&DerivedRecord<_, _, _>> = Vec::new();
        let (mut rounds, verifies) = (Vec::new(), self.game.verifier().is_some());
        for record in records {
            match record {
                LogRecord::Proposal(record) if is_cut_off(&record.judged.verdict, &record.episode) => {
                    report.dropped += 1;
                }
                LogRecord::Proposal(record) => proposals.push(record),
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
        let logged = kept.iter().map(|record| &record.episode);
        let finished = self.play_again(execute, seeds, first, 1, logged)?;
        let proposals = finished.iter().zip(&kept).map(|(finished, record)| {
            let ProposalRecord { request, proposed, .. } = record;
            ProposalToJudge { request, finished, proposed: *proposed, stage: Stage::Propose }
        });
        let judge: Vec<ProposalToJudge<'_, E>> = proposals.collect();
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
        let ended = |attempt: &&AttemptRecord<_>| !is_cut_off(&attempt.judged.verdict, &attempt.episode);
        let kept: Vec<&AttemptRecord<E::SolutionDetail>> = record.attempts.iter().filter(ended).collect();
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
        let logged = attempts.iter().map(|attempt| &attempt.episode);
        let finished = self.play_again(execute, record.seeds, vec![(0, episode)], attempts.len(), logged)?;
        Ok(Some(judge_solutions(&self.game, execute, record.seeds.judge, finished, |_| &record.task)))
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
            let met = verdicts.flatten().any(|verdict| verdict.evidence.met_deadline);
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
        let logged = record.verifications.iter().map(|one| &one.episode);
        let first = episodes.into_iter().enumerate().collect();
        let verifications = self.play_again(execute, record.seeds, first, 1, logged)?;
        Ok(Some((solutions, verifications)))
    }

    /// Runs `group` copies of each of `first` to their ends, with the responses of the logged episodes.
    fn play_again<'r>(
        &self,
        execute: &dyn Execute,
        seeds: Seeds,
        first: Vec<(usize, E::Episode)>,
        group: usize,
        logged: impl Iterator<Item = &'r EpisodeRecord>,
    ) -> Result<Vec<FinishedEpisode<E::Episode>>, PlayError> {
        let mut sampler = LoggedSampler(logged.map(|episode| episode.turns.as_slice()).collect());
        run_episodes(first, group, &mut sampler, |all| self.game.advance(execute, seeds.tools, all))
    }
}

/// Compares the judgement on a response with the logged one, and how its episode ended.
fn compare_response<D: PartialEq, E: Episode>(
    report: &mut ReplayReport,
    (episode, logged): (&EpisodeRecord, &JudgedResponse<D>),
    (finished, now): (&FinishedEpisode<E>, &JudgedResponse<D>),
) -> Result<(), PlayError> {
    let same = now == logged && finished.episode.end() == episode.end.as_deref();
    compare_verdict(report, same, &logged.verdict, &now.verdict)
}

fn compare_proposal<T: PartialEq, D: PartialEq>(
    report: &mut ReplayReport,
    logged: &JudgedProposal<T, D>,
    now: &JudgedProposal<T, D>,
) -> Result<(), PlayError> {
    compare_verdict(report, now == logged, &logged.verdict, &now.verdict)
}

fn compare_verdict(
    report: &mut ReplayReport,
    same: bool,
    logged: &Result<Verdict, Dropped>,
    now: &Result<Verdict, Dropped>,
) -> Result<(), PlayError> {
    if logged.is_err() {
        report.dropped += 1;
        report.recovered += u64::from(now.is_ok());
        return Ok(());
    }
    let now = now.as_ref().map_err(not_replayed)?;
    let met_deadline = now.evidence.met_deadline;
    report.count(same, met_deadline);
    let other_status = logged.as_ref().is_ok_and(|logged| logged.status != now.status);
    report.other_status += u64::from(other_status && !met_deadline);
    Ok(())
}

/// Whether the host failed in the episode itself, so that the log has a part of it.
const fn is_cut_off(verdict: &Result<Verdict, Dropped>, episode: &EpisodeRecord) -> bool {
    verdict.is_err() && episode.end.is_none()
}

fn not_replayed(dropped: &Dropped) -> PlayError {
    let why =
        format!("a verdict could not be made again: {}; run `veriplay replay` again, nothing was changed", dropped.why);
    PlayError::Host(Dropped { why })
}

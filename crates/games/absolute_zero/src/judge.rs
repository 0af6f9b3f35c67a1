//! From episodes to judgements, the same for play, evaluation and replay.

use std::collections::{BTreeMap, HashSet};

use veriplay_core::{Attempt, Execute, FinishReason, ProposalVerdict, Provenance, Rollout, Task};
use veriplay_selfplay::admission::JudgedProposal;
use veriplay_selfplay::environment::{
    JudgedProposalOf, JudgedResponseOf, ProposalBatch, ProposalToJudge, Stage, TaskEpisode,
};
use veriplay_selfplay::judgement::{JudgedResponse, Judging, ProposalPosition, run_undecided};
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::rollout::{FinishedEpisode, SingleTurn};
use veriplay_selfplay::splits::Guard;
use veriplay_verifier::triplets::rules;
use veriplay_verifier::{AnswerRequest, ProposalGate, ProposalRequest, ProposalShape, judge_answers, judge_proposals};

use super::composites::with_helpers;
use super::{AbsoluteZero, ProposalDrafts, TripletTask, proposal_key};

/// Seeds the jobs that judge answers. One for all: a program that depends on it is judged on this one.
const ANSWER_SEED: u64 = 0;

/// Keeps the numbers of proposals of different types apart; configurations allow fewer.
const PROPOSALS_PER_TYPE_AT_MOST: u64 = 1 << 20;

impl AbsoluteZero {
    /// Judges proposals. Nothing runs for those that are evaluated on.
    pub(super) fn judge_programs(
        &self,
        execute: &dyn Execute,
        batch: ProposalBatch<'_, Self>,
    ) -> Vec<JudgedProposalOf<Self>> {
        let ProposalBatch { proposals, is_known } = batch;
        let mut read = |(place, one): (usize, &ProposalToJudge<'_, Self>)| {
            let attempt = self.read_proposal(one);
            let known = match &attempt {
                // The start model's examples may repeat each other.
                Attempt::Proposal(proposal) if one.stage == Stage::Propose => is_known(place, &proposal_key(proposal)),
                _ => false,
            };
            (attempt, known)
        };
        let attempts: Vec<(Attempt, bool)> = proposals.iter().enumerate().map(&mut read).collect();
        let refusal = |attempt: &Attempt| match attempt {
            Attempt::Proposal(proposal) => self.base.guard.refuse_programs([proposal.program()]),
            _ => None,
        };
        let requests = attempts.iter().zip(proposals).map(|((attempt, known), one)| match refusal(attempt) {
            Some(verdict) => Judging::Decided(Ok(ProposalVerdict { verdict, task: None, guess_rate: None })),
            None => Judging::Open(ProposalRequest { attempt, known: *known, provenance: provenance(one.proposed) }),
        });
        let judged = run_undecided(requests, |open| judge_proposals(execute, &self.tasks.gate, open));
        let judgement = |((detail, known), judged)| match judged {
            Ok(ProposalVerdict { verdict, task, guess_rate }) => {
                let guess_rate = guess_rate.filter(|_| self.own.discount_guesses);
                let task = task.map(TripletTask);
                JudgedProposal { verdict: Ok(verdict), task, known, guess_rate, detail }
            }
            Err(dropped) => JudgedProposal { verdict: Err(dropped), task: None, known, guess_rate: None, detail },
        };
        attempts.into_iter().zip(judged).map(judgement).collect()
    }

    /// Judges answers.
    pub(super) fn judge_answers(
        &self,
        execute: &dyn Execute,
        solutions: &[TaskEpisode<'_, Self>],
    ) -> Vec<JudgedResponseOf<Self>> {
        let read = |(task, episode): &(&TripletTask, &FinishedEpisode<SingleTurn>)| {
            read_finished(episode, |rollout| self.responses.extract_answer(task.question.task_type(), &rollout.text))
        };
        let attempts: Vec<Attempt> = solutions.iter().map(read).collect();
        let requests = solutions.iter().zip(&attempts).map(|((task, _), attempt)| AnswerRequest {
            task,
            attempt,
            image: &self.tasks.gate.image,
            seed: ANSWER_SEED,
            judge_shown: self.own.judge_shown,
        });
        let verdicts = judge_answers(execute, &requests.collect::<Vec<_>>());
        attempts.into_iter().zip(verdicts).map(|(detail, verdict)| JudgedResponse { verdict, detail }).collect()
    }

    fn read_proposal(&self, one: &ProposalToJudge<'_, Self>) -> Attempt {
        let shape = ProposalShape {
            task_type: one.request.task_type,
            given: one.request.given.as_deref(),
            inputs: self.own.induction_inputs(),
        };
        read_finished(one.finished, |rollout| {
            with_helpers(self.responses.extract_proposal(&shape, &rollout.text), &one.request.helpers)
        })
    }
}

/// A response that was cut off is malformed.
fn read_finished(episode: &FinishedEpisode<SingleTurn>, read: impl FnOnce(&Rollout) -> Attempt) -> Attempt {
    match episode.last() {
        Some(rollout) if rollout.finish == FinishReason::Stop => read(rollout),
        Some(_) => Attempt::Malformed { reason: "it reached the token limit".to_owned() },
        None => Attempt::Malformed { reason: "there is no response".to_owned() },
    }
}

const fn provenance(proposed: ProposalPosition) -> Provenance {
    let index = proposed.chunk as u64 * PROPOSALS_PER_TYPE_AT_MOST + proposed.offset as u64;
    Provenance::Proposed { step: proposed.step, index }
}

/// Drafts in a row without a new task after which no more are drawn: generators never end.
const DRAFTS_WITHOUT_TASK: usize = 10_000;

/// The first `count` drafts that pass the gate and hold nothing that is evaluated on, as tasks; no two alike.
///
/// # Errors
/// Too few drafts pass, none of many in a row does, or a host fault.
pub fn draft_tasks(
    execute: &dyn Execute,
    gate: &ProposalGate,
    guard: &Guard,
    mut drafts: ProposalDrafts,
    count: usize,
) -> Result<Vec<Task>, PlayError> {
    /// Drafts judged together.
    const BLOCK: usize = 128;
    let (mut tasks, mut seen, mut refused) = (Vec::with_capacity(count), HashSet::new(), RefusedDrafts::default());
    while tasks.len() < count {
        let block: Vec<Attempt> = drafts.by_ref().take(BLOCK).map(Attempt::Proposal).collect();
        if block.is_empty() || refused.in_a_row >= DRAFTS_WITHOUT_TASK {
            let what = format!("only {} of {count} tasks are found", tasks.len());
            return Err(PlayError::Setup(format!("{what}: {}", refused.describe())));
        }
        let seed = |attempt| ProposalRequest { attempt, known: false, provenance: Provenance::Seed };
        for judged in judge_proposals(execute, gate, &block.iter().map(seed).collect::<Vec<_>>()) {
            let ProposalVerdict { verdict, task, .. } = judged?;
            let refusal = task.as_ref().and_then(|task| guard.refuse_programs([task.question.program()]));
            let (verdict, task) = refusal.map_or((verdict, task), |refusal| (refusal, None));
            match task {
                Some(task) if seen.insert(task.id()) => {
                    tasks.push(task);
                    refused.in_a_row = 0;
                }
                Some(_) => refused.add(rules::DUPLICATE, "it is a task already"),
                None => refused.add(&verdict.evidence.rule, &verdict.evidence.detail),
            }
        }
    }
    tasks.truncate(count);
    Ok(tasks)
}

/// The drafts that became no task.
#[derive(Default)]
struct RefusedDrafts {
    /// Since the last that became one.
    in_a_row: usize,
    all: usize,
    /// How many each rule refused, with the detail of the first.
    by_rule: BTreeMap<String, (usize, String)>,
}

impl RefusedDrafts {
    fn add(&mut self, rule: &str, detail: &str) {
        self.in_a_row += 1;
        self.all += 1;
        self.by_rule.entry(rule.to_owned()).or_insert_with(|| (0, detail.to_owned())).0 += 1;
    }

    /// What refused most, and what to change.
    fn describe(&self) -> String {
        let ended = if self.in_a_row < DRAFTS_WITHOUT_TASK {
            "there are no more drafts".to_owned()
        } else {
            format!("the last {} drafts gave none", self.in_a_row)
        };
        let most = self.by_rule.iter().max_by_key(|(_, (count, _))| *count);
        let refused = most.map_or_else(String::new, |(rule, (count, detail))| {
            format!("; of {} refused drafts the rule `{rule}` refused {count} (the first: {detail})", self.all)
        });
        format!("{ended}{refused}: raise `gate.limits`, widen the rule in `[gate]`, or ask for fewer tasks")
    }
}

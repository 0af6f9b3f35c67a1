//! What the game is played in: its episodes, and from episodes to judgements, the same for play, evaluation and replay.

use std::collections::HashMap;

use veriplay_core::{
    Attempt, Digest, Execute, FinishReason, Proposal, ProposalVerdict, Provenance, Question, Rollout, Status, TaskType,
    Verdict,
};
use veriplay_selfplay::admission::{Admission, IsKnown, JudgedProposal};
use veriplay_selfplay::environment::{
    Environment, GameBase, JudgedProposalOf, JudgedResponseOf, OpenedEpisode, ProposalBatch, ProposalToJudge,
    SamplingCall, Stage, TaskEpisode,
};
use veriplay_selfplay::judgement::{
    JudgedResponse, Judging, Never, ProposalPosition, Seeds, rule_verdict, run_undecided,
};
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::randomness::derive_seed;
use veriplay_selfplay::rollout::{FinishedEpisode, SingleTurn};
use veriplay_selfplay::task_pool::PoolTask;
use veriplay_verifier::{
    AnswerRequest, ProposalRequest, ProposalShape, SignatureRequest, judge_answers, judge_proposals, signatures,
};

use super::composites::with_helpers;
use super::documents::{DOCUMENT_SHOWN, shares_window};
use super::{AbsoluteZero, AbsoluteZeroRequest, Derivation, TripletTask, proposal_key};

/// Seeds the jobs that judge answers. One for all: a program that depends on it is judged on this one.
const ANSWER_SEED: u64 = 0;

/// Keeps the numbers of proposals of different types apart; configurations allow fewer.
const PROPOSALS_PER_TYPE_AT_MOST: u64 = 1 << 20;

impl Environment for AbsoluteZero {
    type Task = TripletTask;
    type Request = AbsoluteZeroRequest;
    type Episode = SingleTurn;
    type ProposalDetail = Attempt;
    type SolutionDetail = Attempt;
    type Round = Never;
    type Derivation = Derivation;

    const CHOICE_PURPOSE: &'static str = "solver turns";
    const KINDS: &'static [&'static str] =
        &[TaskType::Deduction.name(), TaskType::Abduction.name(), TaskType::Induction.name(), TaskType::Error.name()];

    fn base(&self) -> &GameBase<TripletTask> {
        &self.base
    }

    fn proposer_episode(
        &self,
        _execute: &dyn Execute,
        request: &AbsoluteZeroRequest,
    ) -> Result<Option<SingleTurn>, PlayError> {
        Ok(Some(self.proposer(request.clone(), Vec::new(), 1).episode))
    }

    fn judge_proposals(&self, execute: &dyn Execute, batch: ProposalBatch<'_, Self>) -> Vec<JudgedProposalOf<Self>> {
        let ProposalBatch { proposals, is_known } = batch;
        let mut read = |(place, one): (usize, &ProposalToJudge<'_, Self>)| {
            let attempt = self.read_proposal(one);
            let known = match &attempt {
                // The start model's examples may repeat each other.
                Attempt::Proposal(proposal) if one.stage == Stage::Propose => is_known(place, &self.key(proposal)),
                _ => false,
            };
            ReadProposal { attempt, known, provenance: provenance(one.proposed) }
        };
        let mut judged = self.judge_read(execute, proposals.iter().enumerate().map(&mut read).collect());
        for (one, judged) in proposals.iter().zip(&mut judged) {
            if let Some(document) = &one.request.document {
                self.refuse_shown(document, judged);
            }
        }
        judged
    }

    fn judge_derived(
        &self,
        execute: &dyn Execute,
        derivations: &[Derivation],
        is_known: &mut IsKnown<'_>,
    ) -> Vec<JudgedProposalOf<Self>> {
        let read = derivations.iter().enumerate().map(|(place, one)| {
            let known = is_known(place, &self.key(&one.proposal));
            ReadProposal { attempt: Attempt::Proposal(one.proposal.clone()), known, provenance: one.provenance.clone() }
        });
        self.judge_read(execute, read.collect())
    }

    fn is_proposed(&self, derivation: &Derivation) -> bool {
        derivation.provenance != Provenance::Seed
    }

    /// A copy of a refused proposal is refused too, or repeating a bad proposal would be rewarded more than making it once.
    fn admissions(&self, judged: &[&JudgedProposalOf<Self>]) -> Vec<Admission<TripletTask>> {
        let own = |one: &JudgedProposalOf<Self>| match Admission::from_judgement(one) {
            Admission::Dropped => Admission::Dropped,
            _ if matches!(one.detail, Attempt::Malformed { .. }) => Admission::Malformed,
            Admission::Malformed => Admission::Malformed,
            _ if one.known => Admission::Duplicate,
            admission => admission,
        };
        let mut originals: HashMap<Digest, &JudgedProposalOf<Self>> = HashMap::new();
        let mut admissions = Vec::with_capacity(judged.len());
        for &one in judged {
            let original = match &one.detail {
                Attempt::Proposal(proposal) => *originals.entry(self.key(proposal)).or_insert(one),
                _ => one,
            };
            admissions.push(match own(original) {
                Admission::Admitted(_) if one.known && !std::ptr::eq(original, one) => Admission::Duplicate,
                refused if one.known && !std::ptr::eq(original, one) => refused,
                _ => own(one),
            });
        }
        admissions
    }

    fn kinds(&self) -> Vec<&'static str> {
        Self::KINDS
            .iter()
            .copied()
            .zip(TaskType::ALL)
            .filter(|(_, one)| self.plays(*one))
            .map(|(kind, _)| kind)
            .collect()
    }

    /// The signature of the program. That of an induction task was given, and its proposer made the inputs: what it is, is its key.
    fn behaviours(&self, execute: &dyn Execute, tasks: &[&TripletTask]) -> Vec<Option<Digest>> {
        let requests: Vec<SignatureRequest<'_>> = tasks.iter().filter_map(|task| proposed_program(task)).collect();
        let mut signatures = signatures(execute, &self.tasks.gate, &requests).into_iter();
        let behaviours = tasks.iter().map(|task| match proposed_program(task) {
            Some(_) => signatures.next().flatten(),
            None => Some(task.key()),
        });
        behaviours.collect()
    }

    fn solver_episodes(
        &self,
        _execute: &dyn Execute,
        _seeds: Seeds,
        tasks: &[&TripletTask],
    ) -> Vec<OpenedEpisode<Self>> {
        tasks.iter().map(|task| Ok(Some(SingleTurn::new(self.solver_prompt(&task.question))))).collect()
    }

    fn judge_solutions(
        &self,
        execute: &dyn Execute,
        _seed: u64,
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

    fn is_well_formed(&self, episode: &FinishedEpisode<SingleTurn>) -> bool {
        episode.last().is_some_and(|rollout| self.responses.is_well_formed(&rollout.text))
    }

    fn chunk(&self, stage: Stage) -> usize {
        match stage {
            // Enough to fill a batch, few enough that judging overlaps sampling.
            Stage::Solve => 32,
            Stage::AfterUpdate | Stage::Evaluate | Stage::EvaluateGreedy => 100,
            Stage::SftSolve | Stage::SftPropose | Stage::Propose => usize::MAX,
        }
    }

    fn sampling_seed(&self, run: u64, step: u64, draw: &SamplingCall) -> u64 {
        /// Keeps the supervised examples apart from the samples of step 0: those are scored, these are imitated.
        const SFT: u64 = 0xa17c;
        let of_role = |role: &str| derive_seed(run, step, &format!("sampling/{role}/{}", draw.group));
        let seed = match draw.stage {
            Stage::SftPropose => of_role("proposer").wrapping_add(SFT),
            Stage::Propose => of_role("proposer"),
            Stage::SftSolve | Stage::Solve => of_role("solver"),
            Stage::AfterUpdate => derive_seed(run, step, "sampling/after update"),
            Stage::Evaluate | Stage::EvaluateGreedy => run,
        };
        seed.wrapping_add(draw.chunk as u64)
    }
}

/// A proposal or a derivation before it is judged.
struct ReadProposal {
    attempt: Attempt,
    known: bool,
    provenance: Provenance,
}

impl AbsoluteZero {
    fn key(&self, proposal: &Proposal) -> Digest {
        proposal_key(self.own.language(), proposal)
    }

    /// Nothing runs for those that are evaluated on.
    fn judge_read(&self, execute: &dyn Execute, read: Vec<ReadProposal>) -> Vec<JudgedProposalOf<Self>> {
        let refusal = |attempt: &Attempt| match attempt {
            Attempt::Proposal(proposal) => self.base.guard.refuse_programs([proposal.program()]),
            _ => None,
        };
        let requests = read.iter().map(|ReadProposal { attempt, known, provenance }| match refusal(attempt) {
            Some(verdict) => Judging::Decided(Ok(ProposalVerdict { verdict, task: None, guess_rate: None })),
            None => Judging::Open(ProposalRequest { attempt, known: *known, provenance: provenance.clone() }),
        });
        let judged = run_undecided(requests, |open| judge_proposals(execute, &self.tasks.gate, open));
        let judgement = |(ReadProposal { attempt: detail, known, .. }, judged)| match judged {
            Ok(ProposalVerdict { verdict, task, guess_rate }) => {
                let guess_rate = guess_rate.filter(|_| self.own.discount_guesses);
                let task = task.map(TripletTask);
                JudgedProposal { verdict: Ok(verdict), task, known, guess_rate, detail }
            }
            Err(dropped) => JudgedProposal { verdict: Err(dropped), task: None, known, guess_rate: None, detail },
        };
        read.into_iter().zip(judged).map(judgement).collect()
    }

    /// Refuses a valid proposal whose solvers would be shown a part of the document that its proposer has read.
    fn refuse_shown(&self, document: &str, judged: &mut JudgedProposalOf<Self>) {
        let is_valid = judged.verdict.as_ref().is_ok_and(|verdict| verdict.status == Status::Valid);
        let prompt = judged.task.as_ref().filter(|_| is_valid).map(|task| self.solver_prompt(&task.question));
        if prompt.is_some_and(|prompt| shares_window(document, &prompt.text())) {
            let detail = "the prompt of its solvers holds a part of the document";
            judged.verdict = Ok(Verdict { total: 1, ..rule_verdict(Status::Invalid, DOCUMENT_SHOWN, detail) });
            (judged.task, judged.guess_rate) = (None, None);
        }
    }

    fn read_proposal(&self, one: &ProposalToJudge<'_, Self>) -> Attempt {
        let shape = ProposalShape {
            task_type: one.request.task_type,
            given: one.request.given.as_deref(),
            inputs: self.own.induction_inputs(),
        };
        read_finished(one.finished, |rollout| {
            let text = [one.request.begun.as_deref().unwrap_or_default(), &rollout.text].concat();
            with_helpers(self.responses.extract_proposal(&shape, &text), &one.request.helpers)
        })
    }
}

/// The program that a task's proposer wrote, with an input of it.
fn proposed_program(task: &TripletTask) -> Option<SignatureRequest<'_>> {
    match &task.question {
        Question::Deduction { program, pair } | Question::Abduction { program, pair } => {
            Some(SignatureRequest { program, input: &pair.input })
        }
        Question::Error { program, input, .. } => Some(SignatureRequest { program, input }),
        Question::Induction { .. } => None,
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

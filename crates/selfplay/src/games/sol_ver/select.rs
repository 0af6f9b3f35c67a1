//! What a step learns from: what agreement trusts, or, for the control, as much of anything.

use std::collections::BTreeMap;

use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use veriplay_core::{Rollout, Status};
use veriplay_verifier::agreement::{CodeDecision, Judgement, SuiteDecision};

use super::records::SolVerRecord;
use super::{Selection, SolVer};
use crate::randomness::generator;

/// One response of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Response {
    /// The statement of problem `.0`.
    Problem(usize),
    /// Code `.1` of problem `.0`.
    Code(usize, usize),
    /// Suite `.1` of problem `.0`.
    Suite(usize, usize),
}

impl Response {
    pub(super) fn rollout(self, records: &[SolVerRecord]) -> &Rollout {
        match self {
            Response::Problem(problem) => &records[problem].proposal,
            Response::Code(problem, code) => &records[problem].codes[code],
            Response::Suite(problem, suite) => &records[problem].suites[suite].rollout,
        }
    }

    /// The kind of it: what a control must draw as many of.
    pub(super) const fn kind(self) -> usize {
        match self {
            Response::Problem(_) => 0,
            Response::Code(..) => 1,
            Response::Suite(..) => 2,
        }
    }
}

/// A response before another one to the same prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) chosen: Response,
    pub(super) rejected: Response,
}

/// What a step learns from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) examples: Vec<Response>,
    pub(super) pairs: Vec<Pair>,
}

/// What the step learns from, under the config's selection.
pub(super) fn select(game: &SolVer, seed: u64, step: u64, records: &[SolVerRecord]) -> Chosen {
    let mut agreed = Chosen::default();
    let mut random = generator(seed, step, "sol_ver/select");
    for (problem, record) in records.iter().enumerate() {
        if let Some(judgement) = record.judgement().filter(|judgement| judgement.refused.is_none()) {
            Picking { game, problem, record, judgement }.add(&mut agreed, &mut random);
        }
    }
    match game.config.selection {
        Selection::Consensus => agreed,
        Selection::Random => at_random(game, records, &agreed, &mut generator(seed, step, "sol_ver/control")),
    }
}

/// One problem that something may be learned from.
struct Picking<'a> {
    game: &'a SolVer,
    problem: usize,
    record: &'a SolVerRecord,
    judgement: &'a Judgement,
}

impl Picking<'_> {
    fn add(&self, chosen: &mut Chosen, random: &mut ChaCha8Rng) {
        let config = &self.game.config;
        let codes = self.codes(|decision| decision.status == Status::Accepted, random);
        let suites = self.suites(|decision| decision.status == Status::Sound, random);
        let code_pairs = self.code_pairs(&codes, random);
        let test_pairs = self.test_pairs(&suites, random);
        let mut examples = Vec::new();
        // A triple is consistent when a code is there that the tests refuse: else they may be as easy as they like.
        if self.judgement.codes.iter().any(is_failing) && !codes.is_empty() && !suites.is_empty() {
            examples.extend(codes.into_iter().take(config.sft_codes));
            examples.extend(suites.into_iter().take(config.sft_suites));
        }
        let learned = !(examples.is_empty() && code_pairs.is_empty() && test_pairs.is_empty());
        if learned && config.problem_weight > 0.0 {
            examples.insert(0, Response::Problem(self.problem));
        }
        chosen.examples.extend(examples);
        chosen.pairs.extend(code_pairs);
        chosen.pairs.extend(test_pairs);
    }

    /// The codes with such a decision, one of each text, in random order.
    fn codes(&self, wanted: impl Fn(&CodeDecision) -> bool, random: &mut ChaCha8Rng) -> Vec<Response> {
        let decisions = self.judgement.codes.iter().enumerate().filter(|(_, decision)| wanted(decision));
        self.distinct(decisions.map(|(code, _)| Response::Code(self.problem, code)), random)
    }

    /// The suites with such a decision, one of each text and candidate, in random order.
    fn suites(&self, wanted: impl Fn(&SuiteDecision) -> bool, random: &mut ChaCha8Rng) -> Vec<Response> {
        let decisions = self.judgement.suites.iter().enumerate().filter(|(_, decision)| wanted(decision));
        self.distinct(decisions.map(|(suite, _)| Response::Suite(self.problem, suite)), random)
    }

    fn distinct(&self, responses: impl Iterator<Item = Response>, random: &mut ChaCha8Rng) -> Vec<Response> {
        let mut found: Vec<(Response, (usize, &str))> = Vec::new();
        for response in responses {
            let key = (self.candidate(response), self.text(response));
            if found.iter().all(|(_, known)| *known != key) {
                found.push((response, key));
            }
        }
        let mut found: Vec<Response> = found.into_iter().map(|(response, _)| response).collect();
        found.shuffle(random);
        found
    }

    /// What tells a suite's prompt from others of its problem.
    fn candidate(&self, response: Response) -> usize {
        if let Response::Suite(_, suite) = response { self.record.suites[suite].candidate } else { 0 }
    }

    fn text(&self, response: Response) -> &str {
        match response {
            Response::Problem(_) => &self.record.proposal.text,
            Response::Code(_, code) => &self.record.codes[code].text,
            Response::Suite(_, suite) => &self.record.suites[suite].rollout.text,
        }
    }

    /// A trusted code before one that falls short by the margin.
    fn code_pairs(&self, trusted: &[Response], random: &mut ChaCha8Rng) -> Vec<Pair> {
        let margin = self.game.config.margin;
        let worse = self.codes(|decision| is_failing(decision) && fraction(decision) <= 1.0 - margin, random);
        let pairs = trusted.iter().flat_map(|chosen| worse.iter().map(move |rejected| (*chosen, *rejected)));
        drawn(pairs.collect(), self.game.config.code_pairs, random)
    }

    /// A sound suite before one for the same code that the trusted code fails by the margin, or that is vacuous.
    fn test_pairs(&self, sound: &[Response], random: &mut ChaCha8Rng) -> Vec<Pair> {
        let margin = self.game.config.margin;
        let worse = |decision: &SuiteDecision| match decision.status {
            Status::Vacuous => true,
            Status::Unsound => decision.quality.pass_fraction() <= 1.0 - margin,
            _ => false,
        };
        let worse = self.suites(worse, random);
        let pairs = sound.iter().flat_map(|chosen| worse.iter().map(move |rejected| (*chosen, *rejected)));
        let one_prompt =
            |(chosen, rejected): &(Response, Response)| self.candidate(*chosen) == self.candidate(*rejected);
        drawn(pairs.filter(one_prompt).collect(), self.game.config.test_pairs, random)
    }
}

/// A code that took part, does not agree, and that sound suites refuse.
fn is_failing(decision: &CodeDecision) -> bool {
    let outside = !matches!(
        decision.status,
        Status::Accepted | Status::Malformed | Status::Invalid | Status::NonDeterministic | Status::Unjudgeable
    );
    outside && decision.passed < decision.total
}

fn fraction(decision: &CodeDecision) -> f64 {
    if decision.total == 0 { 0.0 } else { f64::from(decision.passed) / f64::from(decision.total) }
}

fn drawn(mut pairs: Vec<(Response, Response)>, most: usize, random: &mut ChaCha8Rng) -> Vec<Pair> {
    pairs.shuffle(random);
    pairs.into_iter().take(most).map(|(chosen, rejected)| Pair { chosen, rejected }).collect()
}

/// As many examples and pairs of each kind, drawn from all responses of the step; a coin says which of a pair is chosen.
fn at_random(game: &SolVer, records: &[SolVerRecord], agreed: &Chosen, random: &mut ChaCha8Rng) -> Chosen {
    let mut chosen = Chosen::default();
    let all = responses(game, records);
    for kind in 0..3 {
        let count = agreed.examples.iter().filter(|response| response.kind() == kind).count();
        let mut of_kind: Vec<Response> = all.iter().copied().filter(|response| response.kind() == kind).collect();
        of_kind.shuffle(random);
        chosen.examples.extend(of_kind.iter().take(count));
        let count = agreed.pairs.iter().filter(|pair| pair.chosen.kind() == kind).count();
        let mut pairs = if count == 0 { Vec::new() } else { any_pairs(records, &of_kind) };
        pairs.shuffle(random);
        let flipped = |(one, other): &(Response, Response)| match random.random::<bool>() {
            true => Pair { chosen: *one, rejected: *other },
            false => Pair { chosen: *other, rejected: *one },
        };
        chosen.pairs.extend(pairs.iter().take(count).map(flipped).collect::<Vec<_>>());
    }
    chosen
}

/// The responses of the problems that were asked and not dropped, but for what is measured.
fn responses(game: &SolVer, records: &[SolVerRecord]) -> Vec<Response> {
    let asked = |record: &SolVerRecord| record.judgement().is_some() && !record.is_measured();
    let judged = records.iter().enumerate().filter(|(_, record)| asked(record));
    let of = |(problem, record): (usize, &SolVerRecord)| {
        let measured = |code: &usize| {
            let program = game.read_program(&record.codes[*code]);
            program.is_ok_and(|program| game.guard.find_program(&program).is_some())
        };
        let codes =
            (0..record.codes.len()).filter(move |code| !measured(code)).map(move |code| Response::Code(problem, code));
        let suites = (0..record.suites.len()).map(move |suite| Response::Suite(problem, suite));
        std::iter::once(Response::Problem(problem)).chain(codes).chain(suites).collect::<Vec<_>>()
    };
    judged.flat_map(of).collect()
}

/// All pairs of responses to one prompt with different texts.
fn any_pairs(records: &[SolVerRecord], responses: &[Response]) -> Vec<(Response, Response)> {
    let mut prompts: BTreeMap<&[u32], Vec<Response>> = BTreeMap::new();
    for response in responses {
        prompts.entry(&response.rollout(records).prompt_tokens).or_default().push(*response);
    }
    let mut pairs = Vec::new();
    for mut group in prompts.into_values() {
        group.sort_unstable();
        for (place, one) in group.iter().enumerate() {
            let differs = |other: &&Response| other.rollout(records).text != one.rollout(records).text;
            pairs.extend(group[place + 1..].iter().filter(differs).map(|other| (*one, *other)));
        }
    }
    pairs
}

//! What a step proves of its responses: what agreement trusts, or, for the control, as much of anything.

use std::collections::BTreeMap;

use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use veriplay_core::{Status, Verdict};
use veriplay_selfplay::facts::StepFacts;
use veriplay_selfplay::judgement::RoundFacts;
use veriplay_selfplay::preferences::{Example, Pair, Preferences, Response, win_share};
use veriplay_selfplay::randomness::generator;
use veriplay_selfplay::rollout::Part;
use veriplay_selfplay::splits::HELD_OUT;
use veriplay_verifier::agreement::SuiteQuality;

use super::rounds::AgreementRound;
use super::{Selection, SolVer};

impl SolVer {
    /// What the step learns from, under the configuration's selection.
    pub(super) fn select_preferences(&self, seed: u64, step: u64, facts: &StepFacts<Self>) -> Preferences {
        let mut agreed = Preferences::default();
        let mut random = generator(seed, step, "sol_ver/select");
        for problem in judged_problems(facts) {
            if problem.round.refused.is_none() {
                ProblemSelection { game: self, problem }.add(&mut agreed, &mut random);
            }
        }
        match self.own.selection {
            Selection::Consensus => agreed,
            Selection::Random => self.select_at_random(facts, &agreed, &mut generator(seed, step, "sol_ver/control")),
        }
    }

    /// Before the weight of the role.
    const fn weight(&self, part: Part) -> f64 {
        match part {
            Part::Proposal | Part::Deferred => 1.0,
            Part::Solution => self.own.code_weight,
            Part::Verification => self.own.test_weight,
        }
    }

    fn example(&self, response: Response) -> Example {
        Example { response, weight: self.weight(response.part) }
    }

    fn pair(&self, chosen: Response, rejected: Response) -> Pair {
        Pair { chosen, rejected, weight: self.weight(chosen.part), win: None, rewards: Some([1.0, 0.0]) }
    }

    /// As many examples and pairs of each role, drawn from all responses of the step; a coin says which of a pair is chosen.
    fn select_at_random(&self, facts: &StepFacts<Self>, agreed: &Preferences, random: &mut ChaCha8Rng) -> Preferences {
        let mut chosen = Preferences::default();
        let all = self.learnable_responses(facts);
        for part in [Part::Proposal, Part::Solution, Part::Verification] {
            let count = agreed.examples.iter().filter(|one| one.response.part == part).count();
            let mut of_part: Vec<Response> = all.iter().copied().filter(|one| one.part == part).collect();
            of_part.shuffle(random);
            chosen.examples.extend(of_part.iter().take(count).map(|one| self.example(*one)));
            let count = agreed.pairs.iter().filter(|pair| pair.chosen.part == part).count();
            let mut pairs = if count == 0 { Vec::new() } else { any_pairs(facts, &of_part) };
            pairs.shuffle(random);
            let mut flip = |(one, other): (Response, Response)| match random.random::<bool>() {
                true => self.pair(one, other),
                false => self.pair(other, one),
            };
            chosen.pairs.extend(pairs.into_iter().take(count).map(&mut flip));
        }
        chosen
    }

    /// The responses to problems that were not dropped, without those that hold what the policy is evaluated on.
    fn learnable_responses(&self, facts: &StepFacts<Self>) -> Vec<Response> {
        let is_eval_item = |code: &Response| {
            let program = self.read_program(&facts.solutions[code.index].finished);
            program.is_ok_and(|program| self.base.guard.refuse_programs([&*program]).is_some())
        };
        let mut responses = Vec::new();
        for problem in judged_problems(facts).into_iter().filter(|problem| !problem.is_measured()) {
            responses.extend(problem.statement());
            responses.extend(problem.codes.iter().copied().filter(|code| !is_eval_item(code)));
            responses.extend(&problem.suites);
        }
        responses
    }
}

/// A problem whose round was judged, with its responses.
pub(super) struct JudgedProblem<'a> {
    facts: &'a StepFacts<SolVer>,
    proposal: Option<usize>,
    pub(super) round: &'a AgreementRound,
    codes: Vec<Response>,
    suites: Vec<Response>,
}

impl<'a> JudgedProblem<'a> {
    fn statement(&self) -> Option<Response> {
        self.proposal.map(|index| Response { part: Part::Proposal, index })
    }

    fn is_measured(&self) -> bool {
        self.round.refusal().is_some_and(|refusal| refusal.rule == HELD_OUT)
    }

    /// Those of its codes that the host did not drop.
    pub(super) fn code_verdicts(&self) -> impl Iterator<Item = &'a Verdict> {
        self.codes.iter().filter_map(|code| self.facts.solutions[code.index].judged.verdict.as_ref().ok())
    }

    /// As [`JudgedProblem::code_verdicts`], of its suites.
    pub(super) fn suite_verdicts(&self) -> impl Iterator<Item = (&'a Verdict, SuiteQuality)> {
        let suites = self.suites.iter().map(|suite| &self.facts.verifications[suite.index].judged);
        suites.filter_map(|judged| Some((judged.verdict.as_ref().ok()?, judged.detail.unwrap_or_default())))
    }
}

/// The problems whose rounds were not dropped.
pub(super) fn judged_problems(facts: &StepFacts<SolVer>) -> Vec<JudgedProblem<'_>> {
    let of_part = |part, tasks: Vec<usize>| {
        let mut found: Vec<Vec<Response>> = facts.tasks.iter().map(|_| Vec::new()).collect();
        tasks.into_iter().enumerate().for_each(|(index, task)| found[task].push(Response { part, index }));
        found
    };
    let codes = of_part(Part::Solution, facts.solutions.iter().map(|one| one.finished.source).collect());
    let suites = of_part(Part::Verification, facts.verifications.iter().map(|one| one.task).collect());
    let all = facts.tasks.iter().zip(&facts.rounds).zip(codes.into_iter().zip(suites));
    let judged = all.filter_map(|((asked, round), (codes, suites))| {
        Some(JudgedProblem { facts, proposal: asked.proposal, round: round.as_ref()?, codes, suites })
    });
    judged.collect()
}

fn response_text(facts: &StepFacts<SolVer>, response: Response) -> &str {
    facts.rollout(response).map_or("", |rollout| rollout.text.as_str())
}

/// One problem that something may be learned from.
struct ProblemSelection<'a> {
    game: &'a SolVer,
    problem: JudgedProblem<'a>,
}

impl ProblemSelection<'_> {
    fn add(&self, chosen: &mut Preferences, random: &mut ChaCha8Rng) {
        let config = &self.game.own;
        let codes = self.codes(|verdict| verdict.status == Status::Accepted, random);
        let suites = self.suites(|verdict, _| verdict.status == Status::Sound, random);
        let code_pairs = self.code_pairs(&codes, random);
        let test_pairs = self.test_pairs(&suites, random);
        let mut examples = Vec::new();
        // A triple is consistent when a code is there that the tests refuse: else they may be as easy as they like.
        let refuses = self.problem.code_verdicts().any(is_failing);
        if refuses && !codes.is_empty() && !suites.is_empty() {
            examples.extend(codes.into_iter().take(config.sft_codes));
            examples.extend(suites.into_iter().take(config.sft_suites));
        }
        let learned = !(examples.is_empty() && code_pairs.is_empty() && test_pairs.is_empty());
        let statement = self.problem.statement().filter(|_| learned);
        let examples = statement.into_iter().chain(examples);
        chosen.examples.extend(examples.map(|response| self.game.example(response)));
        let pairs = code_pairs.into_iter().chain(test_pairs);
        chosen.pairs.extend(pairs.map(|(chosen, rejected)| self.pair(chosen, rejected)));
    }

    fn pair(&self, chosen: Response, rejected: Response) -> Pair {
        let both = [chosen, rejected];
        let (win, rewards) =
            (both.map(|one| win_share(self.score(one), &self.rivals(one))), both.map(|one| self.score(one)));
        Pair { win: Some(win), rewards: Some(rewards), ..self.game.pair(chosen, rejected) }
    }

    /// 1 for what is trusted, else a share of tests: of those for the problem that a code passes, or of a suite's own that the trusted code
    /// passes. 0 for a suite that is vacuous.
    fn score(&self, response: Response) -> f64 {
        self.verdict(response).map_or(0.0, |verdict| match verdict.status {
            Status::Accepted | Status::Sound => 1.0,
            Status::Vacuous => 0.0,
            Status::Unsound => self.quality(response).pass_fraction(),
            _ => fraction(verdict),
        })
    }

    /// The scores of the responses to a response's prompt, its own too, without those that the host dropped.
    fn rivals(&self, response: Response) -> Vec<f64> {
        let problem = &self.problem;
        let all = if response.part == Part::Verification { &problem.suites } else { &problem.codes };
        let to_prompt = all.iter().filter(|other| self.candidate(**other) == self.candidate(response));
        to_prompt.filter(|other| self.verdict(**other).is_some()).map(|other| self.score(*other)).collect()
    }

    fn quality(&self, suite: Response) -> SuiteQuality {
        self.problem.facts.verifications[suite.index].judged.detail.unwrap_or_default()
    }

    fn verdict(&self, response: Response) -> Option<&Verdict> {
        let judged = match response.part {
            Part::Verification => &self.problem.facts.verifications[response.index].judged,
            _ => &self.problem.facts.solutions[response.index].judged,
        };
        judged.verdict.as_ref().ok()
    }

    /// The codes with such a verdict, one of each text, in random order.
    fn codes(&self, wanted: impl Fn(&Verdict) -> bool, random: &mut ChaCha8Rng) -> Vec<Response> {
        let codes = self.problem.codes.iter().copied();
        self.distinct(codes.filter(|code| self.verdict(*code).is_some_and(&wanted)), random)
    }

    /// The suites that are such, one of each text and candidate, in random order.
    fn suites(&self, wanted: impl Fn(&Verdict, &SuiteQuality) -> bool, random: &mut ChaCha8Rng) -> Vec<Response> {
        let is_wanted =
            |suite: &Response| self.verdict(*suite).is_some_and(|verdict| wanted(verdict, &self.quality(*suite)));
        self.distinct(self.problem.suites.iter().copied().filter(is_wanted), random)
    }

    fn distinct(&self, responses: impl Iterator<Item = Response>, random: &mut ChaCha8Rng) -> Vec<Response> {
        let mut found: Vec<(Response, (usize, &str))> = Vec::new();
        for response in responses {
            let key = (self.candidate(response), response_text(self.problem.facts, response));
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
        if response.part == Part::Verification { self.problem.facts.verifications[response.index].candidate } else { 0 }
    }

    /// A trusted code before one that falls short by the margin.
    fn code_pairs(&self, trusted: &[Response], random: &mut ChaCha8Rng) -> Vec<(Response, Response)> {
        let margin = self.game.own.margin;
        let worse = self.codes(|verdict| is_failing(verdict) && fraction(verdict) <= 1.0 - margin, random);
        let pairs = trusted.iter().flat_map(|chosen| worse.iter().map(move |rejected| (*chosen, *rejected)));
        draw_pairs(pairs.collect(), self.game.own.code_pairs, random)
    }

    /// A sound suite before one for the same code that the trusted code fails by the margin, or that is vacuous.
    fn test_pairs(&self, sound: &[Response], random: &mut ChaCha8Rng) -> Vec<(Response, Response)> {
        let margin = self.game.own.margin;
        let worse = |verdict: &Verdict, quality: &SuiteQuality| match verdict.status {
            Status::Vacuous => true,
            Status::Unsound => quality.pass_fraction() <= 1.0 - margin,
            _ => false,
        };
        let worse = self.suites(worse, random);
        let pairs = sound.iter().flat_map(|chosen| worse.iter().map(move |rejected| (*chosen, *rejected)));
        let one_prompt =
            |(chosen, rejected): &(Response, Response)| self.candidate(*chosen) == self.candidate(*rejected);
        draw_pairs(pairs.filter(one_prompt).collect(), self.game.own.test_pairs, random)
    }
}

/// A code that took part, does not agree, and that sound suites refuse.
fn is_failing(verdict: &Verdict) -> bool {
    let outside = !matches!(
        verdict.status,
        Status::Accepted | Status::Malformed | Status::Invalid | Status::NonDeterministic | Status::Unjudgeable
    );
    outside && verdict.passed < verdict.total
}

fn fraction(verdict: &Verdict) -> f64 {
    if verdict.total == 0 { 0.0 } else { f64::from(verdict.passed) / f64::from(verdict.total) }
}

fn draw_pairs(mut pairs: Vec<(Response, Response)>, most: usize, random: &mut ChaCha8Rng) -> Vec<(Response, Response)> {
    pairs.shuffle(random);
    pairs.truncate(most);
    pairs
}

/// All pairs of responses to one prompt with different texts.
fn any_pairs(facts: &StepFacts<SolVer>, responses: &[Response]) -> Vec<(Response, Response)> {
    let mut prompts: BTreeMap<&[u32], Vec<Response>> = BTreeMap::new();
    for response in responses {
        let prompt = facts.rollout(*response).map_or(&[][..], |rollout| &rollout.prompt_tokens);
        prompts.entry(prompt).or_default().push(*response);
    }
    let mut pairs = Vec::new();
    for mut group in prompts.into_values() {
        group.sort_unstable();
        for (place, one) in group.iter().enumerate() {
            let differs = |other: &&Response| response_text(facts, **other) != response_text(facts, *one);
            pairs.extend(group[place + 1..].iter().filter(differs).map(|other| (*one, *other)));
        }
    }
    pairs
}

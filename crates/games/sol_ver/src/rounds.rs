//! Judging what was written for a problem: by its reference where it has one, else by what codes and tests agree on.

use serde::{Deserialize, Serialize};
use veriplay_core::{
    CallChecks, Checks, Comparison, Dropped, Evidence, Execute, FinishReason, Problem, Rollout, Status, Verdict,
};
use veriplay_selfplay::environment::{JudgedResponseOf, JudgedRound, RoundRequest, TaskEpisode};
use veriplay_selfplay::judgement::{JudgedResponse, Judging, RoundFacts, rule_verdict, run_undecided};
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::rollout::{FinishedEpisode, SingleTurn};
use veriplay_selfplay::statistics::share;
use veriplay_verifier::agreement::{
    AgreementRequest, CodeDecision, GUARDS, GuardRefusal, PassedTiers, RoundJudgement, SuiteAttempt, SuiteDecision,
    SuiteExamination, SuiteQuality, TestSuite, examine_suites, judge_round, streams_of,
};
use veriplay_verifier::languages::task_language;
use veriplay_verifier::on_all_cores;
use veriplay_verifier::{ProblemRequest, judge_programs};

use super::{ProblemTask, SolVer};

/// What codes and tests of one problem came to, in addition to the verdicts on each of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgreementRound {
    /// Why nothing may be learned from it; `None` when something may.
    pub refused: Option<GuardRefusal>,
    /// Sizes of the clusters, the best one first: what their codes count, and tests passed.
    pub clusters: Vec<(usize, usize)>,
    /// The code that stands for the trusted ones; `None` when there is none.
    pub reference: Option<usize>,
    /// Different inputs of the tests, and those that count.
    pub inputs: (usize, usize),
    /// Mutants made of the trusted code, and those that some input tells from it.
    pub mutants: (usize, usize),
    /// Wasm fuel of all jobs.
    pub fuel: u64,
    /// The tiers of tests that each code passes, where they are rewarded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<PassedTiers>,
}

impl AgreementRound {
    /// The share of the codes of all clusters that are in the trusted one; `None` where no code has a vote.
    pub fn trust(&self) -> Option<f64> {
        let (trusted, _) = self.clusters.first()?;
        share(*trusted, self.clusters.iter().map(|(codes, _)| codes).sum())
    }
}

impl RoundFacts for AgreementRound {
    fn refusal(&self) -> Option<&GuardRefusal> {
        self.refused.as_ref()
    }
}

/// What the responses of one round hold, read from their texts.
struct ParsedRound {
    codes: Vec<Option<String>>,
    suites: Vec<(usize, Option<TestSuite>)>,
}

impl SolVer {
    pub(super) fn read_statement(&self, episode: &FinishedEpisode<SingleTurn>) -> Result<String, String> {
        finished_text(episode).and_then(|text| self.responses.read_problem(text))
    }

    pub(super) fn read_program(&self, episode: &FinishedEpisode<SingleTurn>) -> Result<String, String> {
        finished_text(episode).and_then(|text| self.responses.read_program(text))
    }

    pub(super) fn read_suite(&self, episode: &FinishedEpisode<SingleTurn>) -> Result<TestSuite, String> {
        let suite = finished_text(episode).and_then(|text| self.responses.read_suite(text))?;
        let (found, most) = (suite.tests.len(), self.rules.max_suite_tests);
        if found > most { Err(format!("{found} tests, `{most}` allowed")) } else { Ok(suite) }
    }

    /// Judges programs by the hidden cases of problems that have a reference. Those of other problems wait for tests.
    pub(super) fn judge_codes(
        &self,
        execute: &dyn Execute,
        solutions: &[TaskEpisode<'_, Self>],
    ) -> Vec<JudgedResponseOf<Self>> {
        let read: Vec<Result<String, String>> = solutions.iter().map(|(_, one)| self.read_program(one)).collect();
        let programs = solutions.iter().zip(&read).map(|((task, _), program)| match (program, &task.reference) {
            (Err(why), _) => Judging::Decided(Ok(rule_verdict(Status::Malformed, "", why))),
            (Ok(_), None) => Judging::Decided(Ok(rule_verdict(Status::Unjudgeable, "", "no test is written yet"))),
            (Ok(program), Some(_)) => Judging::Open((*task, program.as_str())),
        });
        let verdicts = run_undecided(programs, |open| self.judge_hidden(execute, open)).into_iter();
        verdicts.map(|verdict| JudgedResponse { verdict, detail: None }).collect()
    }

    fn judge_hidden(&self, execute: &dyn Execute, programs: &[(&ProblemTask, &str)]) -> Vec<Result<Verdict, Dropped>> {
        let problems: Vec<Problem> = programs.iter().map(|(task, _)| self.hidden_problem(task)).collect();
        let requests = problems.iter().zip(programs).map(|(problem, (_, program))| ProblemRequest {
            problem,
            program,
            image: &self.rules.image,
            limits: self.rules.limits,
            seed: self.rules.seeds[0],
            early_stop: false,
        });
        judge_programs(execute, &requests.collect::<Vec<_>>())
    }

    fn hidden_problem(&self, task: &ProblemTask) -> Problem {
        let cases = task.reference.as_ref().map(|reference| reference.hidden.clone()).unwrap_or_default();
        let language = task_language(self.own.language());
        if language.is_some() {
            return Problem { language, ..Problem::stdio(&task.statement, cases.iter().filter_map(streams_of)) };
        }
        let (function, comparison) = ("f".to_owned(), Comparison::by("exact"));
        let checks = Checks::Calls(CallChecks { function, cases, fresh: false, comparison });
        Problem::new(&task.statement, checks)
    }

    /// Every reference must pass its own hidden cases.
    pub(super) fn check_references(&self, execute: &dyn Execute) -> Result<(), PlayError> {
        let tasks = self.base.evaluation.iter().map(|one| &one.task);
        let programs: Vec<(&ProblemTask, &str)> =
            tasks.filter_map(|task| Some((task, task.reference.as_ref()?.program.as_str()))).collect();
        for ((task, _), verdict) in programs.iter().zip(self.judge_hidden(execute, &programs)) {
            let verdict = verdict?;
            if verdict.status != Status::Accepted {
                let (text, status, detail) = (&task.statement, verdict.status, &verdict.evidence.detail);
                let why =
                    format!("the reference of the evaluation problem `{text}` is {status:?} ({detail}): repair it");
                return Err(PlayError::Setup(why));
            }
        }
        Ok(())
    }

    /// Judges codes and suites together.
    pub(super) fn judge_all(&self, execute: &dyn Execute, rounds: &[RoundRequest<'_, Self>]) -> Vec<JudgedRound<Self>> {
        let parsed: Vec<ParsedRound> = rounds.iter().map(|round| self.parse_round(round)).collect();
        let all: Vec<(&RoundRequest<'_, Self>, &ParsedRound)> = rounds.iter().zip(&parsed).collect();
        let (known, open): (Vec<_>, Vec<_>) = all.into_iter().partition(|(round, _)| round.task.reference.is_some());
        let mut known = self.examine_suites(execute, &known).into_iter();
        let mut open = self.judge_by_agreement(execute, &open).into_iter();
        let judged = rounds.iter().map(|round| if round.task.reference.is_some() { known.next() } else { open.next() });
        judged.flatten().collect()
    }

    fn parse_round(&self, round: &RoundRequest<'_, Self>) -> ParsedRound {
        let suite = |(candidate, one): &(usize, &FinishedEpisode<SingleTurn>)| (*candidate, self.read_suite(one).ok());
        ParsedRound {
            codes: round.solutions.iter().map(|one| self.read_program(&one.finished).ok()).collect(),
            suites: round.verifications.iter().map(suite).collect(),
        }
    }

    /// Rounds of problems without a reference.
    fn judge_by_agreement(
        &self,
        execute: &dyn Execute,
        rounds: &[(&RoundRequest<'_, Self>, &ParsedRound)],
    ) -> Vec<JudgedRound<Self>> {
        let codes: Vec<Vec<Option<&str>>> =
            rounds.iter().map(|(_, read)| read.codes.iter().map(Option::as_deref).collect()).collect();
        let suites: Vec<Vec<SuiteAttempt<'_>>> = rounds.iter().map(|(_, read)| suite_attempts(read)).collect();
        let requests = rounds.iter().zip(&codes).zip(&suites).map(|(((round, _), codes), suites)| AgreementRequest {
            rules: &self.rules,
            guards: GUARDS,
            statement: &round.task.statement,
            codes,
            suites,
        });
        let judged = on_all_cores(requests.collect::<Vec<_>>(), |request| judge_round(execute, &request));
        let judged = judged.into_iter().zip(rounds);
        judged
            .map(|(judged, (round, read))| match judged {
                Ok(judgement) => agreed_round(self.refuse_held_out_codes(judgement, read), self.own.tiers.is_some()),
                Err(fault) => dropped_round(round, &fault),
            })
            .collect()
    }

    /// Refuses a round whose trusted code is a program that is measured: its problem is one that is measured, in other words.
    fn refuse_held_out_codes(&self, judgement: RoundJudgement, read: &ParsedRound) -> RoundJudgement {
        let codes = judgement.codes.iter().zip(&read.codes);
        let trusted =
            codes.filter(|(decision, _)| decision.status == Status::Accepted).filter_map(|(_, code)| code.as_deref());
        match self.base.guard.refuse_programs(trusted) {
            Some(verdict) if judgement.refused.is_none() => {
                let Evidence { rule, detail, .. } = verdict.evidence;
                RoundJudgement { refused: Some(GuardRefusal { rule, detail }), ..judgement }
            }
            _ => judgement,
        }
    }

    /// Rounds of problems with a reference, whose codes are judged already: suites are sound when the reference passes them. They are
    /// tried on the sampled codes that are wrong.
    fn examine_suites(
        &self,
        execute: &dyn Execute,
        rounds: &[(&RoundRequest<'_, Self>, &ParsedRound)],
    ) -> Vec<JudgedRound<Self>> {
        let requests = rounds.iter().map(|(round, read)| SuiteExamination {
            right: round.task.reference.as_ref().map_or("", |one| one.program.as_str()),
            suites: read.suites.iter().filter_map(|(_, suite)| suite.as_ref()).collect(),
            wrong: wrong_codes(round, read).take(self.base.settings.eval_samples).flatten().collect(),
        });
        let found = examine_suites(execute, &self.rules, &requests.collect::<Vec<_>>());
        let judged = rounds.iter().zip(found).map(|((round, read), found)| match found {
            Ok(found) => JudgedRound {
                solutions: round.solutions.iter().map(|one| one.judged.clone()).collect(),
                verifications: suite_solutions(read, found),
                round: Some(AgreementRound::default()),
            },
            Err(fault) => dropped_round(round, &fault),
        });
        judged.collect()
    }
}

/// Of each code of a round whether it is wrong: its text, where it could be read.
fn wrong_codes<'a>(
    round: &'a RoundRequest<'_, SolVer>,
    read: &'a ParsedRound,
) -> impl Iterator<Item = Option<&'a str>> {
    let is_wrong = |one: &JudgedResponse<Option<SuiteQuality>>| {
        one.verdict.as_ref().is_ok_and(|verdict| verdict.status != Status::Accepted)
    };
    let codes = round.solutions.iter().zip(&read.codes);
    codes.map(move |(one, code)| code.as_deref().filter(|_| is_wrong(&one.judged)))
}

/// What is said of suites that were tried on a reference; `found` has those that could be read.
fn suite_solutions(read: &ParsedRound, found: Vec<SuiteQuality>) -> Vec<JudgedResponseOf<SolVer>> {
    let mut found = found.into_iter();
    let judge = |suite: &Option<TestSuite>| match suite.as_ref().and_then(|_| found.next()) {
        Some(quality) => {
            let status = if quality.is_accepted() { Status::Sound } else { Status::Unsound };
            let verdict = Verdict { passed: quality.accepted, total: quality.tests, ..rule_verdict(status, "", "") };
            JudgedResponse { verdict: Ok(verdict), detail: Some(quality) }
        }
        None => {
            let verdict = rule_verdict(Status::Malformed, "", "no suite of tests could be read");
            JudgedResponse { verdict: Ok(verdict), detail: None }
        }
    };
    read.suites.iter().map(|(_, suite)| suite).map(judge).collect()
}

/// A judgement as the game has it, with the tiers that codes pass if `has_tiers`.
fn agreed_round(judgement: RoundJudgement, has_tiers: bool) -> JudgedRound<SolVer> {
    let RoundJudgement { refused, codes, suites, clusters, reference, inputs, mutants, fuel, deadline } = judgement;
    let meet =
        |verdict: Verdict| Verdict { evidence: Evidence { met_deadline: deadline, ..verdict.evidence }, ..verdict };
    let tiers = codes.iter().filter(|_| has_tiers).map(|code| code.tiers).collect();
    let code = |CodeDecision { status, passed, total, rule, detail, .. }| JudgedResponse {
        verdict: Ok(meet(Verdict { passed, total, ..rule_verdict(status, rule, detail) })),
        detail: None,
    };
    let suite = |SuiteDecision { status, quality, rule, detail }| JudgedResponse {
        verdict: Ok(meet(Verdict {
            passed: quality.accepted,
            total: quality.tests,
            ..rule_verdict(status, rule, detail)
        })),
        detail: Some(quality),
    };
    JudgedRound {
        solutions: codes.into_iter().map(code).collect(),
        verifications: suites.into_iter().map(suite).collect(),
        round: Some(AgreementRound { refused, clusters, reference, inputs, mutants, fuel, tiers }),
    }
}

fn dropped_round(round: &RoundRequest<'_, SolVer>, fault: &Dropped) -> JudgedRound<SolVer> {
    let dropped = || JudgedResponse { verdict: Err(fault.clone()), detail: None };
    JudgedRound {
        solutions: round.solutions.iter().map(|_| dropped()).collect(),
        verifications: round.verifications.iter().map(|_| dropped()).collect(),
        round: None,
    }
}

fn suite_attempts(parsed: &ParsedRound) -> Vec<SuiteAttempt<'_>> {
    let suites = parsed.suites.iter();
    suites.map(|(candidate, suite)| SuiteAttempt { candidate: *candidate, suite: suite.as_ref() }).collect()
}

/// The text of a response that came to its end.
fn finished_text(episode: &FinishedEpisode<SingleTurn>) -> Result<&str, String> {
    match episode.last() {
        Some(Rollout { finish: FinishReason::Stop, text, .. }) => Ok(text),
        Some(_) => Err("the response was cut off".to_owned()),
        None => Err("there is no response".to_owned()),
    }
}

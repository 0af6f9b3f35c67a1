//! A round in progress: runs codes and suites, and finds the votes, the agreement and the outputs of trusted codes at probes.

use std::collections::{BTreeMap, BTreeSet};

use veriplay_core::{CallResult, Digest, Dropped, Evidence, Execute, Exit, Job, Value};
use veriplay_image_python::programs::agreement::REACH;

use super::agreement_rules::{AgreementRules, CountCodes};
use super::clusters::{Agreement, Cluster, Voter, find_agreement};
use super::grid::{Grid, RunMode};
use super::guards::{CodeFacts, Guard, GuardCheck, GuardRefusal, RoundFacts, SuiteFacts, first_refusal};
use super::suite_quality::{
    SuiteQuality, as_strs, distinguishable_mutants, draw_mutants, measure_suite, passes, similar_inputs,
};
use super::test_suite::{SuiteTest, TestSuite};
use crate::languages::is_python;
use crate::runner::{NoValue, Runner, add_cost, configure_job, decode_call};

/// Harmless uses of introspection. `compile` is an attribute of `re`; access to the module of builtins is a finding of its own.
const PLAIN: [&str; 1] = ["attribute compile"];
/// Seeds the scan, which draws nothing.
const REACH_SEED: u64 = 0;

/// A problem with the codes and suites written for it.
#[derive(Debug, Clone, Copy)]
pub struct AgreementRequest<'a> {
    /// The thresholds of agreement.
    pub rules: &'a AgreementRules,
    /// The guards to apply, usually [`super::GUARDS`].
    pub guards: &'a [Guard],
    /// The problem's text.
    pub statement: &'a str,
    /// The codes; `None` for a malformed response.
    pub codes: &'a [Option<&'a str>],
    /// The suites.
    pub suites: &'a [SuiteAttempt<'a>],
}

/// A suite written for one code.
#[derive(Debug, Clone, Copy)]
pub struct SuiteAttempt<'a> {
    /// The index of the code that it was written for.
    pub candidate: usize,
    /// The suite; `None` for a malformed response.
    pub suite: Option<&'a TestSuite>,
}

/// Whether a response has a vote.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum VotingStatus {
    Votes,
    Refused(GuardRefusal),
    /// It could not be parsed.
    Malformed,
}

impl From<Result<(), GuardRefusal>> for VotingStatus {
    fn from(admitted: Result<(), GuardRefusal>) -> Self {
        admitted.map_or_else(VotingStatus::Refused, |()| VotingStatus::Votes)
    }
}

pub(super) struct Round<'a> {
    execute: &'a dyn Execute,
    pub(super) request: &'a AgreementRequest<'a>,
    pub(super) grid: Grid<'a>,
    pub(super) codes: Vec<VotingStatus>,
    pub(super) suites: Vec<VotingStatus>,
    /// The first forbidden use in each text that has one.
    reaches: BTreeMap<String, String>,
    /// The number of mutants, and of those that differ from the reference.
    pub(super) mutant_counts: (usize, usize),
    /// What jobs outside `grid` cost.
    pub(super) cost: Evidence,
}

/// The agreement of the trusted cluster at probes: inputs that no test has.
pub(super) struct ProbeResult {
    /// The codes of the majority; all codes where there is none.
    pub(super) majority: Vec<usize>,
    /// Whether there is no majority.
    pub(super) split: bool,
    /// The code that represents the majority.
    pub(super) reference: usize,
    inputs: Vec<Vec<Value>>,
}

impl<'a> Round<'a> {
    /// Runs every code on every input and assertion, and finds which codes and suites have a vote.
    pub(super) fn run(execute: &'a dyn Execute, request: &'a AgreementRequest<'a>) -> Result<Self, Dropped> {
        let written: Vec<&TestSuite> = request.suites.iter().filter_map(|suite| suite.suite).collect();
        let (codes, suites, reaches, cost) = (Vec::new(), Vec::new(), BTreeMap::new(), Evidence::default());
        let grid = Grid::new(execute, request.rules, &written, []);
        let mut round = Self { execute, request, grid, codes, suites, reaches, mutant_counts: (0, 0), cost };
        let programs = round.programs();
        round.grid.run(&programs, RunMode::Full)?;
        let mut read: BTreeSet<&str> = programs.iter().copied().collect();
        read.extend(written.iter().flat_map(|suite| &suite.tests).filter_map(SuiteTest::assertion));
        round.reaches = scan_texts(execute, request.rules, &read.into_iter().collect::<Vec<_>>())?;
        round.codes = request.codes.iter().map(|code| round.code_voting_status(*code)).collect();
        round.suites = request.suites.iter().map(|attempt| round.suite_voting_status(attempt.suite)).collect();
        Ok(round)
    }

    fn programs(&self) -> Vec<&'a str> {
        self.request.codes.iter().flatten().copied().collect()
    }

    /// The text of code `code`; empty for a malformed one.
    pub(super) fn program(&self, code: usize) -> &'a str {
        self.request.codes.get(code).copied().flatten().unwrap_or_default()
    }

    fn code_voting_status(&self, code: Option<&str>) -> VotingStatus {
        let Some(program) = code else { return VotingStatus::Malformed };
        let reaches = self.reaches.get(program).map(String::as_str);
        let facts = CodeFacts { varies: self.grid.results(program).varies.as_deref(), reaches };
        let ask = |check: &GuardCheck| if let GuardCheck::Code(holds) = check { Some(holds(&facts)) } else { None };
        first_refusal(self.request.guards, ask).into()
    }

    fn suite_voting_status(&self, suite: Option<&TestSuite>) -> VotingStatus {
        let Some(suite) = suite else { return VotingStatus::Malformed };
        let facts = self.suite_facts(suite, SuiteQuality::default(), 0);
        let ask = |check: &GuardCheck| if let GuardCheck::Suite(holds) = check { Some(holds(&facts)) } else { None };
        first_refusal(self.request.guards, ask).into()
    }

    pub(super) fn suite_facts<'s>(
        &'s self,
        suite: &'s TestSuite,
        quality: SuiteQuality,
        witnesses: usize,
    ) -> SuiteFacts<'s> {
        let asserts = || suite.tests.iter().filter_map(SuiteTest::assertion);
        // A nondeterministic code makes every test vary, which says nothing about the test.
        let varies = |text: &&str| {
            let test = SuiteTest::Assert((*text).to_owned());
            self.voters().any(|code| !self.grid.repeats(self.program(code), &test))
        };
        SuiteFacts {
            rules: self.request.rules,
            tests: suite.distinct().len(),
            varies: asserts().find(varies),
            reaches: asserts().find_map(|text| self.reaches.get(text)).map(String::as_str),
            quality,
            witnesses,
        }
    }

    fn voting_suites(&self) -> impl Iterator<Item = &'a TestSuite> {
        let suites = self.request.suites.iter().zip(&self.suites);
        suites.filter(|(_, standing)| **standing == VotingStatus::Votes).filter_map(|(attempt, _)| attempt.suite)
    }

    /// Finds the agreement of the codes with a vote.
    pub(super) fn find_agreement(&self) -> Agreement {
        let asserts: BTreeSet<&str> =
            self.voting_suites().flat_map(|suite| &suite.tests).filter_map(SuiteTest::assertion).collect();
        let weights = self.weights();
        let voter = |code: usize| {
            let program = self.program(code);
            let passes =
                |text: &&str| self.grid.failed_status(program, &SuiteTest::Assert((*text).to_owned())).is_none();
            Voter {
                code,
                weight: weights[code],
                outputs: self.grid.results(program).outputs.clone(),
                passed: asserts.iter().map(passes).collect(),
            }
        };
        let voters: Vec<Voter> = self.voters().map(voter).collect();
        find_agreement(&voters, self.grid.inputs().len(), |voter, counts| {
            let passed = |test: &&SuiteTest| passes(&self.grid, self.program(voter.code), test, Some(counts));
            self.voting_suites().map(|suite| suite.distinct().into_iter().filter(passed).count()).sum()
        })
    }

    fn voters(&self) -> impl Iterator<Item = usize> {
        self.codes.iter().enumerate().filter(|(_, standing)| **standing == VotingStatus::Votes).map(|(code, _)| code)
    }

    /// The weight of each code.
    fn weights(&self) -> Vec<usize> {
        let mut weights = vec![0; self.codes.len()];
        let mut seen: BTreeSet<Digest> = BTreeSet::new();
        for code in self.voters() {
            let first = seen.insert(self.request.rules.code_hash(self.program(code)));
            weights[code] = usize::from(first || self.request.rules.count_codes == CountCodes::Samples);
        }
        weights
    }

    /// Runs the trusted codes at probes.
    pub(super) fn probe(&mut self, agreed: &Agreement, trusted: &Cluster) -> Result<ProbeResult, Dropped> {
        let inputs = self.probes(agreed);
        let mut grid = Grid::new(self.execute, self.request.rules, &[], inputs.clone());
        let programs: Vec<&str> = trusted.codes.iter().map(|code| self.program(*code)).collect();
        grid.run(&programs, RunMode::Full)?;
        add_cost(&mut self.cost, [], grid.cost.fuel, grid.cost.met_deadline);
        let weights = self.weights();
        let voter = |code: &usize| {
            let outputs = grid.results(self.program(*code)).outputs.clone();
            Voter { code: *code, weight: weights[*code], outputs, passed: Vec::new() }
        };
        let probed =
            find_agreement(&trusted.codes.iter().map(voter).collect::<Vec<_>>(), grid.inputs().len(), |_, _| 1);
        let most = probed.clusters.first().filter(|cluster| 2 * cluster.weight > trusted.weight);
        // Codes split only where a probe counts.
        let split = most.is_none() && probed.counts.contains(&true);
        let majority = most.map_or_else(|| trusted.codes.clone(), |cluster| cluster.codes.clone());
        let reference = self.reference(&majority);
        Ok(ProbeResult { majority, split, reference, inputs })
    }

    /// New inputs like those that count.
    fn probes(&self, agreed: &Agreement) -> Vec<Vec<Value>> {
        let inputs = self.grid.inputs().iter().zip(&agreed.counts);
        let counted: Vec<Vec<Value>> = inputs.filter(|(_, counts)| **counts).map(|(input, _)| input.clone()).collect();
        let made = similar_inputs(&counted, self.request.rules.probes);
        made.into_iter().filter(|input| self.grid.place(input).is_none()).collect()
    }

    /// The code that represents `codes`: one with the most frequent text, the shortest of these.
    fn reference(&self, codes: &[usize]) -> usize {
        let times = |code: usize| codes.iter().filter(|other| self.program(**other) == self.program(code)).count();
        let rank = |code: &&usize| (usize::MAX - times(**code), self.program(**code).len(), self.program(**code));
        codes.iter().min_by_key(rank).copied().unwrap_or_default()
    }

    /// Makes mutants of the reference and keeps those that differ from it at some input.
    pub(super) fn draw_mutants(&mut self, probed: &ProbeResult) -> Result<Vec<String>, Dropped> {
        let right = self.program(probed.reference);
        let made = draw_mutants(self.execute, self.request.rules, right)?;
        let mut elsewhere = Grid::new(self.execute, self.request.rules, &[], probed.inputs.clone());
        elsewhere.run(&[right], RunMode::Quick)?;
        elsewhere.run(&as_strs(&made), RunMode::Quick)?;
        add_cost(&mut self.cost, [], elsewhere.cost.fuel, elsewhere.cost.met_deadline);
        self.grid.run(&as_strs(&made), RunMode::Quick)?;
        let differ: Vec<String> =
            distinguishable_mutants(&[&self.grid, &elsewhere], right, &made).into_iter().map(str::to_owned).collect();
        self.mutant_counts = (made.len(), differ.len());
        Ok(differ)
    }

    /// The quality of each suite against the reference, in their order; `None` for a suite without a vote.
    pub(super) fn qualities(
        &self,
        agreed: &Agreement,
        trusted: &Cluster,
        probed: &ProbeResult,
        mutants: &[String],
    ) -> Vec<Option<SuiteQuality>> {
        let right = self.program(probed.reference);
        let wrong: Vec<&str> = self.wrong(trusted).map(|code| self.program(code)).collect();
        let quality = |(attempt, standing): (&SuiteAttempt<'_>, &VotingStatus)| {
            let suite = attempt.suite.filter(|_| *standing == VotingStatus::Votes)?;
            Some(measure_suite(&self.grid, right, suite, Some(&agreed.counts), &wrong, &as_strs(mutants)))
        };
        self.request.suites.iter().zip(&self.suites).map(quality).collect()
    }

    /// The codes with a vote outside the trusted cluster.
    fn wrong(&self, trusted: &Cluster) -> impl Iterator<Item = usize> {
        self.voters().filter(|code| !trusted.codes.contains(code))
    }

    /// Applies the guards on rounds.
    pub(super) fn check(
        &self,
        agreed: &Agreement,
        trusted: &Cluster,
        probed: &ProbeResult,
        qualities: &[Option<SuiteQuality>],
    ) -> Result<(), GuardRefusal> {
        let program = self.program(probed.reference);
        let answers = self.grid.results(program).outputs.iter().zip(&agreed.counts);
        let outputs: Vec<&Value> =
            answers.filter(|(_, counts)| **counts).filter_map(|(answer, _)| answer.value()).collect();
        let readable = self.codes.iter().enumerate().filter(|(_, standing)| **standing != VotingStatus::Malformed);
        let all_agree = readable.into_iter().all(|(code, _)| trusted.codes.contains(&code));
        let refused = self.suites.iter().any(|standing| matches!(standing, VotingStatus::Refused(_)));
        let all_pass = !refused && qualities.iter().flatten().all(SuiteQuality::is_accepted);
        let facts = RoundFacts {
            rules: self.request.rules,
            statement: self.request.statement,
            agreed,
            trusted,
            program,
            outputs: &outputs,
            nothing_failed: all_agree && all_pass,
            split: probed.split,
        };
        let ask = |check: &GuardCheck| if let GuardCheck::Round(holds) = check { Some(holds(&facts)) } else { None };
        first_refusal(self.request.guards, ask)
    }

    /// The weight of the codes that pass `suite`, except its candidate.
    pub(super) fn witnesses(&self, suite: &TestSuite, candidate: usize) -> usize {
        let weights = self.weights();
        let rules = self.request.rules;
        let own = |code: usize| match rules.count_codes {
            CountCodes::Samples => code == candidate,
            CountCodes::Texts => rules.code_hash(self.program(code)) == rules.code_hash(self.program(candidate)),
        };
        let passes = |code: &usize| {
            let fails = |test: &&SuiteTest| self.grid.failed_status(self.program(*code), test).is_some();
            !own(*code) && !suite.tests.iter().any(|test| fails(&test))
        };
        self.voters().filter(passes).map(|code| weights[code]).sum()
    }
}

/// Finds the first forbidden use in each of `texts`: of source text, frames, modules or the test runner. Texts without one are left out, and so are
/// those in other languages than Python, which reach for none of it.
fn scan_texts(
    execute: &dyn Execute,
    rules: &AgreementRules,
    texts: &[&str],
) -> Result<BTreeMap<String, String>, Dropped> {
    let mut found = BTreeMap::new();
    if texts.is_empty() || !is_python(rules.language()) {
        return Ok(found);
    }
    let arguments = texts.iter().map(|text| vec![Value::str(*text)]);
    let reach = Job::calls(REACH, "reach", arguments);
    let outcome = Runner::new(execute).run(&configure_job(&rules.image, rules.tool_limits, REACH_SEED, reach))?;
    if outcome.exit == Exit::Returned && outcome.calls.len() == texts.len() {
        for (text, call) in texts.iter().zip(&outcome.calls) {
            found.extend(forbidden_use(call, rules).map(|why| ((*text).to_owned(), why)));
        }
    } else if let [text] = texts {
        // A text that cannot be parsed within the limits is not trusted.
        found.insert((*text).to_owned(), "it cannot be read".to_owned());
    } else {
        for text in texts {
            found.extend(scan_texts(execute, rules, &[*text])?);
        }
    }
    Ok(found)
}

fn forbidden_use(call: &CallResult, rules: &AgreementRules) -> Option<String> {
    match decode_call(call, &rules.tool_limits) {
        Ok(Value::List(uses)) => uses.iter().map(use_text).find(|text| !PLAIN.contains(&text.as_str())),
        Ok(other) => Some(format!("`{other}` is no list of uses")),
        Err(NoValue::Raised(text) | NoValue::NoPlainValue(text)) => Some(format!("it cannot be read: {text}")),
    }
}

fn use_text(value: &Value) -> String {
    if let Value::Str(text) = value { text.clone() } else { value.to_string() }
}

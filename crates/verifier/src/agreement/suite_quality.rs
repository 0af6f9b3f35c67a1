//! Measures test suites against a program that is trusted or known to be right.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Dropped, Execute, Status, Value, program_hash};

use super::agreement_rules::AgreementRules;
use super::grid::{Grid, RunMode};
use super::test_suite::{SuiteTest, TestSuite};
use crate::bugs::mutate_program;
use crate::probes::probes;
use crate::runner::{on_all_cores, saturating_u32};

/// Seeds the operators, so that mutants are a function of the program.
const MUTANT_SEED: u64 = 0;
/// The maximum number of mutants per operator.
const MUTANTS_EACH: usize = 2;

/// The quality of a suite, as counts that can be summed over suites.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteQuality {
    /// Distinct tests.
    pub tests: u32,
    /// Tests that the trusted program passes.
    pub accepted: u32,
    /// Wrong programs that the suite ran on.
    pub wrong: u32,
    /// Wrong programs that fail a test for any reason.
    pub rejected: u32,
    /// Wrong programs that fail a test by their output. A crash would say nothing about the test.
    pub killed: u32,
    /// Mutants of the trusted program that differ from it at some input.
    pub mutants: u32,
    /// Mutants that fail a test.
    pub mutants_killed: u32,
}

impl SuiteQuality {
    /// Unsound when the trusted program fails a test; Vacuous when it kills no wrong program and no mutant; else Sound.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            SuiteQuality { tests, accepted, .. } if *tests == 0 || accepted < tests => Status::Unsound,
            _ if self.kills_nothing() => Status::Vacuous,
            _ => Status::Sound,
        }
    }

    pub(super) fn kills_nothing(&self) -> bool {
        self.killed == 0 && self.mutants_killed == 0
    }

    /// Whether the trusted program passes every test.
    #[must_use]
    pub const fn is_accepted(&self) -> bool {
        self.tests > 0 && self.accepted == self.tests
    }

    /// The share of the mutants that fail a test; `None` without mutants.
    #[must_use]
    pub fn mutation_score(&self) -> Option<f64> {
        (self.mutants > 0).then(|| f64::from(self.mutants_killed) / f64::from(self.mutants))
    }

    /// The share of its tests that the trusted program passes, in [0, 1].
    #[must_use]
    pub fn pass_fraction(&self) -> f64 {
        if self.tests == 0 { 0.0 } else { f64::from(self.accepted) / f64::from(self.tests) }
    }
}

/// Suites to measure against one program.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteExamination<'a> {
    /// The right program.
    pub right: &'a str,
    /// The suites.
    pub suites: Vec<&'a TestSuite>,
    /// Wrong programs.
    pub wrong: Vec<&'a str>,
}

/// Measures suites against the right program, the wrong programs and mutants of the right one, on all cores. Returns for each request one
/// [`SuiteQuality`] per suite, or the host fault.
pub fn examine_suites(
    execute: &dyn Execute,
    rules: &AgreementRules,
    requests: &[SuiteExamination<'_>],
) -> Vec<Result<Vec<SuiteQuality>, Dropped>> {
    on_all_cores(requests, |request| examine_one(execute, rules, request))
}

fn examine_one(
    execute: &dyn Execute,
    rules: &AgreementRules,
    request: &SuiteExamination<'_>,
) -> Result<Vec<SuiteQuality>, Dropped> {
    let SuiteExamination { right, suites, wrong } = request;
    if suites.is_empty() {
        return Ok(Vec::new());
    }
    let named: Vec<Vec<Value>> = suites.iter().flat_map(|suite| &suite.tests).filter_map(SuiteTest::input).collect();
    let mut grid = Grid::new(execute, rules, suites, similar_inputs(&named, rules.probes));
    let mutants = draw_mutants(execute, rules, right)?;
    let programs: Vec<&str> = std::iter::once(*right).chain(wrong.iter().copied()).collect();
    grid.run(&programs, RunMode::Full)?;
    grid.run(&as_strs(&mutants), RunMode::Quick)?;
    let mutants = distinguishable_mutants(&[&grid], right, &mutants);
    Ok(suites.iter().map(|suite| measure_suite(&grid, right, suite, None, wrong, &mutants)).collect())
}

/// Makes up to `count` new inputs like `inputs`, evenly from each.
pub(super) fn similar_inputs(inputs: &[Vec<Value>], count: usize) -> Vec<Vec<Value>> {
    if inputs.is_empty() {
        return Vec::new();
    }
    let each = count.div_ceil(inputs.len());
    let made: Vec<Vec<Vec<Value>>> = inputs.iter().map(|input| probes(input, each)).collect();
    let mut found: Vec<Vec<Value>> = Vec::new();
    for place in 0..each {
        for input in made.iter().filter_map(|made| made.get(place)) {
            if found.len() < count && !inputs.contains(input) && !found.contains(input) {
                found.push(input.clone());
            }
        }
    }
    found
}

pub(super) fn as_strs(programs: &[String]) -> Vec<&str> {
    programs.iter().map(String::as_str).collect()
}

/// Returns the mutants that differ from `right` at some input or assertion of the grids. The others may be equivalent programs.
pub(super) fn distinguishable_mutants<'m>(grids: &[&Grid<'_>], right: &str, mutants: &'m [String]) -> Vec<&'m str> {
    let differs = |grid: &&Grid<'_>, mutant: &str| {
        let (own, other) = (grid.results(right), grid.results(mutant));
        let answers = own.outputs.iter().zip(&other.outputs);
        let asserts = own.asserts.iter().zip(&other.asserts);
        answers.into_iter().any(|(own, other)| own.value().is_some() && !own.agrees(other))
            || asserts.into_iter().any(|(own, other)| own.repeats && own.passed() && !other.passed())
    };
    mutants.iter().map(String::as_str).filter(|mutant| grids.iter().any(|grid| differs(grid, mutant))).collect()
}

/// Measures one suite by the results in the grid. With `counts`, tests at inputs that do not count are not accepted.
pub(super) fn measure_suite(
    grid: &Grid<'_>,
    right: &str,
    suite: &TestSuite,
    counts: Option<&[bool]>,
    wrong: &[&str],
    mutants: &[&str],
) -> SuiteQuality {
    let tests = suite.distinct();
    let fails =
        |program: &str| tests.iter().filter_map(|test| grid.failed_status(program, test)).collect::<Vec<Status>>();
    let failed: Vec<Vec<Status>> = wrong.iter().map(|program| fails(program)).collect();
    SuiteQuality {
        tests: saturating_u32(tests.len()),
        accepted: saturating_u32(tests.iter().filter(|test| passes(grid, right, test, counts)).count()),
        wrong: saturating_u32(wrong.len()),
        rejected: saturating_u32(failed.iter().filter(|failed| !failed.is_empty()).count()),
        killed: saturating_u32(failed.iter().filter(|failed| failed.contains(&Status::WrongAnswer)).count()),
        mutants: saturating_u32(mutants.len()),
        mutants_killed: saturating_u32(mutants.iter().filter(|mutant| !fails(mutant).is_empty()).count()),
    }
}

/// Whether `program` passes `test` at an input that counts.
pub(super) fn passes(grid: &Grid<'_>, program: &str, test: &SuiteTest, counts: Option<&[bool]>) -> bool {
    let counted = match (test, counts) {
        (SuiteTest::Case(case), Some(counts)) => grid.place(&case.input).is_some_and(|place| counts[place]),
        _ => true,
    };
    counted && grid.failed_status(program, test).is_none()
}

/// Draws up to `max_mutants` distinct mutants of `program`, evenly from those of all operators.
pub(super) fn draw_mutants(
    execute: &dyn Execute,
    rules: &AgreementRules,
    program: &str,
) -> Result<Vec<String>, Dropped> {
    if rules.max_mutants == 0 {
        return Ok(Vec::new());
    }
    let made = mutate_program(execute, &rules.image, rules.tool_limits, program, MUTANT_SEED, MUTANTS_EACH)?;
    let mut seen = BTreeSet::from([program_hash(program)]);
    let texts = made.into_iter().flat_map(|mutants| mutants.candidates).map(|candidate| candidate.text);
    let mut texts: Vec<String> = texts.filter(|text| seen.insert(program_hash(text))).collect();
    // The order by digest favours no operator.
    texts.sort_by_key(|text| Digest::of(text.as_bytes()));
    texts.truncate(rules.max_mutants);
    Ok(texts)
}

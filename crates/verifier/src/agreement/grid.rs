//! Runs programs on inputs and assertions, each distinct one once, and keeps the results.
//!
//! A program's inputs run in the order of their encodings, so that the order of tests has no effect. The second run has another seed and
//! the opposite order. Codes that read standard input have a job for each input.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use veriplay_core::{
    CallResult, Checks, Dropped, Evidence, Execute, Exit, Problem, Status, TestCode, TestStyle, Trust, Value, Verdict,
};

use super::agreement_rules::AgreementRules;
use super::clusters::CodeOutput;
use super::streams::run_on_stream;
use super::test_suite::{SuiteTest, TestSuite};
use crate::problems::{ProblemRequest, VACUOUS, judge_programs};
use crate::runner::{NoValue, Runner, add_cost, decode_call, entry_job, job_failure, on_all_cores};

/// The results of one program.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProgramResults {
    /// The output at each input, in the grid's order.
    pub(super) outputs: Vec<CodeOutput>,
    /// The result of each assertion, in the grid's order.
    pub(super) asserts: Vec<AssertionResult>,
    /// Describes the first input at which the second run gave another output.
    pub(super) varies: Option<String>,
}

/// The result of one assertion on one program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AssertionResult {
    /// The status under the first seed.
    pub(super) status: Status,
    /// Whether the second seed gave the same status.
    pub(super) repeats: bool,
}

impl AssertionResult {
    pub(super) fn passed(self) -> bool {
        self.status == Status::Accepted
    }
}

/// How thoroughly a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunMode {
    /// Twice; calls behind one that stops its job run again, each in a job of its own.
    Full,
    /// Once; calls behind one that stops the job fail with it. For mutants.
    Quick,
}

/// Inputs and assertions, and the results of programs on them.
pub(super) struct Grid<'a> {
    execute: &'a dyn Execute,
    rules: &'a AgreementRules,
    /// In the order of their encodings.
    inputs: Vec<Vec<Value>>,
    places: HashMap<Vec<u8>, usize>,
    asserts: Vec<Problem>,
    assert_places: HashMap<String, usize>,
    results: HashMap<String, ProgramResults>,
    /// What all jobs cost together.
    pub(super) cost: Evidence,
}

impl<'a> Grid<'a> {
    /// A grid of the inputs and assertions of all tests of `suites`, and of the inputs `more`.
    pub(super) fn new(
        execute: &'a dyn Execute,
        rules: &'a AgreementRules,
        suites: &[&TestSuite],
        more: impl IntoIterator<Item = Vec<Value>>,
    ) -> Self {
        let tests = || suites.iter().flat_map(|suite| &suite.tests);
        let inputs: BTreeMap<Vec<u8>, Vec<Value>> =
            tests().filter_map(SuiteTest::input).chain(more).map(|input| (input_key(&input), input)).collect();
        let places = inputs.keys().enumerate().map(|(place, key)| (key.clone(), place)).collect();
        let texts: BTreeSet<String> = tests().filter_map(SuiteTest::assertion).map(str::to_owned).collect();
        let assert_places = texts.iter().enumerate().map(|(place, text)| (text.clone(), place)).collect();
        let asserts = texts.into_iter().map(assertion_problem).collect();
        let inputs = inputs.into_values().collect();
        let (results, cost) = (HashMap::new(), Evidence::default());
        Self { execute, rules, inputs, places, asserts, assert_places, results, cost }
    }

    pub(super) fn inputs(&self) -> &[Vec<Value>] {
        &self.inputs
    }

    /// The index of an input; `None` for an input that is not in the grid.
    pub(super) fn place(&self, input: &[Value]) -> Option<usize> {
        self.places.get(&input_key(input)).copied()
    }

    /// The results of a program that [`Grid::run`] has run.
    pub(super) fn results(&self, program: &str) -> &ProgramResults {
        self.results.get(program).expect("a program is run before it is asked for")
    }

    /// Runs the `programs` that have not run yet.
    pub(super) fn run(&mut self, programs: &[&str], mode: RunMode) -> Result<(), Dropped> {
        let new: BTreeSet<&str> =
            programs.iter().copied().filter(|program| !self.results.contains_key(*program)).collect();
        let new: Vec<&str> = new.into_iter().collect();
        let asserted = self.run_assertions(&new, mode)?;
        let ran: Vec<Result<InputRun, Dropped>> = on_all_cores(&new, |program| self.run_inputs(program, mode));
        for ((program, ran), asserts) in new.into_iter().zip(ran).zip(asserted) {
            let InputRun { outputs, varies, cost } = ran?;
            add_cost(&mut self.cost, [], cost.fuel, cost.met_deadline);
            self.results.insert(program.to_owned(), ProgramResults { outputs, asserts, varies });
        }
        Ok(())
    }

    /// How a program fails a test; `None` when it passes.
    pub(super) fn failed_status(&self, program: &str, test: &SuiteTest) -> Option<Status> {
        let results = self.results(program);
        match test {
            SuiteTest::Case(case) => match &results.outputs[self.places[&input_key(&case.input)]] {
                CodeOutput::Value(value) if *value == case.expected => None,
                CodeOutput::Value(_) => Some(Status::WrongAnswer),
                CodeOutput::Failed(status, _) => Some(*status),
            },
            SuiteTest::Assert(text) => {
                let asserted = results.asserts[self.assert_places[text]];
                (!asserted.passed()).then_some(asserted.status)
            }
        }
    }

    /// Whether a test has the same result on a program under both seeds.
    pub(super) fn repeats(&self, program: &str, test: &SuiteTest) -> bool {
        match test {
            SuiteTest::Case(_) => true,
            SuiteTest::Assert(text) => self.results(program).asserts[self.assert_places[text]].repeats,
        }
    }

    fn run_inputs(&self, program: &str, mode: RunMode) -> Result<InputRun, Dropped> {
        let mut runner = Runner::new(self.execute);
        let (mut outputs, mut varies) = (Vec::new(), None);
        if !self.inputs.is_empty() {
            let mut order: Vec<usize> = (0..self.inputs.len()).collect();
            outputs = self.run_in_order(&mut runner, program, &order, self.rules.seeds[0], mode)?;
            if mode == RunMode::Full {
                order.reverse();
                let mut again = self.run_in_order(&mut runner, program, &order, self.rules.seeds[1], mode)?;
                again.reverse();
                varies = self.difference(&outputs, &again);
            }
        }
        Ok(InputRun { outputs, varies, cost: runner.evidence })
    }

    /// The outputs at the inputs `order`, in that order. A job that is stopped leaves outputs only of the calls before its last.
    fn run_in_order(
        &self,
        runner: &mut Runner<'_>,
        program: &str,
        order: &[usize],
        seed: u64,
        mode: RunMode,
    ) -> Result<Vec<CodeOutput>, Dropped> {
        if self.rules.have_streams() {
            let run = |place: &usize| run_on_stream(runner, self.rules, program, &self.inputs[*place], seed);
            return order.iter().map(run).collect();
        }
        let AgreementRules { image, limits, .. } = self.rules;
        let arguments = order.iter().map(|place| self.inputs[*place].clone()).collect();
        let outcome = runner.run(&entry_job(image, program, arguments, *limits, seed))?;
        let mut outputs: Vec<CodeOutput> =
            outcome.calls.iter().take(order.len()).map(|call| self.code_output(call)).collect();
        let Some((status, detail)) = job_failure(&outcome) else {
            let missing = || CodeOutput::Failed(Status::RuntimeError, "its result is missing".to_owned());
            outputs.resize_with(order.len(), missing);
            return Ok(outputs);
        };
        // A program that raises at module level reaches none of its calls.
        let dead = order.len() == 1 || matches!(outcome.exit, Exit::Raised | Exit::CompileError | Exit::MissingEntry);
        if mode == RunMode::Quick || dead {
            outputs.truncate(order.len() - 1);
            outputs.resize(order.len(), CodeOutput::Failed(status, detail));
            return Ok(outputs);
        }
        let alone = order.iter().map(|place| self.run_in_order(runner, program, &[*place], seed, mode));
        Ok(alone.collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn code_output(&self, call: &CallResult) -> CodeOutput {
        match decode_call(call, &self.rules.limits) {
            Ok(value) => CodeOutput::Value(value),
            Err(NoValue::Raised(detail) | NoValue::NoPlainValue(detail)) => {
                CodeOutput::Failed(Status::RuntimeError, detail)
            }
        }
    }

    /// Describes the first difference between two runs. Two failures are equal, whatever their kinds.
    fn difference(&self, first: &[CodeOutput], second: &[CodeOutput]) -> Option<String> {
        let differs = |(one, other): (&CodeOutput, &CodeOutput)| match (one, other) {
            (CodeOutput::Failed(..), CodeOutput::Failed(..)) => false,
            (one, other) => !one.agrees(other),
        };
        let place = first.iter().zip(second).position(differs)?;
        let input = Value::arguments_text(&self.inputs[place]);
        match self.rules.have_streams() {
            true => Some(format!("the input `{input}` gave two outputs")),
            false => Some(format!("`f({input})` gave two results")),
        }
    }

    /// Runs all assertions on each program.
    fn run_assertions(&mut self, programs: &[&str], mode: RunMode) -> Result<Vec<Vec<AssertionResult>>, Dropped> {
        if self.asserts.is_empty() {
            return Ok(vec![Vec::new(); programs.len()]);
        }
        let first = self.assertion_statuses(programs, self.rules.seeds[0])?;
        let second =
            if mode == RunMode::Full { self.assertion_statuses(programs, self.rules.seeds[1])? } else { first.clone() };
        let rows = first.into_iter().zip(second).map(|(first, second)| {
            let cell = |(first, second): (Status, Status)| AssertionResult { status: first, repeats: first == second };
            first.into_iter().zip(second).map(cell).collect()
        });
        Ok(rows.collect())
    }

    fn assertion_statuses(&mut self, programs: &[&str], seed: u64) -> Result<Vec<Vec<Status>>, Dropped> {
        let AgreementRules { image, limits, .. } = self.rules;
        let requests: Vec<_> = programs
            .iter()
            .flat_map(|program| self.asserts.iter().map(move |problem| (program, problem)))
            .map(|(program, problem)| ProblemRequest {
                problem,
                program,
                image,
                limits: *limits,
                seed,
                early_stop: false,
            })
            .collect();
        let mut statuses = Vec::with_capacity(requests.len());
        for verdict in judge_programs(self.execute, &requests) {
            let Verdict { status, evidence, .. } = verdict?;
            add_cost(&mut self.cost, [], evidence.fuel, evidence.met_deadline);
            // Every program passes a vacuous test; a guard refuses the suite for it.
            let vacuous = status == Status::Unjudgeable && evidence.rule == VACUOUS;
            statuses.push(if vacuous { Status::Accepted } else { status });
        }
        Ok(statuses.chunks(self.asserts.len()).map(<[Status]>::to_vec).collect())
    }
}

struct InputRun {
    outputs: Vec<CodeOutput>,
    varies: Option<String>,
    cost: Evidence,
}

fn input_key(input: &[Value]) -> Vec<u8> {
    Value::Tuple(input.to_vec()).encode()
}

/// One assertion as a problem.
fn assertion_problem(text: String) -> Problem {
    Problem::new("assertion", Checks::Tests(TestCode::new(Trust::Split, TestStyle::Asserts(vec![text]))))
}

//! The gate for proposals: its conditions as configuration, and the checks that triplets and induction inputs share.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use veriplay_core::{CallResult, Exit, Job, Language, Limits, Outcome, Preload, Value, count_statements};
use veriplay_image_python::programs::triplets::OTHER_ADDRESSES;

use super::rules::{self, ProposalError};
use super::scan;
use crate::languages::{is_python, language_in_image, literals_of};
use crate::runner::{EXCERPT_CHARS, NoValue, decode_call, encoded_bytes, entry_job, job_failure};

/// Fuel for what the second job runs before the program, more than twice what it takes. Addresses of objects are a function of the image, so that
/// a program which shows them would give the same output in both jobs, and its solvers would have to know them by heart.
const OTHER_ADDRESSES_FUEL: u64 = 20_000_000;

/// The conditions on proposals. There is no default: each run states its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposalGate {
    /// The name of the image.
    pub image: String,
    /// The image of the second job, which differs from `image` in its hash seed only. It finds outputs that depend on the order of a set of
    /// strings; without it such programs pass.
    #[serde(default)]
    pub second_image: Option<String>,
    /// Limits of each job, and of the task.
    pub limits: Limits,
    /// Seeds of the random source and clock of the two jobs. They must differ.
    pub seeds: [u64; 2],
    /// The maximum size of a program, in bytes.
    pub max_program_bytes: usize,
    /// The minimum number of statements, as [`veriplay_core::count_statements`] counts them.
    #[serde(default)]
    pub min_statements: Option<usize>,
    /// The maximum number of statements.
    #[serde(default)]
    pub max_statements: Option<usize>,
    /// The maximum size of an output's `repr`, in bytes.
    pub max_output_bytes: usize,
    /// Conditions on the program of a triplet or an error task at inputs like the proposed one.
    pub probes: ProbeRules,
    /// Conditions on the inputs of an induction proposal.
    pub induction: InductionRules,
}

/// Conditions on a program at probes, inputs like the proposed one (see [`crate::probes`]). Of an error task, whose program may raise at all of
/// them, only `min_distinct_outputs` holds, and asks for two results at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeRules {
    /// The number of probes.
    pub count: usize,
    /// The minimum number of probes at which it returns a plain value. Other probes are ignored.
    pub min_succeeded: usize,
    /// The minimum number of distinct outputs, including that of the proposed input. 2 rejects only constants.
    pub min_distinct_outputs: usize,
}

/// Conditions on the inputs of an induction proposal, which must be distinct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InductionRules {
    /// The number of pairs shown to the solver, the first ones.
    pub visible: usize,
    /// The number of hidden pairs, which judge the answer.
    pub hidden: usize,
    /// The minimum number of distinct outputs over all inputs.
    pub min_distinct_outputs: usize,
}

/// An invalid gate: the key, and what it may be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProposalGateError(String);

impl ProposalGate {
    /// Checks the values. Call it once, where the gate is loaded.
    ///
    /// # Errors
    /// The first invalid value.
    pub fn check(&self) -> Result<(), ProposalGateError> {
        let [one, other] = self.seeds;
        if one == other {
            return Err(ProposalGateError(format!("`seeds` are both `{one}`: they must differ")));
        }
        for (key, count) in [("min_statements", self.min_statements), ("max_statements", self.max_statements)] {
            if let Some(count) = count.filter(|_| !is_python(self.language())) {
                let what =
                    "leave it out, as statements are counted in Python alone; `max_program_bytes` bounds programs";
                return Err(ProposalGateError(format!("`{key}` is `{count}`: {what}")));
            }
        }
        let InductionRules { visible, hidden, min_distinct_outputs } = self.induction;
        within("probes.min_succeeded", self.probes.min_succeeded, 0, self.probes.count)?;
        within("probes.min_distinct_outputs", self.probes.min_distinct_outputs, 1, self.probes.count + 1)?;
        within("induction.visible", visible, 1, usize::MAX)?;
        within("induction.hidden", hidden, 1, usize::MAX)?;
        within("induction.min_distinct_outputs", min_distinct_outputs, 1, visible.saturating_add(hidden))?;
        let most = self.max_statements.unwrap_or(usize::MAX);
        within("min_statements", self.min_statements.unwrap_or(0), 0, most)
    }

    /// The language of programs, which is that of the image.
    #[must_use]
    pub fn language(&self) -> &'static dyn Language {
        language_in_image(&self.image)
    }

    pub(super) fn second_image(&self) -> &str {
        self.second_image.as_deref().unwrap_or(&self.image)
    }

    /// The second job, which calls the program where its addresses, seed and clock are others, and its hash seed too where there is a second image.
    /// JavaScript shows no addresses, and its seed and clock alone are others.
    pub(super) fn repeat_job(&self, program: &str, inputs: Vec<Vec<Value>>) -> Job {
        if !is_python(self.language()) {
            return entry_job(self.second_image(), program, inputs, self.limits, self.seeds[1]);
        }
        let (source, function) = (OTHER_ADDRESSES.to_owned(), "change".to_owned());
        let preload = Some(Preload { program: source, function, arguments: Vec::new() });
        let limits = Limits { fuel: self.limits.fuel.saturating_add(OTHER_ADDRESSES_FUEL), ..self.limits };
        Job { preload, ..entry_job(self.second_image(), program, inputs, limits, self.seeds[1]) }
    }

    pub(super) fn check_program(&self, program: &str) -> Result<(), ProposalError> {
        let bytes = program.len();
        if bytes > self.max_program_bytes {
            let detail = format!("{bytes} bytes, {} allowed", self.max_program_bytes);
            return Err(ProposalError::refused(rules::PROGRAM_LENGTH, detail));
        }
        if !is_python(self.language()) {
            return scan::check(program);
        }
        if self.min_statements.is_none() && self.max_statements.is_none() {
            return Ok(());
        }
        let count = count_statements(program);
        if count < self.min_statements.unwrap_or(0) || count > self.max_statements.unwrap_or(usize::MAX) {
            return Err(ProposalError::refused(rules::STATEMENTS, format!("{count} statements")));
        }
        Ok(())
    }

    /// Checks an output that a task would ask for.
    pub(super) fn output(&self, call: &CallResult) -> Result<Value, ProposalError> {
        let output = decode_call(call, &self.limits).map_err(|no_value| match no_value {
            NoValue::Raised(detail) => ProposalError::refused(rules::RAISES, detail),
            NoValue::NoPlainValue(detail) => ProposalError::refused(rules::UNENCODABLE, detail),
        })?;
        if output == Value::None {
            return Err(ProposalError::refused(rules::NONE, "the output is `None`"));
        }
        if !self.is_short(call, &output) {
            let detail = format!("the output's `repr` is longer than {} bytes", self.max_output_bytes);
            return Err(ProposalError::refused(rules::OUTPUT_LENGTH, detail));
        }
        if !is_python(self.language()) && !self.has_literal(&output) {
            return Err(ProposalError::refused(
                rules::UNENCODABLE,
                "the output has no literal that an answer could be",
            ));
        }
        Ok(output)
    }

    /// Whether the output's `repr` is short enough. An encoding is at most a few times as long as the `repr`, so its length excludes most
    /// long outputs without writing them; a large int is slow to write in decimal.
    fn is_short(&self, call: &CallResult, output: &Value) -> bool {
        encoded_bytes(call) <= self.max_output_bytes.saturating_mul(8)
            && literals_of(self.language()).write(output).len() <= self.max_output_bytes
    }

    fn has_literal(&self, output: &Value) -> bool {
        let literals = literals_of(self.language());
        literals.read(&literals.write(output)).is_ok_and(|read| literals.are_equal(&read, output))
    }
}

fn within(key: &str, value: usize, from: usize, to: usize) -> Result<(), ProposalGateError> {
    match (from..=to).contains(&value) {
        true => Ok(()),
        false => Err(ProposalGateError(format!("`{key}` is `{value}`: it must be from `{from}` to `{to}`"))),
    }
}

/// Rejects an outcome that did not complete.
pub(super) fn check_exit(outcome: &Outcome) -> Result<(), ProposalError> {
    let Some((_, detail)) = job_failure(outcome) else { return Ok(()) };
    let rule = match &outcome.exit {
        Exit::Exceeded { .. } => rules::LIMITS,
        Exit::Trapped => rules::TRAPPED,
        Exit::CompileError => rules::COMPILES,
        Exit::MissingEntry => rules::ENTRY,
        Exit::Raised | Exit::Returned => rules::RAISES,
    };
    Err(ProposalError::refused(rule, detail))
}

/// Compares the outputs of the second job with those of the first.
pub(super) fn check_repeats(first: &[Value], second: &[CallResult], limits: &Limits) -> Result<(), ProposalError> {
    if first.len() != second.len() {
        let detail = format!("{} results the first time, {} the second", first.len(), second.len());
        return Err(ProposalError::refused(rules::NONDETERMINISTIC, detail));
    }
    for (expected, call) in first.iter().zip(second) {
        let again = decode_call(call, limits)
            .map_err(|no_value| ProposalError::refused(rules::NONDETERMINISTIC, no_value.text()))?;
        if again != *expected {
            let (first, second) = (expected.excerpt(EXCERPT_CHARS), again.excerpt(EXCERPT_CHARS));
            let detail = format!("`{first}` the first time, `{second}` the second");
            return Err(ProposalError::refused(rules::NONDETERMINISTIC, detail));
        }
    }
    Ok(())
}

/// How often a solver that always gives the commonest output is right: the share of the other outputs that equal it, so that one that comes
/// once is no guess.
pub(super) fn guess_rate(outputs: &[Value]) -> f64 {
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for output in outputs {
        *counts.entry(output.python_key()).or_default() += 1;
    }
    let others = outputs.len().saturating_sub(1).max(1);
    let equal = counts.into_values().max().unwrap_or(1) - 1;
    equal as f64 / others as f64
}

/// Rejects outputs with too few distinct values.
pub(super) fn check_distinct(outputs: &[Value], at_least: usize) -> Result<(), ProposalError> {
    let distinct: HashSet<Vec<u8>> = outputs.iter().map(Value::python_key).collect();
    if distinct.len() >= at_least {
        return Ok(());
    }
    let detail = format!("{} distinct outputs of {}, {at_least} wanted", distinct.len(), outputs.len());
    Err(ProposalError::refused(rules::CONSTANT, detail))
}

//! Mutants of a program: what suites are measured by.

use std::collections::BTreeSet;

use veriplay_core::{Digest, Dropped, Execute, program_hash};

use super::rules::AgreementRules;
use crate::bugs::Mutants;

/// Seeds the operators: mutants are a function of the program.
const SEED: u64 = 0;
/// Mutants an operator makes at most.
const EACH: usize = 2;

/// Up to `max_mutants` different mutants of `program`, drawn evenly from those that all operators make.
pub(super) fn mutants(execute: &dyn Execute, rules: &AgreementRules, program: &str) -> Result<Vec<String>, Dropped> {
    if rules.max_mutants == 0 {
        return Ok(Vec::new());
    }
    let made = Mutants::of_program(execute, &rules.image, rules.tool_limits, program, SEED, EACH)?;
    let mut seen = BTreeSet::from([program_hash(program)]);
    let texts = made.into_iter().flat_map(|mutants| mutants.candidates).map(|candidate| candidate.text);
    let mut texts: Vec<String> = texts.filter(|text| seen.insert(program_hash(text))).collect();
    // By digest: no operator comes before another.
    texts.sort_by_key(|text| Digest::of(text.as_bytes()));
    texts.truncate(rules.max_mutants);
    Ok(texts)
}

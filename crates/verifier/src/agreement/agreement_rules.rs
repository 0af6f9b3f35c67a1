//! When agreement is enough, as data.

use serde::{Deserialize, Serialize};
use veriplay_core::Limits;

/// What counts as one code when codes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountCodes {
    /// Every sample, as in CodeT: a policy that writes one text many times is sure of it.
    Samples,
    /// Texts that differ, up to comments and layout.
    Texts,
}

/// What a round must be to be learned from. There is no default: a run says what it lets through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgreementRules {
    /// Name of the image everything runs in.
    pub image: String,
    /// What each job of a code or of tests may use. One call costs at most this; so does a whole list of calls.
    pub limits: Limits,
    /// What the jobs of our own that read source text may use: the scan, and the operators that make mutants.
    pub tool_limits: Limits,
    /// Codes and assertions run under both: random source and clock. They must differ.
    pub seeds: [u64; 2],
    /// `samples` or `texts`.
    pub count_codes: CountCodes,
    /// Codes of the trusted cluster at least.
    pub min_codes: usize,
    /// Tests that the trusted cluster passes at least, over all suites.
    pub min_tests: usize,
    /// Characters of a problem's text at least.
    pub min_statement_chars: usize,
    /// Characters of a problem's text at most.
    pub max_statement_chars: usize,
    /// A problem's text quotes code when it holds a line of it of this many characters or more, white space aside.
    pub quote_chars: usize,
    /// Different tests of a suite at least. A longer one is malformed beyond `max_suite_tests`.
    pub min_suite_tests: usize,
    /// Tests of a suite at most, repeats included.
    pub max_suite_tests: usize,
    /// Different values at least that the trusted code returns over all tests' inputs.
    pub min_distinct_outputs: usize,
    /// Inputs made from those of the tests, that no test names: what codes must agree on beside. 0 makes none.
    pub probes: usize,
    /// Mutants of the trusted code that suites are measured by. 0 makes none.
    pub max_mutants: usize,
    /// The share of the mutants at least that a suite must kill, from 0 to 1.
    pub min_mutation_score: f64,
}

/// Why rules cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AgreementRulesError {
    /// One seed twice finds no randomness.
    #[error("`seeds` are both `{0}`: they must differ")]
    SameSeeds(u64),
    /// Nothing would pass, or everything.
    #[error("`{key}` is `{value}`: {allowed}")]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        allowed: String,
    },
}

impl AgreementRules {
    /// Checks what types cannot. Call it once, where the rules are read.
    ///
    /// # Errors
    /// The first value that has no meaning.
    pub fn check(&self) -> Result<(), AgreementRulesError> {
        if self.seeds[0] == self.seeds[1] {
            return Err(AgreementRulesError::SameSeeds(self.seeds[0]));
        }
        let least_one = [
            ("min_codes", self.min_codes),
            ("min_tests", self.min_tests),
            ("min_statement_chars", self.min_statement_chars),
            ("quote_chars", self.quote_chars),
            ("min_suite_tests", self.min_suite_tests),
            ("min_distinct_outputs", self.min_distinct_outputs),
        ];
        if let Some((key, value)) = least_one.into_iter().find(|(_, value)| *value == 0) {
            return Err(out_of_range(key, value, "use at least `1`".to_owned()));
        }
        let ordered = [
            ("max_statement_chars", self.max_statement_chars, self.min_statement_chars),
            ("max_suite_tests", self.max_suite_tests, self.min_suite_tests),
        ];
        if let Some((key, value, least)) = ordered.into_iter().find(|(_, value, least)| value < least) {
            return Err(out_of_range(key, value, format!("use at least `{least}`")));
        }
        if !(0.0..=1.0).contains(&self.min_mutation_score) {
            let allowed = "use a number from `0` to `1`".to_owned();
            return Err(out_of_range("min_mutation_score", self.min_mutation_score, allowed));
        }
        Ok(())
    }
}

fn out_of_range(key: &'static str, value: impl ToString, allowed: String) -> AgreementRulesError {
    AgreementRulesError::OutOfRange { key, value: value.to_string(), allowed }
}

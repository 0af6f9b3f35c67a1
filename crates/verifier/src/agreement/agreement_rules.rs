//! The thresholds of agreement, as configuration.

use serde::{Deserialize, Serialize};
use veriplay_core::Limits;

/// What counts as one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountCodes {
    /// Every sample, as in CodeT: a repeated text shows the policy's confidence.
    Samples,
    /// Distinct texts, up to comments and layout.
    Texts,
}

/// The conditions under which a round is learned from. There is no default: each run states its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgreementRules {
    /// The name of the image for all jobs.
    pub image: String,
    /// Limits of each job of a code or of tests, whether it makes one call or many.
    pub limits: Limits,
    /// Limits of Veriplay's own jobs that parse source text: the scan, and the operators that make mutants.
    pub tool_limits: Limits,
    /// Codes and assertions run under both seeds of random source and clock. They must differ.
    pub seeds: [u64; 2],
    /// `samples` or `texts`.
    pub count_codes: CountCodes,
    /// The minimum number of codes in the trusted cluster.
    pub min_codes: usize,
    /// The minimum number of tests that the trusted cluster passes, over all suites.
    pub min_tests: usize,
    /// The minimum length of a problem's text, in characters.
    pub min_statement_chars: usize,
    /// The maximum length of a problem's text, in characters.
    pub max_statement_chars: usize,
    /// A problem's text quotes code when it contains a line of at least this many characters of it, without white space.
    pub quote_chars: usize,
    /// The minimum number of distinct tests in a suite.
    pub min_suite_tests: usize,
    /// The maximum number of tests in a suite, repeats included; longer suites are malformed.
    pub max_suite_tests: usize,
    /// The minimum number of distinct values that the trusted code returns at the tests' inputs.
    pub min_distinct_outputs: usize,
    /// The number of new inputs like those of the tests, at which codes must agree too. 0 disables them.
    pub probes: usize,
    /// The maximum number of mutants of the trusted code that suites are measured on. 0 disables them.
    pub max_mutants: usize,
    /// The minimum share of the mutants that a suite must kill, from 0 to 1.
    pub min_mutation_score: f64,
}

/// Invalid rules.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AgreementRulesError {
    /// Equal seeds cannot reveal randomness.
    #[error("`seeds` are both `{0}`: they must differ")]
    SameSeeds(u64),
    /// A value out of its range.
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
    /// Checks the values. Call it once, where the rules are loaded.
    ///
    /// # Errors
    /// The first invalid value.
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

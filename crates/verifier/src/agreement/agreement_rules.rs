//! The thresholds of agreement, as configuration.

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Language, Limits, program_hash};

use crate::languages::{is_python, language_in_image};

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

/// What is wrong with rules: a key, its value and what it may be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AgreementRulesError(String);

impl AgreementRules {
    /// Checks the values. Call it once, where the rules are loaded.
    pub fn check(&self) -> Result<(), AgreementRulesError> {
        self.invalid_value().map_or(Ok(()), |what| Err(AgreementRulesError(what)))
    }

    /// The language of codes, which is that of the image.
    #[must_use]
    pub fn language(&self) -> &'static dyn Language {
        language_in_image(&self.image)
    }

    /// Whether codes read standard input and write standard output, because their language has no calls.
    pub(super) fn have_streams(&self) -> bool {
        self.language().literals().is_none()
    }

    /// Names a code: equal for codes that count as one text.
    pub(super) fn code_hash(&self, code: &str) -> Digest {
        let language = self.language();
        if is_python(language) { program_hash(code) } else { language.fingerprint(code) }
    }

    fn invalid_value(&self) -> Option<String> {
        let of_python = [("probes", self.probes), ("max_mutants", self.max_mutants)];
        if let Some((key, value)) = of_python.into_iter().find(|(_, value)| *value > 0 && !is_python(self.language())) {
            let image = &self.image;
            return Some(format!(
                "`{key}` is `{value}`: use `0` where `image` is `{image}`, as probes and mutants are made for Python alone"
            ));
        }
        let [first, second] = self.seeds;
        // Equal seeds cannot reveal randomness.
        if first == second {
            return Some(format!("`seeds` are both `{first}`: they must differ"));
        }
        let at_least = [
            ("min_codes", self.min_codes, 1),
            ("min_tests", self.min_tests, 1),
            ("min_statement_chars", self.min_statement_chars, 1),
            ("quote_chars", self.quote_chars, 1),
            ("min_suite_tests", self.min_suite_tests, 1),
            ("min_distinct_outputs", self.min_distinct_outputs, 1),
            ("max_statement_chars", self.max_statement_chars, self.min_statement_chars),
            ("max_suite_tests", self.max_suite_tests, self.min_suite_tests),
        ];
        if let Some((key, value, least)) = at_least.into_iter().find(|(_, value, least)| value < least) {
            return Some(format!("`{key}` is `{value}`: use at least `{least}`"));
        }
        let score = self.min_mutation_score;
        (!(0.0..=1.0).contains(&score))
            .then(|| format!("`min_mutation_score` is `{score}`: use a number from `0` to `1`"))
    }
}

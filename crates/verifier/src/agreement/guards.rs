//! Guards against a policy that agrees with itself on trivial problems. Each is a line of [`GUARDS`], and each has a file in
//! `task-corpus/sol_ver_cheats` that no other guard refuses.

use serde::{Deserialize, Serialize};
use veriplay_core::{ScannedLanguage, Status, Value, normalize_program};

use super::agreement_rules::AgreementRules;
use super::clusters::{Agreement, Cluster};
use super::suite_quality::SuiteQuality;
use crate::languages::is_python;
use crate::spaces::find_quote;

/// `Err` says why the guard refuses.
type GuardResult = Result<(), String>;

/// A condition on problems, codes, suites or rounds.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    /// Its name, and the rule of its refusals.
    pub name: &'static str,
    /// The condition.
    pub what: &'static str,
    /// The check, and its subject.
    pub check: GuardCheck,
}

/// Why a guard excludes something from training.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardRefusal {
    /// The guard's name, or `no_cluster`.
    pub rule: String,
    /// For people.
    pub detail: String,
}

/// A guard's check, by its subject, in the order in which a round is judged.
#[derive(Debug, Clone, Copy)]
pub enum GuardCheck {
    /// On a proposed problem, before anything runs. Refused problems get no codes or suites.
    Statement(fn(&ProposedProblem<'_>) -> GuardResult),
    /// On a code, before the vote. Refused codes have no vote.
    Code(fn(&CodeFacts<'_>) -> GuardResult),
    /// On a suite, before the vote. Refused suites have no vote.
    Suite(fn(&SuiteFacts<'_>) -> GuardResult),
    /// On a round with a best cluster. Refused rounds are excluded from training.
    Round(fn(&RoundFacts<'_>) -> GuardResult),
    /// On a code of the trusted cluster: what it does at the probes that the majority does not. Refused codes are excluded from training.
    TrustedCode(fn(Option<&str>) -> GuardResult),
    /// On a suite, against the trusted code. Refused suites are excluded from training.
    TrustedSuite(fn(&SuiteFacts<'_>) -> GuardResult),
}

/// A proposed problem.
#[derive(Debug, Clone, Copy)]
pub struct ProposedProblem<'a> {
    /// The rules that apply.
    pub rules: &'a AgreementRules,
    /// Its text.
    pub statement: &'a str,
    /// The program it is based on.
    pub snippet: &'a str,
    /// Whether the caller has it already.
    pub known: bool,
}

/// The facts about a code.
#[derive(Debug, Clone, Copy)]
pub struct CodeFacts<'a> {
    pub(super) varies: Option<&'a str>,
    pub(super) reaches: Option<&'a str>,
}

/// The facts about a suite.
#[derive(Debug, Clone, Copy)]
pub struct SuiteFacts<'a> {
    pub(super) rules: &'a AgreementRules,
    pub(super) tests: usize,
    pub(super) varies: Option<&'a str>,
    pub(super) reaches: Option<&'a str>,
    pub(super) quality: SuiteQuality,
    /// The weight of the codes that pass it, except the one it was written for.
    pub(super) witnesses: usize,
}

/// The facts about a round and its best cluster.
#[derive(Debug, Clone, Copy)]
pub struct RoundFacts<'a> {
    pub(super) rules: &'a AgreementRules,
    pub(super) statement: &'a str,
    pub(super) agreed: &'a Agreement,
    pub(super) trusted: &'a Cluster,
    pub(super) program: &'a str,
    /// The outputs of the trusted code at the inputs that count.
    pub(super) outputs: &'a [&'a Value],
    /// Whether every well-formed code is in the best cluster, and the cluster passes every well-formed suite.
    pub(super) nothing_failed: bool,
    /// Whether no majority of the best cluster agrees at the probes.
    pub(super) split: bool,
}

/// All guards.
pub const GUARDS: &[Guard] = &[
    Guard {
        name: "duplicate",
        what: "the problem has not been stated before",
        check: GuardCheck::Statement(|problem| refuse_if(problem.known, "the same problem has been stated before")),
    },
    Guard {
        name: "statement",
        what: "a problem's text is neither empty nor over-long",
        check: GuardCheck::Statement(statement),
    },
    Guard {
        name: "quotes_snippet",
        what: "a problem's text quotes no line of the program it was made from",
        check: GuardCheck::Statement(|problem| no_quote(problem.statement, problem.snippet, problem.rules)),
    },
    Guard {
        name: "nondeterministic",
        what: "a code gives the same under another seed, clock and order of calls",
        check: GuardCheck::Code(|code| require_none(code.varies)),
    },
    Guard {
        name: "code_reaches",
        what: "a code reaches for no source text, frame, module table or file",
        check: GuardCheck::Code(|code| require_none(code.reaches)),
    },
    Guard { name: "short_suite", what: "a suite has enough different tests", check: GuardCheck::Suite(short_suite) },
    Guard {
        name: "test_reaches",
        what: "an assertion reaches for no source text, frame, module table or test runner",
        check: GuardCheck::Suite(|suite| require_none(suite.reaches)),
    },
    Guard {
        name: "random_tests",
        what: "a test says the same under another seed",
        check: GuardCheck::Suite(|suite| require_none(suite.varies.map(|test| format!("`{test}` gave two results")))),
    },
    Guard { name: "few_codes", what: "enough codes agree", check: GuardCheck::Round(few_codes) },
    Guard { name: "few_tests", what: "the codes that agree pass enough tests", check: GuardCheck::Round(few_tests) },
    Guard { name: "tie", what: "no other cluster has the score of the best", check: GuardCheck::Round(tie) },
    Guard {
        name: "constant",
        what: "the trusted code returns different values at the tests' inputs",
        check: GuardCheck::Round(constant),
    },
    Guard {
        name: "easy",
        what: "some code is outside the trusted cluster, or it fails some test: else there is nothing to learn",
        check: GuardCheck::Round(|round| refuse_if(round.nothing_failed, "all codes agree and pass all tests")),
    },
    Guard {
        name: "quotes_solution",
        what: "a problem's text quotes no line of the trusted code",
        check: GuardCheck::Round(|round| no_quote(round.statement, round.program, round.rules)),
    },
    Guard {
        name: "split",
        what: "most codes of the trusted cluster agree at inputs that no test names",
        check: GuardCheck::Round(|round| {
            refuse_if(round.split, "the codes that agree on the tests' inputs do not on others")
        }),
    },
    Guard {
        name: "special_case",
        what: "a trusted code gives what most of its cluster do at inputs that no test names",
        check: GuardCheck::TrustedCode(|odd| odd.map_or(Ok(()), |what| Err(what.to_owned()))),
    },
    Guard {
        name: "unsound",
        what: "the trusted code passes every test of a suite",
        check: GuardCheck::TrustedSuite(unsound),
    },
    Guard {
        name: "own_candidate",
        what: "some code passes a suite beside the one it was written for",
        check: GuardCheck::TrustedSuite(|suite| {
            refuse_if(suite.witnesses == 0, "only the code it was written for passes it")
        }),
    },
    Guard {
        name: "vacuous",
        what: "a suite kills a wrong code or a mutant of the trusted one",
        check: GuardCheck::TrustedSuite(|suite| {
            refuse_if(suite.quality.kills_nothing(), "it kills no wrong code and no mutant")
        }),
    },
    Guard {
        name: "weak",
        what: "a suite kills its share of the mutants of the trusted code",
        check: GuardCheck::TrustedSuite(weak),
    },
];

/// Checks a proposed problem before codes and suites are sampled for it.
///
/// # Errors
/// The first guard that refuses it, and why.
pub fn check_statement(guards: &[Guard], proposed: &ProposedProblem<'_>) -> Result<(), GuardRefusal> {
    first_refusal(guards, |check| if let GuardCheck::Statement(holds) = check { Some(holds(proposed)) } else { None })
}

/// The first refusal among the guards for which `ask` returns a result.
pub(super) fn first_refusal(
    guards: &[Guard],
    ask: impl Fn(&GuardCheck) -> Option<GuardResult>,
) -> Result<(), GuardRefusal> {
    let refused = |guard: &Guard| Some(GuardRefusal { rule: guard.name.to_owned(), detail: ask(&guard.check)?.err()? });
    guards.iter().find_map(refused).map_or(Ok(()), Err)
}

fn require(condition: bool, why: impl FnOnce() -> String) -> GuardResult {
    if condition { Ok(()) } else { Err(why()) }
}

fn refuse_if(condition: bool, why: &str) -> GuardResult {
    require(!condition, || why.to_owned())
}

fn require_none(found: Option<impl ToString>) -> GuardResult {
    found.map_or(Ok(()), |found| Err(found.to_string()))
}

fn statement(proposed: &ProposedProblem<'_>) -> GuardResult {
    let (least, most) = (proposed.rules.min_statement_chars, proposed.rules.max_statement_chars);
    let found = proposed.statement.trim().chars().count();
    require((least..=most).contains(&found), || format!("{found} characters, `{least}` to `{most}` allowed"))
}

fn no_quote(statement: &str, program: &str, rules: &AgreementRules) -> GuardResult {
    let quoted = quoted_line(statement, program, rules);
    require_none(quoted.map(|line| format!("the text quotes `{}`", line.trim())))
}

fn short_suite(suite: &SuiteFacts<'_>) -> GuardResult {
    let least = suite.rules.min_suite_tests;
    require(suite.tests >= least, || format!("{} different tests, `{least}` wanted", suite.tests))
}

fn few_codes(round: &RoundFacts<'_>) -> GuardResult {
    let (found, least) = (round.trusted.weight, round.rules.min_codes);
    require(found >= least, || format!("{found} codes agree, `{least}` wanted"))
}

fn few_tests(round: &RoundFacts<'_>) -> GuardResult {
    let (found, least) = (round.trusted.tests, round.rules.min_tests);
    require(found >= least, || format!("they pass {found} tests, `{least}` wanted"))
}

fn tie(round: &RoundFacts<'_>) -> GuardResult {
    require(!round.agreed.is_tie(), || format!("two clusters have the score {}", round.trusted.score()))
}

/// Tests without literal inputs give no outputs to compare.
fn constant(round: &RoundFacts<'_>) -> GuardResult {
    let is_first = |(at, output): &(usize, &&Value)| !round.outputs[..*at].contains(output);
    let (found, least) = (round.outputs.iter().enumerate().filter(is_first).count(), round.rules.min_distinct_outputs);
    require(round.outputs.is_empty() || found >= least, || format!("{found} different outputs, `{least}` wanted"))
}

fn unsound(suite: &SuiteFacts<'_>) -> GuardResult {
    let SuiteQuality { tests, accepted, .. } = suite.quality;
    require(suite.quality.status() != Status::Unsound, || {
        format!("the trusted code passes {accepted} of {tests} tests")
    })
}

fn weak(suite: &SuiteFacts<'_>) -> GuardResult {
    let SuiteQuality { mutants, mutants_killed, .. } = suite.quality;
    let least = suite.rules.min_mutation_score;
    let score = suite.quality.mutation_score();
    require(score.is_none_or(|score| score >= least), || format!("it kills {mutants_killed} of {mutants} mutants"))
}

/// The first line of `program` of enough characters that `text` contains, ignoring white space and a leading `return`. The header `def f(…):` may be
/// quoted, and so may comments.
fn quoted_line(text: &str, program: &str, rules: &AgreementRules) -> Option<String> {
    let code = if is_python(rules.language()) { normalize_program(program) } else { without_comments(program) };
    let lines: Vec<String> = code.lines().map(|line| quotable_part(line).to_owned()).collect();
    let long = |line: &&str| line.chars().filter(|c| !c.is_whitespace()).count() >= rules.quote_chars;
    find_quote(text, lines.iter().map(String::as_str).filter(long)).map(str::to_owned)
}

/// The tokens of a program in a language that is not parsed, a blank apart, in its lines.
fn without_comments(program: &str) -> String {
    let end = |token: &str| if token == "\n" { "" } else { " " };
    ScannedLanguage::tokens(program).flat_map(|token| [token, end(token)]).collect()
}

fn quotable_part(line: &str) -> &str {
    let line = line.trim();
    let inner = if line.starts_with("def ") { line.split_once(':').map_or("", |(_, body)| body.trim()) } else { line };
    inner.strip_prefix("return ").unwrap_or(inner)
}

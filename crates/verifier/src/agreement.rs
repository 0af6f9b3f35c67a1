//! Who is right when nobody knows: codes and tests of one problem, each of them a policy's guess, judged by agreement.
//!
//! The judge of Sol-Ver (arXiv 2502.14948): a policy states a problem, answers it by several codes, and writes several suites
//! of tests. [`judge_round`] runs every code on every input that any test names, and finds the largest agreement between
//! codes and tests, as dual execution agreement does (CodeT, arXiv 2207.10397). Called by the game `sol_ver`, which learns from
//! the trusted ones; [`examine_suites`] measures suites against a program that is known to be right.
//!
//! # Rules of agreement
//! 1. Every code runs twice, under two seeds and in opposite orders of the inputs. One whose results differ is
//!    [`veriplay_core::Status::NonDeterministic`] and agrees with nobody.
//! 2. A cell is a plain value, or a failure: an exception, a limit, a trap, something that has no encoding. Only values are
//!    compared, by the judge `exact`. A failure equals nothing, not even a failure of the same kind.
//! 3. An input *counts* when more than half of the codes return a value there, of those that may agree and that return one
//!    anywhere: one odd input of one bad test cannot part codes that agree on all sensible ones. A code that fails where an
//!    input counts agrees with nobody.
//! 4. Codes that return equal values on all inputs that count, and pass the same assertions, are a cluster. Its score is the
//!    number of its codes times the number of tests they pass (a test that is in two suites is two witnesses, one that is
//!    twice in a suite is one). The best cluster is trusted. Two best ones are a tie, and nobody is trusted: neither fuel nor
//!    time nor order decides.
//! 5. A job that was stopped decides nothing about the calls behind the one that stopped it: each of those is made in a job of
//!    its own.
//! 6. A host fault drops the problem.
//!
//! # Guards
//! Agreement is evidence, not truth: one policy wrote all sides, and could agree with itself on nothing. [`GUARDS`] are the
//! rules against that, each a line of one slice, each with files in `task-corpus/sol_ver_cheats` that it alone refuses.
//!
//! # Invariants
//! Everything is a function of the texts, the image, the limits and the seeds. No expected value enters a job of a code:
//! values are compared here, and assertions run as test code in an instance of their own. The order of codes and of suites
//! changes nothing but the order of the decisions.

mod agreement_formats;
mod agreement_rules;
mod clusters;
mod decisions;
mod grid;
mod guards;
mod round;
mod round_judge;
mod suite_quality;
mod test_suite;

pub use agreement_formats::{AGREEMENT_FORMATS, AgreementFormat, agreement_format_by_name, compact};
pub use agreement_rules::{AgreementRules, AgreementRulesError, CountCodes};
pub use clusters::{Agreement, Cluster, CodeOutput, Voter, find_agreement};
pub use guards::{GUARDS, Guard, GuardCheck, GuardRefusal, ProposedProblem, check_statement};
pub use round::{RoundRequest, SuiteAttempt};
pub use round_judge::{CodeDecision, RoundJudgement, SuiteDecision, judge_round, judge_rounds};
pub use suite_quality::{SuiteExamination, SuiteQuality, examine_suites};
pub use test_suite::{SuiteTest, TestSuite};

//! Judges codes and tests of a problem without a reference solution, by their agreement.
//!
//! This is the judge of Sol-Ver (arXiv 2502.14948): a policy states a problem, writes several codes for it and several test suites.
//! [`judge_round`] runs every code on every input of any test, and finds the largest agreement between codes and tests (dual execution
//! agreement; CodeT, arXiv 2207.10397). The game `sol_ver` learns from the trusted codes and suites. [`examine_suites`] measures suites against
//! a program that is known to be right.
//!
//! # Rules of agreement
//! 1. Every code runs twice, under two seeds and with the inputs in opposite orders. A code whose results differ is
//!    [`veriplay_core::Status::NonDeterministic`] and agrees with no other.
//! 2. The output of a code at an input is a plain value or a failure: an exception, an exceeded limit, a trap, or an object without an
//!    encoding. Only values are compared, by the judge `exact`. A failure equals nothing, not even a failure of the same kind.
//! 3. An input *counts* when more than half of the voting codes that return a value anywhere return one there. A single odd input of a
//!    bad test therefore cannot separate codes that agree on all sensible inputs. A code that fails at an input that counts agrees with
//!    no other.
//! 4. Codes that return equal values at all inputs that count, and pass the same assertions, form a cluster. Its score is the number of
//!    its codes times the number of tests they pass; a test in two suites counts twice, a repeated test of one suite once. The cluster
//!    with the best score is trusted. In a tie no cluster is: neither fuel nor time nor order decides.
//! 5. When a job is stopped, the calls behind the one that stopped it are made again, each in a job of its own.
//! 6. A host fault drops the problem.
//!
//! # Other languages
//! The language of codes is that of the image. In one without calls, such as C++, a code is a script: an input is the whole standard input, an
//! output the whole standard output as the judge `lines` compares it, each in a job of its own, and there are no assertions, probes or mutants.
//! Codes are told apart by their fingerprint, and none is scanned for what it reaches for.
//!
//! # Guards
//! Agreement is evidence and not proof: one policy writes codes and tests, and could agree with itself on trivial ones. [`GUARDS`] are
//! the rules against that. Each has files in `task-corpus/sol_ver_cheats` that no other guard refuses.
//!
//! # Invariants
//! Judgements are a function of the texts, the image, the limits and the seeds. No expected value enters a job of a code: the host
//! compares values, and assertions run as test code in an instance of their own. The order of codes and suites changes only the order
//! of the decisions.

mod agreement_formats;
mod agreement_rules;
mod clusters;
mod grid;
mod guards;
mod round;
mod round_judge;
mod streams;
mod suite_quality;
mod test_suite;
mod test_tiers;

pub use agreement_formats::{
    AGREEMENT_FORMATS, AgreementFormat, agreement_format_by_name, agreement_format_in, compact, direct,
};
pub use agreement_rules::{AgreementRules, AgreementRulesError, CountCodes};
pub use guards::{GUARDS, Guard, GuardCheck, GuardRefusal, ProposedProblem, check_statement};
pub use round::{AgreementRequest, SuiteAttempt};
pub use round_judge::{CodeDecision, RoundJudgement, SuiteDecision, judge_round};
pub use streams::{stream_case, streams_of};
pub use suite_quality::{SuiteExamination, SuiteQuality, examine_suites};
pub use test_suite::{SuiteTest, TestSuite};
pub use test_tiers::{PassedTiers, TEST_TIERS};

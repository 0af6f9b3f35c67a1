//! The names of the artifact gate's rules, as in `evidence.rule` of an Invalid Code-as-Task, in the order in which they are checked.

/// The caller has the same artifact already.
pub const DUPLICATE: &str = "duplicate";
/// The instruction or one of the codes is empty or longer than allowed.
pub const LENGTH: &str = "length";
/// The number of failure cases is wrong.
pub const FAILURE_COUNT: &str = "failure_count";
/// The instruction quotes a line of the solution or of the verification function.
pub const LEAK: &str = "leak";
/// Two of the solution and the failure cases are the same program.
pub const REPEATED_CASE: &str = "repeated_case";
/// A failure case differs from the solution in too many lines: it is wrong too obviously.
pub const DISTANT_CASE: &str = "distant_case";
/// The solution does not complete.
pub const SOLUTION_RUNS: &str = "solution_runs";
/// A failure case does not complete, so it does not test the verification function.
pub const FAILURE_RUNS: &str = "failure_runs";
/// The solution or a failure case leaves another state or answer under another seed.
pub const CASE_NONDETERMINISTIC: &str = "case_nondeterministic";
/// The solution calls too few tools, so the task is not about the environment.
pub const TOO_FEW_CALLS: &str = "too_few_calls";
/// The verification function does not complete with a `bool`.
pub const VERIFIER_RUNS: &str = "verifier_runs";
/// The verification function has another result under another seed.
pub const VERIFIER_NONDETERMINISTIC: &str = "verifier_nondeterministic";
/// The verification function rejects the solution.
pub const SOLUTION_REFUSED: &str = "solution_refused";
/// The verification function accepts a failure case.
pub const FAILURE_ACCEPTED: &str = "failure_accepted";
/// The verification function accepts the untouched state: with no answer, with a canned one, or, where the solution changes the state, with its
/// answer.
pub const NOTHING_ACCEPTED: &str = "nothing_accepted";
/// Two failure cases with different texts leave the same state and answer.
pub const SAME_OUTCOME: &str = "same_outcome";

/// All rules.
pub const RULES: [&str; 16] = [
    DUPLICATE, LENGTH, FAILURE_COUNT, LEAK, REPEATED_CASE, DISTANT_CASE, SOLUTION_RUNS, FAILURE_RUNS,
    CASE_NONDETERMINISTIC, TOO_FEW_CALLS, VERIFIER_RUNS, VERIFIER_NONDETERMINISTIC, SOLUTION_REFUSED, FAILURE_ACCEPTED,
    NOTHING_ACCEPTED, SAME_OUTCOME,
];

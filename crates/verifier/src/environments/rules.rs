//! The artifact gate's rules by name: what stands in `evidence.rule` of an Invalid Code-as-Task, in the order they are asked.

/// The caller has it already.
pub const DUPLICATE: &str = "duplicate";
/// The instruction or one of the codes is empty or longer than allowed.
pub const LENGTH: &str = "length";
/// Not as many failure cases as asked for.
pub const FAILURE_COUNT: &str = "failure_count";
/// The instruction quotes a line of the solution or of the verification function.
pub const LEAK: &str = "leak";
/// Two of the solution and the failure cases are one program.
pub const REPEATED_CASE: &str = "repeated_case";
/// A failure case differs from the solution in more lines than allowed: anybody sees that it is wrong.
pub const DISTANT_CASE: &str = "distant_case";
/// The solution does not come to its end.
pub const SOLUTION_RUNS: &str = "solution_runs";
/// A failure case does not come to its end: it fails by itself, and says nothing of the verification function.
pub const FAILURE_RUNS: &str = "failure_runs";
/// The solution or a failure case leaves another state, or answers something else, under another seed.
pub const CASE_NONDETERMINISTIC: &str = "case_nondeterministic";
/// The solution calls too few tools: the task is not about the environment.
pub const TOO_FEW_CALLS: &str = "too_few_calls";
/// The verification function does not come to its end with a `bool`.
pub const VERIFIER_RUNS: &str = "verifier_runs";
/// The verification function says otherwise under another seed.
pub const VERIFIER_NONDETERMINISTIC: &str = "verifier_nondeterministic";
/// The verification function refuses the solution: the task cannot be solved as it says.
pub const SOLUTION_REFUSED: &str = "solution_refused";
/// The verification function accepts a failure case.
pub const FAILURE_ACCEPTED: &str = "failure_accepted";
/// The verification function is satisfied by doing nothing, with no answer or a canned one.
pub const NOTHING_ACCEPTED: &str = "nothing_accepted";
/// Two failure cases that are written differently leave the same state and answer.
pub const SAME_OUTCOME: &str = "same_outcome";

/// All of them.
pub const RULES: [&str; 16] = [
    DUPLICATE,
    LENGTH,
    FAILURE_COUNT,
    LEAK,
    REPEATED_CASE,
    DISTANT_CASE,
    SOLUTION_RUNS,
    FAILURE_RUNS,
    CASE_NONDETERMINISTIC,
    TOO_FEW_CALLS,
    VERIFIER_RUNS,
    VERIFIER_NONDETERMINISTIC,
    SOLUTION_REFUSED,
    FAILURE_ACCEPTED,
    NOTHING_ACCEPTED,
    SAME_OUTCOME,
];

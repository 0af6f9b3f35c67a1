//! The names of the gate's rules, as in `evidence.rule` of an Invalid proposal.

use veriplay_core::Dropped;

/// The caller has the same proposal already.
pub const DUPLICATE: &str = "duplicate";
/// The program is longer than `max_program_bytes`.
pub const PROGRAM_LENGTH: &str = "program_length";
/// The program has more or fewer statements than allowed.
pub const STATEMENTS: &str = "statements";
/// The program does not compile.
pub const COMPILES: &str = "compiles";
/// A program in JavaScript names what leads to the clock, to chance or out of it.
pub const FORBIDDEN: &str = "forbidden";
/// The program defines no callable `f`.
pub const ENTRY: &str = "entry";
/// The program, or its call on the proposed input, raises.
pub const RAISES: &str = "raises";
/// The interpreter stopped early: `os._exit`, a crash, a broken protocol.
pub const TRAPPED: &str = "trapped";
/// The call used more than a limit allows.
pub const LIMITS: &str = "limits";
/// The output is not a plain value.
pub const UNENCODABLE: &str = "unencodable";
/// The output is `None`.
pub const NONE: &str = "none";
/// The output's `repr` is longer than `max_output_bytes`.
pub const OUTPUT_LENGTH: &str = "output_length";
/// Another seed and clock, other addresses of objects, or another order of calls, gave another output.
pub const NONDETERMINISTIC: &str = "nondeterministic";
/// The program returns at too few probes.
pub const PROBES: &str = "probes";
/// Too few distinct outputs at the proposed input and the probes. In an error task: the same exception at all of them.
pub const CONSTANT: &str = "constant";
/// Every output is one of the arguments, or all of them.
pub const IDENTITY: &str = "identity";
/// The number of inputs is wrong.
pub const INPUT_COUNT: &str = "input_count";
/// An input is repeated.
pub const REPEATED_INPUT: &str = "repeated_input";
/// The message to the solver quotes the program.
pub const LEAK: &str = "leak";

/// The program of an error task does not raise at the proposed input.
pub const NO_EXCEPTION: &str = "no_exception";
/// The program of an error task raises a class of its own, and no built-in exception but `Exception` or `BaseException` is behind it.
pub const OWN_EXCEPTION: &str = "own_exception";
/// The text of an error task's program has something that is not known to be harmless, and could lead to what reports its exception.
pub const REACHES: &str = "reaches";

/// All rules.
pub const RULES: [&str; 22] = [
    DUPLICATE, PROGRAM_LENGTH, STATEMENTS, COMPILES, FORBIDDEN, ENTRY, RAISES, TRAPPED, LIMITS, UNENCODABLE, NONE,
    OUTPUT_LENGTH, NONDETERMINISTIC, PROBES, CONSTANT, IDENTITY, INPUT_COUNT, REPEATED_INPUT, LEAK, NO_EXCEPTION,
    OWN_EXCEPTION, REACHES,
];

/// Why a proposal did not become a task.
pub(crate) enum ProposalError {
    Refused { rule: &'static str, detail: String },
    Dropped(Dropped),
}

impl ProposalError {
    pub(crate) fn refused(rule: &'static str, detail: impl Into<String>) -> Self {
        ProposalError::Refused { rule, detail: detail.into() }
    }
}

impl From<Dropped> for ProposalError {
    fn from(dropped: Dropped) -> Self {
        ProposalError::Dropped(dropped)
    }
}

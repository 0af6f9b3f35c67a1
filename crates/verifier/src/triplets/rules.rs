//! The gate's rules by name: what stands in `evidence.rule` of an Invalid proposal.

use veriplay_core::Dropped;

/// The caller has it already.
pub const DUPLICATE: &str = "duplicate";
/// The program is longer than `max_program_bytes`.
pub const PROGRAM_LENGTH: &str = "program_length";
/// The program has more or fewer statements than allowed.
pub const STATEMENTS: &str = "statements";
/// The program does not compile.
pub const COMPILES: &str = "compiles";
/// The program defines no callable `f`.
pub const ENTRY: &str = "entry";
/// The program, or its call on the proposed input, raises.
pub const RAISES: &str = "raises";
/// The interpreter stopped in the middle: `os._exit`, a crash, a broken protocol.
pub const TRAPPED: &str = "trapped";
/// The call used more than a limit allows.
pub const LIMITS: &str = "limits";
/// The output is not a plain value.
pub const UNENCODABLE: &str = "unencodable";
/// The output is `None`.
pub const NONE: &str = "none";
/// The output's `repr` is longer than `max_output_bytes`.
pub const OUTPUT_LENGTH: &str = "output_length";
/// Another seed and clock, or another order of calls, gave another output.
pub const NONDETERMINISTIC: &str = "nondeterministic";
/// The program runs on too few inputs like the proposed one for us to say what it does.
pub const PROBES: &str = "probes";
/// Too few distinct outputs on the proposed input and others like it.
pub const CONSTANT: &str = "constant";
/// Every output is one of the arguments, or all of them.
pub const IDENTITY: &str = "identity";
/// Not as many inputs as asked for.
pub const INPUT_COUNT: &str = "input_count";
/// An input is there twice.
pub const REPEATED_INPUT: &str = "repeated_input";
/// The message to the solver quotes the program.
pub const LEAK: &str = "leak";

/// All of them.
pub const RULES: [&str; 18] = [
    DUPLICATE,
    PROGRAM_LENGTH,
    STATEMENTS,
    COMPILES,
    ENTRY,
    RAISES,
    TRAPPED,
    LIMITS,
    UNENCODABLE,
    NONE,
    OUTPUT_LENGTH,
    NONDETERMINISTIC,
    PROBES,
    CONSTANT,
    IDENTITY,
    INPUT_COUNT,
    REPEATED_INPUT,
    LEAK,
];

/// Why a proposal did not become a task.
pub(crate) enum ProposalError {
    /// A rule refused it.
    Refused {
        /// Its name.
        rule: &'static str,
        /// For people.
        detail: String,
    },
    /// A host fault.
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

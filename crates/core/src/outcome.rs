//! Outcomes: what a job did, before anything judges it, and the report of one for people and clients.

use serde::{Deserialize, Serialize};

use crate::{EncodeCaps, LimitKind, Limits, SCHEMA_VERSION, Value};

/// How a job ended. Whatever a program causes is one of these; faults of the host are [`crate::ExecuteError`]s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// The program ran to its end, and the harness reported so. No exit code or printed text counts as that report.
    Returned,
    /// An uncaught exception ended the program, or its module level for [`crate::Entry::Calls`]; see [`Outcome::error`].
    Raised,
    /// The program's text does not compile; see [`Outcome::error`].
    CompileError,
    /// The program does not define the function to call; see [`Outcome::error`].
    MissingEntry,
    /// The guest stopped before its end: `os._exit`, an interpreter crash, an overflow of the wasm stack, a violation of the protocol.
    Trapped,
    /// It asked for more of a resource than `limit` allows.
    Exceeded {
        /// Which limit.
        limit: LimitKind,
        /// Its value in the job.
        allowed: u64,
        /// Used, or asked for, when it was stopped.
        used: u64,
    },
}

/// An exception or a trap, as the guest or the engine names it. This is text for people: verdicts rest on [`Exit`] and [`CallResult`],
/// because a program can name its exception classes as it likes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct GuestError {
    /// The exception's type name, such as `ValueError`, or the kind of trap, such as `stack_overflow`.
    pub kind: String,
    /// Its message, cut to a few hundred bytes.
    pub message: String,
}

/// The result of one call of [`crate::Entry::Calls`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallResult {
    /// The encoded value it returned. The bytes are untrusted until [`crate::Value::decode`] has read them.
    Returned(Vec<u8>),
    /// It raised.
    Raised(GuestError),
    /// It returned a value that has no encoding; the text describes it.
    Unencodable(String),
}

/// The result of a job. It is a pure function of (job, image): the same on any machine, thread or day, except for
/// [`LimitKind::DeadlineNs`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// One result for each call that ended, in order. Shorter than the list of calls when the job was stopped.
    pub calls: Vec<CallResult>,
    /// The error behind [`Exit::Raised`], [`Exit::CompileError`], [`Exit::MissingEntry`] and [`Exit::Trapped`].
    pub error: Option<GuestError>,
    /// Bytes written to standard output.
    pub stdout: Vec<u8>,
    /// Bytes written to standard error.
    pub stderr: Vec<u8>,
    /// Whether `stdout` or `stderr` was cut.
    pub truncated: bool,
    /// Wasm fuel used.
    pub fuel: u64,
    /// The largest size of linear memory, in bytes.
    pub peak_memory_bytes: u64,
    /// The outcome of the job's callee. When its exit is not [`Exit::Returned`], the callee ended the job, whose own exit is then
    /// [`Exit::Trapped`] with kind `callee`. Of one that shares its objects `calls` is what its program was compiled to, as bytes in the
    /// format of the guest's `marshal`, or why there is none; of others it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callee: Option<Box<Outcome>>,
    /// What became of the job's interactor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction: Option<Box<Interaction>>,
    /// The status by which the program ended its own process, where it did: by `SystemExit` with another status than 0, or by `os._exit`.
    /// It is the program's own word, and no evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Those files of [`crate::Job::fetch`] that were there at the end, in its order, as long as they fit in
    /// [`crate::Limits::file_bytes`] and in [`crate::Limits::output_bytes`] together. Where one did not, `truncated` is set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fetched: Vec<(String, Vec<u8>)>,
    /// What compiling the program took, where the image compiles. It is no part of the other fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compilation: Option<Compilation>,
}

/// What a compiler took to make a program, or to refuse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compilation {
    /// Wasm fuel that it used.
    pub fuel: u64,
    /// The limit of the compiler's that ended it, where one did.
    pub exceeded: Option<LimitKind>,
}

/// The end of a program and its [interactor](crate::Job::interactor). A side ends well by [`Exit::Returned`] or by leaving with status 0; when one
/// ends otherwise, the other is stopped, and its exit is [`Exit::Trapped`] with kind `interaction`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interaction {
    /// How they parted.
    pub end: InteractionEnd,
    /// The outcome of the interactor. It has neither calls nor fetched files.
    pub interactor: Outcome,
}

/// How a program and its interactor parted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InteractionEnd {
    /// Both ended well.
    Completed,
    /// The program failed, before the interactor did.
    ProgramFailed,
    /// The interactor failed, before the program did.
    InteractorFailed,
    /// Each waited for the other to write, and both were stopped.
    Deadlock,
}

impl Outcome {
    /// An outcome without calls, output or use of resources. Set other fields by struct update.
    pub const fn new(exit: Exit) -> Self {
        Self {
            exit,
            calls: Vec::new(),
            error: None,
            stdout: Vec::new(),
            stderr: Vec::new(),
            truncated: false,
            fuel: 0,
            peak_memory_bytes: 0,
            callee: None,
            interaction: None,
            exit_code: None,
            fetched: Vec::new(),
            compilation: None,
        }
    }

    /// Whether the wall clock ended the job, its callee or its interactor, so that another run may not repeat the outcome.
    pub fn met_deadline(&self) -> bool {
        let ended = matches!(self.exit, Exit::Exceeded { limit: LimitKind::DeadlineNs, .. });
        ended || self.other_side().is_some_and(Self::met_deadline)
    }

    /// The outcome of the job's callee or interactor.
    pub fn other_side(&self) -> Option<&Self> {
        let interactor = self.interaction.as_ref().map(|interaction| &interaction.interactor);
        self.callee.as_deref().or(interactor)
    }

    /// The status with which a process of CPython's would have ended: 0 for a normal end, 1 for an uncaught exception, the program's own
    /// where it chose one, -11 for a crash. `None` where a limit stopped it.
    pub fn process_status(&self) -> Option<i32> {
        match self.exit {
            Exit::Returned => Some(0),
            Exit::Raised | Exit::CompileError | Exit::MissingEntry => Some(self.exit_code.unwrap_or(1)),
            Exit::Trapped => Some(self.exit_code.unwrap_or(-11)),
            Exit::Exceeded { .. } => None,
        }
    }

    /// The value of the job's one call, unless it or the program failed.
    pub fn value(&self) -> Result<Value, OutcomeError> {
        let mut values = self.values()?;
        match (values.pop(), values.len()) {
            (Some(value), 0) => Ok(value),
            (last, rest) => Err(OutcomeError::NotOneCall(rest + usize::from(last.is_some()))),
        }
    }

    /// The value of each call, in order; none for a script. An error where the program failed, or a call has no value.
    pub fn values(&self) -> Result<Vec<Value>, OutcomeError> {
        match (&self.exit, &self.error) {
            (Exit::Returned, _) => self.calls.iter().enumerate().map(|(index, call)| call.value(index)).collect(),
            (exit, error) => Err(OutcomeError::Program { exit: exit.clone(), error: error.clone() }),
        }
    }
}

impl CallResult {
    fn value(&self, index: usize) -> Result<Value, OutcomeError> {
        let not_plain = |what: String| OutcomeError::NotPlain { index, what };
        match self {
            CallResult::Returned(bytes) => {
                Value::decode(bytes, EncodeCaps::with_bytes(bytes.len())).map_err(|error| not_plain(error.to_string()))
            }
            CallResult::Raised(error) => Err(OutcomeError::Call { index, error: error.clone() }),
            CallResult::Unencodable(what) => Err(not_plain(what.clone())),
        }
    }
}

/// Why an [`Outcome`] holds no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutcomeError {
    /// The program did not run to its end.
    #[error("{}", describe_end(.exit, .error.as_ref()))]
    Program {
        /// How it ended; never [`Exit::Returned`].
        exit: Exit,
        /// The exception or trap.
        error: Option<GuestError>,
    },
    /// A call raised an exception.
    #[error("call {index} raised {error}")]
    Call {
        /// Which call, from 0.
        index: usize,
        /// The exception.
        error: GuestError,
    },
    /// A call returned something that is not a plain value.
    #[error("call {index} returned no plain value: {what}")]
    NotPlain {
        /// Which call, from 0.
        index: usize,
        /// What it returned instead, in words.
        what: String,
    },
    /// [`Outcome::value`] reads the one call of a job that makes one call.
    #[error("the job made {0} calls, not one")]
    NotOneCall(usize),
}

fn describe_end(exit: &Exit, error: Option<&GuestError>) -> String {
    match (exit, error) {
        (Exit::Exceeded { limit, allowed, used }, _) => {
            format!("the program used {used} of {limit:?}, and {allowed} are allowed")
        }
        (_, Some(error)) => format!("the program ended as {exit:?}: {error}"),
        (_, None) => format!("the program ended as {exit:?}"),
    }
}

/// What `veriplay run --json` prints, and the service answers. A pure function of the job and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// How it ended, in one word such as `returned`, `raised` or `fuel_exhausted`.
    pub exit: &'static str,
    /// The status with which a process of CPython's would have ended, from -11 (a crash) to 255; `null` where a limit stopped it.
    pub exit_code: Option<i32>,
    /// The called function's value as Python text; `null` for a script.
    pub value: Option<Value>,
    /// The error, where there is one.
    pub error: Option<GuestError>,
    /// The limit that stopped it, where one did: `output_exceeded` is the word for two of them.
    pub limit: Option<LimitKind>,
    /// What it printed. A byte that is not UTF-8 is written `\xNN`.
    pub stdout: String,
    /// What it wrote to standard error, in the same way.
    pub stderr: String,
    /// Whether one of the two was cut.
    pub truncated: bool,
    /// Wasm fuel used.
    pub fuel: u64,
    /// The largest size of linear memory, in bytes.
    pub peak_memory_bytes: u64,
}

impl RunReport {
    /// The report on a job of at most one call.
    pub fn new(outcome: Outcome, limits: &Limits) -> Self {
        let caps = EncodeCaps::with_bytes(usize::try_from(limits.output_bytes).unwrap_or(usize::MAX));
        let exit = exit_word(&outcome);
        let limit = match outcome.exit {
            Exit::Exceeded { limit, .. } => Some(limit),
            _ => None,
        };
        let exit_code = outcome.process_status();
        let mut error = outcome.error;
        let value = match outcome.calls.into_iter().next() {
            Some(CallResult::Returned(bytes)) => Value::decode(&bytes, caps).ok(),
            Some(CallResult::Raised(raised)) => {
                error = Some(raised);
                None
            }
            Some(CallResult::Unencodable(message)) => {
                error = Some(GuestError { kind: "Unencodable".to_owned(), message });
                None
            }
            None => None,
        };
        Self {
            schema_version: SCHEMA_VERSION,
            exit,
            exit_code,
            value,
            error,
            limit,
            stdout: escape_bytes(&outcome.stdout),
            stderr: escape_bytes(&outcome.stderr),
            truncated: outcome.truncated,
            fuel: outcome.fuel,
            peak_memory_bytes: outcome.peak_memory_bytes,
        }
    }
}

/// How a job of at most one call ended, in one word. A job whose call raised has run to its own end all the same.
pub fn exit_word(outcome: &Outcome) -> &'static str {
    match outcome.calls.first() {
        Some(CallResult::Raised(_)) => return "raised",
        Some(CallResult::Unencodable(_)) => return "unencodable",
        Some(CallResult::Returned(_)) | None => {}
    }
    match &outcome.exit {
        Exit::Returned => "returned",
        Exit::Raised => "raised",
        Exit::CompileError => "compile_error",
        Exit::MissingEntry => "missing_entry",
        Exit::Trapped => "trapped",
        Exit::Exceeded { limit, .. } => match limit {
            LimitKind::Fuel => "fuel_exhausted",
            LimitKind::MemoryBytes => "memory_exceeded",
            // A file over its cap is output too, kept inside the sandbox.
            LimitKind::OutputBytes | LimitKind::FileBytes => "output_exceeded",
            LimitKind::DeadlineNs => "deadline_exceeded",
        },
    }
}

/// Text without change, except that a byte that is not UTF-8 becomes `\xNN`. A backslash is doubled where it would read as part of such an
/// escape (before `x`, before another backslash, before a byte that is not UTF-8), so that the bytes can be restored.
fn escape_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let mut chars = chunk.valid().chars().peekable();
        while let Some(c) = chars.next() {
            let doubled = match chars.peek() {
                Some(next) => matches!(next, 'x' | '\\'),
                None => !chunk.invalid().is_empty(),
            };
            text.push(c);
            if c == '\\' && doubled {
                text.push(c);
            }
        }
        chunk.invalid().iter().for_each(|byte| text += &format!("\\x{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::escape_bytes;

    fn bytes_of(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("\\\\") {
                bytes.push(b'\\');
                rest = after;
            } else if let Some(after) = rest.strip_prefix("\\x") {
                bytes.push(u8::from_str_radix(&after[..2], 16).expect("two hexadecimal digits follow"));
                rest = &after[2..];
            } else {
                bytes.extend_from_slice(&rest.as_bytes()[..c.len_utf8()]);
                rest = &rest[c.len_utf8()..];
            }
        }
        bytes
    }

    proptest! {
        #[test]
        fn escaped_bytes_can_be_restored(parts in prop::collection::vec(
            prop_oneof![Just(b"\\".to_vec()), Just(b"x".to_vec()), Just(b"41".to_vec()), Just(vec![0xff]),
                        Just("é".as_bytes().to_vec()), prop::collection::vec(any::<u8>(), 0..4)], 0..24)) {
            let bytes = parts.concat();
            prop_assert_eq!(bytes_of(&escape_bytes(&bytes)), bytes);
        }
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        assert_eq!(escape_bytes(br"C:\new 'a\n'"), r"C:\new 'a\n'");
    }
}

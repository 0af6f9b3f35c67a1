//! The outcome of one job as JSON for people and clients: text where an [`Outcome`] has bytes.

use serde::Serialize;

use crate::{CallResult, EncodeCaps, Exit, GuestError, LimitKind, Limits, Outcome, SCHEMA_VERSION, Value};

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
    #[must_use]
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
#[must_use]
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

    /// The inverse of [`escape_bytes`].
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

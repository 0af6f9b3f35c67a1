//! Exit codes, and how failures are reported: what failed, with which value, where, and a hint.

use std::fmt::Display;

use veriplay_core::Dropped;
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::splits::Overlap;

/// Declares the exit codes, each with its number and what it means to who runs a command.
macro_rules! exit_codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $meaning:literal;)*) => {
        /// Exit status of the process.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum ExitCode {
            $($(#[$doc])* $name = $code,)*
        }

        impl ExitCode {
            /// Each number and its meaning, for the command reference.
            pub const MEANINGS: &'static [(u8, &'static str)] = &[$(($code, $meaning)),*];
        }
    };
}

exit_codes! {
    /// A bug of ours, or an unforeseen error. [`ExitCode::DIFFERENT`] has the same number.
    Bug = 1, "a bug in Veriplay; of `config diff`: the configurations differ";
    /// The command line makes no sense. clap ends with this number, too.
    Usage = 2, "wrong usage of the command line";
    /// Bad input: a configuration, a corpus file, a program file, a run directory. A place to write to is input too.
    Input = 3, "invalid input, or output that cannot be written";
    /// The guest image cannot be loaded or built.
    Image = 4, "the Python image is missing";
    /// The model cannot be read, or failed while running.
    Model = 5, "the model cannot be loaded or used";
    /// `replay` found a verdict that came out differently.
    VerdictChanged = 6, "a replayed verdict changed";
    /// The sandbox failed: a host fault.
    Host = 7, "the host failed, not the program";
    /// `isolate` found a probe that escaped or is unclear; `bench --job cost` a program that costs more than its fuel.
    NotContained = 8, "a probe (an attempt to break out) escaped, or a program cost more than its fuel";
    /// `verify` met attempts that their tasks cannot judge: the task may be the cause, or what the attempt contains.
    Unjudgeable = 9, "at least one attempt is `unjudgeable`";
    /// The program of `run` failed.
    Program = 10, "the program of `veriplay run` failed";
    /// `doctor` found something without which Veriplay does not work.
    Unsuitable = 11, "`doctor` found something without which Veriplay does not work";
    /// `bench --fail-on-regression` found a job that is slower than in the baseline, beyond the noise.
    Slower = 12, "`bench --fail-on-regression` found a job that is slower than in the baseline, beyond the noise";
    /// Stopped by Ctrl-C or SIGTERM. The second signal saves nothing more. A command that keeps nothing dies of the signal.
    Interrupted = 130, "stopped by Ctrl-C; `play`, `verify`, `isolate` and `bench`, which save or tidy up at the first signal, by SIGTERM too";
}

impl ExitCode {
    /// `config diff` found a difference: 1, as of `diff`.
    pub const DIFFERENT: Self = Self::Bug;
}

/// A failure with its exit code and advice.
#[derive(Debug)]
pub struct Failure {
    code: ExitCode,
    error: anyhow::Error,
    hint: Option<String>,
    /// Whether everything has been said already.
    silent: bool,
}

impl Failure {
    /// A failure that ends the command with `code`.
    pub fn new(code: ExitCode, error: impl Into<anyhow::Error>) -> Self {
        Self { code, error: error.into(), hint: None, silent: false }
    }

    /// Only an exit code: the command has said why.
    pub fn silent(code: ExitCode) -> Self {
        Self { silent: true, ..Self::message(code, "see above") }
    }

    /// Whether the command has said already why it fails.
    pub const fn is_silent(&self) -> bool {
        self.silent
    }

    /// A failure whose only cause is this text.
    pub fn message(code: ExitCode, text: impl Display) -> Self {
        Self::new(code, anyhow::anyhow!("{text}"))
    }

    /// The same with this advice, in place of what it has.
    pub fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// The same with this advice, where there is any.
    pub fn maybe_hint(self, hint: Option<impl Display>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// The same with advice where it has none.
    pub fn or_hint(self, hint: impl Display) -> Self {
        if self.hint.is_some() { self } else { self.hint(hint) }
    }

    /// The same with more advice, behind what it has.
    pub fn add_hint(self, more: impl Display) -> Self {
        let hint = match &self.hint {
            Some(first) => format!("{first}; {more}"),
            None => more.to_string(),
        };
        self.hint(hint)
    }

    /// Names the thing that the failure is of.
    pub fn of(self, what: &str) -> Self {
        Self { error: self.error.context(format!("`{what}`")), ..self }
    }

    /// What failed, without advice.
    pub fn reason(&self) -> String {
        format!("{:#}", self.error)
    }

    /// The code with which the process ends.
    pub const fn exit_code(&self) -> ExitCode {
        self.code
    }

    /// The number of that code, as a shell sees it.
    pub const fn code(&self) -> u8 {
        self.code as u8
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error: {:#}", self.error)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<Dropped> for Failure {
    fn from(dropped: Dropped) -> Self {
        Self::message(ExitCode::Host, dropped.why)
    }
}

impl From<PlayError> for Failure {
    fn from(error: PlayError) -> Self {
        let code = match &error {
            PlayError::Policy(_) => ExitCode::Model,
            PlayError::Host(_) => ExitCode::Host,
            PlayError::Setup(_) | PlayError::External(_) => ExitCode::Input,
            PlayError::Overlap(overlap) => return overlap.clone().into(),
        };
        Self::new(code, error)
    }
}

impl From<Overlap> for Failure {
    fn from(overlap: Overlap) -> Self {
        Self::new(ExitCode::Input, overlap).hint(Overlap::HINT)
    }
}

/// Gives an error its exit code.
pub trait ResultExt<T> {
    /// The value, or the same error as a failure with this code.
    fn or_fail(self, code: ExitCode) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> ResultExt<T> for Result<T, E> {
    fn or_fail(self, code: ExitCode) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(code, error))
    }
}

/// The error for an invalid value of configuration key `key`.
pub fn bad_value(key: &str, value: &dyn std::fmt::Display, want: &str) -> Failure {
    Failure::message(ExitCode::Input, format!("configuration key `{key}` is `{value}`: it must be {want}"))
}

/// Rejects a number, of configuration key `key`, that is not from 1 to `most`; `unit` is empty, or a blank and what is counted.
pub fn check_range(key: &str, number: u64, most: u64, unit: &str) -> Result<(), Failure> {
    match (1..=most).contains(&number) {
        true => Ok(()),
        false => Err(bad_value(key, &number, &format!("from 1 to {most}{unit}"))),
    }
}

/// Rejects configuration keys whose count is 0.
pub fn check_counts(counts: &[(&str, u64)]) -> Result<(), Failure> {
    match counts.iter().find(|(_, count)| *count == 0) {
        Some((key, _)) => Err(bad_value(key, &0, "at least 1")),
        None => Ok(()),
    }
}

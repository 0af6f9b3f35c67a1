//! `exec:COMMAND`: a method that a program outside this process computes: a reward, a curriculum or a proposer factor. This crate starts no
//! programs: who plays connects them ([`crate::driver::SelfPlay::methods`]), and until then every question is an error.

/// How the config names it.
pub const PREFIX: &str = "exec:";

/// The command that a method's name runs, if it is of that kind.
pub fn command(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX).map(str::trim)
}

/// Why a program outside gave no answer that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExternalError(pub String);

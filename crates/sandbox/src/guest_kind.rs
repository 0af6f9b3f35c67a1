//! The kinds of guests, one for each interpreter: what a guest may call, and what its jobs may ask for. How an instance is entered is in
//! [`crate::exports`].

use veriplay_core::{Entry, ExecuteError, Job};
use wasmtime::{Engine, Linker};

use crate::host::Host;
use crate::{imports, javascript};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GuestKind {
    /// CPython, or a module of a test: it exports `turn` and `host_alloc`, and imports `host.call`.
    Python,
    /// QuickJS: see [`crate::quickjs`] and [`crate::javascript`].
    JavaScript,
}

impl GuestKind {
    /// Makes a linker with everything that a guest of this kind can call.
    pub(crate) fn make_linker(self, engine: &Engine) -> wasmtime::Result<Linker<Host>> {
        match self {
            Self::Python => imports::make_linker(engine),
            Self::JavaScript => javascript::make_linker(engine),
        }
    }

    /// Checks that a job asks for nothing that programs in the guest's language do not have.
    pub(crate) fn check_job(self, job: &Job) -> Result<(), ExecuteError> {
        match self {
            Self::Python => Ok(()),
            Self::JavaScript => javascript::check_job(job),
        }
    }

    /// The first byte of the request to compile a program, see [`crate::request`].
    pub(crate) fn program_tag(self, entry: &Entry) -> u8 {
        match self {
            Self::JavaScript if *entry == Entry::Script => b'k',
            Self::Python | Self::JavaScript => b'K',
        }
    }

    /// Whether the guest reads and writes the format of `marshal`.
    pub(crate) const fn has_marshal(self) -> bool {
        match self {
            Self::Python => true,
            Self::JavaScript => false,
        }
    }
}

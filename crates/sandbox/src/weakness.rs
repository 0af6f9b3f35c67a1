//! A sandbox that was weakened on purpose, so that the isolation suite can be shown to notice.
//!
//! The feature `weaken` is for tests alone and never on by default: without it [`is`] is `false` at compile time, and every
//! hook below it is gone from the binary. With it, [`crate::Sandbox::weakened`] makes a sandbox one of whose defences is
//! off. The hooks ask [`is`], which reads a thread-local: a sandbox enters its weakness for as long as it runs a job, which
//! is on its caller's thread. Invariant: a sandbox made by [`crate::Sandbox::new`] is never weakened, in the same process or not.

use std::borrow::Cow;

use veriplay_core::{ExecuteError, Exit, Outcome};
use wasmtime::{Linker, Module, Store};

/// Names each weakness and the list of all.
macro_rules! weaknesses {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// One defence that is off.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[cfg_attr(not(feature = "weaken"), expect(unreachable_pub, reason = "public with the feature"))]
        pub enum Weakness {
            $($(#[doc = $doc])+ $variant,)+
        }

        #[cfg(feature = "weaken")]
        impl Weakness {
            /// All of them.
            pub const ALL: &'static [Weakness] = &[$(Weakness::$variant),+];

            /// The name probes give it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Weakness::$variant => $name),+
                }
            }
        }
    };
}

weaknesses! {
    /// An instance is used again as the last job left it.
    ResetSkipped = "reset_skipped",
    /// Memory is put back, mutable globals are not.
    GlobalsKept = "globals_kept",
    /// Memory that grew is kept, and only its first part put back.
    GrownMemoryKept = "grown_memory_kept",
    /// An instance that trapped or met a limit is used again as it is.
    ReusedAfterTrap = "reused_after_trap",
    /// Files a job wrote are there for the next one.
    FilesKept = "files_kept",
    /// What jobs of one sandbox write to a stream goes to all of them.
    OutputShared = "output_shared",
    /// Jobs of one sandbox have one clock.
    ClockShared = "clock_shared",
    /// Jobs of one sandbox draw from one random stream.
    RandomShared = "random_shared",
    /// Memory may grow as far as wasm can address it.
    MemoryUncapped = "memory_uncapped",
    /// Streams are kept whole.
    OutputUncapped = "output_uncapped",
    /// Files may grow without end.
    FilesUncapped = "files_uncapped",
    /// Descriptors without number.
    DescriptorsUncapped = "descriptors_uncapped",
    /// No fuel is taken, neither for instructions nor for host calls.
    FuelUnmetered = "fuel_unmetered",
    /// Host calls cost nothing.
    HostCallsFree = "host_calls_free",
    /// The wall-clock backstop is not set.
    DeadlineOff = "deadline_off",
    /// Some directories of the host are in the guest's tree.
    HostDirectory = "host_directory",
    /// The program is given the host's environment.
    HostEnvironment = "host_environment",
    /// Standard input goes on with the host's.
    HostInput = "host_input",
    /// What the program should return is sent along with it.
    ExpectedSent = "expected_sent",
    /// The clock is the host's.
    RealClock = "real_clock",
    /// The random source is seeded from the host's clock.
    SeedFromClock = "seed_from_clock",
    /// A pointer or length out of bounds is answered with success, cut to what there is.
    PointersUnchecked = "pointers_unchecked",
    /// Counts, lengths and offsets are taken as they come.
    CountsUnchecked = "counts_unchecked",
    /// A descriptor that is not open, or of the wrong kind, is taken for the root.
    DescriptorsUnchecked = "descriptors_unchecked",
    /// `..` above the root leads out of the tree.
    DotDotLeaves = "dot_dot_leaves",
    /// Read-only files and directories can be written.
    ReadOnlyIgnored = "read_only_ignored",
    /// Links are made.
    LinksAllowed = "links_allowed",
    /// Socket calls succeed.
    SocketsAllowed = "sockets_allowed",
    /// `proc_exit` is ignored.
    ExitIgnored = "exit_ignored",
    /// Frames that make no sense are taken.
    FramesUnparsed = "frames_unparsed",
    /// Frames are taken at any time.
    FramesUntimed = "frames_untimed",
    /// Frames of any size are taken.
    FramesUncapped = "frames_uncapped",
    /// Imports the host does not know are answered with zero.
    UnknownImports = "unknown_imports",
    /// A trap is taken for a fault of the host's.
    TrapsAreFaults = "traps_are_faults",
    /// A worker whose job met a limit or trapped is never replaced.
    PoolNotHealed = "pool_not_healed",
}

/// What jobs of one weakened sandbox share that must not be shared.
#[derive(Debug, Default)]
pub(crate) struct Board {
    /// Nanoseconds by which the common clock has moved.
    pub(crate) clock_ns: u64,
    /// What was written to streams.
    pub(crate) output: Vec<u8>,
    /// Bytes drawn from the common random stream.
    pub(crate) drawn: u64,
    /// Whether a worker was lost.
    pub(crate) worker_lost: bool,
}

#[cfg(not(feature = "weaken"))]
mod off {
    use super::{Board, Weakness};

    /// Nothing: this build cannot be weakened.
    #[derive(Debug, Default)]
    pub(crate) struct Weakened(());

    /// Nothing was entered.
    pub(crate) struct Entered;

    impl Weakened {
        /// Nothing to apply.
        pub(crate) const fn enter(&self) -> Entered {
            Entered
        }
    }

    /// Whether this is weakened on this thread.
    pub(crate) const fn is(_: Weakness) -> bool {
        false
    }

    /// Nothing is shared.
    pub(crate) fn board<T: Default>(_: impl FnOnce(&mut Board) -> T) -> T {
        T::default()
    }
}

#[cfg(feature = "weaken")]
mod on {
    use std::cell::RefCell;
    use std::sync::{Arc, Mutex, PoisonError};

    use super::{Board, Weakness};

    /// The weakness of one sandbox, if any.
    #[derive(Debug, Clone, Default)]
    pub(crate) struct Weakened(Option<(Weakness, Arc<Mutex<Board>>)>);

    impl Weakened {
        pub(crate) fn by(weakness: Weakness) -> Self {
            Self(Some((weakness, Arc::default())))
        }

        /// Applies to this thread until what is returned goes away.
        pub(crate) fn enter(&self) -> Entered {
            CURRENT.with(|current| *current.borrow_mut() = self.clone());
            Entered
        }

        fn is(&self, weakness: Weakness) -> bool {
            self.0.as_ref().is_some_and(|(own, _)| *own == weakness)
        }

        fn board<T: Default>(&self, work: impl FnOnce(&mut Board) -> T) -> T {
            let board = self.0.as_ref().map(|(_, board)| board);
            board.map_or_else(T::default, |board| work(&mut board.lock().unwrap_or_else(PoisonError::into_inner)))
        }
    }

    /// While it is there, this thread is weakened.
    pub(crate) struct Entered;

    impl Drop for Entered {
        fn drop(&mut self) {
            CURRENT.with(|current| *current.borrow_mut() = Weakened::default());
        }
    }

    thread_local! {
        static CURRENT: RefCell<Weakened> = RefCell::default();
    }

    /// Whether this is weakened on this thread.
    pub(crate) fn is(weakness: Weakness) -> bool {
        CURRENT.with(|current| current.borrow().is(weakness))
    }

    /// Works on what the jobs of this thread's sandbox share.
    pub(crate) fn board<T: Default>(work: impl FnOnce(&mut Board) -> T) -> T {
        CURRENT.with(|current| current.borrow().board(work))
    }
}

#[cfg(not(feature = "weaken"))]
pub(crate) use off::{Weakened, board, is};
#[cfg(feature = "weaken")]
pub(crate) use on::{Weakened, board, is};

/// With [`Weakness::PoolNotHealed`]: the one worker is lost over anything but an ordinary end.
///
/// # Errors
/// When it was lost before.
pub(crate) fn lose_worker(outcome: &Outcome) -> Result<(), ExecuteError> {
    if !is(Weakness::PoolNotHealed) {
        return Ok(());
    }
    let lost = board(|board| board.worker_lost);
    board(|board| board.worker_lost |= !matches!(outcome.exit, Exit::Returned | Exit::Raised));
    if lost { Err(ExecuteError::Host("no worker is left".to_owned())) } else { Ok(()) }
}

/// A linker that answers what it does not know with zero.
///
/// # Errors
/// When an import is none that can be answered so.
pub(crate) fn answering_all<T: 'static>(
    store: &mut Store<T>,
    linker: &Linker<T>,
    module: &Module,
) -> wasmtime::Result<Linker<T>> {
    let mut linker = linker.clone();
    linker.define_unknown_imports_as_default_values(store, module)?;
    Ok(linker)
}

/// Nanoseconds of the host's clock.
pub(crate) fn host_ns() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// The program as the harness is given it: with the host's environment where that is the weakness.
pub(crate) fn program(program: &str) -> Cow<'_, str> {
    if !is(Weakness::HostEnvironment) {
        return Cow::Borrowed(program);
    }
    let host: serde_json::Map<String, serde_json::Value> = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned().into()))
        .collect();
    // JSON's strings are Python's too, and there is nothing but strings in it.
    Cow::Owned(format!("import os; os.environ.update({}); del os\n{program}", serde_json::Value::from(host)))
}

/// Files of the host, by their paths: what a careless mount would show.
pub(crate) fn host_files() -> Vec<(&'static str, Vec<u8>)> {
    const SHOWN: [&str; 8] = [
        "/etc/passwd",
        "/etc/hosts",
        "/etc/hostname",
        "/proc/self/status",
        "/proc/self/environ",
        "/proc/self/cmdline",
        "/proc/1/cmdline",
        "/proc/meminfo",
    ];
    SHOWN.into_iter().filter_map(|path| Some((path, std::fs::read(path).ok()?))).collect()
}

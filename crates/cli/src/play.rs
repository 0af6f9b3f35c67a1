//! The self-play loop. It owns time, threads and files; what is asked, paid and kept is the game's.

mod propose;
mod records;
mod session;
mod solve;
mod start;
mod stop;
mod summary;

pub(crate) use records::{ProposerRecord, RecordLine, SolverRecordLine};
pub(crate) use session::Session;
pub(crate) use summary::report;

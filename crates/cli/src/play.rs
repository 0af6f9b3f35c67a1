//! The self-play loop, the same for every game. It owns time, threads and files; what is asked, paid and kept is the game's.

mod passes;
mod session;
mod summary;

pub(crate) use passes::Passes;
pub(crate) use session::Session;
pub(crate) use summary::{report, table_text};

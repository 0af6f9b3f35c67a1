//! The self-play loop, the same for every game. It owns time, threads and files; prompts, rewards and tasks are the game's.

mod actor;
mod evaluation;
mod learning;
mod open_learner;
pub mod plugins;
mod preflight;
mod session;
mod signal;
mod summary;
mod tensorboard;
mod timing;
mod trackio;
mod trainer;

pub use evaluation::{Validation, evaluate_with_bar};
pub use preflight::start_checks;
pub use session::Session;
pub use summary::{report, table_text};

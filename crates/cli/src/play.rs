//! The self-play loop, the same for every game. It owns time, threads and files; prompts, rewards and tasks are the game's.

mod actor;
mod evaluation;
mod open_learner;
pub(crate) mod plugins;
mod preflight;
mod session;
mod start_model;
mod summary;
mod tensorboard;
mod timing;
mod trackio;
mod trainer;

pub(crate) use evaluation::{Validation, evaluate_with_bar};
pub(crate) use preflight::start_checks;
pub(crate) use session::Session;
pub(crate) use summary::{report, table_text};

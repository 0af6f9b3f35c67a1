//! The HTTP face of the verifier, for trainers that live elsewhere.
//!
//! A request is parsed, its attempts wait in a fair queue, judge threads take them, and the answer is written. The crate knows no sandbox and
//! no corpus: what judges is behind [`Judge`], which the command line implements upon the code of `veriplay verify`.
//!
//! Endpoints are in `endpoints`, one file a family, and `router` merges them. `compat` holds what endpoints of other services' protocols
//! share, `problem` the errors of our own. [`serve`] is the life of a service: listening, serving, draining. [`serve_pages`] uses the same
//! sockets and connections to show pages to a browser on this machine.

mod answer;
mod body;
mod body_room;
mod caller;
mod client;
mod compat;
mod connections;
mod endpoints;
mod json_slices;
mod judge;
mod limits;
mod lines;
mod listener;
mod metrics;
mod objects;
mod pages;
mod phase;
mod problem;
mod queue;
mod router;
mod rows;
mod serve;
mod service;
mod stall;
#[cfg(test)]
mod tests;

pub use client::{TokenError, Tokens};
pub use judge::{
    AUTO_FORMAT, AttemptText, Judge, JudgeFacts, JudgeOptions, JudgedAttempt, OpenTask, TaskError, TaskSource,
};
pub use listener::{Address, ListenError};
pub use pages::{PageAnswer, PageRequest, Pages, serve_pages};
pub use queue::FirstSlices;
pub use serve::{ServeError, serve};
pub use service::Settings;

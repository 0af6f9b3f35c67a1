//! The HTTP face of the verifier, for trainers that live elsewhere.
//!
//! A request is parsed, its attempts wait in a fair queue, judge threads take them, and the answer is written. What judges is behind [`Judge`]:
//! [`ServedJudge`] upon the code of `veriplay verify`, so that a served verdict is `verify`'s to the byte, and in tests a judge that waits
//! and fails when it is told to.
//!
//! Endpoints are in `endpoints`, one file a family, and `router` merges them. `compat` holds what endpoints of other services' protocols
//! share, `problem` the errors of our own. [`serve`] is the life of a service: listening, serving, draining. [`serve_pages`] uses the same
//! sockets and connections to show pages to a browser on this machine.

mod answer;
mod body;
mod body_room;
mod client;
mod compat;
mod connections;
mod endpoints;
mod json_slices;
mod judge;
mod limits;
mod listener;
mod machine;
mod metrics;
mod objects;
mod pages;
mod phase;
mod problem;
mod queue;
mod router;
mod rows;
mod serve;
mod served_judge;
mod service;
mod stall;
mod task_store;
#[cfg(test)]
mod tests;

pub use client::{TokenError, Tokens};
pub use listener::{Address, ListenError};
pub use machine::{MemoryPlan, raise_descriptor_limit};
pub use pages::{PageAnswer, PageRequest, Pages, serve_pages};
pub use queue::FirstSlices;
pub use serve::{ServeError, serve};
pub use served_judge::{ServedJudge, ServiceSandbox};
pub use service::Settings;

//! `veriplay bench`: the same jobs in several ways, side by side, so that what is compared saw the same machine.
//!
//! [`jobs`] are the named jobs, [`way`] lists the ways and [`rounds`] runs them in turn: a round of every way, then the
//! next round, so that a machine that speeds up or slows down does so for all. A way that gives a wrong result fails the
//! whole run: before anything is measured each must accept every job and refuse it with a planted bug.

pub(crate) mod cost;
mod helper;
pub(crate) mod jobs;
pub(crate) mod learner;
mod machine;
mod memory;
pub(crate) mod report;
pub(crate) mod rounds;
mod soak;
mod statistics;
mod subprocess;
mod torch;
mod veriplay;
pub(crate) mod way;

pub(crate) use machine::{Machine, find_node, find_python};
pub(crate) use memory::Memory;
pub(crate) use soak::Soak;

//! `veriplay bench`: the same jobs in Veriplay and in several baselines, side by side on one machine.
//!
//! [`rounds`] runs the [`baselines`] in turn on each of the [`jobs`]: a round of every baseline, then the next round, so that a machine
//! that speeds up or slows down does so for all. A baseline that gives a wrong result fails the whole run: before anything is measured
//! each must accept every job and refuse it with a planted bug. Wrong results of peers of one's own are counted instead. A [`workload`]
//! takes the place of the jobs. A [`report`] says what was measured, whether it is to be trusted, and what has changed since an earlier one.

pub(crate) mod baselines;
pub(crate) mod chart;
mod command_peer;
pub(crate) mod compare;
pub(crate) mod cost;
pub(crate) mod csv;
mod helper;
pub(crate) mod jobs;
pub(crate) mod learner;
mod machine;
mod memory;
mod noise;
mod peer;
pub(crate) mod profile;
pub(crate) mod report;
pub(crate) mod rounds;
pub(crate) mod serve;
mod soak;
mod veriplay;
pub(crate) mod worker;
pub(crate) mod workload;

pub(crate) use command_peer::PeerCommand;
pub(crate) use machine::{Machine, find_node, find_python};
pub(crate) use memory::MemoryReport;
pub(crate) use soak::SoakReport;

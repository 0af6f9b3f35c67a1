//! `veriplay bench`: the same jobs in Veriplay and in several baselines, side by side on one machine.
//!
//! [`rounds`] runs the [`baselines`] in turn on each of the [`jobs`]: a round of every baseline, then the next round, so that a machine
//! that speeds up or slows down does so for all. A baseline that gives a wrong result fails the whole run: before anything is measured
//! each must accept every job and refuse it with a planted bug. Wrong results of peers of one's own are counted instead. The jobs and
//! baselines of a language are those of its table in [`languages`]. A [`workload`] takes the place of the jobs. A [`report`] says what was
//! measured, whether it is to be trusted, and what has changed since an earlier one.

pub mod baselines;
pub mod chart;
mod command_peer;
pub mod compare;
pub mod cost;
pub mod jobs;
pub mod languages;
pub mod learner;
mod line_process;
mod machine;
mod noise;
pub mod profile;
pub mod programs;
pub mod report;
pub mod rounds;
pub mod serve;
mod soak;
mod veriplay;
pub mod worker;
pub mod workload;

pub use command_peer::PeerCommand;
pub use machine::{Machine, find_python};
pub use soak::SoakReport;

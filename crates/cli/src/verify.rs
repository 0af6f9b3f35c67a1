//! The parts of `veriplay verify`: tasks and attempts in, verdicts out in the order of the attempts.
//!
//! [`tasks`] holds what is asked, [`source`] makes work of the attempts file, [`stream`] judges it on all threads and brings
//! it back in order, [`judging`] makes a verdict or finds it in the cache, [`output`] writes it down or continues what an
//! earlier run wrote, [`summary`] counts. The command calls them. Invariant: what is in memory is bounded by the tasks and the window of attempts under way, not by the attempts.

mod assemble;
pub(crate) mod bugs;
mod judging;
mod output;
mod reference;
mod scaled;
mod source;
mod stream;
mod summary;
mod tasks;

pub(crate) use judging::Judging;
pub(crate) use output::Output;
pub(crate) use reference::Bench;
pub(crate) use source::{Conditions, Source};
pub(crate) use stream::in_order;
pub(crate) use summary::{Counted, Summary, VerifySummary};
pub(crate) use tasks::{Overrides, TaskSet};

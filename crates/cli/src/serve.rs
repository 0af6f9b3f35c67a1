//! The parts of `veriplay serve`: the judge of the service, upon the same code as `veriplay verify`, and the tasks that it keeps.

mod judge;
mod machine;
mod store;

pub(crate) use judge::{ServedJudge, ServiceSandbox};
pub(crate) use machine::{MemoryPlan, raise_descriptor_limit};

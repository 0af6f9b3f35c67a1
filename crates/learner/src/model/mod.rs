//! The decoder: its parameters, the layout of a micro-batch, and the differentiable pass.

mod backward;
pub(crate) mod forward;
pub(crate) mod layout;
pub(crate) mod linear;
pub(crate) mod parameters;
mod workspace;

pub(crate) use linear::{PackedModel, Purpose};
pub(crate) use parameters::Parameters;
pub(crate) use workspace::Workspace;

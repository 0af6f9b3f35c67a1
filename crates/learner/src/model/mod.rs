//! The decoder: its named weights, the layout of a micro-batch, and the graph from tokens to log-probabilities.

pub(crate) mod decoder;
pub(crate) mod layout;
pub(crate) mod names;
pub(crate) mod packed;
pub(crate) mod view;
pub(crate) mod weights;

pub(crate) use decoder::Decoder;
pub(crate) use view::View;
pub(crate) use weights::{Mode, Weights};

//! Tests of veriplay-core.

mod arbitrary;
mod codec;
mod equality;
mod literals;
mod objects;
mod outcomes;
mod own_names;
mod patch;
mod program;
mod python;
mod repr;
mod scripted;

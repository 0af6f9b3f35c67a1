//! Tests of Absolute Zero, and with it of the driver: no wasm, no model. One module a subject.

mod config; // what a config file may not say, and the message it gets
mod prompts; // the texts of both formats
mod proposers; // which prompts a step asks, and what counts as the same proposal
mod steps; // whole steps of the driver with a scripted policy
mod support; // fixtures

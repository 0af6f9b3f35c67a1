//! One binary for all tests that need more than one crate, and for the tests of the house itself.

mod bugs;
mod environments;
mod exercise;
mod house;
mod isolation;
mod learning;
mod sol_ver;
mod verifier;

//! One binary for all tests that need more than one crate or the program, and for the tests of the house itself.

mod bugs;
mod command_line; // the command line as its users meet it
mod environments;
mod exercise;
mod hosts;
mod house;
mod isolation;
mod learning;
mod played;
mod sol_ver;
mod verifier;

//! Tests of veriplay-selfplay: no wasm, no model. One module a subject.

mod advantages; // properties every estimator has, and their formulas
mod bug_repair; // config, prompt formats, episodes, and steps without a sandbox
mod config; // what a config file may not say, and the message it gets
mod eval_table; // the table of an evaluation
mod metrics; // pass@k
mod prompts; // the texts of both formats
mod proposers; // which prompts a step asks, and what counts as the same proposal
mod registry; // every file is in its slice and has its headings
mod rewards; // tables of rewards
mod self_challenge; // episodes of challengers and executors
mod sol_ver; // the third game without a sandbox
mod splits; // evaluation shares nothing with training
mod steps; // whole steps of the driver with a scripted policy
mod support; // fixtures

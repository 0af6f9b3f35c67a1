//! Tests of veriplay-selfplay: no wasm, no model. One module a subject.

mod advantages; // properties every estimator has, and their formulas
mod curricula; // what curricula that learn come to draw
mod eval_table; // the table of an evaluation
mod metrics; // pass@k
mod monitors; // scripted collapses trip one monitor each, healthy runs none
mod registry; // every file is in its slice and has its headings
mod rewards; // tables of rewards
mod splits; // evaluation shares nothing with training

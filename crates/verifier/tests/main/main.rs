//! Tests of veriplay-verifier: against a table executor, without a sandbox. Those with the real one are in `tests/`.

mod answers;
mod batches;
mod compact;
mod fenced;
mod gate;
mod induction;
mod memo;
mod order;
mod probes;
mod table;

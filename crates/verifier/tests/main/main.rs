//! Tests of veriplay-verifier: against a table executor, without a sandbox. Those with the real one are in `tests/`.

mod answers;
mod batches;
mod cases;
mod environments;
mod errors;
mod extraction;
mod formats;
mod gate;
mod induction;
mod javascript;
mod judges;
mod judges_checker;
mod judges_testlib;
mod judges_texts;
mod judges_values;
mod languages;
mod probes;
mod problems;
mod problems_calls;
mod problems_prediction;
mod problems_sql;
mod problems_stdio;
mod repository_runs;
mod signature;
mod table;

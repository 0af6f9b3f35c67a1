//! Loads a checkpoint and saves it again: `cargo run -p veriplay-learner --example resave -- FROM TO [MAX_SHARD_BYTES]`.
//!
//! `scripts/parity.py check FROM TO` then has transformers compare the two.

use std::path::Path;

use veriplay_learner::{HubOptions, Learner, LearnerOptions, resolve_model};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to, rest @ ..] = &arguments[..] else { return Err("give a checkpoint and a directory".into()) };
    let learner = Learner::load_by_ids(&resolve_model(from, &HubOptions::default())?, LearnerOptions::default())?;
    match rest {
        [] => learner.save(Path::new(to))?,
        [bytes, ..] => learner.save_sharded(Path::new(to), bytes.parse()?)?,
    }
    Ok(())
}

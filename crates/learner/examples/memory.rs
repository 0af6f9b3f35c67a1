//! Predicted and measured peak memory of two updates: `cargo run -p veriplay-learner --example memory -- [key=value ...]`.
//!
//! Keys: hidden layers heads kv inner vocab rows shards batches (micro-batches of a shard) segments (layers of one; 0 for none) logits (rows of them at a time)
//! lora (rank, on all projections; 0 for none). Linux only.
#![expect(clippy::print_stdout, reason = "it prints a table and is no library")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use veriplay_core::{Learn, Sample, TrainBatch};
use veriplay_learner::{Learner, LearnerOptions, Lora, MemoryPlan, ModelConfig, Segments, build_tokenizer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let keys: BTreeMap<String, usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.split_once('=').and_then(|(k, v)| Some((k.to_owned(), v.parse().ok()?))))
        .collect();
    let get = |key: &str, default: usize| keys.get(key).copied().unwrap_or(default);
    let rows = get("rows", 1024);
    let config = ModelConfig {
        hidden_size: get("hidden", 128),
        num_hidden_layers: get("layers", 5),
        num_attention_heads: get("heads", 4),
        num_key_value_heads: get("kv", 2),
        intermediate_size: get("inner", 512),
        vocab_size: get("vocab", 192),
        max_position_embeddings: 2 * rows,
        ..ModelConfig::default()
    };
    let modules = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
    let target_modules = modules.map(str::to_owned).to_vec();
    let options = LearnerOptions {
        shards: get("shards", 1),
        micro_tokens: rows,
        segments: Some(Segments { layers: get("segments", 0), logit_rows: get("logits", 256) })
            .filter(|s| s.layers > 0),
        lora: Some(Lora { rank: get("lora", 0), alpha: 16.0, target_modules, seed: 0 }).filter(|l| l.rank > 0),
        ..LearnerOptions::default()
    };
    println!("{:#?}", MemoryPlan::predict(&config, &options, rows));
    let predicted = MemoryPlan::predict(&config, &options, rows).total();
    let (before, code) = (status("VmRSS")?, status("RssFile")?);
    let shards = options.shards;
    let mut learner = Learner::initialize(config, build_tokenizer(&[], &[])?, 1, options)?;
    let sample = |shard: usize| {
        Sample::new(Arc::from([1, shard as u32 % 90 + 2]), (0..rows as u32).map(|t| t * 7 % 97).collect(), 1.0)
    };
    let batch = TrainBatch { samples: (0..shards * get("batches", 2)).map(sample).collect(), normalizer: rows as f64 };
    let start = Instant::now();
    (0..2).try_for_each(|_| learner.update(&batch, 1e-3).map(drop))?;
    let measured = status("VmHWM")? - before - (status("RssFile")? - code);
    let (predicted, measured) = (predicted as f64 / 1e6, measured as f64 / 1e6);
    println!("predicted {predicted:.0} MB, measured {measured:.0} MB, {:.2}", predicted / measured);
    println!("{:.1} s for two updates", start.elapsed().as_secs_f64());
    Ok(())
}

/// A line of `/proc/self/status`, in bytes.
fn status(key: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find(|line| line.starts_with(key)).ok_or("no such line")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse::<u64>()? * 1024)
}

//! GFLOP/s of x·Wᵀ on one core: candle's matmul and our kernels: `cargo run -p veriplay-learner --example matmul -- [key=value ...]`.
//!
//! Keys: rows (1024), inputs (128), outputs (512), times (1000). Our side is the whole forward pass of a model that is nearly nothing but
//! two such products, so its number is a lower bound. `veriplay bench learner` measures training and generation.
#![expect(clippy::print_stdout, reason = "it prints a table and is not a library")]

use std::collections::BTreeMap;
use std::time::Instant;

use veriplay_learner::{Learner, LearnerOptions, ModelConfig, build_tokenizer};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let keys: BTreeMap<String, usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.split_once('=').and_then(|(k, v)| Some((k.to_owned(), v.parse().ok()?))))
        .collect();
    let get = |key: &str, default: usize| keys.get(key).copied().unwrap_or(default);
    let (rows, inputs, outputs) = (get("rows", 1024), get("inputs", 128), get("outputs", 512));
    let times = get("times", 1000);
    let cpu = candle_core::Device::Cpu;
    let x = candle_core::Tensor::rand(-1.0_f32, 1.0, (rows, inputs), &cpu)?;
    let w = candle_core::Tensor::rand(-1.0_f32, 1.0, (outputs, inputs), &cpu)?;
    let start = Instant::now();
    for _ in 0..times {
        std::hint::black_box(x.matmul(&w.t()?)?);
    }
    let rate = |flops: f64, start: Instant| flops / 1e9 / start.elapsed().as_secs_f64().max(1e-3);
    println!("candle: {:.0} GFLOP/s", rate(2.0 * (rows * inputs * outputs * times) as f64, start));
    let config = ModelConfig {
        hidden_size: inputs,
        intermediate_size: 16 * outputs,
        num_hidden_layers: 1,
        num_attention_heads: 1,
        num_key_value_heads: 1,
        head_dim: 2,
        ..ModelConfig::default()
    };
    let options = LearnerOptions { data_parallel: 1, micro_tokens: rows, ..LearnerOptions::default() };
    let learner = Learner::initialize(config, build_tokenizer(&[], &[])?, 1, options)?;
    let responses = vec![vec![1; 8]; rows / 8];
    let tokens = 1 + 7 * responses.len();
    let start = Instant::now();
    for _ in 0..times / 20 {
        std::hint::black_box(learner.score(&[1], &responses)?);
    }
    let flops = 2.0 * (tokens * 3 * inputs * 16 * outputs * (times / 20)) as f64;
    println!("kernels, at least: {:.0} GFLOP/s", rate(flops, start));
    Ok(())
}

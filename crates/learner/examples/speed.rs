//! Measures training and sampling: `cargo run -p veriplay-learner --example speed -- [key=value ...]`.
//!
//! Keys: hidden layers heads kv inner vocab prompt response group prompts shards micro rows steps sampling. With `matmul=1` it
//! measures instead what a model of one wide layer reaches in its matrix products, and candle's matmul beside it.
#![expect(clippy::print_stdout, reason = "it prints a table and is no library")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use veriplay_core::{Learn, Policy, Prompt, Role, Sample, Sampling, TrainBatch};
use veriplay_learner::{Learner, LearnerOptions, ModelConfig, build_tokenizer};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let keys: BTreeMap<String, usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.split_once('=').and_then(|(k, v)| Some((k.to_owned(), v.parse().ok()?))))
        .collect();
    let get = |key: &str, default: usize| keys.get(key).copied().unwrap_or(default);
    let config = ModelConfig {
        hidden_size: get("hidden", 128),
        num_hidden_layers: get("layers", 5),
        num_attention_heads: get("heads", 4),
        num_key_value_heads: get("kv", 2),
        intermediate_size: get("inner", 512),
        vocab_size: get("vocab", 192),
        ..ModelConfig::default()
    };
    let options = LearnerOptions {
        shards: get("shards", 2),
        micro_tokens: get("micro", 1024),
        rollout_rows: get("rows", 256),
        ..LearnerOptions::default()
    };
    let mut learner = Learner::initialize(config, build_tokenizer(&[], &[])?, 1, options)?;
    println!("parameters {}", learner.parameter_count());
    if get("matmul", 0) == 1 {
        return matmul(&get);
    }
    train(&mut learner, &get)?;
    if get("sampling", 1) == 1 { sample(&learner, &get) } else { Ok(()) }
}

/// GFLOP/s of x·Wᵀ on one core: candle's matmul, and all of `score` of a model that is nearly nothing but two such products, so
/// that ours is a lower bound.
fn matmul(get: &dyn Fn(&str, usize) -> usize) -> Result<(), Box<dyn std::error::Error>> {
    let (rows, inputs, outputs) = (get("micro", 1024), get("hidden", 128), get("inner", 512));
    let cpu = candle_core::Device::Cpu;
    let x = candle_core::Tensor::rand(-1.0_f32, 1.0, (rows, inputs), &cpu)?;
    let w = candle_core::Tensor::rand(-1.0_f32, 1.0, (outputs, inputs), &cpu)?;
    let times = get("steps", 10) * 100;
    let start = cpu_seconds();
    for _ in 0..times {
        std::hint::black_box(x.matmul(&w.t()?)?);
    }
    let flops = 2.0 * (rows * inputs * outputs * times) as f64;
    println!("candle: {:.0} GFLOP a CPU second", flops / 1e9 / (cpu_seconds() - start).max(0.01));
    let config = ModelConfig {
        hidden_size: inputs,
        intermediate_size: 16 * outputs,
        num_hidden_layers: 1,
        num_attention_heads: 1,
        num_key_value_heads: 1,
        head_dim: 2,
        ..ModelConfig::default()
    };
    let options = LearnerOptions { shards: 1, micro_tokens: rows, ..LearnerOptions::default() };
    let learner = Learner::initialize(config, build_tokenizer(&[], &[])?, 1, options)?;
    let responses = vec![vec![1; 8]; rows / 8];
    let tokens = (1 + 7 * responses.len()) as f64;
    let start = cpu_seconds();
    for _ in 0..times / 20 {
        std::hint::black_box(learner.score(&[1], &responses)?);
    }
    let flops = 2.0 * tokens * (3 * inputs * 16 * outputs * (times / 20)) as f64;
    println!("kernels, at least: {:.0} GFLOP a CPU second", flops / 1e9 / (cpu_seconds() - start).max(0.01));
    Ok(())
}

fn train(learner: &mut Learner, get: &dyn Fn(&str, usize) -> usize) -> Result<(), Box<dyn std::error::Error>> {
    let (prompt, response, group, prompts) =
        (get("prompt", 40), get("response", 12), get("group", 8), get("prompts", 64));
    let samples = (0..prompts)
        .flat_map(|p| {
            let shared: Arc<[u32]> = (0..prompt).map(|t| ((p * 31 + t * 7) % 97) as u32).collect();
            (0..group).map(move |g| {
                let response = (0..response + (p + g) % 5).map(|t| ((g * 13 + t * 5) % 97) as u32).collect();
                Sample::new(Arc::clone(&shared), response, if g % 2 == 0 { 1.0 } else { -0.5 })
            })
        })
        .collect();
    let batch = TrainBatch { samples, normalizer: (prompts * group * response) as f64 };
    learner.update(&batch, 1e-3)?;
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let mut tokens = 0;
    for _ in 0..get("steps", 10) {
        tokens += learner.update(&batch, 1e-4)?.tokens;
    }
    report("train tokens", tokens as f64, start, cpu);
    Ok(())
}

fn sample(learner: &Learner, get: &dyn Fn(&str, usize) -> usize) -> Result<(), Box<dyn std::error::Error>> {
    let prompts: Vec<Prompt> = (0..get("prompts", 64))
        .map(|p| Prompt {
            role: Role::Solver,
            task_type: None,
            text: format!("{p:0width$}", width = get("prompt", 40)),
        })
        .collect();
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let mut tokens = 0;
    for seed in 0..get("steps", 10) as u64 {
        let sampling = Sampling { temperature: 1.0, max_tokens: get("response", 12) + 2, group: get("group", 8), seed };
        tokens += learner.generate(&prompts, &sampling)?.iter().flatten().map(|r| r.tokens.len()).sum::<usize>();
    }
    report("sampled tokens", tokens as f64, start, cpu);
    Ok(())
}

fn report(what: &str, count: f64, start: Instant, cpu: f64) {
    let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    println!(
        "{what} {count}: {:.0} a second, {:.0} a CPU second ({wall:.2} s, {cpu:.2} CPU s)",
        count / wall,
        count / cpu.max(0.01)
    );
}

/// User time of this process in seconds, or 0 where /proc is missing.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

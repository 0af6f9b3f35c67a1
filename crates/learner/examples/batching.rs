//! Measures what batching gains: ragged prompts in 32 slots, and the same in one slot, one row after another.
//!
//! `cargo run --release --workspace --example batching -- [shape=tiny|half] [layers=4] [vocab=32768] [rounds=3] [rows=32]
//! [requests=32] [threads=1] [prompt=24] [answer=64]`, where `half` has the widths of a model of 0.5 B parameters (Qwen2.5's) and
//! fewer layers. All ways run in turns in one process, with the same requests; what they sample is compared. One row after another
//! is one thread's work, and once more that of all `threads`, which share a row of a large model: there each request is a call of its
//! own. `decoding` is without the time that the same prompts take with one token each: packing the weights, and prefill, which
//! batching hardly changes.
#![expect(clippy::print_stdout, reason = "it prints a table and is not a library")]

use std::collections::BTreeMap;
use std::time::Instant;

use veriplay_learner::{Continuation, Learner, LearnerOptions, ModelConfig, SamplingRequest, build_tokenizer};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let keys: BTreeMap<String, String> =
        std::env::args().skip(1).filter_map(|a| a.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()))).collect();
    let get = |key: &str, default: usize| keys.get(key).and_then(|v| v.parse().ok()).unwrap_or(default);
    let config = match keys.get("shape").map_or("tiny", String::as_str) {
        "half" => half(get("layers", 4), get("vocab", 32_768)),
        _ => ModelConfig::default(),
    };
    let rows = get("rows", 32);
    let threads = get("threads", 1);
    let learner = |threads, slots| {
        let options = LearnerOptions { data_parallel: threads, rollout_rows: slots, ..LearnerOptions::default() };
        Learner::initialize(config.clone(), build_tokenizer(&[], &[])?, 1, options).map_err(Error::from)
    };
    let (many, one) = (learner(threads, rows / threads)?, learner(1, 1)?);
    println!("parameters {}, rows {rows}, threads {threads}", many.parameter_count());
    let requests = ragged(get("requests", rows), config.vocab_size, get("prompt", 24), get("answer", 64));
    let prompts: Vec<SamplingRequest> =
        requests.iter().map(|r| SamplingRequest { max_tokens: 1, ..r.clone() }).collect();
    // So that no round pays for pages that no call has touched yet.
    let _ = (many.complete(&prompts)?, one.complete(&prompts)?);
    for round in 0..get("rounds", 3) {
        let (before, after) = (timed(|| many.complete(&prompts))?.1, timed(|| one.complete(&prompts))?.1);
        let (batched, fast) = timed(|| many.complete(&requests))?;
        let (single, slow) = timed(|| one.complete(&requests))?;
        let calls =
            |requests: &[SamplingRequest]| requests.iter().map(|r| alone(&many, r)).collect::<Result<Vec<_>, _>>();
        let prefill = timed(|| calls(&prompts))?.1;
        let (called, shared) = timed(|| calls(&requests))?;
        assert!(batched == single && batched == called, "a sample does not depend on the slots or the threads");
        let tokens: usize = batched.iter().flatten().map(|c: &Continuation| c.tokens.len()).sum();
        println!("round {round}: {tokens} tokens behind {}", requests.iter().map(|r| r.prompt.len()).sum::<usize>());
        tell("  whole    ", tokens, fast, slow);
        tell("  decoding ", tokens - requests.len(), fast - before, slow - after);
        tell("  .. by all", tokens - requests.len(), fast - before, shared - prefill);
    }
    Ok(())
}

/// One request in a call of its own.
fn alone(learner: &Learner, request: &SamplingRequest) -> Result<Vec<Continuation>, Error> {
    Ok(learner.complete(std::slice::from_ref(request))?.remove(0))
}

fn tell(what: &str, tokens: usize, fast: f64, slow: f64) {
    let per_second = |seconds: f64| tokens as f64 / seconds;
    println!(
        "{what} batched {:.0}/s; one by one {:.0}/s; ratio {:.1}",
        per_second(fast),
        per_second(slow),
        slow / fast
    );
}

/// The widths of Qwen2.5-0.5B.
fn half(layers: usize, vocab: usize) -> ModelConfig {
    ModelConfig {
        vocab_size: vocab,
        hidden_size: 896,
        num_hidden_layers: layers,
        num_attention_heads: 14,
        num_key_value_heads: 2,
        head_dim: 64,
        intermediate_size: 4864,
        max_position_embeddings: 512,
        ..ModelConfig::default()
    }
}

/// Prompts and answers of half to one and a half times the given tokens, each with a seed of its own.
fn ragged(count: usize, vocab: usize, prompt: usize, answer: usize) -> Vec<SamplingRequest> {
    let around = |mean: usize, i: usize| mean / 2 + i * 37 % mean.max(1) + 1;
    let request = |i: usize| {
        let prompt = (0..around(prompt, i)).map(|t| ((i * 31 + t * 7) % vocab) as u32).collect();
        SamplingRequest { seed: i as u64, ignore_end: true, ..SamplingRequest::new(prompt, around(answer, 3 * i)) }
    };
    (0..count).map(request).collect()
}

/// What some work gives, and the seconds that it takes.
fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, f64), E> {
    let start = Instant::now();
    let value = work()?;
    Ok((value, start.elapsed().as_secs_f64()))
}

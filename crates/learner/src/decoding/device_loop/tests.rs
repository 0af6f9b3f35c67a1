//! Rows that are admitted, interrupted and joined within the bound of their caches, and what they sample.

use std::ops::Range;

use veriplay_core::Sampling;

use super::*;
use crate::config::ModelConfig;
use crate::decoding::TurnCache;
use crate::decoding::cache_size::ALIGNED;
use crate::device::DeviceSpec;
use crate::model::Model;
use crate::network::GradientMode;
use crate::ops::SharedWorkspace;
use crate::options::LearnerOptions;
use crate::sampling::SamplingContext;
use crate::tokenizer::build_tokenizer;

fn model() -> Model {
    let config = ModelConfig {
        vocab_size: 110,
        hidden_size: 36,
        num_hidden_layers: 2,
        num_attention_heads: 4,
        num_key_value_heads: 2,
        head_dim: 10,
        intermediate_size: 50,
        max_position_embeddings: 300,
        initializer_range: 0.15,
        ..ModelConfig::default()
    };
    let options = LearnerOptions { device: DeviceSpec::Portable, ..LearnerOptions::default() };
    Model::initialize(config, build_tokenizer(&[], &[]).expect("a tokenizer"), 7, &options).expect("valid")
}

/// What a loop had of rows, and what it found.
#[derive(Default)]
struct Seen {
    rows: usize,
    caches: usize,
    interrupted: usize,
    samples: Vec<DecodingSample>,
}

/// A prompt of so many tokens.
fn prompt(length: u32) -> Vec<u32> {
    (0..length).map(|at| at * 37 % 107 + 1).collect()
}

fn sampling(max_tokens: usize) -> Sampling {
    Sampling { group: 6, seed: 5, ..Sampling::new(max_tokens) }
}

fn queue(prompts: Vec<QueuedPrompt<'_>>, tokens: usize, prefill_tokens: usize) -> PromptQueue<'_> {
    PromptQueue::new(prompts, Slots { samples: 64, tokens }, prefill_tokens, TurnCache::default().begin(0))
}

/// Samples of three prompts in caches of so many tokens, of which each round is checked.
fn run(model: &Model, tokens: usize, prefill_tokens: usize) -> Seen {
    let (context, prompts) = (SamplingContext::new(model), [30, 7, 21].map(prompt));
    let mut queued = Vec::new();
    for (index, prompt) in prompts.iter().enumerate() {
        // One group ends early, with counts of tokens that no block of steps ends at, and one is not ended by its end token.
        let sampling = Sampling { top_k: [0, 60, 0][index], ..sampling([200, 9, 170][index]) };
        let end_tokens = if index == 2 { &[] } else { context.end_tokens };
        queued.push(QueuedPrompt { end_tokens, ..context.queue_prompt(index, prompt, &sampling) });
    }
    let queue = queue(queued, tokens, prefill_tokens);
    let backend = model.backend(GradientMode::Detached).expect("a backend");
    let mut device_loop = DeviceLoop::new(backend.decoder(&SharedWorkspace::default()), &queue).expect("a loop");
    let mut seen = Seen::default();
    loop {
        let waiting = device_loop.waiting.len();
        device_loop.arrange_rows().expect("arranges");
        if device_loop.rows.is_empty() {
            seen.samples = device_loop.finished;
            seen.samples.sort_unstable_by_key(|sample| (sample.queued, sample.index));
            return seen;
        }
        let is_bound = device_loop.rows.len() > 1;
        if is_bound && device_loop.waiting.len() < waiting {
            let later = device_loop.columns_of(&device_loop.all_rows(), BLOCK);
            assert!(later <= tokens, "rows are admitted that will have {later} columns of {tokens}");
        }
        let held: usize = device_loop.caches.iter().map(ColumnCache::held_columns).sum();
        assert!(held <= tokens || !is_bound, "{held} columns of {tokens}");
        device_loop.draw().expect("draws");
        let caches = &device_loop.caches;
        let held: usize = caches.iter().map(|cache| cache.size().columns(0)).sum();
        assert!(held <= tokens || !is_bound, "{held} columns of {tokens}");
        assert_eq!(held, caches.iter().map(ColumnCache::held_columns).sum::<usize>(), "sizes are those of tensors");
        let interrupted = device_loop.waiting.iter().filter(|sample| !sample.tokens.is_empty()).count();
        seen.interrupted = seen.interrupted.max(interrupted);
        seen.rows = seen.rows.max(device_loop.rows.len());
        seen.caches = seen.caches.max(caches.len());
    }
}

#[test]
fn rows_without_room_are_interrupted_and_their_samples_are_those_of_rows_that_were_not() {
    let model = model();
    let plenty = run(&model, usize::MAX, 64);
    assert_eq!((plenty.rows, plenty.interrupted, plenty.samples.len()), (18, 0, 18));
    assert!(plenty.samples.iter().any(|sample| sample.tokens.len() == 200), "some are long");
    let mut most_caches = 0;
    for (tokens, least, prefill_tokens) in [(1600, 12, 64), (700, 4, 1), (700, 4, 64), (350, 2, 16), (1, 1, 64)] {
        let little = run(&model, tokens, prefill_tokens);
        assert!(little.rows >= least && little.rows < 18, "{} rows in {tokens} columns", little.rows);
        assert_eq!(little.interrupted > 0, tokens > 1, "{tokens}: {} were interrupted", little.interrupted);
        assert_eq!(little.samples.len(), plenty.samples.len());
        for (found, want) in little.samples.iter().zip(&plenty.samples) {
            assert_eq!((&found.tokens, &found.end), (&want.tokens, &want.end), "{tokens} columns");
            let apart = found.logprobs.iter().zip(&want.logprobs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(apart < 1e-4, "{apart} in {tokens} columns");
        }
        most_caches = most_caches.max(little.caches);
    }
    assert!(most_caches > 1, "rows of unlike lengths are in caches of their own");
}

/// Rows and columns of each cache, where caches may have 780, prefills are of about 15 tokens, and samples of a prompt wait with so many tokens.
fn arranged(model: &Model, prompt_tokens: u32, max_tokens: usize, own: [usize; 6]) -> Vec<(usize, usize)> {
    let (context, prompt) = (SamplingContext::new(model), prompt(prompt_tokens));
    let queue = queue(vec![context.queue_prompt(0, &prompt, &sampling(max_tokens))], 780, 15);
    let backend = model.backend(GradientMode::Detached).expect("a backend");
    let mut device_loop = DeviceLoop::new(backend.decoder(&SharedWorkspace::default()), &queue).expect("a loop");
    device_loop.waiting.iter_mut().zip(own).for_each(|(sample, own)| sample.tokens = vec![1; own]);
    device_loop.arrange_rows().expect("arranges");
    device_loop.caches.iter().map(|cache| (cache.rows().len(), cache.held_columns())).collect()
}

#[test]
fn samples_of_a_prompt_that_is_longer_than_a_prefill_share_it_as_far_as_they_are_computed_together() {
    let model = model();
    assert_eq!(arranged(&model, 200, 20, [0; 6]), [(6, 200 + 6 * 24)]);
    // Two have more tokens than a prefill; for the prompt once more there is no room.
    assert_eq!(arranged(&model, 200, 20, [10; 6]), [(2, 200 + 2 * 24)]);
}

#[test]
fn new_rows_are_not_joined_to_one_that_is_about_to_need_another_block_of_columns() {
    assert_eq!(arranged(&model(), 8, 200, [60, 0, 0, 0, 0, 0]), [(1, 8 + BLOCK), (5, 8 + 5 * BLOCK)]);
}

/// So many rows of each of some prompts, which have a block of columns each.
fn rows(prompts: Range<usize>, each: usize) -> impl Iterator<Item = CachedRow> {
    let row = |queued| CachedRow { queued, prompt: ALIGNED, own: 0, most: ALIGNED };
    prompts.flat_map(move |queued| std::iter::repeat_n(row(queued), each))
}

#[test]
fn caches_that_are_joined_share_a_prompt_and_single_rows_are_not_joined_to_large_groups() {
    for (before, after, [prompts, most], is_refused) in [
        (rows(0..2, 3), rows(1..2, 5), [2, 8], false),
        (rows(0..4, 1), rows(4..12, 16), [12, 16], false),
        (rows(0..128, 1), rows(128..136, 16), [136, 16], true),
    ] {
        let (before, after): (Vec<_>, Vec<_>) = (before.collect(), after.collect());
        let mut both: CacheSize = before.iter().copied().collect();
        both.extend(after.iter().copied());
        assert_eq!((both.columns(1), both.places()), (ALIGNED * (prompts + both.rows), prompts * most));
        let [before, after] = [before, after].map(|rows| rows.into_iter().collect());
        assert_eq!(is_ragged([&before, &after, &both]), is_refused, "{prompts} prompts");
    }
}

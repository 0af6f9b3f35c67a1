//! Every other device than the CPU's own kernels, held to them: scores, gradients, steps and samples, in f32 and in bf16.
//!
//! `cpu-portable` runs the operations of a card on the CPU, everywhere. Under the feature `cuda` the same tests run on the first card,
//! and say so when there is none. Tolerances are relative to the largest number of a tensor; in f32 a card is given ten times those of the
//! CPU, for sums in another order. In bf16 a number has 8 bits: what is asked for is that errors stay of that size.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use veriplay_core::{Learn, Sample, TrainBatch};
use veriplay_learner::{
    Architecture, DeviceSpec, LayerType, Learner, LearnerOptions, Lora, ModelConfig, NamedTensor, Optimizer, Precision,
    SamplingRequest, Segments, TokenSampler,
};

use crate::common::{tiny_config, tokenizer};
use crate::losses::common::batch;

/// A device to test, and how far it may be off.
#[derive(Debug, Clone, Copy)]
struct Held {
    device: DeviceSpec,
    precision: Precision,
    /// Of log-probabilities, in nats.
    logprob: f32,
    /// Of gradients and steps, relative.
    relative: f64,
}

#[expect(clippy::print_stderr, reason = "a test that was not run says so")]
fn devices() -> Vec<Held> {
    let held = |device, precision, logprob, relative| Held { device, precision, logprob, relative };
    let mut devices = vec![
        held(DeviceSpec::Portable, Precision::F32, 1e-4, 1e-5),
        held(DeviceSpec::Portable, Precision::Bf16, 0.06, 0.08),
    ];
    let required = std::env::var_os("VERIPLAY_REQUIRE_CUDA").is_some();
    if !cfg!(feature = "cuda") {
        assert!(!required, "`VERIPLAY_REQUIRE_CUDA` is set, and these tests were built without the feature `cuda`");
        return devices;
    }
    let options = LearnerOptions { device: DeviceSpec::Cuda(0), ..LearnerOptions::default() };
    match Learner::initialize(tiny_config(), tokenizer(), 7, options) {
        Ok(_) => {
            devices.push(held(DeviceSpec::Cuda(0), Precision::F32, 1e-3, 1e-4));
            devices.push(held(DeviceSpec::Cuda(0), Precision::Bf16, 0.06, 0.08));
        }
        Err(error) if required => panic!("`VERIPLAY_REQUIRE_CUDA` is set: {error}"),
        Err(error) => eprintln!("NOT run on a card: {error}"),
    }
    devices
}

fn families() -> [ModelConfig; 6] {
    let of = |model_type| ModelConfig { model_type, ..tiny_config() };
    [
        of(Architecture::Qwen2),
        of(Architecture::Qwen3),
        ModelConfig { tie_word_embeddings: false, ..of(Architecture::Llama) },
        ModelConfig { no_rope_layers: vec![0, 1], ..of(Architecture::SmolLm3) },
        ModelConfig { partial_rotary_factor: 0.6, ..of(Architecture::Phi3) },
        ModelConfig {
            layer_types: vec![LayerType::SlidingAttention, LayerType::FullAttention],
            sliding_window: 6,
            query_pre_attn_scalar: Some(12),
            ..of(Architecture::Gemma3)
        },
    ]
}

fn learner(config: &ModelConfig, options: LearnerOptions) -> Learner {
    Learner::initialize(config.clone(), tokenizer(), 7, options).expect("valid")
}

/// The learner of the CPU and that of the device.
fn both(config: &ModelConfig, held: Held, options: &LearnerOptions) -> [Learner; 2] {
    let Held { device, precision, .. } = held;
    [learner(config, options.clone()), learner(config, LearnerOptions { device, precision, ..options.clone() })]
}

fn tokens(count: usize, salt: u32) -> Vec<u32> {
    (0..count as u32).map(|i| (i * 37 + i * i * salt + salt) % 107 + 1).collect()
}

/// ‖a − b‖ / ‖b‖ of every tensor, at worst.
fn distance(a: &[NamedTensor], b: &[NamedTensor]) -> f64 {
    let one = |((spec, a), (_, b)): (&NamedTensor, &NamedTensor)| {
        let square = |x: f64| x * x;
        let apart: f64 = a.iter().zip(b).map(|(&a, &b)| square(f64::from(a) - f64::from(b))).sum();
        let size: f64 = b.iter().map(|&b| square(f64::from(b))).sum();
        assert!(size > 0.0, "{} is zero", spec.name);
        (apart / size).sqrt()
    };
    a.iter().zip(b).map(one).fold(0.0, f64::max)
}

#[test]
fn every_device_scores_as_the_cpu_does() {
    for held in devices() {
        for config in families() {
            let [cpu, other] = both(&config, held, &LearnerOptions::default());
            let prompt = tokens(9, 3);
            let responses = [tokens(5, 1), tokens(1, 2), tokens(12, 5)];
            let want = cpu.score(&prompt, &responses).expect("scores");
            let found = other.score(&prompt, &responses).expect("scores");
            let apart = found.iter().flatten().zip(want.iter().flatten()).map(|(a, b)| (a - b).abs());
            let apart = apart.fold(0.0, f32::max);
            assert!(apart <= held.logprob, "{held:?} {:?}: {apart}", config.model_type);
        }
    }
}

#[test]
fn every_device_has_the_gradients_of_the_cpu_with_and_without_segments() {
    for held in devices() {
        for config in families() {
            for segments in [None, Some(Segments { layers: 1, logit_rows: 3 })] {
                let options = LearnerOptions { segments, micro_tokens: 40, ..LearnerOptions::default() };
                let [mut cpu, mut other] = both(&config, held, &options);
                let batch: TrainBatch = batch(&cpu, 0.4);
                let (loss, want) = cpu.named_gradients(&batch).expect("gradients");
                let (found_loss, found) = other.named_gradients(&batch).expect("gradients");
                let apart = distance(&found, &want);
                assert!(apart <= held.relative, "{held:?} {:?} {segments:?}: {apart}", config.model_type);
                assert!((found_loss - loss).abs() <= held.relative * loss.abs().max(1.0), "{found_loss} {loss}");
            }
        }
    }
}

/// Heads such as real models have, for which a card has kernels of its own, in groups of several tiles.
#[test]
fn every_device_attends_in_long_groups_as_the_cpu_does() {
    let lengths = [(70, [37, 1, 66]), (3, [2, 64, 5])];
    let sample = |prompt: usize, at: usize, length: usize| {
        Sample::new(tokens(prompt, 3).into(), tokens(length, 1 + at as u32), 1.0 - at as f32 * 0.7)
    };
    let samples = lengths.into_iter().flat_map(|(prompt, responses)| {
        responses.into_iter().enumerate().map(move |(at, length)| sample(prompt, at, length))
    });
    let batch = TrainBatch { samples: samples.collect(), normalizer: 100.0 };
    for held in devices() {
        for config in families() {
            for head_dim in [64, 128] {
                let config = ModelConfig { head_dim, max_position_embeddings: 144, ..config.clone() };
                let [mut cpu, mut other] = both(&config, held, &LearnerOptions::default());
                let (_, want) = cpu.named_gradients(&batch).expect("gradients");
                let (_, found) = other.named_gradients(&batch).expect("gradients");
                let apart = distance(&found, &want);
                assert!(apart <= held.relative, "{held:?} {:?} {head_dim}: {apart}", config.model_type);
            }
        }
    }
}

#[test]
fn both_optimizers_step_alike_everywhere_and_their_state_is_saved_and_read_back() {
    let muon = Optimizer::muon(veriplay_learner::AdamW { weight_decay: 0.01, ..Default::default() }, 5.0);
    for held in devices() {
        for optimizer in [Optimizer::default(), muon] {
            let options = LearnerOptions { optimizer, ..LearnerOptions::default() };
            let [mut cpu, mut other] = both(&tiny_config(), held, &options);
            let before = cpu.named_weights();
            let batch: TrainBatch = batch(&cpu, 0.4);
            let steps = |learner: &mut Learner, count: usize| {
                (0..count).for_each(|_| drop(learner.update(&batch, 1e-3).expect("learns")));
            };
            steps(&mut cpu, 4);
            steps(&mut other, 2);
            let dir = tempfile::tempdir().expect("a folder");
            other.save(dir.path()).and_then(|()| other.save_trainer_state(dir.path())).expect("saves");
            let mut again = Learner::load(dir.path(), other.options().clone()).expect("loads");
            again.load_trainer_state(dir.path()).expect("loads");
            for mut learner in [other, again] {
                steps(&mut learner, 2);
                // How far they are apart, as a share of how far they went. AdamW's first steps are signs of gradients, so a tiny
                // gradient of another sign is a whole step off: bf16 is held to the size of a step alone.
                let apart = distance(&moved(&learner.named_weights(), &before), &moved(&cpu.named_weights(), &before));
                let most = if held.precision == Precision::F32 { 1e3 * held.relative } else { 1.0 };
                assert!(apart <= most, "{held:?} {optimizer:?}: {apart}");
            }
        }
    }
}

/// The way from `before`, of every tensor.
fn moved(after: &[NamedTensor], before: &[NamedTensor]) -> Vec<NamedTensor> {
    let way = |((spec, a), (_, b)): (&NamedTensor, &NamedTensor)| {
        (spec.clone(), a.iter().zip(b).map(|(a, b)| a - b).collect())
    };
    after.iter().zip(before).map(way).collect()
}

#[test]
fn adapters_train_alike_everywhere() {
    let target_modules = ["q_proj", "down_proj"].map(str::to_owned).to_vec();
    let lora = Some(Lora { rank: 3, alpha: 6.0, target_modules, seed: 1, per_role: false });
    for held in devices() {
        let [mut cpu, mut other] =
            both(&tiny_config(), held, &LearnerOptions { lora: lora.clone(), ..LearnerOptions::default() });
        let batch: TrainBatch = batch(&cpu, 0.4);
        for learner in [&mut cpu, &mut other] {
            (0..3).for_each(|_| drop(learner.update(&batch, 1e-3).expect("learns")));
        }
        let prompt = tokens(6, 2);
        let responses = [tokens(8, 1)];
        let [want, found] = [&cpu, &other].map(|learner| learner.score(&prompt, &responses).expect("scores"));
        let apart = want[0].iter().zip(&found[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart <= 2.0 * held.logprob, "{held:?}: {apart}");
    }
}

/// Prompts of many lengths, some greedy, with samples of one prompt and more rows than slots.
fn requests(sampler: TokenSampler) -> Vec<SamplingRequest> {
    let request = |i: usize| SamplingRequest {
        samples: 1 + i % 3,
        sampler: if i == 4 { TokenSampler::at(0.0) } else { sampler },
        seed: 40 + i as u64,
        ignore_end: i.is_multiple_of(2),
        ..SamplingRequest::new(tokens(1 + i * 5 % 17, i as u32), 3 + i * 7 % 29)
    };
    (0..9).map(request).collect()
}

#[test]
fn every_device_draws_the_tokens_that_the_cpu_draws() {
    let truncated = TokenSampler { temperature: 0.8, top_k: 20, top_p: 0.9, min_p: 0.0 };
    for held in devices().into_iter().filter(|held| held.precision == Precision::F32) {
        for config in families() {
            // Within 60 tokens there is room for one or a few samples at a time; one is always in flight.
            let bounded = [(TokenSampler::at(1.0), 64, Some(60)), (truncated, 64, Some(1))];
            let unbounded = [(TokenSampler::at(1.0), 4, None), (TokenSampler::at(1.3), 64, None), (truncated, 5, None)];
            for (sampler, rollout_rows, rollout_tokens) in unbounded.into_iter().chain(bounded) {
                let options = LearnerOptions { rollout_rows, rollout_tokens, ..LearnerOptions::default() };
                let [cpu, other] = both(&config, held, &options);
                let requests = requests(sampler);
                let want = cpu.complete(&requests).expect("samples");
                let found = other.complete(&requests).expect("samples");
                for (request, (found, want)) in requests.iter().zip(found.iter().zip(&want)) {
                    assert_eq!(found.len(), request.samples);
                    for (found, want) in found.iter().zip(want) {
                        assert_eq!((&found.tokens, &found.end), (&want.tokens, &want.end), "{held:?} {sampler:?}");
                        let apart = found.logprobs.iter().zip(&want.logprobs).map(|(a, b)| (a - b).abs());
                        assert!(apart.fold(0.0, f32::max) <= held.logprob, "{held:?}");
                    }
                }
            }
        }
    }
}

/// Groups of samples behind prompts, some of which end early; and how many tokens a device has room for.
fn groups_and_room() -> impl Strategy<Value = (Vec<SamplingRequest>, usize)> {
    let request = (1_usize..60, 1_usize..7, 1_usize..150, 0_u64..1000, any::<bool>());
    let request = request.prop_map(|(prompt, samples, max_tokens, seed, ignore_end)| SamplingRequest {
        samples,
        seed,
        ignore_end,
        ..SamplingRequest::new(tokens(prompt, seed as u32), max_tokens)
    });
    (prop::collection::vec(request, 1..6), 1_usize..2000)
}

#[test]
fn samples_are_those_of_each_alone_whatever_shares_their_prompt_and_however_little_room_there_is() {
    // On a device a number between two tokens may fall to either: the cases are always the same.
    let mut runner = TestRunner::deterministic();
    for config in families() {
        let config = ModelConfig { max_position_embeddings: 220, ..config };
        for held in devices().into_iter().filter(|held| held.precision == Precision::F32) {
            let (requests, room) = groups_and_room().new_tree(&mut runner).expect("a case").current();
            let alone = learner(&config, LearnerOptions { rollout_rows: 1, ..LearnerOptions::default() });
            let options = LearnerOptions { rollout_tokens: Some(room), ..LearnerOptions::default() };
            let [cpu, other] = both(&config, held, &options);
            let want = alone.complete(&requests).expect("samples");
            assert_eq!(cpu.complete(&requests).expect("samples"), want, "to the bit");
            let found = other.complete(&requests).expect("samples");
            for (found, want) in found.iter().flatten().zip(want.iter().flatten()) {
                assert_eq!((&found.tokens, &found.end), (&want.tokens, &want.end), "{held:?}, room for {room}");
                let apart = found.logprobs.iter().zip(&want.logprobs).map(|(a, b)| (a - b).abs());
                assert!(apart.fold(0.0, f32::max) <= held.logprob, "{held:?}, room for {room}");
            }
        }
    }
}

#[test]
fn log_probabilities_kept_by_sampling_are_those_of_training_in_every_precision() {
    for held in devices() {
        for config in families() {
            let [cpu, other] = both(&config, held, &LearnerOptions::default());
            let prompt = tokens(7, 4);
            let request = SamplingRequest { samples: 6, seed: 9, ..SamplingRequest::new(prompt.clone(), 20) };
            let group = other.complete(&[request]).expect("samples").remove(0);
            let responses: Vec<Vec<u32>> = group.iter().map(|sample| sample.tokens.clone()).collect();
            assert!(responses.windows(2).any(|pair| pair[0] != pair[1]), "samples differ");
            for learner in [cpu, other] {
                let scores = learner.score(&prompt, &responses).expect("scores");
                let kept = group.iter().flat_map(|sample| &sample.logprobs);
                let apart = kept.zip(scores.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(apart <= held.logprob, "{held:?} {:?}: {apart}", config.model_type);
            }
        }
    }
}

#[test]
fn in_bf16_weights_keep_what_bf16_could_not_hold() {
    for held in devices().into_iter().filter(|held| held.precision == Precision::Bf16) {
        let [cpu, mut other] = both(&tiny_config(), held, &LearnerOptions::default());
        assert_eq!(cpu.named_weights(), other.named_weights(), "weights are f32 everywhere");
        let batch: TrainBatch = batch(&cpu, 0.4);
        // A step of 1e-6 is far below the resolution of bf16 at the size of these weights.
        other.update(&batch, 1e-6).expect("learns");
        let way = moved(&other.named_weights(), &cpu.named_weights());
        assert!(way.iter().all(|(_, way)| way.iter().any(|&way| way != 0.0 && way.abs() < 1e-5)));
    }
}

#[test]
fn a_device_that_this_program_was_not_built_for_is_refused_with_the_command_that_builds_it() {
    let options = LearnerOptions { device: DeviceSpec::Cuda(77), ..LearnerOptions::default() };
    let error = Learner::initialize(tiny_config(), tokenizer(), 7, options).expect_err("no such card").to_string();
    let want = if cfg!(feature = "cuda") { "cannot be used" } else { "scripts/build-cuda" };
    assert!(error.contains("cuda:77") && error.contains(want), "{error}");
    let options = LearnerOptions { precision: Precision::Bf16, ..LearnerOptions::default() };
    let error = Learner::initialize(tiny_config(), tokenizer(), 7, options).expect_err("bf16 on a CPU").to_string();
    assert!(error.contains("bf16"), "{error}");
}

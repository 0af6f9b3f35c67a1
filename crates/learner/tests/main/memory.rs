//! What training and rollouts are predicted to need, against what a process of its own was seen to need; and that with segments a token costs
//! one layer's intermediate results, not every layer's.
//!
//! Of the CPU's kernels a process is asked how much memory it had. Of a device's operations, which run on the CPU here, it counts what it
//! allocates. Plans that were held to such counts predicted what an update took on a card (docs/models.md).

use std::io::Write as _;
use std::process::Command;

use candle_core::{DType, Device, Tensor};
use veriplay_core::{Learn, TrainBatch};
use veriplay_learner::{
    Architecture, DeviceSpec, Learner, LearnerOptions, Lora, MemoryPlan, MicroBatchSize, ModelConfig, Precision,
    RolloutPrecision, SamplingPlan, SamplingRequest, Segments, TensorSpec, tensor_specs,
};

use crate::common::{sample, tokenizer};
use crate::counting;

const JOB: &str = "VERIPLAY_MEASURE";
const SEGMENTS: Segments = Segments { layers: 1, logit_rows: 64 };

fn shape(layers: usize) -> ModelConfig {
    ModelConfig {
        vocab_size: 512,
        hidden_size: 128,
        num_hidden_layers: layers,
        intermediate_size: 384,
        max_position_embeddings: 2048,
        ..ModelConfig::default()
    }
}

fn options(rows: usize, kind: &str) -> LearnerOptions {
    let precision = if kind.starts_with("bf16") { Precision::Bf16 } else { Precision::F32 };
    let lora = Lora {
        rank: 4,
        alpha: 8.0,
        target_modules: vec!["q_proj".to_owned(), "up_proj".to_owned()],
        seed: 0,
        per_role: false,
    };
    let (device, kind) = match kind.split_once(' ') {
        Some((_, kind)) => (DeviceSpec::Portable, kind),
        None => (DeviceSpec::Cpu, kind),
    };
    LearnerOptions {
        data_parallel: 1,
        micro_tokens: rows,
        segments: (kind != "plain").then_some(SEGMENTS),
        lora: (kind == "lora").then_some(lora),
        optimizer_offload: kind == "offload",
        device,
        precision,
        ..LearnerOptions::default()
    }
}

/// A line of `/proc/self/status`, in bytes.
fn status(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text.lines().find(|line| line.starts_with(key)).expect("the line is there");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).expect("a number") * 1024
}

/// What a process has taken of memory since this was made.
struct Taken {
    /// Resident before, and of that pages of the program itself; `None` where allocations are counted.
    resident: Option<[u64; 2]>,
    allocated: u64,
}

impl Taken {
    fn begin(device: DeviceSpec) -> Self {
        counting::forget_peak();
        let resident = (device == DeviceSpec::Cpu).then(|| ["VmRSS", "RssFile"].map(status));
        Self { resident, allocated: counting::allocated() as u64 }
    }

    fn most(&self) -> u64 {
        match self.resident {
            // Pages of the program itself that were touched for the first time are not what it allocates.
            Some([before, code]) => status("VmHWM") - before - (status("RssFile") - code),
            None => counting::peak() as u64 - self.allocated,
        }
    }
}

/// Not a test by itself: what the others run in a process of its own, where it says how much its job took.
#[test]
fn the_process_that_is_measured() {
    let Ok(job) = std::env::var(JOB) else { return };
    let [layers, tokens, kind, file] = job.split(',').collect::<Vec<_>>()[..] else { panic!("{job}") };
    let layers = layers.parse().expect("layers");
    let most = match tokens.split_once(' ') {
        Some((prompt, rows)) => {
            most_of_updates(layers, prompt.parse().expect("tokens"), rows.parse().expect("tokens"), kind)
        }
        None if tokens == "load" => most_of_loading(layers, kind),
        None => most_of_rollouts(layers, &Rollouts::named(tokens), kind),
    };
    std::fs::write(file, most.to_string()).expect("writes");
}

fn most_of_updates(layers: usize, prompt: usize, rows: usize, kind: &str) -> u64 {
    let options = options(prompt.max(rows), kind);
    // The first product makes what stays with each thread.
    let [_, workspace] = [(); 2].map(|()| workspace_of_a_product(rows, &options));
    let taken = Taken::begin(options.device);
    let mut learner = Learner::initialize(shape(layers), tokenizer(), 1, options).expect("valid");
    let response: Vec<u32> = (0..rows as u32).map(|t| t * 7 % 500).collect();
    // Two micro-batches: the gradients of one meet those of the other.
    let samples = [2, 3].map(|second| {
        let prompt: Vec<u32> = [1, second].into_iter().chain((2..prompt as u32).map(|t| t * 5 % 500)).collect();
        sample(&prompt, &response, 1.0)
    });
    let batch = TrainBatch { samples: samples.to_vec(), normalizer: rows as f64 };
    (0..2).for_each(|_| drop(learner.update(&batch, 1e-3).expect("learns")));
    taken.most() - workspace
}

/// What a layer's product of so many rows takes on this processor beside its operands and its result: candle's packs as much as the caches have
/// room for, of which a card needs nothing. The CPU's own kernels have no such products.
fn workspace_of_a_product(rows: usize, options: &LearnerOptions) -> u64 {
    if options.device == DeviceSpec::Cpu {
        return 0;
    }
    let dtype = if options.precision == Precision::Bf16 { DType::BF16 } else { DType::F32 };
    let [input, weights] =
        [(rows, 128), (128, 384)].map(|shape| Tensor::ones(shape, dtype, &Device::Cpu).expect("a tensor"));
    let taken = Taken::begin(options.device);
    let product = input.matmul(&weights).expect("a product");
    taken.most() - (product.elem_count() * dtype.size_in_bytes()) as u64
}

/// How much opening a model takes, whose file has its weights in f32.
fn most_of_loading(layers: usize, kind: &str) -> u64 {
    let dir = tempfile::tempdir().expect("a directory");
    let saved = Learner::initialize(shape(layers), tokenizer(), 1, LearnerOptions::default()).expect("valid");
    saved.save(dir.path()).expect("saves");
    drop(saved);
    let options = options(512, kind);
    let taken = Taken::begin(options.device);
    let learner = Learner::load(dir.path(), options).expect("loads");
    let most = taken.most();
    drop(learner);
    most
}

#[test]
fn a_base_under_adapters_is_loaded_in_its_own_precision_one_tensor_at_a_time() {
    let all: u64 = tensor_specs(&shape(30)).iter().map(|spec| spec.elements() as u64).sum();
    let most = peak_of("30,load,bf16 lora");
    assert!(most > 2 * all && most < 3 * all, "{most} bytes for {all} numbers of 2 bytes");
}

/// Tokens of a sample at most.
const CONTEXT: usize = 1040;

/// What a job samples from prompts that leave 40 tokens of the context.
struct Rollouts {
    prompts: usize,
    samples: usize,
    /// Tokens of each sample.
    tokens: usize,
    /// Tokens that caches may have.
    room: Option<usize>,
    /// Of queries.
    heads: usize,
}

impl Rollouts {
    fn named(job: &str) -> Self {
        match job {
            // Together they have as many prompt tokens as are computed at once.
            "rollouts" => Self { prompts: 5, samples: 1, tokens: 40, room: None, heads: 4 },
            "group" => Self { prompts: 1, samples: 5, tokens: 40, room: None, heads: 4 },
            // Many rows, whose scores are most of what a step takes, in caches that have a block of columns for each.
            "large-group" => Self { prompts: 1, samples: 2000, tokens: 4, room: Some(173_000), heads: 16 },
            _ => panic!("{job}"),
        }
    }

    fn shape(&self, layers: usize) -> ModelConfig {
        ModelConfig { max_position_embeddings: CONTEXT, num_attention_heads: self.heads, ..shape(layers) }
    }

    fn options(&self, kind: &str) -> LearnerOptions {
        let rollout_rows = self.prompts * self.samples;
        LearnerOptions { rollout_rows, rollout_tokens: self.room, ..options(512, kind) }
    }

    /// What they are predicted to take.
    fn predicted(&self, layers: usize, kind: &str) -> u64 {
        let batch = MicroBatchSize { rows: 1, group: 1, outputs: 1 };
        MemoryPlan::predict(&self.shape(layers), &self.options(kind), batch).rollouts
    }
}

/// How much sampling takes beside the weights.
fn most_of_rollouts(layers: usize, rollouts: &Rollouts, kind: &str) -> u64 {
    let options = rollouts.options(kind);
    let learner = Learner::initialize(rollouts.shape(layers), tokenizer(), 1, options).expect("valid");
    let request = |prompt: usize, max_tokens: usize| SamplingRequest {
        ignore_end: true,
        ..SamplingRequest::new((0..prompt as u32).map(|token| token * 7 % 500).collect(), max_tokens)
    };
    // Working copies of weights are made by the first call.
    learner.complete(&[request(4, 2)]).expect("samples");
    let taken = Taken::begin(learner.options().device);
    let asked = SamplingRequest { samples: rollouts.samples, ..request(CONTEXT - 40, rollouts.tokens) };
    let found = learner.complete(&vec![asked; rollouts.prompts]).expect("samples");
    assert!(found.iter().flatten().all(|sample| sample.tokens.len() == rollouts.tokens));
    taken.most()
}

#[test]
fn the_prediction_of_rollouts_on_a_device_is_what_they_take_on_the_cpu() {
    let (mut report, mut fine) = (String::new(), true);
    for (kind, layers) in [("device plain", 3), ("device plain", 9), ("bf16 plain", 3), ("bf16 plain", 9)] {
        let want = peak_of(&format!("{layers},rollouts,{kind}"));
        let found = Rollouts::named("rollouts").predicted(layers, kind);
        let ratio = found as f64 / want as f64;
        fine &= (0.9..1.1).contains(&ratio);
        report += &format!("{kind}, {layers} layers: {found:.3e} for {want:.3e}, {ratio:.2}\n");
    }
    let _ = writeln!(std::io::stderr(), "{report}");
    assert!(fine, "{report}");
}

#[test]
fn samples_of_a_prompt_take_no_more_on_a_device_than_is_predicted() {
    for (job, kind) in [("group", "device plain"), ("large-group", "device plain"), ("large-group", "bf16 plain")] {
        let (found, most) = (peak_of(&format!("1,{job},{kind}")), Rollouts::named(job).predicted(1, kind));
        let _ = writeln!(std::io::stderr(), "{job}, {kind}: {most:.3e} for {found:.3e}");
        assert!(found <= most, "{job}, {kind}: {found} bytes, {most} were predicted");
    }
}

/// What one more layer adds to the peak of a job on a device.
fn bytes_of_layer(job: &str) -> f64 {
    let [shallow, deep] = [3, 9].map(|layers| peak_of(&format!("{layers},{job},device plain")));
    (deep - shallow) as f64 / 6.0
}

#[test]
fn on_a_device_the_samples_of_a_prompt_hold_its_keys_and_values_once() {
    // Keys and values of two heads of 32 numbers, of the prompts that four others have for themselves.
    let want = (2 * 2 * 32 * 4 * (CONTEXT - 40) * 4) as f64;
    let fewer = bytes_of_layer("rollouts") - bytes_of_layer("group");
    assert!((0.95..1.05).contains(&(fewer / want)), "{fewer:.0} bytes a layer fewer, want {want:.0}");
}

/// Bytes that two updates took at most, on a prompt and a response of so many tokens.
fn measured(layers: usize, (prompt, response): (usize, usize), kind: &str) -> u64 {
    peak_of(&format!("{layers},{prompt} {response},{kind}"))
}

/// What a process says that its job took.
fn peak_of(job: &str) -> u64 {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("peak");
    let mut child = Command::new(std::env::current_exe().expect("this binary"));
    child.args(["--exact", "memory::the_process_that_is_measured"]);
    child.env(JOB, format!("{job},{}", file.display()));
    // Freed memory goes back at once, so that the peak is what was alive.
    child.env("MALLOC_MMAP_THRESHOLD_", "65536").env("MALLOC_TRIM_THRESHOLD_", "65536");
    let output = child.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    std::fs::read_to_string(file).expect("it wrote").parse().expect("a number")
}

fn predicted(layers: usize, (prompt, response): (usize, usize), kind: &str) -> u64 {
    let rows = prompt + response;
    let batch = MicroBatchSize { rows, group: rows, outputs: response };
    let plan = MemoryPlan::predict(&shape(layers), &options(rows, kind), batch);
    // What is on the host is in the same memory here.
    MemoryPlan { rollouts: 0, ..plan }.total() + plan.host
}

/// Fails where a prediction of one of these (kind, layers, tokens of prompt and response) is off by more than 10 %.
fn compare(cases: &[(&str, usize, (usize, usize))]) {
    let (mut report, mut fine) = (String::new(), true);
    for &(kind, layers, tokens) in cases {
        let (want, found) = (measured(layers, tokens, kind) as f64, predicted(layers, tokens, kind) as f64);
        let ratio = found / want;
        fine &= (0.9..1.1).contains(&ratio);
        report += &format!("{kind}, {layers} layers, {tokens:?} tokens: {found:.3e} for {want:.3e}, {ratio:.2}\n");
    }
    let _ = writeln!(std::io::stderr(), "{report}");
    assert!(fine, "{report}");
}

#[test]
fn the_prediction_is_what_a_process_takes_at_two_lengths_and_two_depths() {
    let sizes = [(3, 512), (3, 1024), (9, 512), (9, 1024)];
    let kinds = ["plain", "segments", "lora"].into_iter();
    compare(&kinds.flat_map(|kind| sizes.map(|(layers, rows)| (kind, layers, (2, rows)))).collect::<Vec<_>>());
}

#[test]
fn the_prediction_of_a_long_transcript_is_what_a_process_takes() {
    // Nearly all of it is context: it has no logits.
    let kinds = ["plain", "segments", "device plain", "bf16 segments"];
    compare(&kinds.map(|kind| (kind, 9, (1500, 20))));
}

#[test]
fn the_prediction_for_a_device_is_what_its_operations_take_on_the_cpu() {
    // One tile of attention and three, in both precisions.
    compare(&[
        ("device plain", 3, (2, 256)),
        ("device plain", 9, (2, 1024)),
        ("device segments", 3, (2, 1024)),
        ("device segments", 9, (2, 256)),
        ("device lora", 3, (2, 512)),
        ("device lora", 9, (2, 1024)),
        ("bf16 plain", 9, (2, 256)),
        ("bf16 plain", 3, (2, 1024)),
        ("bf16 segments", 9, (2, 1024)),
        ("bf16 segments", 3, (2, 256)),
        ("bf16 lora", 3, (2, 256)),
        ("bf16 lora", 9, (2, 1024)),
        ("device offload", 9, (2, 256)),
        ("bf16 offload", 9, (2, 256)),
        ("bf16 offload", 9, (2, 1024)),
    ]);
}

/// Shapes of Qwen2.5's models.
fn qwen(hidden: usize, layers: usize, [heads, kv_heads]: [usize; 2], inner: usize, vocab: usize) -> ModelConfig {
    ModelConfig {
        model_type: Architecture::Qwen2,
        vocab_size: vocab,
        hidden_size: hidden,
        num_hidden_layers: layers,
        num_attention_heads: heads,
        num_key_value_heads: kv_heads,
        head_dim: 128,
        intermediate_size: inner,
        max_position_embeddings: 32_768,
        tie_word_embeddings: hidden < 2048,
        ..ModelConfig::default()
    }
}

#[test]
fn a_card_of_80_gb_has_room_to_train_1_5b_whole_and_adapters_of_7b_on_episodes_of_32k_tokens() {
    let modules = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
    let lora =
        Lora { rank: 64, alpha: 128.0, target_modules: modules.map(str::to_owned).to_vec(), seed: 0, per_role: false };
    let options = |lora: Option<Lora>, segments: Option<Segments>| LearnerOptions {
        data_parallel: 1,
        device: DeviceSpec::Cuda(0),
        precision: Precision::Bf16,
        segments,
        lora,
        rollout_rows: 64,
        // As many as 32 episodes have.
        rollout_tokens: Some(1 << 18),
        ..LearnerOptions::default()
    };
    let segments = Some(Segments { layers: 1, logit_rows: 1024 });
    let episode = MicroBatchSize { rows: 32_768, group: 32_768, outputs: 32_768 };
    let gigabytes = |shape: &ModelConfig, options: &LearnerOptions| {
        MemoryPlan::predict(shape, options, episode).total() as f64 * 1.1 / 1e9
    };
    let small = gigabytes(&qwen(1536, 28, [12, 2], 8960, 151_936), &options(None, segments));
    let large = gigabytes(&qwen(3584, 28, [28, 4], 18_944, 152_064), &options(Some(lora.clone()), segments));
    assert!(small < 80.0 && large < 80.0, "{small:.1} and {large:.1} GB");
    // What it takes: neither is small, and without segments the first does not fit.
    assert!(small > 30.0 && large > 30.0, "{small:.1} and {large:.1} GB");
    // Nor do adapters of 7B with 64 rows as long as the context.
    let unbounded = LearnerOptions { rollout_tokens: None, ..options(Some(lora), segments) };
    let rows = gigabytes(&qwen(3584, 28, [28, 4], 18_944, 152_064), &unbounded);
    assert!(rows > 80.0, "{rows:.1} GB");
    let plain = gigabytes(&qwen(1536, 28, [12, 2], 8960, 151_936), &options(None, None));
    assert!(plain > 80.0, "{plain:.1} GB");
}

#[test]
fn a_card_of_80_gb_has_room_to_train_7b_whole_where_the_host_has_the_optimizer() {
    let config = qwen(3584, 28, [28, 4], 18_944, 152_064);
    let episode = MicroBatchSize { rows: 32_768, group: 32_768, outputs: 32_768 };
    let [whole, card] = [false, true].map(|optimizer_offload| {
        let options = LearnerOptions {
            data_parallel: 1,
            device: DeviceSpec::Cuda(0),
            precision: Precision::Bf16,
            segments: Some(Segments { layers: 1, logit_rows: 1024 }),
            optimizer_offload,
            rollout_rows: 64,
            rollout_tokens: Some(1 << 18),
            ..LearnerOptions::default()
        };
        MemoryPlan::predict(&config, &options, episode)
    });
    let parameters: u64 = tensor_specs(&config).iter().map(|spec| spec.elements() as u64).sum();
    assert_eq!(parameters, 7_615_616_512);
    assert_eq!((card.weights, card.moments, whole.host), (2 * parameters, 0, 0));
    let gigabytes = |bytes: u64| bytes as f64 * 1.1 / 1e9;
    assert!(gigabytes(card.total()) < 80.0 && gigabytes(whole.total()) > 160.0, "{card:?} {whole:?}");
    // Weights, two moments and a sum in f32, and the largest tensor: with a tenth to spare a host of 137 GB.
    assert_eq!(card.host, 16 * parameters + 4 * 152_064 * 3584);
}

#[test]
fn sampling_takes_the_weights_the_copies_that_it_computes_with_and_a_cache_that_grows_with_the_answer() {
    for kind in ["plain", "device plain", "bf16 plain"] {
        let (shape, options) = (shape(9), options(512, kind));
        let training = MemoryPlan::predict(&shape, &options, MicroBatchSize { rows: 1, group: 1, outputs: 1 });
        let [one, many, too_many] = [1, 100, 1 << 20].map(|tokens| SamplingPlan::predict(&shape, &options, tokens));
        assert_eq!(one.weights, training.weights);
        // On the CPU without the copies for backward passes.
        assert_eq!(one.working < training.working, kind == "plain", "{kind}");
        let context = shape.max_position_embeddings as u64;
        assert_eq!((many.cache, too_many.cache), (100 * one.cache, context * one.cache), "{kind}");
        // Keys and values of two heads of 32 numbers, in nine layers.
        assert_eq!(one.cache, 9 * 2 * 2 * 32 * if kind.starts_with("bf16") { 2 } else { 4 }, "{kind}");
        assert_eq!(one.total(), one.weights + one.working + one.cache);
    }
    // A byte in place of four for each number of a matrix, and an eighth more for the scales, where no row or column is filled up.
    let int8 = LearnerOptions { rollout_precision: Some(RolloutPrecision::Int8), ..options(512, "plain") };
    let working = |options| SamplingPlan::predict(&shape(9), options, 1).working as f64;
    let matrices = tensor_specs(&shape(9)).into_iter().filter(TensorSpec::is_hidden_matrix);
    let numbers = (matrices.map(|spec| spec.elements()).sum::<usize>() + 512 * 128) as f64;
    assert_eq!(working(&options(512, "plain")) - working(&int8), (3.0 - 0.125) * numbers);
}

#[test]
fn with_segments_a_token_costs_one_layers_results_and_a_boundary_for_each_other_layer() {
    // Bytes that one more layer adds to one row.
    let each = |kind: &str| {
        let [shallow, deep] =
            [3, 9].map(|layers| measured(layers, (2, 1024), kind) as f64 - measured(layers, (2, 512), kind) as f64);
        (deep - shallow) / (6.0 * 512.0)
    };
    let (plain, segments) = (each("plain"), each("segments"));
    // The residual stream: 128 numbers. Everything: 2,052.
    assert!(segments < 1.5 * 512.0, "{segments} bytes a row and layer");
    assert!(plain > 0.8 * 4.0 * 2052.0, "{plain} bytes a row and layer");
}

#[test]
fn a_plan_adds_up_and_smaller_batches_segments_and_adapters_make_it_smaller() {
    let whole = |rows| MicroBatchSize { rows, group: rows, outputs: rows };
    let plain = options(1024, "plain");
    let plan = MemoryPlan::predict(&shape(9), &plain, whole(1024));
    let parts =
        [plan.weights, plan.reference, plan.moments, plan.working, plan.gradients, plan.activations, plan.logits];
    assert_eq!((plan.total(), plan.rollouts), (parts.iter().sum::<u64>(), 0));
    assert_eq!((plan.reference, plan.moments), (0, 2 * plan.weights));
    for kind in ["segments", "lora"] {
        let better = MemoryPlan::predict(&shape(9), &options(1024, kind), whole(1024));
        assert!(better.total() < plan.total());
    }
    let half = MemoryPlan::predict(&shape(9), &plain, whole(512));
    assert_eq!((2 * half.activations, 2 * half.logits, half.weights), (plan.activations, plan.logits, plan.weights));
}

//! What training is predicted to need, against what a process of its own was seen to need; and that with segments a token costs
//! one layer's intermediate results, not every layer's.

use std::process::Command;

use veriplay_core::{Learn, TrainBatch};
use veriplay_learner::{Learner, LearnerOptions, Lora, MemoryPlan, ModelConfig, Segments};

use crate::common::{sample, tokenizer};

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
    let lora = Lora { rank: 4, alpha: 8.0, target_modules: vec!["q_proj".to_owned(), "up_proj".to_owned()], seed: 0 };
    LearnerOptions {
        data_parallel: 1,
        micro_tokens: rows,
        segments: (kind != "plain").then_some(SEGMENTS),
        lora: (kind == "lora").then_some(lora),
        ..LearnerOptions::default()
    }
}

/// A line of `/proc/self/status`, in bytes.
fn status(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text.lines().find(|line| line.starts_with(key)).expect("the line is there");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).expect("a number") * 1024
}

/// Not a test by itself: what the others run in a process of its own, where it says how much an update took.
#[test]
fn the_process_that_is_measured() {
    let Ok(job) = std::env::var(JOB) else { return };
    let mut words = job.split(',');
    let mut next = || words.next().expect("layers, rows, kind, file");
    let (layers, rows) = (next().parse().expect("layers"), next().parse().expect("rows"));
    let (kind, file) = (next(), next());
    let (before, code) = (status("VmRSS"), status("RssFile"));
    let mut learner = Learner::initialize(shape(layers), tokenizer(), 1, options(rows, kind)).expect("valid");
    let response: Vec<u32> = (0..rows as u32).map(|t| t * 7 % 500).collect();
    // Two micro-batches: the gradients of one meet those of the other.
    let samples = [2, 3].map(|second| sample(&[1, second], &response, 1.0));
    let batch = TrainBatch { samples: samples.to_vec(), normalizer: rows as f64 };
    (0..2).for_each(|_| drop(learner.update(&batch, 1e-3).expect("learns")));
    // Pages of the program itself that were touched for the first time are not what an update allocates.
    let touched = status("RssFile") - code;
    std::fs::write(file, (status("VmHWM") - before - touched).to_string()).expect("writes");
}

/// Bytes that two updates took at most.
fn measured(layers: usize, rows: usize, kind: &str) -> u64 {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("peak");
    let mut child = Command::new(std::env::current_exe().expect("this binary"));
    child.args(["--exact", "memory::the_process_that_is_measured"]);
    child.env(JOB, format!("{layers},{rows},{kind},{}", file.display()));
    // Freed memory goes back at once, so that the peak is what was alive.
    child.env("MALLOC_MMAP_THRESHOLD_", "65536").env("MALLOC_TRIM_THRESHOLD_", "65536");
    let output = child.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    std::fs::read_to_string(file).expect("it wrote").parse().expect("a number")
}

fn predicted(layers: usize, rows: usize, kind: &str) -> u64 {
    MemoryPlan::predict(&shape(layers), &options(rows, kind), rows).total()
}

#[test]
fn the_prediction_is_what_a_process_takes_at_two_lengths_and_two_depths() {
    let (mut report, mut fine) = (String::new(), true);
    for kind in ["plain", "segments", "lora"] {
        for (layers, rows) in [(3, 512), (3, 1024), (9, 512), (9, 1024)] {
            let (want, found) = (measured(layers, rows, kind) as f64, predicted(layers, rows, kind) as f64);
            let ratio = found / want;
            fine &= (0.85..1.15).contains(&ratio);
            report += &format!("{kind}, {layers} layers, {rows} rows: {found:.3e} for {want:.3e}, {ratio:.2}\n");
        }
    }
    assert!(fine, "{report}");
}

#[test]
fn with_segments_a_token_costs_one_layers_results_and_a_boundary_for_each_other_layer() {
    // Bytes that one more layer adds to one row.
    let each = |kind: &str| {
        let [shallow, deep] =
            [3, 9].map(|layers| measured(layers, 1024, kind) as f64 - measured(layers, 512, kind) as f64);
        (deep - shallow) / (6.0 * 512.0)
    };
    let (plain, segments) = (each("plain"), each("segments"));
    // The residual stream: 128 numbers. Everything: 2,052.
    assert!(segments < 1.5 * 512.0, "{segments} bytes a row and layer");
    assert!(plain > 0.8 * 4.0 * 2052.0, "{plain} bytes a row and layer");
}

#[test]
fn a_plan_adds_up_and_its_advice_helps() {
    let plain = options(1024, "plain");
    let plan = MemoryPlan::predict(&shape(9), &plain, 1024);
    let parts =
        [plan.weights, plan.reference, plan.moments, plan.working, plan.gradients, plan.activations, plan.logits];
    assert_eq!(plan.total(), parts.iter().sum::<u64>());
    assert_eq!((plan.reference, plan.moments), (0, 2 * plan.weights));
    assert!(plan.advice(&plain)[0].contains("segments"), "{:?}", plan.advice(&plain));
    for kind in ["segments", "lora"] {
        let better = MemoryPlan::predict(&shape(9), &options(1024, kind), 1024);
        assert!(better.total() < plan.total());
        assert!(!better.advice(&options(1024, kind)).iter().any(|advice| advice.contains("segments")));
    }
    let half = MemoryPlan::predict(&shape(9), &plain, 512);
    assert_eq!((2 * half.activations, 2 * half.logits, half.weights), (plan.activations, plan.logits, plan.weights));
}

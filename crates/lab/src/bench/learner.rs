//! `veriplay bench learner`: training and batched generation, compared with PyTorch eager with the same shapes, and generation with
//! llama.cpp's in f16; small shapes on a CPU also with rollouts in 8-bit integers.
//!
//! A round is one training step or one generated batch of each side; the best of all rounds counts, for both. Model FLOPs
//! utilisation is what the model's products need, over what PyTorch's own product of two 2,048² float32 matrices reaches here with as
//! many threads. A step needs, over all sequences of T tokens with R of them in the response,
//! 6·N·T + 6·V·H·R + 6·L·h·d·T²: N weights in matrices of the L layers, V·H in the head, and causal attention of h heads of width d;
//! 6 is 2 forward and 4 backward (PaLM, Chowdhery et al. 2022, appendix B, with the causal half of attention).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use veriplay_console::progress::counted;
use veriplay_core::{Learn, SCHEMA_VERSION, Sample, TrainBatch};
use veriplay_learner::{
    DeviceSpec, Learner, LearnerOptions, ModelConfig, Precision, RolloutPrecision, SamplingRequest, Tokenizer,
};

use super::line_process::LineProcess;
use super::machine::clean;

/// A model's shape, and how much work makes a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ModelShape {
    /// The built-in model's: one million parameters.
    Tiny,
    /// SmolLM2-135M's: 32 prompts at once.
    #[value(name = "smollm2")]
    SmolLm2,
    /// The same model: 32 samples of one prompt of 1,024 tokens.
    #[value(name = "smollm2-group")]
    SmolLm2Group,
    /// Qwen2.5-0.5B's: needs 18 GB of memory, so the two sides run one after the other.
    HalfBillion,
    /// The same shape with the work of a card: steps of 16,384 tokens in sequences of 1,024, and 256 prompts at once.
    Card,
}

/// The options of both sides.
pub struct LearnerBenchSetting {
    /// Options of the learner.
    pub options: LearnerOptions,
    /// Threads on the CPU.
    pub threads: usize,
    /// A Python with torch and transformers, and llama-cpp-python and gguf.
    pub python: PathBuf,
}

impl LearnerBenchSetting {
    fn torch_device(&self) -> String {
        match self.options.device {
            DeviceSpec::Cuda(number) => format!("cuda:{number}"),
            DeviceSpec::Cpu | DeviceSpec::Portable => "cpu".to_owned(),
        }
    }

    const fn precision(&self) -> &'static str {
        match self.options.precision {
            Precision::F32 => "f32",
            Precision::Bf16 => "bf16",
        }
    }
}

/// The work of each shape, by its name.
const SHAPES: &str = include_str!("learner/shapes.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workload {
    /// What a `config.json` has of the model, for the peers too.
    shape: Value,
    /// Of that shape.
    #[serde(skip)]
    config: ModelConfig,
    /// Sequences of a step, each of `prompt` + `response` tokens.
    sequences: usize,
    prompt: usize,
    response: usize,
    /// Prompts of a batch, of lengths from an eighth of `prompt` to all of it; one alone has all of it.
    prompts: usize,
    /// How many samples each has.
    samples: usize,
    new_tokens: usize,
}

impl ModelShape {
    /// As the command line has it.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether both sides together may need more memory than there is.
    const fn is_large(self) -> bool {
        matches!(self, Self::HalfBillion | Self::Card)
    }

    fn work(self) -> Workload {
        let mut works: BTreeMap<String, Workload> = toml::from_str(SHAPES).expect("the file is part of this program");
        let work = works.remove(&self.name()).expect("every shape is in the file");
        let read = ModelConfig::try_from(work.shape.clone()).expect("a shape is a `config.json`");
        // The peers are told of no end token. None is in a prompt, and no answer ends before its length.
        Workload { config: ModelConfig { eos_token_id: vec![0], ..read }, ..work }
    }
}

impl Workload {
    /// Token `at` of row `row`: any but the end token.
    fn token(&self, row: usize, at: usize) -> u32 {
        (1 + (row * 31 + at * 7 + at * at) % (self.config.vocab_size - 1)) as u32
    }

    fn row(&self, row: usize, length: usize) -> Vec<u32> {
        (0..length).map(|at| self.token(row, at)).collect()
    }

    fn sequence_rows(&self) -> Vec<Vec<u32>> {
        (0..self.sequences).map(|row| self.row(row, self.prompt + self.response)).collect()
    }

    fn prompt_rows(&self) -> Vec<Vec<u32>> {
        let shortest = if self.prompts == 1 { self.prompt } else { (self.prompt / 8).max(1) };
        (0..self.prompts).map(|row| self.row(row, shortest + row * 5 % (self.prompt - shortest + 1))).collect()
    }

    fn batch(&self) -> TrainBatch {
        let sample = |row: Vec<u32>| {
            let (prompt, response) = row.split_at(self.prompt);
            Sample::new(Arc::from(prompt), response.to_vec(), 1.0)
        };
        let samples = self.sequence_rows().into_iter().map(sample).collect();
        TrainBatch { samples, normalizer: (self.sequences * self.response) as f64 }
    }

    fn requests(&self) -> Vec<SamplingRequest> {
        self.prompt_rows().into_iter().map(|prompt| self.request(prompt)).collect()
    }

    fn request(&self, prompt: Vec<u32>) -> SamplingRequest {
        SamplingRequest { samples: self.samples, ignore_end: true, ..SamplingRequest::new(prompt, self.new_tokens) }
    }

    /// Floating-point operations of a training step; see the module for the formula.
    fn train_flops(&self) -> f64 {
        let c = &self.config;
        let (queries, keys) = (c.num_attention_heads * c.head_dim, c.num_key_value_heads * c.head_dim);
        let layer = c.hidden_size * (2 * queries + 2 * keys + 3 * c.intermediate_size);
        let (length, layers) = (self.prompt + self.response, c.num_hidden_layers);
        let products = layers * layer * length + c.vocab_size * c.hidden_size * self.response;
        6.0 * (self.sequences * (products + layers * queries * length * length)) as f64
    }

    /// The work as the scripts of the peers read it.
    fn to_json(&self, setting: &LearnerBenchSetting) -> Value {
        json!({
            "shape": self.shape, "threads": setting.threads, "device": setting.torch_device(), "precision": setting.precision(), "sequences": self.sequence_rows(), "response": self.response,
            "prompts": self.prompt_rows(), "samples": self.samples, "new_tokens": self.new_tokens,
        })
    }
}

/// One side's best round of each kind.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Throughput {
    train_tokens_per_s: f64,
    /// New tokens only.
    generate_tokens_per_s: f64,
    /// Model FLOPs utilisation of training; `null` where the machine's peak is unknown.
    train_mfu: Option<f64>,
}

/// The measurements of one shape.
#[derive(Debug, Serialize)]
pub struct LearnerReport {
    schema_version: u32,
    shape: String,
    parameters: usize,
    threads: usize,
    /// Where both sides compute, and in what.
    device: String,
    precision: &'static str,
    rounds: usize,
    veriplay: Throughput,
    /// Our generation in 8-bit integers (`learn.rollout_precision`), on a CPU.
    int8_generate_tokens_per_s: Option<f64>,
    torch: Option<Throughput>,
    /// The versions of the PyTorch side, or why it is absent.
    torch_versions: String,
    /// llama.cpp's generation with weights in f16.
    llama_cpp_generate_tokens_per_s: Option<f64>,
    /// Its version, or why it is absent.
    llama_cpp_version: String,
    /// Rate of PyTorch's float32 product, in FLOP a second.
    gemm_flops: Option<f64>,
}

/// The best times of one side, in seconds.
#[derive(Clone, Copy)]
struct BestTimes {
    train: f64,
    generate: f64,
}

impl BestTimes {
    const NONE: Self = Self { train: f64::INFINITY, generate: f64::INFINITY };

    fn throughput(self, work: &Workload, peak: Option<f64>) -> Throughput {
        let tokens = (work.sequences * (work.prompt + work.response)) as f64;
        Throughput {
            train_tokens_per_s: tokens / self.train,
            generate_tokens_per_s: (work.prompts * work.samples * work.new_tokens) as f64 / self.generate,
            train_mfu: peak.map(|peak| work.train_flops() / self.train / peak),
        }
    }
}

impl BestTimes {
    /// Keeps a round, unless it is the first, which warms up.
    fn record(&mut self, round: usize, train: f64, generate: f64) {
        if round > 0 {
            (self.train, self.generate) = (self.train.min(train), self.generate.min(generate));
        }
    }
}

struct VeriplaySide {
    learner: Learner,
    batch: TrainBatch,
    requests: Vec<SamplingRequest>,
    best: BestTimes,
    /// The same model, which generates in 8-bit integers, where it can and both have room.
    int8: Option<Learner>,
    best_int8: BestTimes,
}

impl VeriplaySide {
    fn new(work: &Workload, setting: &LearnerBenchSetting, takes_int8: bool) -> anyhow::Result<Self> {
        let open = |options: LearnerOptions| Learner::initialize(work.config.clone(), Tokenizer::missing(), 1, options);
        let int8 = LearnerOptions { rollout_precision: Some(RolloutPrecision::Int8), ..setting.options.clone() };
        let int8 = (takes_int8 && int8.device == DeviceSpec::Cpu).then(|| open(int8)).transpose()?;
        let (learner, batch, requests) = (open(setting.options.clone())?, work.batch(), work.requests());
        Ok(Self { learner, batch, requests, best: BestTimes::NONE, int8, best_int8: BestTimes::NONE })
    }

    fn round(&mut self, round: usize) -> anyhow::Result<()> {
        let begin = Instant::now();
        self.learner.update(&self.batch, 1e-5)?;
        let (train, begin) = (begin.elapsed(), Instant::now());
        self.learner.complete(&self.requests)?;
        self.best.record(round, train.as_secs_f64(), begin.elapsed().as_secs_f64());
        if let Some(int8) = &mut self.int8 {
            let begin = Instant::now();
            int8.complete(&self.requests)?;
            self.best_int8.record(round, f64::INFINITY, begin.elapsed().as_secs_f64());
        }
        Ok(())
    }

    fn generate_int8(&self, work: &Workload) -> Option<f64> {
        self.int8.as_ref().map(|_| self.best_int8.throughput(work, None).generate_tokens_per_s)
    }
}

/// PyTorch, which does everything, and llama.cpp, which generates on the CPU.
const TORCH: &str = include_str!("../../../../benches/learner_torch.py");
const LLAMA_CPP: &str = include_str!("../../../../benches/learner_llama_cpp.py");

/// A process that does the learner's work and times itself.
struct Peer {
    process: LineProcess,
    versions: String,
}

#[derive(Deserialize)]
struct PeerTiming {
    seconds: f64,
    /// Floating-point operations, where the peer counts them.
    flops: Option<f64>,
}

impl Peer {
    /// Starts the process and sends its work; an error says why it is absent.
    fn start(python: &Path, script: &str, work: &Value) -> Result<Self, String> {
        let (process, versions) = LineProcess::start(clean(python).args(["-c", script]), Some(&work.to_string()))?;
        Ok(Self { process, versions })
    }

    /// `train`, `generate` or `gemm`.
    fn time(&mut self, what: &str) -> Result<PeerTiming, String> {
        self.process.ask(what)
    }
}

/// What is compared with the learner: each absent, or running.
struct Peers {
    torch: Result<Peer, String>,
    torch_best: BestTimes,
    peak: f64,
    llama_cpp: Result<Peer, String>,
    llama_cpp_best: BestTimes,
}

impl Peers {
    fn start(work: &Workload, setting: &LearnerBenchSetting) -> Self {
        let json = work.to_json(setting);
        let llama_cpp = match setting.options.device {
            DeviceSpec::Cuda(_) => Err("it is compared on the CPU only".to_owned()),
            DeviceSpec::Cpu | DeviceSpec::Portable => Peer::start(&setting.python, LLAMA_CPP, &json),
        };
        let torch = Peer::start(&setting.python, TORCH, &json);
        Self { torch, torch_best: BestTimes::NONE, peak: 0.0, llama_cpp, llama_cpp_best: BestTimes::NONE }
    }

    fn round(&mut self, round: usize) -> anyhow::Result<()> {
        if let Ok(torch) = &mut self.torch {
            let mut time = |what: &str| torch.time(what).map_err(|why| anyhow::anyhow!("PyTorch: {why}"));
            let (train, generate, gemm) = (time("train")?, time("generate")?, time("gemm")?);
            self.torch_best.record(round, train.seconds, generate.seconds);
            self.peak = self.peak.max(gemm.flops.unwrap_or(0.0));
        }
        if let Ok(llama_cpp) = &mut self.llama_cpp {
            let generate = llama_cpp.time("generate").map_err(|why| anyhow::anyhow!("llama.cpp: {why}"))?;
            self.llama_cpp_best.record(round, f64::INFINITY, generate.seconds);
        }
        Ok(())
    }
}

fn versions(peer: &Result<Peer, String>) -> String {
    peer.as_ref().map_or_else(|why| format!("absent: {why}"), |peer| peer.versions.clone())
}

/// Measures one shape; the first round of each side is a warm-up. The sides take turns, or run one after the other where memory does not hold
/// both.
pub fn measure(shape: ModelShape, setting: &LearnerBenchSetting, rounds: usize) -> anyhow::Result<LearnerReport> {
    let work = shape.work();
    let mut veriplay = VeriplaySide::new(&work, setting, !shape.is_large())?;
    let parameters = veriplay.learner.parameter_count();
    let (best, int8, peers) = if shape.is_large() {
        (0..=rounds).try_for_each(|round| veriplay.round(round))?;
        let best = veriplay.best;
        drop(veriplay);
        let mut peers = Peers::start(&work, setting);
        (0..=rounds).try_for_each(|round| peers.round(round))?;
        (best, None, peers)
    } else {
        let mut peers = Peers::start(&work, setting);
        (0..=rounds).try_for_each(|round| veriplay.round(round).and_then(|()| peers.round(round)))?;
        (veriplay.best, veriplay.generate_int8(&work), peers)
    };
    let gemm_flops = peers.torch.is_ok().then_some(peers.peak);
    let llama_cpp = peers.llama_cpp_best.throughput(&work, None).generate_tokens_per_s;
    Ok(LearnerReport {
        schema_version: SCHEMA_VERSION,
        shape: shape.name(),
        parameters,
        threads: setting.threads,
        device: setting.options.device.to_string(),
        precision: setting.precision(),
        rounds,
        veriplay: best.throughput(&work, gemm_flops),
        int8_generate_tokens_per_s: int8,
        torch: peers.torch.is_ok().then(|| peers.torch_best.throughput(&work, gemm_flops)),
        torch_versions: versions(&peers.torch),
        llama_cpp_generate_tokens_per_s: peers.llama_cpp.is_ok().then_some(llama_cpp),
        llama_cpp_version: versions(&peers.llama_cpp),
        gemm_flops,
    })
}

impl LearnerReport {
    /// Why PyTorch's side was not measured, where it was not.
    pub fn torch_is_missing(&self) -> Option<&str> {
        self.torch.is_none().then_some(self.torch_versions.as_str())
    }

    /// The report as a table.
    pub fn text(&self) -> String {
        let percent = |mfu: Option<f64>| mfu.map_or_else(|| "?".to_owned(), |mfu| format!("{:.0} %", 100.0 * mfu));
        let row = |name: &str, side: &Throughput| {
            let Throughput { train_tokens_per_s: train, generate_tokens_per_s: generate, train_mfu } = side;
            format!("| {name} | {train:.0} | {} | {generate:.0} |\n", percent(*train_mfu))
        };
        let Self { shape, parameters, threads, device, precision, rounds, torch_versions, llama_cpp_version, .. } =
            self;
        let threads = counted(threads, "thread");
        let mut text = format!(
            "{shape}: {parameters} parameters, {precision}, {device}, {threads}, best of {rounds}; {torch_versions}; llama.cpp: {llama_cpp_version}\n| | training, tokens/s | of peak | generation, tokens/s |\n|---|---|---|---|\n"
        );
        text += &row("veriplay", &self.veriplay);
        text += &generated("veriplay, int8", self.int8_generate_tokens_per_s);
        text += &self.torch.as_ref().map_or_else(String::new, |torch| row("PyTorch", torch));
        text + &generated("llama.cpp, f16", self.llama_cpp_generate_tokens_per_s)
    }
}

/// The row of a side that was measured at generation alone.
fn generated(name: &str, tokens_per_s: Option<f64>) -> String {
    tokens_per_s.map_or_else(String::new, |generate| format!("| {name} | | | {generate:.0} |\n"))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::{ModelConfig, ModelShape};

    #[test]
    fn a_step_needs_about_six_operations_a_weight_and_token() {
        let work = ModelShape::HalfBillion.work();
        let tokens = (work.sequences * (work.prompt + work.response)) as f64;
        // 358 million weights in layers; the head of 136 million is for a quarter of the tokens.
        let products = 6.0 * tokens * (357.8e6 + 136.1e6 / 4.0);
        let ratio = work.train_flops() / products;
        assert!((1.0..1.02).contains(&ratio), "attention adds a little: {ratio}");
    }

    #[test]
    fn a_round_of_a_card_is_256_rows_and_16k_training_tokens_in_a_context_of_1k() {
        let work = ModelShape::Card.work();
        assert_eq!((work.prompt_rows().len(), work.sequences * (work.prompt + work.response)), (256, 16_384));
        let longest = work.prompt + work.response.max(work.new_tokens);
        assert_eq!((longest, work.config.max_position_embeddings), (1024, 1024));
    }

    #[test]
    fn a_group_is_32_samples_of_one_prompt_of_1024_tokens() {
        let (work, ragged) = (ModelShape::SmolLm2Group.work(), ModelShape::SmolLm2.work());
        let requests = work.requests();
        assert_eq!((requests.len(), requests[0].samples, requests[0].prompt.len()), (1, 32, 1024));
        assert!(requests[0].prompt.len() + work.new_tokens <= work.config.max_position_embeddings);
        assert_eq!(ModelConfig { max_position_embeddings: 512, ..work.config }, ragged.config);
    }

    #[test]
    fn the_tiny_shape_is_that_of_the_built_in_model() {
        assert_eq!(ModelShape::Tiny.work().config, ModelConfig::default());
    }

    #[test]
    fn prompts_are_ragged_and_hold_no_end_token() {
        for shape in ModelShape::value_variants() {
            let work = shape.work();
            let rows = work.prompt_rows();
            let lengths: std::collections::BTreeSet<usize> = rows.iter().map(Vec::len).collect();
            assert!(lengths.len() > rows.len() / 2 && lengths.iter().all(|&length| length <= work.prompt));
            assert!(rows.iter().flatten().all(|&token| token > 0 && (token as usize) < work.config.vocab_size));
        }
    }
}

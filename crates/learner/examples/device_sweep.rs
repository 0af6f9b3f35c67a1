//! What decoding and training cost on a device, over sizes: milliseconds, tokens a second, and memory, planned and measured.
//!
//! ```sh
//! cargo run --release --features veriplay/cuda --example device_sweep -- cuda bf16 [decode|train [MICRO_TOKENS [LAYERS]]]
//! ```
//!
//! The model has the shape of Qwen2.5-0.5B and random weights. Each line is one JSON object. A decoding step's time is that of 33 new tokens
//! a row less that of 9, over 24, so that admission is left out; all rows are samples of one prompt. A training step has 16,384 tokens: 16
//! sequences of 768 + 256 tokens, or in `group` lines two prompts of 768 tokens with 29 responses of 256 each. Best of three, after a
//! warm-up. `MICRO_TOKENS` leaves the lines of one such number, and `LAYERS` makes another depth, for a profiler. On `cpu-portable` everything
//! is small, to try the way.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use veriplay_core::{Learn, Sample, TrainBatch};
use veriplay_learner::{
    Architecture, DeviceSpec, Learner, LearnerOptions, Lora, MemoryPlan, MicroBatchSize, ModelConfig, Precision,
    SamplingRequest, Segments, Tokenizer,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

const TIMED_ROUNDS: usize = 3;

/// What is measured, and on a model of which shape.
struct Size {
    shape: ModelConfig,
    rows: &'static [usize],
    contexts: &'static [usize],
    prompt: usize,
    response: usize,
}

impl Size {
    /// The shape of Qwen2.5-0.5B, with room for 4,096 tokens and an answer.
    fn of_a_card(layers: usize) -> Self {
        let shape = ModelConfig {
            model_type: Architecture::Qwen2,
            vocab_size: 151_936,
            hidden_size: 896,
            num_hidden_layers: layers,
            num_attention_heads: 14,
            num_key_value_heads: 2,
            head_dim: 64,
            intermediate_size: 4864,
            rope_theta: 1e6,
            max_position_embeddings: 4096 + 64,
            ..ModelConfig::default()
        };
        Self { shape, rows: &[1, 64, 256, 512], contexts: &[128, 1024, 4096], prompt: 768, response: 256 }
    }

    /// As little as shows that all of it runs.
    fn small() -> Self {
        Self { shape: ModelConfig::default(), rows: &[1, 4], contexts: &[32], prompt: 24, response: 8 }
    }

    fn tokens(&self, count: usize, salt: usize) -> Vec<u32> {
        let words = self.shape.vocab_size - 1;
        (0..count).map(|at| 1 + ((at * 7919 + salt * 104_729) % words) as u32).collect()
    }

    fn work(&self, name: &'static str, responses: &[usize]) -> Work {
        let Self { prompt, response, .. } = *self;
        let of_prompt = |(salt, &count): (usize, &usize)| {
            let tokens: Arc<[u32]> = self.tokens(prompt, salt).into();
            (0..count).map(move |at| Sample::new(Arc::clone(&tokens), self.tokens(response, 100 + salt * 50 + at), 1.0))
        };
        let samples: Vec<Sample> = responses.iter().enumerate().flat_map(of_prompt).collect();
        let normalizer = (samples.len() * response) as f64;
        let group = prompt + responses.iter().max().unwrap_or(&1) * response;
        let tokens = responses.iter().map(|count| prompt + count * response).sum();
        Work { name, batch: TrainBatch { samples, normalizer }, group, tokens }
    }
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize| arguments.get(at).map(String::as_str);
    let device: DeviceSpec = word(0).unwrap_or("cuda").parse()?;
    let precision = if word(1) == Some("f32") { Precision::F32 } else { Precision::Bf16 };
    let options = LearnerOptions { device, precision, ..LearnerOptions::default() };
    let micro_tokens: Option<usize> = word(3).map(str::parse).transpose()?;
    let layers = word(4).map_or(Ok(24), str::parse)?;
    let size = if device == DeviceSpec::Portable { Size::small() } else { Size::of_a_card(layers) };
    let folder = tempfile::tempdir()?;
    Learner::initialize(size.shape.clone(), Tokenizer::missing(), 1, LearnerOptions::default())?.save(folder.path())?;
    let load = |options: &LearnerOptions| Learner::load_by_ids(folder.path(), options.clone());
    if word(2) != Some("train") {
        decode(&size, &options, load)?;
    }
    if word(2) != Some("decode") {
        train(&size, &options, micro_tokens, load)?;
    }
    Ok(())
}

fn seconds<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<f64> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64())
}

/// The shortest of some rounds, after one more.
fn best(mut round: impl FnMut() -> Outcome<f64>) -> Outcome<f64> {
    round()?;
    (0..TIMED_ROUNDS).try_fold(f64::INFINITY, |best, _| Ok(best.min(round()?)))
}

fn mib(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "null".to_owned(), |bytes| (bytes >> 20).to_string())
}

#[expect(clippy::print_stdout, reason = "the lines are what it is run for")]
fn decode<E: Error + 'static>(
    size: &Size,
    options: &LearnerOptions,
    load: impl Fn(&LearnerOptions) -> Result<Learner, E>,
) -> Outcome<()> {
    let learner = load(&LearnerOptions { rollout_rows: size.rows[size.rows.len() - 1], ..options.clone() })?;
    for &context in size.contexts {
        for &samples in size.rows {
            learner.take_peak_device_memory();
            let time = |new: usize| {
                let asked = SamplingRequest {
                    samples,
                    ignore_end: true,
                    ..SamplingRequest::new(size.tokens(context, samples), new)
                };
                best(|| seconds(|| Ok(learner.complete(std::slice::from_ref(&asked))?)))
            };
            let (short, long) = (time(9)?, time(33)?);
            let step = (long - short) / 24.0;
            println!(
                "{{\"what\":\"decode\",\"rows\":{samples},\"context\":{context},\"ms_per_step\":{:.2},\"tokens_per_s\":{:.0},\"admission_ms\":{:.1},\"peak_mib\":{}}}",
                1e3 * step,
                samples as f64 / step,
                1e3 * (short - 9.0 * step),
                mib(learner.take_peak_device_memory()),
            );
        }
    }
    Ok(())
}

/// What is trained, and the largest micro-batch that it makes.
struct Work {
    name: &'static str,
    batch: TrainBatch,
    /// Tokens of the largest group.
    group: usize,
    tokens: usize,
}

#[expect(clippy::print_stdout, reason = "the lines are what it is run for")]
fn train<E: Error + 'static>(
    of: &Size,
    options: &LearnerOptions,
    micro_tokens: Option<usize>,
    load: impl Fn(&LearnerOptions) -> Result<Learner, E>,
) -> Outcome<()> {
    let modules = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
    let lora =
        Lora { rank: 16, alpha: 32.0, target_modules: modules.map(str::to_owned).to_vec(), seed: 0, per_role: false };
    let segments = Some(Segments { layers: 1, logit_rows: 1024 });
    let singles = of.work("single", &[1; 16]);
    let groups = of.work("group", &[29, 29]);
    let plain = |micro_tokens| LearnerOptions { micro_tokens, ..options.clone() };
    let mut settings: Vec<(&Work, LearnerOptions)> = Vec::new();
    for micro_tokens in [1024, 4096, 8192] {
        settings.push((&singles, plain(micro_tokens)));
        settings.push((&singles, LearnerOptions { segments, ..plain(micro_tokens) }));
    }
    settings.push((&singles, LearnerOptions { lora: Some(lora), ..plain(4096) }));
    settings.push((&groups, LearnerOptions { segments, ..plain(8192) }));
    let asked = |(_, options): &(&Work, LearnerOptions)| micro_tokens.is_none_or(|only| options.micro_tokens == only);
    for (work, options) in settings.into_iter().filter(asked) {
        let mut learner = load(&options)?;
        learner.take_peak_device_memory();
        let step = best(|| seconds(|| Ok(learner.update(&work.batch, 1e-6)?)))?;
        let rows = options.micro_tokens.max(work.group);
        let sequences = rows / (of.prompt + of.response);
        let outputs = if work.name == "group" { work.group - of.prompt } else { sequences * of.response };
        let size = MicroBatchSize { rows, group: work.group, outputs };
        let planned = MemoryPlan { rollouts: 0, ..MemoryPlan::predict(learner.config(), &options, size) };
        println!(
            "{{\"what\":\"train\",\"work\":\"{}\",\"micro_tokens\":{},\"segments\":{},\"lora\":{},\"ms_per_step\":{:.0},\"tokens_per_s\":{:.0},\"peak_mib\":{},\"planned_mib\":{}}}",
            work.name,
            options.micro_tokens,
            options.segments.is_some(),
            options.lora.is_some(),
            1e3 * step,
            work.tokens as f64 / step,
            mib(learner.take_peak_device_memory()),
            planned.total() >> 20,
        );
    }
    Ok(())
}

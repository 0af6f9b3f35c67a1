//! Rejects a model that does not fit in the memory of the machine or the card, from its shape before its weights are read.
//! Called by `play`, `eval` and `generate`.

use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::free_memory::{free_memory, gib, mib};
use veriplay_learner::{
    DeviceSpec, Learner, LearnerOptions, Lora, MemoryPlan, MicroBatchSize, ModelConfig, Optimizer, SamplingPlan,
    Segments, tensor_specs,
};

use crate::game_setup::StepTokens;
use crate::model;

/// Refuses a model that is predicted not to fit in training, before any of its weights is read. Frozen models pass, and so does everything where the
/// free memory is unknown. `beside` is what is free beside a server that samples; it sleeps now.
pub fn check_before_load(
    name: &str,
    options: &LearnerOptions,
    beside: Option<u64>,
    step_tokens: impl FnOnce(&ModelConfig) -> StepTokens,
) -> Result<(), Failure> {
    let Some(config) = model::shape_before_load(name, options)? else { return Ok(()) };
    check_host(name, &config, options, free_memory())?;
    let (options, step_tokens) = (effective_options(options), step_tokens(&config));
    check_offload(name, &config, &options, &predict(&config, &options, &step_tokens), free_memory())?;
    let fits = |free| check_training(name, &config, &options, &step_tokens, free);
    free_on_device(&options).map_or(Ok(()), fits)?;
    beside.map_or(Ok(()), |free| check_beside_server(name, &predict(&config, &options, &step_tokens), free))
}

/// Refuses a model whose weights and optimizer do not fit beside a server that is awake.
fn check_beside_server(name: &str, plan: &MemoryPlan, free: u64) -> Result<(), Failure> {
    let kept = with_margin(plan.weights + plan.reference + plan.moments);
    if kept <= free {
        return Ok(());
    }
    let what = format!(
        "model `{name}` does not fit beside the server that samples: its weights and optimizer are predicted to take {}, and the server leaves \
         {} while it samples",
        gib(kept),
        gib(free)
    );
    let hint = "start vLLM with a lower `--gpu-memory-utilization`, on another card, or train adapters: `[learn.lora]`";
    Err(Failure::message(ExitCode::Input, what).hint(hint))
}

/// Refuses a model whose weights, with the copies that are computed with and the cache of one answer of `tokens` tokens, do not fit, before any
/// of them is read.
pub fn check_sampling(
    name: &str,
    options: &LearnerOptions,
    tokens: impl FnOnce(&ModelConfig) -> usize,
) -> Result<(), Failure> {
    let Some(config) = model::shape_before_load(name, options)? else { return Ok(()) };
    let options = &model::with_own_adapters(name, options);
    check_host(name, &config, options, free_memory())?;
    let plan = SamplingPlan::predict(&config, options, tokens(&config));
    free_on_device(options).map_or(Ok(()), |free| check_sampling_plan(name, &config, &plan, free))
}

/// Free bytes where these options compute; `None` where that is not known.
pub fn free_on_device(options: &LearnerOptions) -> Option<u64> {
    match options.device {
        DeviceSpec::Cuda(_) => options.device.free_memory(options.precision),
        DeviceSpec::Cpu | DeviceSpec::Portable => free_memory(),
    }
}

/// Weights pass through the machine's memory one at a time on their way to a card: as in their file, and twice as f32.
fn check_host(name: &str, config: &ModelConfig, options: &LearnerOptions, free: Option<u64>) -> Result<(), Failure> {
    let largest = tensor_specs(config).iter().map(|spec| spec.elements() as u64).max().unwrap_or(0);
    let (takes, free) = (3 * size_of::<f32>() as u64 * largest, free.unwrap_or(u64::MAX));
    if takes <= free || !matches!(options.device, DeviceSpec::Cuda(_)) {
        return Ok(());
    }
    let what = format!(
        "model `{name}` does not fit: its largest weight takes {} of the machine's memory on the way to the card, and {} is free",
        gib(takes),
        gib(free)
    );
    Err(Failure::message(ExitCode::Input, what)
        .hint("end other processes, or choose a model with a smaller vocabulary"))
}

/// Refuses an optimizer, with its weights and gradients, that does not fit on the host of a card.
fn check_offload(
    name: &str,
    config: &ModelConfig,
    options: &LearnerOptions,
    plan: &MemoryPlan,
    free: Option<u64>,
) -> Result<(), Failure> {
    let (takes, free) = (with_margin(plan.host), free.unwrap_or(u64::MAX));
    if takes <= free || !matches!(options.device, DeviceSpec::Cuda(_)) {
        return Ok(());
    }
    let what = format!(
        "model `{name}` does not fit: with `learn.options.optimizer_offload` its weights in f32, the optimizer and the gradients are predicted to \
         take {} of the machine's memory, and {} is free",
        gib(takes),
        gib(free)
    );
    let hint = format!(
        "train adapters (`[learn.lora]`) without `learn.options.optimizer_offload`; or at most {} parameters fit on this machine",
        most_parameters(free, takes, config)
    );
    Err(Failure::message(ExitCode::Input, what).hint(hint))
}

fn check_training(
    name: &str,
    config: &ModelConfig,
    options: &LearnerOptions,
    step_tokens: &StepTokens,
    free: u64,
) -> Result<(), Failure> {
    let plan = predict(config, options, step_tokens);
    let takes = with_margin(taken_of_device(&plan, options));
    tracing::info!(predicted_bytes = takes, available_bytes = free, "memory of a step");
    if takes <= free {
        return Ok(());
    }
    let what = format!(
        "model `{name}` does not fit: training it is predicted to take {} of memory, and {} is free: {} for weights, {} for the \
         optimizer, {} for a reference, {} for copies of matrices, {} for a copy that samples ahead; in an update {} for activations, {} for gradients, {} for logits, or up \
         to {} in rollouts",
        gib(takes),
        gib(free),
        gib(plan.weights),
        gib(plan.moments),
        gib(plan.reference),
        gib(plan.working),
        gib(plan.ahead),
        gib(plan.activations),
        gib(plan.gradients),
        gib(plan.logits),
        gib(plan.rollouts),
    );
    Err(Failure::message(ExitCode::Input, what).hint(what_would_fit(config, options, step_tokens, free)))
}

fn check_sampling_plan(name: &str, config: &ModelConfig, plan: &SamplingPlan, free: u64) -> Result<(), Failure> {
    if plan.total() <= free {
        return Ok(());
    }
    let what = format!(
        "model `{name}` does not fit: sampling takes at least {} of memory, and {} is free: {} for weights, {} for copies of matrices, {} \
         for the keys and values of one answer",
        gib(plan.total()),
        gib(free),
        gib(plan.weights),
        gib(plan.working),
        gib(plan.cache),
    );
    let most = most_parameters(free, plan.weights + plan.working, config);
    let hint = format!("at most {most} parameters fit here; a quantised file, `gguf:PATH`, takes less");
    Err(Failure::message(ExitCode::Input, what).hint(hint))
}

/// What a plan takes of the memory of its device; `cpu-portable` shares the host's.
fn taken_of_device(plan: &MemoryPlan, options: &LearnerOptions) -> u64 {
    plan.total() + if options.device == DeviceSpec::Portable { plan.host } else { 0 }
}

/// A prediction with room for what it leaves out: predictions were up to 9 % lower than measurements.
const fn with_margin(bytes: u64) -> u64 {
    bytes + bytes / 10
}

/// A way to train in less memory, and the options it changes.
type Remedy = (&'static str, fn(&mut LearnerOptions));

const IN_TURNS: Remedy = ("sample and train in turns (`steps_ahead = 0`)", |options| options.samples_ahead = false);
const RECOMPUTE: Remedy =
    ("recompute layers (`[learn.options.segments]` with `layers = 1` and `logit_rows = 1024`)", |options| {
        if options.segments.is_none_or(|own| own.layers > 1) {
            options.segments = Some(Segments { layers: 1, logit_rows: 1024 });
        }
    });
const OFFLOAD: Remedy = (
    "keep the optimizer on the host (`learn.options.optimizer_offload = true`) and recompute layers (`[learn.options.segments]` with `layers = 1` \
     and `logit_rows = 1024`)",
    |options| {
        let on_card = matches!(options.device, DeviceSpec::Cuda(_));
        if on_card && options.lora.is_none() && matches!(options.optimizer, Optimizer::AdamW(_)) {
            RECOMPUTE.1(options);
            options.optimizer_offload = true;
        }
    },
);
const ADAPT: Remedy = ("train adapters (`[learn.lora]`, here with `rank = 16` on every projection)", |options| {
    // Those of any model: each has some.
    let modules =
        ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "qkv_proj", "gate_up_proj"];
    let target_modules = modules.map(str::to_owned).to_vec();
    options.optimizer_offload = false;
    options.lora.get_or_insert(Lora { rank: 16, alpha: 32.0, target_modules, seed: 0, per_role: false });
});

/// The first of some changes of the options under which the model is predicted to fit, or how large a model may be.
fn what_would_fit(config: &ModelConfig, options: &LearnerOptions, step_tokens: &StepTokens, free: u64) -> String {
    let mut lightest = predict(config, options, step_tokens);
    let all = [&[][..], &[RECOMPUTE], &[OFFLOAD], &[ADAPT], &[RECOMPUTE, ADAPT]];
    for remedies in all.into_iter().flat_map(|own| [own.to_vec(), [&[IN_TURNS][..], own].concat()]) {
        let mut changed = options.clone();
        remedies.iter().for_each(|(_, apply)| apply(&mut changed));
        if !remedies.is_empty() && changed == *options {
            continue;
        }
        for SmallerBatch { micro_tokens, bounds_length, bounds_rollouts } in smaller_batches(options) {
            let mut tried = LearnerOptions { micro_tokens, ..changed.clone() };
            let mut longest = step_tokens.longest;
            if bounds_length {
                let Some(length) = shorter_length(micro_tokens, step_tokens) else { continue };
                tried.max_length = Some(length);
                // Of a pair, both responses stand behind one prompt.
                longest = length + step_tokens.longest_response;
            }
            let context = tried.context(config);
            if bounds_rollouts {
                tried.rollout_tokens = Some(context);
            }
            let plan = predict(config, &tried, &StepTokens { longest, ..*step_tokens });
            let takes = with_margin(taken_of_device(&plan, &tried));
            if plan.total() < lightest.total() {
                lightest = plan;
            }
            if takes > free || with_margin(plan.host) > free_memory().unwrap_or(u64::MAX) {
                continue;
            }
            let mut changes: Vec<String> = remedies.iter().map(|(text, _)| (*text).to_owned()).collect();
            if micro_tokens < options.micro_tokens {
                changes.push(format!("set `learn.options.micro_tokens = {micro_tokens}`"));
            }
            if let Some(length) = tried.max_length.filter(|_| bounds_length) {
                changes.push(format!("set `learn.options.max_length = {length}`"));
            }
            if bounds_rollouts {
                changes.push(format!("set `learn.options.rollout_tokens = {context}`"));
            }
            return format!("{}: then it is predicted to take {}", changes.join(" and "), gib(takes));
        }
    }
    let state = lightest.weights + lightest.reference + lightest.moments + lightest.working + lightest.gradients;
    format!(
        "no smaller micro-batch, shorter sequences, recomputed layers or adapters make it fit: with all of them it is predicted to take {}, \
         and at most {} parameters would fit here",
        gib(with_margin(lightest.total())),
        most_parameters(free, with_margin(state), config)
    )
}

struct SmallerBatch {
    micro_tokens: usize,
    /// Whether sequences are bounded with it.
    bounds_length: bool,
    /// Whether rollouts have the tightest bound.
    bounds_rollouts: bool,
}

/// Micro-batches to try, the largest first, each with sequences as they are and bounded; and where a device computes, without and with the
/// tightest bound on rollouts.
fn smaller_batches(options: &LearnerOptions) -> impl Iterator<Item = SmallerBatch> {
    let is_device = options.device != DeviceSpec::Cpu;
    let halved = std::iter::successors(Some(options.micro_tokens), |tokens| (*tokens > 1).then_some(tokens / 2));
    let bounds = [(false, false), (false, true), (true, false), (true, true)];
    let bounds = bounds.into_iter().filter(move |(_, bounds_rollouts)| is_device || !bounds_rollouts);
    halved.flat_map(move |micro_tokens| {
        let batch =
            move |(bounds_length, bounds_rollouts)| SmallerBatch { micro_tokens, bounds_length, bounds_rollouts };
        bounds.clone().map(batch)
    })
}

/// A bound on sequences with which micro-batches of this size are not larger than they would be anyway, and prompts have half of it or more.
fn shorter_length(micro_tokens: usize, step_tokens: &StepTokens) -> Option<usize> {
    let length = 2 * micro_tokens;
    (length < step_tokens.longest && length >= 2 * step_tokens.longest_response).then_some(length)
}

/// How many parameters `free` bytes hold at most, for people, where a model of this shape takes `bytes` that grow with its parameters.
fn most_parameters(free: u64, bytes: u64, config: &ModelConfig) -> String {
    let most = parameters(config) as f64 * (free as f64 / bytes as f64);
    if most >= 1e9 { format!("{:.1} billion", most / 1e9) } else { format!("{:.0} million", most / 1e6) }
}

fn parameters(config: &ModelConfig) -> u64 {
    tensor_specs(config).iter().map(|spec| spec.elements() as u64).sum()
}

fn available_for(learner: &Learner) -> Option<u64> {
    match learner.options().device {
        DeviceSpec::Cuda(_) => learner.device_memory(),
        DeviceSpec::Cpu | DeviceSpec::Portable => free_memory(),
    }
}

/// The options with the one worker of a device.
fn effective_options(options: &LearnerOptions) -> LearnerOptions {
    let data_parallel = if options.device == DeviceSpec::Cpu { options.data_parallel } else { 1 };
    LearnerOptions { data_parallel, ..options.clone() }
}

/// The predicted memory of such steps, for people.
pub fn describe(learner: &Learner, step_tokens: &StepTokens) -> String {
    let free = available_for(learner).map_or_else(String::new, |bytes| format!("; {} is free here", gib(bytes)));
    describe_shape(learner.config(), learner.options(), step_tokens) + &free
}

/// The same for a model of this shape, wherever it is trained.
pub fn describe_shape(config: &ModelConfig, options: &LearnerOptions, step_tokens: &StepTokens) -> String {
    let options = effective_options(options);
    let plan = predict(config, &options, step_tokens);
    let update = MemoryPlan { rollouts: 0, ..plan };
    let (weights, training) = (amount(plan.weights), amount(update.total() - plan.weights));
    let rollouts = match plan.rollouts {
        0 => String::new(),
        bytes => format!(", before which rollouts take up to {}", amount(bytes)),
    };
    let host = match plan.host {
        0 => String::new(),
        bytes => format!("; on the host {} for the optimizer", amount(bytes)),
    };
    format!("memory: about {weights} for weights and {training} for training{rollouts}{host}")
}

/// The prediction for the steps of a run, at their worst.
fn predict(config: &ModelConfig, options: &LearnerOptions, step_tokens: &StepTokens) -> MemoryPlan {
    let of = |batch| MemoryPlan::predict(config, options, batch);
    let (long, short) = (of(largest_micro_batch(options, step_tokens)), of(short_micro_batch(options, step_tokens)));
    if short.total() > long.total() { short } else { long }
}

/// The largest micro-batch that a step can make.
fn largest_micro_batch(options: &LearnerOptions, step_tokens: &StepTokens) -> MicroBatchSize {
    let longest = step_tokens.longest;
    // A micro-batch ends before the group that would exceed its limit by more than half of that group, and never within a sequence.
    let rows = options.micro_tokens + options.micro_tokens.max(longest) / 2;
    let rows = rows.min(rows_of_worker(options, step_tokens)).max(longest);
    // Of long sequences a group makes tiles of attention; short ones keep most where they share the largest group that is one tile.
    let group = if longest > MicroBatchSize::ONE_TILE { rows } else { rows.min(MicroBatchSize::ONE_TILE) };
    MicroBatchSize { rows, group, outputs: rows }
}

/// The largest micro-batch of groups of one tile, which keep more of a token on a device than long sequences do.
fn short_micro_batch(options: &LearnerOptions, step_tokens: &StepTokens) -> MicroBatchSize {
    let rows = (options.micro_tokens + MicroBatchSize::ONE_TILE / 2).min(rows_of_worker(options, step_tokens));
    MicroBatchSize { rows, group: rows.min(MicroBatchSize::ONE_TILE), outputs: rows }
}

/// Tokens of a step for each worker.
const fn rows_of_worker(options: &LearnerOptions, step_tokens: &StepTokens) -> usize {
    step_tokens.total.div_ceil(options.data_parallel)
}

/// Bytes in a unit in which they are not 0.
fn amount(bytes: u64) -> String {
    if mib(bytes) < 102.4 { format!("{:.1} MiB", mib(bytes)) } else { gib(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_a_device() -> LearnerOptions {
        LearnerOptions { device: DeviceSpec::Portable, rollout_rows: 1, ..LearnerOptions::default() }
    }

    /// A shape of 300 billion parameters.
    fn huge() -> ModelConfig {
        let config = ModelConfig { hidden_size: 16_384, intermediate_size: 53_248, ..ModelConfig::default() };
        ModelConfig { num_hidden_layers: 126, ..config }
    }

    #[test]
    fn a_small_amount_is_in_mebibytes() {
        assert_eq!((&*amount(5 << 20), &*amount(1 << 30)), ("5.0 MiB", "1.0 GiB"));
    }

    #[test]
    fn a_model_is_refused_by_its_shape_with_what_would_fit() {
        let step_tokens = StepTokens { total: 100_000, longest: 512, longest_response: 64 };
        let refusal = |config: &ModelConfig, options: &LearnerOptions, free| {
            check_training("some/model", config, options, &step_tokens, free).map_err(|failure| failure.to_string())
        };
        let (small, options) = (ModelConfig::default(), LearnerOptions::default());
        assert_eq!(refusal(&small, &options, 8 << 30), Ok(()));
        // A byte less than it takes: a smaller micro-batch is enough, and what the hint names fits.
        let plan = predict(&small, &options, &step_tokens);
        let free = with_margin(plan.total()) - 1;
        let said = refusal(&small, &options, free).expect_err("a byte too little");
        assert!(said.contains("`some/model`") && said.contains("micro_tokens = 512"), "{said}");
        let halved = LearnerOptions { micro_tokens: 512, ..options.clone() };
        assert_eq!(refusal(&small, &halved, free), Ok(()));
        // Nothing makes the largest fit.
        let said = refusal(&huge(), &options, 64 << 30).expect_err("it is huge");
        assert!(said.contains("for weights") && said.contains("billion parameters would fit here"), "{said}");
    }

    #[test]
    fn recomputed_layers_and_adapters_are_proposed_where_smaller_batches_do_not_help() {
        // Prompts have no room in half of it.
        let step_tokens = StepTokens { total: 100_000, longest: 4096, longest_response: 4096 };
        // On the CPU adapters are merged, which takes copies of the matrices.
        let options = LearnerOptions { data_parallel: 1, ..on_a_device() };
        let config = ModelConfig { num_hidden_layers: 40, max_position_embeddings: 8192, ..ModelConfig::default() };
        let takes = |remedies: &[Remedy]| {
            let mut changed = options.clone();
            remedies.iter().for_each(|(_, apply)| apply(&mut changed));
            let tried = LearnerOptions { micro_tokens: 1, ..changed };
            with_margin(predict(&config, &tried, &step_tokens).total())
        };
        let hint = |free| what_would_fit(&config, &options, &step_tokens, free);
        assert!(takes(&[RECOMPUTE]) < takes(&[]) && takes(&[RECOMPUTE, ADAPT]) < takes(&[RECOMPUTE]));
        let recomputed = hint(takes(&[RECOMPUTE]));
        assert!(recomputed.starts_with("recompute layers") && !recomputed.contains("adapters"), "{recomputed}");
        let both = hint(takes(&[RECOMPUTE, ADAPT]));
        assert!(both.starts_with("recompute layers") && both.contains("train adapters"), "{both}");
        let none = hint(takes(&[RECOMPUTE, ADAPT]) - 1);
        assert!(none.contains("million parameters would fit here"), "{none}");
    }

    /// Options with the smallest micro-batch, changed.
    fn changed(options: &LearnerOptions, remedy: Remedy) -> LearnerOptions {
        let mut changed = LearnerOptions { micro_tokens: 1, ..options.clone() };
        remedy.1(&mut changed);
        changed
    }

    #[test]
    fn an_optimizer_on_the_host_is_proposed_for_a_card_and_refused_where_the_host_has_no_room() {
        // Prompts have no room in half of it.
        let step_tokens = StepTokens { total: 100_000, longest: 4096, longest_response: 4096 };
        let options = LearnerOptions { data_parallel: 1, device: DeviceSpec::Cuda(0), ..on_a_device() };
        let config = ModelConfig { num_hidden_layers: 40, max_position_embeddings: 8192, ..ModelConfig::default() };
        let takes = |remedy| with_margin(predict(&config, &changed(&options, remedy), &step_tokens).total());
        assert!(takes(OFFLOAD) < takes(RECOMPUTE));
        let said = what_would_fit(&config, &options, &step_tokens, takes(OFFLOAD));
        assert!(said.starts_with("keep the optimizer on the host"), "{said}");
        let card = changed(&options, OFFLOAD);
        let plan = predict(&config, &card, &step_tokens);
        let check = |free| check_offload("some/model", &config, &card, &plan, Some(free));
        assert!(check(with_margin(plan.host)).is_ok());
        let said = check(with_margin(plan.host) - 1).expect_err("a byte too little").to_string();
        let parts = ["`some/model`", "of the machine's memory", "0.1 GiB is free", "million parameters", "learn.lora"];
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        // There both have the same memory.
        let portable = LearnerOptions { device: DeviceSpec::Portable, ..card.clone() };
        let both = with_margin(plan.total() + plan.host);
        let check = |free| check_training("some/model", &config, &portable, &step_tokens, free);
        assert!(check(both).is_ok() && check(both - 1).is_err());
    }

    #[test]
    fn sampling_is_refused_where_the_weights_alone_do_not_fit() {
        let options = LearnerOptions::default();
        let plan = SamplingPlan::predict(&huge(), &options, 16);
        let check = |free| check_sampling_plan("some/model", &huge(), &plan, free);
        assert!(check(plan.total()).is_ok());
        let said = check(64 << 30).expect_err("too little").to_string();
        assert!(["`some/model`", "64.0 GiB is free", "billion"].iter().all(|part| said.contains(part)), "{said}");
    }

    #[test]
    fn a_model_is_refused_whose_state_does_not_fit_beside_a_server() {
        let step_tokens = StepTokens { total: 100_000, longest: 512, longest_response: 64 };
        let plan = |options: &LearnerOptions| predict(&ModelConfig::default(), options, &step_tokens);
        let (own, served) = (on_a_device(), LearnerOptions { server_samples: true, ..on_a_device() });
        assert!(plan(&own).rollouts > 0 && plan(&served).rollouts == 0, "a server samples in memory of its own");
        let plan = plan(&served);
        let kept = with_margin(plan.weights + plan.moments);
        assert!(check_beside_server("some/model", &plan, kept).is_ok());
        let said = check_beside_server("some/model", &plan, kept - 1).expect_err("a byte too little").to_string();
        assert!(said.contains("beside the server that samples") && said.contains("--gpu-memory-utilization"), "{said}");
    }

    #[test]
    fn a_copy_that_samples_ahead_is_counted_beside_the_update() {
        let (config, step_tokens) =
            (ModelConfig::default(), StepTokens { total: 100_000, longest: 512, longest_response: 512 });
        let weights = 4 * parameters(&config);
        for in_turns in [on_a_device(), LearnerOptions::default()] {
            let plan = |options: LearnerOptions| predict(&config, &options, &step_tokens);
            let ahead = LearnerOptions { samples_ahead: true, ..in_turns.clone() };
            let (own, served) = (plan(ahead.clone()), plan(LearnerOptions { server_samples: true, ..ahead.clone() }));
            let in_turns = plan(in_turns);
            assert_eq!((in_turns.ahead, served.ahead, own.rollouts), (0, weights, 0));
            assert!(own.ahead > weights + in_turns.rollouts, "its copies of matrices, too");
            let update = in_turns.gradients + in_turns.activations + in_turns.logits;
            assert_eq!(own.total(), in_turns.total() - update.max(in_turns.rollouts) + update + own.ahead);
            let takes = with_margin(predict(&config, &changed(&ahead, IN_TURNS), &step_tokens).total());
            let said = what_would_fit(&config, &ahead, &step_tokens, takes);
            assert!(said.starts_with("sample and train in turns (`steps_ahead = 0`)"), "{said}");
        }
    }

    #[test]
    fn weights_pass_through_the_machine_on_their_way_to_a_card() {
        let on = |device| LearnerOptions { device, ..LearnerOptions::default() };
        let check = |device, free| check_host("some/model", &huge(), &on(device), Some(free));
        let largest =
            tensor_specs(&huge()).iter().map(|spec| 12 * spec.elements() as u64).max().expect("there are weights");
        assert!(check(DeviceSpec::Cuda(0), largest - 1).is_err() && check(DeviceSpec::Cuda(0), largest).is_ok());
        assert!(check(DeviceSpec::Cpu, largest - 1).is_ok(), "where they stay is checked by the plan");
    }

    #[test]
    fn the_largest_micro_batch_is_bounded_by_the_step_and_has_the_longest_sequence_whole() {
        let (short, long) = ((10_000, 64), (1 << 20, 8192));
        // A worker has half of the step; a sequence is on its own, and where there is room for half of it, behind others.
        for ((total, longest), micro_tokens, rows) in [
            (short, 1024, 1536),
            (short, 1 << 20, 5_000),
            (short, 1, 64),
            (long, 1024, 8192),
            (long, 4096, 8192),
            (long, 8192, 12_288),
            (long, 10_000, 15_000),
        ] {
            let options = LearnerOptions { micro_tokens, ..LearnerOptions::default() };
            let step_tokens = StepTokens { total, longest, longest_response: 64 };
            assert_eq!(largest_micro_batch(&options, &step_tokens).rows, rows, "{micro_tokens} of {total}");
        }
    }

    #[test]
    fn a_bound_on_the_longest_sequence_is_proposed() {
        let config = ModelConfig { max_position_embeddings: 8192, ..ModelConfig::default() };
        let step_tokens = StepTokens { total: 1 << 20, longest: 8192, longest_response: 64 };
        let options = LearnerOptions::default();
        let plan = predict(&config, &options, &step_tokens);
        let said = what_would_fit(&config, &options, &step_tokens, with_margin(plan.total()) - 1);
        assert!(said.starts_with("set `learn.options.max_length = 2048`: then"), "{said}");
        let bounded = LearnerOptions { max_length: Some(2048), ..options };
        let shorter = StepTokens { longest: bounded.context(&config), ..step_tokens };
        assert!(predict(&config, &bounded, &shorter).total() < plan.total());
    }

    #[test]
    fn groups_of_one_tile_count_where_they_keep_more_than_a_long_sequence() {
        let config = ModelConfig { max_position_embeddings: 1024, ..ModelConfig::default() };
        let step_tokens = StepTokens { total: 1 << 20, longest: 1024, longest_response: 64 };
        let options = LearnerOptions { micro_tokens: 8192, ..on_a_device() };
        let long = MemoryPlan::predict(&config, &options, largest_micro_batch(&options, &step_tokens));
        let short = MemoryPlan::predict(&config, &options, short_micro_batch(&options, &step_tokens));
        assert!(short.total() > long.total());
        assert_eq!(predict(&config, &options, &step_tokens), short);
    }
}

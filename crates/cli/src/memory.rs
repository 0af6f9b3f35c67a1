//! Rejects a run that does not fit in the memory of the machine or the card, before it starts. Called by `play`.

use veriplay_learner::{DeviceSpec, Learner, LearnerOptions, MemoryPlan, MicroBatchSize, ModelConfig};

use crate::exit::{ExitCode, Failure};
use crate::games::StepTokens;

/// Compares the predicted memory of a step with what is free. The weights are in memory already. Where the free memory is unknown, every
/// run passes.
pub(crate) fn check(learner: &Learner, step_tokens: &StepTokens) -> Result<(), Failure> {
    let options = effective_options(learner.options());
    let fits = |available| check_fit(learner.config(), &options, largest_micro_batch(&options, step_tokens), available);
    available_for(learner).map_or(Ok(()), fits)
}

/// Free memory where the learner computes.
fn available_for(learner: &Learner) -> Option<u64> {
    match learner.options().device {
        DeviceSpec::Cuda(_) => learner.device_memory(),
        DeviceSpec::Cpu | DeviceSpec::Portable => available(),
    }
}

/// The options with the one worker of a device.
fn effective_options(options: &LearnerOptions) -> LearnerOptions {
    let data_parallel = if options.device == DeviceSpec::Cpu { options.data_parallel } else { 1 };
    LearnerOptions { data_parallel, ..options.clone() }
}

/// The predicted memory of such steps, for people.
pub(crate) fn describe(learner: &Learner, step_tokens: &StepTokens) -> String {
    let free = available_for(learner).map_or_else(String::new, |bytes| format!("; {} is free here", gib(bytes)));
    describe_shape(learner.config(), learner.options(), step_tokens) + &free
}

/// The same for a model of this shape, wherever it is trained.
pub(crate) fn describe_shape(config: &ModelConfig, options: &LearnerOptions, step_tokens: &StepTokens) -> String {
    let options = effective_options(options);
    let plan = MemoryPlan::predict(config, &options, largest_micro_batch(&options, step_tokens));
    let update = MemoryPlan { rollouts: 0, ..plan };
    let (weights, training) = (gib(plan.weights), gib(update.total() - plan.weights));
    let rollouts = match plan.rollouts {
        0 => String::new(),
        bytes => format!(", before which rollouts take up to {}", gib(bytes)),
    };
    format!("memory: about {weights} for weights and {training} for training{rollouts}")
}

/// The largest micro-batch that a step can make.
fn largest_micro_batch(options: &LearnerOptions, step_tokens: &StepTokens) -> MicroBatchSize {
    let share = step_tokens.total.div_ceil(options.data_parallel);
    // A micro-batch ends before the group that would exceed its limit by more than half of that group, and never within a response.
    let rows = (options.micro_tokens + options.micro_tokens / 2).min(share).max(step_tokens.longest);
    // Groups that keep most: one long response makes tiles, short ones share the largest that is one tile.
    let group = if step_tokens.longest > MicroBatchSize::ONE_TILE { rows } else { rows.min(MicroBatchSize::ONE_TILE) };
    MicroBatchSize { rows, group }
}

fn check_fit(
    config: &ModelConfig,
    options: &LearnerOptions,
    batch: MicroBatchSize,
    available: u64,
) -> Result<(), Failure> {
    let plan = MemoryPlan::predict(config, options, batch);
    // Predictions were up to 7 % lower than measurements.
    let wanted = (plan.total() + plan.total() / 10).saturating_sub(plan.weights);
    tracing::info!(predicted_bytes = plan.total(), available_bytes = available, "memory of a step");
    if wanted <= available {
        return Ok(());
    }
    let what = format!(
        "playing this model takes about {} of memory besides its weights, and {} is free: in training {} for activations, {} for \
         gradients, {} for logits, or up to {} in rollouts; and {} for the optimizer",
        gib(wanted),
        gib(available),
        gib(plan.activations),
        gib(plan.gradients),
        gib(plan.logits),
        gib(plan.rollouts),
        gib(plan.moments),
    );
    Err(Failure::message(ExitCode::Input, what).hint(plan.advice(options).join("; or ")))
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// Bytes as MiB, for people.
pub(crate) fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Bytes that Linux can give without evicting anything.
pub(crate) fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_passes_and_what_does_not_is_refused_with_advice() {
        let (config, options) = (ModelConfig::default(), LearnerOptions::default());
        let batch = MicroBatchSize { rows: 1536, group: 512 };
        assert!(check_fit(&config, &options, batch, 8 << 30).is_ok());
        let refusal = check_fit(&config, &options, batch, 1 << 20).expect_err("a megabyte is too little").to_string();
        assert!(refusal.contains("0.0 GiB is free") && refusal.contains("segments"), "{refusal}");
        let huge = ModelConfig { hidden_size: 8192, intermediate_size: 1 << 15, num_hidden_layers: 80, ..config };
        assert!(check_fit(&huge, &options, batch, 64 << 30).is_err());
    }

    #[test]
    fn a_step_that_is_smaller_than_a_micro_batch_is_what_counts() {
        let step_tokens = StepTokens { total: 10_000, longest: 64 };
        let rows_of = |micro_tokens| {
            let options = LearnerOptions { micro_tokens, ..LearnerOptions::default() };
            largest_micro_batch(&options, &step_tokens).rows
        };
        assert_eq!(rows_of(1024), 1536);
        // By two workers.
        assert_eq!(rows_of(1 << 20), 5_000);
        assert_eq!(rows_of(1), 64);
    }

    #[test]
    fn this_machine_reports_its_free_memory() {
        assert!(available().is_some_and(|bytes| bytes > 1 << 20));
    }
}

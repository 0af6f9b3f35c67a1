//! Refuses a run that will not fit in memory, before it begins. Called by `play` with the model it is to train.

use veriplay_core::TaskType;
use veriplay_learner::{LearnerOptions, MemoryPlan, ModelConfig};
use veriplay_selfplay::games::absolute_zero::GameConfig;

use crate::exit::{ExitCode, Failure};

/// Compares what training is predicted to take with what the machine has left. The weights of `config` are in memory already.
/// Where the machine does not say, nothing is refused.
pub(crate) fn check(config: &ModelConfig, options: &LearnerOptions, game: &GameConfig) -> Result<(), Failure> {
    available().map_or(Ok(()), |available| fits(config, options, rows(config, options, game), available))
}

/// Tokens of the largest micro-batch that a step of the game can make.
fn rows(config: &ModelConfig, options: &LearnerOptions, game: &GameConfig) -> usize {
    let (context, types) = (config.max_position_embeddings, TaskType::ALL.len());
    let solver = types * game.tasks_per_type * (context + game.group * game.solver_max_tokens);
    let proposer = (types * game.proposals_per_type + game.anchor_samples) * context;
    let share = (solver + proposer).div_ceil(options.shards);
    // A micro-batch is cut where a bundle would lead half of it over the limit, and never within a response.
    let longest = game.solver_max_tokens.max(game.proposer_max_tokens);
    (options.micro_tokens + options.micro_tokens / 2).min(share).max(longest)
}

fn fits(config: &ModelConfig, options: &LearnerOptions, rows: usize, available: u64) -> Result<(), Failure> {
    let plan = MemoryPlan::predict(config, options, rows);
    // Measured, predictions were up to 7 % too low.
    let wanted = (plan.total() + plan.total() / 10).saturating_sub(plan.weights);
    tracing::info!(predicted_bytes = plan.total(), available_bytes = available, "memory of training");
    if wanted <= available {
        return Ok(());
    }
    let what = format!(
        "training this model takes about {} of memory beside its weights, and {} is free: {} for activations, {} for gradients, {} \
         for the optimizer, {} for logits",
        gib(wanted),
        gib(available),
        gib(plan.activations),
        gib(plan.gradients),
        gib(plan.moments),
        gib(plan.logits),
    );
    Err(Failure::message(ExitCode::Input, what).hint(plan.advice(options).join("; or ")))
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// Bytes that can be had without pushing anything out, as Linux says.
fn available() -> Option<u64> {
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
        assert!(fits(&config, &options, 1536, 8 << 30).is_ok());
        let refusal = fits(&config, &options, 1536, 1 << 20).expect_err("a megabyte is too little").to_string();
        assert!(refusal.contains("0.0 GiB is free") && refusal.contains("segments"), "{refusal}");
        let huge = ModelConfig { hidden_size: 8192, intermediate_size: 1 << 15, num_hidden_layers: 80, ..config };
        assert!(fits(&huge, &options, 1536, 64 << 30).is_err());
    }

    #[test]
    fn a_step_that_is_smaller_than_a_micro_batch_is_what_counts() {
        let quickstart: crate::config::PlayConfig = toml::from_str(crate::embedded::QUICKSTART).expect("it is valid");
        let (config, game) = (ModelConfig::default(), quickstart.game);
        let rows_of =
            |micro_tokens| rows(&config, &LearnerOptions { micro_tokens, ..LearnerOptions::default() }, &game);
        assert_eq!(rows_of(1024), 1536);
        // 96 tasks of 512 + 8 · 48 tokens, 96 proposals and 16 anchors of 512, on two shards.
        assert_eq!(rows_of(1 << 20), (96 * 896 + 112 * 512) / 2);
        assert_eq!(rows_of(1), 64);
    }

    #[test]
    fn this_machine_says_what_it_has() {
        assert!(available().is_some_and(|bytes| bytes > 1 << 20));
    }
}

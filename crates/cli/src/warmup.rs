//! Warm-up: makes the embedded model. Programs come from our generator, outputs from the sandbox, and the learner
//! imitates: it learns the prompt format, to propose, and to solve a little.

mod data;
mod examples;

use std::path::Path;
use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use veriplay_core::{Execute, Learn};
use veriplay_corpus::Grammar;
use veriplay_learner::{Learner, ModelConfig, Tokenizer, build_tokenizer};
use veriplay_selfplay::games::absolute_zero::{AbsoluteZero, GameConfig};
use veriplay_selfplay::play::Arena;
use veriplay_verifier::Gate;
use veriplay_verifier::formats::compact;

use crate::config::LearnConfig;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::games::{EvalConfig, TaskConfig, eval_set, measure};
use crate::progress;

pub(crate) use examples::BatchPlan;

/// `configs/warmup.toml`: the exact recipe of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WarmupConfig {
    /// Seeds weights, programs and batches.
    pub(crate) seed: u64,
    /// Optimizer steps.
    pub(crate) steps: u64,
    /// Validation is measured each this many steps.
    pub(crate) validate_every: u64,
    /// The decoder; its vocabulary is filled in from the tokenizer.
    pub(crate) model: ModelConfig,
    /// Which programs.
    pub(crate) data: data::DataConfig,
    /// What a batch holds.
    pub(crate) batch: BatchPlan,
    /// Learning rate, optimizer, shards, micro-batches.
    pub(crate) learn: LearnConfig,
    /// The game whose prompts are measured.
    pub(crate) game: GameConfig,
    /// When a task is valid.
    pub(crate) gate: Gate,
    /// The validation set.
    pub(crate) tasks: TaskConfig,
    /// How it is measured.
    pub(crate) eval: EvalConfig,
}

/// Trains from scratch and saves the checkpoint, each time validation is measured, to `out`.
pub(crate) fn warm_up(config: &WarmupConfig, execute: &dyn Execute, out: &Path) -> Result<(), Failure> {
    let grammar = Grammar::embedded_tiny();
    let pools = data::Pools::build(&config.data, &grammar, config.seed, execute)?;
    let validation = eval_set(&config.tasks, &config.eval, &config.game, &config.gate, execute)?;
    let game = AbsoluteZero::new(config.game.clone()).or_fail(ExitCode::Input)?;
    let mut learner = new_learner(config, &grammar)?;
    progress::say(format!("{} parameters, {}", learner.parameter_count(), pools.describe()));
    let started = Instant::now();
    let mut tokens = 0;
    for step in 0..config.steps {
        let batch = draw(config, &pools, learner.tokenizer(), step)?;
        let rate = config.learn.rate(step, config.steps);
        let update = learner.update(&batch, rate).or_fail(ExitCode::Model)?;
        tokens += update.tokens;
        if step % 50 == 0 {
            let seconds = started.elapsed().as_secs_f64();
            let speed = tokens as f64 / seconds;
            progress::say(format!("step {step} loss {:.4} {seconds:.0} s {speed:.0} tokens/s", update.loss));
        }
        if (step + 1) % config.validate_every == 0 || step + 1 == config.steps {
            let arena = Arena { policy: &learner, execute, seed: config.seed };
            let table = measure(&arena, &game, &validation, &config.eval)?;
            progress::say(format!("step {} {}", step + 1, serde_json::to_string(&table).unwrap_or_default()));
            learner.save(out).or_fail(ExitCode::Model)?;
        }
    }
    Ok(())
}

fn new_learner(config: &WarmupConfig, grammar: &Grammar) -> Result<Learner, Failure> {
    let control: Vec<String> = compact::CONTROL.iter().map(|token| (*token).to_owned()).collect();
    let tokenizer: Tokenizer = build_tokenizer(&control, grammar.fragments()).or_fail(ExitCode::Model)?;
    let model = ModelConfig { vocab_size: tokenizer.vocab_size(), ..config.model.clone() };
    Learner::initialize(model, tokenizer, config.seed, config.learn.learner_options()).or_fail(ExitCode::Model)
}

fn draw(
    config: &WarmupConfig,
    pools: &data::Pools,
    tokenizer: &Tokenizer,
    step: u64,
) -> Result<veriplay_core::TrainBatch, Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(config.seed);
    rng.set_stream(step + 1);
    let solver = |rng: &mut ChaCha8Rng| pools.draw(rng, &config.data.solver_mix);
    let proposer = |rng: &mut ChaCha8Rng| pools.draw(rng, &config.data.proposer_mix);
    examples::batch(&config.batch, tokenizer, &mut rng, solver, proposer).or_fail(ExitCode::Model)
}

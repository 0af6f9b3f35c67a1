//! Configuration files: read strictly, resolved once, written into the run directory.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use veriplay_learner::{Kl, LearnerOptions, Lora, Loss, Schedule, Shape};
use veriplay_selfplay::games::absolute_zero::GameConfig;
use veriplay_verifier::Gate;

use crate::exit::{ExitCode, Failure, OrFail};
use crate::model::refuse_frozen;

/// `veriplay play`'s configuration, as `configs/quickstart.toml` shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlayConfig {
    /// Seeds everything random in the run.
    pub(crate) seed: u64,
    /// Optimizer steps.
    pub(crate) steps: u64,
    /// The start checkpoint: a directory in Hugging Face layout, a hub id, or `embedded:tiny`. Frozen models are refused.
    pub(crate) model: String,
    /// A checkpoint is written each this many steps, and at the end.
    pub(crate) checkpoint_every: u64,
    /// The game.
    pub(crate) game: GameConfig,
    /// When a proposal is valid, and what every job may use.
    pub(crate) gate: Gate,
    /// How the policy learns.
    pub(crate) learn: LearnConfig,
    /// Where seeds and the held-out set come from.
    pub(crate) tasks: TaskConfig,
    /// How the held-out set is measured.
    pub(crate) eval: EvalConfig,
}

/// How the policy learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LearnConfig {
    /// Peak learning rate.
    pub(crate) learning_rate: f64,
    /// Steps of linear rise to it.
    pub(crate) warmup_steps: u64,
    /// How it falls after that.
    pub(crate) shape: Shape,
    /// Share of the peak left at the last step.
    pub(crate) final_fraction: f64,
    /// What a nat of the policy's entropy is worth, beside the loss. Absent means 0.
    #[serde(default, skip_serializing_if = "is_default")]
    entropy_bonus: f64,
    /// Optimizer, shards, micro-batches. Private: [`LearnConfig::learner_options`] adds the tables below.
    options: LearnerOptions,
    /// What is minimised. Absent means `policy_gradient`.
    #[serde(default, skip_serializing_if = "is_default")]
    loss: Loss,
    /// Low-rank adapters to train instead of the weights. Absent trains the weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lora: Option<Lora>,
    /// A divergence from the start model that is added to it. Absent means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kl: Option<Kl>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl LearnConfig {
    /// How the learner works, with the tables that are its own.
    pub(crate) fn learner_options(&self) -> LearnerOptions {
        let Self { loss, kl, entropy_bonus, .. } = *self;
        LearnerOptions { loss, kl, entropy_bonus, lora: self.lora.clone(), ..self.options.clone() }
    }

    /// Whether adapters train, on a base that does not.
    pub(crate) const fn trains_adapters(&self) -> bool {
        self.lora.is_some()
    }

    /// Whether the learner must hold the start model as a reference.
    pub(crate) const fn needs_reference(&self) -> bool {
        self.kl.is_some()
    }

    /// The learning rate of step `step` of `steps`, both counted from zero.
    pub(crate) fn rate(&self, step: u64, steps: u64) -> f64 {
        let schedule = Schedule {
            shape: self.shape,
            peak: self.learning_rate,
            final_ratio: self.final_fraction,
            warmup: self.warmup_steps,
            total: steps,
        };
        schedule.rate(step)
    }
}

/// Where seeds and the held-out set come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskConfig {
    /// The mix of families that seeds are drawn from, as the grammar names it.
    pub(crate) seed_mix: String,
    /// Seed tasks of each type.
    pub(crate) seeds_per_type: usize,
    /// Proposals of each type that the start model is asked for; the valid ones are the anchor.
    pub(crate) anchors_per_type: usize,
    /// The mix of families of the held-out and validation sets.
    pub(crate) eval_mix: String,
    /// Seeds the held-out and validation sets; not the run's seed, so that all runs share them.
    pub(crate) eval_seed: u64,
}

/// How the held-out set is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EvalConfig {
    /// `held_out` for claims, `validation` for tuning.
    pub(crate) set: EvalSet,
    /// Tasks of each type.
    pub(crate) tasks_per_type: usize,
    /// Samples a task at temperature 1: pass@1 is their mean, pass@8 is estimated from them.
    pub(crate) samples: usize,
}

/// Which of the two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EvalSet {
    /// For claims. Nobody tunes on it.
    HeldOut,
    /// For tuning.
    Validation,
}

/// Reads a TOML file strictly: an unknown or missing key is an error that names file, line and key.
pub(crate) fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the configuration `{}`", path.display()))
        .or_fail(ExitCode::Input)?;
    toml::from_str(&text)
        .with_context(|| format!("`{}` is not a valid configuration", path.display()))
        .or_fail(ExitCode::Input)
        .map_err(|failure| failure.hint("`configs/quickstart.toml` shows every key with its meaning"))
}

impl PlayConfig {
    /// Checks what types cannot.
    pub(crate) fn validate(&self) -> Result<(), Failure> {
        let bad = |key: &str, value: &dyn std::fmt::Display, want: &str| {
            Err(Failure::message(ExitCode::Input, format!("configuration key `{key}` is `{value}`: it must be {want}")))
        };
        refuse_frozen(&self.model)?;
        if self.steps == 0 {
            return bad("steps", &self.steps, "at least 1");
        }
        if self.checkpoint_every == 0 {
            return bad("checkpoint_every", &self.checkpoint_every, "at least 1");
        }
        if !(self.learn.learning_rate > 0.0 && self.learn.learning_rate < 1.0) {
            return bad("learn.learning_rate", &self.learn.learning_rate, "between 0 and 1");
        }
        if !(0.0..=1.0).contains(&self.learn.final_fraction) {
            return bad("learn.final_fraction", &self.learn.final_fraction, "between 0 and 1");
        }
        if self.eval.samples < 8 {
            return bad("eval.samples", &self.eval.samples, "at least 8: pass@8 is estimated from them");
        }
        if self.eval.tasks_per_type == 0 {
            return bad("eval.tasks_per_type", &self.eval.tasks_per_type, "at least 1");
        }
        let (game, gate) = (&self.game, &self.gate.induction);
        if (game.induction_visible, game.induction_hidden) != (gate.visible, gate.hidden) {
            let value = format!("{} visible, {} hidden", gate.visible, gate.hidden);
            return bad("gate.induction", &value, "what `game.induction_visible` and `game.induction_hidden` say");
        }
        let options = self.learn.learner_options();
        options.validate().or_fail(ExitCode::Input)?;
        for (key, temperature) in [
            ("game.proposer_temperature", game.proposer_temperature),
            ("game.solver_temperature", game.solver_temperature),
        ] {
            if let Some(want) = options.refuses_temperature(temperature) {
                return bad(key, &temperature, &format!("{want}, under the loss `{}`", options.loss.name()));
            }
        }
        self.gate.check().or_fail(ExitCode::Input)?;
        game.validate().or_fail(ExitCode::Input)
    }
}

/// Where `runs/<name>` goes when `--out` says nothing: named by configuration and seed, so a repeat is found.
pub(crate) fn default_out(config_path: &Path, seed: u64) -> PathBuf {
    let stem = config_path.file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy());
    PathBuf::from("runs").join(format!("{stem}-seed{seed}"))
}

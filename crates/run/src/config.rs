//! The keys that every configuration file has, and how configuration files are read: strictly.

mod explanation;
mod on_alarm;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value, check_counts, check_range};
use veriplay_console::json_file::read_whole_text;
use veriplay_learner::{
    Correction, DeviceSpec, Kl, KlPlace, LearnerOptions, Lora, Loss, Precision, Preference, RolloutPrecision, Schedule,
    ScheduleShape,
};
use veriplay_selfplay::rollout::Part;
use veriplay_selfplay::settings::SharedSettings;

use crate::builtin_configs::{self, DEFAULT_GAME, QUICKSTART};
use crate::model::{is_external, refuse_frozen};
use crate::passes::Passes;
use crate::rollout_server::RolloutServerConfig;
use explanation::{Explanation, explain, nearest};
pub use on_alarm::{AlarmAction, AlarmEffects, BestCheckpoint, OnAlarm};

/// The settings of every run. Unknown keys are rejected where the game's keys are known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    /// The game. Absent means `absolute_zero`.
    #[serde(default = "default_game")]
    pub plays: String,
    /// Seed of all randomness in the run.
    pub seed: u64,
    /// Steps of the game. In most games, each is one optimizer step.
    pub steps: u64,
    /// The start checkpoint: a directory in Hugging Face layout, a hub id, or `builtin:tiny`. Frozen models are refused.
    pub model: String,
    /// The model that proposes, where that is not the one that learns: a model's name, or `start` for `model`. It is not trained.
    #[serde(default)]
    pub proposer_model: Option<String>,
    /// A checkpoint is written each this many steps, and at the end.
    pub checkpoint_every: u64,
    /// The newest of them that are kept. Absent means all.
    #[serde(default)]
    pub checkpoints_kept: Option<u64>,
    /// Whether the numbers of each step are also written as TensorBoard event files. Absent means no.
    #[serde(default)]
    pub tensorboard: bool,
    /// The project of trackio that they are written for too, into its inbox. Absent means none.
    #[serde(default)]
    pub trackio: Option<String>,
    /// What alarms of monitors do. Absent means that they are logged.
    #[serde(default)]
    pub on_alarm: OnAlarm,
    /// Seconds that a plug-in may take to an answer. Absent means ten minutes.
    #[serde(default = "default_exec_timeout")]
    pub exec_timeout_s: u64,
    /// Steps that are sampled while one trains: 0, or 1 for the next step, by the policy as it was before that update. Absent means 0.
    #[serde(default)]
    pub steps_ahead: u64,
    /// A server that samples in the learner's place. Absent means that the learner samples.
    #[serde(default)]
    pub rollout_server: Option<RolloutServerConfig>,
    /// How the policy is trained.
    pub learn: LearnConfig,
}

/// [`DEFAULT_GAME`], as serde asks for it.
pub fn default_game() -> String {
    DEFAULT_GAME.to_owned()
}

/// A week, in seconds.
const LONGEST_TIMEOUT: u64 = 604_800;

/// A judge that is a model may need minutes for a step.
const fn default_exec_timeout() -> u64 {
    600
}

/// How the policy is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnConfig {
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Steps of linear rise to it.
    pub warmup_steps: u64,
    /// How it falls after that.
    pub shape: ScheduleShape,
    /// Share of the peak left at the last step.
    pub final_fraction: f64,
    /// Coefficient of the entropy bonus, per nat. Absent means 0.
    #[serde(default)]
    entropy_bonus: f64,
    /// Where the model computes: `cpu`, `cuda` or `cuda:N`. Absent means the CPU.
    #[serde(default)]
    pub device: DeviceSpec,
    /// Type of activations: `f32`, or `bf16` on a card. Absent means f32.
    #[serde(default)]
    pub precision: Precision,
    /// Type of products of rollouts on the CPU, such as `int8`. Absent is that of the weights.
    #[serde(default)]
    pub rollout_precision: Option<RolloutPrecision>,
    /// Passes over a step's samples, each in its own order. Absent means one.
    #[serde(default = "one")]
    epochs: usize,
    /// Optimizer steps per pass. Absent means one.
    #[serde(default = "one")]
    minibatches: usize,
    /// Optimizer, data-parallel workers, micro-batches. Private: [`LearnConfig::learner_options`] adds the tables below.
    options: LearnerOptions,
    /// The loss over samples. Absent means `policy_gradient`.
    #[serde(default)]
    loss: Loss,
    /// The loss over preference pairs, in games that make them. Absent means `dpo`.
    #[serde(default)]
    preference: Preference,
    /// Low-rank adapters to train instead of the weights. Absent trains the weights.
    #[serde(default)]
    lora: Option<Lora>,
    /// A divergence from the start model, added to the loss or to the reward. Absent means none.
    #[serde(default)]
    kl: Option<Kl>,
    /// What corrects the loss for a sampler that computes otherwise than the learner. Absent takes its log-probabilities for the policy's.
    #[serde(default)]
    correction: Option<Correction>,
}

const fn one() -> usize {
    1
}

impl LearnConfig {
    /// How many updates a step makes from its samples.
    pub const fn passes(&self) -> Passes {
        Passes { epochs: self.epochs, minibatches: self.minibatches }
    }

    /// The learner's options: its own table and the tables next to it.
    pub fn learner_options(&self) -> LearnerOptions {
        let Self { loss, preference, kl, correction, entropy_bonus, device, precision, rollout_precision, .. } = *self;
        let losses = LearnerOptions { loss, preference, kl, correction, entropy_bonus, ..self.options.clone() };
        LearnerOptions { lora: self.lora.clone(), device, precision, rollout_precision, ..losses }
    }

    /// The same after what alarms have done. Powers of two are exact.
    pub fn change_by(&mut self, effects: &AlarmEffects) {
        self.learning_rate *= 0.5_f64.powi(effects.restored);
        self.kl.iter_mut().for_each(|kl| kl.coefficient *= 2.0_f64.powi(effects.raised));
    }

    /// Whether adapters train, on a frozen base.
    pub const fn trains_adapters(&self) -> bool {
        self.lora.is_some()
    }

    /// Whether each role that learns has adapters of its own.
    pub fn has_adapters_per_role(&self) -> bool {
        self.lora.as_ref().is_some_and(|lora| lora.per_role)
    }

    /// Whether the learner must hold the start model as a reference.
    pub const fn needs_reference(&self) -> bool {
        self.kl.is_some()
    }

    /// The learning rate of step `step` of `steps`, both counted from zero.
    pub fn rate(&self, step: u64, steps: u64) -> f64 {
        let schedule = Schedule {
            shape: self.shape,
            peak: self.learning_rate,
            final_ratio: self.final_fraction,
            warmup: self.warmup_steps,
            total: steps,
        };
        schedule.rate(step)
    }

    /// Checks what types cannot.
    pub fn validate(&self) -> Result<(), Failure> {
        if !(self.learning_rate > 0.0 && self.learning_rate < 1.0) {
            return Err(bad_value("learn.learning_rate", &self.learning_rate, "above 0 and below 1"));
        }
        if !(0.0..=1.0).contains(&self.final_fraction) {
            return Err(bad_value("learn.final_fraction", &self.final_fraction, "between 0 and 1"));
        }
        check_range("learn.epochs", self.epochs as u64, 1024, "")?;
        check_range("learn.minibatches", self.minibatches as u64, 1024, "")?;
        if self.passes() != Passes::ONE && self.loss == Loss::default() {
            let want = "a loss that corrects for rollouts of an older policy, such as `ppo_clip` or `cispo`, where `epochs` or `minibatches` is above 1";
            return Err(bad_value("learn.loss.kind", &self.loss.name(), want));
        }
        self.learner_options().validate().or_fail(ExitCode::Input)
    }

    /// Rejects sampling of a step that the loss does not support. A role that learns nothing may sample as it likes.
    pub fn check_sampling(&self, shared: &SharedSettings) -> Result<(), Failure> {
        let temperatures = [
            (Part::Proposal, "game.proposer_temperature", shared.proposer_temperature),
            (Part::Solution, "game.solver_temperature", shared.solver_temperature),
        ];
        for (part, key, temperature) in temperatures {
            if shared.role_weight(part, part.role()) > 0.0 {
                self.check_temperature(key, temperature)?;
            }
        }
        let learned = shared.role_weight(Part::Solution, Part::Solution.role()) > 0.0;
        let search = shared.temperature_search.iter().filter(|_| learned);
        for temperature in search.flat_map(|search| &search.temperatures) {
            self.check_distribution("game.temperature_search", temperature, *temperature == 1.0, "left out")?;
        }
        for own in shared.roles.values() {
            if own.weight.is_none_or(|weight| weight > 0.0) {
                own.temperature.map_or(Ok(()), |temperature| self.check_temperature("game.roles", temperature))?;
            }
        }
        self.check_distribution("game.top_k", &shared.top_k, shared.top_k == 0, "0")?;
        self.check_distribution("game.top_p", &shared.top_p, shared.top_p == 1.0, "1")?;
        self.check_distribution("game.min_p", &shared.min_p, shared.min_p == 0.0, "0")
    }

    /// Rejects a temperature, of configuration key `key`, that the loss does not support.
    pub fn check_temperature(&self, key: &str, temperature: f32) -> Result<(), Failure> {
        self.check_distribution(key, &temperature, temperature == 1.0, "1")
    }

    /// Rejects a value under which the policy that samples is not the one that trains, where the loss compares the two.
    fn check_distribution(&self, key: &str, value: &dyn Display, is_model: bool, want: &str) -> Result<(), Failure> {
        let options = self.learner_options();
        if is_model || !options.needs_model_distribution() {
            return Ok(());
        }
        let compares = if options.correction.is_some() {
            "`[learn.correction]`".to_owned()
        } else {
            format!("the loss `{}`", options.loss.name())
        };
        let want = format!("{want} under {compares}, or the policy that samples is not the one that trains");
        Err(bad_value(key, value, &want))
    }
}

/// Parses part of a configuration. Keys that the part does not know are ignored.
pub fn from_toml<T: DeserializeOwned>(text: &str, origin: &Path) -> Result<T, Failure> {
    toml::from_str(text).map_err(|error| {
        // Where `--set` has made the text, its lines are those of no file.
        let Explanation { what, meant } = explain(&error, text, !is_set(origin));
        let what = format!("`{}` is not a valid configuration: {what}", origin.display());
        let hint = format!("{PAGE} lists every key with its meaning");
        Failure::message(ExitCode::Input, what).hint(suggest(meant.as_deref(), &hint))
    })
}

/// The page of the book about configurations: where the program is installed from a wheel, there is no repository.
const PAGE: &str = "the page \"Configuration reference\" of the documentation";

/// A hint that begins with what was probably meant.
fn suggest(meant: Option<&str>, hint: &str) -> String {
    meant.map_or_else(|| hint.to_owned(), |meant| format!("did you mean `{meant}`? {hint}"))
}

/// What stands before each option in the name of a configuration that `--set` has changed.
const SET: &str = " with --set ";

/// Whether the text of a configuration is that of no file.
fn is_set(origin: &Path) -> bool {
    origin.to_string_lossy().contains(SET)
}

/// The text of a configuration file, or of the built-in configuration of that name where there is no such file.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    if let Some(builtin) = path.to_str().and_then(builtin_configs::find).filter(|_| !path.is_file()) {
        return Ok(builtin.text.to_owned());
    }
    read_whole_text(path)
        .with_context(|| format!("cannot read the configuration `{}`", path.display()))
        .or_fail(ExitCode::Input)
        .map_err(|failure| failure.hint("name a file, or one of the configurations that `veriplay config list` prints"))
}

/// The text of a configuration, by default the quickstart's, with the values of `--set`; and what errors call it. `settings` are `KEY=VALUE`, where
/// a key is a path such as `learn.learning_rate`, and a value is TOML, or else a text; or `~KEY`, as in Hydra, which takes a key or a table out.
pub fn read_with_settings(path: Option<&Path>, settings: &[String]) -> Result<(String, PathBuf), Failure> {
    let text = path.map_or_else(|| Ok(QUICKSTART.to_owned()), read_text)?;
    let origin = path.unwrap_or(Path::new("quickstart.toml"));
    if settings.is_empty() {
        return Ok((text, origin.to_owned()));
    }
    let mut root: toml::Table = from_toml(&text, origin)?;
    for setting in settings {
        apply(&mut root, setting).map_err(|what| {
            let hint = "write --set KEY=VALUE, such as --set learn.learning_rate=1e-4, or --set '~KEY' to take a key or a table out";
            Failure::message(ExitCode::Input, format!("--set `{setting}`: {what}")).hint(hint)
        })?;
    }
    // Its lines are not those of the file any more.
    let origin = PathBuf::from(format!("{}{SET}{}", origin.display(), settings.join(SET)));
    Ok((toml::to_string(&root).or_fail(ExitCode::Bug)?, origin))
}

/// Applies one setting. The error says what is wrong with it.
fn apply(root: &mut toml::Table, setting: &str) -> Result<(), String> {
    if let Some(key) = setting.strip_prefix('~') {
        return take_out(root, key.trim());
    }
    let (key, value) = setting.split_once('=').ok_or("there is no `=`")?;
    let (tables, last) = split_key(key.trim())?;
    let mut table = root;
    for name in tables {
        let inner = table.entry(name).or_insert_with(|| toml::Table::new().into());
        table = inner.as_table_mut().ok_or_else(|| format!("`{name}` is a value, not a table"))?;
    }
    table.insert(last.to_owned(), parse_value(value.trim()));
    Ok(())
}

/// Takes a key or a table out: what is optional is not set then, and what has a default has it.
fn take_out(root: &mut toml::Table, key: &str) -> Result<(), String> {
    let missing = || format!("the configuration does not set `{key}`");
    let (tables, last) = split_key(key)?;
    let mut table = root;
    for name in tables {
        table = table.get_mut(name).and_then(toml::Value::as_table_mut).ok_or_else(missing)?;
    }
    table.remove(last).map(drop).ok_or_else(missing)
}

/// The tables of a path such as `learn.kl.place`, and its last name.
fn split_key(key: &str) -> Result<(Vec<&str>, &str), String> {
    let mut names: Vec<&str> = key.split('.').collect();
    let last = names.pop().filter(|last| !last.is_empty()).ok_or("the key is empty")?;
    Ok((names, last))
}

/// A value as TOML has it; what is no TOML is a text, so that names need no quotes.
fn parse_value(text: &str) -> toml::Value {
    let parsed = toml::from_str::<toml::Table>(&format!("value = {text}")).ok();
    parsed.filter(|table| table.len() == 1).and_then(|mut table| table.remove("value")).unwrap_or_else(|| text.into())
}

/// Rejects keys of a file's top level that are not `known`. Tables reject theirs when they are parsed.
pub fn refuse_unknown_keys(text: &str, origin: &Path, known: &[&str]) -> Result<(), Failure> {
    let keys: BTreeMap<Spanned<String>, IgnoredAny> = from_toml(text, origin)?;
    let Some(key) = keys.keys().find(|key| !known.contains(&key.as_ref().as_str())) else { return Ok(()) };
    let line = text[..key.span().start].matches('\n').count() + 1;
    let place = if is_set(origin) { String::new() } else { format!(" line {line}") };
    let what = format!("`{}`{place}: unknown key `{}`", origin.display(), key.as_ref());
    let meant = nearest(key.get_ref().as_str(), known.iter().copied());
    let hint = format!("the keys are `{}`", known.join("`, `"));
    Err(Failure::message(ExitCode::Input, what).hint(suggest(meant, &hint)))
}

/// Keys that had another name in earlier commits: the table, the old name, the new key.
const RENAMED: &[(&str, &str, &str)] = &[
    ("game", "lessons", "game.objective"),
    ("game", "held_candidate", "game.eval_candidate"),
    ("game", "held_samples", "game.eval_samples"),
    ("game", "dialect", "game.format"),
    ("game", "group", "game.group_size"),
    ("game", "codes", "game.group_size"),
    ("game", "memory", "game.buffer_capacity"),
    ("game", "injector", "game.proposer"),
    ("game", "injector_weight", "game.proposer_weight"),
    ("game", "injector_temperature", "game.proposer_temperature"),
    ("game", "injector_max_tokens", "game.proposer_max_tokens"),
    ("game", "challenger", "game.proposer"),
    ("game", "challenger_weight", "game.proposer_weight"),
    ("game", "challenger_temperature", "game.proposer_temperature"),
    ("game", "challenger_max_tokens", "game.proposer_max_tokens"),
    ("game", "problem_weight", "game.proposer_weight"),
    ("game", "executor_temperature", "game.solver_temperature"),
    ("game", "executor_max_tokens", "game.solver_max_tokens"),
    ("game", "anchor_bugs", "game.sft_bugs"),
    ("game", "anchor_challenges", "game.sft_challenges"),
    ("game", "anchor_samples", "game.sft_samples"),
    ("game", "anchor_weight", "game.sft_weight"),
    ("tasks", "anchors_per_type", "tasks.sft_per_type"),
    ("eval", "samples", "game.eval_samples"),
    ("eval", "tasks_per_type", "eval.tasks"),
    ("eval", "problems", "eval.tasks"),
    ("eval", "bugs", "eval.tasks"),
    ("learn.options", "shards", "learn.options.data_parallel"),
];

/// Refuses keys by their old names, and a loss that is a table of its own now; the error gives the new ones.
pub fn refuse_renamed_keys(text: &str, origin: &Path) -> Result<(), Failure> {
    let root = toml::Value::Table(from_toml(text, origin)?);
    if find_key(&root, "learn.loss", "kind").and_then(toml::Value::as_str) == Some("tis") {
        return Err(tis_is_a_table(find_key(&root, "learn.loss", "cap"), origin));
    }
    let has_key = |(table, old, _): &&(&str, &str, &str)| find_key(&root, table, old).is_some();
    let Some((table, old, new)) = RENAMED.iter().find(has_key) else { return Ok(()) };
    let what = format!("`{}`: configuration key `{table}.{old}` is called `{new}` now", origin.display());
    Err(Failure::message(ExitCode::Input, what).hint(format!("rename it; {PAGE} lists its values")))
}

/// The value of a key of a table, such as `learn.loss`.
fn find_key<'a>(root: &'a toml::Value, table: &str, key: &str) -> Option<&'a toml::Value> {
    table.split('.').try_fold(root, |table, name| table.get(name))?.get(key)
}

/// The loss of earlier commits that corrected for a sampler by itself, with its largest ratio where that is set.
fn tis_is_a_table(cap: Option<&toml::Value>, origin: &Path) -> Failure {
    let what =
        format!("`{}`: the loss `learn.loss.kind = \"tis\"` is the table `[learn.correction]` now", origin.display());
    let cap = cap.map_or_else(|| "2.0".to_owned(), toml::Value::to_string);
    let hint = format!(
        "take `kind` and `cap` out of `[learn.loss]`, which leaves `policy_gradient`, and write `[learn.correction]` with `cap = {cap}`; where \
         `learn.epochs` or `learn.minibatches` is above 1, write `kind = \"ppo_clip\"`"
    );
    Failure::message(ExitCode::Input, what).hint(hint)
}

/// The name of the game that a configuration is for.
pub fn parse_game_name(text: &str, origin: &Path) -> Result<String, Failure> {
    #[derive(Deserialize)]
    struct GameKey {
        #[serde(default = "default_game")]
        plays: String,
    }
    from_toml::<GameKey>(text, origin).map(|key| key.plays)
}

impl RunConfig {
    /// The steps after which a finished run has a checkpoint, among those it has done.
    pub fn kept_checkpoints(&self, done: u64) -> BTreeSet<u64> {
        let scheduled =
            (1..=done).rev().filter(|step| *step == self.steps || step.is_multiple_of(self.checkpoint_every));
        scheduled.take(self.checkpoints_kept.map_or(usize::MAX, |kept| kept as usize)).collect()
    }

    /// The keys of a configuration that are no table of the game.
    pub const KEYS: &'static [&'static str] = &[
        "plays", "seed", "steps", "model", "proposer_model", "checkpoint_every", "checkpoints_kept", "tensorboard",
        "trackio", "on_alarm", "exec_timeout_s", "steps_ahead", "rollout_server", "learn",
    ];

    /// The learner's options, with who samples for it, and when.
    pub fn learner_options(&self) -> LearnerOptions {
        let (server_samples, samples_ahead) = (self.rollout_server.is_some(), self.steps_ahead > 0);
        LearnerOptions { server_samples, samples_ahead, ..self.learn.learner_options() }
    }

    /// Checks what types cannot.
    ///
    /// # Errors
    /// The first key with a value that has no meaning.
    pub fn validate(&self) -> Result<(), Failure> {
        refuse_frozen(&self.model)?;
        check_counts(&[("steps", self.steps), ("checkpoint_every", self.checkpoint_every)])?;
        if self.checkpoints_kept == Some(0) {
            return Err(bad_value("checkpoints_kept", &0, "at least 1: a stopped run goes on from its newest"));
        }
        check_range("exec_timeout_s", self.exec_timeout_s, LONGEST_TIMEOUT, " seconds")?;
        if self.trackio.as_deref() == Some("") {
            return Err(bad_value("trackio", &"\"\"", "the name of a project of trackio"));
        }
        self.learn.validate()?;
        self.on_alarm.check(self)?;
        self.rollout_server.as_ref().map_or(Ok(()), |server| server.check(&self.model))?;
        self.check_rollout_precision()?;
        self.check_kl_of_samples()?;
        self.check_correction()
    }

    /// Rejects a precision of rollouts where the learner does not sample.
    fn check_rollout_precision(&self) -> Result<(), Failure> {
        let Some(precision) = self.learn.rollout_precision else { return Ok(()) };
        let refused = [
            (self.rollout_server.is_some(), "left out, where `[rollout_server]` is there: the server samples"),
            (is_external(&self.model), "left out, because `model` is `stdio`: your trainer samples"),
        ];
        let first = refused.into_iter().find(|(is_refused, _)| *is_refused);
        first.map_or(Ok(()), |(_, want)| Err(bad_value("learn.rollout_precision", &precision.name(), want)))
    }

    /// Why samples have other log-probabilities than the learner computes of the weights that sampled; `None` where they have the same.
    pub fn other_sampler(&self) -> Option<&'static str> {
        match (&self.rollout_server, self.learn.rollout_precision) {
            (Some(_), _) => Some("where `[rollout_server]` is there"),
            (None, Some(RolloutPrecision::Int8)) => Some("where `learn.rollout_precision` is `int8`"),
            (None, None) => None,
        }
    }

    /// Rejects a divergence that takes a sampler's log-probabilities for the learner's.
    fn check_kl_of_samples(&self) -> Result<(), Failure> {
        let is_in_reward = self.learn.kl.is_some_and(|kl| kl.place == KlPlace::Reward);
        let Some(reason) = self.other_sampler().filter(|_| is_in_reward) else { return Ok(()) };
        let want =
            format!("`loss`, {reason}: in the reward it compares log-probabilities of the sampler with the learner's");
        Err(bad_value("learn.kl.place", &"reward", &want))
    }

    /// Rejects a loss that takes the log-probabilities of who samples for the policy's own, where these are another's or an older policy's.
    fn check_correction(&self) -> Result<(), Failure> {
        let is_older = (self.steps_ahead > 0).then_some("where `steps_ahead` is 1");
        let Some(reason) = self.other_sampler().or(is_older) else { return Ok(()) };
        let is_weighed = self.learn.correction.is_some_and(|correction| correction.cap.is_some());
        if self.learn.loss != Loss::default() || is_weighed {
            return Ok(());
        }
        let want = format!(
            "a loss that corrects for rollouts of another policy than the learner's, such as `cispo`, or one that imitates (`rft`, `sft`), or \
             `learn.correction.cap` set, {reason}"
        );
        Err(bad_value("learn.loss.kind", &self.learn.loss.name(), &want))
    }
}

/// The default of `--out`: named after configuration and seed, so that a repeated run is noticed. Without a configuration it is the quickstart.
pub fn default_out(config: Option<&Path>, seed: u64) -> PathBuf {
    let stem = config.unwrap_or(Path::new("quickstart")).file_stem();
    let stem = stem.map_or_else(|| "run".into(), |stem| stem.to_string_lossy());
    PathBuf::from("runs").join(format!("{stem}-seed{seed}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{default_out, refuse_renamed_keys};

    #[test]
    fn a_run_is_named_after_its_configuration_and_seed() {
        assert_eq!(default_out(None, 1), Path::new("runs/quickstart-seed1"));
        for config in ["smollm2", "smollm2.toml", "configs/smollm2.toml"] {
            assert_eq!(default_out(Some(Path::new(config)), 7), Path::new("runs/smollm2-seed7"));
        }
    }

    #[test]
    fn the_loss_that_is_a_table_now_is_refused_with_its_keys() {
        for (cap, want) in [("cap = 3.5\n", "`cap = 3.5`"), ("", "`cap = 2.0`")] {
            let refused = refuse_renamed_keys(&format!("[learn.loss]\nkind = \"tis\"\n{cap}"), Path::new("own.toml"));
            let error = refused.expect_err("it is no loss any more").to_string();
            assert!(
                error.contains("`own.toml`") && error.contains("`[learn.correction]`") && error.contains(want),
                "{error}"
            );
        }
        let fine = "[learn.loss]\nkind = \"ppo_clip\"\n[learn.correction]\ncap = 2.0\n";
        assert!(refuse_renamed_keys(fine, Path::new("own.toml")).is_ok());
    }

    #[test]
    fn a_key_by_its_old_name_is_refused_with_the_new_one() {
        for old in ["tasks_per_type", "problems", "bugs"] {
            let refused = refuse_renamed_keys(&format!("[eval]\n{old} = 4\n"), Path::new("own.toml"));
            let error = refused.expect_err("it has another name").to_string();
            assert!(error.contains(&format!("`eval.{old}` is called `eval.tasks` now")), "{error}");
        }
    }
}

//! Warm-up: makes start models, from scratch as the built-in ones or from a pretrained checkpoint. Programs come from our generator,
//! outputs from the sandbox, and the learner imitates: it learns a game's prompt format, and each of its roles a little.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value, check_counts};
use veriplay_console::isolation::Isolation;
use veriplay_console::progress::{self, counted};
use veriplay_core::{Learn, Sample, TrainBatch};
use veriplay_learner::{ConfigError, Learner, ModelConfig, Precision, Tokenizer};
use veriplay_selfplay::play::StepContext;
use veriplay_selfplay::splits::{EvalItem, EvalSet, Guard};

use crate::config::{LearnConfig, default_game, from_toml, refuse_renamed_keys, refuse_unknown_keys};
use crate::device::{self, DeviceArguments};
use crate::game_setup::EvalKeys;
use crate::model;
use crate::warmup_examples::{ExampleConfig, Examples, WarmupExamples};

/// A recipe of a model, such as `configs/warmup.toml`.
pub struct Recipe<T: WarmupExamples> {
    run: RecipeRun,
    examples: ExampleConfig<T::Data, T::Batch>,
    /// The game that evaluates the model.
    setup: T,
}

#[derive(Debug, Clone, Deserialize)]
struct RecipeRun {
    #[serde(default = "default_game", rename = "plays")]
    _plays: String,
    /// Seeds weights, programs and batches.
    seed: u64,
    steps: u64,
    /// The model is evaluated on the validation set each this many steps.
    validate_every: u64,
    model: StartModel,
    /// Learning rate, optimizer, data-parallel workers, micro-batches.
    learn: LearnConfig,
    /// Saves weights as bfloat16: half the size, for models that the program carries.
    #[serde(default)]
    save_bf16: bool,
}

/// The model that warm-up begins with.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "toml::Value")]
enum StartModel {
    /// A pretrained checkpoint, by the names that `--model` takes.
    Checkpoint(String),
    /// A decoder with random weights; its vocabulary is filled in from the game's tokenizer.
    Scratch(Box<ModelConfig>),
}

impl TryFrom<toml::Value> for StartModel {
    type Error = String;

    /// The configuration reader adds the line to this error.
    fn try_from(value: toml::Value) -> Result<Self, String> {
        let table = match value {
            toml::Value::String(name) => return Ok(Self::Checkpoint(name)),
            toml::Value::Table(table) => table,
            other => return Err(format!("`model` is a {}: want a name or a table", other.type_str())),
        };
        let table = serde_json::to_value(table).map_err(|error| error.to_string())?;
        if let Some(key) = ModelConfig::ignored_key(&table) {
            return Err(format!("unknown key `model.{key}`"));
        }
        ModelConfig::try_from(table).map(|config| Self::Scratch(Box::new(config))).map_err(shape_error)
    }
}

/// What is wrong with the table `[model]`.
fn shape_error(error: ConfigError) -> String {
    match error {
        ConfigError::Missing(key) => format!("missing key `model.{key}`"),
        ConfigError::Value { key, value, want } => format!("configuration key `model.{key}` is `{value}`: {want}"),
        other => other.to_string(),
    }
}

/// The shape of a new model with the vocabulary of its game, and its tokenizer.
fn with_vocabulary<T: WarmupExamples>(config: &ModelConfig) -> Result<(ModelConfig, Tokenizer), Failure> {
    let tokenizer = T::tokenizer().or_fail(ExitCode::Model)?;
    Ok((ModelConfig { vocab_size: tokenizer.vocab_size(), ..config.clone() }, tokenizer))
}

impl RecipeRun {
    /// Checks what types cannot.
    fn validate<T: WarmupExamples>(&self) -> Result<(), Failure> {
        check_counts(&[("steps", self.steps), ("validate_every", self.validate_every)])?;
        self.learn.validate()?;
        if self.learn.has_adapters_per_role() {
            return Err(bad_value("learn.lora.per_role", &true, "false: a warm-up makes one model for all roles"));
        }
        if let Some(precision) = self.learn.rollout_precision {
            let want = "left out: a warm-up evaluates the model that it trains, not a quantised one";
            return Err(bad_value("learn.rollout_precision", &precision.name(), want));
        }
        match &self.model {
            StartModel::Checkpoint(name) => model::refuse_frozen(name),
            StartModel::Scratch(config) => {
                let checked = with_vocabulary::<T>(config)?.0.validate();
                checked.map_err(|error| Failure::message(ExitCode::Input, shape_error(error)))
            }
        }
    }

    fn open_model<T: WarmupExamples>(&self) -> Result<Learner, Failure> {
        let options = self.learn.learner_options();
        match &self.model {
            StartModel::Checkpoint(name) => model::open_trainable(name, &options),
            StartModel::Scratch(config) => {
                let (config, tokenizer) = with_vocabulary::<T>(config)?;
                Learner::initialize(config, tokenizer, self.seed, options).or_fail(ExitCode::Model)
            }
        }
    }

    const fn precision(&self) -> Precision {
        if self.save_bf16 { Precision::Bf16 } else { Precision::F32 }
    }
}

impl<T: WarmupExamples> Recipe<T> {
    /// Reads a recipe strictly, as configurations of runs are read, and validates it. `device` is what the command line says of it.
    pub fn parse(text: &str, origin: &Path, device: DeviceArguments) -> Result<Self, Failure> {
        refuse_renamed_keys(text, origin)?;
        // Before missing keys, because a misspelt key is both.
        let own = ["plays", "seed", "steps", "validate_every", "model", "learn", "save_bf16", "data", "batch"];
        refuse_unknown_keys(text, origin, &[&own, T::TABLES].concat())?;
        let (run, examples) = (from_toml(text, origin)?, from_toml(text, origin)?);
        let mut recipe = Self { run, examples, setup: T::parse(text, origin)? };
        device.apply(&mut recipe.run.learn.device, &mut recipe.run.learn.precision);
        recipe.validate()?;
        Ok(recipe)
    }

    fn validate(&self) -> Result<(), Failure> {
        self.run.validate::<T>()?;
        check_counts(&[("eval.tasks", self.setup.eval().tasks() as u64)])?;
        self.setup.eval().suite_schedule().validate()?;
        T::check_examples(&self.examples)?;
        self.setup.validate(&self.run.learn)
    }

    /// Opens what warm-up opens: the start model on its device, and the game with its tasks. It trains nothing.
    pub fn start_checks(mut self) -> [Result<(), Failure>; 2] {
        *self.setup.eval_mut().set_mut() = EvalSet::Validation;
        let model = device::check(&self.run.learn.learner_options()).and_then(|()| self.run.open_model::<T>());
        [model.map(drop), self.setup.open(Isolation::Thread).map(drop)]
    }

    fn draw_examples(&self, source: &T::Source, learner: &Learner, step: u64) -> Result<Vec<Sample>, Failure> {
        let (mut rng, mut examples) = (ChaCha8Rng::seed_from_u64(self.run.seed), Examples::new(learner));
        rng.set_stream(step + 1);
        self.setup.draw_examples(&self.examples, source, &mut rng, &mut examples).or_fail(ExitCode::Model)?;
        Ok(examples.finish())
    }
}

/// Trains from scratch, and saves the checkpoint to `out` after each evaluation. Examples that hold what the recipe's game
/// measures are left out.
pub fn warm_up<T: WarmupExamples>(mut recipe: Recipe<T>, out: &Path) -> Result<(), Failure> {
    *recipe.setup.eval_mut().set_mut() = EvalSet::Validation;
    let Recipe { run, examples, setup } = &recipe;
    device::check(&run.learn.learner_options())?;
    let (executor, game) = setup.open(Isolation::Thread)?;
    let source = T::source(&examples.data, run.seed, executor.runner())?;
    let mut learner = run.open_model::<T>()?;
    progress::say(format!("{} parameters", learner.parameter_count()));
    let started = Instant::now();
    let (tokenizer, mut tokens, mut left_out) = (learner.tokenizer().clone(), 0, 0);
    let mut audit = SplitAudit::new(game.guard(), &tokenizer);
    for step in 0..run.steps {
        let mut samples = recipe.draw_examples(&source, &learner, step)?;
        left_out += audit.leave_out(&mut samples);
        let update = learner.update(&batch(samples), run.learn.rate(step, run.steps)).or_fail(ExitCode::Model)?;
        tokens += update.tokens;
        if step % 50 == 0 {
            let seconds = started.elapsed().as_secs_f64();
            let speed = tokens as f64 / seconds;
            progress::say(format!("step {step} loss {:.4} {seconds:.0} s {speed:.0} tokens/s", update.loss));
        }
        if (step + 1) % run.validate_every == 0 || step + 1 == run.steps {
            let table = game.evaluate(&StepContext { policy: &learner, execute: &executor, seed: run.seed })?;
            progress::say(format!("examples left out because they contain what is evaluated: {left_out}"));
            progress::say(format!("step {} {}", step + 1, serde_json::to_string(&table).unwrap_or_default()));
            learner.save_in(out, run.precision()).or_fail(ExitCode::Model)?;
        }
    }
    Ok(())
}

/// Trains nothing: lists the examples that warm-up trains on and that contain what a run of `measuring` evaluates on.
pub fn audit<T: WarmupExamples>(mut recipe: Recipe<T>, measuring: &T) -> Result<(), Failure> {
    *recipe.setup.eval_mut().set_mut() = EvalSet::Validation;
    let (_, warmed_up) = recipe.setup.open(Isolation::Thread)?;
    let (executor, game) = measuring.open(Isolation::Thread)?;
    let source = T::source(&recipe.examples.data, recipe.run.seed, executor.runner())?;
    let learner = recipe.run.open_model::<T>()?;
    let mut own = SplitAudit::new(warmed_up.guard(), learner.tokenizer());
    let mut audit = SplitAudit::new(game.guard(), learner.tokenizer());
    let (mut all, mut left_out, mut found) = (0, 0, BTreeMap::new());
    for step in 0..recipe.run.steps {
        let mut samples = recipe.draw_examples(&source, &learner, step)?;
        all += samples.len();
        left_out += own.leave_out(&mut samples);
        for (text, eval_item) in samples.iter().filter_map(|sample| audit.find_eval_item(sample)) {
            *found.entry((format!("{} of the {} set", eval_item.name, eval_item.set.name()), text)).or_insert(0) += 1;
        }
    }
    let overlaps: usize = found.values().sum();
    for ((eval_item, text), count) in &found {
        progress::data(format!("{eval_item} is in {}: {text:?}", counted(count, "example")));
    }
    let own = "that contain what its own recipe evaluates";
    progress::data(format!("{all} examples are drawn; warm-up leaves out {left_out} {own}"));
    progress::data(format!("{overlaps} of the others contain what is evaluated, {} different parts", found.len()));
    if found.is_empty() {
        return Ok(());
    }
    let what = format!("warm-up trains on examples that contain what is evaluated: {overlaps}");
    Err(Failure::message(ExitCode::Input, what)
        .hint("let the recipe evaluate on the same tasks, and train the model again"))
}

/// The loss is a mean over the tokens that are learned.
fn batch(samples: Vec<Sample>) -> TrainBatch {
    let tokens: usize = samples.iter().map(|sample| sample.response.len() - sample.masked).sum();
    TrainBatch { samples, normalizer: tokens.max(1) as f64 }
}

/// Finds what is evaluated on in examples in tokens.
struct SplitAudit<'a> {
    guard: &'a Guard,
    tokenizer: &'a Tokenizer,
    /// Tokens that stand between the parts of an example.
    control: HashSet<u32>,
    /// Parts repeat.
    found: HashMap<Vec<u32>, Option<&'a EvalItem>>,
}

impl<'a> SplitAudit<'a> {
    fn new(guard: &'a Guard, tokenizer: &'a Tokenizer) -> Self {
        let ids = 0..u32::try_from(tokenizer.vocab_size()).unwrap_or(u32::MAX);
        let control = ids.filter(|id| tokenizer.is_special(*id)).collect();
        Self { guard, tokenizer, control, found: HashMap::new() }
    }

    /// Leaves out the examples that contain what is evaluated, and returns their number.
    fn leave_out(&mut self, samples: &mut Vec<Sample>) -> usize {
        let drawn = samples.len();
        samples.retain(|sample| self.find_eval_item(sample).is_none());
        drawn - samples.len()
    }

    /// The first part of an example that the policy is evaluated on, as a program, by a function in it, or as a text.
    fn find_eval_item(&mut self, sample: &Sample) -> Option<(String, &'a EvalItem)> {
        let tokens: Vec<u32> = sample.prompt.iter().chain(sample.response.iter()).copied().collect();
        let parts = tokens.split(|id| self.control.contains(id)).filter(|part| !part.is_empty());
        for part in parts {
            let text = || self.tokenizer.decode(part);
            let find = |text: &str| self.guard.find_text(text).or_else(|| self.guard.find_program(text));
            let found = *self.found.entry(part.to_vec()).or_insert_with(|| find(&text()));
            if let Some(eval_item) = found {
                return Some((text(), eval_item));
            }
        }
        None
    }
}

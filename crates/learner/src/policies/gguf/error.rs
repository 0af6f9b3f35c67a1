//! What can be wrong with a GGUF file.

use std::path::PathBuf;

use crate::checkpoint::CheckpointError;
use crate::config::ConfigError;
use crate::tokenizer::TokenizerError;

/// What is wrong with a GGUF file. Every message names the file, and the key or tensor where there is one.
#[derive(Debug, thiserror::Error)]
pub enum GgufError {
    /// A file that cannot be read.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// The header cannot be read: not a GGUF file, or cut off in its header.
    #[error("`{}` cannot be read as GGUF: {reason}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// The reader's word.
        reason: String,
    },
    /// A model of a family that is not known here.
    #[error(
        "`{}` holds a model of architecture `{found}`, want `qwen2`, `qwen3` or `llama`: a llama.cpp server can run it, see `openai:URL#MODEL`", path.display()
    )]
    Architecture {
        /// The file.
        path: PathBuf,
        /// What `general.architecture` says.
        found: String,
    },
    /// A key of the metadata that is missing, or has a value that cannot be used.
    #[error("`{}`: metadata key `{key}` {problem}", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A tensor that should be there.
    #[error("`{}` has no tensor `{tensor}`", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
    },
    /// A tensor that the model would leave out, so that its answers would be wrong.
    #[error("`{}` holds tensor `{tensor}`, which a plain `{architecture}` does not have: {hint}", path.display())]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// The family.
        architecture: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// A tensor of another shape than the metadata says.
    #[error("`{}`: tensor `{tensor}` has shape {found:?}, want {want:?}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// Its shape.
        found: Vec<usize>,
        /// What it should be.
        want: Vec<usize>,
    },
    /// The file ends inside a tensor.
    #[error("`{}` is cut off: tensor `{tensor}` ends at byte {end}, and the file has {bytes}", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// Where it would end.
        end: u64,
        /// Bytes of the file.
        bytes: u64,
    },
    /// The tokenizer has tokens that the model does not.
    #[error("`{}` has a vocabulary of {vocabulary} tokens, and its tokenizer has {tokens}: it is another model's", path.display())]
    Vocabulary {
        /// The file.
        path: PathBuf,
        /// Tokens of the model.
        vocabulary: usize,
        /// Tokens of the tokenizer.
        tokens: usize,
    },
    /// The tokenizer file.
    #[error("the tokenizer of `{}`: {source}", path.display())]
    Tokenizer {
        /// The model's file.
        path: PathBuf,
        /// What is wrong.
        source: TokenizerError,
    },
    /// The tokenizer inside the file is of a kind that cannot be had exactly.
    #[error(
        "`{}` holds a tokenizer of kind `{kind}`, which is not read here: put the model's tokenizer.json beside it, or name it behind a `#`", path.display()
    )]
    TokenizerKind {
        /// The file.
        path: PathBuf,
        /// Its `tokenizer.ggml.model` and `tokenizer.ggml.pre`.
        kind: String,
    },
    /// candle cannot use the weights.
    #[error("`{}`: {reason}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// candle's word.
        reason: String,
    },
    /// The metadata describes a model that the learner cannot compute.
    #[error("`{}`: {source}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong, by the names of `config.json`.
        source: ConfigError,
    },
    /// The converted model cannot be written.
    #[error(transparent)]
    Write(#[from] CheckpointError),
}

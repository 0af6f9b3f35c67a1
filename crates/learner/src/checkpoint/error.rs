//! What can be wrong with a checkpoint.

use std::path::PathBuf;

use crate::config::ConfigError;
use crate::tokenizer::TokenizerError;

/// What is wrong with a checkpoint. Every message names the file, and the tensor or key where there is one.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// A file that cannot be read or written.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// The weights are pickled, not safetensors.
    #[error("`{}` holds pickled weights alone; hint: load and save it with transformers, which writes `model.safetensors`", path.display())]
    Pickled {
        /// The directory.
        path: PathBuf,
    },
    /// The config.
    #[error("`{place}`: {source}")]
    Config {
        /// The directory.
        place: String,
        /// What is wrong.
        source: ConfigError,
    },
    /// The tokenizer.
    #[error("`{place}`: {source}")]
    Tokenizer {
        /// The directory.
        place: String,
        /// What is wrong.
        source: TokenizerError,
    },
    /// A file that is not what its name says, or cut short.
    #[error("`{file}` cannot be read: {what}; hint: it may be cut short, fetch or save it again")]
    Format {
        /// The file.
        file: String,
        /// The parser's word.
        what: String,
    },
    /// A file that ends before its tensors do.
    #[error(
        "`{file}` is cut short: `{tensor}` ends at byte {ends_at}, and the file has {size}; hint: fetch or save it again"
    )]
    Truncated {
        /// The file.
        file: String,
        /// The first tensor that is not whole.
        tensor: String,
        /// Where it should end.
        ends_at: u64,
        /// Bytes of the file.
        size: u64,
    },
    /// A value that cannot be used.
    #[error("`{file}`: `{key}` is `{value}`: {want}")]
    Key {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// What it must be.
        want: String,
    },
    /// A file of another version of this program.
    #[error("`{file}` has schema_version `{found}`, and this program reads `{want}`")]
    Schema {
        /// The file.
        file: String,
        /// Its version.
        found: u32,
        /// Ours.
        want: u32,
    },
    /// Tensors that config.json asks for and the file lacks.
    #[error("`{file}` lacks {names:?}; hint: config.json may belong to another checkpoint")]
    Missing {
        /// The file.
        file: String,
        /// Their names.
        names: Vec<String>,
    },
    /// Tensors that config.json does not ask for.
    #[error(
        "`{file}` holds {names:?}, which config.json does not ask for; hint: check model_type, num_hidden_layers and tie_word_embeddings"
    )]
    Extra {
        /// The file.
        file: String,
        /// Their names.
        names: Vec<String>,
    },
    /// A tensor of another shape.
    #[error(
        "`{file}`: `{tensor}` has shape {found:?}, and config.json says {want:?}; hint: they may be of two checkpoints"
    )]
    Shape {
        /// The file.
        file: String,
        /// The tensor.
        tensor: String,
        /// Its shape.
        found: Vec<usize>,
        /// The shape of the config.
        want: Vec<usize>,
    },
    /// A tensor of another type.
    #[error("`{file}`: `{tensor}` has dtype {found}; want F32, BF16 or F16: convert or dequantise the checkpoint")]
    Dtype {
        /// The file.
        file: String,
        /// The tensor.
        tensor: String,
        /// Its type.
        found: String,
    },
    /// A weight that is not a number.
    #[error(
        "`{file}`: `{tensor}` holds `{value}`, which is not finite; hint: the run that made it diverged, take an earlier one"
    )]
    NotFinite {
        /// The file.
        file: String,
        /// The tensor.
        tensor: String,
        /// The first such value.
        value: f32,
    },
}

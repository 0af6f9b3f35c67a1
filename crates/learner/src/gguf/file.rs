//! A GGUF file: opened, and checked against its own metadata before a weight is read.
//!
//! Called by [`super::GgufPolicy::load`]. candle reads the container. Files that would be computed wrongly without an error are rejected here: those
//! with tensors that no plain model of the architecture has, with rotary scaling other than a tensor of factors, or with heads that are rotated in part.

use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use candle_core::Device;
use candle_core::quantized::QTensor;
use candle_core::quantized::gguf_file::{Content, Value};

use crate::checkpoint::CheckpointError;
use crate::config::{Architecture, MAX_CONTEXT};
use crate::tokenizer::TokenizerError;

/// The base of the rotary frequencies where a file has none, as in llama.cpp.
const ROPE_BASE: f64 = 10_000.0;

/// The tensor by whose numbers Llama 3.1 and later divide their rotary frequencies.
pub(super) const ROPE_FACTORS: &str = "rope_freqs.weight";

/// The widest head: bounds the rotary tables, as [`MAX_CONTEXT`] does. Models have 64 to 256.
const MAX_HEAD_DIM: usize = 1024;

/// The head's matrix, where it is not the embedding.
pub(super) const HEAD: &str = "output.weight";

/// An open file.
pub(super) struct GgufFile {
    pub(super) path: PathBuf,
    pub(super) content: Content,
    pub(super) reader: BufReader<File>,
    bytes: u64,
}

/// The shape of the model, from the metadata.
#[derive(Debug, Clone, Copy)]
pub(super) struct GgufShape {
    pub(super) architecture: Architecture,
    pub(super) vocabulary: usize,
    pub(super) context: usize,
    pub(super) hidden: usize,
    pub(super) inner: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
    pub(super) head_dim: usize,
    /// Added to the mean square in every RMSNorm.
    pub(super) eps: f64,
    pub(super) rope_base: f64,
}

impl GgufFile {
    pub(super) fn open(path: &Path) -> Result<Self, GgufError> {
        let io = |cause| GgufError::Io { path: path.to_owned(), cause };
        let file = File::open(path).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        let mut reader = BufReader::new(file);
        let header = |reason: String| GgufError::Header { path: path.to_owned(), reason };
        // candle divides by the file's alignment, whatever it is.
        let content = catch_unwind(AssertUnwindSafe(|| Content::read(&mut reader)))
            .map_err(|_| header("its header is invalid, such as by a `general.alignment` of 0".to_owned()))?
            .map_err(|e| header(e.to_string()))?;
        Ok(Self { path: path.to_owned(), content, reader, bytes })
    }

    /// The model's shape, if all of its tensors are there, whole, and shaped so.
    pub(super) fn shape(&self) -> Result<GgufShape, GgufError> {
        let shape = self.read_shape()?;
        let optional = shape.optional_tensors().into_iter().filter(|(name, _)| self.has_tensor(name));
        let known: Vec<_> = shape.tensors().into_iter().chain(optional).collect();
        for (name, want) in &known {
            self.check_tensor(name, want)?;
        }
        let is_known = |name: &&String| known.iter().any(|(known, _)| known == *name);
        match self.content.tensor_infos.keys().filter(|name| !is_known(name)).min() {
            Some(name) => Err(self.unexpected(name, shape.architecture)),
            None => Ok(shape),
        }
    }

    fn read_shape(&self) -> Result<GgufShape, GgufError> {
        let architecture = self.architecture()?;
        let key = |name: &str| format!("{}.{name}", architecture.name());
        let size = |name: &str| match self.number(&key(name))? {
            0 => Err(self.invalid_key(&key(name), "is `0`, want at least 1")),
            size => Ok(size),
        };
        let (hidden, heads) = (size("embedding_length")?, size("attention.head_count")?);
        let kv_heads = size("attention.head_count_kv")?;
        if !heads.is_multiple_of(kv_heads) {
            let why = format!("is `{kv_heads}`, which does not divide `{heads}`");
            return Err(self.invalid_key(&key("attention.head_count_kv"), &why));
        }
        self.check_scaling(architecture.name())?;
        let embedding = self.content.tensor_infos.get("token_embd.weight");
        let embedding = embedding.ok_or_else(|| self.missing("token_embd.weight"))?;
        let vocabulary = embedding.shape.dims().first().copied().unwrap_or(0);
        if vocabulary == 0 {
            return Err(self.invalid_tensor("token_embd.weight", &"has no row: a model has a token at least"));
        }
        // Their tensors are listed one by one.
        let (layers, tensors) = (size("block_count")?, self.content.tensor_infos.len());
        if layers > tensors {
            let why = format!("is `{layers}`, and the file has {tensors} tensors");
            return Err(self.invalid_key(&key("block_count"), &why));
        }
        let base = key("rope.freq_base");
        Ok(GgufShape {
            architecture,
            vocabulary,
            context: size("context_length")?.min(MAX_CONTEXT),
            hidden,
            inner: size("feed_forward_length")?,
            layers,
            heads,
            kv_heads,
            head_dim: self.head_dim(architecture.name(), hidden, heads)?,
            eps: self.positive(&key("attention.layer_norm_rms_epsilon"))?,
            rope_base: if self.has(&base) { self.positive(&base)? } else { ROPE_BASE },
        })
    }

    fn architecture(&self) -> Result<Architecture, GgufError> {
        let found = self.text("general.architecture")?;
        let of_name = Architecture::GGUF.into_iter().find(|architecture| architecture.name() == found);
        of_name.ok_or_else(|| {
            self.invalid(format!(
                "it holds a model of architecture `{found}`, want `qwen2`, `qwen3` or `llama`: a llama.cpp server can run it, see \
                 `openai:URL#MODEL`"
            ))
        })
    }

    /// The width of a head. As in llama.cpp, it is the share of the residual stream where the file does not say.
    fn head_dim(&self, prefix: &str, hidden: usize, heads: usize) -> Result<usize, GgufError> {
        let key = |name: &str| format!("{prefix}.{name}");
        let given = |key: &str| self.has(key).then(|| self.number(key)).transpose();
        let dim = match given(&key("attention.key_length"))? {
            Some(dim) => dim,
            None if hidden.is_multiple_of(heads) => hidden / heads,
            None => {
                let why = format!("is `{heads}`, which does not divide `{hidden}`");
                return Err(self.invalid_key(&key("attention.head_count"), &why));
            }
        };
        if dim == 0 || !dim.is_multiple_of(2) || dim > MAX_HEAD_DIM {
            return Err(self.invalid(format!(
                "its heads have `{dim}` numbers, want an even number up to {MAX_HEAD_DIM}: positions rotate pairs"
            )));
        }
        for key in ["attention.value_length", "rope.dimension_count"].map(key) {
            if let Some(found) = given(&key)?.filter(|&found| found != dim) {
                let why = format!(
                    "is `{found}`, want the width of a head, `{dim}`: serve the file with llama.cpp (`openai:URL#MODEL`)"
                );
                return Err(self.invalid_key(&key, &why));
            }
        }
        Ok(dim)
    }

    /// Rejects scaled positions. As in llama.cpp, a file that names no type scales linearly where it has a factor, under its present key or its
    /// older one; 0 and 1 are none.
    fn check_scaling(&self, prefix: &str) -> Result<(), GgufError> {
        let kind = format!("{prefix}.rope.scaling.type");
        match self.content.metadata.get(&kind) {
            Some(Value::String(none)) if none == "none" => return Ok(()),
            Some(found) => return Err(self.scaled(&kind, &format!("{found:?}"))),
            None => {}
        }
        let keys = [format!("{prefix}.rope.scaling.factor"), format!("{prefix}.rope.scale_linear")];
        let Some(key) = keys.iter().find(|key| self.has(key)) else { return Ok(()) };
        match self.float(key)? {
            0.0 | 1.0 => Ok(()),
            factor => Err(self.scaled(key, &factor.to_string())),
        }
    }

    fn scaled(&self, key: &str, found: &str) -> GgufError {
        let why = format!("is `{found}`, and positions are not scaled so here: load the safetensors checkpoint");
        self.invalid_key(key, &why)
    }

    fn check_tensor(&self, name: &str, want: &[usize]) -> Result<(), GgufError> {
        let info = self.content.tensor_infos.get(name).ok_or_else(|| self.missing(name))?;
        let found = info.shape.dims();
        if found != want {
            return Err(self.invalid(format!("tensor `{name}` has shape {found:?}, want {want:?}")));
        }
        // A product that overflows is larger than any file.
        let elements = want.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
        let blocks = elements.map(|elements| elements.div_ceil(info.ggml_dtype.block_size()));
        let bytes = blocks.and_then(|blocks| blocks.checked_mul(info.ggml_dtype.type_size()));
        let start = self.content.tensor_data_offset.saturating_add(info.offset);
        let end = bytes.map_or(u64::MAX, |bytes| start.saturating_add(bytes as u64));
        if end > self.bytes {
            let (path, tensor) = (self.path.clone(), name.to_owned());
            return Err(GgufError::Truncated { path, tensor, end, bytes: self.bytes });
        }
        Ok(())
    }

    fn unexpected(&self, tensor: &str, architecture: Architecture) -> GgufError {
        let architecture = architecture.name();
        self.invalid(format!(
            "it holds tensor `{tensor}`, which a plain `{architecture}` does not have: load the safetensors checkpoint, or serve the file \
             with llama.cpp (`openai:URL#MODEL`)"
        ))
    }

    fn missing(&self, tensor: &str) -> GgufError {
        self.invalid(format!("it has no tensor `{tensor}`"))
    }

    pub(super) fn invalid_key(&self, key: &str, problem: &str) -> GgufError {
        self.invalid(format!("metadata key `{key}` {problem}"))
    }

    pub(super) fn invalid_tensor(&self, name: &str, problem: &dyn fmt::Display) -> GgufError {
        self.invalid(format!("tensor `{name}`: {problem}"))
    }

    pub(super) fn invalid(&self, problem: String) -> GgufError {
        GgufError::Invalid { path: self.path.clone(), problem }
    }

    fn value(&self, key: &str) -> Result<&Value, GgufError> {
        self.content.metadata.get(key).ok_or_else(|| self.invalid_key(key, "is missing"))
    }

    pub(super) fn text(&self, key: &str) -> Result<&str, GgufError> {
        match self.value(key)? {
            Value::String(text) => Ok(text),
            other => Err(self.invalid_key(key, &format!("is `{other:?}`, want a string"))),
        }
    }

    /// A number in floating point.
    pub(super) fn float(&self, key: &str) -> Result<f64, GgufError> {
        match self.value(key)? {
            Value::F32(number) => Ok(f64::from(*number)),
            other => Err(self.invalid_key(key, &format!("is `{other:?}`, want a floating-point number of 32 bits"))),
        }
    }

    /// The same, where it can be a divisor or a base.
    fn positive(&self, key: &str) -> Result<f64, GgufError> {
        match self.float(key)? {
            number if number.is_finite() && number > 0.0 => Ok(number),
            number => Err(self.invalid_key(key, &format!("is `{number}`, want a positive number"))),
        }
    }

    /// Whether the metadata has a key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.content.metadata.contains_key(key)
    }

    /// Whether the file has a tensor.
    pub(super) fn has_tensor(&self, name: &str) -> bool {
        self.content.tensor_infos.contains_key(name)
    }

    /// One tensor as the file has it.
    pub(super) fn read_blocks(&mut self, name: &str) -> Result<QTensor, GgufError> {
        let tensor = self.content.tensor(&mut self.reader, name, &Device::Cpu);
        tensor.map_err(|e| self.invalid_tensor(name, &e))
    }

    /// One tensor as numbers, row by row, whatever its quantisation.
    pub(super) fn read_tensor(&mut self, name: &str) -> Result<Vec<f32>, GgufError> {
        let values =
            self.read_blocks(name)?.dequantize(&Device::Cpu).and_then(|tensor| tensor.flatten_all()?.to_vec1());
        values.map_err(|e| self.invalid_tensor(name, &e))
    }

    /// What each of the rotary frequencies is divided by, where the file says so.
    pub(super) fn read_rope_factors(&mut self) -> Result<Option<Vec<f32>>, GgufError> {
        if !self.has_tensor(ROPE_FACTORS) {
            return Ok(None);
        }
        let factors = self.read_tensor(ROPE_FACTORS)?;
        let is_positive = |factor: &f32| factor.is_finite() && *factor > 0.0;
        match factors.iter().find(|factor| !is_positive(factor)) {
            Some(factor) => Err(self.invalid_tensor(ROPE_FACTORS, &format!("holds `{factor}`, want positive numbers"))),
            None => Ok(Some(factors)),
        }
    }

    pub(super) fn number(&self, key: &str) -> Result<usize, GgufError> {
        match self.value(key)? {
            Value::U32(number) => Ok(*number as usize),
            other => Err(self.invalid_key(key, &format!("is `{other:?}`, want one number of 32 bits"))),
        }
    }
}

impl GgufShape {
    /// The angles a head's pairs turn by from one position to the next, without the factors that a file may have.
    pub(super) fn rope_frequencies(&self) -> Vec<f64> {
        let frequency = |pair: usize| self.rope_base.powf(-2.0 * pair as f64 / self.head_dim as f64);
        (0..self.head_dim / 2).map(frequency).collect()
    }

    /// Names and shapes of the tensors there may be.
    fn optional_tensors(&self) -> Vec<(String, Vec<usize>)> {
        let mut tensors = vec![(HEAD.to_owned(), vec![self.vocabulary, self.hidden])];
        if self.architecture == Architecture::Llama {
            tensors.push((ROPE_FACTORS.to_owned(), vec![self.head_dim / 2]));
        }
        tensors
    }

    /// Names and shapes of the tensors there must be.
    fn tensors(&self) -> Vec<(String, Vec<usize>)> {
        let Self { hidden, inner, head_dim, .. } = *self;
        let (queries, keys) = (self.heads * head_dim, self.kv_heads * head_dim);
        let mut layer: Vec<(&str, Vec<usize>)> = vec![
            ("attn_norm.weight", vec![hidden]),
            ("ffn_norm.weight", vec![hidden]),
            ("attn_q.weight", vec![queries, hidden]),
            ("attn_k.weight", vec![keys, hidden]),
            ("attn_v.weight", vec![keys, hidden]),
            ("attn_output.weight", vec![hidden, queries]),
            ("ffn_gate.weight", vec![inner, hidden]),
            ("ffn_up.weight", vec![inner, hidden]),
            ("ffn_down.weight", vec![hidden, inner]),
        ];
        match self.architecture {
            Architecture::Qwen2 => {
                layer.extend([("attn_q.bias", vec![queries]), ("attn_k.bias", vec![keys]), ("attn_v.bias", vec![keys])])
            }
            Architecture::Qwen3 => {
                layer.extend([("attn_q_norm.weight", vec![head_dim]), ("attn_k_norm.weight", vec![head_dim])]);
            }
            Architecture::Llama | Architecture::Mistral => {}
        }
        let ends = [("token_embd.weight", vec![self.vocabulary, hidden]), ("output_norm.weight", vec![hidden])];
        let named =
            |number: usize| layer.iter().map(move |(name, shape)| (format!("blk.{number}.{name}"), shape.clone()));
        let ends = ends.into_iter().map(|(name, shape)| (name.to_owned(), shape));
        ends.chain((0..self.layers).flat_map(named)).collect()
    }
}

/// An error of a GGUF file. Every message names the file, and the key or tensor where there is one. A cause that it shows is no
/// `source()`: reporters that print the chain would repeat it.
#[derive(Debug, thiserror::Error)]
pub enum GgufError {
    /// A file that cannot be read.
    #[error("`{}`: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's word.
        cause: std::io::Error,
    },
    /// The header cannot be read: not a GGUF file, or cut off in its header.
    #[error("`{}` cannot be read as GGUF: {reason}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// The reader's word.
        reason: String,
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
    /// The file holds something that cannot be computed.
    #[error("`{}`: {problem}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The key or the tensor, and the problem.
        problem: String,
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
    #[error("the tokenizer of `{}`: {cause}", path.display())]
    Tokenizer {
        /// The model's file.
        path: PathBuf,
        /// The error.
        cause: TokenizerError,
    },
    /// The converted model cannot be written.
    #[error(transparent)]
    Write(#[from] CheckpointError),
}

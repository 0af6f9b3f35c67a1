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
use crate::config::{Architecture, EMBEDDING, ModelConfig, tensor_specs};

/// The tensor by whose numbers Llama 3.1 and later divide their rotary frequencies.
pub(super) const ROPE_FACTORS: &str = "rope_freqs.weight";

/// The widest head: bounds the rotary tables, as the largest context does. Models have 64 to 256.
const MAX_HEAD_DIM: usize = 1024;

/// The head's matrix, where it is not the embedding.
pub(super) const HEAD: &str = "output.weight";

/// A part of a layer in Hugging Face's names and in GGUF's.
const LAYER_PARTS: [(&str, &str); 11] = [
    ("input_layernorm", "attn_norm"),
    ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"),
    ("self_attn.v_proj", "attn_v"),
    ("self_attn.q_norm", "attn_q_norm"),
    ("self_attn.k_norm", "attn_k_norm"),
    ("self_attn.o_proj", "attn_output"),
    ("post_attention_layernorm", "ffn_norm"),
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.up_proj", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
];

pub(super) struct GgufFile {
    pub(super) path: PathBuf,
    pub(super) content: Content,
    pub(super) reader: BufReader<File>,
    bytes: u64,
}

impl GgufFile {
    pub(super) fn open(path: &Path) -> Result<Self, GgufError> {
        let io = |cause: std::io::Error| GgufError(format!("`{}`: {cause}", path.display()));
        let file = File::open(path).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        let mut reader = BufReader::new(file);
        let header = |reason: String| GgufError(format!("`{}` cannot be read as GGUF: {reason}", path.display()));
        // candle divides by the file's alignment, whatever it is.
        let content = catch_unwind(AssertUnwindSafe(|| Content::read(&mut reader)))
            .map_err(|_| header("its header is invalid, such as by a `general.alignment` of 0".to_owned()))?
            .map_err(|e| header(e.to_string()))?;
        Ok(Self { path: path.to_owned(), content, reader, bytes })
    }

    /// The model's shape, without the scaling of its positions and its tokens, if all of its tensors are there, whole, and shaped so.
    pub(super) fn config(&self) -> Result<ModelConfig, GgufError> {
        let config = self.read_config()?;
        let mut known: Vec<(String, Vec<usize>)> =
            tensor_specs(&config).into_iter().map(|spec| (gguf_name(&spec.name), spec.shape)).collect();
        if config.model_type == Architecture::Llama && self.has_tensor(ROPE_FACTORS) {
            known.push((ROPE_FACTORS.to_owned(), vec![config.head_dim / 2]));
        }
        for (name, want) in &known {
            self.check_tensor(name, want)?;
        }
        let is_known = |name: &&String| known.iter().any(|(known, _)| known == *name);
        match self.content.tensor_infos.keys().filter(|name| !is_known(name)).min() {
            Some(name) => Err(self.unexpected(name, config.model_type)),
            None => Ok(config),
        }
    }

    fn read_config(&self) -> Result<ModelConfig, GgufError> {
        let model_type = self.architecture()?;
        let key = |name: &str| format!("{}.{name}", model_type.name());
        let size = |name: &str| match self.number(&key(name))? {
            0 => Err(self.invalid_key(&key(name), "is `0`, want at least 1")),
            size => Ok(size),
        };
        let (hidden_size, heads) = (size("embedding_length")?, size("attention.head_count")?);
        let kv_heads = size("attention.head_count_kv")?;
        if !heads.is_multiple_of(kv_heads) {
            let why = format!("is `{kv_heads}`, which does not divide `{heads}`");
            return Err(self.invalid_key(&key("attention.head_count_kv"), &why));
        }
        self.check_scaling(model_type.name())?;
        let embedding = self.content.tensor_infos.get("token_embd.weight");
        let embedding = embedding.ok_or_else(|| self.missing("token_embd.weight"))?;
        let vocab_size = embedding.shape.dims().first().copied().unwrap_or(0);
        if vocab_size == 0 {
            return Err(self.invalid_tensor("token_embd.weight", &"has no row: a model has a token at least"));
        }
        // Their tensors are listed one by one.
        let (layers, tensors) = (size("block_count")?, self.content.tensor_infos.len());
        if layers > tensors {
            let why = format!("is `{layers}`, and the file has {tensors} tensors");
            return Err(self.invalid_key(&key("block_count"), &why));
        }
        let base = key("rope.freq_base");
        Ok(ModelConfig {
            model_type,
            vocab_size,
            hidden_size,
            num_hidden_layers: layers,
            num_attention_heads: heads,
            num_key_value_heads: kv_heads,
            head_dim: self.head_dim(model_type.name(), hidden_size, heads)?,
            intermediate_size: size("feed_forward_length")?,
            rms_norm_eps: self.positive(&key("attention.layer_norm_rms_epsilon"))?,
            // As in llama.cpp where a file has none.
            rope_theta: if self.has(&base) { self.positive(&base)? } else { 10_000.0 },
            tie_word_embeddings: !self.has_tensor(HEAD),
            max_position_embeddings: size("context_length")?,
            eos_token_id: Vec::new(),
            ..ModelConfig::default()
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
        let dim = match self.number_if_there(&key("attention.key_length"))? {
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
            if let Some(found) = self.number_if_there(&key)?.filter(|&found| found != dim) {
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
            let (path, bytes) = (self.path.display(), self.bytes);
            let message = format!("`{path}` is cut off: tensor `{name}` ends at byte {end}, and the file has {bytes}");
            return Err(GgufError(message));
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
        GgufError(format!("`{}`: {problem}", self.path.display()))
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

    pub(super) fn has(&self, key: &str) -> bool {
        self.content.metadata.contains_key(key)
    }

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

    pub(super) fn number_if_there(&self, key: &str) -> Result<Option<usize>, GgufError> {
        self.has(key).then(|| self.number(key)).transpose()
    }
}

/// GGUF's name of a tensor that Hugging Face calls `name`.
pub(super) fn gguf_name(name: &str) -> String {
    let renamed = || {
        let (layer, rest) = name.strip_prefix("model.layers.")?.split_once('.')?;
        let (part, kind) = rest.rsplit_once('.')?;
        let (_, gguf) = LAYER_PARTS.iter().find(|(ours, _)| *ours == part)?;
        Some(format!("blk.{layer}.{gguf}.{kind}"))
    };
    match name {
        EMBEDDING => "token_embd.weight".to_owned(),
        "model.norm.weight" => "output_norm.weight".to_owned(),
        "lm_head.weight" => HEAD.to_owned(),
        _ => renamed().unwrap_or_else(|| name.to_owned()),
    }
}

/// An error of a GGUF file. Its message names the file, and the key or tensor where there is one. A cause that it shows is no `source()`:
/// reporters that print the chain would repeat it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct GgufError(pub(super) String);

impl From<CheckpointError> for GgufError {
    fn from(error: CheckpointError) -> Self {
        Self(error.to_string())
    }
}

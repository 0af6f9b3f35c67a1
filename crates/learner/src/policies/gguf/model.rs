//! candle-transformers' quantised models behind one face: one sequence at a time, with a cache of its own inside.

use candle_core::quantized::gguf_file::Value;
use candle_core::{Device, Result, Tensor};
use candle_transformers::models::{quantized_llama, quantized_qwen2, quantized_qwen3};

use super::file::Gguf;
use crate::config::Architecture;

/// Prompt tokens computed together: bounds the scores of attention, and the causal masks that candle keeps for ever.
const CHUNK: usize = 128;

/// The weights and the cache of the sequence in work.
pub(super) enum Model {
    Qwen2(quantized_qwen2::ModelWeights),
    Qwen3(quantized_qwen3::ModelWeights),
    Llama(quantized_llama::ModelWeights),
}

impl Model {
    pub(super) fn read(mut file: Gguf, architecture: Architecture) -> Result<Self> {
        // candle's Qwen3 makes its rotary tables in this type, and in 16 bits unless told: positions beyond 2,048 would coincide.
        file.content.metadata.insert("general.dtype".to_owned(), Value::U32(0));
        let Gguf { content, mut reader, .. } = file;
        let (reader, device) = (&mut reader, Device::Cpu);
        Ok(match architecture {
            Architecture::Qwen2 => Self::Qwen2(quantized_qwen2::ModelWeights::from_gguf(content, reader, &device)?),
            Architecture::Qwen3 => Self::Qwen3(quantized_qwen3::ModelWeights::from_gguf(content, reader, &device)?),
            Architecture::Llama => Self::Llama(quantized_llama::ModelWeights::from_gguf(content, reader, &device)?),
        })
    }

    /// Forgets the sequence in work, and computes a new one. Returns the logits behind its last token.
    pub(super) fn begin(&mut self, tokens: &[u32]) -> Result<Vec<f32>> {
        match self {
            Self::Qwen2(model) => model.clear_kv_cache(),
            Self::Qwen3(model) => model.clear_kv_cache(),
            Self::Llama(model) => model.clear_kv_cache(),
        }
        let mut logits = Vec::new();
        for (number, chunk) in tokens.chunks(CHUNK).enumerate() {
            logits = self.extend(chunk, number * CHUNK)?;
        }
        Ok(logits)
    }

    /// Puts tokens behind the `position` there are. Returns the logits behind the last.
    pub(super) fn extend(&mut self, tokens: &[u32], position: usize) -> Result<Vec<f32>> {
        let input = Tensor::new(tokens, &Device::Cpu)?.unsqueeze(0)?;
        let logits = match self {
            Self::Qwen2(model) => model.forward(&input, position),
            Self::Qwen3(model) => model.forward(&input, position),
            Self::Llama(model) => model.forward(&input, position),
        };
        logits?.squeeze(0)?.to_vec1()
    }

    /// A second sequence that begins as this one, on the same weights. candle's Qwen2 cannot be cloned, and its Qwen3 would copy a
    /// buffer of 4,096 positions for every layer, which is slower than computing a prompt again.
    pub(super) fn fork(&self) -> Option<Self> {
        match self {
            Self::Llama(model) => Some(Self::Llama(model.clone())),
            Self::Qwen2(_) | Self::Qwen3(_) => None,
        }
    }
}

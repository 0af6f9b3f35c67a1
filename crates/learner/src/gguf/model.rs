//! The forward pass of a quantised model, in f32 on the CPU: candle multiplies with the file's blocks, our kernels compute attention.
//!
//! Called by [`super::GgufPolicy`]. A prompt is computed once, in chunks; its samples share its keys and values, and each has a cache of its own
//! tokens behind them. Invariant: a sequence is computed by itself, because a row of a larger product may round otherwise; so its logits
//! depend on its tokens alone.

use candle_core::quantized::ggml_file::qtensor_from_ggml;
use candle_core::quantized::{QMatMul, QTensor};
use candle_core::{Device, Module, Result as CandleResult, Tensor};
use candle_nn::ops::rms_norm;
use veriplay_kernels::attention::{DecodeRow, DecodeScratch, DecodeStep, HeadSizes, KvCache, LayerAttention};
use veriplay_kernels::layers::RopeTable;
use veriplay_kernels::thread_pool::ThreadPool;

use super::file::{GgufError, GgufFile, HEAD};
use crate::config::{Architecture, ModelConfig};
use crate::decoding::{NewRows, attend_prompt};
use crate::network::{LayerBackend, run_layers};
use crate::ops::slices::TensorSlice;

/// Prompt tokens computed together: bounds the activations.
const CHUNK: usize = 128;

/// Tokens a fresh sequence has room for.
const FIRST_CAPACITY: usize = 32;

/// The weights of a file, and what is made of its metadata.
pub(super) struct QuantizedModel {
    sizes: HeadSizes,
    rope: RopeTable,
    /// [vocab, hidden].
    embedding: QMatMul,
    layers: Vec<QuantizedLayer>,
    norm: Tensor,
    /// [vocab, hidden]: the embedding itself when tied.
    head: QMatMul,
    /// Shares the attention of prompts; candle shares products by itself.
    pool: ThreadPool,
}

/// One layer, its matrices as the file has them: they may be quantised differently, so none are joined.
struct QuantizedLayer {
    input_norm: Tensor,
    /// Of queries, keys and values.
    qkv: [QMatMul; 3],
    /// Biases of the three, one behind the other, where the family has them.
    qkv_bias: Option<Tensor>,
    /// Gains of the queries and of the keys, where the family has them.
    qk_norms: Option<[Vec<f32>; 2]>,
    output: QMatMul,
    post_norm: Tensor,
    gate: QMatMul,
    up: QMatMul,
    down: QMatMul,
}

pub(super) struct CachedPrompt {
    tokens: usize,
    cache: KvCache,
    /// Behind its last token [vocab].
    pub(super) logits: Vec<f32>,
}

/// One sequence behind a prompt, which it shares with others.
pub(super) struct Sequence<'a> {
    model: &'a QuantizedModel,
    prompt: &'a CachedPrompt,
    /// Keys and values of its own tokens, and their number.
    own: KvCache,
    cached: usize,
    scratch: DecodeScratch,
}

impl QuantizedModel {
    /// Reads the weights of a file of this shape, which [`GgufFile::config`] has checked.
    pub(super) fn read(file: &mut GgufFile, config: &ModelConfig) -> Result<Self, GgufError> {
        let rope = RopeTable::new(config.max_position_embeddings, &frequencies(file, config)?, 1.0);
        let pool = ThreadPool::new(candle_core::utils::get_num_threads()).map_err(|e| file.invalid(e.to_string()))?;
        let mut reader = WeightReader { file, config };
        let embedding = reader.matrix("token_embd.weight")?;
        let head = if reader.file.has_tensor(HEAD) { reader.matrix(HEAD)? } else { embedding.clone() };
        let norm = reader.vector("output_norm.weight")?;
        let layers = (0..config.num_hidden_layers).map(|layer| reader.layer(layer)).collect::<Result<_, _>>()?;
        Ok(Self { sizes: config.head_sizes(), rope, embedding, layers, norm, head, pool })
    }

    /// Computes a prompt, which has a token at least.
    pub(super) fn compute(&self, tokens: &[u32]) -> CandleResult<CachedPrompt> {
        let mut cache = KvCache::new(self.cache_slots(), self.sizes.dim, tokens.len());
        let mut scratches: Vec<_> = (0..self.pool.threads()).map(|_| DecodeScratch::default()).collect();
        let mut logits = Vec::new();
        for (number, chunk) in tokens.chunks(CHUNK).enumerate() {
            let first = number * CHUNK;
            let stream = self.run(chunk, |layer, heads, qkv, out| {
                cache.fill(heads, layer, qkv, 0..chunk.len(), first);
                attend_prompt(&self.pool, &mut scratches, NewRows { out, qkv, first, cache: &cache }, (layer, heads));
            })?;
            if first + chunk.len() == tokens.len() {
                logits = self.logits(&stream)?;
            }
        }
        Ok(CachedPrompt { tokens: tokens.len(), cache, logits })
    }

    pub(super) fn begin<'a>(&'a self, prompt: &'a CachedPrompt) -> Sequence<'a> {
        let own = KvCache::new(self.cache_slots(), self.sizes.dim, FIRST_CAPACITY);
        Sequence { model: self, prompt, own, cached: 0, scratch: DecodeScratch::default() }
    }

    /// The stream behind the last layer [tokens, hidden]. `attend` gets a layer, its attention and raw projections, and writes the attention's
    /// output [tokens, heads·dim].
    fn run(
        &self,
        tokens: &[u32],
        attend: impl FnMut(usize, &LayerAttention<'_>, &[f32], &mut [f32]),
    ) -> CandleResult<Tensor> {
        let x = self.embedding.embedding(&Tensor::new(tokens, &Device::Cpu)?)?;
        run_layers(&mut QuantizedStep { model: self, attend }, 0..self.layers.len(), x)
    }

    /// Logits behind the last row of a stream.
    fn logits(&self, stream: &Tensor) -> CandleResult<Vec<f32>> {
        let last = stream.narrow(0, stream.dim(0)? - 1, 1)?;
        self.head.forward(&rms_norm(&last, &self.norm, self.sizes.eps)?)?.squeeze(0)?.to_vec1()
    }

    fn heads(&self, layer: usize) -> LayerAttention<'_> {
        let gains = self.layers[layer].qk_norms.as_ref();
        self.sizes.layer(gains.map(|gains| gains.each_ref().map(Vec::as_slice)), &self.rope)
    }

    /// Key-value heads of all layers.
    fn cache_slots(&self) -> usize {
        self.layers.len() * self.sizes.kv_heads
    }
}

impl Sequence<'_> {
    /// Appends a token. Returns the logits behind it.
    pub(super) fn extend(&mut self, token: u32) -> CandleResult<Vec<f32>> {
        let Self { model, prompt, own, cached, scratch } = self;
        if *cached == own.capacity() {
            own.grow(model.cache_slots(), *cached);
        }
        let stream = model.run(&[token], |layer, heads, qkv, out| {
            let row = DecodeRow { prompt: &prompt.cache, prompt_len: prompt.tokens, own: &mut *own, cached: *cached };
            DecodeStep { out, qkv, rows: &mut [row], layer, heads, scratch: &mut *scratch }.run();
        })?;
        *cached += 1;
        model.logits(&stream)
    }
}

/// The layers over some rows of one sequence; `attend` knows their cache.
struct QuantizedStep<'a, A> {
    model: &'a QuantizedModel,
    attend: A,
}

impl<A: FnMut(usize, &LayerAttention<'_>, &[f32], &mut [f32])> LayerBackend for QuantizedStep<'_, A> {
    type Stream = Tensor;
    type Projections = Tensor;
    type Mixed = Tensor;

    fn project(&mut self, layer: usize, x: &Tensor) -> CandleResult<Tensor> {
        let layer = &self.model.layers[layer];
        let normed = rms_norm(x, &layer.input_norm, self.model.sizes.eps)?;
        let [queries, keys, values] = &layer.qkv;
        let qkv = [queries.forward(&normed)?, keys.forward(&normed)?, values.forward(&normed)?];
        let qkv = Tensor::cat(&qkv, 1)?;
        match &layer.qkv_bias {
            Some(bias) => qkv.broadcast_add(bias),
            None => Ok(qkv),
        }
    }

    fn attend(&mut self, layer: usize, qkv: Tensor) -> CandleResult<Tensor> {
        let HeadSizes { heads, dim, .. } = self.model.sizes;
        let (rows, width) = (qkv.dim(0)?, heads * dim);
        let mut out = vec![0.0; rows * width];
        (self.attend)(layer, &self.model.heads(layer), &TensorSlice::new(&qkv)?, &mut out);
        Tensor::from_vec(out, (rows, width), &Device::Cpu)
    }

    fn add_attention(&mut self, layer: usize, x: Tensor, mixed: Tensor) -> CandleResult<Tensor> {
        x + self.model.layers[layer].output.forward(&mixed)?
    }

    fn add_mlp(&mut self, layer: usize, x: Tensor) -> CandleResult<Tensor> {
        let layer = &self.model.layers[layer];
        let normed = rms_norm(&x, &layer.post_norm, self.model.sizes.eps)?;
        let activated = (layer.gate.forward(&normed)?.silu()? * layer.up.forward(&normed)?)?;
        x + layer.down.forward(&activated)?
    }
}

/// Reads weights as the forward pass wants them.
struct WeightReader<'a> {
    file: &'a mut GgufFile,
    config: &'a ModelConfig,
}

impl WeightReader<'_> {
    fn layer(&mut self, number: usize) -> Result<QuantizedLayer, GgufError> {
        let ModelConfig { model_type, num_attention_heads, num_key_value_heads, .. } = *self.config;
        let name = |part: &str| format!("blk.{number}.{part}");
        Ok(QuantizedLayer {
            input_norm: self.vector(&name("attn_norm.weight"))?,
            qkv: [
                self.rotated_matrix(&name("attn_q.weight"), num_attention_heads)?,
                self.rotated_matrix(&name("attn_k.weight"), num_key_value_heads)?,
                self.matrix(&name("attn_v.weight"))?,
            ],
            qkv_bias: match model_type.qkv_bias() {
                true => Some(self.joined(&["attn_q.bias", "attn_k.bias", "attn_v.bias"].map(name))?),
                false => None,
            },
            qk_norms: match model_type.qk_norm() {
                true => Some([
                    self.file.read_tensor(&name("attn_q_norm.weight"))?,
                    self.file.read_tensor(&name("attn_k_norm.weight"))?,
                ]),
                false => None,
            },
            output: self.matrix(&name("attn_output.weight"))?,
            post_norm: self.vector(&name("ffn_norm.weight"))?,
            gate: self.matrix(&name("ffn_gate.weight"))?,
            up: self.matrix(&name("ffn_up.weight"))?,
            down: self.matrix(&name("ffn_down.weight"))?,
        })
    }

    fn vector(&mut self, name: &str) -> Result<Tensor, GgufError> {
        self.joined(&[name.to_owned()])
    }

    /// Vectors, one behind the other.
    fn joined(&mut self, names: &[String]) -> Result<Tensor, GgufError> {
        let parts = names.iter().map(|name| self.file.read_tensor(name)).collect::<Result<Vec<_>, _>>()?;
        Tensor::new(parts.concat(), &Device::Cpu).map_err(|e| self.file.invalid(e.to_string()))
    }

    fn matrix(&mut self, name: &str) -> Result<QMatMul, GgufError> {
        self.changed_matrix(name, Ok)
    }

    /// A matrix whose outputs are rotated: all files have the layout of our kernels then.
    fn rotated_matrix(&mut self, name: &str, heads: usize) -> Result<QMatMul, GgufError> {
        let ModelConfig { model_type, head_dim, .. } = *self.config;
        match model_type {
            Architecture::Llama | Architecture::Mistral => {
                self.changed_matrix(name, |matrix| split_matrix(&matrix, heads, head_dim))
            }
            Architecture::Qwen2 | Architecture::Qwen3 | Architecture::SmolLm3 | Architecture::Phi3 => self.matrix(name),
        }
    }

    fn changed_matrix(
        &mut self,
        name: &str,
        change: impl FnOnce(QTensor) -> CandleResult<QTensor>,
    ) -> Result<QMatMul, GgufError> {
        let matrix = change(self.file.read_blocks(name)?).and_then(QMatMul::from_qtensor);
        matrix.map_err(|e| self.file.invalid_tensor(name, &e))
    }
}

/// The rotary frequencies, divided by the file's factors where it has some.
fn frequencies(file: &mut GgufFile, config: &ModelConfig) -> Result<Vec<f64>, GgufError> {
    let plain = config.rope_frequencies();
    Ok(match file.read_rope_factors()? {
        Some(factors) => plain.iter().zip(factors).map(|(frequency, factor)| frequency / f64::from(factor)).collect(),
        None => plain,
    })
}

/// As [`split_rotary_pairs`], on rows of whole blocks.
fn split_matrix(matrix: &QTensor, heads: usize, head_dim: usize) -> CandleResult<QTensor> {
    let bytes = split_rotary_pairs(&matrix.data()?, heads, head_dim);
    qtensor_from_ggml(matrix.dtype(), &bytes, matrix.shape().dims().to_vec(), &Device::Cpu)
}

/// Reorders the rows of every head: llama.cpp's Llama keeps the two numbers that a position rotates together side by side, Hugging
/// Face's and our kernels keep all first ones before all second ones.
pub(super) fn split_rotary_pairs<T: Copy>(weights: &[T], heads: usize, head_dim: usize) -> Vec<T> {
    let width = weights.len() / (heads * head_dim);
    let row = |head: usize, within: usize| &weights[(head * head_dim + within) * width..][..width];
    let rows = (0..heads)
        .flat_map(|head| (0..2).flat_map(move |second| (0..head_dim / 2).map(move |pair| (head, 2 * pair + second))));
    rows.map(|(head, within)| row(head, within)).collect::<Vec<_>>().concat()
}

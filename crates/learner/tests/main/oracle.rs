//! The same model written with candle's stock differentiable operations in f64, one sample at a time, without packing, sharing
//! or fusing: what the kernels are held to.

use std::collections::BTreeMap;

use candle_core::{D, DType, Device, Result, Tensor, Var};
use veriplay_core::TrainBatch;
use veriplay_learner::{Learner, ModelConfig};

/// A model in f64.
pub(crate) struct Oracle {
    config: ModelConfig,
    vars: BTreeMap<String, Var>,
}

impl Oracle {
    pub(crate) fn of(learner: &Learner) -> Result<Self> {
        let vars = learner
            .named_weights()
            .into_iter()
            .map(|(spec, values)| {
                let values: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
                Ok((
                    spec.name.clone(),
                    Var::from_tensor(&Tensor::from_vec(values, spec.shape.as_slice(), &Device::Cpu)?)?,
                ))
            })
            .collect::<Result<_>>()?;
        Ok(Self { config: learner.config().clone(), vars })
    }

    fn loss(&self, batch: &TrainBatch) -> Result<Tensor> {
        let mut loss = Tensor::new(0.0_f64, &Device::Cpu)?;
        for sample in &batch.samples {
            let logprob = self
                .logprobs(&sample.prompt, &sample.response)?
                .narrow(0, sample.masked, sample.response.len() - sample.masked)?
                .sum_all()?;
            loss = (loss - (logprob * (f64::from(sample.weight) / batch.normalizer))?)?;
        }
        Ok(loss)
    }

    /// The model with one element of one tensor moved by `step`.
    pub(crate) fn moved(&self, name: &str, at: usize, step: f64) -> Self {
        let var = &self.vars[name];
        let mut values: Vec<f64> = var.flatten_all().and_then(|t| t.to_vec1()).expect("f64");
        values[at] += step;
        let mut vars = self.vars.clone();
        let moved = Tensor::from_vec(values, var.shape(), &Device::Cpu).and_then(|t| Var::from_tensor(&t));
        vars.insert(name.to_owned(), moved.expect("the same shape"));
        Self { config: self.config.clone(), vars }
    }

    /// Log-probability of every response token, and the entropy of the policy where it was drawn.
    pub(crate) fn outputs(&self, prompt: &[u32], response: &[u32]) -> (Vec<f64>, Vec<f64>) {
        let compute = || {
            let all = self.distributions(prompt, response)?;
            let entropy = (all.exp()? * &all)?.sum(D::Minus1)?.neg()?;
            Ok::<_, candle_core::Error>((selected(&all, response)?.to_vec1()?, entropy.to_vec1()?))
        };
        compute().expect("the oracle runs")
    }

    /// Gradients of the batch's loss by name, and the loss.
    pub(crate) fn gradients(&self, batch: &TrainBatch) -> Result<(f64, BTreeMap<String, Vec<f64>>)> {
        let loss = self.loss(batch)?;
        let store = loss.backward()?;
        let mut out = BTreeMap::new();
        for (name, var) in &self.vars {
            let gradient =
                store.get(var).ok_or_else(|| candle_core::Error::Msg(format!("the oracle is cut at {name}")))?;
            out.insert(name.clone(), gradient.flatten_all()?.to_vec1()?);
        }
        Ok((loss.to_scalar()?, out))
    }

    pub(crate) fn logprobs(&self, prompt: &[u32], response: &[u32]) -> Result<Tensor> {
        selected(&self.distributions(prompt, response)?, response)
    }

    /// Log-probabilities of the whole vocabulary at every response token.
    fn distributions(&self, prompt: &[u32], response: &[u32]) -> Result<Tensor> {
        let tokens: Vec<u32> = prompt.iter().chain(&response[..response.len() - 1]).copied().collect();
        let embedding = self.get("model.embed_tokens.weight");
        let mut x = embedding.index_select(&Tensor::new(tokens, &Device::Cpu)?, 0)?;
        for layer in 0..self.config.num_hidden_layers {
            x = self.layer(layer, &x)?;
        }
        let x = x.narrow(0, prompt.len() - 1, response.len())?;
        let head = if self.config.tie_word_embeddings { embedding } else { self.get("lm_head.weight") };
        let logits = self.norm(&x, "model.norm.weight")?.matmul(&head.t()?)?;
        let top = logits.max_keepdim(D::Minus1)?.detach();
        let shifted = logits.broadcast_sub(&top)?;
        shifted.broadcast_sub(&shifted.exp()?.sum_keepdim(D::Minus1)?.log()?)
    }

    fn get(&self, name: &str) -> &Tensor {
        self.vars[name].as_tensor()
    }

    fn norm(&self, x: &Tensor, name: &str) -> Result<Tensor> {
        let mean = x.sqr()?.mean_keepdim(D::Minus1)?;
        x.broadcast_div(&(mean + self.config.rms_norm_eps)?.sqrt()?)?.broadcast_mul(self.get(name))
    }

    fn layer(&self, layer: usize, x: &Tensor) -> Result<Tensor> {
        let name = |part: &str| format!("model.layers.{layer}.{part}.weight");
        let linear = |x: &Tensor, part: &str| x.matmul(&self.get(&name(part)).t()?);
        let normed = self.norm(x, &name("input_layernorm"))?;
        let (q, k, v) = (
            linear(&normed, "self_attn.q_proj")?,
            linear(&normed, "self_attn.k_proj")?,
            linear(&normed, "self_attn.v_proj")?,
        );
        let shared = self.config.num_attention_heads / self.config.num_key_value_heads;
        let heads = (0..self.config.num_attention_heads)
            .map(|h| {
                let q = self.rope(&self.norm(&self.head(&q, h)?, &name("self_attn.q_norm"))?)?;
                let k = self.rope(&self.norm(&self.head(&k, h / shared)?, &name("self_attn.k_norm"))?)?;
                self.attend(&q, &k, &self.head(&v, h / shared)?)
            })
            .collect::<Result<Vec<_>>>()?;
        let x = (x + linear(&Tensor::cat(&heads, 1)?, "self_attn.o_proj")?)?;
        let normed = self.norm(&x, &name("post_attention_layernorm"))?;
        let hidden = (linear(&normed, "mlp.gate_proj")?.silu()? * linear(&normed, "mlp.up_proj")?)?;
        x + linear(&hidden, "mlp.down_proj")?
    }

    fn head(&self, x: &Tensor, head: usize) -> Result<Tensor> {
        x.narrow(1, head * self.config.head_dim, self.config.head_dim)
    }

    fn rope(&self, x: &Tensor) -> Result<Tensor> {
        let (rows, half) = (x.dim(0)?, self.config.head_dim / 2);
        let angles: Vec<f64> = (0..rows)
            .flat_map(|t| (0..half).map(move |i| (t, i)))
            .map(|(t, i)| t as f64 / self.config.rope_theta.powf(2.0 * i as f64 / self.config.head_dim as f64))
            .collect();
        let angles = Tensor::from_vec(angles, (rows, half), &Device::Cpu)?;
        let (cos, sin) = (angles.cos()?, angles.sin()?);
        let (a, b) = (x.narrow(1, 0, half)?, x.narrow(1, half, half)?);
        Tensor::cat(&[((&a * &cos)? - (&b * &sin)?)?, ((&b * &cos)? + (&a * &sin)?)?], 1)
    }

    fn attend(&self, q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
        let rows = q.dim(0)?;
        let mask: Vec<f64> = (0..rows * rows).map(|i| if i % rows > i / rows { -1e9 } else { 0.0 }).collect();
        let mask = Tensor::from_vec(mask, (rows, rows), &Device::Cpu)?.to_dtype(DType::F64)?;
        let scores = ((q.matmul(&k.t()?)? / (self.config.head_dim as f64).sqrt())? + mask)?;
        let weights = scores.broadcast_sub(&scores.max_keepdim(D::Minus1)?.detach())?.exp()?;
        weights.broadcast_div(&weights.sum_keepdim(D::Minus1)?)?.matmul(v)
    }
}

fn selected(logprobs: &Tensor, response: &[u32]) -> Result<Tensor> {
    logprobs.gather(&Tensor::new(response, &Device::Cpu)?.unsqueeze(1)?, 1)?.squeeze(1)
}

//! The values of LoRA's adapters, and the sums that they add to weights.
//!
//! The sum W + α/r · B·A is formed once an update or a call of the policy, so training and sampling use the same matrices, and the
//! kernels know nothing of adapters. Gradients, moments and checkpoints of the trainer hold the adapters alone. A starts uniform and B at
//! zero (PEFT's defaults), so the policy starts as the base to the bit.

use std::collections::BTreeMap;

use candle_core::{Device, Result, Tensor, Var};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::config::TensorSpec;
use crate::lora::{Lora, adapter_names, is_a};

/// The adapters of a model.
#[derive(Debug)]
pub(crate) struct Adapters {
    scale: f64,
    /// By PEFT's names.
    vars: BTreeMap<String, Var>,
}

impl Adapters {
    /// From the values of every adapter, in the order of [`Lora::specs`].
    pub(crate) fn new(lora: &Lora, base: &[TensorSpec], values: Vec<Vec<f32>>, device: &Device) -> Result<Self> {
        let var = |(spec, values): (TensorSpec, Vec<f32>)| Ok((spec.name, Var::from_vec(values, spec.shape, device)?));
        let vars = lora.specs(base).into_iter().zip(values).map(var).collect::<Result<_>>()?;
        Ok(Self { scale: lora.alpha / lora.rank as f64, vars })
    }

    /// As they start: A uniform within 1/√in either way (Kaiming's with a = √5), B zero.
    pub(crate) fn start(lora: &Lora, base: &[TensorSpec], device: &Device) -> Result<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(lora.seed);
        let mut value = |spec: &TensorSpec| -> Vec<f32> {
            let bound = 1.0 / (spec.shape[1] as f32).sqrt();
            let count = spec.elements();
            if is_a(&spec.name) {
                (0..count).map(|_| rng.random_range(-bound..bound)).collect()
            } else {
                vec![0.0; count]
            }
        };
        let values = lora.specs(base).iter().map(&mut value).collect();
        Self::new(lora, base, values, device)
    }

    /// The adapters' variables by name.
    pub(crate) const fn vars(&self) -> &BTreeMap<String, Var> {
        &self.vars
    }

    /// What is added to a weight: α/r · B·A, tracked or not; `None` for a weight without an adapter.
    pub(crate) fn product(&self, weight: &str, tracked: bool) -> Option<Result<Tensor>> {
        let [a, b] = adapter_names(weight);
        let (a, b) = (self.vars.get(&a)?, self.vars.get(&b)?);
        let tensor = |var: &Var| if tracked { var.as_tensor().clone() } else { var.as_detached_tensor() };
        Some(tensor(b).matmul(&tensor(a)).and_then(|product| product * self.scale))
    }

    /// Whether every B is zero still.
    pub(crate) fn untouched(&self) -> Result<bool> {
        for (_, var) in self.vars.iter().filter(|(name, _)| !is_a(name)) {
            if var.abs()?.max_all()?.to_scalar::<f32>()? != 0.0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A copy with the same values.
    pub(crate) fn copied(&self, convert: impl Fn(&Var) -> Result<Var>) -> Result<Self> {
        let vars = self.vars.iter().map(|(name, var)| Ok((name.clone(), convert(var)?))).collect::<Result<_>>()?;
        Ok(Self { scale: self.scale, vars })
    }
}

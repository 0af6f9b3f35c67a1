//! The one set of weights: candle variables by their Hugging Face name.
//!
//! Training tracks them, rollouts read detached views of the same storage, the optimizer changes them in place; nothing is
//! copied between the two. Where the optimizer is on the host, each weight has a master there in f32, which it changes, and the variable is its
//! rounded copy. With adapters the base is never tracked; a weight that has one is the sum of the two, or stays beside it.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Error, Result, Tensor, Var};
use half::bf16;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::config::{ModelConfig, TensorSpec, tensor_specs};
use crate::linear::LowRank;
use crate::lora::{Adapters, copy_variables};

/// Whether operations on a weight are recorded for backward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GradientMode {
    /// They are: gradients reach the variable.
    Tracked,
    /// They are not: intermediate results are freed as soon as they are used.
    Detached,
}

#[derive(Debug, Default)]
pub(crate) struct Weights {
    vars: BTreeMap<String, Var>,
    adapters: Option<Adapters>,
    /// On the host, in f32, what the variables are rounded copies of; `None` where the optimizer is with the weights.
    masters: Option<BTreeMap<String, Var>>,
}

impl Weights {
    /// None yet. Where the optimizer is on the host, so are the masters of those that are added.
    pub(crate) fn empty(is_offloaded: bool) -> Self {
        Self { masters: is_offloaded.then(BTreeMap::new), ..Self::default() }
    }

    /// With the values of every tensor, in the order of [`tensor_specs`], kept as `dtype`.
    pub(crate) fn filled(
        mut self,
        config: &ModelConfig,
        values: Vec<Vec<f32>>,
        dtype: DType,
        device: &Device,
    ) -> Result<Self> {
        for (spec, values) in tensor_specs(config).iter().zip(values) {
            self.put(spec, values, dtype, device)?;
        }
        Ok(self)
    }

    /// Adds a tensor, kept as `dtype`: f32 where it trains without a master.
    pub(crate) fn put(&mut self, spec: &TensorSpec, values: Vec<f32>, dtype: DType, device: &Device) -> Result<()> {
        let shape = spec.shape.clone();
        if self.is_offloaded() {
            return self.put_master(spec.name.clone(), Var::from_vec(values, shape, &Device::Cpu)?, dtype, device);
        }
        let var = match dtype {
            DType::BF16 => Var::from_vec(values.into_iter().map(bf16::from_f32).collect::<Vec<_>>(), shape, device)?,
            _ => Var::from_vec(values, shape, device)?,
        };
        self.vars.insert(spec.name.clone(), var);
        Ok(())
    }

    /// Adds a weight that is on the host, and its copy as `dtype`.
    fn put_master(&mut self, name: String, master: Var, dtype: DType, device: &Device) -> Result<()> {
        let copy = Var::from_tensor(&master.as_detached_tensor().to_dtype(dtype)?.to_device(device)?)?;
        self.vars.insert(name.clone(), copy);
        self.masters.get_or_insert_default().insert(name, master);
        Ok(())
    }

    /// Whether the optimizer is on the host, and these are on a device.
    pub(crate) const fn is_offloaded(&self) -> bool {
        self.masters.is_some()
    }

    /// Replaces the weights by their sums with the adapters, in f32, one at a time. With `offloaded` the sums are masters, and their copies of that
    /// type.
    pub(crate) fn merge_adapters(&mut self, offloaded: Option<DType>) -> Result<()> {
        let names: Vec<String> = self.vars.keys().cloned().collect();
        for name in names {
            let merged = self.tensor(&name, GradientMode::Detached)?.to_dtype(DType::F32)?;
            // A copy: a reference may share the base.
            match offloaded {
                None => drop(self.vars.insert(name, Var::from_tensor(&merged)?)),
                Some(dtype) => {
                    let master = Var::from_tensor(&merged.to_device(&Device::Cpu)?)?;
                    self.put_master(name, master, dtype, merged.device())?;
                }
            }
        }
        self.adapters = None;
        Ok(())
    }

    /// With adapters, from now on, or without. A base under adapters is kept as `dtype`: nothing updates it.
    pub(crate) fn set_adapters(&mut self, adapters: Option<Adapters>, dtype: DType) -> Result<()> {
        if adapters.is_some() {
            let masters = self.masters.take().unwrap_or_default();
            for (name, var) in self.vars.iter_mut().filter(|(_, var)| var.dtype() != dtype) {
                // What is on a device is a rounded copy of its master.
                let exact = masters.get(name).unwrap_or(var).as_detached_tensor().to_dtype(dtype)?;
                *var = Var::from_tensor(&exact.to_device(var.device())?)?;
            }
        }
        self.adapters = adapters;
        Ok(())
    }

    /// The same tensors, without the adapters beside them.
    pub(crate) fn share_base(&self) -> Self {
        Self { vars: self.vars.clone(), ..Self::default() }
    }

    /// Whether there are adapters whose every B is still zero.
    pub(crate) fn has_fresh_adapters(&self) -> Result<bool> {
        self.adapters.as_ref().map_or(Ok(false), Adapters::are_fresh)
    }

    /// A copy that later updates do not reach. A base under adapters is shared: nothing updates it.
    pub(crate) fn snapshot(&self) -> Result<Self> {
        match &self.adapters {
            None => Ok(Self { vars: copy_variables(&self.vars)?, ..Self::default() }),
            Some(adapters) => Ok(Self { vars: self.vars.clone(), adapters: Some(adapters.copy()?), masters: None }),
        }
    }

    /// A copy of what the optimizer changes.
    pub(crate) fn snapshot_of_trained(&self) -> Result<Self> {
        match &self.masters {
            None => self.snapshot(),
            Some(masters) => Ok(Self { vars: copy_variables(masters)?, ..Self::default() }),
        }
    }

    /// Goes back to one of [`Weights::snapshot_of_trained`].
    pub(crate) fn restore(&self, name: &str, snapshot: &Self) -> Result<()> {
        self.trained(name)?.set(snapshot.var(name)?)?;
        self.update_copy(name)
    }

    fn master(&self, name: &str) -> Option<&Var> {
        self.masters.as_ref().and_then(|masters| masters.get(name))
    }

    /// What the optimizer changes of this name.
    pub(crate) fn trained(&self, name: &str) -> Result<&Var> {
        self.master(name).map_or_else(|| self.var(name), Ok)
    }

    /// Brings the copy of a weight that is on the host up to date.
    pub(crate) fn update_copy(&self, name: &str) -> Result<()> {
        let Some(master) = self.master(name) else { return Ok(()) };
        let copy = self.var(name)?;
        copy.set(&master.as_detached_tensor().to_dtype(copy.dtype())?.to_device(copy.device())?)
    }

    /// The variable of this name: a weight's, or an adapter's.
    pub(crate) fn var(&self, name: &str) -> Result<&Var> {
        let adapter = || self.adapters.as_ref().and_then(|adapters| adapters.vars().get(name));
        let missing = || Error::Msg(format!("the model has no weight `{name}`"));
        self.vars.get(name).or_else(adapter).ok_or_else(missing)
    }

    /// Every variable that trains, with its name: the adapters', or else the weights'.
    pub(crate) fn trainable(&self) -> impl Iterator<Item = (&String, &Var)> {
        self.adapters.as_ref().map_or(&self.vars, Adapters::vars).iter()
    }

    /// A weight as the model uses it, with its adapter where it has one, as `mode` says.
    pub(crate) fn tensor(&self, name: &str, mode: GradientMode) -> Result<Tensor> {
        let (var, tracked) = (self.var(name)?, mode == GradientMode::Tracked);
        let Some(adapters) = &self.adapters else {
            return Ok(if tracked { var.as_tensor().clone() } else { var.as_detached_tensor() });
        };
        let base = var.as_detached_tensor();
        adapters.product(name, tracked).map_or(Ok(base.clone()), |product| base.to_dtype(DType::F32)? + product?)
    }

    /// A weight without its adapter, and the adapter beside it.
    pub(crate) fn parts(&self, name: &str, mode: GradientMode) -> Result<(Tensor, Option<LowRank>)> {
        let tracked = mode == GradientMode::Tracked;
        let Some(adapters) = &self.adapters else { return Ok((self.tensor(name, mode)?, None)) };
        Ok((self.var(name)?.as_detached_tensor(), adapters.low_rank(name, tracked).transpose()?))
    }

    /// A weight with its adapter where it has one, detached, as it is saved: the model uses it so, or rounded.
    pub(crate) fn precise(&self, name: &str) -> Result<Tensor> {
        let used = || self.tensor(name, GradientMode::Detached);
        self.master(name).map_or_else(used, |master| Ok(master.as_detached_tensor()))
    }

    /// Every tensor as it is saved, in the order of `specs`.
    pub(crate) fn values(&self, specs: &[TensorSpec]) -> Result<Vec<Vec<f32>>> {
        specs.iter().map(|spec| values(&self.precise(&spec.name)?)).collect()
    }
}

/// A tensor's numbers, row by row, as f32.
pub(crate) fn values(tensor: &Tensor) -> Result<Vec<f32>> {
    tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1()
}

/// Initial weights in the order of [`tensor_specs`], a pure function of shape and seed. Gains are 1 as they are used, and biases 0. Matrices
/// are normal with the config's standard deviation; those that write to the residual stream are smaller by sqrt(2 · layers), as in GPT-2 (Radford
/// et al. 2019, §2.3), so that its variance does not grow with depth.
pub(crate) fn initial_values(config: &ModelConfig, seed: u64) -> Vec<Vec<f32>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    tensor_specs(config).iter().map(|spec| initial_tensor(config, spec, &mut rng)).collect()
}

fn initial_tensor(config: &ModelConfig, spec: &TensorSpec, rng: &mut ChaCha8Rng) -> Vec<f32> {
    if spec.shape.len() == 1 {
        let gain = 1.0 - config.model_type.gain_offset() as f32;
        return vec![if spec.name.ends_with("bias") { 0.0 } else { gain }; spec.elements()];
    }
    let writes = spec.name.ends_with("o_proj.weight") || spec.name.ends_with("down_proj.weight");
    let depth = if writes { (2.0 * config.num_hidden_layers as f64).sqrt() } else { 1.0 };
    (0..spec.elements()).map(|_| (normal(rng) * config.initializer_range / depth) as f32).collect()
}

/// A standard normal number (Box and Muller 1958).
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

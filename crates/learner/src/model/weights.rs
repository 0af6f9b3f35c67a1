//! The one set of weights: candle variables by their Hugging Face name.
//!
//! Training tracks them, rollouts read detached views of the same storage, the optimizer changes them in place; nothing is
//! copied between the two. With adapters the base is never tracked, and a weight that has one is the sum of the two.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Error, Result, Tensor, Var};

use super::names::{TensorSpec, tensor_specs};
use crate::config::ModelConfig;
use crate::lora::Adapters;

/// Whether operations on a weight are recorded for backward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// They are: gradients reach the variable.
    Tracked,
    /// They are not: intermediate results are freed as soon as they are used.
    Detached,
}

/// A model's weights.
#[derive(Debug)]
pub(crate) struct Weights {
    vars: BTreeMap<String, Var>,
    adapters: Option<Adapters>,
}

impl Weights {
    /// From the values of every tensor, in the order of [`tensor_specs`].
    pub(crate) fn new(config: &ModelConfig, values: Vec<Vec<f32>>, device: &Device) -> Result<Self> {
        let var = |(spec, values): (TensorSpec, Vec<f32>)| Ok((spec.name, Var::from_vec(values, spec.shape, device)?));
        Ok(Self { vars: tensor_specs(config).into_iter().zip(values).map(var).collect::<Result<_>>()?, adapters: None })
    }

    /// With adapters, from now on, or without.
    pub(crate) fn set_adapters(&mut self, adapters: Option<Adapters>) {
        self.adapters = adapters;
    }

    /// Whether there are adapters whose every B is zero.
    pub(crate) fn asleep(&self) -> Result<bool> {
        self.adapters.as_ref().map_or(Ok(false), Adapters::untouched)
    }

    /// A copy in another type.
    pub(crate) fn converted(&self, dtype: DType) -> Result<Self> {
        let convert = |var: &Var| Var::from_tensor(&var.as_detached_tensor().to_dtype(dtype)?);
        let vars = self.vars.iter().map(|(name, var)| Ok((name.clone(), convert(var)?))).collect::<Result<_>>()?;
        Ok(Self { vars, adapters: self.adapters.as_ref().map(|adapters| adapters.copied(convert)).transpose()? })
    }

    /// A copy that later updates do not reach. A base under adapters is shared: nothing updates it.
    pub(crate) fn snapshot(&self) -> Result<Self> {
        let Some(adapters) = &self.adapters else { return self.converted(DType::F32) };
        let copy = |var: &Var| Var::from_tensor(&var.as_detached_tensor());
        Ok(Self { vars: self.vars.clone(), adapters: Some(adapters.copied(copy)?) })
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
    pub(crate) fn tensor(&self, name: &str, mode: Mode) -> Result<Tensor> {
        let (var, tracked) = (self.var(name)?, mode == Mode::Tracked);
        let Some(adapters) = &self.adapters else {
            return Ok(if tracked { var.as_tensor().clone() } else { var.as_detached_tensor() });
        };
        let base = var.as_detached_tensor();
        adapters.product(name, tracked).map_or(Ok(base.clone()), |product| base + product?)
    }

    /// Every tensor as the model uses it, in the order of `specs`.
    pub(crate) fn values(&self, specs: &[TensorSpec]) -> Result<Vec<Vec<f32>>> {
        specs.iter().map(|spec| values(&self.tensor(&spec.name, Mode::Detached)?)).collect()
    }
}

/// A tensor's numbers, row by row, as f32.
pub(crate) fn values(tensor: &Tensor) -> Result<Vec<f32>> {
    tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1()
}

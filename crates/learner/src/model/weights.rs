//! The one set of weights: candle variables by their Hugging Face name.
//!
//! Training tracks them, rollouts read detached views of the same storage, the optimizer changes them in place; nothing is
//! copied between the two.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Error, Result, Tensor, Var};

use super::names::{TensorSpec, tensor_specs};
use crate::config::ModelConfig;

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
}

impl Weights {
    /// From the values of every tensor, in the order of [`tensor_specs`].
    pub(crate) fn new(config: &ModelConfig, values: Vec<Vec<f32>>, device: &Device) -> Result<Self> {
        let var = |(spec, values): (TensorSpec, Vec<f32>)| Ok((spec.name, Var::from_vec(values, spec.shape, device)?));
        Ok(Self { vars: tensor_specs(config).into_iter().zip(values).map(var).collect::<Result<_>>()? })
    }

    /// A copy in another type.
    pub(crate) fn converted(&self, dtype: DType) -> Result<Self> {
        let convert = |(name, var): (&String, &Var)| {
            Ok((name.clone(), Var::from_tensor(&var.as_detached_tensor().to_dtype(dtype)?)?))
        };
        Ok(Self { vars: self.vars.iter().map(convert).collect::<Result<_>>()? })
    }

    /// The variable of this name.
    pub(crate) fn var(&self, name: &str) -> Result<&Var> {
        self.vars.get(name).ok_or_else(|| Error::Msg(format!("the model has no weight `{name}`")))
    }

    /// Every variable with its name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Var)> {
        self.vars.iter()
    }

    /// A weight, as `mode` says.
    pub(crate) fn tensor(&self, name: &str, mode: Mode) -> Result<Tensor> {
        let var = self.var(name)?;
        Ok(match mode {
            Mode::Tracked => var.as_tensor().clone(),
            Mode::Detached => var.as_detached_tensor(),
        })
    }

    /// Every tensor's values, in the order of `specs`.
    pub(crate) fn values(&self, specs: &[TensorSpec]) -> Result<Vec<Vec<f32>>> {
        specs.iter().map(|spec| values(self.var(&spec.name)?)).collect()
    }
}

/// A tensor's numbers, row by row, as f32.
pub(crate) fn values(tensor: &Tensor) -> Result<Vec<f32>> {
    tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1()
}

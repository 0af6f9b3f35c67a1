//! Gradients by the name of their weight, summed in a fixed order, and the detector of silent cuts.

use std::collections::BTreeMap;

use candle_core::backprop::GradStore;
use candle_core::{CpuStorage, D, DType, InplaceOp2, Layout, Tensor, Var};
use veriplay_core::LearnError;
use veriplay_kernels::math::accumulate as add_slices;

use crate::Result;
use crate::config::TensorSpec;
use crate::network::{Weights, values};
use crate::ops::slices::{floats, floats_mut};

/// A sum of gradients. A weight that no backward pass reached has no entry.
#[derive(Debug, Default)]
pub(crate) struct Gradients(BTreeMap<String, Tensor>);

impl Gradients {
    /// Adds the weights' gradients of one backward pass. Those that candle's operations computed are detached: each would keep the whole
    /// graph of the pass, whose activations it is a product of.
    pub(crate) fn add(&mut self, weights: &Weights, mut store: GradStore) -> Result<()> {
        weights.trainable().try_for_each(|(name, var)| match store.remove(var) {
            Some(gradient) => self.accumulate(name, gradient.detach()),
            None => Ok(()),
        })
    }

    pub(crate) fn merge(&mut self, other: Self) -> Result<()> {
        other.0.into_iter().try_for_each(|(name, gradient)| self.accumulate(&name, gradient))
    }

    fn accumulate(&mut self, name: &str, gradient: Tensor) -> Result<()> {
        let Some(sum) = self.0.get_mut(name) else {
            self.0.insert(name.to_owned(), gradient);
            return Ok(());
        };
        if sum.device().is_cpu() && sum.dtype() == DType::F32 {
            return sum.inplace_op2(&gradient, &Accumulate);
        }
        *sum = (&*sum + gradient)?;
        Ok(())
    }

    /// Adds the gradients of looked-up rows of a weight, row by row to the present sum, as candle does.
    pub(crate) fn add_rows(&mut self, name: &str, weight: &Var, rows: &Tensor, gradients: &Tensor) -> Result<()> {
        let sum = self.0.remove(name).map_or_else(|| weight.zeros_like(), Ok)?;
        self.0.insert(name.to_owned(), sum.index_add(rows, &gradients.to_dtype(sum.dtype())?, 0)?);
        Ok(())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Tensor> {
        self.0.get(name)
    }

    /// Every gradient's values in the order of `specs`; zeros where there is no entry.
    pub(crate) fn values(&self, specs: &[TensorSpec]) -> Result<Vec<Vec<f32>>> {
        specs.iter().map(|spec| self.get(&spec.name).map_or_else(|| Ok(vec![0.0; spec.elements()]), values)).collect()
    }

    /// The global norm. A weight without an entry is a cut in the graph and always an error; so is an
    /// all-zero gradient of a weight that `must_be_nonzero` names.
    pub(crate) fn checked_norm(
        &self,
        specs: &[TensorSpec],
        must_be_nonzero: impl Fn(&str) -> bool,
    ) -> Result<f64, LearnError> {
        let backend = |e: candle_core::Error| LearnError::Backend(e.to_string());
        let (mut total, mut cut) = (0.0, Vec::new());
        for (spec, square) in specs.iter().zip(self.squares(specs).map_err(backend)?) {
            match square {
                Some(square) if !square.is_finite() => return Err(LearnError::NotFinite { name: spec.name.clone() }),
                None => cut.push(spec.name.clone()),
                Some(0.0) if must_be_nonzero(&spec.name) => cut.push(spec.name.clone()),
                Some(square) => total += square,
            }
        }
        if cut.is_empty() { Ok(total.sqrt()) } else { Err(LearnError::NoGradient { names: cut }) }
    }

    /// Σ g² of every tensor that has a gradient. On a device each is summed there, and all are fetched together.
    fn squares(&self, specs: &[TensorSpec]) -> Result<Vec<Option<f64>>> {
        let found: Vec<Option<&Tensor>> = specs.iter().map(|spec| self.get(&spec.name)).collect();
        if found.iter().flatten().all(|gradient| gradient.device().is_cpu()) {
            return found.into_iter().map(|gradient| gradient.map(square).transpose()).collect();
        }
        let sum = |gradient: &&Tensor| sum_of_squares(&gradient.to_dtype(DType::F32)?);
        let sums = found.iter().flatten().map(sum).collect::<Result<Vec<_>>>()?;
        let mut sums = Tensor::stack(&sums, 0)?.to_vec1::<f32>()?.into_iter();
        Ok(found.iter().map(|gradient| gradient.and_then(|_| sums.next()).map(f64::from)).collect())
    }
}

/// Σ x² as a scalar, in tensor operations. Row by row first: a sum of everything is one block of a card's threads.
pub(crate) fn sum_of_squares(x: &Tensor) -> Result<Tensor> {
    x.sqr()?.sum(D::Minus1)?.sum_all()
}

/// Σ g², in f64.
fn square(gradient: &Tensor) -> Result<f64> {
    Ok(values(gradient)?.iter().map(|&g| f64::from(g) * f64::from(g)).sum())
}

/// `sum += gradient`, on the calling thread.
struct Accumulate;

impl InplaceOp2 for Accumulate {
    fn name(&self) -> &'static str {
        "accumulate"
    }

    fn cpu_fwd(&self, sum: &mut CpuStorage, sum_l: &Layout, gradient: &CpuStorage, gradient_l: &Layout) -> Result<()> {
        add_slices(floats_mut(sum, sum_l)?, floats(gradient, gradient_l)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;
    use crate::config::{ModelConfig, tensor_specs};
    use crate::network::initial_values;

    /// Gradients of a sum over the squares of every weight; `cut` is detached first.
    fn squares(cut: Option<&str>) -> (Vec<TensorSpec>, Gradients) {
        let config = ModelConfig { num_hidden_layers: 1, vocab_size: 5, hidden_size: 4, ..ModelConfig::default() };
        let weights =
            Weights::new(&config, initial_values(&config, 1), candle_core::DType::F32, &Device::Cpu).expect("weights");
        let mut loss = Tensor::new(0.0_f32, &Device::Cpu).expect("zero");
        for (name, var) in weights.trainable() {
            let weight = if Some(name.as_str()) == cut { var.as_detached_tensor() } else { var.as_tensor().clone() };
            loss = weight.sqr().and_then(|s| s.sum_all()).and_then(|s| loss + s).expect("a sum");
        }
        let mut gradients = Gradients::default();
        gradients.add(&weights, loss.backward().expect("backward")).expect("adds");
        (tensor_specs(&config), gradients)
    }

    #[test]
    fn a_weight_that_the_graph_does_not_reach_is_named_even_when_zeros_are_let_pass() {
        let (specs, whole) = squares(None);
        assert!(whole.checked_norm(&specs, |_| true).expect("whole") > 0.0);
        const NAME: &str = "model.layers.0.mlp.up_proj.weight";
        let (specs, cut) = squares(Some(NAME));
        for detect in [false, true] {
            match cut.checked_norm(&specs, |_| detect) {
                Err(LearnError::NoGradient { names }) => assert_eq!(names, [NAME]),
                other => panic!("{other:?}"),
            }
        }
    }
}

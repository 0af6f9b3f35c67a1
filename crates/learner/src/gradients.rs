//! Gradients by the name of their weight, summed in f32 in a fixed order, and the detector of silent cuts.
//!
//! Where the optimizer is on the host, so are the sums: each gradient is copied there as it comes, and the device has those of one segment.

use std::collections::BTreeMap;

use candle_core::backprop::GradStore;
use candle_core::{CpuStorage, D, DType, Device, InplaceOp2, Layout, Tensor, Var};
use half::bf16;
use veriplay_core::LearnError;
use veriplay_kernels::math::accumulate as add_slices;
use veriplay_kernels::thread_pool::{ThreadPool, run_on_threads};

use crate::Result;
use crate::config::TensorSpec;
use crate::network::{Weights, values};
use crate::ops::slices::{TensorSlice, floats, floats_mut, narrow_floats};

/// A sum of gradients. A weight that no backward pass reached has no entry.
#[derive(Debug, Default)]
pub(crate) struct Gradients {
    sums: BTreeMap<String, Tensor>,
    /// Threads that sum on the host; `None` where sums stay on the device of their gradients.
    host_threads: Option<usize>,
}

impl Gradients {
    /// Of nothing yet, on the host.
    pub(crate) fn on_host(threads: usize) -> Self {
        Self { host_threads: Some(threads), ..Self::default() }
    }

    /// Adds the weights' gradients of one backward pass. Those that candle's operations computed are detached: each would keep the whole
    /// graph of the pass, whose activations it is a product of.
    pub(crate) fn add(&mut self, weights: &Weights, mut store: GradStore) -> Result<()> {
        weights.trainable().try_for_each(|(name, var)| match store.remove(var) {
            Some(gradient) => self.accumulate(name, gradient.detach()),
            None => Ok(()),
        })
    }

    pub(crate) fn merge(&mut self, other: Self) -> Result<()> {
        other.sums.into_iter().try_for_each(|(name, gradient)| self.accumulate(&name, gradient))
    }

    fn accumulate(&mut self, name: &str, gradient: Tensor) -> Result<()> {
        let gradient = if self.host_threads.is_some() { gradient.to_device(&Device::Cpu)? } else { gradient };
        let Some(sum) = self.sums.get_mut(name) else {
            // A weight that is kept in bf16 has gradients in bf16.
            self.sums.insert(name.to_owned(), gradient.to_dtype(DType::F32)?);
            return Ok(());
        };
        if let Some(threads) = self.host_threads {
            return sum.inplace_op2(&gradient, &AccumulateOnThreads(threads));
        }
        let gradient = gradient.to_dtype(DType::F32)?;
        if sum.device().is_cpu() {
            return sum.inplace_op2(&gradient, &Accumulate);
        }
        *sum = (&*sum + gradient)?;
        Ok(())
    }

    /// Adds the gradients of looked-up rows of a weight, row by row to the present sum, as candle does.
    pub(crate) fn add_rows(&mut self, name: &str, weight: &Var, rows: &Tensor, gradients: &Tensor) -> Result<()> {
        let zeros = || Tensor::zeros(weight.shape(), DType::F32, weight.device());
        let sum = self.sums.remove(name).map_or_else(zeros, Ok)?;
        self.sums.insert(name.to_owned(), sum.index_add(rows, &gradients.to_dtype(sum.dtype())?, 0)?);
        Ok(())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Tensor> {
        self.sums.get(name)
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
            let pool = self.host_threads.map_or_else(|| Ok(ThreadPool::single()), ThreadPool::new);
            let pool = pool.map_err(candle_core::Error::wrap)?;
            return pool.map(&found, |gradient| gradient.map(square).transpose()).into_iter().collect();
        }
        let sum = |gradient: &&Tensor| sum_of_squares(gradient);
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
    let gradient = gradient.contiguous()?;
    Ok(TensorSlice::new(&gradient)?.iter().map(|&g| f64::from(g) * f64::from(g)).sum())
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

/// The same on several threads, for large weights: each has at least as many numbers as are worth waking it for. The second may be in bf16.
struct AccumulateOnThreads(usize);

const LEAST_SHARE: usize = 1 << 20;

impl InplaceOp2 for AccumulateOnThreads {
    fn name(&self) -> &'static str {
        "accumulate-on-threads"
    }

    fn cpu_fwd(&self, sum: &mut CpuStorage, sum_l: &Layout, gradient: &CpuStorage, gradient_l: &Layout) -> Result<()> {
        let sum = floats_mut(sum, sum_l)?;
        let share = sum.len().div_ceil(self.0).max(LEAST_SHARE);
        let sums = sum.chunks_mut(share);
        if let CpuStorage::BF16(_) = gradient {
            let gradients = narrow_floats(gradient, gradient_l)?.chunks(share);
            run_on_threads(sums.zip(gradients), |(sum, gradient)| add_narrow(sum, gradient));
        } else {
            let gradients = floats(gradient, gradient_l)?.chunks(share);
            run_on_threads(sums.zip(gradients), |(sum, gradient)| add_slices(sum, gradient));
        }
        Ok(())
    }
}

fn add_narrow(sum: &mut [f32], gradient: &[bf16]) {
    sum.iter_mut().zip(gradient).for_each(|(sum, gradient)| *sum += gradient.to_f32());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ModelConfig, tensor_specs};
    use crate::network::initial_values;

    /// Gradients of a sum over the squares of every weight; `cut` is detached first.
    fn squares(cut: Option<&str>) -> (Vec<TensorSpec>, Gradients) {
        let config = ModelConfig { num_hidden_layers: 1, vocab_size: 5, hidden_size: 4, ..ModelConfig::default() };
        let values = initial_values(&config, 1);
        let weights = Weights::default().filled(&config, values, DType::F32, &Device::Cpu).expect("weights");
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

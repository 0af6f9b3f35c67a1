//! Optimizers: AdamW, and Muon for hidden matrices. State is f32, kept by tensor name, saved and restored to the bit.

mod adamw;
mod muon;

use serde::{Deserialize, Serialize};

use crate::config::ModelConfig;
use crate::model::Parameters;
use crate::model::parameters::{TensorSpec, tensor_specs};

/// Constants of AdamW (Loshchilov and Hutter 2019). Weight decay is decoupled and acts on matrices alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdamW {
    /// Decay of the mean.
    pub beta1: f64,
    /// Decay of the mean square.
    pub beta2: f64,
    /// Added to the root of the mean square.
    pub eps: f64,
    /// Share of a matrix taken off at each step, times the learning rate.
    pub weight_decay: f64,
}

impl Default for AdamW {
    /// What the quickstart uses.
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.98, eps: 1e-8, weight_decay: 0.0 }
    }
}

/// How weights follow gradients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Optimizer {
    /// AdamW for everything.
    AdamW(AdamW),
    /// Muon (Jordan et al. 2024) for hidden matrices, AdamW for embedding, head and gains.
    Muon {
        /// For what Muon is not for.
        adamw: AdamW,
        /// Muon's learning rate as a multiple of the one given to `update`.
        ratio: f64,
        /// Decay of Muon's momentum.
        momentum: f64,
    },
}

impl Default for Optimizer {
    fn default() -> Self {
        Self::AdamW(AdamW::default())
    }
}

impl Optimizer {
    /// Muon with the constants of its authors and a learning rate `ratio` times AdamW's.
    #[must_use]
    pub const fn muon(adamw: AdamW, ratio: f64) -> Self {
        Self::Muon { adamw, ratio, momentum: 0.95 }
    }

    const fn adamw(&self) -> &AdamW {
        match self {
            Self::AdamW(adamw) | Self::Muon { adamw, .. } => adamw,
        }
    }
}

/// What an optimizer remembers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OptimizerState {
    /// Steps made.
    pub(crate) step: u64,
    /// First moments; for Muon's matrices its momentum.
    pub(crate) first: Parameters,
    /// Second moments; zero for Muon's matrices.
    pub(crate) second: Parameters,
}

impl OptimizerState {
    pub(crate) fn new(config: &ModelConfig) -> Self {
        Self { step: 0, first: Parameters::zeros(config), second: Parameters::zeros(config) }
    }

    /// One step: `weights` follow `gradients`, which are multiplied by `scale` first. Uses up to `threads` threads; the result
    /// does not depend on how many.
    pub(crate) fn step(
        &mut self,
        optimizer: &Optimizer,
        config: &ModelConfig,
        weights: &mut Parameters,
        gradients: &Parameters,
        rate: Rate,
    ) {
        self.step += 1;
        let specs = tensor_specs(config);
        let tensors = weights.tensors_mut(config).into_iter().zip(gradients.tensors(config));
        let moments = self.first.tensors_mut(config).into_iter().zip(self.second.tensors_mut(config));
        let mut work: Vec<Tensor<'_>> = specs
            .iter()
            .zip(tensors)
            .zip(moments)
            .map(|((spec, (weight, gradient)), (first, second))| Tensor { spec, weight, gradient, first, second })
            .collect();
        // The largest first, then each to the next free thread: order does not matter to the result.
        work.sort_by_key(|t| t.weight.len());
        let step = self.step;
        let queue = std::sync::Mutex::new(work);
        std::thread::scope(|scope| {
            for _ in 1..rate.threads {
                scope.spawn(|| drain(&queue, optimizer, step, rate));
            }
            drain(&queue, optimizer, step, rate);
        });
    }
}

/// How far and how one step goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    /// The learning rate.
    pub(crate) learning_rate: f64,
    /// Factor of every gradient: what clipping leaves.
    pub(crate) scale: f32,
    /// Threads to use.
    pub(crate) threads: usize,
}

/// One tensor with all that belongs to it.
struct Tensor<'a> {
    spec: &'a TensorSpec,
    weight: &'a mut [f32],
    gradient: &'a [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
}

fn drain(queue: &std::sync::Mutex<Vec<Tensor<'_>>>, optimizer: &Optimizer, step: u64, rate: Rate) {
    let mut space = muon::Space::default();
    loop {
        let next = queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop();
        let Some(tensor) = next else { return };
        let decay =
            if tensor.spec.shape.len() == 2 { rate.learning_rate * optimizer.adamw().weight_decay } else { 0.0 };
        match *optimizer {
            Optimizer::Muon { ratio, momentum, .. } if tensor.spec.is_hidden_matrix() => {
                let constants = muon::Constants {
                    rate: rate.learning_rate * ratio,
                    momentum,
                    decay: decay * ratio,
                    scale: rate.scale,
                };
                let shape = (tensor.spec.shape[0], tensor.spec.shape[1]);
                muon::step(tensor.weight, tensor.gradient, tensor.first, shape, &constants, &mut space);
            }
            _ => adamw::step(
                tensor.weight,
                tensor.gradient,
                tensor.first,
                tensor.second,
                &adamw::Constants::new(optimizer.adamw(), step, rate, decay),
            ),
        }
    }
}

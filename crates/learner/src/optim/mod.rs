//! Optimizers: AdamW, and Muon for hidden matrices. State is f32, kept for every weight, saved and restored to the bit.

mod tensors;

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, InplaceOp2, Layout, Result, Tensor, Var};
use serde::{Deserialize, Serialize};
use veriplay_kernels::thread_pool::run_on_threads;
use veriplay_kernels::{adamw, muon};

use crate::config::TensorSpec;
use crate::gradients::Gradients;
use crate::model::{Weights, values};
use crate::ops::slices::{floats, floats_mut};

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

impl AdamW {
    /// For step `step`, counted from 1; `decay` is learning rate times weight decay.
    fn constants(&self, step: u64, rate: Rate, decay: f64) -> adamw::Constants {
        let power = |beta: f64| 1.0 - beta.powf(step as f64);
        adamw::Constants {
            beta1: self.beta1 as f32,
            beta2: self.beta2 as f32,
            rate: (rate.learning_rate / power(self.beta1)) as f32,
            root: (1.0 / power(self.beta2).sqrt()) as f32,
            eps: self.eps as f32,
            keep: (1.0 - decay) as f32,
            scale: rate.scale,
        }
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

/// What an optimizer remembers of one weight.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moments {
    /// First moment; for Muon's matrices its momentum.
    pub(crate) first: Vec<f32>,
    /// Second moment; zero for Muon's matrices.
    pub(crate) second: Vec<f32>,
}

/// What an optimizer remembers.
#[derive(Debug, Clone)]
pub(crate) struct OptimizerState {
    /// Steps made.
    pub(crate) step: u64,
    /// Of every weight, in the order of `tensor_specs`. Empty while `on_device` has them.
    moments: Vec<Moments>,
    /// The same where the weights are, from the first step by tensors on.
    on_device: Vec<[Tensor; 2]>,
}

impl OptimizerState {
    pub(crate) fn new(specs: &[TensorSpec]) -> Self {
        let zeros = |spec: &TensorSpec| vec![0.0; spec.elements()];
        Self::restored(0, specs.iter().map(|s| Moments { first: zeros(s), second: zeros(s) }).collect())
    }

    /// As it was after `step` steps.
    pub(crate) const fn restored(step: u64, moments: Vec<Moments>) -> Self {
        Self { step, moments, on_device: Vec::new() }
    }

    /// The moments of every weight, in the order of `tensor_specs`.
    pub(crate) fn moments(&self) -> Result<Cow<'_, [Moments]>> {
        if self.on_device.is_empty() {
            return Ok(Cow::Borrowed(&self.moments));
        }
        let fetch = |[first, second]: &[Tensor; 2]| Ok(Moments { first: values(first)?, second: values(second)? });
        self.on_device.iter().map(fetch).collect::<Result<_>>().map(Cow::Owned)
    }

    /// As [`OptimizerState::step`], in tensor operations, where the weights are.
    pub(crate) fn step_by_tensors(
        &mut self,
        optimizer: &Optimizer,
        specs: &[TensorSpec],
        weights: &Weights,
        gradients: &Gradients,
        rate: Rate,
    ) -> Result<()> {
        self.step += 1;
        self.move_to_device(specs, weights)?;
        for (spec, moments) in specs.iter().zip(&mut self.on_device) {
            let gradient = gradients.get(&spec.name).ok_or_else(|| missing(spec))?;
            let rule = Rule::new(optimizer, spec, self.step, rate);
            tensors::step(weights.var(&spec.name)?, gradient, moments, &rule)?;
        }
        Ok(())
    }

    /// Moves the moments to where the weights are.
    fn move_to_device(&mut self, specs: &[TensorSpec], weights: &Weights) -> Result<()> {
        for (spec, Moments { first, second }) in specs.iter().zip(std::mem::take(&mut self.moments)) {
            let device = weights.var(&spec.name)?.device();
            let upload = |values: Vec<f32>| Tensor::from_vec(values, spec.shape.as_slice(), device);
            self.on_device.push([upload(first)?, upload(second)?]);
        }
        Ok(())
    }

    /// One step: `weights` follow `gradients`, which are multiplied by `rate.scale` first. Uses up to `rate.threads` threads; the
    /// result does not depend on how many.
    pub(crate) fn step(
        &mut self,
        optimizer: &Optimizer,
        specs: &[TensorSpec],
        weights: &Weights,
        gradients: &Gradients,
        rate: Rate,
    ) -> Result<()> {
        self.step += 1;
        let mut work = Vec::with_capacity(specs.len());
        for (spec, moments) in specs.iter().zip(&mut self.moments) {
            let gradient = gradients.get(&spec.name).ok_or_else(|| missing(spec))?;
            work.push(Job { spec, weight: weights.var(&spec.name)?, gradient, moments });
        }
        // The largest first, then each to the next free thread: order does not matter to the result.
        work.sort_by_key(|job| job.spec.elements());
        let (step, queue) = (self.step, Mutex::new(work));
        run_on_threads(0..rate.threads, |_| drain(&queue, optimizer, step, rate)).into_iter().collect()
    }
}

fn missing(spec: &TensorSpec) -> candle_core::Error {
    candle_core::Error::Msg(format!("`{}` has no gradient", spec.name))
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

/// One weight with all that belongs to it.
struct Job<'a> {
    spec: &'a TensorSpec,
    weight: &'a Var,
    gradient: &'a Tensor,
    moments: &'a mut Moments,
}

fn drain(queue: &Mutex<Vec<Job<'_>>>, optimizer: &Optimizer, step: u64, rate: Rate) -> Result<()> {
    let mut space = muon::Workspace::default();
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(Job { spec, weight, gradient, moments }) = next else { return Ok(()) };
        let rule = Rule::new(optimizer, spec, step, rate);
        weight.inplace_op2(gradient, &Step { rule, state: Mutex::new((moments, &mut space)) })?;
    }
}

/// How one weight follows its gradient.
#[derive(Debug, Clone, Copy)]
enum Rule {
    AdamW(adamw::Constants),
    /// With rows and columns.
    Muon(muon::Constants, (usize, usize)),
}

impl Rule {
    fn new(optimizer: &Optimizer, spec: &TensorSpec, step: u64, rate: Rate) -> Self {
        let Rate { learning_rate, scale, .. } = rate;
        let decay = if spec.shape.len() == 2 { learning_rate * optimizer.adamw().weight_decay } else { 0.0 };
        match *optimizer {
            Optimizer::Muon { ratio, momentum, .. } if spec.is_hidden_matrix() => {
                let constants = muon::Constants { rate: learning_rate * ratio, momentum, decay: decay * ratio, scale };
                Self::Muon(constants, (spec.shape[0], spec.shape[1]))
            }
            _ => Self::AdamW(optimizer.adamw().constants(step, rate, decay)),
        }
    }
}

/// One step on one weight, in place. Operations are given shared; the lock is for the moments and is never waited for.
struct Step<'a> {
    rule: Rule,
    state: Mutex<(&'a mut Moments, &'a mut muon::Workspace)>,
}

impl InplaceOp2 for Step<'_> {
    fn name(&self) -> &'static str {
        "optimizer-step"
    }

    fn cpu_fwd(&self, weight: &mut CpuStorage, wl: &Layout, gradient: &CpuStorage, gl: &Layout) -> Result<()> {
        let (weight, gradient) = (floats_mut(weight, wl)?, floats(gradient, gl)?);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (Moments { first, second }, space) = &mut *state;
        match &self.rule {
            Rule::AdamW(constants) => adamw::step(weight, gradient, first, second, constants),
            Rule::Muon(constants, shape) => muon::step(weight, gradient, first, *shape, constants, space),
        }
        Ok(())
    }
}

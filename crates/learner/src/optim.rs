//! Optimizers: AdamW, and Muon for hidden matrices. State is f32, kept for every weight, saved and restored to the bit.
//!
//! It is where the weights are or, under `optimizer_offload`, on the host, with weights in f32 whose copies on the device follow.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, DType, InplaceOp2, Layout, Result, Tensor, Var};
use serde::{Deserialize, Serialize};
use veriplay_kernels::optimizers::{
    AdamWConstants, MuonConstants, MuonWorkspace, NEWTON_SCHULZ_STEPS, QUINTIC, adamw_step, muon_step,
};
use veriplay_kernels::thread_pool::run_on_threads;

use crate::config::TensorSpec;
use crate::gradients::{Gradients, sum_of_squares};
use crate::network::{Weights, values};
use crate::ops::slices::{floats, floats_mut};

/// Constants of AdamW (Loshchilov and Hutter 2019). Weight decay is decoupled and acts only on matrices.
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
    /// The constants of the quickstart.
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.98, eps: 1e-8, weight_decay: 0.0 }
    }
}

/// What a decay may be.
const DECAY: &str = "at least 0 and below 1";
/// What a factor of the learning rate may be.
const AMOUNT: &str = "a finite number that is not negative";

fn is_decay(value: f64) -> bool {
    (0.0..1.0).contains(&value)
}

fn is_amount(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

impl AdamW {
    /// The first invalid constant: its key, its value and what it must be.
    fn invalid_option(&self) -> Option<(&'static str, f64, &'static str)> {
        let Self { beta1, beta2, eps, weight_decay } = *self;
        let checks = [
            ("beta1", beta1, is_decay(beta1), DECAY),
            ("beta2", beta2, is_decay(beta2), DECAY),
            ("eps", eps, eps.is_finite() && eps > 0.0, "a positive number"),
            ("weight_decay", weight_decay, is_amount(weight_decay), AMOUNT),
        ];
        checks.into_iter().find(|(_, _, fine, _)| !fine).map(|(key, value, _, want)| (key, value, want))
    }

    /// For step `step`, counted from 1; `decay` is learning rate times weight decay.
    fn constants(&self, step: u64, settings: StepSettings, decay: f64) -> AdamWConstants {
        let power = |beta: f64| 1.0 - beta.powf(step as f64);
        AdamWConstants {
            beta1: self.beta1 as f32,
            beta2: self.beta2 as f32,
            rate: (settings.learning_rate / power(self.beta1)) as f32,
            root: (1.0 / power(self.beta2).sqrt()) as f32,
            eps: self.eps as f32,
            keep: (1.0 - decay) as f32,
            scale: settings.scale,
        }
    }
}

/// How weights follow gradients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Optimizer {
    /// AdamW for everything.
    AdamW(AdamW),
    /// Muon (Jordan et al. 2024) for hidden matrices, AdamW for embedding, head and gains.
    Muon {
        /// The optimizer of all other tensors.
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
    pub const fn muon(adamw: AdamW, ratio: f64) -> Self {
        Self::Muon { adamw, ratio, momentum: 0.95 }
    }

    /// The first invalid option: its key in the table of the optimizer, its value and what it must be.
    pub(crate) fn invalid_option(&self) -> Option<(String, f64, &'static str)> {
        let prefix = if matches!(self, Self::Muon { .. }) { "adamw." } else { "" };
        let bad_adamw = self.adamw().invalid_option().map(|(key, value, want)| (format!("{prefix}{key}"), value, want));
        let bad_muon = || match *self {
            Self::Muon { momentum, .. } if !is_decay(momentum) => Some(("momentum".to_owned(), momentum, DECAY)),
            Self::Muon { ratio, .. } if !is_amount(ratio) => Some(("ratio".to_owned(), ratio, AMOUNT)),
            _ => None,
        };
        bad_adamw.or_else(bad_muon)
    }

    const fn adamw(&self) -> &AdamW {
        match self {
            Self::AdamW(adamw) | Self::Muon { adamw, .. } => adamw,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moments {
    /// First moment; for Muon's matrices its momentum.
    pub(crate) first: Vec<f32>,
    /// Second moment; zero for Muon's matrices.
    pub(crate) second: Vec<f32>,
}

#[derive(Debug, Clone)]
pub(crate) struct OptimizerState {
    pub(crate) step: u64,
    /// Of every weight, in the order of `tensor_specs`. Empty while `on_device` has them.
    moments: Vec<Moments>,
    /// The same where the weights are, from the first step in tensors on.
    on_device: Vec<[Tensor; 2]>,
    /// Whether our kernels step, on the host, or tensor operations where the weights are.
    kernels: bool,
}

impl OptimizerState {
    pub(crate) fn new(specs: &[TensorSpec], kernels: bool) -> Self {
        let zeros = |spec: &TensorSpec| vec![0.0; spec.elements()];
        let moments = specs.iter().map(|spec| Moments { first: zeros(spec), second: zeros(spec) }).collect();
        Self { step: 0, moments, on_device: Vec::new(), kernels }
    }

    /// As it was after `step` steps.
    pub(crate) fn restore(&mut self, step: u64, moments: Vec<Moments>) {
        (self.step, self.moments, self.on_device) = (step, moments, Vec::new());
    }

    /// The moments of every weight, in the order of `tensor_specs`.
    pub(crate) fn moments(&self) -> Result<Cow<'_, [Moments]>> {
        if self.on_device.is_empty() {
            return Ok(Cow::Borrowed(&self.moments));
        }
        let fetch = |[first, second]: &[Tensor; 2]| Ok(Moments { first: values(first)?, second: values(second)? });
        self.on_device.iter().map(fetch).collect::<Result<_>>().map(Cow::Owned)
    }

    /// One step: `weights` follow `gradients`, which are multiplied by `settings.scale` first. Uses up to `settings.threads` threads of the CPU;
    /// the result does not depend on how many.
    pub(crate) fn step(
        &mut self,
        optimizer: &Optimizer,
        specs: &[TensorSpec],
        weights: &Weights,
        gradients: &Gradients,
        settings: StepSettings,
    ) -> Result<()> {
        self.step += 1;
        let step = self.step;
        let gradient = |spec: &TensorSpec| {
            let missing = || candle_core::Error::Msg(format!("`{}` has no gradient", spec.name));
            gradients.get(&spec.name).ok_or_else(missing)
        };
        if !self.kernels {
            self.move_to_device(specs, weights)?;
            return specs.iter().zip(&mut self.on_device).try_for_each(|(spec, moments)| {
                let rule = UpdateRule::new(optimizer, spec, step, settings);
                step_in_tensors(weights.var(&spec.name)?, gradient(spec)?, moments, &rule)
            });
        }
        let mut work = Vec::with_capacity(specs.len());
        for (spec, moments) in specs.iter().zip(&mut self.moments) {
            work.push(WeightStep { spec, weight: weights.trained(&spec.name)?, gradient: gradient(spec)?, moments });
        }
        // The largest first, then each to the next free thread: order does not matter to the result.
        work.sort_by_key(|step| step.spec.elements());
        let queue = Mutex::new(work);
        let steps = |_| step_weights(&queue, weights, optimizer, step, settings);
        run_on_threads(0..settings.threads, steps).into_iter().collect()
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
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct StepSettings {
    pub(crate) learning_rate: f64,
    /// Factor of every gradient, from clipping.
    pub(crate) scale: f32,
    pub(crate) threads: usize,
}

struct WeightStep<'a> {
    spec: &'a TensorSpec,
    weight: &'a Var,
    gradient: &'a Tensor,
    moments: &'a mut Moments,
}

fn step_weights(
    queue: &Mutex<Vec<WeightStep<'_>>>,
    weights: &Weights,
    optimizer: &Optimizer,
    step: u64,
    settings: StepSettings,
) -> Result<()> {
    let mut workspace = MuonWorkspace::default();
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(WeightStep { spec, weight, gradient, moments }) = next else { return Ok(()) };
        let rule = UpdateRule::new(optimizer, spec, step, settings);
        weight.inplace_op2(gradient, &KernelStep { rule, state: Mutex::new((moments, &mut workspace)) })?;
        weights.update_copy(&spec.name)?;
    }
}

#[derive(Debug, Clone, Copy)]
enum UpdateRule {
    AdamW(AdamWConstants),
    /// With rows and columns.
    Muon(MuonConstants, (usize, usize)),
}

impl UpdateRule {
    fn new(optimizer: &Optimizer, spec: &TensorSpec, step: u64, settings: StepSettings) -> Self {
        let StepSettings { learning_rate, scale, .. } = settings;
        let decay = if spec.shape.len() == 2 { learning_rate * optimizer.adamw().weight_decay } else { 0.0 };
        match *optimizer {
            Optimizer::Muon { ratio, momentum, .. } if spec.is_hidden_matrix() => {
                let constants = MuonConstants { rate: learning_rate * ratio, momentum, decay: decay * ratio, scale };
                Self::Muon(constants, (spec.shape[0], spec.shape[1]))
            }
            _ => Self::AdamW(optimizer.adamw().constants(step, settings, decay)),
        }
    }
}

/// One step on one weight, in place. Operations are given shared; the lock is for the moments and is never waited for.
struct KernelStep<'a> {
    rule: UpdateRule,
    state: Mutex<(&'a mut Moments, &'a mut MuonWorkspace)>,
}

impl InplaceOp2 for KernelStep<'_> {
    fn name(&self) -> &'static str {
        "optimizer-step"
    }

    fn cpu_fwd(&self, weight: &mut CpuStorage, wl: &Layout, gradient: &CpuStorage, gl: &Layout) -> Result<()> {
        let (weight, gradient) = (floats_mut(weight, wl)?, floats(gradient, gl)?);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (Moments { first, second }, workspace) = &mut *state;
        match &self.rule {
            UpdateRule::AdamW(constants) => adamw_step(weight, gradient, first, second, constants),
            UpdateRule::Muon(constants, shape) => muon_step(weight, gradient, first, *shape, constants, workspace),
        }
        Ok(())
    }
}

/// One step on one weight in tensor operations: the formulas of the kernels, without the host in between. Those of AdamW are in the kernel's order,
/// so that on one processor both give the same bits.
fn step_in_tensors(weight: &Var, gradient: &Tensor, moments: &mut [Tensor; 2], rule: &UpdateRule) -> Result<()> {
    let gradient = gradient.to_dtype(DType::F32)?;
    match rule {
        UpdateRule::AdamW(constants) => adamw_in_tensors(weight, &gradient, moments, constants),
        UpdateRule::Muon(constants, shape) => muon_in_tensors(weight, &gradient, &mut moments[0], constants, *shape),
    }
}

fn adamw_in_tensors(weight: &Var, gradient: &Tensor, moments: &mut [Tensor; 2], c: &AdamWConstants) -> Result<()> {
    let [first, second] = moments;
    let gradient = (gradient * f64::from(c.scale))?;
    *first = ((&*first * f64::from(c.beta1))? + (&gradient * f64::from(1.0 - c.beta1))?)?;
    *second = ((&*second * f64::from(c.beta2))? + ((&gradient * f64::from(1.0 - c.beta2))? * &gradient)?)?;
    let below = second.sqrt()?.affine(f64::from(c.root), f64::from(c.eps))?;
    let change = ((&*first * f64::from(c.rate))? / below)?;
    weight.set(&((weight.as_detached_tensor() * f64::from(c.keep))? - change)?)
}

fn muon_in_tensors(
    weight: &Var,
    gradient: &Tensor,
    first: &mut Tensor,
    c: &MuonConstants,
    (rows, columns): (usize, usize),
) -> Result<()> {
    let gradient = (gradient * f64::from(c.scale))?;
    *first = ((&*first * c.momentum)? + &gradient)?;
    let ahead = (gradient + (&*first * c.momentum)?)?;
    let tall = rows > columns;
    let x = orthogonalise(if tall { ahead.t()?.contiguous()? } else { ahead })?;
    let x = if tall { x.t()?.contiguous()? } else { x };
    let rate = c.rate * (rows as f64 / columns as f64).max(1.0).sqrt();
    weight.set(&((weight.as_detached_tensor() * (1.0 - c.decay))? - (x * rate)?)?)
}

/// The nearest semi-orthogonal matrix of x [short, long], as [`muon_step`] computes it.
fn orthogonalise(x: Tensor) -> Result<Tensor> {
    let [a, b, c] = QUINTIC.map(f64::from);
    let norm = (sum_of_squares(&x)?.sqrt()? + 1e-7)?;
    let mut x = x.broadcast_div(&norm)?;
    for _ in 0..NEWTON_SCHULZ_STEPS {
        let gram = x.matmul(&x.t()?)?;
        let polynomial = ((&gram * b)? + (gram.matmul(&gram)? * c)?)?;
        x = ((&x * a)? + polynomial.matmul(&x)?)?;
    }
    Ok(x)
}

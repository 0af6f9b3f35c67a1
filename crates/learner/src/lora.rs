//! LoRA (Hu et al. 2021, arXiv 2106.09685): the base is frozen, and of some matrices W a low-rank sum W + α/r · B·A takes the place.
//!
//! For our kernels on the CPU the sum is formed once an update or a call of the policy; on a device it never is, and the base stays in the
//! precision of activations. Either way training and sampling compute the same. Gradients, moments and checkpoints of the trainer hold only the adapters. A starts uniform and B at zero
//! (PEFT's defaults), so the policy starts as the base to the bit. Names are PEFT's.

use std::collections::BTreeMap;

use candle_core::{Device, Result, Tensor, Var};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::config::TensorSpec;
use crate::linear::LowRank;

/// Matrices that can have an adapter, by the last part of their module's name.
pub(crate) const MODULES: [&str; 9] =
    ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "qkv_proj", "gate_up_proj"];

/// Which adapters a learner trains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lora {
    /// Rows of A and columns of B.
    pub rank: usize,
    /// The sum's factor is `alpha` / `rank`.
    pub alpha: f64,
    /// Which matrices of every layer, such as `q_proj`.
    pub target_modules: Vec<String>,
    /// Seeds A.
    #[serde(default)]
    pub seed: u64,
    /// Whether each role that learns has adapters of its own, all beside one base. [`crate::RoleLearners`] has a learner for each.
    #[serde(default)]
    pub per_role: bool,
}

/// The model that adapters are added to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseModel {
    /// A directory, or what else it is found by; none where it has no files.
    pub name: Option<String>,
    /// The digest of its weights, in whatever files they are; none where they were not read from files.
    pub digest: Option<String>,
}

/// Which adapters a directory has, without their numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct AdapterCheckpoint {
    /// Their rank, their scale and where they are.
    pub lora: Lora,
    /// What they were trained on.
    pub base: BaseModel,
}

impl Lora {
    /// The first invalid option: its key, its value and what it may be.
    pub(crate) fn invalid_option(&self) -> Option<(&'static str, String, String)> {
        if !(1..=4096).contains(&self.rank) {
            return Some(("rank", self.rank.to_string(), "from 1 to 4096".to_owned()));
        }
        if !(self.alpha.is_finite() && self.alpha > 0.0) {
            return Some(("alpha", self.alpha.to_string(), "a positive number".to_owned()));
        }
        let unknown = self.target_modules.iter().find(|module| !MODULES.contains(&module.as_str()));
        if unknown.is_some() || self.target_modules.is_empty() {
            let value = unknown.cloned().unwrap_or_default();
            return Some(("target_modules", value, format!("some of {}", MODULES.join(", "))));
        }
        None
    }

    /// Names and shapes of the adapters of a model with these tensors: A [rank, in], then B [out, rank], in their order.
    pub(crate) fn specs(&self, base: &[TensorSpec]) -> Vec<TensorSpec> {
        let targets = base.iter().filter(|spec| self.targets(&spec.name));
        let pair = |spec: &TensorSpec| {
            let [a, b] = adapter_names(&spec.name);
            let (outputs, inputs) = (spec.shape[0], spec.shape[1]);
            [
                TensorSpec { name: a, shape: vec![self.rank, inputs] },
                TensorSpec { name: b, shape: vec![outputs, self.rank] },
            ]
        };
        targets.flat_map(pair).collect()
    }

    /// The first module that a model with these tensors lacks, and those that it has: some join their projections.
    pub(crate) fn missing_module(&self, base: &[TensorSpec]) -> Option<(&str, String)> {
        let has = |module: &str| base.iter().any(|spec| module_of(&spec.name) == Some(module));
        let missing = self.target_modules.iter().find(|module| !has(module))?;
        Some((missing.as_str(), MODULES.into_iter().filter(|module| has(module)).collect::<Vec<_>>().join(", ")))
    }

    fn targets(&self, weight: &str) -> bool {
        module_of(weight).is_some_and(|module| self.target_modules.iter().any(|target| target == module))
    }
}

/// The last part of the name of a weight's module.
fn module_of(weight: &str) -> Option<&str> {
    weight.strip_suffix(".weight").and_then(|path| path.rsplit('.').next())
}

/// PEFT's names of A and B of a weight.
pub(crate) fn adapter_names(weight: &str) -> [String; 2] {
    let module = weight.strip_suffix(".weight").unwrap_or(weight);
    ["A", "B"].map(|part| format!("base_model.model.{module}.lora_{part}.weight"))
}

/// Whether a tensor is an A: its gradient is zero as long as its B is.
pub(crate) fn is_a(name: &str) -> bool {
    name.ends_with(".lora_A.weight")
}

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

    /// Fresh adapters: A uniform within ±1/√in (Kaiming's with a = √5), B zero.
    pub(crate) fn initialize(lora: &Lora, base: &[TensorSpec], device: &Device) -> Result<Self> {
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

    pub(crate) const fn vars(&self) -> &BTreeMap<String, Var> {
        &self.vars
    }

    /// The addend of a weight: α/r · B·A, tracked or not; `None` for a weight without an adapter.
    pub(crate) fn product(&self, weight: &str, tracked: bool) -> Option<Result<Tensor>> {
        let [a, b] = self.pair(weight, tracked)?;
        Some(b.matmul(&a).and_then(|product| product * self.scale))
    }

    /// A and α/r · B of a weight, tracked or not; `None` for a weight without an adapter.
    pub(crate) fn low_rank(&self, weight: &str, tracked: bool) -> Option<Result<LowRank>> {
        let [a, b] = self.pair(weight, tracked)?;
        Some((b * self.scale).map(|b| LowRank { a, b }))
    }

    fn pair(&self, weight: &str, tracked: bool) -> Option<[Tensor; 2]> {
        let [a, b] = adapter_names(weight);
        let tensor = |var: &Var| if tracked { var.as_tensor().clone() } else { var.as_detached_tensor() };
        Some([tensor(self.vars.get(&a)?), tensor(self.vars.get(&b)?)])
    }

    /// Whether every B is still zero.
    pub(crate) fn are_fresh(&self) -> Result<bool> {
        for (_, var) in self.vars.iter().filter(|(name, _)| !is_a(name)) {
            if var.abs()?.max_all()?.to_scalar::<f32>()? != 0.0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A copy that later updates do not reach.
    pub(crate) fn copy(&self) -> Result<Self> {
        Ok(Self { scale: self.scale, vars: copy_variables(&self.vars)? })
    }
}

/// Variables with the same values and storage of their own.
pub(crate) fn copy_variables(vars: &BTreeMap<String, Var>) -> Result<BTreeMap<String, Var>> {
    let copy = |(name, var): (&String, &Var)| Ok((name.clone(), Var::from_tensor(&var.as_detached_tensor())?));
    vars.iter().map(copy).collect()
}

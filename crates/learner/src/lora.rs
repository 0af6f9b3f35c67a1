//! LoRA (Hu et al. 2021, arXiv 2106.09685): the base is frozen, and of some matrices W a low-rank sum W + α/r · B·A takes the place.
//!
//! This file names the adapters of a model; `model/adapters.rs` holds their values. Names are PEFT's.

use serde::{Deserialize, Serialize};

use crate::config::TensorSpec;

/// Matrices that can have an adapter, by the last part of their module's name.
pub(crate) const MODULES: [&str; 7] = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];

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
}

impl Lora {
    /// What is wrong with it: a key, its value and what it may be.
    pub(crate) fn fault(&self) -> Option<(&'static str, String, String)> {
        if !(1..=4096).contains(&self.rank) {
            return Some(("rank", self.rank.to_string(), "1 to 4096".to_owned()));
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

    fn targets(&self, weight: &str) -> bool {
        let module = weight.strip_suffix(".weight").and_then(|path| path.rsplit('.').next());
        module.is_some_and(|module| self.target_modules.iter().any(|target| target == module))
    }
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

//! Initial weights: a pure function of shape and seed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::config::ModelConfig;
use crate::model::Parameters;
use crate::model::parameters::tensor_specs;

/// Gains are 1. Matrices are normal with the config's standard deviation; those that write to the residual stream are smaller by
/// sqrt(2 · layers), as in GPT-2 (Radford et al. 2019, §2.3), so that its variance does not grow with depth.
pub(crate) fn initial(config: &ModelConfig, seed: u64) -> Parameters {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut weights = Parameters::zeros(config);
    for (spec, tensor) in tensor_specs(config).iter().zip(weights.tensors_mut(config)) {
        if spec.shape.len() == 1 {
            tensor.fill(1.0);
            continue;
        }
        let writes = spec.name.ends_with("o_proj.weight") || spec.name.ends_with("down_proj.weight");
        let depth = if writes { (2.0 * config.num_hidden_layers as f64).sqrt() } else { 1.0 };
        tensor.iter_mut().for_each(|w| *w = (normal(&mut rng) * config.initializer_range / depth) as f32);
    }
    weights
}

/// A standard normal number (Box and Muller 1958).
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

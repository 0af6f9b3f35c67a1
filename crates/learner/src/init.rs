//! Initial weights: a pure function of shape and seed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::config::ModelConfig;
use crate::model::names::{TensorSpec, tensor_specs};

/// Gains are 1 and biases 0. Matrices are normal with the config's standard deviation; those that write to the residual stream are smaller by
/// sqrt(2 · layers), as in GPT-2 (Radford et al. 2019, §2.3), so that its variance does not grow with depth.
/// The values come in the order of [`tensor_specs`].
pub(crate) fn initial(config: &ModelConfig, seed: u64) -> Vec<Vec<f32>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    tensor_specs(config).iter().map(|spec| tensor(config, spec, &mut rng)).collect()
}

fn tensor(config: &ModelConfig, spec: &TensorSpec, rng: &mut ChaCha8Rng) -> Vec<f32> {
    if spec.shape.len() == 1 {
        return vec![if spec.name.ends_with("bias") { 0.0 } else { 1.0 }; spec.elements()];
    }
    let writes = spec.name.ends_with("o_proj.weight") || spec.name.ends_with("down_proj.weight");
    let depth = if writes { (2.0 * config.num_hidden_layers as f64).sqrt() } else { 1.0 };
    (0..spec.elements()).map(|_| (normal(rng) * config.initializer_range / depth) as f32).collect()
}

/// A standard normal number (Box and Muller 1958).
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

//! Single operations against candle's own, where whole models do not show them.

use std::sync::Arc;

use candle_core::{Device, Result, Tensor, Var};

use super::{Engine, Ops, SharedSpace, Site};
use crate::config::ModelConfig;
use crate::kernels::logprob::Prediction;
use crate::kernels::rope::RopeTable;
use crate::model::packed::Purpose;
use crate::model::weights::values;
use crate::model::{Mode, View, Weights};

fn config() -> ModelConfig {
    ModelConfig {
        vocab_size: 37,
        hidden_size: 20,
        intermediate_size: 27,
        num_hidden_layers: 1,
        ..ModelConfig::default()
    }
}

/// The engine of the CPU and that of any other device, on the same weights.
fn engines() -> Result<(Weights, Engine, Engine)> {
    let config = config();
    let weights = Weights::new(&config, crate::init::initial(&config, 3), &Device::Cpu)?;
    let rope = Arc::new(RopeTable::new(16, &config.rope_frequencies()));
    let view = || View::new(&config, &weights, Mode::Tracked);
    let (cpu, stock) =
        (Engine::new(&config, &rope, view()?, Purpose::Training)?, Engine::stock(&config, &rope, view()?));
    Ok((weights, cpu, stock))
}

fn wave(rows: usize, columns: usize, scale: f32) -> Result<Tensor> {
    let values = (0..rows * columns).map(|i| scale * (i as f32 * 0.7).sin()).collect();
    Tensor::from_vec(values, (rows, columns), &Device::Cpu)
}

fn close(a: &Tensor, b: &Tensor) {
    let (a, b) = (values(a).expect("numbers"), values(b).expect("numbers"));
    let scale = b.iter().fold(0.0_f32, |m, x| m.max(x.abs()));
    assert!(scale > 0.0 && a.len() == b.len());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-5 * scale), "{a:?}\n{b:?}");
}

#[test]
fn log_probabilities_entropies_and_the_gradients_of_both_agree_with_candle() {
    let (_, cpu, stock) = engines().expect("engines");
    let predictions = [(0, 3), (2, 36), (2, 0), (2, 36), (3, 5)].map(|(row, token)| Prediction { row, token });
    let logits = Var::from_tensor(&wave(5, 37, 3.0).expect("logits")).expect("a variable");
    let run = |ops: &dyn Ops| {
        let out = ops.logprobs(&logits, &predictions)?;
        let factors = Tensor::new(&[[1.0_f32, -2.0, 0.5, 0.25, 3.0], [0.3, 0.0, -1.0, 2.0, 0.0]], &Device::Cpu)?;
        let store = (&out * factors)?.sum_all()?.backward()?;
        Ok::<_, candle_core::Error>((out, store.get(&logits).cloned().expect("a gradient")))
    };
    let (ours, gradient) = run(&*cpu.decoder(&SharedSpace::default()).ops).expect("runs");
    let (want, want_gradient) = run(&*stock.decoder(&SharedSpace::default()).ops).expect("runs");
    close(&ours, &want);
    close(&gradient, &want_gradient);
}

#[test]
fn a_second_backward_through_one_graph_gives_the_same_bits() {
    let (weights, cpu, _) = engines().expect("engines");
    let decoder = cpu.decoder(&SharedSpace::default());
    let layer = &cpu.view.layers[0];
    let x = Var::from_tensor(&wave(6, 20, 1.0).expect("rows")).expect("a variable");
    let y = decoder.ops.mlp(&x, &layer.gate_up, &layer.down, 0).and_then(|y| y.sqr()?.sum_all()).expect("runs");
    let gate = weights.var("model.layers.0.mlp.gate_proj.weight").expect("there");
    let [first, second] = [(); 2].map(|()| {
        let store = y.backward().expect("backward");
        [&x, gate].map(|v| values(store.get(v).expect("a gradient")).expect("numbers"))
    });
    assert_eq!(first, second);
    assert!(first.iter().flatten().any(|&g| g != 0.0));
}

#[test]
fn a_matrix_of_another_shape_than_was_packed_is_refused() {
    let (_, cpu, _) = engines().expect("engines");
    let decoder = cpu.decoder(&SharedSpace::default());
    let x = wave(4, 20, 1.0).expect("rows");
    assert!(decoder.ops.linear(&x, &cpu.view.head, Site::Head).is_ok());
    let other = wave(36, 20, 1.0).expect("a matrix");
    let message = decoder.ops.linear(&x, &other, Site::Head).expect_err("another shape").to_string();
    assert!(message.contains("[36, 20]"), "{message}");
}

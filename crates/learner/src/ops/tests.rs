//! Single operations against candle's own, where whole models do not show them.

use std::sync::Arc;

use candle_core::{DType, Device, Result, Tensor, Var};
use veriplay_kernels::attention::{AttentionGroup, HeadSizes};
use veriplay_kernels::layers::{Activation, RopeTable};
use veriplay_kernels::logprob::Prediction;
use veriplay_kernels::thread_pool::ThreadPool;

use super::{CandleOps, LinearSite, Ops as _, Packing, SharedWorkspace, TILE_ROWS, rows_of_tile};
use crate::backend::Backend;
use crate::config::{LayerKind, LayerType, ModelConfig, RopeTables};
use crate::device::{DeviceSpec, OpenDevice, Precision};
use crate::linear::{Linear, LowRank};
use crate::network::{GradientMode, Network, WeightReader, Weights, initial_values, values};

fn config() -> ModelConfig {
    ModelConfig {
        vocab_size: 37,
        hidden_size: 20,
        intermediate_size: 27,
        num_hidden_layers: 1,
        ..ModelConfig::default()
    }
}

/// The backends of the CPU and of candle's operations, on the same weights.
fn backends() -> Result<(Weights, [Backend; 2])> {
    let config = Arc::new(config());
    let weights = Weights::default().filled(&config, initial_values(&config, 3), DType::F32, &Device::Cpu)?;
    let ropes = Arc::new(RopeTables::new(&config));
    let backend = |device| {
        let device = OpenDevice::open(device, Precision::F32).expect("the CPU is there");
        let mode = GradientMode::Tracked;
        let reader = WeightReader { weights: &weights, mode, dtype: DType::F32, merges_adapters: true };
        let network = Network::new(&config, &ropes, &reader)?;
        Backend::new(network, &device, Packing::Training, &ThreadPool::single())
    };
    let backends = [backend(DeviceSpec::Cpu)?, backend(DeviceSpec::Portable)?];
    Ok((weights, backends))
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
    let predictions = [(0, 3), (2, 36), (2, 0), (2, 36), (3, 5)].map(|(row, token)| Prediction { row, token });
    let logits = Var::from_tensor(&wave(5, 37, 3.0).expect("logits")).expect("a variable");
    let run = |out: Tensor| {
        let factors = Tensor::new(&[[1.0_f32, -2.0, 0.5, 0.25, 3.0], [0.3, 0.0, -1.0, 2.0, 0.0]], &Device::Cpu)?;
        let store = (&out * factors)?.sum_all()?.backward()?;
        Ok::<_, candle_core::Error>((out, store.get(&logits).cloned().expect("a gradient")))
    };
    let candle = || {
        let logprobs = candle_nn::ops::log_softmax(&logits, 1)?;
        let entropies = (logprobs.exp()? * &logprobs)?.sum(1)?.neg()?;
        let one = |p: &Prediction| {
            let logprob = logprobs.get(p.row)?.get(p.token as usize)?;
            Tensor::stack(&[logprob, entropies.get(p.row)?], 0)
        };
        run(Tensor::stack(&predictions.iter().map(one).collect::<Result<Vec<_>>>()?, 1)?)
    };
    let (want, want_gradient) = candle().expect("runs");
    for backend in backends().expect("backends").1 {
        let logprobs = backend.decoder(&SharedWorkspace::default()).ops.logprobs(&logits, &predictions);
        let (ours, gradient) = logprobs.and_then(run).expect("runs");
        close(&ours, &want);
        close(&gradient, &want_gradient);
    }
}

/// A value and gradients of `of` at `args`, as a product with fixed numbers.
fn differentiated(of: impl Fn(&[Var]) -> Result<Tensor>, args: &[Var]) -> Result<(Tensor, Vec<Tensor>)> {
    let y = of(args)?;
    let factors: Vec<f32> = (0..y.elem_count()).map(|i| (i as f32 * 0.9 + 0.4).cos()).collect();
    let store = (&y * Tensor::from_vec(factors, y.shape(), &Device::Cpu)?)?.sum_all()?.backward()?;
    Ok((y, args.iter().map(|arg| store.get(arg).cloned().expect("a gradient")).collect()))
}

/// One of candle's kernels with our backward, and the same in candle's differentiable operations.
fn agree(args: &[Tensor], ours: impl Fn(&[Var]) -> Result<Tensor>, stock: impl Fn(&[Var]) -> Result<Tensor>) {
    let args: Vec<Var> = args.iter().map(|arg| Var::from_tensor(arg).expect("a variable")).collect();
    let (y, gradients) = differentiated(ours, &args).expect("runs");
    let (want, want_gradients) = differentiated(stock, &args).expect("runs");
    close(&y, &want);
    gradients.iter().zip(&want_gradients).for_each(|(a, b)| close(a, b));
}

#[test]
fn candles_kernels_have_the_gradients_of_its_differentiable_operations() {
    let (x, gain) = (wave(6, 10, 2.0).expect("rows"), wave(1, 10, 1.0).and_then(|g| g.squeeze(0)).expect("a gain"));
    let norm = |args: &[Var]| super::candle::rms_norm(&args[0], &args[1], 1e-5);
    agree(&[x.clone(), gain], norm, |args| candle_nn::ops::rms_norm_slow(&args[0], &args[1], 1e-5));
    agree(
        std::slice::from_ref(&x),
        |args| super::candle::softmax(&args[0]),
        |args| candle_nn::ops::softmax(&args[0], 1),
    );
    let heads = x.reshape((1, 2, 3, 10)).expect("heads");
    let (cos, sin) = (wave(3, 5, 1.0).expect("cos"), wave(3, 5, 0.6).expect("sin"));
    let rope = |args: &[Var]| super::candle::rope(&args[0], &cos, &sin);
    agree(std::slice::from_ref(&heads), rope, |args| candle_nn::rotary_emb::rope_slow(&args[0], &cos, &sin));
    // Narrower tables rotate the first numbers of a head.
    let [cos, sin] =
        [&cos, &sin].map(|table| table.narrow(1, 0, 2).and_then(|part| part.contiguous()).expect("two pairs"));
    agree(
        &[heads],
        |args| super::candle::rope(&args[0], &cos, &sin),
        |args| {
            let turned = candle_nn::rotary_emb::rope_slow(&args[0].narrow(3, 0, 4)?.contiguous()?, &cos, &sin)?;
            Tensor::cat(&[turned, args[0].narrow(3, 4, 6)?], 3)
        },
    );
}

/// Of numbers in bf16: rotated, rotated as f32 numbers, and that with cos and sin in bf16. All are rounded to bf16 at the end.
fn rotated_in_bf16() -> Result<[Vec<f32>; 3]> {
    let narrow = |x: &Tensor| x.to_dtype(DType::BF16);
    let wide = |x: &Tensor| x.to_dtype(DType::F32);
    let [cos, sin] =
        super::rotations(&RopeTable::new(600, &[1.0, 0.1, 0.01], 1.0), 590..593, &Device::Cpu)?.expect("three pairs");
    let (rough_cos, rough_sin) = (wide(&narrow(&cos)?)?, wide(&narrow(&sin)?)?);
    let x = narrow(&wave(6, 6, 2.0)?.reshape((1, 2, 3, 6))?)?;
    let found = super::candle::rope(&x, &cos, &sin)?;
    let want = super::candle::rope(&wide(&x)?, &cos, &sin)?;
    let coarse = super::candle::rope(&wide(&x)?, &rough_cos, &rough_sin)?;
    let numbers = |y: &Tensor| wide(&narrow(y)?)?.flatten_all()?.to_vec1::<f32>();
    Ok([numbers(&found)?, numbers(&want)?, numbers(&coarse)?])
}

#[test]
fn rotations_in_bf16_are_those_of_f32_tables_rounded_once() {
    let [found, want, coarse] = rotated_in_bf16().expect("rotates");
    assert!(found == want && found != coarse, "{found:?}, want {want:?}, and not {coarse:?}");
}

/// x·Wᵀ of bf16 numbers and its gradients: by the product of the head, and in f32 all through.
fn both_products() -> Result<[(Tensor, Vec<Tensor>); 2]> {
    let args = [wave(6, 10, 2.0)?, wave(9, 10, 1.0)?].map(|arg| Var::from_tensor(&arg.to_dtype(DType::BF16)?));
    let [x, weight] = args;
    let args = [x?, weight?];
    let wide = |x: &Var| x.to_dtype(DType::F32);
    Ok([
        differentiated(|args| super::candle::wide_product(&args[0], &args[1]), &args)?,
        differentiated(|args| wide(&args[0])?.matmul(&wide(&args[1])?.t()?), &args)?,
    ])
}

#[test]
fn logits_in_bf16_are_sums_in_f32_and_only_their_gradients_are_rounded() {
    let [(found, gradients), (want, want_gradients)] = both_products().expect("both compute");
    close(&found, &want);
    for (gradient, want) in gradients.iter().zip(&want_gradients) {
        let (gradient, want) = (values(gradient).expect("numbers"), values(want).expect("numbers"));
        let scale = want.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        assert!(gradient.iter().zip(&want).all(|(a, b)| (a - b).abs() <= 0.02 * scale), "{gradient:?}\n{want:?}");
    }
}

/// Whether the product of the head has gradients of its rows, and of a weight that does not train.
fn gradients_of_a_frozen_head() -> Result<[bool; 2]> {
    let x = Var::from_tensor(&wave(6, 10, 2.0)?.to_dtype(DType::BF16)?)?;
    let weight = wave(9, 10, 1.0)?.to_dtype(DType::BF16)?;
    let store = super::candle::wide_product(&x, &weight)?.sum_all()?.backward()?;
    Ok([store.get(&x).is_some(), store.get(&weight).is_some()])
}

#[test]
fn a_head_that_does_not_train_passes_the_gradient_of_its_rows_alone() {
    assert_eq!(gradients_of_a_frozen_head().expect("runs"), [true, false]);
}

#[test]
fn more_numbers_than_a_card_counts_are_refused_with_what_to_lower() {
    assert!(super::candle::check_count("logits", i32::MAX as usize, "a.key").is_ok());
    let refused = super::candle::check_count("logits", 1 << 31, "a.key").expect_err("too many").to_string();
    assert!(refused.contains("2147483648 logits") && refused.contains("lower `a.key`"), "{refused}");
}

#[test]
fn a_kernel_on_detached_arguments_leaves_no_graph() {
    let x = wave(2, 4, 1.0).expect("rows");
    assert!(!super::candle::softmax(&x).expect("runs").track_op());
    let x = Var::from_tensor(&x).expect("a variable");
    assert!(super::candle::softmax(&x).expect("runs").track_op());
    assert!(!super::candle::softmax(&x.as_detached_tensor()).expect("runs").track_op());
}

#[test]
fn attention_in_tiles_is_that_of_whole_groups_and_so_are_its_gradients() {
    let sizes = HeadSizes { heads: 4, kv_heads: 2, dim: 6, eps: 1e-5, scale: 0.4 };
    let layer_types = vec![LayerType::SlidingAttention];
    let config = ModelConfig { head_dim: 6, max_position_embeddings: 16, layer_types, sliding_window: 3, ..config() };
    let ropes = Arc::new(RopeTables::new(&config));
    let groups: Arc<[AttentionGroup]> = Arc::new([
        AttentionGroup { prompt: 0..5, responses: vec![5..9, 9..16] },
        AttentionGroup { prompt: 16..17, responses: vec![17..18, 18..21] },
        AttentionGroup { prompt: 21..25, responses: Vec::new() },
    ]);
    let arguments = [wave(25, sizes.width(), 1.0), wave(1, 6, 1.0), wave(1, 6, 0.5)].map(|x| x.expect("numbers"));
    let run = |kind: LayerKind, tile_rows: usize| {
        let activation = Activation::Silu;
        let ops = CandleOps { sizes, ropes: Arc::clone(&ropes), activation, tables: Arc::default(), tile_rows };
        let vars = arguments.each_ref().map(|x| Var::from_tensor(x).expect("a variable"));
        let attend = |vars: &[Var]| {
            let gains = [vars[1].squeeze(0)?, vars[2].squeeze(0)?];
            ops.attention(&vars[0], Some(&gains), kind, &groups)
        };
        differentiated(attend, &vars).expect("runs")
    };
    for kind in LayerKind::ALL {
        let (want, want_gradients) = run(kind, TILE_ROWS);
        for tile_rows in [1, 2, 3, 7, 15] {
            let (found, gradients) = run(kind, tile_rows);
            close(&found, &want);
            gradients.iter().zip(&want_gradients).for_each(|(a, b)| close(a, b));
        }
    }
}

#[test]
fn tiles_of_long_sequences_have_fewer_rows() {
    assert_eq!([1, 512, 8192].map(rows_of_tile), [TILE_ROWS; 3]);
    assert_eq!([16_384, 32_768, 1 << 18].map(rows_of_tile), [256, 128, 16]);
}

#[test]
fn joined_adapters_add_what_each_adds_to_its_own_rows() {
    let low_rank = |rank: usize, outputs: usize, scale: f32| {
        Ok::<_, candle_core::Error>(LowRank { a: wave(rank, 5, scale)?, b: wave(outputs, rank, scale + 0.1)? })
    };
    let (first, last) = (low_rank(2, 4, 1.0).expect("numbers"), low_rank(3, 6, 0.7).expect("numbers"));
    let joined = LowRank::join(&[(4, Some(first.clone())), (3, None), (6, Some(last.clone()))]).expect("joins");
    let (x, weight) = (wave(2, 5, 1.0).expect("rows"), wave(13, 5, 0.3).expect("a matrix"));
    let found = Linear::new(weight.clone(), joined).apply(&x).expect("runs");
    let part = |from: usize, rows: usize, adapter: Option<LowRank>| {
        Linear::new(weight.narrow(0, from, rows)?, adapter).apply(&x)
    };
    let want = [part(0, 4, Some(first)), part(4, 3, None), part(7, 6, Some(last))];
    let want = Tensor::cat(&want.into_iter().collect::<Result<Vec<_>>>().expect("runs"), 1).expect("joins");
    close(&found, &want);
    assert!(LowRank::join(&[(4, None), (3, None)]).expect("joins").is_none());
    assert!(
        Linear::new(weight, LowRank::join(&[(13, Some(low_rank(1, 13, 1.0).expect("numbers")))]).expect("joins"))
            .merged()
            .is_err()
    );
}

#[test]
fn a_second_backward_through_one_graph_gives_the_same_bits() {
    let (weights, [cpu, _]) = backends().expect("backends");
    let decoder = cpu.decoder(&SharedWorkspace::default());
    let layer = &decoder.network.layers[0];
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
    let (_, [cpu, _]) = backends().expect("backends");
    let decoder = cpu.decoder(&SharedWorkspace::default());
    let x = wave(4, 20, 1.0).expect("rows");
    assert!(decoder.ops.linear(&x, &decoder.network.head, LinearSite::Head).is_ok());
    let other = wave(36, 20, 1.0).expect("a matrix");
    let message =
        decoder.ops.linear(&x, &Linear::new(other, None), LinearSite::Head).expect_err("another shape").to_string();
    assert!(message.contains("[36, 20]"), "{message}");
}

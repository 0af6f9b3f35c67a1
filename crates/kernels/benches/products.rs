//! Products of 8 bits beside those of f32, as ratios of one run: `cargo bench -p veriplay-kernels --bench products`.
//!
//! The matrices are those of a layer of SmolLM2-135M and its head, by one thread. Each time is the best of many; quantising the rows is part of it.

use std::hint::black_box;
use std::time::{Duration, Instant};

use veriplay_kernels::gemm::{GemmWorkspace, MatrixTarget, MatrixView, PackedMatrix, multiply};

/// A matrix of the model, with its inputs and outputs.
const MATRICES: [(&str, usize, usize); 5] =
    [("qkv", 576, 960), ("output", 576, 576), ("gate_up", 576, 3072), ("down", 1536, 576), ("head", 576, 49_152)];

/// Rows of a step of decoding, and of prompts.
const ROWS: [usize; 4] = [1, 8, 32, 512];

/// For each of the two products of a matrix.
const BUDGET: Duration = Duration::from_millis(400);

#[expect(clippy::print_stdout, reason = "a table for people")]
fn main() {
    println!("| matrix | rows | f32, G multiplications/s | int8 | ratio |\n|---|---|---|---|---|");
    for (name, inputs, outputs) in MATRICES {
        let weight = numbers(inputs * outputs);
        let mut floats = PackedMatrix::default();
        floats.pack(MatrixView::rows(&weight, inputs).transposed(), inputs, outputs);
        let integers = PackedMatrix::quantised(&weight, inputs);
        for rows in ROWS {
            let [float, int8] = [&floats, &integers].map(|matrix| best_time(rows, matrix));
            let rate = |seconds: f64| (rows * inputs * outputs) as f64 / seconds / 1e9;
            println!("| {name} | {rows} | {:.1} | {:.1} | {:.2} |", rate(float), rate(int8), float / int8);
        }
    }
}

/// Seconds of the fastest product.
fn best_time(rows: usize, matrix: &PackedMatrix) -> f64 {
    let (inputs, outputs) = matrix.shape();
    let (x, mut y, mut space) = (numbers(rows * inputs), vec![0.0; rows * outputs], GemmWorkspace::default());
    let (begin, mut best) = (Instant::now(), f64::INFINITY);
    while begin.elapsed() < BUDGET {
        let one = Instant::now();
        let target = MatrixTarget::set(&mut y, outputs);
        multiply(rows, MatrixView::rows(black_box(&x), inputs), matrix, target, &mut space);
        black_box(&y);
        best = best.min(one.elapsed().as_secs_f64());
    }
    best
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|at| ((at as u32).wrapping_mul(0x9E37_79B9) >> 8) as f32 / (1 << 23) as f32 - 1.0).collect()
}

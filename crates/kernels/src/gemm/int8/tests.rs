//! Products of 8 bits by everything that this machine has, against sums of integers in plain loops.

#[path = "../../../../../tests/src/external.rs"]
#[expect(dead_code, unreachable_pub, reason = "other tests use it, and the rest of it")]
mod external;

use std::sync::Once;

use proptest::prelude::{any, prop_assert, prop_assert_eq};
use proptest::strategy::{Just, Strategy};
use proptest::test_runner::TestCaseResult;

use super::super::{GemmWorkspace, PackedMatrix};
use super::*;
use crate::thread_pool::ThreadPool;

/// Rows of A, their length, and columns of B.
#[derive(Debug, Clone)]
struct Case {
    rows: usize,
    depth: usize,
    a: Vec<f32>,
    b: Vec<f32>,
    /// What is in C before.
    c: Vec<f32>,
}

/// Shapes around the edges of quads, panels, tiles and blocks, with numbers of magnitudes that differ from row to row.
fn cases() -> impl Strategy<Value = Case> {
    let shapes = (1_usize..=20, 1_usize..=2 * GROUP + 9, 1_usize..=70);
    let blocks = (ROWS - 3..=ROWS + 9, 1_usize..=9, 30_usize..=34);
    proptest::prop_oneof![9 => shapes, 1 => blocks].prop_flat_map(|(rows, depth, cols)| {
        let numbers = |count: usize| proptest::collection::vec(-1.0_f32..1.0, count);
        let scaled = |count: usize, depth: usize| {
            (numbers(count * depth), proptest::collection::vec(-20_i32..20, count)).prop_map(
                move |(mut all, scales)| {
                    let rows = all.chunks_exact_mut(depth).zip(scales);
                    rows.for_each(|(row, scale)| row.iter_mut().for_each(|x| *x *= 2.0_f32.powi(scale)));
                    all
                },
            )
        };
        (Just((rows, depth)), scaled(rows, depth), scaled(cols, depth), numbers(rows * cols))
            .prop_map(|((rows, depth), a, b, c)| Case { rows, depth, a, b, c })
    })
}

/// The integers of a row or a column, and their scale.
fn integers(numbers: &[f32]) -> (Vec<i32>, f32) {
    let largest = numbers.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let inverse = if largest == 0.0 { 0.0 } else { 127.0 / largest };
    (numbers.iter().map(|x| (x * inverse).round_ties_even() as i32).collect(), largest / 127.0)
}

/// C of a case, by loops over integers.
fn expected(case: &Case, add: bool) -> Vec<f32> {
    let mut c = case.c.clone();
    let cols = case.b.len() / case.depth;
    for (a, row) in case.a.chunks_exact(case.depth).zip(c.chunks_exact_mut(cols)) {
        for (b, cell) in case.b.chunks_exact(case.depth).zip(row) {
            let mut product = 0.0;
            for (a, b) in a.chunks(GROUP).zip(b.chunks(GROUP)) {
                let ((a, a_scale), (b, b_scale)) = (integers(a), integers(b));
                product += a.iter().zip(&b).map(|(a, b)| a * b).sum::<i32>() as f32 * (a_scale * b_scale);
            }
            *cell = if add { *cell + product } else { product };
        }
    }
    c
}

/// C of a case, by what `processor` has.
fn product(case: &Case, processor: Processor, add: bool) -> Vec<f32> {
    let (mut c, cols) = (case.c.clone(), case.b.len() / case.depth);
    let product = Int8Product {
        rows: case.rows,
        a: MatrixView::rows(&case.a, case.depth),
        b: &Int8Panels::new(&case.b, case.depth),
        depth: case.depth,
        cols,
        panels: 0..cols.div_ceil(COLUMNS),
        c: MatrixTarget { data: &mut c, stride: cols, add },
        left: &mut Int8Rows::default(),
    };
    product.run(processor);
    c
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// What this machine computes products by. What it lacks is skipped, and reported once.
fn processors() -> impl Iterator<Item = Processor> {
    static REPORTED: Once = Once::new();
    REPORTED.call_once(report_missing_processors);
    Processor::available()
}

fn report_missing_processors() {
    let found: Vec<String> = Processor::available().map(|processor| format!("{processor:?}")).collect();
    for name in ["Vnni", "Avx2"] {
        if !found.iter().any(|found| found.starts_with(name)) {
            external::report_skipped(&format!("this machine lacks the instructions of `Processor::{name}`"));
        }
    }
}

fn check_all(case: &Case, add: bool) -> TestCaseResult {
    let want = expected(case, add);
    for processor in processors() {
        prop_assert_eq!(bits(&product(case, processor, add)), bits(&want), "{:?}", processor);
    }
    Ok(())
}

proptest::proptest! {
    #[test]
    fn every_processor_comes_to_the_integers_of_a_plain_loop(case in cases(), add in any::<bool>()) {
        check_all(&case, add)?;
    }

    #[test]
    fn a_row_comes_to_the_same_bits_alone_and_however_threads_share_it(case in cases(), threads in 2_usize..5) {
        let (packed, cols) = (PackedMatrix::quantised(&case.b, case.depth), case.b.len() / case.depth);
        let want = expected(&case, true);
        let mut space = GemmWorkspace::default();
        for (at, a) in case.a.chunks_exact(case.depth).enumerate() {
            let mut row = case.c[at * cols..(at + 1) * cols].to_vec();
            super::super::multiply(1, MatrixView::rows(a, case.depth), &packed, MatrixTarget::add(&mut row, cols), &mut space);
            prop_assert_eq!(bits(&row), bits(&want[at * cols..(at + 1) * cols]));
        }
        space.set_pool(&ThreadPool::new(threads).expect("threads start"));
        let a = MatrixView::rows(&case.a, case.depth);
        let (mut by_rows, mut by_columns) = (case.c.clone(), case.c.clone());
        space.by_rows(threads, case.rows, a, &packed, MatrixTarget::add(&mut by_rows, cols));
        space.by_columns(threads, case.rows, a, &packed, MatrixTarget::add(&mut by_columns, cols));
        prop_assert_eq!(bits(&by_rows), bits(&want));
        prop_assert_eq!(bits(&by_columns), bits(&want));
    }

    /// Each number is off by half a step at most, of a by s and of b by t: a product by |a|·t + |b|·s + s·t, and by what f32 rounds.
    #[test]
    fn a_product_is_off_by_half_a_step_of_each_number_at_most(case in cases()) {
        let cols = case.b.len() / case.depth;
        for (at, found) in expected(&case, false).into_iter().enumerate() {
            let a = &case.a[at / cols * case.depth..][..case.depth];
            let b = &case.b[at % cols * case.depth..][..case.depth];
            let half = |numbers: &[f32]| f64::from(integers(numbers).1) / 2.0;
            let (mut want, mut most) = (0.0, 1e-30);
            for (k, (x, y)) in a.iter().zip(b).enumerate() {
                let (x, y, first) = (f64::from(*x), f64::from(*y), k / GROUP * GROUP);
                let [s, t] = [a, b].map(|numbers| half(&numbers[first..(first + GROUP).min(case.depth)]));
                want += x * y;
                most += x.abs() * t + y.abs() * s + s * t;
            }
            prop_assert!((f64::from(found) - want).abs() <= most * (1.0 + 1e-5), "{found} for {want}, off by {most} at most");
        }
    }
}

#[test]
fn the_largest_sums_are_exact() {
    // Signs of A and B agree: every product is 127², and with the offset up to twice as much.
    let depth = 3 * GROUP + 4;
    let numbers: Vec<f32> = (0..depth).map(|at| if at % 2 == 0 { 127.0 } else { -127.0 }).collect();
    for (a, sign) in [(numbers.clone(), 1.0), (numbers.iter().map(|x| -x).collect(), -1.0), (vec![127.0; depth], 0.0)] {
        let case = Case { rows: 1, depth, a, b: numbers.clone(), c: vec![0.0] };
        for processor in processors() {
            assert_eq!(product(&case, processor, false), [sign * (depth * 127 * 127) as f32], "{processor:?}");
        }
    }
}

#[test]
fn what_is_not_finite_stays_so_and_zeros_stay_zero() {
    let product = |a: [f32; 3]| {
        let case = Case { rows: 1, depth: 3, a: a.to_vec(), b: vec![1.0, -2.0, 0.5], c: vec![9.0] };
        product(&case, Processor::best(), false)[0]
    };
    for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert!(!product([1.0, broken, 0.0]).is_finite(), "{broken}");
    }
    assert_eq!(product([0.0; 3]), 0.0);
    assert!(product([1e-40, -1e-40, 1e-40]).abs() < 1e-38);
}

//! Learning-rate schedules.

use proptest::prelude::*;
use veriplay_learner::{Schedule, ScheduleShape};

const SHAPES: [ScheduleShape; 4] =
    [ScheduleShape::Constant, ScheduleShape::Linear, ScheduleShape::Cosine, ScheduleShape::Trapezoid { decay: 0.3 }];

fn schedule(shape: ScheduleShape) -> Schedule {
    Schedule { shape, peak: 2.0, final_ratio: 0.1, warmup: 10, total: 111 }
}

#[test]
fn every_shape_rises_in_a_line_to_the_peak_and_ends_at_its_floor() {
    for shape in SHAPES {
        let s = schedule(shape);
        assert!((s.rate(0) - 0.2).abs() < 1e-12 && (s.rate(4) - 1.0).abs() < 1e-12, "{shape:?}");
        assert!((s.rate(10) - 2.0).abs() < 1e-12, "{shape:?}");
        let floor = if shape == ScheduleShape::Constant { 2.0 } else { 0.2 };
        for step in [110, 111, 10_000] {
            assert!((s.rate(step) - floor).abs() < 1e-12, "{shape:?} at {step}: {}", s.rate(step));
        }
    }
}

#[test]
fn halfway_down_each_shape_is_where_it_should_be() {
    let halfway = |shape| schedule(shape).rate(60);
    assert!((halfway(ScheduleShape::Linear) - 1.1).abs() < 1e-12);
    assert!((halfway(ScheduleShape::Cosine) - 1.1).abs() < 1e-12);
    assert!((halfway(ScheduleShape::Trapezoid { decay: 0.3 }) - 2.0).abs() < 1e-12);
    assert!((schedule(ScheduleShape::Trapezoid { decay: 0.3 }).rate(95) - (0.2 + 1.8 * 0.5)).abs() < 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rates_are_finite_stay_below_the_peak_and_never_rise_after_warm_up(
        shape in 0..4_usize, warmup in 0..50_u64, total in 0..200_u64, step in 0..300_u64,
    ) {
        let s = Schedule { shape: SHAPES[shape], peak: 1.0, final_ratio: 0.0, warmup, total };
        prop_assert!((0.0..=1.0).contains(&s.rate(step)));
        prop_assert!(step < warmup || s.rate(step + 1) <= s.rate(step));
    }
}

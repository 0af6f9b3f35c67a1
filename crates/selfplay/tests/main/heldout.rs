//! The held-out table: means, gaps, and what it refuses.

use expect_test::expect;
use veriplay_core::TaskType;
use veriplay_selfplay::heldout::{EvalCounts, EvalTable};

fn counts(task_type: TaskType, samples: usize, accepted: usize, greedy: bool) -> EvalCounts {
    EvalCounts { task_type, samples, accepted, greedy }
}

fn one_of_each() -> Vec<EvalCounts> {
    vec![
        counts(TaskType::Deduction, 8, 4, true),
        counts(TaskType::Abduction, 8, 8, true),
        counts(TaskType::Induction, 8, 0, false),
        counts(TaskType::Deduction, 8, 0, false),
    ]
}

#[test]
fn the_table_has_the_keys_and_numbers_of_the_counts() {
    let table = EvalTable::from_counts(&one_of_each()).unwrap();
    let json = serde_json::to_string_pretty(&table).unwrap();
    expect![[r#"
        {
          "deduction": 0.25,
          "abduction": 1.0,
          "induction": 0.0,
          "mean": 0.4166666666666667,
          "greedy_mean": 0.5,
          "pass8_mean": 0.5,
          "greedy": {
            "deduction": 0.5,
            "abduction": 1.0,
            "induction": 0.0
          },
          "pass8": {
            "deduction": 0.5,
            "abduction": 1.0,
            "induction": 0.0
          }
        }"#]]
    .assert_eq(&json);
    assert_eq!(table.pass1(Some(TaskType::Deduction)), 0.25);
    assert_eq!(table.pass1(None), table.mean);
    assert_eq!(table.greedy(None), table.greedy_mean);
    assert_eq!(table.pass8(None), table.pass8_mean);
}

#[test]
fn types_weigh_the_same_whatever_their_number_of_tasks() {
    let mut many = one_of_each();
    many.extend(vec![counts(TaskType::Abduction, 8, 8, true); 50]);
    assert_eq!(EvalTable::from_counts(&many), EvalTable::from_counts(&one_of_each()));
}

#[test]
fn a_table_with_a_gap_is_refused() {
    let told = |counts: &[EvalCounts]| EvalTable::from_counts(counts).unwrap_err().to_string();
    let mut few = one_of_each();
    few[2].samples = 7;
    let mut many_accepted = one_of_each();
    many_accepted[1].accepted = 9;
    expect![[r#"
        no task of type `abduction` to measure: give at least `1` of each type
        a task of type `induction` has `0` of `7` samples accepted: pass@8 needs `8` samples or more
        a task of type `abduction` has `9` of `8` samples accepted: pass@8 needs `8` samples or more
    "#]]
    .assert_eq(&format!("{}\n{}\n{}\n", told(&one_of_each()[..1]), told(&few), told(&many_accepted)));
}

//! The table of an evaluation: how its keys are read back, and how two tables differ. What it computes is tested where it is made, in whole
//! evaluations.

use std::collections::BTreeMap;

use veriplay_core::Digest;
use veriplay_selfplay::eval_table::{EvalCounts, EvalNumbers, EvalRow, EvalTable, RowCounts};
use veriplay_selfplay::intervals::Estimate;

#[test]
fn a_table_is_read_back_and_an_unknown_key_is_refused() {
    let numbers = EvalNumbers { pass1: 0.25, greedy: 0.5, pass8: 0.75 };
    let row = EvalRow { row: "deduction".to_owned(), tasks: 3, pass1: 0.25, greedy: 0.5, pass8: 0.75 };
    // A table of an earlier version has neither intervals nor counts.
    let table = EvalTable {
        rows: vec![row],
        mean: numbers,
        numbers: BTreeMap::new(),
        intervals: None,
        counts: None,
        further: BTreeMap::new(),
    };
    let text = serde_json::to_string(&table).unwrap();
    assert_eq!(
        text,
        r#"{"rows":[{"row":"deduction","tasks":3,"pass1":0.25,"greedy":0.5,"pass8":0.75}],"mean":{"pass1":0.25,"greedy":0.5,"pass8":0.75}}"#
    );
    assert_eq!(serde_json::from_str::<EvalTable>(&text).unwrap(), table);
    assert!(serde_json::from_str::<EvalTable>(&text.replacen('{', "{\"x\":1,", 1)).is_err());
    let more = [("mutation_score".to_owned(), Some(0.5)), ("none".to_owned(), None)].into();
    let more = EvalTable { numbers: more, ..table };
    let text = serde_json::to_string(&more).unwrap();
    assert!(text.ends_with(r#","numbers":{"mutation_score":0.5,"none":null}}"#), "{text}");
    assert_eq!(serde_json::from_str::<EvalTable>(&text).unwrap(), more);
}

/// A table with one row of tasks of which so many of eight samples are right. Greedy responses are right where more than half of them are.
fn table(set: &str, solved: &[u32]) -> EvalTable {
    let greedy: Vec<u32> = solved.iter().map(|solved| u32::from(*solved > 4)).collect();
    let mean = |counts: &[u32], of: u32| f64::from(counts.iter().sum::<u32>()) / f64::from(of) / counts.len() as f64;
    let all = solved.iter().filter(|solved| **solved > 0).count() as f64 / solved.len() as f64;
    let numbers = EvalNumbers { pass1: mean(solved, 8), greedy: mean(&greedy, 1), pass8: all };
    let EvalNumbers { pass1, greedy: right, pass8 } = numbers;
    let row = EvalRow { row: "deduction".to_owned(), tasks: solved.len(), pass1, greedy: right, pass8 };
    let rows = vec![RowCounts { solved: solved.to_vec(), greedy }];
    let counts = Some(EvalCounts { set: Digest::of(set.as_bytes()), samples: 8, rows });
    EvalTable {
        rows: vec![row],
        mean: numbers,
        numbers: BTreeMap::new(),
        intervals: None,
        counts,
        further: BTreeMap::new(),
    }
}

#[test]
fn tables_of_the_same_tasks_are_compared_task_by_task() {
    let (solved, better): (Vec<u32>, Vec<u32>) =
        ((0..40).map(|task| task % 8).collect(), (1..41).map(|task| (task - 1) % 8 + 1).collect());
    let (before, after) = (table("set", &solved), table("set", &better));
    let paired = after.difference(&before).unwrap();
    assert!(paired.paired && (paired.mean.pass1.value - 0.125).abs() < 1e-12, "{paired:?}");
    assert_eq!(paired.rows[0].greedy, Estimate::of_pairs(&differences(&before, &after)).unwrap());
    let independent = table("other set", &better).difference(&before).unwrap();
    assert!(!independent.paired && (independent.mean.pass1.value - 0.125).abs() < 1e-12, "{independent:?}");
    let width = |estimate: Estimate| estimate.interval[1] - estimate.interval[0];
    assert!(width(paired.mean.pass1) < width(independent.mean.pass1));
    assert_eq!(
        independent.mean.pass8,
        after.mean_estimates().unwrap().pass8.minus(before.mean_estimates().unwrap().pass8)
    );
    let mut other = table("set", &solved);
    other.rows[0].row = "induction".to_owned();
    assert_eq!(other.difference(&before), None, "their rows are not the same");
}

/// The differences of the greedy responses.
fn differences(before: &EvalTable, after: &EvalTable) -> Vec<f64> {
    let of = |table: &EvalTable| table.counts.as_ref().unwrap().rows[0].greedy.clone();
    of(after).iter().zip(of(before)).map(|(after, before)| f64::from(*after) - f64::from(before)).collect()
}

#[test]
fn counts_that_do_not_fit_are_compared_as_independent() {
    let (before, mut after) = (table("set", &[1, 2, 3]), table("set", &[4, 5, 6]));
    after.counts.as_mut().unwrap().rows[0].solved.truncate(2);
    assert!(!after.difference(&before).unwrap().paired);
    after.counts = None;
    assert!(!after.difference(&before).unwrap().paired);
    let empty = EvalTable { rows: Vec::new(), ..table("set", &[1]) };
    assert_eq!((empty.difference(&empty), empty.mean_estimates()), (None, None));
}

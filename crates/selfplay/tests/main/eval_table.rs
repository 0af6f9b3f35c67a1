//! The table of an evaluation: how its keys are read back. What it computes is tested where it is made, in whole evaluations.

use std::collections::BTreeMap;

use veriplay_selfplay::eval_table::{EvalNumbers, EvalRow, EvalTable};

#[test]
fn a_table_is_read_back_and_an_unknown_key_is_refused() {
    let numbers = EvalNumbers { pass1: 0.25, greedy: 0.5, pass8: 0.75 };
    let row = EvalRow { row: "deduction".to_owned(), tasks: 3, pass1: 0.25, greedy: 0.5, pass8: 0.75 };
    let table = EvalTable { rows: vec![row], mean: numbers, numbers: BTreeMap::new() };
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

//! The table of an evaluation: how its keys are read back. What it computes is tested where it is made, in whole evaluations.

use veriplay_selfplay::eval_table::{EvalNumbers, EvalRow, EvalTable};
use veriplay_selfplay::play::HeldOut;

#[test]
fn a_table_is_read_back_and_an_unknown_key_is_refused() {
    let numbers = EvalNumbers { pass1: 0.25, greedy: 0.5, pass8: 0.75 };
    let row = EvalRow { row: "deduction".to_owned(), tasks: 3, pass1: 0.25, greedy: 0.5, pass8: 0.75 };
    let table = EvalTable { rows: vec![row], mean: numbers };
    let text = serde_json::to_string(&table).unwrap();
    assert_eq!(
        text,
        r#"{"rows":[{"row":"deduction","tasks":3,"pass1":0.25,"greedy":0.5,"pass8":0.75}],"mean":{"pass1":0.25,"greedy":0.5,"pass8":0.75}}"#
    );
    assert_eq!(serde_json::from_str::<EvalTable>(&text).unwrap(), table);
    assert!(serde_json::from_str::<EvalTable>(&text.replacen('{', "{\"x\":1,", 1)).is_err());
    assert_eq!((table.mean(), table.rows()), ([0.25, 0.5, 0.75], vec![("deduction".to_owned(), [0.25, 0.5, 0.75])]));
}

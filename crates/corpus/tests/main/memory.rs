//! What rows take of memory while they are read: a stranger's row may be made of nothing but small values.

use veriplay_corpus::{ReadOptions, parse_problem, problem_format};

/// Bytes of a row.
const ROW: usize = 1_000_000;

/// The most memory of reading one: its values once, in a list that has grown, and its text a few times.
const MOST: u64 = 28 << 20;

/// The most memory at any moment of reading `row`.
fn peak(format: &str, row: &str) -> u64 {
    let format = problem_format(format).expect("a format");
    let measured = allocation_counter::measure(|| {
        parse_problem(row, format, &ReadOptions::default()).expect("a row");
    });
    measured.bytes_max
}

#[test]
fn a_row_takes_the_memory_of_its_values_once() {
    let ints = format!("[{}1]", "1,".repeat(ROW / 2));
    let text = serde_json::to_string(&ints).expect("a text");
    let call = format!(r#"{{"fn_name": "f", "inputs": [[{ints}]], "outputs": [0]}}"#);
    let carried = format!(r#"{{"label": {{"info": {{"task": {{"answer": {{"tests": {call}}}}}}}}}}}"#);
    let named = format!(r#"{{"format": "auto", "row": {{"format": "auto", "row": {call}}}}}"#);
    let evalplus =
        r#""task_id": "a", "prompt": "def f(x):\n", "canonical_solution": "    return 0\n", "entry_point": "f""#;
    for (name, format, row) in [
        ("a call", "auto", call.clone()),
        ("a list of calls", "auto", format!(r#"[{{"input": [{ints}], "output": 0, "fn_name": "f"}}]"#)),
        ("five carriers", "auto", carried),
        ("a format in a format", "auto", named),
        ("a text", "auto", format!(r#"{{"fn_name": "f", "inputs": [{text}], "outputs": ["0"]}}"#)),
        ("apps", "apps", format!(r#"{{"input_output": {call}}}"#)),
        ("evalplus", "evalplus", format!(r#"{{{evalplus}, "base_input": [[{ints}]]}}"#)),
        ("code_contests", "code_contests", format!(r#"{{"public_tests": {{"input": [{ints}], "output": [""]}}}}"#)),
    ] {
        let peak = peak(format, &row);
        assert!(peak < MOST, "{name}: {} MiB", peak >> 20);
    }
}

//! The same questions put to the machine's own `python3`, where there is one: repr, `ast.literal_eval`, `==`, `ast.dump`.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use veriplay_core::{Value, normalize_program};

use crate::arbitrary::value;
use crate::program::CORPUS;

/// What `script` prints for these lines of JSON, one line each; nothing where there is no python3.
pub(crate) fn python(script: &str, lines: &[String]) -> Option<Vec<String>> {
    let child = Command::new("python3")
        .args(["-I", "-S", "-X", "utf8", "-W", "ignore", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        std::io::stderr().write_all(b"skipped: no python3 to compare with\n").unwrap();
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = lines.join("\n") + "\n";
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "the comparison script failed");
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

/// Values without `inf`, `nan` and frozensets: those that have a literal.
fn values(count: usize, literal_only: bool) -> Vec<Value> {
    let mut runner = TestRunner::deterministic();
    let draws = std::iter::repeat_with(|| value().new_tree(&mut runner).unwrap().current());
    draws.filter(|value| !literal_only || Value::parse_literal(&value.to_string()).is_ok()).take(count).collect()
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[test]
fn python_reads_each_repr_as_an_equal_value_and_writes_ascii_alike() {
    let values = values(300, true);
    let script = "import ast, json, sys\n\
        def plain(v): return ascii(v) if not isinstance(v, (set, dict, list, tuple)) else ''\n\
        for line in sys.stdin:\n v = ast.literal_eval(json.loads(line))\n print(json.dumps([repr(v), plain(v)]))";
    let lines: Vec<String> = values.iter().map(|value| json(&value.to_string())).collect();
    let Some(replies) = python(script, &lines) else { return };
    assert_eq!(replies.len(), values.len());
    for (value, reply) in values.iter().zip(replies) {
        let (repr, ascii): (String, String) = serde_json::from_str(&reply).unwrap();
        assert_eq!(Value::parse_repr(&repr).unwrap(), *value, "python wrote {repr}");
        let text = value.to_string();
        if text.is_ascii() && !ascii.is_empty() {
            assert_eq!(text, ascii);
        }
    }
}

#[test]
fn what_is_taken_as_a_literal_python_takes_too_and_as_the_same() {
    let mut runner = TestRunner::deterministic();
    let texts =
        "[-+0-9exj_.,:'\"bru\\\\(){}\\[\\] ]{1,8}|-?[0-9_]{1,4}[.e]{0,2}[0-9_]{0,3}|[bru]{0,2}'[a-z\\\\0-7'\"]{0,5}'";
    let draws = std::iter::repeat_with(|| texts.new_tree(&mut runner).unwrap().current());
    let taken: Vec<String> = draws.take(20_000).filter(|text| Value::parse_literal(text).is_ok()).collect();
    assert!(taken.len() > 500, "only {} texts to compare", taken.len());
    let script = "import ast, json, sys\n\
        for line in sys.stdin:\n\
        \x20try: print(json.dumps(repr(ast.literal_eval(json.loads(line)))))\n\
        \x20except Exception as e: print(json.dumps('!' + repr(e)))";
    let lines: Vec<String> = taken.iter().map(|text| json(text)).collect();
    let Some(replies) = python(script, &lines) else { return };
    for (text, reply) in taken.iter().zip(replies) {
        let reply: String = serde_json::from_str(&reply).unwrap();
        let ours = Value::parse_literal(text).unwrap();
        let theirs = Value::parse_repr(&reply).unwrap_or_else(|_| panic!("`{text}` is {ours}, python says {reply}"));
        assert_eq!(ours, theirs, "`{text}`");
    }
}

#[test]
fn python_calls_the_same_values_equal() {
    let mut values = values(60, true);
    values.extend(
        ["1", "1.0", "True", "0", "-0.0", "(1,)", "[1]", "{1}", "{1.0}", "{1: 1}", "{True: 1.0}"]
            .map(|text| Value::parse_literal(text).unwrap()),
    );
    let script = "import ast, json, sys\n\
        v = [ast.literal_eval(json.loads(line)) for line in sys.stdin]\n\
        for a in v: print(''.join('01'[a == b] for b in v))";
    let lines: Vec<String> = values.iter().map(|value| json(&value.to_string())).collect();
    let Some(rows) = python(script, &lines) else { return };
    for (a, row) in values.iter().zip(rows) {
        for (b, cell) in values.iter().zip(row.bytes()) {
            assert_eq!(a.python_eq(b), cell == b'1', "{a} == {b}");
        }
    }
}

#[test]
fn python_parses_a_program_and_its_normal_form_to_one_tree() {
    let mut programs: Vec<String> = CORPUS.iter().map(|(program, _)| (*program).to_owned()).collect();
    programs.push(include_str!("sample.py.txt").to_owned());
    let script = "import ast, json, sys\n\
        def tree(text):\n\
        \x20try: return ast.dump(ast.parse(text))\n\
        \x20except SyntaxError: return None\n\
        for line in sys.stdin:\n\
        \x20a, b = json.loads(line)\n\
        \x20print('same' if tree(a) in (None, tree(b)) else 'other')";
    let pairs: Vec<String> =
        programs.iter().map(|text| serde_json::to_string(&[text, &normalize_program(text)]).unwrap()).collect();
    let Some(replies) = python(script, &pairs) else { return };
    for (program, reply) in programs.iter().zip(replies) {
        assert_eq!(reply, "same", "{program}");
    }
}

//! Generated programs against the real language: a native `python3`, where there is one, compiles and runs them.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use veriplay_core::Value;
use veriplay_corpus::{Grammar, Split, drafts::Programs};

/// Reads `[[program, [argument, …]], …]` as JSON and prints one line each: `length text` or `! exception`.
const RUNNER: &str = r"
import json, sys
for program, arguments in json.load(sys.stdin):
    space = {}
    exec(compile(program, 'generated', 'exec'), space)
    for text in arguments:
        try:
            out = repr(space['f'](*eval('(' + text + ',)')))
        except Exception as error:
            out = '!' + type(error).__name__
        print(json.dumps(out))
";

/// Runs every program on its inputs; `None` where there is no `python3`.
fn run(cases: &[(String, Vec<String>)]) -> Option<Vec<String>> {
    let python = Command::new("python3").args(["-I", "-S", "-c", RUNNER]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut python = python.ok()?;
    let input = serde_json::to_vec(cases).unwrap();
    python.stdin.take().unwrap().write_all(&input).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "a generated program does not compile");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn scratch() {
    let grammar = Grammar::embedded_tiny();
    eprintln!("{} fragments {:?}", grammar.fragments().len(), grammar.fragments());
    for mix in ["warmup", "natural", "multi"] {
        let mut programs = Programs::new(&grammar, Split::Train, mix, 1).unwrap();
        let mut cases = Vec::new();
        let mut families = Vec::new();
        for _ in 0..3000 {
            let g = programs.next().unwrap();
            let inputs = grammar.inputs(programs.rng(), g.input_kind, 6);
            families.push((g.family.clone(), g.input_kind));
            cases.push((g.program, inputs.iter().map(|i| Value::arguments_text(i)).collect::<Vec<_>>()));
        }
        if mix == "natural" { for c in &cases[..25] { eprintln!("{}\n{:?}", c.0, c.1); } }
        let out = run(&cases).unwrap();
        let mut at = 0;
        let mut stats: BTreeMap<String, (usize, usize, usize, usize, usize, usize, usize)> = BTreeMap::new();
        for (case, fam) in cases.iter().zip(&families) {
            let outs = &out[at..at + case.1.len()];
            at += case.1.len();
            let s = stats.entry(format!("{} {:?}", fam.0, fam.1)).or_default();
            s.0 += 1;
            s.1 += outs.iter().filter(|o| o.starts_with('!')).count();
            s.2 += outs.iter().map(|o| o.len()).sum::<usize>();
            s.3 += outs.iter().filter(|o| o.len() > 22).count();
            let mut d = outs.to_vec(); d.sort(); d.dedup();
            s.4 += usize::from(d.len() >= 3);
            let ok = outs.iter().all(|o| !o.starts_with('!') && o.len() <= 22) && d.len() >= 3;
            s.5 += usize::from(ok);
            s.6 += case.0.len();
        }
        for (k, s) in stats { eprintln!("{mix} {k}: n {} err {:.3} len {:.1} long {:.3} distinct>=3 {:.3} usable {:.3} bytes {:.1}", s.0, s.1 as f64/ (6*s.0) as f64, s.2 as f64/(6*s.0) as f64, s.3 as f64/(6*s.0) as f64, s.4 as f64/s.0 as f64, s.5 as f64 / s.0 as f64, s.6 as f64/s.0 as f64); }
    }
    panic!();
}

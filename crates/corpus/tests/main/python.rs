//! Generated programs against the real language: a native `python3`, where there is one, compiles and runs them.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::process::{Command, Stdio};

use veriplay_core::Value;
use veriplay_corpus::{Grammar, ProgramStream, Split, built_in_seeds};

/// Reads `[[program, [argument, …]], …]` as JSON and prints the `repr` of every result, or `!` and the exception.
const RUNNER: &str = r"
import json, sys
for program, arguments in json.load(sys.stdin):
    space = {}
    exec(compile(program, 'generated', 'exec'), space)
    for text in arguments:
        try:
            out = repr(eval('f(' + text + ')', space))
        except Exception as error:
            out = '!' + type(error).__name__
        print(json.dumps(out))
";

type Case = (String, Vec<String>);

/// The outputs of every program on its inputs, all in one process; `None` where there is no `python3`.
fn run(cases: &[Case]) -> Option<Vec<Vec<String>>> {
    let mut python = Command::new("python3");
    python.args(["-I", "-S", "-c", RUNNER]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = python.spawn().ok()?;
    python.stdin.take().unwrap().write_all(&serde_json::to_vec(cases).unwrap()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "a program does not compile");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut outputs = text.lines().map(|line| serde_json::from_str(line).unwrap());
    Some(cases.iter().map(|(_, inputs)| outputs.by_ref().take(inputs.len()).collect()).collect())
}

#[test]
fn generated_programs_compile_run_and_have_short_varied_outputs() {
    let grammar = Grammar::built_in();
    let mut programs = ProgramStream::new(&grammar, Split::Train, "natural", 7).unwrap();
    let mut cases: Vec<Case> = Vec::new();
    for _ in 0..600 {
        let generated = programs.next().unwrap();
        let inputs = grammar.inputs(programs.rng(), generated.input_kind, 6);
        cases.push((generated.program, inputs.iter().map(|input| Value::arguments_text(input)).collect()));
    }
    let Some(outputs) = run(&cases) else { return };
    let all: Vec<&String> = outputs.iter().flatten().collect();
    let share = |is: fn(&str) -> bool| all.iter().filter(|output| is(output)).count() as f64 / all.len() as f64;
    assert!(share(|output| output.starts_with('!')) <= 0.03, "programs raise");
    assert!(share(|output| output.len() > 22) <= 0.05, "outputs are long");
    let varied = outputs.iter().filter(|own| own.iter().collect::<HashSet<_>>().len() >= 3).count();
    assert!(varied >= 480, "{varied} of 600 programs vary");
    let mut frequency: BTreeMap<&str, usize> = BTreeMap::new();
    all.iter().for_each(|output| *frequency.entry(output).or_default() += 1);
    let most = frequency.values().max().copied().unwrap_or_default();
    assert!(most * 20 <= all.len(), "one output is {most} of {}", all.len());
    assert!(frequency.len() * 10 >= all.len() * 3, "{} distinct outputs of {}", frequency.len(), all.len());
}

#[test]
fn hand_written_seeds_run_on_every_input_and_their_outputs_vary() {
    let text = |inputs: &[Vec<Value>]| inputs.iter().map(|input| Value::arguments_text(input)).collect();
    let seeds = built_in_seeds();
    let cases: Vec<Case> = seeds.iter().map(|seed| (seed.program.clone(), text(&seed.inputs))).collect();
    let Some(outputs) = run(&cases) else { return };
    for (seed, own) in seeds.iter().zip(&outputs) {
        assert!(own.iter().all(|output| !output.starts_with('!')), "{}: {own:?}", seed.name);
        let distinct = own.iter().collect::<HashSet<_>>().len();
        assert!(seed.zero || distinct >= 4, "{}: {own:?}", seed.name);
    }
}

//! Generated programs against the real language: a native `python3`, where there is one, compiles and runs them.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::process::{Command, Stdio};

use veriplay_core::Value;
use veriplay_corpus::{GeneratedProgram, Grammar, ProgramStream, Split, built_in_seeds};

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

/// Runs every program on its inputs in one process; `None` where there is no `python3`.
fn run(cases: &[Case]) -> Option<Vec<String>> {
    let mut python = Command::new("python3");
    python.args(["-I", "-S", "-c", RUNNER]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = python.spawn().ok()?;
    python.stdin.take().unwrap().write_all(&serde_json::to_vec(cases).unwrap()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "a program does not compile");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn sample(mix: &str, count: usize) -> Vec<(GeneratedProgram, Case)> {
    let grammar = Grammar::built_in();
    let mut programs = ProgramStream::new(&grammar, Split::Train, mix, 7).unwrap();
    let mut cases = Vec::new();
    for _ in 0..count {
        let generated = programs.next().unwrap();
        let inputs = grammar.inputs(programs.rng(), generated.input_kind, 6);
        let texts = inputs.iter().map(|input| Value::arguments_text(input)).collect();
        cases.push((generated.clone(), (generated.program, texts)));
    }
    cases
}

/// Shares over a sample, by family.
#[derive(Default)]
struct Counts {
    programs: f64,
    runs: f64,
    raised: f64,
    long: f64,
    varied: f64,
}

#[test]
fn generated_programs_compile_run_and_have_short_varied_outputs() {
    let sample = sample("natural", 600);
    let cases: Vec<Case> = sample.iter().map(|(_, case)| case.clone()).collect();
    let Some(outputs) = run(&cases) else { return };
    let mut outputs = outputs.into_iter();
    let mut all: Counts = Counts::default();
    let mut frequency: BTreeMap<String, f64> = BTreeMap::new();
    for (_, (_, inputs)) in &sample {
        let own: Vec<String> = outputs.by_ref().take(inputs.len()).collect();
        all.programs += 1.0;
        all.runs += own.len() as f64;
        all.raised += own.iter().filter(|output| output.starts_with('!')).count() as f64;
        all.long += own.iter().filter(|output| output.len() > 22).count() as f64;
        all.varied += f64::from(own.iter().collect::<HashSet<_>>().len() >= 3);
        own.into_iter().for_each(|output| *frequency.entry(output).or_default() += 1.0);
    }
    assert!(all.raised / all.runs <= 0.03, "{} of {} runs raise", all.raised, all.runs);
    assert!(all.long / all.runs <= 0.05, "{} of {} outputs are longer than 22", all.long, all.runs);
    assert!(all.varied / all.programs >= 0.8, "{} of {} programs vary", all.varied, all.programs);
    let most = frequency.values().fold(0.0_f64, |most, count| most.max(*count));
    assert!(most / all.runs <= 0.05, "one output is {most} of {}", all.runs);
    assert!(frequency.len() as f64 / all.runs >= 0.3, "{} distinct outputs of {}", frequency.len(), all.runs);
}

#[test]
fn hand_written_seeds_run_on_every_input_and_their_outputs_vary() {
    let text = |inputs: &[Vec<Value>]| inputs.iter().map(|input| Value::arguments_text(input)).collect();
    let seeds = built_in_seeds();
    let cases: Vec<Case> = seeds.iter().map(|seed| (seed.program.clone(), text(&seed.inputs))).collect();
    let Some(outputs) = run(&cases) else { return };
    let mut outputs = outputs.into_iter();
    for seed in &seeds {
        let own: Vec<String> = outputs.by_ref().take(seed.inputs.len()).collect();
        assert!(own.iter().all(|output| !output.starts_with('!')), "{}: {own:?}", seed.name);
        let distinct = own.iter().collect::<HashSet<_>>().len();
        assert!(seed.zero || distinct >= 4, "{}: {own:?}", seed.name);
    }
}

//! A small repository from the generator of tiny programs: one function per module, a test module for each, one test per case. For
//! bugs and repairs with a model that knows no natural language.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::isolation::Isolation;
use veriplay_console::progress::counted;
use veriplay_core::Language;
use veriplay_corpus::{GeneratedProgram, Grammar, ProgramStream, Split};
use veriplay_python::Python;
use veriplay_repository::BASELINE_LIMITS;
use veriplay_run::executor::GameExecutor;
use veriplay_run::programs::{ExecutedProgram, ProgramFilter};
use veriplay_selfplay::randomness::generator;

/// Tests of a function.
const CASES: usize = 8;
/// When a function is worth a module.
const FILTER: ProgramFilter = ProgramFilter { max_output_chars: 22, min_distinct_outputs: 4 };

/// Writes `functions` modules, with programs of only `split` and `mix`, into `out`.
pub(crate) fn generate_repository(
    out: &Path,
    split: Split,
    mix: &str,
    functions: usize,
    seed: u64,
) -> Result<(), Failure> {
    let executor = GameExecutor::open(Python.image(), None, Isolation::Thread)?;
    let grammar = Grammar::built_in();
    let programs = ProgramStream::new(&grammar, split, mix, seed).or_fail(ExitCode::Input)?;
    let mut inputs = generator(seed, 0, "inputs of a generated repository");
    let (mut seen, mut written) = (HashSet::new(), 0);
    write_file(out, "tiny/__init__.py", "")?;
    // A small mix repeats itself: this many draws find all its programs.
    for program in programs.take(50 * functions) {
        if written == functions {
            return Ok(());
        }
        if !seen.insert(program.program.clone()) {
            continue;
        }
        let asked = grammar.inputs(&mut inputs, program.input_kind, CASES);
        let all = asked.len();
        let executed = ExecutedProgram::make(&FILTER, BASELINE_LIMITS, program.clone(), asked, executor.runner())
            .or_fail(ExitCode::Host)?;
        if let Some(executed) = executed.filter(|executed| executed.pairs.len() == all) {
            write_module(out, written, &program, &executed)?;
            written += 1;
        }
    }
    let what = format!("the generator made only {written} of {}", counted(functions, "function"));
    Err(Failure::message(ExitCode::Input, what).hint("ask for fewer, or name another mix"))
}

fn write_module(
    out: &Path,
    number: usize,
    program: &GeneratedProgram,
    executed: &ExecutedProgram,
) -> Result<(), Failure> {
    write_file(out, &format!("tiny/m{number:03}.py"), &format!("{}\n", program.program))?;
    let mut tests = format!("from tiny.m{number:03} import f\n");
    for (index, pair) in executed.pairs.iter().enumerate() {
        let arguments = veriplay_core::Value::arguments_text(&pair.input);
        write!(tests, "\n\ndef test_{index}():\n    assert f({arguments}) == {}\n", pair.output)
            .or_fail(ExitCode::Bug)?;
    }
    write_file(out, &format!("tests/test_m{number:03}.py"), &tests)
}

fn write_file(out: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = out.join(name);
    let folder = path.parent().unwrap_or(out);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, text))
        .with_context(|| format!("cannot write `{}`", path.display()))
        .or_fail(ExitCode::Input)
}

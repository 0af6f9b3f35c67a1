//! Any bytes as the module of a job: what the fuzzer of the bounds, the meter and the compiler runs.

use veriplay_core::{CancellationToken, Job, Limits, Outcome};
use wasmtime::{Engine, Module};

use super::{Program, bounds};
use crate::meter::{self, MeterError, Pricing};

/// What bounds its time is the fuel: the deadline is far above what that takes.
const LIMITS: Limits =
    Limits { fuel: 300_000, memory_bytes: 4 << 20, output_bytes: 4096, file_bytes: 4096, deadline_ns: 60_000_000_000 };

/// Checks, meters and compiles `wasm` by an engine for modules, and runs it twice.
///
/// # Panics
/// When one of these does, when what is out of bounds or not valid is compiled, when metering makes a valid module invalid, and when a run makes the
/// host fail, breaks a limit, needs the deadline to end, or has another outcome or fuel than the other one.
pub(crate) fn run_any_module(engine: &Engine, wasm: &[u8]) {
    let compiled = Program::compile(engine, wasm).expect("no module is a fault of the host");
    if bounds::check(wasm).is_err() || Module::validate(engine, wasm).is_err() {
        assert!(compiled.is_err(), "a module was compiled that is out of bounds or not valid");
        return;
    }
    match meter::instrument(wasm, Pricing::UpperBound) {
        Ok(metered) => Module::validate(engine, &metered).expect("a metered module is valid"),
        Err(MeterError::AlreadyMetered) => assert!(compiled.is_err(), "a module was compiled that is metered already"),
        Err(error) => panic!("a valid module cannot be metered: {error}"),
    }
    let Ok(program) = compiled else { return };
    let outcome = run(&program);
    assert!(!outcome.met_deadline(), "fuel did not end it: {outcome:?}");
    assert!(outcome.fuel <= LIMITS.fuel && outcome.peak_memory_bytes <= LIMITS.memory_bytes, "{outcome:?}");
    let output = outcome.stdout.len().max(outcome.stderr.len());
    assert!(output as u64 <= LIMITS.output_bytes, "{output} bytes of output");
    assert_eq!(run(&program), outcome, "the same module, and another outcome");
}

fn run(program: &Program) -> Outcome {
    let job = Job { limits: LIMITS, seed: 7, ..Job::module(Vec::<u8>::new()) };
    program.run(&job, &CancellationToken::new()).expect("no program makes the host fail")
}

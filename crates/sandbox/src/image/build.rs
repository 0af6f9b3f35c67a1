//! Makes an image: compile the guest, run it up to the point where a job would start, keep its memory and globals.
//!
//! The module is instrumented by wasmtime-wizer, which exports its mutable globals and refuses modules whose other state
//! could change (tables, dropped segments). It is compiled once: an instance is brought to the snapshot by mapping the
//! kept memory over its own, so no second module with the snapshot inside has to be compiled.

use std::sync::Arc;

use wasmtime::{Engine, Module, Store};

use super::spec::ImageSpec;
use super::wheel::Wheel;
use super::{Code, ImageError};
use crate::channel::Channel;
use crate::exports::{Exports, SavedVal, Snapshot};
use crate::fuel;
use crate::host::Host;
use crate::imports::linker;
use crate::meter;
use crate::stacks::drive;
use crate::wasi::{Setup, Wasi, base_tree};

/// The last turn before the snapshot: from now on a turn is a job. What is alive now is alive in every job, and the
/// collector need not look at it.
const START: &str =
    "_veriplay_start()\ndel _veriplay_start, _veriplay_job\nimport gc\ngc.collect()\ngc.freeze()\ndel gc";
/// Fuel of a build: enough for any preload, and an end for one that loops.
const BUILD_FUEL: u64 = 500_000_000_000;
/// Bytes of output a preload may write before something is clearly wrong.
const BUILD_OUTPUT: u64 = 1 << 20;
/// Memory a preload may take.
const BUILD_MEMORY: u64 = 1 << 30;

/// Compiles the guest of a wheel: a minute or so on two cores.
///
/// # Errors
/// When it is no module we can instrument and compile.
pub(crate) fn compile(engine: &Engine, wheel: Wheel) -> Result<Code, ImageError> {
    let fail = |phase: &'static str| move |error: wasmtime::Error| build_error(phase, format!("{error:#}"));
    // Before anything is added: what is no module, or only is one with what metering adds, is refused here.
    Module::validate(engine, &wheel.wasm).map_err(fail("reading the guest module"))?;
    let wizer = wasmtime_wizer::Wizer::new();
    let (_, instrumented) = wizer.instrument(&wheel.wasm).map_err(fail("reading the guest module"))?;
    let metered = meter::instrument(&instrumented)
        .map_err(|error| build_error("metering the guest module", error.to_string()))?;
    let module = Module::new(engine, &metered).map_err(fail("compiling the guest module"))?;
    Ok(Code { module, library: Arc::new(wheel.library) })
}

fn build_error(phase: &'static str, detail: String) -> ImageError {
    ImageError::Build { phase, detail }
}

/// Runs `spec`'s preload and harness in a new instance of `code`, and keeps what has become of it. Needs a deep stack.
///
/// # Errors
/// When the preload fails.
pub(crate) fn preload(spec: &ImageSpec, engine: &Engine, code: &Code) -> Result<Snapshot, ImageError> {
    let mut guest = Preload::start(spec, engine, code)?;
    for module in &spec.preload {
        guest.turn(&format!("import {module}"))?;
    }
    guest.turn("import sys\nfor _name in [n for n in globals() if not n.startswith('__')]: del globals()[_name]")?;
    guest.turn(&spec.harness)?;
    for (name, source) in &spec.modules {
        guest.turn(&module_text(name, source))?;
    }
    guest.turn(&format!("_room = bytearray({})\ndel _room", spec.headroom_bytes))?;
    guest.turn(START)?;
    let mut snapshot = guest.keep()?;
    if let Some(bytes) = spec.c_stack_bytes {
        raise_recursion_limit(&mut snapshot, bytes)?;
    }
    Ok(snapshot)
}

/// Lets CPython use `bytes` of its C stack. It assumes 128 KiB on WASI, whatever the module has, and raises `RecursionError` at some 220
/// calls through C code, such as those of a function under `lru_cache`. Its thread state holds three addresses beside each other: the top of
/// the stack, where `RecursionError` is raised, and where the process would be ended.
fn raise_recursion_limit(snapshot: &mut Snapshot, bytes: u32) -> Result<(), ImageError> {
    /// Below the top, by CPython 3.15's `Py_C_STACK_SIZE` and its margin on WASI.
    const ASSUMED: [u32; 3] = [0, 112 << 10, 120 << 10];
    let fail = |detail: String| build_error("raising the recursion limit", detail);
    let pointers = snapshot.state.globals.iter().filter_map(|(_, value)| match value {
        SavedVal::I32(value) => Some(value.cast_unsigned()),
        _ => None,
    });
    let [top] = pointers.collect::<Vec<u32>>()[..] else {
        return Err(fail("the module has other mutable globals than its stack pointer".to_owned()));
    };
    let raised = [top, top.saturating_sub(bytes), top.saturating_sub(bytes + (8 << 10))];
    if raised[2] < 64 << 10 {
        return Err(fail(format!("`c_stack_bytes` is `{bytes}`, and the module's stack has `{top}`")));
    }
    let words = |values: [u32; 3]| values.map(u32::to_le_bytes).concat();
    let assumed = words(ASSUMED.map(|below| top.saturating_sub(below)));
    let places = (0..snapshot.memory.len().saturating_sub(assumed.len())).step_by(4);
    let found: Vec<usize> = places.filter(|at| snapshot.memory[*at..].starts_with(&assumed)).collect();
    let [at] = found[..] else {
        let count = found.len();
        return Err(fail(format!(
            "CPython's limits are at `{count}` places of the memory instead of one: has it another version?"
        )));
    };
    snapshot.memory[at..at + assumed.len()].copy_from_slice(&words(raised));
    Ok(())
}

/// Source text that makes a module of `source`. JSON's quotes and escapes are Python's too.
fn module_text(name: &str, source: &str) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let (name, file, source) = (quoted(name), quoted(&format!("<{name}>")), quoted(source));
    format!(
        "import sys, types\nm = sys.modules[{name}] = types.ModuleType({name})\n\
         exec(compile({source}, {file}, 'exec', 0, True), m.__dict__)\ndel sys, types, m"
    )
}

/// A guest on its way to the snapshot.
struct Preload {
    store: Store<Host>,
    exports: Exports,
}

impl Preload {
    fn start(spec: &ImageSpec, engine: &Engine, code: &Code) -> Result<Self, ImageError> {
        let fail = |error: wasmtime::Error| build_error("starting the guest", format!("{error:#}"));
        let errno =
            |errno: crate::wasi::errno::Errno| build_error("making the file tree", format!("errno {}", errno.0));
        let tree = base_tree(&spec.wheel.stdlib_at, Arc::clone(&code.library)).map_err(errno)?;
        let setup = Setup { seed: spec.seed, output_bytes: BUILD_OUTPUT, ..Setup::default() };
        let wasi = Wasi::new(&tree, &setup).map_err(errno)?;
        let mut store = Store::new(engine, Host::new(wasi, Channel::default(), BUILD_MEMORY));
        store.limiter(|host| host);
        let linker = linker(engine).map_err(fail)?;
        let (exports, instance) = Exports::instantiate(&mut store, &linker, &code.module).map_err(fail)?;
        fuel::fill(&mut store, BUILD_FUEL).map_err(fail)?;
        let start = instance.get_typed_func::<(), ()>(&mut store, "_initialize").map_err(fail)?;
        drive(start.call_async(&mut store, ())).map_err(fail)?;
        Ok(Self { store, exports })
    }

    /// Puts `text` into guest memory; returns its address and length.
    fn place(&mut self, text: &str) -> Result<(i32, i32), ImageError> {
        let fail = |detail: String| build_error("placing source text in the guest", detail);
        let len = i32::try_from(text.len()).map_err(|_| fail("it is too long".to_owned()))?;
        let at = drive(self.exports.alloc.call_async(&mut self.store, len));
        let at = at.map_err(|error| fail(format!("{error:#}")))?;
        let offset = at.cast_unsigned() as usize;
        let written = self.exports.memory.write(&mut self.store, offset, text.as_bytes());
        written.map_err(|error| fail(error.to_string()))?;
        Ok((at, len))
    }

    /// Runs source text in the guest's main module.
    fn turn(&mut self, text: &str) -> Result<(), ImageError> {
        let place = self.place(text)?;
        let ended = drive(self.exports.turn.call_async(&mut self.store, place));
        let said = || String::from_utf8_lossy(&self.store.data().wasi.stderr.bytes).trim().to_owned();
        let first = text.lines().next().unwrap_or_default();
        match ended {
            Ok(0) => Ok(()),
            Ok(status) => Err(build_error("preloading", format!("`{first}` ended with status {status}: {}", said()))),
            Err(error) => Err(build_error("preloading", format!("`{first}`: {error:#}; {}", said()))),
        }
    }

    fn keep(mut self) -> Result<Snapshot, ImageError> {
        let kept = self.exports.snapshot(&mut self.store);
        kept.map_err(|error| build_error("keeping the globals", error.to_string()))
    }
}

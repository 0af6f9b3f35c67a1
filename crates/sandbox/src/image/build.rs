//! Builds an image: compiles the guest, runs it to the point where a job starts, and saves its memory and globals.
//!
//! The module is instrumented by wasmtime-wizer, which exports its mutable globals and refuses modules whose other state
//! could change (tables, dropped segments). It is compiled once: an instance is brought to the snapshot by mapping the
//! kept memory over its own, so no second module with the snapshot inside has to be compiled.

mod javascript;

use std::sync::Arc;

use veriplay_core::{CallResult, Entry, Job, Value};
use veriplay_image_python::{LIBRARIES, snapshot};
use wasmparser::{Import, Parser, Payload, TypeRef};
use wasmtime::{Engine, Instance, Module, Store, WasmParams, WasmResults};

use super::immortal;
use super::library::{self, LibraryModule};
use super::spec::{ImageSpec, PythonSpec, Runtime};
use super::wheel::GuestWheel;
use super::{CompiledGuest, ImageError, make_tree};
use crate::channel::Channel;
use crate::exports::{Exports, GuestSnapshot, SavedValue};
use crate::guest_kind::GuestKind;
use crate::host::Host;
use crate::meter::{self, Pricing};
use crate::request;
use crate::stacks::run_to_completion;
use crate::wasi::{Wasi, WasiSetup};

const ALIVE_FILE: &str = "alive";
/// Fuel of a build: enough for any preload, and an end for one that loops.
const BUILD_FUEL: u64 = 500_000_000_000;
const BUILD_OUTPUT: u64 = 1 << 20;
const BUILD_FILES: u64 = 64 << 20;
const BUILD_MEMORY: u64 = 1 << 30;

/// Compiles the guest of a wheel: a minute or so on two cores.
pub(crate) fn compile_guest(engine: &Engine, wheel: GuestWheel) -> Result<CompiledGuest, ImageError> {
    let fail = |phase: &'static str| move |error: wasmtime::Error| build_error(phase, format!("{error:#}"));
    // Before anything is added, so that a module that only metering would make valid is refused.
    Module::validate(engine, &wheel.wasm).map_err(fail("reading the guest module"))?;
    refuse_other_imports(&wheel.wasm).map_err(|detail| build_error("reading the guest module", detail))?;
    let wizer = wasmtime_wizer::Wizer::new();
    let (_, instrumented) = wizer.instrument(&wheel.wasm).map_err(fail("reading the guest module"))?;
    let metered = meter::instrument(&instrumented, Pricing::Estimate)
        .map_err(|error| build_error("metering the guest module", error.to_string()))?;
    let module = Module::new(engine, &metered).map_err(fail("compiling the guest module"))?;
    Ok(CompiledGuest { module, library: Arc::new(wheel.library) })
}

/// Refuses a module that imports what is no function: the host has nothing else to give, and wasmtime-wizer panics at some kinds.
fn refuse_other_imports(wasm: &[u8]) -> Result<(), String> {
    for payload in Parser::new(0).parse_all(wasm) {
        let Payload::ImportSection(section) = payload.map_err(|error| error.to_string())? else { continue };
        for import in section.into_imports() {
            let Import { module, name, ty } = import.map_err(|error| error.to_string())?;
            let kind = match ty {
                TypeRef::Func(_) => continue,
                TypeRef::FuncExact(_) => "exact function",
                TypeRef::Table(_) => "table",
                TypeRef::Memory(_) => "memory",
                TypeRef::Global(_) => "global",
                TypeRef::Tag(_) => "tag",
            };
            return Err(format!(
                "it imports the {kind} `{module}.{name}`, and the sandbox gives a guest functions alone"
            ));
        }
    }
    Ok(())
}

fn build_error(phase: &'static str, detail: String) -> ImageError {
    ImageError::Build { phase, detail }
}

/// Brings a new instance of `code` to where `spec`'s jobs start, and takes a snapshot. Needs a deep stack.
pub(super) fn snapshot_guest(
    spec: &ImageSpec,
    libraries: &[LibraryModule],
    engine: &Engine,
    code: &CompiledGuest,
) -> Result<GuestSnapshot, ImageError> {
    match spec.runtime() {
        Runtime::Python(python) => snapshot_python(spec, python, libraries, engine, code),
        Runtime::JavaScript(javascript) => {
            javascript::take_snapshot(PreloadGuest::start(spec, engine, code)?, spec.common(), javascript, libraries)
        }
    }
}

/// Runs the preload and the harness.
fn snapshot_python(
    spec: &ImageSpec,
    python: &PythonSpec,
    libraries: &[LibraryModule],
    engine: &Engine,
    code: &CompiledGuest,
) -> Result<GuestSnapshot, ImageError> {
    let load = || PreloadGuest::start(spec, engine, code)?.load(&spec.common().harness, python, libraries);
    let mut guest = load()?;
    guest.run_text(&format!("_room = bytearray({})\ndel _room", spec.common().headroom_bytes))?;
    guest.run_text(snapshot::START)?;
    if spec.common().rehearsals > 0 {
        let end = guest.rehearse(spec.common().rehearsals)?;
        guest.fill_gaps(end)?;
    }
    let mut snapshot = guest.into_snapshot()?;
    if python.immortal_objects {
        // Of another guest, which is the same but for what the list itself has moved.
        let alive = load()?.list_alive()?;
        let count = python.immortal_count.unwrap_or(immortal::IMMORTAL);
        let made = immortal::make_immortal(&mut snapshot.memory, &alive, count);
        made.map_err(|detail| build_error("making the snapshot's objects immortal", detail))?;
    }
    if let Some(bytes) = python.c_stack_bytes {
        raise_recursion_limit(&mut snapshot, bytes)?;
    }
    Ok(snapshot)
}

/// Lets CPython use `bytes` of its C stack. It assumes 128 KiB on WASI, whatever the module has, and raises `RecursionError` at some 220
/// calls through C code, such as those of a function under `lru_cache`. Its thread state holds three addresses beside each other: the top of
/// the stack, where `RecursionError` is raised, and where the process would be ended.
fn raise_recursion_limit(snapshot: &mut GuestSnapshot, bytes: u32) -> Result<(), ImageError> {
    /// Below the top, by CPython 3.15's `Py_C_STACK_SIZE` and its margin on WASI.
    const ASSUMED: [u32; 3] = [0, 112 << 10, 120 << 10];
    let fail = |detail: String| build_error("raising the recursion limit", detail);
    let pointers = snapshot.state.globals.iter().filter_map(|(_, value)| match value {
        SavedValue::I32(value) => Some(value.cast_unsigned()),
        _ => None,
    });
    let [top] = pointers.collect::<Vec<u32>>()[..] else {
        return Err(fail("the module has other mutable globals than its stack pointer".to_owned()));
    };
    let raised = [top, top.saturating_sub(bytes), top.saturating_sub(bytes.saturating_add(8 << 10))];
    if raised[2] < 64 << 10 || raised[1] < raised[2] {
        return Err(fail(format!("`c_stack_bytes` is `{bytes}`, and the module's stack has `{top}`")));
    }
    let words = |values: [u32; 3]| values.map(u32::to_le_bytes).concat();
    let assumed = words(ASSUMED.map(|below| top.saturating_sub(below)));
    let places = (0..snapshot.memory.len().saturating_sub(assumed.len())).step_by(4);
    let found: Vec<usize> = places.filter(|at| snapshot.memory[*at..].starts_with(&assumed)).collect();
    let [at] = found[..] else {
        let count = found.len();
        return Err(fail(format!(
            "CPython's limits are at `{count}` places of the memory instead of one: `c_stack_bytes` is for 3.15"
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

fn library_text(module: &LibraryModule) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let (name, source) = (quoted(&module.name), quoted(&module.source));
    let is_package = if module.is_package { "True" } else { "False" };
    format!("import sys\nsys.modules['{}'].add({name}, {is_package}, {source})\ndel sys", library::MODULE)
}

/// A guest before its snapshot.
struct PreloadGuest {
    store: Store<Host>,
    exports: Exports,
    instance: Instance,
}

impl PreloadGuest {
    fn start(spec: &ImageSpec, engine: &Engine, code: &CompiledGuest) -> Result<Self, ImageError> {
        let fail = |error: wasmtime::Error| build_error("starting the guest", format!("{error:#}"));
        let errno =
            |errno: crate::wasi::errno::Errno| build_error("making the file tree", format!("errno {}", errno.0));
        let tree = make_tree(spec, Arc::clone(&code.library)).map_err(errno)?;
        let setup = WasiSetup {
            seed: spec.common().seed,
            output_bytes: BUILD_OUTPUT,
            file_bytes: BUILD_FILES,
            ..WasiSetup::default()
        };
        let wasi = Wasi::new(&tree, &setup).map_err(errno)?;
        let mut store = Store::new(engine, Host::new(wasi, Channel::default(), BUILD_MEMORY));
        store.limiter(|host| host);
        let linker = spec.kind().make_linker(engine).map_err(fail)?;
        let (exports, instance) = Exports::instantiate(&mut store, &linker, &code.module, spec.kind()).map_err(fail)?;
        store.data().fuel.set(BUILD_FUEL).map_err(fail)?;
        let mut guest = Self { store, exports, instance };
        guest.call::<(), ()>("_initialize", ()).map_err(fail)?;
        Ok(guest)
    }

    /// Calls an export of the guest's.
    fn call<P: WasmParams + Sync, R: WasmResults + Sync>(&mut self, name: &str, parameters: P) -> wasmtime::Result<R> {
        let function = self.instance.get_typed_func::<P, R>(&mut self.store, name)?;
        run_to_completion(function.call_async(&mut self.store, parameters))
    }

    /// Writes `text` into guest memory; returns its address and length.
    fn write_text(&mut self, text: &str) -> Result<(i32, i32), ImageError> {
        let fail = |detail: String| build_error("placing source text in the guest", detail);
        let len = i32::try_from(text.len()).map_err(|_| fail("it is too long".to_owned()))?;
        let at = self.alloc(len)?;
        let offset = at as usize;
        let written = self.exports.memory.write(&mut self.store, offset, text.as_bytes());
        written.map_err(|error| fail(error.to_string()))?;
        Ok((at.cast_signed(), len))
    }

    /// Runs jobs, so that the code on their way is specialised before the snapshot: code that is not counts its runs in itself, and each page
    /// that a job writes is found and restored after it. Returns the end of what is alive.
    fn rehearse(&mut self, times: u32) -> Result<u32, ImageError> {
        let fail = |detail: String| build_error("running jobs before the snapshot", detail);
        let lists =
            snapshot::REHEARSED_ARGUMENTS.map(Value::parse_arguments).into_iter().collect::<Result<Vec<_>, _>>();
        let job = Job::calls(snapshot::REHEARSED, "f", lists.map_err(|error| fail(error.to_string()))?);
        for _ in 0..times {
            self.run_whole_job(&job, GuestKind::Python)?;
        }
        self.run_job(request::encode_program(snapshot::FIND_END, &Entry::Script, GuestKind::Python), 0)?;
        self.run_job(request::encode_warm_request(&Job::script("")), 0)?;
        // A module may have printed when it was imported.
        let printed = String::from_utf8_lossy(&self.store.data().wasi.stdout.bytes);
        let said = printed.lines().next_back().unwrap_or_default().to_owned();
        said.parse().map_err(|_| fail(format!("`{said}` is not an address")))
    }

    fn run_whole_job(&mut self, job: &Job, kind: GuestKind) -> Result<(), ImageError> {
        self.run_job(request::encode_program(&job.program, &job.entry, kind), 0)?;
        self.run_job(request::encode_request(job, kind), request::expected_calls(job))
    }

    /// Runs a turn of a job, on whose channel this many results are due.
    fn run_job(&mut self, request: Vec<u8>, results: usize) -> Result<(), ImageError> {
        let fail = |detail: String| build_error("running jobs before the snapshot", detail);
        self.store.data_mut().channel = Channel::new(request, results, BUILD_OUTPUT);
        let ended = run_to_completion(self.exports.enter(&mut self.store));
        ended.map_err(|error| fail(format!("{error:#}")))?;
        let channel = &self.store.data().channel;
        if channel.done
            && channel.failed.is_none()
            && channel.calls.iter().all(|call| matches!(call, CallResult::Returned(_)))
        {
            return Ok(());
        }
        Err(fail(format!("a job failed: {:?}, {:?}", channel.failed, channel.calls)))
    }

    /// Takes the free memory before `end`. A job's objects would go there first, all over the heap; behind `end` they lie together.
    fn fill_gaps(&mut self, end: u32) -> Result<(), ImageError> {
        // What is small is searched for among gaps of its own size alone, what is large among larger ones, too.
        let large = (9..16).rev().map(|power| 1_i32 << power);
        let small = (1..=512 / 8).rev().map(|eighth| eighth * 8);
        for size in large.chain(small) {
            // So often at most, whatever an interpreter says.
            for _ in 0..=end / size.cast_unsigned() {
                if self.alloc(size)? >= end {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Memory of the guest's that is never given back.
    fn alloc(&mut self, len: i32) -> Result<u32, ImageError> {
        let at = self.call::<i32, i32>("host_alloc", len);
        let at = at.map_err(|error| build_error("allocating guest memory", format!("{error:#}")))?;
        if at == 0 {
            return Err(build_error("allocating guest memory", format!("there is no room for `{len}` bytes")));
        }
        Ok(at.cast_unsigned())
    }

    /// Runs source text in the guest's main module.
    fn run_text(&mut self, text: &str) -> Result<(), ImageError> {
        let place = self.write_text(text)?;
        let ended = self.call::<(i32, i32), i32>("turn", place);
        let said = || String::from_utf8_lossy(&self.store.data().wasi.stderr.bytes).trim().to_owned();
        let first = text.lines().next().unwrap_or_default();
        match ended {
            Ok(0) => Ok(()),
            Ok(status) => Err(build_error("preloading", format!("`{first}` ended with status {status}: {}", said()))),
            Err(error) => Err(build_error("preloading", format!("`{first}`: {error:#}; {}", said()))),
        }
    }

    /// Loads everything that a job can use without loading it.
    fn load(mut self, harness: &str, python: &PythonSpec, libraries: &[LibraryModule]) -> Result<Self, ImageError> {
        // First, so that the preload finds them.
        self.run_text(&module_text(library::MODULE, LIBRARIES))?;
        for module in libraries {
            self.run_text(&library_text(module))?;
        }
        for module in &python.preload {
            self.run_text(&format!("import {module}"))?;
        }
        self.run_text(
            "import sys\nfor _name in [n for n in globals() if not n.startswith('__')]: del globals()[_name]",
        )?;
        self.run_text(harness)?;
        for (name, source) in &python.modules {
            self.run_text(&module_text(name, source))?;
        }
        Ok(self)
    }

    fn list_alive(mut self) -> Result<Vec<u8>, ImageError> {
        self.run_text(snapshot::ALIVE)?;
        let written = self.store.data().wasi.file(ALIVE_FILE).map(<[u8]>::to_vec);
        written.ok_or_else(|| build_error("finding the guest's objects", format!("there is no file `{ALIVE_FILE}`")))
    }

    fn into_snapshot(mut self) -> Result<GuestSnapshot, ImageError> {
        let kept = self.exports.snapshot(&mut self.store);
        kept.map_err(|error| build_error("keeping the globals", error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::refuse_other_imports;

    #[test]
    fn a_module_that_imports_anything_but_functions_is_refused_with_its_name() {
        let refused = |import: &str| {
            let text = format!("(module (import \"host\" \"call\" (func)) (import \"env\" \"x\" ({import})))");
            refuse_other_imports(&wat::parse_str(&text).unwrap())
        };
        assert_eq!(refused("func (param i32)"), Ok(()));
        for (import, kind) in
            [("table 1 funcref", "table"), ("memory 1", "memory"), ("global i32", "global"), ("tag", "tag")]
        {
            let detail = refused(import).unwrap_err();
            assert!(detail.contains(&format!("the {kind} `env.x`")), "{detail}");
        }
    }
}

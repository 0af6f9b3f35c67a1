//! Runs a wasip1 *command*, a module with `_start`, on the shim of jobs, for the WebAssembly test suite (`examples/wasi_testsuite.rs`).
//!
//! Unlike a job's, the root of the file tree is writable and holds the suite's files. A call that the shim does not have, because the
//! interpreter never makes it, traps.

use std::sync::Arc;

use wasmtime::{Linker, Module, Store};

use crate::channel::Channel;
use crate::fuel;
use crate::host::Host;
use crate::host_trap::HostTrap;
use crate::image::{CpuLevel, engine};
use crate::imports::make_linker;
use crate::meter::{self, Pricing};
use crate::stacks::run_to_completion;
use crate::wasi::files::{FileContent, NodeKind, Tree};
use crate::wasi::{Wasi, WasiSetup};

const FUEL: u64 = 1_000_000_000;
const MEMORY_BYTES: u64 = 64 << 20;
const BYTES: u64 = 16 << 20;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutcome {
    /// Its exit code, or the trap that ended it.
    pub exit: Result<i32, String>,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// Runs the command in `wasm`, with `files` (paths from the root, and content) in its tree.
///
/// # Errors
/// When the module is invalid, or two files clash.
pub fn run_command(wasm: &[u8], files: &[(String, Vec<u8>)]) -> Result<CommandOutcome, String> {
    let say = |error: wasmtime::Error| format!("{error:#}");
    let engine = engine::engine_for(CpuLevel::Native).map_err(|error| error.to_string())?;
    let metered = meter::instrument(wasm, Pricing::Estimate).map_err(|error| error.to_string())?;
    let module = Module::new(&engine, metered).map_err(say)?;
    let mut store = Store::new(&engine, Host::new(make_system(files)?, Channel::default(), MEMORY_BYTES));
    store.limiter(|host| host);
    let ended = run_start(&mut store, &mut make_linker(&engine).map_err(say)?, &module);
    let wasi = &mut store.data_mut().wasi;
    let (stdout, stderr) = (std::mem::take(&mut wasi.stdout.bytes), std::mem::take(&mut wasi.stderr.bytes));
    Ok(CommandOutcome { exit: exit_code(ended), stdout, stderr })
}

fn run_start(store: &mut Store<Host>, linker: &mut Linker<Host>, module: &Module) -> wasmtime::Result<()> {
    linker.define_unknown_imports_as_traps(module)?;
    let instance = run_to_completion(linker.instantiate_async(&mut *store, module))?;
    let gauge = fuel::find_gauge(store, &instance)?;
    store.data_mut().fuel.connect(gauge);
    store.data().fuel.set(FUEL)?;
    let memory = instance.get_memory(&mut *store, "memory");
    store.data_mut().memory = memory;
    let start = instance.get_typed_func::<(), ()>(&mut *store, "_start")?;
    run_to_completion(start.call_async(&mut *store, ()))
}

fn exit_code(ended: wasmtime::Result<()>) -> Result<i32, String> {
    match ended {
        Ok(()) => Ok(0),
        Err(error) => match error.downcast_ref::<HostTrap>() {
            Some(HostTrap::ProcExit(code)) => Ok(*code),
            _ => Err(format!("{error:#}")),
        },
    }
}

fn make_system(files: &[(String, Vec<u8>)]) -> Result<Wasi, String> {
    let fail = |path: &str| format!("the file `{path}` clashes with another");
    let mut tree = Tree::new();
    for (path, bytes) in files {
        let content = NodeKind::File(FileContent::Shared(Arc::new(bytes.clone())));
        tree.insert_path(&format!("/{path}"), content, false).map_err(|_| fail(path))?;
    }
    tree.make_writable();
    let setup =
        WasiSetup { seed: 1, stdin: b"", files: &[], output_bytes: BYTES, file_bytes: BYTES, ..WasiSetup::default() };
    Wasi::new(&tree, &setup).map_err(|errno| format!("no file tree: errno {}", errno.0))
}

//! The exports of a guest module that the host uses (its memory, functions and the mutable globals), and snapshots of their state.

use std::sync::Arc;

use wasmtime::{Global, Instance, Linker, Memory, Mutability, Store, TypedFunc, Val};

use crate::fuel;
use crate::guest_kind::GuestKind;
use crate::host::Host;
use crate::quickjs::{Fixtures, QuickJs};
use crate::stacks::run_to_completion;

pub(crate) struct Exports {
    pub(crate) memory: Memory,
    pub(crate) globals: Vec<(String, Global)>,
    entrance: Entrance,
}

/// How the guest is entered for a turn.
enum Entrance {
    Python(TypedFunc<(i32, i32), i32>),
    JavaScript(Arc<QuickJs>),
}

impl Exports {
    /// Instantiates `module` and finds its exports. Fails when an import is unknown, or an export missing or of another type.
    pub(crate) fn instantiate(
        store: &mut Store<Host>,
        linker: &Linker<Host>,
        module: &wasmtime::Module,
        kind: GuestKind,
    ) -> wasmtime::Result<(Self, Instance)> {
        let instance = run_to_completion(linker.instantiate_async(&mut *store, module))?;
        let memory = instance
            .get_memory(&mut *store, "memory")
            .ok_or_else(|| wasmtime::Error::msg("the module exports no memory named `memory`"))?;
        let entrance = match kind {
            GuestKind::Python => {
                store.data_mut().alloc = Some(instance.get_typed_func(&mut *store, "host_alloc")?);
                Entrance::Python(instance.get_typed_func(&mut *store, "turn")?)
            }
            GuestKind::JavaScript => {
                let quickjs = Arc::new(QuickJs::find(store, &instance)?);
                store.data_mut().quickjs = Some(Arc::clone(&quickjs));
                Entrance::JavaScript(quickjs)
            }
        };
        let globals = mutable_globals(store, &instance);
        let gauge = fuel::find_gauge(store, &instance)?;
        store.data_mut().fuel.connect(gauge);
        store.data_mut().memory = Some(memory);
        Ok((Self { memory, globals, entrance }, instance))
    }

    /// Runs a turn, for which the channel has a request. Returns the harness's status, which is 0 where it ended by itself.
    pub(crate) async fn enter(&self, store: &mut Store<Host>) -> wasmtime::Result<i32> {
        match &self.entrance {
            // One without source text is a job, see `_veriplay_start` in the harness.
            Entrance::Python(turn) => turn.call_async(&mut *store, (0, 0)).await,
            Entrance::JavaScript(quickjs) => {
                let Fixtures { turn, nothing, .. } = Fixtures::read(self.memory.data(&*store))?;
                // What it returns or throws says nothing: the channel knows whether it is done.
                quickjs.call.call_async(&mut *store, (turn, nothing, 0, 0)).await.map(|_| 0)
            }
        }
    }

    /// Takes a snapshot of an instance in which nothing runs.
    pub(crate) fn snapshot(&self, store: &mut Store<Host>) -> wasmtime::Result<GuestSnapshot> {
        let state = self.save_globals(store)?;
        Ok(GuestSnapshot { memory: self.memory.data(&*store).to_vec(), state })
    }

    pub(crate) fn save_globals(&self, store: &mut Store<Host>) -> wasmtime::Result<GlobalState> {
        let kept = self.globals.iter().map(|(name, global)| {
            let value = SavedValue::from_val(&global.get(&mut *store))?;
            Ok((name.clone(), value))
        });
        Ok(GlobalState { globals: kept.collect::<wasmtime::Result<_>>()? })
    }
}

fn mutable_globals(store: &mut Store<Host>, instance: &Instance) -> Vec<(String, Global)> {
    let exported: Vec<(String, Global)> = instance
        .exports(&mut *store)
        .filter_map(|export| Some((export.name().to_owned(), export.into_global()?)))
        .collect();
    exported.into_iter().filter(|(_, global)| global.ty(&*store).mutability() == Mutability::Var).collect()
}

/// A guest's state before the first job.
pub(crate) struct GuestSnapshot {
    pub(crate) memory: Vec<u8>,
    pub(crate) state: GlobalState,
}

/// The part of a snapshot that is not memory.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GlobalState {
    /// Every mutable global by its export name.
    pub(crate) globals: Vec<(String, SavedValue)>,
}

/// The bits of a global's value, as an image keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SavedValue {
    I32(i32),
    I64(i64),
    F32(u32),
    F64(u64),
}

impl SavedValue {
    /// Fails when the global is of a type no snapshot holds (a vector or a reference).
    pub(crate) fn from_val(value: &Val) -> wasmtime::Result<Self> {
        match value {
            Val::I32(value) => Ok(SavedValue::I32(*value)),
            Val::I64(value) => Ok(SavedValue::I64(*value)),
            Val::F32(value) => Ok(SavedValue::F32(*value)),
            Val::F64(value) => Ok(SavedValue::F64(*value)),
            _ => Err(wasmtime::Error::msg("a mutable global of vector or reference type cannot be kept in an image")),
        }
    }

    pub(crate) fn to_val(self) -> Val {
        match self {
            SavedValue::I32(value) => Val::I32(value),
            SavedValue::I64(value) => Val::I64(value),
            SavedValue::F32(value) => Val::F32(value),
            SavedValue::F64(value) => Val::F64(value),
        }
    }
}

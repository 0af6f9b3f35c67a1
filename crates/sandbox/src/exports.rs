//! What the host uses of a module: its memory, its two functions, and its mutable globals, by name; and their state, as an image keeps
//! it.

use wasmtime::{Global, Instance, Linker, Memory, Mutability, Store, TypedFunc, Val};

use crate::host::Host;
use crate::meter;
use crate::stacks::drive;

/// The exports the host calls.
pub(crate) struct Exports {
    pub(crate) memory: Memory,
    pub(crate) alloc: TypedFunc<i32, i32>,
    pub(crate) turn: TypedFunc<(i32, i32), i32>,
    pub(crate) globals: Vec<(String, Global)>,
}

impl Exports {
    /// Instantiates `module` and finds what the host needs in it.
    ///
    /// # Errors
    /// When an import is unknown, or an export missing or of another type.
    pub(crate) fn instantiate(
        store: &mut Store<Host>,
        linker: &Linker<Host>,
        module: &wasmtime::Module,
    ) -> wasmtime::Result<(Self, Instance)> {
        let instance = drive(linker.instantiate_async(&mut *store, module))?;
        let memory = instance
            .get_memory(&mut *store, "memory")
            .ok_or_else(|| wasmtime::Error::msg("the module exports no memory named `memory`"))?;
        let alloc = instance.get_typed_func(&mut *store, "host_alloc")?;
        let turn = instance.get_typed_func(&mut *store, "turn")?;
        let globals = mutable_globals(store, &instance);
        let gauge = instance.get_global(&mut *store, meter::FUEL);
        let gauge = gauge.ok_or_else(|| wasmtime::Error::msg("the module is not metered"))?;
        store.data_mut().fuel.connect(gauge);
        store.data_mut().memory = Some(memory);
        store.data_mut().alloc = Some(TypedFunc::clone(&alloc));
        Ok((Self { memory, alloc, turn, globals }, instance))
    }

    /// The state of an instance in which nothing runs.
    ///
    /// # Errors
    /// When a global cannot be kept.
    pub(crate) fn snapshot(&self, store: &mut Store<Host>) -> wasmtime::Result<Snapshot> {
        let kept = self.globals.iter().map(|(name, global)| {
            let value = SavedVal::from_val(&global.get(&mut *store))?;
            Ok((name.clone(), value))
        });
        let globals = kept.collect::<wasmtime::Result<Vec<_>>>()?;
        Ok(Snapshot { memory: self.memory.data(&*store).to_vec(), state: State { globals } })
    }
}

fn mutable_globals(store: &mut Store<Host>, instance: &Instance) -> Vec<(String, Global)> {
    let exported: Vec<(String, Global)> = instance
        .exports(&mut *store)
        .filter(|export| export.name() != meter::FUEL)
        .filter_map(|export| Some((export.name().to_owned(), export.into_global()?)))
        .collect();
    exported.into_iter().filter(|(_, global)| global.ty(&*store).mutability() == Mutability::Var).collect()
}

/// A guest's state before the first job.
pub(crate) struct Snapshot {
    /// Its linear memory.
    pub(crate) memory: Vec<u8>,
    pub(crate) state: State,
}

/// The rest of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// Every mutable global by its export name.
    pub(crate) globals: Vec<(String, SavedVal)>,
}

/// A global's value as it is kept in the image: its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SavedVal {
    I32(i32),
    I64(i64),
    F32(u32),
    F64(u64),
}

impl SavedVal {
    /// # Errors
    /// When the global is of a type no snapshot holds (a vector or a reference).
    pub(crate) fn from_val(value: &Val) -> wasmtime::Result<Self> {
        match value {
            Val::I32(value) => Ok(SavedVal::I32(*value)),
            Val::I64(value) => Ok(SavedVal::I64(*value)),
            Val::F32(value) => Ok(SavedVal::F32(*value)),
            Val::F64(value) => Ok(SavedVal::F64(*value)),
            _ => Err(wasmtime::Error::msg("a mutable global of vector or reference type cannot be kept in an image")),
        }
    }

    pub(crate) fn to_val(self) -> Val {
        match self {
            SavedVal::I32(value) => Val::I32(value),
            SavedVal::I64(value) => Val::I64(value),
            SavedVal::F32(value) => Val::F32(value),
            SavedVal::F64(value) => Val::F64(value),
        }
    }
}

//! The JavaScript interpreter's exports that its host calls while jobs run, and what the host keeps for it. `sandboxes/javascript/host.md` says what
//! each of them does.
//!
//! A *value* is the address of a cell of 8 bytes in the guest's memory, which whoever has it must free.

use wasmtime::{AsContextMut, Instance, TypedFunc};

use crate::host_trap::HostTrap;

pub(crate) struct QuickJs {
    /// `(function, this, argc, argv) -> value`
    pub(crate) call: TypedFunc<(i32, i32, i32, i32), i32>,
    pub(crate) malloc: TypedFunc<i32, i32>,
    pub(crate) free: TypedFunc<i32, ()>,
    /// `(value, out length) -> text`
    pub(crate) get_text: TypedFunc<(i32, i32), i32>,
    pub(crate) free_text: TypedFunc<i32, ()>,
    /// `(value, out length) -> bytes`
    pub(crate) get_bytes: TypedFunc<(i32, i32), i32>,
    /// `(address, length) -> value`, with a copy of the bytes.
    pub(crate) new_bytes: TypedFunc<(i32, i32), i32>,
    pub(crate) new_text: TypedFunc<(i32, i32), i32>,
    pub(crate) copy_value: TypedFunc<i32, i32>,
    pub(crate) free_value: TypedFunc<i32, ()>,
    pub(crate) has_job: TypedFunc<(), i32>,
    /// Negative where the job threw, which is then pending.
    pub(crate) run_job: TypedFunc<(), i32>,
    pub(crate) new_error: TypedFunc<(), i32>,
    pub(crate) context: TypedFunc<(), i32>,
    /// Of a context, and the bits of an error in it.
    pub(crate) make_uncatchable: TypedFunc<(i32, i64), ()>,
    pub(crate) throw: TypedFunc<i32, i32>,
}

impl QuickJs {
    /// Fails when an export is missing or of another type.
    pub(crate) fn find(store: &mut impl AsContextMut, instance: &Instance) -> wasmtime::Result<Self> {
        Ok(Self {
            call: instance.get_typed_func(&mut *store, "qjs_call")?,
            malloc: instance.get_typed_func(&mut *store, "wasm_malloc")?,
            free: instance.get_typed_func(&mut *store, "wasm_free")?,
            get_text: instance.get_typed_func(&mut *store, "qjs_get_string_len")?,
            free_text: instance.get_typed_func(&mut *store, "qjs_free_cstring")?,
            get_bytes: instance.get_typed_func(&mut *store, "qjs_get_array_buffer")?,
            new_bytes: instance.get_typed_func(&mut *store, "qjs_new_array_buffer")?,
            new_text: instance.get_typed_func(&mut *store, "qjs_new_string")?,
            copy_value: instance.get_typed_func(&mut *store, "qjs_dup_value")?,
            free_value: instance.get_typed_func(&mut *store, "qjs_free_value")?,
            has_job: instance.get_typed_func(&mut *store, "qjs_is_job_pending")?,
            run_job: instance.get_typed_func(&mut *store, "qjs_execute_pending_job")?,
            new_error: instance.get_typed_func(&mut *store, "qjs_new_error")?,
            context: instance.get_typed_func(&mut *store, "qjs_get_context_ptr")?,
            make_uncatchable: instance.get_typed_func(&mut *store, "JS_SetUncatchableError")?,
            throw: instance.get_typed_func(&mut *store, "qjs_throw")?,
        })
    }
}

/// What the host made in the guest before the snapshot, and uses in every job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fixtures {
    /// The function that is called for a turn.
    pub(crate) turn: i32,
    pub(crate) nothing: i32,
    /// Eight bytes that lengths are written to.
    pub(crate) scratch: i32,
}

impl Fixtures {
    /// Where they are written down: in the module's first stack, which it has left before the first of them is made.
    pub(crate) const PLACE: i32 = 1024;

    pub(crate) fn read(memory: &[u8]) -> wasmtime::Result<Self> {
        let word = |index: i32| word_at(memory, Self::PLACE + 4 * index);
        Ok(Self { turn: word(0)?, nothing: word(1)?, scratch: word(2)? })
    }

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        [self.turn, self.nothing, self.scratch].map(i32::to_le_bytes).concat()
    }
}

/// `len` bytes at `at`, which the guest says. Fails where there is no such memory.
pub(crate) fn bytes_at(memory: &[u8], at: i32, len: i32) -> wasmtime::Result<&[u8]> {
    let (start, len) = (at.cast_unsigned() as usize, len.cast_unsigned() as usize);
    let found = memory.get(start..start.saturating_add(len));
    found.ok_or_else(|| wasmtime::Error::new(HostTrap::Protocol("a pointer out of bounds")))
}

pub(crate) fn word_at(memory: &[u8], at: i32) -> wasmtime::Result<i32> {
    bytes_at(memory, at, 4).map(|bytes| i32::from_le_bytes(bytes.try_into().expect("four bytes")))
}

pub(crate) fn long_at(memory: &[u8], at: i32) -> wasmtime::Result<i64> {
    bytes_at(memory, at, 8).map(|bytes| i64::from_le_bytes(bytes.try_into().expect("eight bytes")))
}

/// A rejection that nothing has handled yet. Its cells keep the promise alive, so the guest's memory bounds how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rejection {
    /// What the cell of the promise holds: the same for all values that are this promise.
    pub(crate) identity: i64,
    pub(crate) promise: i32,
    pub(crate) reason: i32,
}

/// The promises of one job.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    /// In the order in which they were rejected.
    pub(crate) rejected: Vec<Rejection>,
    /// Whether the host runs pending jobs, which take a native stack.
    pub(crate) running: bool,
}

impl Promises {
    /// Takes the rejection of this promise, if there is one. Returns also how many were looked at or moved.
    pub(crate) fn take(&mut self, identity: i64) -> (Option<Rejection>, u64) {
        let found = self.rejected.iter().rposition(|rejection| rejection.identity == identity);
        let looked_at = self.rejected.len() - found.unwrap_or(0);
        (found.map(|at| self.rejected.remove(at)), looked_at as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_that_is_handled_is_taken_and_the_others_keep_their_order() {
        let rejection = |identity: i64| Rejection { identity, promise: 0, reason: 0 };
        let mut promises = Promises { rejected: [1, 2, 3].map(rejection).to_vec(), running: false };
        assert_eq!(promises.take(2), (Some(rejection(2)), 2));
        assert_eq!(promises.take(2), (None, 2));
        assert_eq!(promises.rejected, [rejection(1), rejection(3)]);
    }

    #[test]
    fn fixtures_are_read_where_they_are_written_and_no_further() {
        let fixtures = Fixtures { turn: 1, nothing: -2, scratch: 3 };
        let mut memory = vec![0; 1024];
        memory.extend(fixtures.to_bytes());
        assert_eq!(Fixtures::read(&memory).unwrap(), fixtures);
        assert!(Fixtures::read(&memory[..1035]).is_err());
        assert!(bytes_at(&memory, -1, -1).is_err());
    }
}

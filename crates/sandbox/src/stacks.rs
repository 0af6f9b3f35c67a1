//! Reuses the native stacks that guests run on.
//!
//! Wasmtime runs every asynchronous call on a stack of its own and would map and unmap one each time: a third of the time
//! of an empty job, and the threads of a process wait for one another meanwhile. Here a stack goes back to a list when its
//! call has ended. Nothing of it needs to be cleaned: wasm cannot read the native stack. Wasmtime itself keeps stacks within its pooling
//! allocator alone, which this sandbox does not use.

use std::future::Future;
use std::io;
use std::ops::Range;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use wasmtime::{StackCreator, StackMemory};

/// Inaccessible bytes below a stack, so that an overflow ends the process instead of corrupting memory.
const GUARD: usize = 64 << 10;

/// Runs a call of the guest to completion, on a stack of its own. A guest never waits, unless it is joined to another one.
pub(crate) fn run_to_completion<T>(call: impl Future<Output = wasmtime::Result<T>>) -> wasmtime::Result<T> {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(ended) => ended,
        Poll::Pending => Err(wasmtime::Error::msg("the guest waits for something")),
    }
}

/// The idle stacks: never more than were in use at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stacks(Arc<Mutex<Vec<StackMapping>>>);

impl Stacks {
    fn spare(&self) -> std::sync::MutexGuard<'_, Vec<StackMapping>> {
        // A list is whole whenever its lock is free.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: a stack is a fresh or a returned mapping, page-aligned, with an untouchable range below it. It is handed to one
// call and comes back only when wasmtime drops it, which it does when the call has ended.
unsafe impl StackCreator for Stacks {
    fn new_stack(&self, size: usize, zeroed: bool) -> wasmtime::Result<Box<dyn StackMemory>> {
        let known = self.spare().pop_if(|mapping| !zeroed && mapping.len == size + GUARD);
        let mapping = known.map_or_else(|| StackMapping::new(size + GUARD), Ok)?;
        Ok(Box::new(Stack { mapping: Some(mapping), home: self.clone() }))
    }
}

struct Stack {
    /// There until it is dropped.
    mapping: Option<StackMapping>,
    home: Stacks,
}

impl Stack {
    fn addresses(&self) -> Range<usize> {
        self.mapping.as_ref().map_or(0..0, |mapping| mapping.base.addr()..mapping.base.addr() + mapping.len)
    }

    fn pointer(&self, offset: usize) -> *mut u8 {
        self.mapping.as_ref().map_or(std::ptr::null_mut(), |mapping| mapping.base.wrapping_add(offset))
    }
}

// SAFETY: the ranges are those of a mapping this value owns, whose guard lies below the stack.
unsafe impl StackMemory for Stack {
    fn top(&self) -> *mut u8 {
        self.pointer(self.addresses().len())
    }

    fn range(&self) -> Range<usize> {
        self.addresses().start + GUARD..self.addresses().end
    }

    fn guard_range(&self) -> Range<*mut u8> {
        self.pointer(0)..self.pointer(GUARD)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.home.spare().extend(self.mapping.take());
    }
}

/// `len` bytes of our own address space, of which the first [`GUARD`] cannot be touched.
#[derive(Debug)]
struct StackMapping {
    base: *mut u8,
    len: usize,
}

// SAFETY: plain memory, owned by this value and reached through it only.
unsafe impl Send for StackMapping {}
// SAFETY: a shared `StackMapping` gives out addresses, no access.
unsafe impl Sync for StackMapping {}

impl StackMapping {
    fn new(len: usize) -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, wherever the kernel likes.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapping = Self { base: base.cast(), len };
        // SAFETY: the first bytes of the mapping just made, which is longer than that.
        match unsafe { libc::mprotect(base, GUARD, libc::PROT_NONE) } {
            0 => Ok(mapping),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for StackMapping {
    fn drop(&mut self) {
        // SAFETY: `base` and `len` are what mmap returned, and nobody runs on a stack that is in the list.
        unsafe { libc::munmap(self.base.cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 1 << 20;

    #[test]
    fn a_stack_is_used_again_once_it_was_given_back_and_never_by_two() {
        let stacks = Stacks::default();
        let (a, b) = (stacks.new_stack(SIZE, false).unwrap(), stacks.new_stack(SIZE, false).unwrap());
        assert!(a.range().end <= b.guard_range().start.addr() || b.range().end <= a.guard_range().start.addr());
        let top = a.top();
        drop(a);
        assert_eq!(stacks.new_stack(SIZE, false).unwrap().top(), top);
        assert_eq!(stacks.spare().len(), 1);
    }

    #[test]
    fn a_stack_is_writable_to_its_lowest_byte_and_zero_where_that_is_asked_for() {
        let stacks = Stacks::default();
        let stack = stacks.new_stack(SIZE, false).unwrap();
        assert_eq!((stack.range().len(), stack.guard_range().end.addr()), (SIZE, stack.range().start));
        // SAFETY: the lowest byte of a stack nobody runs on.
        unsafe { stack.top().sub(SIZE).write(7) };
        drop(stack);
        let clean = stacks.new_stack(SIZE, true).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { clean.top().sub(SIZE).read() }, 0);
    }
}

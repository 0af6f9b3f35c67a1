//! An allocator that counts what this process has of the system's memory at once: of a device's operations on the CPU that is what a card has to
//! give, zeros included, for which Linux gives no pages until they are written.

#![expect(unsafe_code, reason = "an allocator is unsafe by its trait; each call is passed on to the system's")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn allocated() -> usize {
    NOW.load(Ordering::Relaxed)
}

pub(crate) fn peak() -> usize {
    PEAK.load(Ordering::Relaxed)
}

pub(crate) fn forget_peak() {
    PEAK.store(allocated(), Ordering::Relaxed);
}

fn add(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

fn remove(bytes: usize) {
    NOW.fetch_sub(bytes, Ordering::Relaxed);
}

// SAFETY: every block comes from `System` and goes back to it with its own layout.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promises are those that `System` asks for; so below.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        remove(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() {
            add(size - layout.size())
        } else {
            remove(layout.size() - size)
        }
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }
}

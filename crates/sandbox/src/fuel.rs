//! The host's side of fuel: it sets the number that a guest counts down, reads it, and charges its own work to it.
//!
//! A guest traps at its first charge that leaves less than a bound ([`crate::meter`]), which is nothing. So the count is exact, and no guest has to
//! call the host for it. To end a guest for another reason, [the watchdog](crate::watchdog) raises the bound, from another thread: guests only read it,
//! so that is not lost. (What another thread writes into the count itself is: a guest in a tight loop does not see it before it writes the next.)

use std::ptr::NonNull;
use std::sync::atomic::{AtomicI64, Ordering};

use wasmtime::{Error, Instance, Store, Trap};

use crate::meter;

/// The bound of a guest that is interrupted: more than any guest has.
const INTERRUPTED: i64 = i64::MAX;
/// The most that one charge of the host takes off: far above any job's fuel, and too little to wrap the count around.
const MOST_CHARGED: u64 = 1 << 60;

/// A guest's numbers, in its memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauge(NonNull<[AtomicI64; 2]>);

// SAFETY: it is a place in memory that the host reads and writes atomically alone, on whatever thread. Whoever follows it promises that the guest's
// store is alive.
unsafe impl Send for Gauge {}

impl Gauge {
    /// The units that are left, and the bound.
    ///
    /// # Safety
    /// The guest's store is alive.
    unsafe fn numbers(&self) -> &[AtomicI64; 2] {
        // SAFETY: it is the start of a page of a memory that cannot grow, so it is aligned and stays where it is while the store is alive, as the
        // caller promises. The guest's own code reads and writes it in between, in single instructions.
        unsafe { self.0.as_ref() }
    }

    /// Has the guest trap at its next charge.
    ///
    /// # Safety
    /// The guest's store is alive.
    pub(crate) unsafe fn interrupt(self) {
        // SAFETY: as the caller promises.
        let [_, bound] = unsafe { self.numbers() };
        bound.store(INTERRUPTED, Ordering::Relaxed);
    }
}

/// The fuel of one guest, in its store's data.
#[derive(Debug, Default)]
pub(crate) struct FuelTank {
    /// Once there is a guest.
    gauge: Option<Gauge>,
}

impl FuelTank {
    pub(crate) fn gauge(&self) -> wasmtime::Result<&Gauge> {
        self.gauge.as_ref().ok_or_else(|| Error::msg("the module runs code while it is being instantiated"))
    }

    fn numbers(&self) -> wasmtime::Result<&[AtomicI64; 2]> {
        // SAFETY: the gauge is of the store whose data this is, so that is alive.
        self.gauge().map(|gauge| unsafe { gauge.numbers() })
    }

    /// Makes it the fuel of the guest with that gauge, whose store's data this is.
    pub(crate) fn connect(&mut self, gauge: Gauge) {
        self.gauge = Some(gauge);
    }

    pub(crate) fn set(&self, fuel: u64) -> wasmtime::Result<()> {
        let shown = i64::try_from(fuel).unwrap_or(i64::MAX);
        self.numbers()?[0].store(shown, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn remaining(&self) -> wasmtime::Result<u64> {
        let shown = self.numbers()?[0].load(Ordering::Relaxed);
        Ok(u64::try_from(shown).unwrap_or(0))
    }

    /// Charges `price` for work of the host. Fails with [`Trap::OutOfFuel`] when there is not enough, or the guest is interrupted.
    pub(crate) fn charge(&self, price: u64) -> wasmtime::Result<()> {
        self.take_off(price);
        let [units, bound] = self.numbers()?;
        let must_end = units.load(Ordering::Relaxed) < bound.load(Ordering::Relaxed);
        if must_end { Err(Trap::OutOfFuel.into()) } else { Ok(()) }
    }

    /// Charges `price`, without a look at whether there is enough: the guest ends at its next charge. A memory that is made before its guest
    /// costs nothing.
    pub(crate) fn take_off(&self, price: u64) {
        if let Ok([units, _]) = self.numbers() {
            units.fetch_sub(price.min(MOST_CHARGED).cast_signed(), Ordering::Relaxed);
        }
    }

    /// Lets the guest run again after an interruption, when it has ended and nobody interrupts it any more.
    pub(crate) fn end_interruption(&self) {
        if let Ok([_, bound]) = self.numbers() {
            bound.store(0, Ordering::Relaxed);
        }
    }

    /// Whether more was charged than there was.
    pub(crate) fn is_used_up(&self) -> bool {
        self.numbers().is_ok_and(|[units, _]| units.load(Ordering::Relaxed) < 0)
    }
}

pub(crate) fn find_gauge<T: 'static>(store: &mut Store<T>, instance: &Instance) -> wasmtime::Result<Gauge> {
    let memory = instance.get_memory(&mut *store, meter::FUEL);
    let memory = memory.filter(|memory| memory.data_size(&*store) >= size_of::<[AtomicI64; 2]>());
    let start = memory.and_then(|memory| NonNull::new(memory.data_ptr(&*store).cast()));
    start.map(Gauge).ok_or_else(|| Error::msg("the module is not metered"))
}

//! The host's side of fuel: it hands a job's fuel to the guest in slices.
//!
//! A guest subtracts from a global ([`crate::meter`]) and calls the host when it is below zero. The host then adds another slice, so that it
//! reads the wall clock every few hundred microseconds, and ends the job when no fuel is left. The count of used fuel is exact.

use wasmtime::{AsContextMut, Global, Trap, Val};

/// Units of a slice: about 300 µs of computing, against which reading the clock is negligible.
const SLICE: i64 = 500_000;

/// The fuel of one instance.
#[derive(Debug, Default)]
pub(crate) struct FuelTank {
    /// The guest's global, once there is a guest.
    gauge: Option<Global>,
    /// Fuel that is not in the global yet.
    rest: i64,
}

impl FuelTank {
    /// Connects the guest's global.
    pub(crate) fn connect_gauge(&mut self, gauge: Global) {
        self.gauge = Some(gauge);
    }

    /// Charges `price` where the store is not accessible: subtracts it from the rest, below zero if need be. The guest ends when it next asks
    /// for fuel.
    pub(crate) fn charge_later(&mut self, price: u64) {
        self.rest = self.rest.saturating_sub(i64::try_from(price).unwrap_or(i64::MAX));
    }

    fn gauge(&self) -> wasmtime::Result<Global> {
        self.gauge.ok_or_else(|| wasmtime::Error::msg("the module runs code while it is being instantiated"))
    }
}

/// Sets the guest's fuel to `fuel` units.
///
/// # Errors
/// When there is no guest yet.
pub(crate) fn set_fuel(mut store: impl AsContextMut<Data: AsMut<FuelTank>>, fuel: u64) -> wasmtime::Result<()> {
    let fuel = i64::try_from(fuel).unwrap_or(i64::MAX);
    write_balance(&mut store, fuel)
}

/// The remaining fuel.
///
/// # Errors
/// When there is no guest yet.
pub(crate) fn remaining_fuel(mut store: impl AsContextMut<Data: AsMut<FuelTank>>) -> wasmtime::Result<u64> {
    Ok(u64::try_from(read_balance(&mut store)?).unwrap_or(0))
}

/// Charges `price` for work of the host.
///
/// # Errors
/// [`Trap::OutOfFuel`] when there is not enough.
pub(crate) fn consume_fuel(mut store: impl AsContextMut<Data: AsMut<FuelTank>>, price: u64) -> wasmtime::Result<()> {
    let price = i64::try_from(price).unwrap_or(i64::MAX);
    let left = read_balance(&mut store)?.saturating_sub(price);
    write_balance(&mut store, left.max(0))?;
    if left < 0 { Err(Trap::OutOfFuel.into()) } else { Ok(()) }
}

fn read_balance(store: &mut impl AsContextMut<Data: AsMut<FuelTank>>) -> wasmtime::Result<i64> {
    let mut store = store.as_context_mut();
    let gauge = store.data_mut().as_mut().gauge()?;
    let slice = gauge.get(&mut store).i64().ok_or_else(|| wasmtime::Error::msg("the fuel gauge is not an i64"))?;
    Ok(slice.saturating_add(store.data_mut().as_mut().rest))
}

fn write_balance(store: &mut impl AsContextMut<Data: AsMut<FuelTank>>, fuel: i64) -> wasmtime::Result<()> {
    let mut store = store.as_context_mut();
    let gauge = store.data_mut().as_mut().gauge()?;
    let slice = fuel.min(SLICE);
    gauge.set(&mut store, Val::I64(slice))?;
    store.data_mut().as_mut().rest = fuel - slice;
    Ok(())
}

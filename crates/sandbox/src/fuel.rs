//! The host's side of fuel: it gives a job's fuel to the guest, and has itself called after every slice of it.
//!
//! A guest subtracts from a global ([`crate::meter`]). When that is below another global it calls the host, which reads the wall clock every few
//! hundred microseconds in this way, and ends the job when no fuel is left. The count of used fuel is exact.

use wasmtime::{AsContextMut, Error, Global, Instance, Trap, Val};

use crate::meter;

/// Units of a slice: about 300 µs of computing, against which reading the clock is negligible.
const SLICE: i64 = 500_000;

/// The fuel of one instance.
#[derive(Debug, Default)]
pub(crate) struct FuelTank {
    /// The guest's globals, once there is a guest.
    gauges: Option<Gauges>,
    /// What is charged and not taken off the fuel yet.
    debt: i64,
}

#[derive(Debug, Clone, Copy)]
struct Gauges {
    fuel: Global,
    call_below: Global,
}

impl FuelTank {
    /// Charges `price` where the store is not accessible. The guest ends when it next calls the host, if that was too much.
    pub(crate) fn charge_later(&mut self, price: u64) {
        self.debt = self.debt.saturating_add(i64::try_from(price).unwrap_or(i64::MAX));
    }

    fn gauges(&self) -> wasmtime::Result<Gauges> {
        self.gauges.ok_or_else(|| Error::msg("the module runs code while it is being instantiated"))
    }
}

/// Connects the globals of a metered guest.
///
/// # Errors
/// When it is not metered.
pub(crate) fn connect_gauges(
    mut store: impl AsContextMut<Data: AsMut<FuelTank>>,
    instance: &Instance,
) -> wasmtime::Result<()> {
    let mut store = store.as_context_mut();
    let mut global =
        |name| instance.get_global(&mut store, name).ok_or_else(|| Error::msg("the module is not metered"));
    let gauges = Gauges { fuel: global(meter::FUEL)?, call_below: global(meter::CALL_BELOW)? };
    store.data_mut().as_mut().gauges = Some(gauges);
    Ok(())
}

/// Sets the guest's fuel to `fuel` units.
///
/// # Errors
/// When there is no guest yet.
pub(crate) fn set_fuel(mut store: impl AsContextMut<Data: AsMut<FuelTank>>, fuel: u64) -> wasmtime::Result<()> {
    let fuel = i64::try_from(fuel).unwrap_or(i64::MAX);
    write_balance(&mut store, fuel)
}

/// Whether a guest that trapped did so because no fuel was left.
pub(crate) fn is_used_up(mut store: impl AsContextMut<Data: AsMut<FuelTank>>) -> wasmtime::Result<bool> {
    Ok(read_balance(&mut store)? < 0)
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
    let gauges = store.data_mut().as_mut().gauges()?;
    let fuel = gauges.fuel.get(&mut store).i64().ok_or_else(|| Error::msg("the fuel gauge is not an i64"))?;
    Ok(fuel.saturating_sub(store.data_mut().as_mut().debt))
}

fn write_balance(store: &mut impl AsContextMut<Data: AsMut<FuelTank>>, fuel: i64) -> wasmtime::Result<()> {
    let mut store = store.as_context_mut();
    let gauges = store.data_mut().as_mut().gauges()?;
    gauges.fuel.set(&mut store, Val::I64(fuel))?;
    gauges.call_below.set(&mut store, Val::I64(fuel.saturating_sub(SLICE).max(0)))?;
    store.data_mut().as_mut().debt = 0;
    Ok(())
}

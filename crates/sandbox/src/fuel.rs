//! Fuel, on the host's side: what a job may use, handed out to the guest in slices.
//!
//! A guest takes its fuel off a global ([`crate::meter`]) and calls the host when that is below zero. The host then adds
//! what it has kept back, so that the wall clock is read every few hundred microseconds, and ends the job when there is
//! nothing left. What a job has used is exact to the unit, slices or not.

use wasmtime::{AsContextMut, Global, Trap, Val};

/// Units a guest is given at a time: some 300 µs of computing, beside which reading the clock is nothing.
const SLICE: i64 = 500_000;

/// The fuel of one instance.
#[derive(Debug, Default)]
pub(crate) struct Tank {
    /// The guest's global, once there is a guest.
    gauge: Option<Global>,
    /// What is not in it yet.
    rest: i64,
}

impl Tank {
    /// Says where the guest keeps what it has.
    pub(crate) fn connect(&mut self, gauge: Global) {
        self.gauge = Some(gauge);
    }

    /// Takes the price of something the host does where it cannot reach the gauge: off what is kept back, below zero if need be.
    /// The guest is ended when it comes for more.
    pub(crate) fn owe(&mut self, price: u64) {
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
pub(crate) fn fill(mut store: impl AsContextMut<Data: AsMut<Tank>>, fuel: u64) -> wasmtime::Result<()> {
    let fuel = i64::try_from(fuel).unwrap_or(i64::MAX);
    set(&mut store, fuel)
}

/// Units left.
///
/// # Errors
/// When there is no guest yet.
pub(crate) fn remaining(mut store: impl AsContextMut<Data: AsMut<Tank>>) -> wasmtime::Result<u64> {
    Ok(u64::try_from(balance(&mut store)?).unwrap_or(0))
}

/// Takes the price of something the host did.
///
/// # Errors
/// [`Trap::OutOfFuel`] when there is not enough.
pub(crate) fn take(mut store: impl AsContextMut<Data: AsMut<Tank>>, price: u64) -> wasmtime::Result<()> {
    let price = i64::try_from(price).unwrap_or(i64::MAX);
    let left = balance(&mut store)?.saturating_sub(price);
    set(&mut store, left.max(0))?;
    if left < 0 { Err(Trap::OutOfFuel.into()) } else { Ok(()) }
}

fn balance(store: &mut impl AsContextMut<Data: AsMut<Tank>>) -> wasmtime::Result<i64> {
    let mut store = store.as_context_mut();
    let gauge = store.data_mut().as_mut().gauge()?;
    let slice = gauge.get(&mut store).i64().ok_or_else(|| wasmtime::Error::msg("the fuel gauge is no i64"))?;
    Ok(slice.saturating_add(store.data_mut().as_mut().rest))
}

fn set(store: &mut impl AsContextMut<Data: AsMut<Tank>>, fuel: i64) -> wasmtime::Result<()> {
    let mut store = store.as_context_mut();
    let gauge = store.data_mut().as_mut().gauge()?;
    let slice = fuel.min(SLICE);
    gauge.set(&mut store, Val::I64(slice))?;
    store.data_mut().as_mut().rest = fuel - slice;
    Ok(())
}

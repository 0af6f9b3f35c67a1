//! An NVIDIA card, opened once per process, with the settings that make candle fast on it.
//!
//! Only with the feature `cuda`. Invariant: a card has one stream, shared by all threads, so all work runs in the order of its
//! submission, and no allocation needs its own events.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use candle_core::cuda_backend::WrapErr;
use candle_core::cuda_backend::cudarc::driver::{result, sys};
use candle_core::{CudaDevice, Device, Result};

/// Tensors of two handles of one card do not mix: there is one handle.
static OPEN: Mutex<BTreeMap<usize, Device>> = Mutex::new(BTreeMap::new());

/// The card of this number.
pub(crate) fn open(number: usize) -> Result<Device> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = open.get(&number) {
        return Ok(device.clone());
    }
    // Checked first: making a context without a driver would panic inside cudarc where a library is missing.
    result::init().w()?;
    result::device::get(i32::try_from(number).unwrap_or(i32::MAX)).w()?;
    let device = CudaDevice::new_with_stream(number)?;
    configure_driver(&device, number)?;
    let device = Device::Cuda(device);
    open.insert(number, device.clone());
    Ok(device)
}

/// Bytes of the card that are free, and bytes it has.
pub(crate) fn memory(device: &Device) -> Option<(u64, u64)> {
    let Device::Cuda(device) = device else { return None };
    device.cuda_stream().context().mem_get_info().ok().map(|(free, total)| (free as u64, total as u64))
}

#[expect(unsafe_code, reason = "switches of the driver that cudarc has no safe door to; each says why it is sound")]
fn configure_driver(device: &CudaDevice, number: usize) -> Result<()> {
    // SAFETY: events order the streams of a context, and this one has a single stream: see the invariant of the module.
    unsafe { device.disable_event_tracking() };
    // By default every synchronization returns freed memory to the system, and the next allocation must request it again.
    // SAFETY: the number was found to be that of a card; the pool is the card's own and lives as long; the attribute is 64 bits wide,
    // and `keep` outlives the call, which copies it.
    unsafe {
        let card = result::device::get(i32::try_from(number).unwrap_or(i32::MAX)).w()?;
        let pool = result::device::get_default_mem_pool(card).w()?;
        let mut keep = u64::MAX;
        let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        sys::cuMemPoolSetAttribute(pool, attribute, (&raw mut keep).cast()).result().w()
    }
}

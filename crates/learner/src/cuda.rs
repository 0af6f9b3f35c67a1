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

/// While it is held, this thread sends sizes and strides of operations to the card once, and not again at each of them: for work of the same
/// few shapes. What was sent stays there.
pub(crate) fn send_shapes_once(device: &Device) -> Option<impl Sized> {
    let Device::Cuda(device) = device else { return None };
    Some(device.enable_cuda_graph_htod_cache())
}

/// Bytes of the card that are free, and bytes it has.
pub(crate) fn memory(device: &Device) -> Option<(u64, u64)> {
    let Device::Cuda(device) = device else { return None };
    device.cuda_stream().context().mem_get_info().ok().map(|(free, total)| (free as u64, total as u64))
}

/// The most bytes of the card that this process had in use at once since the last call. The driver's own, and the workspaces of its libraries,
/// are not counted.
#[expect(unsafe_code, reason = "cudarc has no safe door to the attributes of a pool")]
pub(crate) fn take_peak_memory(device: &Device) -> Option<u64> {
    let Device::Cuda(device) = device else { return None };
    let mut peak = 0_u64;
    let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH;
    // SAFETY: the context's card has a default pool that lives as long as the driver; the attribute is 64 bits wide, and `peak` outlives
    // both calls. The driver documents 0 as the one value it may be set to.
    unsafe {
        let pool = result::device::get_default_mem_pool(device.cuda_stream().context().cu_device()).ok()?;
        sys::cuMemPoolGetAttribute(pool, attribute, (&raw mut peak).cast()).result().ok()?;
        let mut none = 0_u64;
        sys::cuMemPoolSetAttribute(pool, attribute, (&raw mut none).cast()).result().ok()?;
    }
    Some(peak)
}

/// Gives other processes what the pool keeps of freed memory; the next allocations take longer.
#[expect(unsafe_code, reason = "cudarc has no safe door to a pool")]
pub(crate) fn release_memory(device: &Device) {
    let Device::Cuda(card) = device else { return };
    // SAFETY: the context's card has a default pool that lives as long as the driver; trimming takes nothing that is in use.
    let trimmed = device.synchronize().and_then(|()| unsafe {
        let pool = result::device::get_default_mem_pool(card.cuda_stream().context().cu_device()).w()?;
        sys::cuMemPoolTrimTo(pool, 0).result().w()
    });
    if let Err(error) = trimmed {
        tracing::warn!(%error, "the memory of the card that is not in use was not given back");
    }
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

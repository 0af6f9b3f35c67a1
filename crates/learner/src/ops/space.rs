//! The buffers of one shard's operations: kept between steps, so that they stay warm.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use veriplay_kernels::gemm::Packed;
use veriplay_kernels::simd::Buffer;
use veriplay_kernels::thread_pool::ThreadPool;
use veriplay_kernels::{attention, gemm};

/// Scratch memory of one thread.
#[derive(Debug, Default)]
pub(crate) struct Space {
    /// For products.
    pub(crate) products: gemm::Workspace,
    /// For the right-hand side of a weight gradient.
    pub(crate) right: Packed,
    /// For whatever one operation needs inside itself.
    pub(crate) inner: Buffer,
    pub(crate) attention: attention::Workspace,
    /// Large buffers that operations keep from forward to backward, when they are not in use.
    spare: Vec<Buffer>,
}

impl Space {
    /// Lets `pool` share what is worth it in forward passes.
    pub(crate) fn shared_by(&mut self, pool: &ThreadPool) {
        self.products.shared_by(pool);
        self.attention.shared_by(pool);
    }

    /// A buffer to keep; its contents are unspecified.
    pub(crate) fn take(&mut self) -> Buffer {
        self.spare.pop().unwrap_or_default()
    }

    /// Hands a buffer back.
    pub(crate) fn give(&mut self, buffer: Buffer) {
        self.spare.push(buffer);
    }
}

/// A [`Space`] as the operations of one shard hold it. Operations must be `Sync`, so there is a lock; one thread takes it, and
/// never waits.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedSpace(Arc<Mutex<Space>>);

impl SharedSpace {
    /// The space. A panic in an operation leaves nothing half-done in it that another would read.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Space> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

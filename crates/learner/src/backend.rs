//! The interface between the model and what computes it: this project's kernels on the CPU, candle's operations elsewhere.
//!
//! Called by the model, which prepares a [`Backend`] from the present weights once an update or a call of the policy; all threads of the
//! call read it. Forward and backward passes go through [`Backend::decoder`], prefill and decoding steps through [`Backend::decode`].

use std::fmt::Debug;
use std::sync::Arc;

use candle_core::Result;
use veriplay_kernels::thread_pool::{ThreadPool, run_on_threads};

use crate::decoding::{CpuLoop, DecodeThreads, DecodingSample, DeviceLoop, PromptQueue};
use crate::device::OpenDevice;
use crate::network::{Decoder, Network};
use crate::ops::{CandleOps, CpuOps, GroupTableCache, PackedModel, Purpose, SharedWorkspace, TILE_ROWS};

/// Weights that are ready to compute with.
pub(crate) trait Backend: Debug + Send + Sync {
    /// Forward and backward passes of one thread, which works in `workspace`.
    fn decoder(&self, workspace: &SharedWorkspace) -> Decoder<'_>;

    /// The same weights without a record for backward.
    fn detached(&self) -> Box<dyn Backend>;

    /// Prefill and decoding steps: every sample of every prompt in `queue`, in any order.
    fn decode(&self, queue: &PromptQueue<'_>, threads: &DecodeThreads<'_>) -> Result<Vec<DecodingSample>>;
}

/// The backend of `device`. `pool` packs the weights where that is needed.
pub(crate) fn prepare(
    network: Network,
    device: &OpenDevice,
    purpose: Purpose,
    pool: &ThreadPool,
) -> Result<Box<dyn Backend>> {
    if !device.kernels {
        return Ok(Box::new(CandleBackend { network, tables: Arc::default() }));
    }
    let packed = Arc::new(PackedModel::new(&network.head, network.matrices(), purpose, pool)?);
    Ok(Box::new(CpuBackend { network, packed }))
}

/// Our kernels.
#[derive(Debug)]
struct CpuBackend {
    network: Network,
    packed: Arc<PackedModel>,
}

impl Backend for CpuBackend {
    fn decoder(&self, workspace: &SharedWorkspace) -> Decoder<'_> {
        let (sizes, rope) = (self.network.config.head_sizes(), Arc::clone(&self.network.rope));
        let ops = CpuOps { sizes, rope, packed: Arc::clone(&self.packed), workspace: workspace.clone() };
        Decoder { network: &self.network, ops: Box::new(ops) }
    }

    fn detached(&self) -> Box<dyn Backend> {
        Box::new(Self { network: self.network.detached(), packed: Arc::clone(&self.packed) })
    }

    fn decode(&self, queue: &PromptQueue<'_>, threads: &DecodeThreads<'_>) -> Result<Vec<DecodingSample>> {
        let DecodeThreads { loops, pool, buffers } = threads;
        let run = |_| {
            pool.enter(|| {
                buffers.with(|buffers| {
                    buffers.set_pool(pool);
                    let samples =
                        CpuLoop::new(self.decoder(buffers.workspace()), &self.packed, queue, buffers, pool).run();
                    // A pool ends with its call.
                    buffers.set_pool(&ThreadPool::single());
                    samples
                })
            })
        };
        let parts: Result<Vec<_>> = run_on_threads(0..*loops, run).into_iter().collect();
        Ok(parts?.into_iter().flatten().collect())
    }
}

/// Candle's kernels with a backward of ours.
#[derive(Debug)]
struct CandleBackend {
    network: Network,
    tables: Arc<GroupTableCache>,
}

impl Backend for CandleBackend {
    fn decoder(&self, _: &SharedWorkspace) -> Decoder<'_> {
        let (sizes, rope) = (self.network.config.head_sizes(), Arc::clone(&self.network.rope));
        Decoder {
            network: &self.network,
            ops: Box::new(CandleOps { sizes, rope, tables: Arc::clone(&self.tables), tile_rows: TILE_ROWS }),
        }
    }

    fn detached(&self) -> Box<dyn Backend> {
        Box::new(Self { network: self.network.detached(), tables: Arc::clone(&self.tables) })
    }

    /// One loop: a device computes all rows together.
    fn decode(&self, queue: &PromptQueue<'_>, _: &DecodeThreads<'_>) -> Result<Vec<DecodingSample>> {
        DeviceLoop::new(self.decoder(&SharedWorkspace::default()), queue)?.run()
    }
}

//! Weights that are ready to compute with, and what computes: this project's kernels on the CPU, candle's operations elsewhere.
//!
//! Called by the model, which prepares a [`Backend`] from the present weights once an update or a call of the policy; all threads of the
//! call read it. Forward and backward passes go through [`Backend::decoder`], prefill and decoding steps through [`Backend::decode`].

use std::sync::Arc;

use candle_core::Result;
use veriplay_kernels::thread_pool::{ThreadPool, run_on_threads};

use crate::decoding::{CpuLoop, DecodeThreads, DecodingSample, DeviceLoop, PromptQueue};
use crate::device::OpenDevice;
use crate::network::{Decoder, Network};
use crate::ops::{CandleOps, CpuOps, GroupTableCache, Ops, PackedModel, Packing, SharedWorkspace, TILE_ROWS};

#[derive(Debug)]
pub(crate) struct Backend {
    network: Network,
    operations: Operations,
}

/// What its operations share.
#[derive(Debug, Clone)]
enum Operations {
    Kernels(Arc<PackedModel>),
    /// Candle's, with a backward of ours.
    Candle(Arc<GroupTableCache>),
}

impl Backend {
    /// On `device`, whose kernels want the weights packed: `pool` does that.
    pub(crate) fn new(network: Network, device: &OpenDevice, packing: Packing, pool: &ThreadPool) -> Result<Self> {
        let operations = if device.kernels {
            Operations::Kernels(Arc::new(PackedModel::new(&network.head, network.matrices(), packing, pool)?))
        } else {
            Operations::Candle(Arc::default())
        };
        Ok(Self { network, operations })
    }

    /// Forward and backward passes of one thread, which works in `workspace`.
    pub(crate) fn decoder(&self, workspace: &SharedWorkspace) -> Decoder<'_> {
        let (sizes, ropes) = (self.network.config.head_sizes(), Arc::clone(&self.network.ropes));
        let activation = self.network.config.model_type.activation();
        let ops: Box<dyn Ops> = match &self.operations {
            Operations::Kernels(packed) => {
                Box::new(CpuOps { sizes, ropes, activation, packed: Arc::clone(packed), workspace: workspace.clone() })
            }
            Operations::Candle(tables) => {
                Box::new(CandleOps { sizes, ropes, activation, tables: Arc::clone(tables), tile_rows: TILE_ROWS })
            }
        };
        Decoder { network: &self.network, ops }
    }

    /// The same weights without a record for backward.
    pub(crate) fn detached(&self) -> Self {
        Self { network: self.network.detached(), operations: self.operations.clone() }
    }

    /// Prefill and decoding steps: every sample of every prompt in `queue`, in any order. A device computes all rows together, in one loop.
    pub(crate) fn decode(&self, queue: &PromptQueue<'_>, threads: &DecodeThreads<'_>) -> Result<Vec<DecodingSample>> {
        let Operations::Kernels(packed) = &self.operations else {
            return DeviceLoop::new(self.decoder(&SharedWorkspace::default()), queue)?.run();
        };
        let DecodeThreads { loops, pool, buffers } = threads;
        let run = |_| {
            pool.enter(|| {
                buffers.with(|buffers| {
                    buffers.set_pool(pool);
                    let samples = CpuLoop::new(self.decoder(buffers.workspace()), packed, queue, buffers, pool).run();
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

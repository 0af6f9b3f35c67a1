//! The present weights with the operations that compute with them: made once an update or a call of the policy, read by all its threads.

use std::sync::Arc;

use candle_core::Result;
use veriplay_kernels::attention::HeadSizes;
use veriplay_kernels::rope::RopeTable;
use veriplay_kernels::thread_pool::ThreadPool;

use super::decoder::Decoder;
use super::layers::{Layer, View};
use crate::config::ModelConfig;
use crate::ops::{Fused, Kernels, Ops, PackedModel, Purpose, SharedSpace, Stock, Tables};

/// A view of the weights with all that its operations share between threads.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) view: View,
    sizes: HeadSizes,
    rope: Arc<RopeTable>,
    kind: Kind,
}

/// Whose operations compute.
#[derive(Debug, Clone)]
enum Kind {
    /// Our kernels, on the CPU.
    Kernels(Arc<PackedModel>),
    /// Candle's kernels with a backward of ours, on any device.
    Fused(Arc<Tables>),
    /// Candle's differentiable operations alone: what the others are held to.
    Stock,
}

impl Engine {
    /// Our kernels, on the CPU, or else candle's with a backward of ours. `pool` packs the weights.
    pub(crate) fn new(
        config: &ModelConfig,
        rope: &Arc<RopeTable>,
        view: View,
        purpose: Purpose,
        kernels: bool,
        pool: &ThreadPool,
    ) -> Result<Self> {
        let kind = match kernels {
            true => {
                let layers = view.layers.iter().map(Layer::matrices);
                Kind::Kernels(Arc::new(PackedModel::new(&view.head, layers, purpose, pool)?))
            }
            false => Kind::Fused(Arc::default()),
        };
        Ok(Self { kind, ..Self::stock(config, rope, view) })
    }

    /// Candle's own operations, wherever the weights are.
    pub(crate) fn stock(config: &ModelConfig, rope: &Arc<RopeTable>, view: View) -> Self {
        Self { view, sizes: config.head_sizes(), rope: Arc::clone(rope), kind: Kind::Stock }
    }

    /// The same without a record for backward.
    pub(crate) fn detached(&self) -> Self {
        let (rope, kind) = (Arc::clone(&self.rope), self.kind.clone());
        Self { view: self.view.detached(), sizes: self.sizes, rope, kind }
    }

    /// The decoder of one thread, which works in `space`.
    pub(crate) fn decoder(&self, space: &SharedSpace) -> Decoder<'_> {
        let (sizes, rope) = (self.sizes, Arc::clone(&self.rope));
        let ops: Box<dyn Ops> = match &self.kind {
            Kind::Kernels(packed) => {
                Box::new(Kernels { sizes, rope, packed: Arc::clone(packed), space: space.clone() })
            }
            Kind::Fused(tables) => Box::new(Fused { sizes, rope, tables: Arc::clone(tables) }),
            Kind::Stock => Box::new(Stock { sizes, rope }),
        };
        Decoder { view: &self.view, ops }
    }

    /// The packed matrices, for the rollout's own loop.
    pub(crate) fn packed(&self) -> Result<&PackedModel> {
        match &self.kind {
            Kind::Kernels(packed) => Ok(packed),
            _ => Err(candle_core::Error::Msg("the CPU's rollout was given weights that are not packed".to_owned())),
        }
    }
}

//! The kinds of layers, and the rotary tables of each kind.
//!
//! Called by the network, which gives every layer its kind, and by the operations, which rotate queries and keys by its table.

use std::sync::Arc;

use veriplay_kernels::layers::RopeTable;

use super::ModelConfig;

/// How a layer's attention depends on positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerKind {
    /// Queries and keys are rotated.
    Rotated,
    /// Neither is rotated (NoPE, Kazemnejad et al. 2023, arXiv 2305.19466).
    Unrotated,
}

impl LayerKind {
    pub(crate) const ALL: [Self; 2] = [Self::Rotated, Self::Unrotated];
}

/// cos and sin of every position, by the kind of a layer. The table of a kind that rotates nothing has no pairs.
#[derive(Debug)]
pub(crate) struct RopeTables([Arc<RopeTable>; LayerKind::ALL.len()]);

impl RopeTables {
    pub(crate) fn new(config: &ModelConfig) -> Self {
        Self(LayerKind::ALL.map(|kind| {
            let frequencies = match kind {
                LayerKind::Rotated => config.rope_frequencies(),
                LayerKind::Unrotated => Vec::new(),
            };
            Arc::new(RopeTable::new(config.max_position_embeddings, &frequencies))
        }))
    }

    pub(crate) const fn of(&self, kind: LayerKind) -> &Arc<RopeTable> {
        &self.0[kind as usize]
    }
}

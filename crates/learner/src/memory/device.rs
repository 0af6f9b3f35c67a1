//! The prediction for candle's operations, on a card or on the CPU.
//!
//! What differs from our kernels: heads are copied out of their projections, scores of attention exist, and nothing is packed. Every number has
//! the width of the activations unless it says otherwise.

use super::{COPIES, F32, MemoryPlan, MicroBatchSize, ModelSizes};
use crate::config::TensorSpec;
use crate::ops::{TILE_ROWS, rows_of_tile};
use crate::options::LearnerOptions;
use crate::sampling::DEVICE_PREFILL_TOKENS;
use crate::segments::Segments;

/// Forms of the logits of a step: as they are, wide, scaled, shifted, exponentiated, normed, summed up and compared.
const LOGIT_FORMS: u64 = 8;

/// Copies of an operation's result while it is differentiated. A card has the zeros, too, that a sum of gradients begins with.
const FORMS: u64 = COPIES + 2;

/// A model of some sizes, trained by candle's operations.
pub(super) struct DeviceSizes<'a> {
    pub(super) model: &'a ModelSizes,
    pub(super) options: &'a LearnerOptions,
    pub(super) batch: MicroBatchSize,
}

impl DeviceSizes<'_> {
    pub(super) fn plan(&self) -> MemoryPlan {
        let (rows, all, trained) = (self.rows(), self.model.sum(|_| true), self.trained());
        let activations = rows * self.kept_per_row() + self.masks() + self.transient();
        let adapters = if self.has_adapters() { F32 * trained } else { 0 };
        let frozen = self.trained_width() * trained;
        let (working, rollouts) =
            (self.working_copies(), if self.options.server_samples { 0 } else { self.rollouts() });
        let sampling = if self.options.server_samples { 0 } else { working + rollouts };
        let is_ahead = self.options.samples_ahead;
        let base = if self.has_adapters() { self.width() } else { self.trained_width() };
        MemoryPlan {
            weights: base * all + adapters,
            reference: if self.options.kl.is_none() { 0 } else { frozen },
            moments: if self.options.offloads() { 0 } else { F32 * 2 * trained },
            working,
            gradients: self.gradients(),
            activations,
            logits: self.head().saturating_sub(self.later_than_head()),
            ahead: if is_ahead { frozen + sampling } else { 0 },
            rollouts: if is_ahead { 0 } else { rollouts },
            host: if self.options.offloads() { self.host() } else { 0 },
        }
    }

    /// Bytes of a number that trains: its f32 may be on the host.
    fn trained_width(&self) -> u64 {
        if self.options.offloads() { self.width() } else { F32 }
    }

    /// A weight's f32, its moments and its sum of gradients; and the largest tensor once more.
    fn host(&self) -> u64 {
        let largest = self.model.specs.iter().map(|spec| spec.elements() as u64).max().unwrap_or(0);
        F32 * (4 * self.model.sum(|_| true) + largest)
    }

    /// The caches of all rows, as if each had a prompt of its own; while others come the results of a layer of their prompts, and masks, or then one
    /// layer's keys or values in their four forms; and in a step the scores of a layer, as if each row had the whole context, and logits as they are
    /// drawn from.
    fn rollouts(&self) -> u64 {
        let model = self.model;
        let samples = self.options.rollout_rows as u64;
        let most = (self.options.rollout_tokens.unwrap_or(usize::MAX) as u64).max(model.context);
        let tokens = samples.saturating_mul(model.context).min(most);
        let side = (model.qkv - model.query) / 2;
        let cache = 2 * side * model.layers * self.width();
        let prompts = DEVICE_PREFILL_TOKENS as u64 + model.context;
        // Of one prompt, a tile of scores: the product, scaled, masked, and the softmax; under narrow activations the product as such, too.
        let narrow = if self.width() == F32 { 0 } else { self.width() };
        let scores = tile(model.context) * model.context * model.heads * (4 * F32 + narrow);
        // With them the residual stream, projections and what is mixed of all prompts.
        let attending = scores + prompts * (2 * model.hidden + model.qkv + model.query) * self.width();
        let wide = prompts * (COPIES * model.hidden + model.qkv.max(4 * model.inner)) * self.width();
        let masks = prompts * (model.context + tile(model.context)) / 2;
        let coming = wide.max(attending) + masks;
        let replacing = tokens.max(prompts) * cache + coming.max(tokens * 4 * side * self.width());
        // Rows that share a prompt have scores on it each.
        let scores_of_step = samples * model.context * model.heads * (self.width() + 5 * F32);
        let step = tokens * cache + scores_of_step;
        replacing.max(step) + samples * model.vocab * LOGIT_FORMS * F32
    }

    fn rows(&self) -> u64 {
        self.batch.rows as u64
    }

    fn width(&self) -> u64 {
        self.options.precision.bytes() as u64
    }

    const fn has_adapters(&self) -> bool {
        self.options.lora.is_some()
    }

    fn trained(&self) -> u64 {
        self.model.trained(self.options).unwrap_or_else(|| self.model.sum(|_| true))
    }

    /// Projections joined by layer, and weights converted to the activations' width; a base under adapters is kept in it, and so are copies of weights
    /// that are on the host.
    fn working_copies(&self) -> u64 {
        let converted = if self.width() == self.trained_width() || self.has_adapters() {
            0
        } else {
            self.model.sum(TensorSpec::is_hidden_matrix) + self.model.vocab * self.model.hidden
        };
        self.width() * (self.model.joined_projections() + converted)
    }

    /// Of the weights: the sum over micro-batches, which may be on the host, and those of one backward pass.
    fn gradients(&self) -> u64 {
        let sum = if self.options.offloads() { 0 } else { F32 * self.trained() };
        sum + self.bytes_of_pass()
    }

    /// With sums on the host, those of the head stay to the end of a micro-batch: they meet those of the embedding.
    fn bytes_of_pass(&self) -> u64 {
        let head = if self.options.offloads() { F32 * self.model.vocab * self.model.hidden } else { 0 };
        self.trained_width() * self.gradients_of_pass() + head
    }

    /// Numbers of the gradients that exist before they are added to the sum: of all weights, or of those of a segment.
    fn gradients_of_pass(&self) -> u64 {
        let model = self.model;
        if self.has_adapters() {
            return self.trained();
        }
        let layer = model.sum(TensorSpec::is_hidden_matrix) / model.layers.max(1);
        match self.options.segments {
            Some(Segments { layers, .. }) => COPIES * layer * (layers as u64).min(model.layers),
            None => self.trained() + model.vocab * model.hidden,
        }
    }

    /// Layers whose intermediate results exist at a time.
    fn layers_at_once(&self) -> u64 {
        self.options.segments.map_or(self.model.layers, |s| (s.layers as u64).min(self.model.layers))
    }

    /// Bytes that backward needs of a row, of all layers whose results exist.
    fn kept_per_row(&self) -> u64 {
        let model = self.model;
        // As for our kernels: the input of each segment; and of the one that is computed again its input, output, the output's gradient and
        // their product.
        let boundaries =
            self.options.segments.map_or(0, |s| (model.layers.div_ceil(s.layers as u64) + 4) * model.hidden);
        self.width() * boundaries + self.layers_at_once() * self.kept_per_row_and_layer()
    }

    fn kept_per_row_and_layer(&self) -> u64 {
        let model = self.model;
        let key = (model.qkv - model.query) / 2;
        // Two norms; two branches and two sums of the residual stream.
        let stream = (6 + model.norms_behind) * model.hidden;
        // Projections; heads copied out of them in two steps; queries and keys rotated; the output, and in two arrangements.
        let attention = 3 * model.qkv + model.query + key + 3 * model.query;
        let bias = if model.biased { model.qkv } else { 0 };
        let head_norms = if model.normed_heads { model.query + key } else { 0 };
        // Gate and up side by side, the gate's activation, and the product.
        let swiglu = 4 * model.inner;
        let numbers = stream + attention + bias + head_norms + swiglu + self.adapted_width();
        self.width() * numbers + self.kept_columns() * model.heads * self.bytes_per_score()
    }

    /// Outputs of adapters, and their sums with those of the matrices; and gradients of both.
    fn adapted_width(&self) -> u64 {
        let model = self.model;
        let targets = self.options.lora.as_ref().map(|lora| &lora.target_modules);
        let any =
            |modules: &[&str]| targets.is_some_and(|of| of.iter().any(|module| modules.contains(&module.as_str())));
        let sites: [(&[&str], u64); 4] = [
            (&["q_proj", "k_proj", "v_proj", "qkv_proj"], model.qkv),
            (&["o_proj"], model.hidden),
            (&["gate_proj", "up_proj", "gate_up_proj"], 2 * model.inner),
            (&["down_proj"], model.hidden),
        ];
        4 * sites.iter().filter(|(modules, _)| any(modules)).map(|(_, width)| width).sum::<u64>()
    }

    /// Of one score: the product, scaled, masked, the softmax, and a gradient; under narrow activations the product and the weight as
    /// such, too.
    fn bytes_per_score(&self) -> u64 {
        if self.width() == F32 { 5 * F32 } else { 5 * F32 + 2 * self.width() }
    }

    /// Columns of scores that are kept for backward: those of groups in one tile.
    fn kept_columns(&self) -> u64 {
        if self.batch.group > TILE_ROWS { 0 } else { self.batch.group as u64 }
    }

    /// Bytes of the masks of all tiles, which layers share: one for each row and each column up to the last that a row of its tile sees.
    fn masks(&self) -> u64 {
        let (rows, columns) = (self.rows(), self.batch.group as u64);
        columns * rows.saturating_sub(columns / 2) + rows * tile(columns) / 2
    }

    /// Bytes that exist only while an operation is differentiated.
    fn transient(&self) -> u64 {
        let (model, rows, columns) = (self.model, self.rows(), self.batch.group as u64);
        // Under narrow activations the gradient is one of the copies.
        let again = if self.width() == F32 { self.bytes_per_score() } else { self.bytes_per_score() - F32 };
        let forward = if self.kept_columns() == 0 { again } else { 0 };
        let scores = tile(columns) * columns * model.heads * (forward + FORMS * F32);
        let wide = rows * (COPIES * model.hidden + model.qkv.max(12 * model.inner)) * self.width();
        scores.max(wide)
    }

    /// The head's moment: its logits, or then the gradients of its weight.
    fn head(&self) -> u64 {
        let weight = if self.has_adapters() { 0 } else { self.model.vocab * self.model.hidden };
        self.logits().max(F32 * FORMS * weight)
    }

    /// What of the plan's other numbers is not there yet, or not any more: with segments the results of layers, and the gradients of the pass.
    fn later_than_head(&self) -> u64 {
        let results = self.rows() * self.layers_at_once() * self.kept_per_row_and_layer();
        let layers = self.options.segments.map_or(0, |_| results);
        layers + self.transient() + self.bytes_of_pass()
    }

    /// Of one chunk of rows, or of all: as they are, and three of their forms, in f32.
    fn logits(&self) -> u64 {
        let (rows, outputs) = (self.rows(), self.batch.outputs as u64);
        let at_once = self.options.segments.map_or(outputs, |s| outputs.min(s.logit_rows as u64));
        at_once * self.model.vocab * 4 * F32 + 2 * (rows + outputs) * self.model.hidden * self.width()
    }
}

/// Rows of a tile whose last row sees so many columns.
fn tile(columns: u64) -> u64 {
    columns.min(rows_of_tile(columns as usize) as u64)
}

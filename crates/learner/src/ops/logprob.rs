//! Selected log-probabilities and entropies as a candle operation.

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor};

use super::slices::{Slice, floats, gradient, output};
use super::space::SharedSpace;
use veriplay_kernels::logprob::{Prediction, selected, selected_backward};

/// Logits [rows, vocab] → log-probability (row 0) and entropy (row 1) of every prediction [2, predictions].
pub(super) struct SelectedLogprob {
    /// Sorted by row.
    pub(super) predictions: Vec<Prediction>,
    pub(super) space: SharedSpace,
}

impl CustomOp1 for SelectedLogprob {
    fn name(&self) -> &'static str {
        "selected-logprob"
    }

    fn cpu_fwd(&self, logits: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (_, vocab) = layout.shape().dims2()?;
        let count = self.predictions.len();
        let mut out = vec![0.0; 2 * count];
        let row = &mut self.space.lock().inner;
        selected(out.split_at_mut(count), floats(logits, layout)?, &self.predictions, row.resize(vocab));
        Ok(output(out, (2, count)))
    }

    fn bwd(&self, logits: &Tensor, _: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        let (values, grad) = (Slice::of(logits)?, Slice::of(grad)?);
        let mut dlogits = vec![0.0; values.len()];
        let halves = grad.split_at(self.predictions.len());
        selected_backward(&mut dlogits, &values, logits.dim(1)?, &self.predictions, halves);
        gradient(dlogits, logits.shape())
    }
}

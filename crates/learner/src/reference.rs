//! The reference: a frozen copy of weights that the policy is held to, by KL terms and by losses over pairs.
//!
//! It costs one more copy of the weights (4 bytes a parameter) while it is held, or of the adapters alone where there are some, and
//! the weights' packed form while it scores.

use std::collections::BTreeMap;

use veriplay_core::{LearnError, PolicyError, PreferenceBatch};

use crate::Result;
use crate::learner::Learner;
use crate::model::Mode;
use crate::model::packed::Purpose;
use crate::score::backend;

impl Learner {
    /// Makes the present weights the reference: the start model's at the start of a run, the opponent's at the start of a SPIN
    /// iteration.
    ///
    /// # Errors
    /// The tensor backend failed.
    pub fn hold_reference(&mut self) -> Result<(), PolicyError> {
        self.reference = Some(self.weights.snapshot().map_err(backend)?);
        Ok(())
    }

    /// Makes the present weights of another learner the reference.
    ///
    /// # Errors
    /// It has another shape.
    pub fn hold_reference_of(&mut self, other: &Self) -> Result<(), PolicyError> {
        if self.config != other.config {
            let what = "the reference's config.json differs from the policy's: they must be the same model";
            return Err(PolicyError::Backend(what.to_owned()));
        }
        self.reference = Some(other.weights.snapshot().map_err(backend)?);
        Ok(())
    }

    /// Whether a reference is held.
    #[must_use]
    pub const fn holds_reference(&self) -> bool {
        self.reference.is_some()
    }

    /// As [`Learner::score`], under the held reference.
    ///
    /// # Errors
    /// As [`Learner::score`], and no reference.
    pub fn reference_logprobs(&self, prompt: &[u32], responses: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, PolicyError> {
        self.check_score(prompt, responses)?;
        let asked: Vec<(&[u32], &[u32])> = responses.iter().map(|r| (prompt, r.as_slice())).collect();
        self.reference_scores(&asked).map_err(backend)
    }

    /// Log-probabilities under the held reference of every response behind its prompt.
    pub(crate) fn reference_scores(&self, asked: &[(&[u32], &[u32])]) -> Result<Vec<Vec<f32>>> {
        let none = || candle_core::Error::Msg("no reference is held: call `hold_reference` first".to_owned());
        let weights = self.reference.as_ref().ok_or_else(none)?;
        self.score_with(&self.engine_of(weights, Mode::Detached, Purpose::Forward)?, asked)
    }

    /// Of every pair that brings none: the log-probabilities of its responses as wholes, if a reference is held.
    pub(crate) fn referenced_pairs(&self, batch: &PreferenceBatch) -> Result<BTreeMap<usize, [f64; 2]>, LearnError> {
        if self.reference.is_none() {
            return Ok(BTreeMap::new());
        }
        let wanting: Vec<usize> = (0..batch.pairs.len()).filter(|&i| batch.pairs[i].reference.is_none()).collect();
        let pairs = wanting.iter().map(|&i| &batch.pairs[i]);
        let both = pairs.flat_map(|p| [(&*p.prompt, p.chosen.as_slice()), (&*p.prompt, p.rejected.as_slice())]);
        let scores = self.reference_scores(&both.collect::<Vec<_>>()).map_err(crate::update::backend)?;
        let sums: Vec<f64> = scores.iter().map(|s| s.iter().map(|&l| f64::from(l)).sum()).collect();
        Ok(wanting.into_iter().zip(sums.chunks_exact(2).map(|pair| [pair[0], pair[1]])).collect())
    }
}

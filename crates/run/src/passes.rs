//! Several updates on one step's samples, as in PPO (Schulman et al. 2017, arXiv 1707.06347, algorithm 1): each epoch shuffles the samples
//! into mini-batches, and each mini-batch is an optimizer step.
//!
//! Called by the training loop. The log-probabilities that ratios compare with stay: those of sampling, or of the policy in front of the first
//! update. After that one the ratios differ from 1. Invariants: samples of one prompt and turns of one episode stay together, in their order,
//! because they share computation and their advantages belong to one group; the order is a function of (seed, step, epoch); one epoch of one
//! mini-batch is the batch itself, to the bit.

use std::borrow::Cow;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use veriplay_core::{Sample, TrainBatch};

/// Number of epochs, and of mini-batches in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passes {
    /// Passes over the samples.
    pub epochs: usize,
    /// Parts of each pass.
    pub minibatches: usize,
}

impl Passes {
    /// One update.
    pub const ONE: Self = Self { epochs: 1, minibatches: 1 };

    /// The batches of a step's updates, in order. A mini-batch's loss is divided by its share of the normalizer, so that its gradient is the
    /// batch's in expectation.
    pub fn batches<'a>(self, batch: &'a TrainBatch, seed: u64, step: u64) -> Vec<Cow<'a, TrainBatch>> {
        if self == Self::ONE {
            return vec![Cow::Borrowed(batch)];
        }
        (0..self.epochs).flat_map(|epoch| self.epoch(batch, &mut rng(seed, step, epoch))).map(Cow::Owned).collect()
    }

    fn epoch(self, batch: &TrainBatch, rng: &mut ChaCha8Rng) -> Vec<TrainBatch> {
        let mut groups = groups(&batch.samples);
        groups.shuffle(rng);
        let parts = self.minibatches.min(groups.len()).max(1);
        let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); parts];
        for group in groups {
            // The shortest part so far, the first of equals: no part stays empty.
            if let Some(part) = samples.iter_mut().min_by_key(|part| part.len()) {
                part.extend_from_slice(group);
            }
        }
        let normalizer = batch.normalizer / parts as f64;
        samples.into_iter().map(|samples| TrainBatch { samples, normalizer }).collect()
    }
}

/// Neighbours that belong together: samples of one prompt, and the later turns of their episodes.
fn groups(samples: &[Sample]) -> Vec<&[Sample]> {
    let mut first = 0;
    let mut groups = Vec::new();
    for at in 1..=samples.len() {
        let belongs = samples.get(at).is_some_and(|next| {
            next.prompt == samples[first].prompt || next.episode.is_some() && next.episode == samples[at - 1].episode
        });
        if !belongs {
            groups.push(&samples[first..at]);
            first = at;
        }
    }
    groups
}

fn rng(seed: u64, step: u64, epoch: usize) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&step.to_le_bytes());
    key[16..24].copy_from_slice(&(epoch as u64).to_le_bytes());
    key[24..].copy_from_slice(b"  passes");
    ChaCha8Rng::from_seed(key)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use veriplay_core::{Sample, TrainBatch};

    use super::Passes;

    /// Groups of these sizes; every sample has a weight of its own.
    fn batch(sizes: &[usize]) -> TrainBatch {
        let samples = sizes.iter().enumerate().flat_map(|(group, &size)| {
            (0..size).map(move |at| Sample::new([group as u32].into(), vec![1], (100 * group + at) as f32))
        });
        TrainBatch { samples: samples.collect(), normalizer: 12.0 }
    }

    fn weights(batch: &TrainBatch) -> Vec<f32> {
        batch.samples.iter().map(|sample| sample.weight).collect()
    }

    #[test]
    fn one_update_is_of_the_batch_itself() {
        let batch = batch(&[2, 3]);
        let found = Passes::ONE.batches(&batch, 1, 2);
        assert!(matches!(found.as_slice(), [Cow::Borrowed(same)] if std::ptr::eq(*same, &raw const batch)));
    }

    #[test]
    fn every_epoch_goes_over_every_sample_once_and_cuts_no_group() {
        let batch = batch(&[3, 1, 2, 3, 3]);
        let found = Passes { epochs: 3, minibatches: 2 }.batches(&batch, 1, 2);
        assert_eq!(found.len(), 6);
        for epoch in found.chunks(2) {
            let mut all: Vec<f32> = epoch.iter().flat_map(|part| weights(part)).collect();
            all.sort_by(f32::total_cmp);
            assert_eq!(all, weights(&batch));
            let groups = |part: &TrainBatch| part.samples.chunk_by(|a, b| a.prompt == b.prompt).count();
            assert_eq!(epoch.iter().map(|part| groups(part)).sum::<usize>(), 5, "a group was cut");
            assert!(epoch.iter().all(|part| part.normalizer == 6.0 && part.samples.len() >= 4));
        }
        assert_ne!(weights(&found[0]), weights(&found[2]), "epochs differ in their order");
    }

    #[test]
    fn an_episode_is_not_cut() {
        let turn = |prompt: u32, episode, weight| Sample {
            episode: Some(episode),
            ..Sample::new([prompt].into(), vec![1], weight)
        };
        let samples = vec![turn(1, 0, 0.0), turn(2, 0, 1.0), turn(1, 1, 2.0), turn(3, 1, 3.0), turn(4, 2, 4.0)];
        let batch = TrainBatch { samples, normalizer: 1.0 };
        for part in (Passes { epochs: 2, minibatches: 5 }).batches(&batch, 1, 2) {
            assert!([vec![0.0, 1.0, 2.0, 3.0], vec![4.0]].contains(&weights(&part)), "{:?}", weights(&part));
        }
    }

    #[test]
    fn the_order_is_a_function_of_seed_and_step_and_parts_are_never_empty() {
        let batch = batch(&[1, 1, 1]);
        let passes = Passes { epochs: 1, minibatches: 5 };
        let all = |parts: Vec<Cow<'_, TrainBatch>>| parts.iter().flat_map(|part| weights(part)).collect::<Vec<_>>();
        let order = |seed, step| all(passes.batches(&batch, seed, step));
        assert_eq!(passes.batches(&batch, 1, 1).len(), 3);
        assert_eq!(order(1, 1), order(1, 1));
        assert!((0..20).any(|step| order(1, step) != order(1, 0)) && (0..20).any(|seed| order(seed, 0) != order(0, 0)));
        assert!(passes.batches(&TrainBatch { samples: Vec::new(), normalizer: 1.0 }, 1, 1).len() == 1);
    }
}

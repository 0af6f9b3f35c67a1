//! Seeding: before step 0 the start model proposes tasks, until the pool has `seed_proposals` of each kind. Called by [`SelfPlay::init`].
//!
//! Proposals of a round see what earlier rounds made, as references, and pass the gate of every other proposal. What they make are seeds: they
//! are never lost. Nothing is learned from them, and they are not logged. Rounds are a function of the run's seed and the start model.

use std::collections::BTreeMap;

use crate::driver::SelfPlay;
use crate::environment::{Environment, Stage};
use crate::play::{PlayError, StepContext};
use crate::randomness::derive_seed;
use crate::task_pool::{PoolTask, TaskPool};

/// Rounds in a row without a new task after which there are no more.
const ROUNDS_WITHOUT_TASK: u64 = 32;

impl<E: Environment> SelfPlay<E> {
    /// Fills the pool up to `seed_proposals` tasks of each kind.
    ///
    /// # Errors
    /// A fault of the policy or of the host, or a model whose proposals are not valid.
    pub(crate) fn seed_pool(&self, context: &StepContext<'_>, pool: &mut TaskPool<E::Task>) -> Result<(), PlayError> {
        let wanted = self.game.settings().seed_proposals;
        let context = StepContext { seed: derive_seed(context.seed, 0, "seed proposals"), ..*context };
        let (mut round, mut fruitful) = (0, 0);
        while let Some((kind, count)) = self.missing(pool, wanted).first_key_value() {
            if round - fruitful >= ROUNDS_WITHOUT_TASK {
                let found = wanted - count;
                return Err(PlayError::Setup(format!(
                    "`game.seed_proposals` is `{wanted}`, and the start model and the given seeds make only `{found}` tasks of kind \
                     `{kind}`: the last {ROUNDS_WITHOUT_TASK} of {round} rounds of proposals gave none; lower it, widen the rules for \
                     valid proposals, or start from another model"
                )));
            }
            round += 1;
            if self.seed_round(&context, pool, wanted, round - 1)? {
                fruitful = round;
            }
        }
        Ok(())
    }

    /// One round of proposals for the kinds that miss tasks. Returns whether it made any.
    fn seed_round(
        &self,
        context: &StepContext<'_>,
        pool: &mut TaskPool<E::Task>,
        wanted: usize,
        round: u64,
    ) -> Result<bool, PlayError> {
        let mut missing = self.missing(pool, wanted);
        let mut proposers = self.game.proposers(context, pool, Stage::Propose, round)?;
        proposers.retain(|one| missing.contains_key(one.kind));
        self.retain_with_room(context, &mut proposers)?;
        let proposals = self.run_proposers(context, &proposers, Stage::Propose, round, &mut pool.keys())?;
        let mut made = false;
        for proposal in &proposals {
            // Every run from this model has the same seeds, or none.
            proposal.judged.verdict.as_ref().map_err(Clone::clone)?;
            let Some(task) = proposal.admission.task() else { continue };
            let Some(count) = missing.get_mut(task.kind()).filter(|count| **count > 0) else { continue };
            *count -= 1;
            made = true;
            pool.add_seeds([task.clone()]);
        }
        Ok(made)
    }

    /// How many tasks are missing of each kind that has too few.
    fn missing(&self, pool: &TaskPool<E::Task>, wanted: usize) -> BTreeMap<&'static str, usize> {
        let kinds = self.game.kinds().into_iter();
        let missing = kinds.map(|kind| (kind, wanted.saturating_sub(pool.of_kind(kind).count())));
        missing.filter(|(_, count)| *count > 0).collect()
    }
}

//! Which prompts to draw rollouts for. Called by the cli at the start of a step and after the proposals are judged.

use rand_chacha::ChaCha8Rng;
use veriplay_core::{Attempt, Status, Task, TaskType};

use super::AbsoluteZero;
use super::buffer::Entry;
use super::records::{Origin, ProposalRecord, ProposerTurn, SolverTurn};
use super::state::GameState;
use crate::anchors::Anchor;
use crate::prompts::ProposerRequest;
use crate::randomness::{draw, generator};

impl AbsoluteZero {
    /// The proposer prompts of `step`. Turns of one task type stand side by side, in the order of [`TaskType::ALL`], and
    /// have the same number of rollouts each.
    ///
    /// Without references, a type's deduction or abduction proposals share one prompt. With K references each has its own
    /// draw from its type's buffer. Each induction proposal has a program drawn from the deduction and abduction buffers;
    /// while those are empty there is none.
    #[must_use]
    pub fn proposer_turns(&self, state: &GameState, seed: u64, step: u64) -> Vec<ProposerTurn> {
        let count = self.config.proposals_per_type;
        self.turns_for(state, count, &mut generator(seed, step, "proposer turns"))
    }

    /// Proposer prompts for making seeds before step 0: `count` proposals of each type. `round` tells repeated calls apart.
    #[must_use]
    pub fn bootstrap_turns(&self, state: &GameState, seed: u64, round: u64, count: usize) -> Vec<ProposerTurn> {
        self.turns_for(state, count, &mut generator(seed, round, "bootstrap turns"))
    }

    /// Takes the valid, new proposals among `records` as seeds, and their rollouts as anchors. For before step 0.
    pub fn admit_seeds(&self, state: &mut GameState, records: &[ProposalRecord]) {
        let accepted: Vec<&ProposalRecord> = records.iter().filter(|record| accepted_task(record).is_some()).collect();
        state.add_seeds(accepted.iter().filter_map(|record| accepted_task(record)).cloned());
        state.add_anchors(accepted.iter().map(|record| Anchor::from(&record.rollout)));
    }

    /// Which attempts are proposals that are known already: in a buffer, or earlier in this
    /// batch. One answer for each attempt, in order. Ask once for all proposals of a step, before judging them.
    #[must_use]
    pub fn known<'a>(&self, state: &GameState, attempts: impl IntoIterator<Item = &'a Attempt>) -> Vec<bool> {
        state.known(attempts)
    }

    /// Admits the valid, new proposals into the buffers, and chooses the solver tasks of `step`: for each type first its
    /// fresh proposals up to [`super::GameConfig::fresh_cap`], then seeds and earlier proposals from its buffer. Fewer than
    /// `tasks_per_type` when the buffer has no more.
    pub fn solver_turns(
        &self,
        state: &mut GameState,
        seed: u64,
        step: u64,
        proposals: &[ProposalRecord],
    ) -> Vec<SolverTurn> {
        let mut generator = generator(seed, step, "solver turns");
        let turns_of = |task_type| self.solver_turns_of(state, task_type, step, proposals, &mut generator);
        TaskType::ALL.into_iter().flat_map(turns_of).collect()
    }

    fn turns_for(&self, state: &GameState, count: usize, generator: &mut ChaCha8Rng) -> Vec<ProposerTurn> {
        let mut turns = Vec::new();
        if count > 0 {
            turns.extend(self.triplet_turns(state, TaskType::Deduction, count, generator));
            turns.extend(self.triplet_turns(state, TaskType::Abduction, count, generator));
            turns.extend(self.induction_turns(state, count, generator));
        }
        turns
    }

    fn triplet_turns(
        &self,
        state: &GameState,
        task_type: TaskType,
        count: usize,
        generator: &mut ChaCha8Rng,
    ) -> Vec<ProposerTurn> {
        let entries = state.buffer(task_type).entries();
        if self.config.references == 0 || entries.is_empty() {
            return vec![self.proposer_turn(task_type, Vec::new(), None, count)];
        }
        let mut turn = || {
            let tasks = entries.iter().map(|entry| (&entry.task, 1.0)).collect();
            self.proposer_turn(task_type, draw(tasks, self.config.references, generator), None, 1)
        };
        (0..count).map(|_| turn()).collect()
    }

    fn induction_turns(&self, state: &GameState, count: usize, generator: &mut ChaCha8Rng) -> Vec<ProposerTurn> {
        let programs = draw_programs(state, count, generator);
        let turn = |program: &&str| self.proposer_turn(TaskType::Induction, Vec::new(), Some(program), 1);
        // Where programs are few, each is asked for several times.
        let turns = programs.iter().cycle().take(count).map(turn);
        turns.collect()
    }

    fn proposer_turn(
        &self,
        task_type: TaskType,
        references: Vec<&Task>,
        given: Option<&str>,
        rollouts: usize,
    ) -> ProposerTurn {
        let inputs = self.config.induction_inputs();
        let prompt = self.format.proposer_prompt(&ProposerRequest { task_type, references, given, inputs });
        ProposerTurn { task_type, prompt, given: given.map(str::to_owned), rollouts }
    }

    fn solver_turns_of(
        &self,
        state: &mut GameState,
        task_type: TaskType,
        step: u64,
        proposals: &[ProposalRecord],
        generator: &mut ChaCha8Rng,
    ) -> Vec<SolverTurn> {
        let accepted = accepted_tasks(proposals, task_type);
        // Drawn before admission, so that no task is asked twice in a step.
        let fresh = accepted.len().min(self.config.fresh_cap());
        let drawn = self.draw_entries(state.buffer(task_type).entries(), self.config.tasks_per_type - fresh, generator);
        let fresh_turn =
            |(proposal, task): &(usize, &Task)| self.solver_turn(task, Origin::Fresh { proposal: *proposal });
        let buffer_turn = |entry: &&Entry| self.solver_turn(&entry.task, Origin::Buffer { seed: entry.seed });
        let turns = accepted[..fresh].iter().map(fresh_turn).chain(drawn.iter().map(buffer_turn)).collect();
        let tasks = accepted.into_iter().map(|(_, task)| task.clone());
        state.buffer_mut(task_type).admit(tasks, false, step, self.config.buffer_capacity);
        turns
    }

    fn solver_turn(&self, task: &Task, origin: Origin) -> SolverTurn {
        SolverTurn { task: task.clone(), prompt: self.format.solver_prompt(task), origin }
    }

    /// `count` entries: `seed_share` of them seeds, and more of either kind where the other has too few.
    fn draw_entries<'a>(&self, entries: &'a [Entry], count: usize, generator: &mut ChaCha8Rng) -> Vec<&'a Entry> {
        let (seeds, earlier): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| entry.seed);
        let wanted_seeds = (self.config.seed_share * count as f64).round() as usize;
        let seed_count = wanted_seeds.max(count.saturating_sub(earlier.len())).min(seeds.len());
        let mut drawn = draw(self.weighted(seeds), seed_count, generator);
        drawn.extend(draw(self.weighted(earlier), count - seed_count, generator));
        drawn
    }

    fn weighted<'a>(&self, entries: Vec<&'a Entry>) -> Vec<(&'a Entry, f64)> {
        let learnable = self.config.resample_learnable.unwrap_or(1.0);
        let is_learnable = |entry: &Entry| entry.last.is_some_and(|count| count.is_learnable());
        let weigh = |entry: &'a Entry| (entry, if is_learnable(entry) { learnable } else { 1.0 });
        entries.into_iter().map(weigh).collect()
    }
}

/// Up to `count` different programs of the deduction and abduction buffers.
fn draw_programs<'a>(state: &'a GameState, count: usize, generator: &mut ChaCha8Rng) -> Vec<&'a str> {
    let buffers = [TaskType::Deduction, TaskType::Abduction].map(|task_type| state.buffer(task_type).entries());
    let mut programs: Vec<&str> = buffers.into_iter().flatten().map(|entry| entry.task.question.program()).collect();
    programs.sort_unstable();
    programs.dedup();
    draw(programs.into_iter().map(|program| (program, 1.0)).collect(), count, generator)
}

/// The task of a proposal that is valid and new.
pub(super) fn accepted_task(record: &ProposalRecord) -> Option<&Task> {
    let judged = record.judged.as_ref().ok()?;
    let accepted = !record.known && judged.verdict.status == Status::Valid;
    judged.task.as_ref().filter(|_| accepted)
}

fn accepted_tasks(proposals: &[ProposalRecord], task_type: TaskType) -> Vec<(usize, &Task)> {
    let of_type = proposals.iter().enumerate().filter(|(_, record)| record.task_type == task_type);
    of_type.filter_map(|(index, record)| Some((index, accepted_task(record)?))).collect()
}

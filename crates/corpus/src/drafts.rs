//! Unexecuted tasks: endless, deterministic streams of [`Proposal`]s drawn from the generator, each stream inside one
//! [`Split`]. The caller runs them and keeps what the validity gate lets pass.

use std::collections::HashSet;

use rand_chacha::ChaCha8Rng;
use veriplay_core::{Digest, Proposal, TaskType, content_hash};

use crate::random::stream;
use crate::{CorpusError, Generated, Grammar, Split};

/// Draws in a row that give nothing new before a stream ends. A split with a share of 1 % is missed so often with a
/// chance of 2 in a thousand million.
const PATIENCE: usize = 2_000;

/// An endless stream of generated programs inside one split. Programs repeat as often as the mix draws them: warm-up
/// wants one-statement programs in bulk.
#[derive(Debug, Clone)]
pub struct Programs<'g> {
    grammar: &'g Grammar,
    split: Split,
    mix: String,
    rng: ChaCha8Rng,
}

impl<'g> Programs<'g> {
    /// The stream of `seed`.
    ///
    /// # Errors
    /// No such mix.
    pub fn new(grammar: &'g Grammar, split: Split, mix: &str, seed: u64) -> Result<Self, CorpusError> {
        Self::labelled(grammar, split, mix, seed, "programs")
    }

    fn labelled(grammar: &'g Grammar, split: Split, mix: &str, seed: u64, label: &str) -> Result<Self, CorpusError> {
        let rng = stream(seed, &format!("{label} {} {mix}", split.name()));
        // Refuses an unknown mix here, so that drawing cannot fail later.
        grammar.sample(&mut rng.clone(), mix)?;
        Ok(Self { grammar, split, mix: mix.to_owned(), rng })
    }

    /// The stream's own randomness, to draw inputs from.
    pub fn rng(&mut self) -> &mut ChaCha8Rng {
        &mut self.rng
    }

    fn draw(&mut self) -> Option<Generated> {
        let generated = self.grammar.sample(&mut self.rng, &self.mix).ok()?;
        (self.grammar.split_of(&generated.program) == self.split).then_some(generated)
    }
}

impl Iterator for Programs<'_> {
    type Item = Generated;

    /// Ends only where the split is empty: when two thousand draws in a row fall outside it.
    fn next(&mut self) -> Option<Generated> {
        (0..PATIENCE).find_map(|_| self.draw())
    }
}

/// An endless stream of distinct proposals of one task type. It ends only when there is no program
/// of its split, or when 2,000 in a row gave repeats.
#[derive(Debug, Clone)]
pub struct Drafts<'g> {
    programs: Programs<'g>,
    task_type: TaskType,
    inputs: usize,
    seen: HashSet<Digest>,
}

impl<'g> Drafts<'g> {
    /// Drafts of `task_type` in `split`, programs drawn from `mix`. An induction draft has `inputs` distinct inputs
    /// (fewer where the kind has fewer); the other two types have one, whatever `inputs` says.
    ///
    /// # Errors
    /// No such mix.
    pub fn new(
        grammar: &'g Grammar,
        split: Split,
        mix: &str,
        seed: u64,
        task_type: TaskType,
        inputs: usize,
    ) -> Result<Self, CorpusError> {
        let programs = Programs::labelled(grammar, split, mix, seed, task_type.name())?;
        Ok(Self { programs, task_type, inputs, seen: HashSet::new() })
    }

    /// A proposal from `generated`, unless it is a repeat.
    fn draft(&mut self, generated: Generated) -> Option<Proposal> {
        let grammar = self.programs.grammar;
        let rng = self.programs.rng();
        let proposal = match self.task_type {
            TaskType::Induction => Proposal::Inputs {
                inputs: grammar.inputs(rng, generated.input_kind, self.inputs),
                program: generated.program,
                message: String::new(),
            },
            task_type => Proposal::Triplet {
                task_type,
                input: grammar.input(rng, generated.input_kind),
                program: generated.program,
            },
        };
        self.seen.insert(content_hash(&proposal)).then_some(proposal)
    }
}

impl Iterator for Drafts<'_> {
    type Item = Proposal;

    fn next(&mut self) -> Option<Proposal> {
        for _ in 0..PATIENCE {
            // No program at all ends the stream at once: patience is not squared.
            let generated = self.programs.next()?;
            if let Some(proposal) = self.draft(generated) {
                return Some(proposal);
            }
        }
        None
    }
}

/// Drafts for the held-out set: the natural mix, harder compositions than warm-up saw among them.
///
/// # Errors
/// The grammar has no mix `natural`.
pub fn held_out(grammar: &Grammar, seed: u64, task_type: TaskType, inputs: usize) -> Result<Drafts<'_>, CorpusError> {
    Drafts::new(grammar, Split::HeldOut, "natural", seed, task_type, inputs)
}

/// Drafts for the validation set: as the held-out ones, from other programs.
///
/// # Errors
/// The grammar has no mix `natural`.
pub fn validation(grammar: &Grammar, seed: u64, task_type: TaskType, inputs: usize) -> Result<Drafts<'_>, CorpusError> {
    Drafts::new(grammar, Split::Validation, "natural", seed, task_type, inputs)
}

/// Programs for warm-up, with repeats.
///
/// # Errors
/// The grammar has no mix `warmup`.
pub fn warmup(grammar: &Grammar, seed: u64) -> Result<Programs<'_>, CorpusError> {
    Programs::new(grammar, Split::Train, "warmup", seed)
}

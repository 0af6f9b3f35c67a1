//! Endless, deterministic streams of programs and of [`Proposal`]s from the generator, each inside one [`Split`]. Nothing is executed here:
//! the caller runs proposals and keeps those that pass the validity gate.

use std::collections::HashSet;

use rand_chacha::ChaCha8Rng;
use veriplay_core::{Digest, Proposal, TaskType, content_hash};

use crate::random::seeded_stream;
use crate::{CorpusError, GeneratedProgram, Grammar, Split};

/// Draws in a row without a new item after which a stream ends. The chance to miss a split with a share of 1 % so often is 2 in 10⁹.
const MAX_MISSES: usize = 2_000;

/// An endless stream of generated programs inside one split. Programs repeat as often as the mix draws them: warm-up
/// wants one-statement programs in bulk.
#[derive(Debug, Clone)]
pub struct ProgramStream<'g> {
    grammar: &'g Grammar,
    split: Split,
    mix: String,
    rng: ChaCha8Rng,
}

impl<'g> ProgramStream<'g> {
    /// The stream for `seed`.
    ///
    /// # Errors
    /// When there is no such mix.
    pub fn new(grammar: &'g Grammar, split: Split, mix: &str, seed: u64) -> Result<Self, CorpusError> {
        Self::with_label(grammar, split, mix, seed, "programs")
    }

    fn with_label(grammar: &'g Grammar, split: Split, mix: &str, seed: u64, label: &str) -> Result<Self, CorpusError> {
        let rng = seeded_stream(seed, &format!("{label} {} {mix}", split.name()));
        // Refuses an unknown mix here, so that drawing cannot fail later.
        grammar.sample(&mut rng.clone(), mix)?;
        Ok(Self { grammar, split, mix: mix.to_owned(), rng })
    }

    /// The stream's own randomness, to draw inputs from.
    pub fn rng(&mut self) -> &mut ChaCha8Rng {
        &mut self.rng
    }

    fn try_draw(&mut self) -> Option<GeneratedProgram> {
        let generated = self.grammar.sample(&mut self.rng, &self.mix).ok()?;
        (self.grammar.split_of(&generated.program) == self.split).then_some(generated)
    }
}

impl Iterator for ProgramStream<'_> {
    type Item = GeneratedProgram;

    /// Ends when 2,000 draws in a row fall outside the split, which is then practically empty.
    fn next(&mut self) -> Option<GeneratedProgram> {
        (0..MAX_MISSES).find_map(|_| self.try_draw())
    }
}

/// An endless stream of distinct proposals of one task type. It ends only when there is no program
/// of its split, or when 2,000 in a row gave repeats.
#[derive(Debug, Clone)]
pub struct ProposalStream<'g> {
    programs: ProgramStream<'g>,
    task_type: TaskType,
    inputs: usize,
    seen: HashSet<Digest>,
}

impl<'g> ProposalStream<'g> {
    /// Proposals of `task_type` in `split`, programs drawn from `mix`. An induction draft has `inputs` distinct inputs
    /// (fewer where the kind has fewer); the other types have one, whatever `inputs` says.
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
        let programs = ProgramStream::with_label(grammar, split, mix, seed, task_type.name())?;
        Ok(Self { programs, task_type, inputs, seen: HashSet::new() })
    }

    /// A proposal from `generated`, unless it is a repeat.
    fn make_proposal(&mut self, generated: GeneratedProgram) -> Option<Proposal> {
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

impl Iterator for ProposalStream<'_> {
    type Item = Proposal;

    fn next(&mut self) -> Option<Proposal> {
        for _ in 0..MAX_MISSES {
            // No program at all ends the stream at once: patience is not squared.
            let generated = self.programs.next()?;
            if let Some(proposal) = self.make_proposal(generated) {
                return Some(proposal);
            }
        }
        None
    }
}

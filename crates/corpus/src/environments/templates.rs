//! Generates tasks of the environments from templates (`task-corpus/environments/*/templates.toml`, described in the README there).
//!
//! A task is one or two actions, a question, or both. Its instruction names them in order, its solution is their code, and each wrong code
//! changes one line of the solution. Nothing runs here: `veriplay_verifier::environments::complete_with_failures` completes a task in the
//! sandbox and drops wrong codes that do not work.
//!
//! # The split
//! A task of one part (one action, or one question) is always [`Split::Train`], because the parts are what a policy learns. A task of
//! several parts is split twice by hash: first by its *combination* of templates, whatever their arguments, then by its solution's text.
//! A held-out task is therefore of one of two kinds ([`Novelty`]): its combination is never trained on, or the combination is and this
//! solution is not. Sets of different splits cannot share a solution, whoever draws them and whenever.

mod draw;
mod read;

use std::collections::{BTreeSet, HashSet};

use rand::Rng;
use rand::seq::IndexedRandom;
use veriplay_core::{Digest, program_hash};

use crate::random::seeded_stream;
use crate::split::{Split, SplitShares};

pub(super) use read::EnvironmentTemplates;

/// A generated task, not executed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedTask {
    /// The environment's name.
    pub environment: String,
    /// Names of its templates, in order.
    pub parts: Vec<String>,
    /// The instruction.
    pub instruction: String,
    /// Code that solves it, without a newline at its end.
    pub solution: String,
    /// Candidate changes that make the solution wrong: a line, from 1, and its replacement, which may be empty. More than a task needs,
    /// because some do not work.
    pub changes: Vec<(usize, String)>,
}

/// What one template makes by itself, to be tried before tasks are made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateTrial {
    /// Its name; of a question about an action's result, both names.
    pub template: String,
    /// Distinct codes of it.
    pub solutions: Vec<String>,
}

/// The part of a task that training never sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Novelty {
    /// The solution. Other solutions of the combination are trained on.
    Arguments,
    /// The combination of templates.
    Combination,
}

impl Novelty {
    /// The word reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Novelty::Arguments => "new_arguments",
            Novelty::Combination => "new_combination",
        }
    }
}

/// Shares of combinations, and of solutions within a combination of the training split.
const COMBINATION_SHARES: SplitShares = SplitShares { validation: 0.10, held_out: 0.15 };
const SOLUTION_SHARES: SplitShares = SplitShares { validation: 0.10, held_out: 0.10 };

impl GeneratedTask {
    /// Its split, and its novelty where the split is not [`Split::Train`]. A pure function of its templates and its solution's normalized
    /// text.
    pub fn split(&self) -> (Split, Novelty) {
        if self.parts.len() < 2 {
            return (Split::Train, Novelty::Arguments);
        }
        let combination = format!("veriplay combination 1 {} {}", self.environment, self.parts.join("+"));
        match COMBINATION_SHARES.assign(&Digest::of(combination.as_bytes())) {
            Split::Train => {
                let solution = format!("veriplay solution 1 {} {}", self.environment, program_hash(&self.solution));
                (SOLUTION_SHARES.assign(&Digest::of(solution.as_bytes())), Novelty::Arguments)
            }
            other => (other, Novelty::Combination),
        }
    }
}

/// Generates tasks of some environments.
#[derive(Debug, Clone)]
pub struct TaskGenerator {
    pub(super) environments: Vec<EnvironmentTemplates>,
}

impl TaskGenerator {
    /// Draws a task of any split.
    pub fn draw(&self, rng: &mut impl Rng) -> GeneratedTask {
        self.environments.choose(rng).expect("a generator has an environment").draw(rng)
    }

    /// An iterator over tasks of one split with distinct solutions, determined by the seed. It ends when it finds nothing new for long.
    pub fn tasks(&self, split: Split, seed: u64) -> impl Iterator<Item = GeneratedTask> + '_ {
        let mut rng = seeded_stream(seed, &format!("environment tasks, {}", split.name()));
        let mut seen: HashSet<(String, Digest)> = HashSet::new();
        let mut fresh = move |task: &GeneratedTask| {
            task.split().0 == split && seen.insert((task.environment.clone(), program_hash(&task.solution)))
        };
        std::iter::from_fn(move || (0..PATIENCE).map(|_| self.draw(&mut rng)).find(&mut fresh))
    }

    /// Distinct pieces of code, as candidates for tokens.
    pub fn fragments(&self) -> Vec<String> {
        collect_token_candidates(self.environments.iter().flat_map(EnvironmentTemplates::code_pieces))
    }

    /// Distinct pieces of instructions, as candidates for tokens.
    pub fn phrases(&self) -> Vec<String> {
        collect_token_candidates(self.environments.iter().flat_map(EnvironmentTemplates::word_pieces))
    }
}

/// Draws in a row without a new task after which a generator stops.
const PATIENCE: usize = 100_000;

fn collect_token_candidates(pieces: impl Iterator<Item = String>) -> Vec<String> {
    pieces.filter(|piece| piece.len() > 1).collect::<BTreeSet<_>>().into_iter().collect()
}

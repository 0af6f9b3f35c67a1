//! Tasks of the environments, made from templates: a seeded generator whose words and codes are data
//! (`task-corpus/environments/*/templates.toml`, described in the README there).
//!
//! A task is one or two actions, a question, or both: its instruction says them one after another, its solution is their code, and its
//! wrong codes change one line of it each. Nothing is run here, so a task is a draft: whoever uses it completes it in the sandbox
//! (`veriplay_verifier::environments::complete_with_failures`), which drops what does not work.
//!
//! # The split
//! A task of one part (one action, or one question) is always [`Split::Train`]: parts are what there is to be learned. A task of several
//! is split twice, by hash: first by its *combination* of templates, whatever their arguments, then by its solution's text. A held-out
//! task is therefore one of two kinds ([`Novelty`]): its combination has never been trained on, or its combination has and this very
//! solution has not. Sets of different splits cannot share a solution, whoever draws them and whenever.

mod draw;
mod read;

use std::collections::{BTreeSet, HashSet};

use rand::Rng;
use rand::seq::IndexedRandom;
use veriplay_core::{Digest, program_hash};

use super::{check_name, text_of};
use crate::random::{first_word, stream};
use crate::{CorpusError, Split};

pub(super) use read::Templates;

/// A task that nothing has run yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedTask {
    /// The environment's name.
    pub environment: String,
    /// Names of the templates it is made of, in order.
    pub parts: Vec<String>,
    /// What is asked.
    pub instruction: String,
    /// Code that does it, without a newline at its end.
    pub solution: String,
    /// Changes that make it wrong, most of them: a line, from 1, and what stands in its place, or nothing. More than a task needs.
    pub changes: Vec<(usize, String)>,
}

/// What is new about a task that training never sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Novelty {
    /// Its solution; others of its combination of templates are trained on.
    Arguments,
    /// Its combination.
    Combination,
}

impl Novelty {
    /// The word reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Novelty::Arguments => "new_arguments",
            Novelty::Combination => "new_combination",
        }
    }
}

/// Shares of combinations and of solutions that are held out, and the same for validation.
const COMBINATIONS: [f64; 2] = [0.15, 0.10];
const SOLUTIONS: [f64; 2] = [0.10, 0.10];

impl GeneratedTask {
    /// Which set it belongs to, and what is new about it where that is not [`Split::Train`]. A pure function of its templates and its
    /// solution's normalised text.
    #[must_use]
    pub fn split(&self) -> (Split, Novelty) {
        if self.parts.len() < 2 {
            return (Split::Train, Novelty::Arguments);
        }
        let combination = format!("veriplay combination 1 {} {}", self.environment, self.parts.join("+"));
        match split_of(&combination, COMBINATIONS) {
            Split::Train => {
                let solution = format!("veriplay solution 1 {} {}", self.environment, program_hash(&self.solution));
                (split_of(&solution, SOLUTIONS), Novelty::Arguments)
            }
            other => (other, Novelty::Combination),
        }
    }
}

fn split_of(key: &str, [held_out, validation]: [f64; 2]) -> Split {
    // 53 bits: what an f64 holds exactly.
    let place = (first_word(&Digest::of(key.as_bytes())) >> 11) as f64 / (1_u64 << 53) as f64;
    match () {
        () if place < held_out => Split::HeldOut,
        () if place < held_out + validation => Split::Validation,
        () => Split::Train,
    }
}

/// The templates of some environments.
#[derive(Debug, Clone)]
pub struct TaskGenerator {
    environments: Vec<Templates>,
}

impl TaskGenerator {
    /// Of the environments of these names, in their order.
    ///
    /// # Errors
    /// A name of none.
    ///
    /// # Panics
    /// Never: a test reads all templates.
    pub fn built_in<S: AsRef<str>>(names: &[S]) -> Result<Self, CorpusError> {
        let read = |name: &S| {
            let name = check_name(name.as_ref())?;
            let text = text_of(name, "templates.toml");
            Ok(Templates::read(name, text).expect("the built-in templates are checked by a test"))
        };
        let environments = names.iter().map(read).collect::<Result<Vec<_>, CorpusError>>()?;
        if environments.is_empty() {
            return Err(CorpusError::unknown("environment", "", [""; 0]));
        }
        Ok(Self { environments })
    }

    /// Draws a task of any split.
    #[must_use]
    pub fn draw(&self, rng: &mut impl Rng) -> GeneratedTask {
        self.environments.choose(rng).expect("a generator has an environment").draw(rng)
    }

    /// Tasks of one split, no two with one solution, a function of the seed. Ends when nothing new is found for long.
    pub fn tasks(&self, split: Split, seed: u64) -> impl Iterator<Item = GeneratedTask> + '_ {
        let mut rng = stream(seed, &format!("environment tasks, {}", split.name()));
        let mut seen: HashSet<(String, Digest)> = HashSet::new();
        let mut fresh = move |task: &GeneratedTask| {
            task.split().0 == split && seen.insert((task.environment.clone(), program_hash(&task.solution)))
        };
        std::iter::from_fn(move || (0..PATIENCE).map(|_| self.draw(&mut rng)).find(&mut fresh))
    }

    /// Pieces of code, each worth a token, without repeats.
    #[must_use]
    pub fn fragments(&self) -> Vec<String> {
        worth_a_token(self.environments.iter().flat_map(Templates::code_pieces))
    }

    /// Pieces of instructions, each worth a token, without repeats.
    #[must_use]
    pub fn phrases(&self) -> Vec<String> {
        worth_a_token(self.environments.iter().flat_map(Templates::word_pieces))
    }
}

/// Draws in a row that find nothing new before a generator gives up.
const PATIENCE: usize = 100_000;

fn worth_a_token(pieces: impl Iterator<Item = String>) -> Vec<String> {
    pieces.filter(|piece| piece.len() > 1).collect::<BTreeSet<_>>().into_iter().collect()
}

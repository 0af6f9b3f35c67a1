//! `sol_ver` (Sol-Ver, arXiv 2502.14948): one policy states problems, solves them, and writes tests for the solutions; what codes and
//! tests agree on, it learns.
//!
//! # One step
//! An iteration of the paper: generate, verify, learn.
//! 1. Snippets are drawn from the pool. The proposer is shown one each and states a problem; [`check_statement`] and the
//!    memory of earlier problems refuse some.
//! 2. The solver answers each problem by `codes` programs.
//! 3. The verifier writes `suites` suites of tests for each of `candidates` of these programs, the problem and the program before it.
//! 4. [`judge_rounds`] runs every program on every test and finds whom to trust. No snippet takes part: it says what a problem may
//!    be about, not what its answer is.
//! 5. What is trusted becomes lessons: first examples to imitate (trusted code; sound suites), where some code fails them, then
//!    pairs (a trusted code before one that fails, a sound suite before one that the trusted code fails, to one prompt each).
//!
//! # Choices
//! The paper's text does not say how many samples it draws, how it breaks ties, or what a test's margin is: these are options
//! here. That the snippet's program is no oracle, that tie and doubt drop the problem, and [`veriplay_verifier::agreement::GUARDS`]
//! are ours.
//!
//! # The control
//! `selection = "random"` learns from as many examples and pairs of each kind, drawn from all responses of the step whatever they
//! are: what is left when agreement says nothing.
//!
//! # Invariants
//! No IO and no clock. The same state, seed and step give the same result. What a host fault touched teaches nothing and counts
//! nowhere. A response that was cut off is malformed. Nothing is learned from a problem that is measured, by its statement or by a
//! trusted code ([`crate::splits`]).
//!
//! [`check_statement`]: veriplay_verifier::agreement::check_statement
//! [`judge_rounds`]: veriplay_verifier::agreement::judge_rounds

mod again;
mod config;
mod filters;
mod held;
mod lessons;
mod metrics;
pub mod prompts;
mod records;
mod select;
mod state;
mod step;

use veriplay_core::{CallCase, Prompt, Role, Sampling};
use veriplay_verifier::agreement::{AgreementRules, Dialect, dialect_by_name};

use super::Game;
use crate::play::{Again, Arena, Example, Play, PlayError, Played};
use crate::randomness::derive_seed;
use crate::splits::{Guard, MeasuredSet};
use prompts::Wording;

pub use config::{HeldCandidate, Lessons, Selection, SolVerConfig, Stage};
pub use filters::FilterYield;
pub use held::SolVerHeld;
pub use metrics::SolVerMetrics;
pub use records::{SolVerRecord, SuiteRollout};
pub use state::SolVerState;

/// What is said of it in [`super::GAMES`].
pub const GAME: Game = Game {
    name: "sol_ver",
    about: "one policy states problems, solves them and writes tests, and learns what codes and tests agree on",
    roles: &[Role::Proposer, Role::Solver, Role::Verifier],
};

/// A held-out problem, with its truth.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldProblem {
    /// Its text, as a proposer would have written it.
    pub text: String,
    /// A program that is right.
    pub reference: String,
    /// What `f` must return: nobody but the judge sees it.
    pub hidden: Vec<CallCase>,
}

impl HeldProblem {
    /// Adds what it says and what is right to the guard.
    pub fn measured_by(&self, guard: &mut Guard, set: MeasuredSet) {
        let name = format!("problem `{}`", self.text);
        guard.measure_text(set, &name, &self.text);
        guard.measure_program(set, &name, &self.reference);
    }
}

/// The game, set up. Holds no state: that is [`SolVerState`].
pub struct SolVer {
    config: SolVerConfig,
    rules: AgreementRules,
    snippets: Vec<String>,
    held: Vec<HeldProblem>,
    guard: Guard,
    wording: &'static dyn Wording,
    dialect: &'static dyn Dialect,
}

impl SolVer {
    /// Sets the game up: `snippets` are the programs that proposers start from, `held` what the policy is measured by. `guard` holds
    /// what is measured at other times.
    ///
    /// # Errors
    /// The first key of `config` or `rules` that has no meaning, nothing to draw from or to measure by, or a snippet that is measured.
    pub fn new(
        config: SolVerConfig,
        rules: AgreementRules,
        snippets: Vec<String>,
        held: Vec<HeldProblem>,
        mut guard: Guard,
    ) -> Result<Self, PlayError> {
        config.check().map_err(|error| PlayError::Setup(error.to_string()))?;
        rules.check().map_err(|error| PlayError::Setup(error.to_string()))?;
        if snippets.is_empty() {
            return Err(PlayError::Setup("there is no snippet to propose from: give at least one".to_owned()));
        }
        if let Some(problem) = held.iter().find(|problem| problem.hidden.is_empty()) {
            let why = format!("the held-out problem `{}` has no hidden case: give it one", problem.text);
            return Err(PlayError::Setup(why));
        }
        if held.is_empty() {
            return Err(PlayError::Setup("there is no held-out problem to measure by: give at least one".to_owned()));
        }
        let wording = prompts::by_name(&config.format).expect("a checked config names a wording");
        let dialect = dialect_by_name(&config.format).expect("every wording has a dialect of its name");
        held.iter().for_each(|problem| problem.measured_by(&mut guard, MeasuredSet::HeldOut));
        for (number, snippet) in snippets.iter().enumerate() {
            guard.check_program("`tasks.snippets`", &format!("snippet {number}"), snippet)?;
        }
        Ok(Self { config, rules, snippets, held, guard, wording, dialect })
    }

    /// Its settings.
    #[must_use]
    pub const fn config(&self) -> &SolVerConfig {
        &self.config
    }

    /// What a round must be to be learned from.
    #[must_use]
    pub const fn rules(&self) -> &AgreementRules {
        &self.rules
    }

    fn sampling(&self, role: Role, group: usize, seed: u64, step: u64) -> Sampling {
        let config = &self.config;
        let (name, temperature, max_tokens) = match role {
            Role::Proposer => ("proposer", config.proposer_temperature, config.proposer_max_tokens),
            Role::Solver => ("solver", config.solver_temperature, config.solver_max_tokens),
            Role::Verifier => ("verifier", config.verifier_temperature, config.verifier_max_tokens),
        };
        Sampling { temperature, max_tokens, group, seed: derive_seed(seed, step, &format!("sol_ver/{name}")) }
    }

    fn proposer_prompt(&self, snippet: &str) -> Prompt {
        prompt(Role::Proposer, self.wording.proposer_text(snippet))
    }

    fn solver_prompt(&self, statement: &str) -> Prompt {
        prompt(Role::Solver, self.wording.solver_text(statement))
    }

    fn verifier_prompt(&self, statement: &str, candidate: &str) -> Prompt {
        prompt(Role::Verifier, self.wording.verifier_text(statement, candidate, self.config.tests))
    }
}

fn prompt(role: Role, text: String) -> Prompt {
    Prompt { role, task_type: None, text }
}

impl Play for SolVer {
    type State = SolVerState;
    type Record = SolVerRecord;
    type Metrics = SolVerMetrics;
    type Held = SolVerHeld;

    fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Nothing yet; but every held-out reference must pass its own hidden cases.
    fn begin(&self, arena: &Arena<'_>) -> Result<Self::State, PlayError> {
        self.check_held(arena.execute)?;
        Ok(SolVerState::default())
    }

    fn step(
        &self,
        arena: &Arena<'_>,
        state: &mut Self::State,
        step: u64,
    ) -> Result<Played<Self::Metrics, Self::Record>, PlayError> {
        self.play_step(arena, state, step)
    }

    fn measure(&self, arena: &Arena<'_>) -> Result<Self::Held, PlayError> {
        self.measure_held(arena)
    }

    fn judge_again(&self, execute: &dyn veriplay_core::Execute, records: &[Self::Record]) -> Result<Again, PlayError> {
        self.compare_again(execute, records)
    }

    fn examples(&self, _execute: &dyn veriplay_core::Execute) -> Result<Vec<Example>, PlayError> {
        let HeldProblem { text, reference, .. } = &self.held[0];
        let example = |what: &str, prompt| Example { what: what.to_owned(), prompt };
        Ok(vec![
            example("proposer: state a problem", self.proposer_prompt(&self.snippets[0])),
            example("solver: write a program", self.solver_prompt(text)),
            example("verifier: write tests for a program", self.verifier_prompt(text, reference)),
        ])
    }
}

//! A game: an environment, the script of its steps, and what is told and learned of them.

use serde::Serialize;
use veriplay_core::{Execute, Prompt};

use crate::advantages::EpisodeNotes;
use crate::after_update::AfterUpdate;
use crate::environment::{Environment, Proposer, Proposing};
use crate::facts::StepFacts;
use crate::play::{PlayError, StepContext};
use crate::preferences::{Objective, Preferences, Response};
use crate::step::Step;
use crate::task_pool::TaskPool;

/// The order of a step of a game: the verbs that it calls. [`Game::step`] is the game's own; a loop over a game of another crate is one more.
pub trait Script<G: Environment>: Send + Sync {
    /// Plays a step of `game`.
    fn step(&self, game: &G, step: &mut Step<'_, G>) -> Result<(), PlayError>;

    /// What it does when the update of a step is done.
    ///
    /// # Errors
    /// A fault of the policy or of the learner. The run then goes on from its last checkpoint.
    fn after_update(&self, _game: &G, _after: &mut AfterUpdate<'_, G>) -> Result<(), PlayError> {
        Ok(())
    }
}

/// The script that a game has itself.
pub(crate) struct OwnScript;

impl<G: Game> Script<G> for OwnScript {
    fn step(&self, game: &G, step: &mut Step<'_, G>) -> Result<(), PlayError> {
        game.step(step)
    }
}

/// A game that can be played. Pure, as its environment is.
pub trait Game: Environment {
    /// A step in numbers, for the log of events.
    type Metrics: Serialize;

    /// Names the random numbers that the order of examples and pairs is drawn with.
    const PREFERENCE_PURPOSE: &'static str = "preferences";

    /// Whether the game has prompts that show solvers the reference ([`Game::privileged_prompt`]).
    const HAS_PRIVILEGED_PROMPTS: bool = false;

    /// Whether the game has traces of references ([`Game::waypoints`]).
    const HAS_WAYPOINTS: bool = false;

    /// The game's own script: the verbs of a step in its order.
    ///
    /// # Errors
    /// A fault of the policy. A host fault drops what it touched, and the step goes on.
    fn step(&self, step: &mut Step<'_, Self>) -> Result<(), PlayError>;

    /// The proposers of a step, or of what is proposed before step 0.
    fn proposers(&self, proposing: &Proposing<'_, Self::Task>) -> Result<Vec<Proposer<Self>>, PlayError>;

    /// The pool before step 0.
    ///
    /// # Errors
    /// Tasks that cannot be made, or that are evaluated on.
    fn initial_pool(&self, context: &StepContext<'_>) -> Result<TaskPool<Self::Task>, PlayError>;

    /// The number of seed tasks that the start model attempts: the turns of its accepted episodes are supervised examples.
    fn sft_tasks(&self) -> usize {
        0
    }

    /// Whether a step has tasks though no proposer is sampled in it.
    fn plays_without_proposers(&self) -> bool {
        true
    }

    /// What is learned: rewarded episodes, or preferences between them.
    fn objective(&self) -> Objective {
        Objective::PolicyGradient
    }

    /// Preferences between the step's responses; called only under [`Objective::Preference`].
    fn preferences(&self, _context: &StepContext<'_>, _step: u64, _facts: &StepFacts<Self>) -> Preferences {
        Preferences::default()
    }

    /// What an estimator may know of an episode of which the script notes nothing; asked for where the estimator reads notes.
    fn notes(&self, _facts: &StepFacts<Self>, _response: Response) -> EpisodeNotes {
        EpisodeNotes::default()
    }

    /// The key of `[game]` that weighs texts which nobody sampled, to be imitated or chosen in pairs, and its value, where that is not 0: the policy
    /// then has to tell its tokens.
    fn text_weight(&self) -> Option<(&'static str, f64)> {
        None
    }

    /// The prompt of a task's solvers with what the game knows of the reference, such as its output. What solvers wrote without it is scored behind
    /// it; nobody answers it.
    fn privileged_prompt(&self, _task: &Self::Task) -> Option<Prompt> {
        None
    }

    /// The values on the way to the answer of each task, as a solver would write them; `None` where there is no trace, or the host failed.
    fn waypoints(&self, _execute: &dyn Execute, tasks: &[&Self::Task]) -> Vec<Option<Vec<String>>> {
        vec![None; tasks.len()]
    }

    /// A step in numbers, from its facts.
    fn metrics(&self, step: &StepFacts<Self>) -> Self::Metrics;

    /// The prompts a run would send, each with a label.
    fn preview(&self, execute: &dyn Execute) -> Result<Vec<(String, Prompt)>, PlayError>;
}

//! What a configuration says of a game, and how it becomes a game in play. Each crate of `crates/games` implements [`GameSetup`] for its tables
//! of the configuration file.

/// Declares a game's table `[eval]`: the keys that every game has, and its own.
#[macro_export]
macro_rules! eval_config {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident { $($(#[$own:meta])* $key:ident: $type:ty,)* }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        $visibility struct $name {
            /// `held_out` for claims, `validation` for tuning.
            $visibility set: veriplay_selfplay::splits::EvalSet,
            /// Tasks of each kind that the game evaluates apart.
            $visibility tasks: usize,
            $($(#[$own])* $visibility $key: $type,)*
            /// Public sets that are measured before and after the run, as `veriplay eval --suite` measures them. Absent means none.
            #[serde(default)]
            $visibility suites: Vec<$crate::suites::SuiteName>,
            /// Steps between two measurements of `suites` in the run. Absent means none.
            #[serde(default)]
            $visibility every: Option<u64>,
            /// Steps between two evaluations on the validation set in the run. Absent means none.
            #[serde(default)]
            $visibility tasks_every: Option<u64>,
            /// The first tasks of each of `suites`. Absent means all.
            #[serde(default)]
            $visibility limit: Option<usize>,
            /// Folder with the published files of `suites`. Absent means `VERIPLAY_DATA`, else the working directory.
            #[serde(default)]
            $visibility data: Option<std::path::PathBuf>,
            /// Files that say how `suites` are asked, as `--prompt-template` takes them. Absent means none.
            #[serde(default)]
            $visibility prompt_templates: Vec<String>,
        }

        impl $crate::game_setup::EvalKeys for $name {
            fn set(&self) -> veriplay_selfplay::splits::EvalSet {
                self.set
            }

            fn set_mut(&mut self) -> &mut veriplay_selfplay::splits::EvalSet {
                &mut self.set
            }

            fn tasks(&self) -> usize {
                self.tasks
            }

            fn tasks_every(&self) -> Option<u64> {
                self.tasks_every
            }

            fn suite_schedule(&self) -> $crate::suites::SuiteSchedule<'_> {
                let Self { suites, every, limit, data, prompt_templates, .. } = self;
                let (every, limit, data) = (*every, *limit, data.as_deref());
                $crate::suites::SuiteSchedule { every, suites, limit, data, prompt_templates }
            }
        }
    };
}

use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use veriplay_console::exit::{Failure, bad_value};
use veriplay_console::isolation::Isolation;
use veriplay_console::progress;
use veriplay_core::Role;
use veriplay_corpus::Split;
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::environment::Environment as _;
use veriplay_selfplay::game::Game;
use veriplay_selfplay::rollout::Part;
use veriplay_selfplay::settings::SharedSettings;
use veriplay_selfplay::splits::{EvalSet, Guard};

use crate::config::LearnConfig;
use crate::executor::GameExecutor;
use crate::named_files::{self, NamedFile};
use crate::suites::SuiteSchedule;

/// The keys of `[eval]` that every game has; [`eval_config!`] declares a table with them.
pub trait EvalKeys {
    /// The set that it evaluates on.
    fn set(&self) -> EvalSet;

    /// The same, to be chosen.
    fn set_mut(&mut self) -> &mut EvalSet;

    /// How many tasks it evaluates on, of each kind that the game evaluates apart.
    fn tasks(&self) -> usize;

    /// Steps between two evaluations on the validation set in a run.
    fn tasks_every(&self) -> Option<u64>;

    /// The public sets that are measured in a run.
    fn suite_schedule(&self) -> SuiteSchedule<'_>;
}

/// What a configuration says of one game, in addition to what every run has.
pub trait GameSetup: Clone + Serialize {
    /// The game that it becomes when it is opened.
    type Game: Game;
    /// The type of its table `[eval]`.
    type Eval: EvalKeys;
    /// The configuration's `plays`.
    const NAME: &'static str;
    /// The tables that are the game's own.
    const TABLES: &'static [&'static str];

    /// The roles that `game.roles` may name: those that its script has beside proposers, solvers and verifiers.
    const ROLES: &'static [&'static str] = &[];

    /// Whether its script has verifiers.
    const HAS_VERIFIERS: bool = false;

    /// Parses its tables; those of others are passed over.
    fn parse(text: &str, origin: &Path) -> Result<Self, Failure>;

    /// The settings that it shares with other games.
    fn shared_settings(&self) -> &SharedSettings;

    /// Checks values that their types allow and the game does not.
    fn validate(&self, learn: &LearnConfig) -> Result<(), Failure>;

    /// Refuses a start model that by its name cannot play it.
    fn check_model(&self, _model: &str) -> Result<(), Failure> {
        Ok(())
    }

    /// The most that one step trains on, where a prompt and its response may have `context` tokens together.
    fn step_tokens(&self, context: usize) -> StepTokens;

    /// What one step samples and runs, with sequences of `context` tokens; `None` where that is not counted.
    fn step_work(&self, _context: usize) -> Option<StepWork> {
        None
    }

    /// The values of its table `[eval]`.
    fn eval(&self) -> &Self::Eval;

    /// The same, to be changed.
    fn eval_mut(&mut self) -> &mut Self::Eval;

    /// Seeds the samples of a measurement: the same for every run.
    fn eval_seed(&self) -> u64;

    /// The files of its tables that are not part of the program, whether they are there or not.
    fn named_files(&self) -> Result<Vec<NamedFile>, Failure> {
        Ok(Vec::new())
    }

    /// Whether the learner must hold a reference for its pairs.
    fn needs_reference(&self) -> bool {
        self.shared_settings().holds_reference()
    }

    /// Whether the log-probabilities of the rollouts are the reference of its pairs.
    fn takes_sampler_as_reference(&self) -> bool {
        self.shared_settings().learn_from.makes_pairs() && !self.needs_reference()
    }

    /// Whether the reference that the learner holds is the policy as it is before a step's first pairs, and not the start model.
    fn refreshes_reference(&self) -> bool {
        self.needs_reference()
    }

    /// Whether each step trains the start model anew.
    fn trains_from_start(&self) -> bool {
        false
    }

    /// Whether its script does something behind each update.
    fn acts_after_update(&self) -> bool {
        false
    }

    /// The roles whose episodes something is learned from, in some steps at least, but for [`Self::ROLES`].
    fn learning_roles(&self) -> Vec<Role> {
        let shared = self.shared_settings();
        let verification = Self::HAS_VERIFIERS.then_some(Part::Verification);
        let parts = [Part::Solution, Part::Proposal].into_iter().chain(verification);
        parts.filter(|part| shared.role_weight(*part, part.role()) > 0.0).map(Part::role).collect()
    }

    /// Describes what a step generates, runs and rewards, for people: a line each.
    fn describe_step(&self) -> Vec<String>;

    /// Opens the sandbox and makes the game in it.
    fn open(&self, workers: Isolation) -> Result<(GameExecutor, SelfPlay<Self::Game>), Failure>;
}

/// Opens a game, and says so first: its tasks are made by running programs, which takes seconds, or minutes where images are built for them.
pub fn open_game<S: GameSetup>(setup: &S, workers: Isolation) -> Result<(GameExecutor, SelfPlay<S::Game>), Failure> {
    named_files::refuse_missing(&setup.named_files()?)?;
    progress::say(format!("making the {} tasks of `{}`", setup.eval().set().label(), S::NAME));
    let opened = setup.open(workers)?;
    debug_assert_eq!(opened.1.game.verifier().is_some(), S::HAS_VERIFIERS, "verifiers of `{}`", S::NAME);
    Ok(opened)
}

/// Refuses settings of a role that the game does not have.
pub fn check_roles<S: GameSetup>(setup: &S) -> Result<(), Failure> {
    let unknown = setup.shared_settings().roles.keys().find(|name| !S::ROLES.contains(&name.as_str()));
    match (unknown, S::ROLES) {
        (None, _) => Ok(()),
        (Some(name), []) => Err(bad_value("game.roles", name, "left out: the game has no other roles")),
        (Some(name), roles) => Err(bad_value("game.roles", name, &format!("one of `{}`", roles.join("`, `")))),
    }
}

/// The most that one step trains on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepTokens {
    /// Tokens of a step, prompts included; those of one prompt that several responses share count once.
    pub total: usize,
    /// Tokens of its longest sequence: a prompt with its response, an episode, or a prompt with both responses of a pair.
    pub longest: usize,
    /// Tokens of its longest response.
    pub longest_response: usize,
}

/// The most that one step samples and runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepWork {
    /// Tokens of its prompts; those of one prompt that several responses share count once.
    pub prompts: usize,
    /// Tokens of all its responses together.
    pub responses: usize,
    /// Programs that are run to judge them.
    pub jobs: usize,
}

/// Parses `--set` of `veriplay eval`.
pub fn eval_set_parser() -> impl TypedValueParser<Value = EvalSet> {
    let validation = PossibleValue::new("validation").help("For tuning");
    let values = [PossibleValue::new("held-out").help("For claims. Nobody tunes on it"), validation];
    PossibleValuesParser::new(values)
        .map(|name| if name == "validation" { EvalSet::Validation } else { EvalSet::HeldOut })
}

/// The split of the corpus that the tasks of an evaluation set are drawn from.
pub const fn corpus_split(set: EvalSet) -> Split {
    match set {
        EvalSet::HeldOut => Split::HeldOut,
        EvalSet::Validation => Split::Validation,
    }
}

/// Both evaluation sets, made by `tasks_of`: a guard of all their tasks, which `add` adds, and the tasks of the set that is evaluated.
pub fn guard_and_evaluation<T>(
    (mut guard, evaluated): (Guard, EvalSet),
    tasks_of: impl Fn(EvalSet) -> Result<Vec<T>, Failure>,
    add: impl Fn(&mut Guard, EvalSet, usize, &T),
) -> Result<(Guard, Vec<T>), Failure> {
    let mut evaluation = Vec::new();
    for set in EvalSet::ALL {
        let tasks = tasks_of(set)?;
        tasks.iter().enumerate().for_each(|(number, task)| add(&mut guard, set, number, task));
        if set == evaluated {
            evaluation = tasks;
        }
    }
    Ok((guard, evaluation))
}

//! A script over a game of another crate: the tables of that game, and what the script's own say.

use std::path::Path;

use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use veriplay_console::exit::Failure;
use veriplay_console::isolation::Isolation;
use veriplay_core::PolicyError;
use veriplay_learner::{Tokenizer, TokenizerError};
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::game::Script;
use veriplay_selfplay::methods::Methods;
use veriplay_selfplay::settings::SharedSettings;

use crate::config::{LearnConfig, from_toml};
use crate::executor::GameExecutor;
use crate::game_setup::{GameSetup, StepTokens};
use crate::named_files::NamedFile;
use crate::programs::ProgramRunner;
use crate::warmup_examples::{ExampleConfig, Examples, WarmupExamples};

/// The tables of a script.
pub trait ScriptSetup: Clone + Serialize + DeserializeOwned {
    /// The game that it is a script of.
    type Base: GameSetup;
    /// The configuration's `plays`.
    const NAME: &'static str;
    /// The tables of the game and of the script.
    const TABLES: &'static [&'static str];

    /// The roles that it has beside proposers, solvers and verifiers.
    const ROLES: &'static [&'static str] = &[];
    /// Whether its [`Script::after_update`] is called behind each update.
    const ACTS_AFTER_UPDATE: bool = false;

    /// Puts methods of its own in place of those that the configuration names.
    fn set_methods(&self, _methods: &mut Methods) {}

    /// Checks values that their types allow and the script does not.
    fn validate(&self, base: &Self::Base) -> Result<(), Failure>;

    /// The most that one step trains on beyond what the game's own script does, in tokens.
    fn more_tokens(&self, base: &Self::Base, context: usize) -> usize;

    /// Describes what a step generates, runs and rewards, for people: a line each.
    fn describe_step(&self, base: &Self::Base) -> Vec<String>;

    /// Files and directories that its tables name; in most scripts, none.
    fn named_files(&self) -> Result<Vec<NamedFile>, Failure> {
        Ok(Vec::new())
    }

    /// The order of a step, with these settings.
    ///
    /// # Errors
    /// What its tables name cannot be read.
    fn script(&self, base: &Self::Base) -> Result<Box<dyn Script<<Self::Base as GameSetup>::Game>>, Failure>;
}

/// A game under a script.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScriptedSetup<S: ScriptSetup> {
    /// The tables of the game.
    #[serde(flatten)]
    pub base: S::Base,
    /// The tables of the script.
    #[serde(flatten)]
    pub own: S,
}

impl<S: ScriptSetup> GameSetup for ScriptedSetup<S> {
    type Game = <S::Base as GameSetup>::Game;
    type Eval = <S::Base as GameSetup>::Eval;
    const NAME: &'static str = S::NAME;
    const TABLES: &'static [&'static str] = S::TABLES;
    const ROLES: &'static [&'static str] = S::ROLES;
    const HAS_VERIFIERS: bool = S::Base::HAS_VERIFIERS;

    fn parse(text: &str, origin: &Path) -> Result<Self, Failure> {
        Ok(Self { base: S::Base::parse(text, origin)?, own: from_toml(text, origin)? })
    }

    fn shared_settings(&self) -> &SharedSettings {
        self.base.shared_settings()
    }

    fn validate(&self, learn: &LearnConfig) -> Result<(), Failure> {
        self.base.validate(learn)?;
        self.own.validate(&self.base)
    }

    fn check_model(&self, model: &str) -> Result<(), Failure> {
        self.base.check_model(model)
    }

    fn step_tokens(&self, context: usize) -> StepTokens {
        let tokens = self.base.step_tokens(context);
        StepTokens { total: tokens.total + self.own.more_tokens(&self.base, context), ..tokens }
    }

    fn eval(&self) -> &Self::Eval {
        self.base.eval()
    }

    fn eval_mut(&mut self) -> &mut Self::Eval {
        self.base.eval_mut()
    }

    fn eval_seed(&self) -> u64 {
        self.base.eval_seed()
    }

    fn named_files(&self) -> Result<Vec<NamedFile>, Failure> {
        let own = self.own.named_files()?;
        Ok(self.base.named_files()?.into_iter().chain(own).collect())
    }

    fn needs_reference(&self) -> bool {
        self.base.needs_reference()
    }

    fn takes_sampler_as_reference(&self) -> bool {
        self.base.takes_sampler_as_reference()
    }

    fn refreshes_reference(&self) -> bool {
        self.base.refreshes_reference()
    }

    fn trains_from_start(&self) -> bool {
        self.base.trains_from_start()
    }

    fn acts_after_update(&self) -> bool {
        S::ACTS_AFTER_UPDATE
    }

    fn describe_step(&self) -> Vec<String> {
        self.own.describe_step(&self.base)
    }

    fn open(&self, workers: Isolation) -> Result<(GameExecutor, SelfPlay<Self::Game>), Failure> {
        let (executor, mut game) = self.base.open(workers)?;
        self.own.set_methods(&mut game.methods);
        Ok((executor, game.with_script(self.own.script(&self.base)?)))
    }
}

impl<S: ScriptSetup<Base: WarmupExamples>> WarmupExamples for ScriptedSetup<S> {
    type Data = <S::Base as WarmupExamples>::Data;
    type Batch = <S::Base as WarmupExamples>::Batch;
    type Source = <S::Base as WarmupExamples>::Source;

    fn tokenizer() -> Result<Tokenizer, TokenizerError> {
        S::Base::tokenizer()
    }

    fn check_examples(config: &ExampleConfig<Self::Data, Self::Batch>) -> Result<(), Failure> {
        S::Base::check_examples(config)
    }

    fn source(data: &Self::Data, seed: u64, runner: ProgramRunner<'_>) -> Result<Self::Source, Failure> {
        S::Base::source(data, seed, runner)
    }

    fn draw_examples(
        &self,
        config: &ExampleConfig<Self::Data, Self::Batch>,
        source: &Self::Source,
        rng: &mut ChaCha8Rng,
        examples: &mut Examples<'_>,
    ) -> Result<(), PolicyError> {
        self.base.draw_examples(config, source, rng, examples)
    }
}

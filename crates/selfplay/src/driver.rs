//! The one driver of all games: it prepares a run, has a game's script play each step, and makes of what happened what is learned and logged.
//!
//! # Invariants
//! No IO and no clock; one other thread, which judges while this one samples, and whose timing changes nothing. The same game, state, seed and
//! step give the same result. A dropped episode is no part of a solve rate, a reward, a mean or a batch.

use std::collections::BTreeMap;

use veriplay_core::{Execute, Prompt};

use crate::after_update::{AfterUpdate, UpdatedPolicy};
use crate::environment::{Environment, Stage};
use crate::game::{Game, OwnScript, Script};
use crate::game_state::GameState;
use crate::methods::Methods;
use crate::monitors::Alarm;
use crate::play::{PlayError, StepContext, StepOutput};
use crate::preparation::{Preparation, seed_pool, sft_examples};
use crate::records::Record;
use crate::rollout::Part;
use crate::settings::{LearnFrom, ProposerMode, invalid_value};
use crate::splits::Guard;
use crate::stages::Stages;
use crate::step::Step;
use crate::temperature_search;
use crate::training_signal::StepLearning;

/// A game as the loop plays it.
pub struct SelfPlay<G> {
    /// The game: its tasks, prompts and judges.
    pub game: G,
    script: Box<dyn Script<G>>,
    /// Rewards, advantages, curriculum and monitors.
    pub methods: Methods,
}

/// The update of a step, for what a script does behind it.
pub struct StepUpdate<'a> {
    /// The policy as it is behind the update.
    pub policy: UpdatedPolicy<'a>,
    /// Runs the jobs of what is measured.
    pub execute: &'a dyn Execute,
    /// The run's seed, which names random streams.
    pub seed: u64,
    /// The step that was learned from.
    pub step: u64,
    /// The learning rate of the update.
    pub learning_rate: f64,
}

/// The output of a step of a game.
pub type Output<G> = StepOutput<<G as Game>::Metrics, Record<G>>;

impl<E: Environment> SelfPlay<E> {
    /// What may not be trained on: everything of the validation and the held-out set.
    pub fn guard(&self) -> &Guard {
        self.game.guard()
    }

    pub(crate) const fn stages<'a>(&'a self, context: &StepContext<'a>) -> Stages<'a, E> {
        Stages { game: &self.game, context: *context }
    }
}

impl<G: Game> SelfPlay<G> {
    /// The game with its own script and the methods that its settings name.
    pub fn new(game: G) -> Self {
        let methods = Methods::named_by(game.settings());
        Self::with_methods(game, methods)
    }

    /// The game with other methods, such as ones that are in no registry.
    pub fn with_methods(game: G, methods: Methods) -> Self {
        Self { game, script: Box::new(OwnScript), methods }
    }

    /// The same under another script.
    #[must_use]
    pub fn with_script(self, script: Box<dyn Script<G>>) -> Self {
        Self { script, ..self }
    }

    /// Refuses settings under which nobody learns, or no step has a task.
    pub fn check(&self) -> Result<(), PlayError> {
        let settings = self.game.settings();
        let verifier = self.game.verifier().map(|_| Part::Verification);
        let mut parts = [Part::Proposal, Part::Solution].into_iter().chain(verifier);
        let imitates = (settings.sft_samples > 0 && settings.sft_weight > 0.0) || self.game.text_weight().is_some();
        let named = settings.roles.values().any(|own| own.weight.is_some_and(|weight| weight > 0.0));
        if !imitates && !named && !parts.any(|part| settings.learns(part, part.role())) {
            let allowed = "no other role learns either: give one a weight above `0`";
            return Err(invalid_value("solver_weight", settings.solver_weight, allowed).within("game").into());
        }
        if settings.learn_from == LearnFrom::AnswerPairs && self.game.text_weight().is_none() {
            let allowed =
                "the game gives no answers: set `answer_weight` above `0`, in a game that has it, or use `pairs`";
            return Err(invalid_value("learn_from", "answer_pairs", allowed).within("game").into());
        }
        let (privileged, waypoint) = (settings.privileged_credit, settings.waypoint_credit);
        let credits = [
            ("privileged_credit", privileged, G::HAS_PRIVILEGED_PROMPTS, "prompts that show the reference"),
            ("waypoint_credit", waypoint, G::HAS_WAYPOINTS, "traces of references"),
        ];
        if let Some((key, credit, _, what)) = credits.into_iter().find(|(_, credit, has, _)| *credit > 0.0 && !has) {
            let allowed = format!("use `0`: the game has no {what}; `absolute_zero` and its loops have");
            return Err(invalid_value(key, credit, allowed).within("game").into());
        }
        if settings.proposer == ProposerMode::None && !self.game.plays_without_proposers() {
            let allowed = "the game has no other tasks: have it make or propose some before step 0, or use `frozen`";
            return Err(invalid_value("proposer", "none", allowed).within("game").into());
        }
        Ok(())
    }

    /// The state before step 0: a function of the game, the seed and the start model.
    ///
    /// # Errors
    /// A fault of the policy or of the host, or tasks that cannot be made.
    pub fn init(&self, context: &StepContext<'_>) -> Result<GameState<G::Task>, PlayError> {
        self.init_watched(context, &mut |_| {})
    }

    /// As [`SelfPlay::init`]. `watch` is told what the start model is sampled for, and how far that is.
    pub fn init_watched(
        &self,
        context: &StepContext<'_>,
        watch: &mut dyn FnMut(Preparation),
    ) -> Result<GameState<G::Task>, PlayError> {
        self.check()?;
        let stages = self.stages(context);
        let mut pool = self.game.initial_pool(context)?;
        seed_pool(&stages, &mut pool, watch)?;
        let sft_examples = sft_examples(&stages, &pool, watch)?;
        Ok(GameState { pool, sft_examples, ..GameState::default() })
    }

    /// As [`SelfPlay::step`], and of a step that fails nothing stays in the state.
    pub fn step_or_undo(
        &self,
        context: &StepContext<'_>,
        state: &mut GameState<G::Task>,
        step: u64,
    ) -> Result<Output<G>, PlayError> {
        // It grows with every step, and a step adds to it when nothing can fail any more: it is moved to the copy and back.
        let training_data = std::mem::take(&mut state.training_data);
        let mut next = GameState { training_data, ..state.clone() };
        let played = self.step(context, &mut next, step);
        match &played {
            Ok(_) => *state = next,
            Err(_) => state.training_data = next.training_data,
        }
        played
    }

    /// Plays step `step`: the game's script, then rewards, advantages or preferences, batches and records. After an error, discard the state and
    /// resume from the last checkpoint; `training_data` is as it was.
    ///
    /// # Errors
    /// A fault of the policy. A host fault drops what it touched, and the step goes on.
    pub fn step(
        &self,
        context: &StepContext<'_>,
        state: &mut GameState<G::Task>,
        step: u64,
    ) -> Result<Output<G>, PlayError> {
        let mut play = Step::new(self.stages(context), &*self.methods.curriculum, state, step);
        self.script.step(&self.game, &mut play)?;
        let mut facts = play.finish()?;
        temperature_search::note(self.game.settings(), step, &mut facts, &mut state.temperatures);
        let frozen = state.frozen.clone();
        let learning = StepLearning { game: &self.game, methods: &self.methods, context, step, frozen };
        learning.choose(state, &mut facts)?;
        let batches = learning.batches(state, &facts);
        let [propose, solve] = [Stage::Propose, Stage::Solve].map(|stage| self.game.seeds(stage, context.seed, step));
        let summary = facts.summary();
        self.methods.curriculum.note(step, &summary.tasks, &mut state.curriculum);
        let monitors = self.methods.monitors.iter();
        Ok(StepOutput {
            batches,
            metrics: self.game.metrics(&facts),
            monitors: monitors.filter_map(|one| Some((one.name(), one.measure(&summary)?))).collect(),
            numbers: facts.numbers.clone(),
            counts: summary.counts,
            rewarded: facts.rewarded(),
            records: facts.records(step, propose, solve),
        })
    }

    /// Has the script do what it does behind the update of step `step`. Returns the numbers that it states, by name.
    #[tracing::instrument(level = "debug", skip_all, fields(step = update.step))]
    pub fn after_update(
        &self,
        update: StepUpdate<'_>,
        state: &mut GameState<G::Task>,
    ) -> Result<BTreeMap<String, f64>, PlayError> {
        let StepUpdate { policy, execute, seed, step, learning_rate } = update;
        let (game, GameState { pool, deferred, .. }) = (&self.game, state);
        let (numbers, measured) = (BTreeMap::new(), 0);
        let mut after =
            AfterUpdate { game, policy, execute, seed, step, learning_rate, pool, deferred, numbers, measured };
        self.script.after_update(&self.game, &mut after)?;
        Ok(after.numbers)
    }

    /// Shows the monitors a step that was learned from: all its numbers, by the names that the log of events has. Returns their alarms.
    pub fn watch(&self, state: &mut GameState<G::Task>, step: u64, numbers: &BTreeMap<String, f64>) -> Vec<Alarm> {
        let mut alarms = Vec::new();
        for monitor in &self.methods.monitors {
            let mut memory = state.monitors.remove(monitor.name()).unwrap_or_default();
            let what = monitor.watch(step, numbers, &mut memory);
            alarms.extend(what.map(|what| Alarm { monitor: monitor.name(), what }));
            if !memory.is_empty() {
                state.monitors.insert(monitor.name().to_owned(), memory);
            }
        }
        alarms
    }

    /// Prompts as a run would ask them, with what each is.
    ///
    /// # Errors
    /// Tasks that cannot be made, or a host fault while they are.
    pub fn preview(&self, execute: &dyn Execute) -> Result<Vec<(String, Prompt)>, PlayError> {
        self.check()?;
        self.game.preview(execute)
    }
}

//! The configuration of a run: the settings of every run and the tables of its game. It is parsed strictly, resolved once, and written into
//! the run directory.

use std::path::Path;

use serde_json::{Map, Value};
use veriplay_console::exit::{ExitCode, Failure, bad_value, check_counts};
use veriplay_core::Role;
use veriplay_learner::{DeviceSpec, LearnerOptions, Loss, Preference, ScheduleShape, ServerProtocol};

use crate::config::{AlarmAction, RunConfig, from_toml, read_text, refuse_renamed_keys, refuse_unknown_keys};
use crate::game_setup::{EvalKeys, GameSetup, StepTokens, check_roles};
use crate::rollout_server::RolloutServerConfig;
use crate::{model, proposer};

/// The configuration of a run, such as `configs/quickstart.toml`.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayConfig<S> {
    /// The settings of every run.
    pub run: RunConfig,
    /// The tables of the game.
    pub setup: S,
}

impl<S: GameSetup> PlayConfig<S> {
    /// Reads a configuration strictly: an unknown or missing key is an error that names file, line and key. It is not validated.
    pub fn parse(text: &str, origin: &Path) -> Result<Self, Failure> {
        refuse_renamed_keys(text, origin)?;
        refuse_recipe(text, origin)?;
        // Before missing keys, because a misspelt key is both.
        refuse_unknown_keys(text, origin, &[RunConfig::KEYS, S::TABLES].concat())?;
        Ok(Self { run: from_toml(text, origin)?, setup: S::parse(text, origin)? })
    }

    /// As [`PlayConfig::parse`], of a file.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        Self::parse(&read_text(path)?, path)
    }

    /// The text that [`PlayConfig::parse`] reads.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        // A game has only tables, so they can follow the run's own keys.
        Ok(format!("{}\n{}", toml::to_string(&self.run)?, toml::to_string(&self.setup)?))
    }

    /// The same as one object, in which keys that are not set are null.
    pub fn to_json(&self) -> serde_json::Result<Map<String, Value>> {
        let mut keys: Map<String, Value> = Map::new();
        for part in [serde_json::to_value(&self.run)?, serde_json::to_value(&self.setup)?] {
            keys.extend(part.as_object().cloned().unwrap_or_default());
        }
        Ok(keys)
    }

    /// Validates the values.
    pub fn validate(&self) -> Result<(), Failure> {
        self.checks().into_iter().collect()
    }

    /// The learner's options, with who samples for it and the roles that have adapters of their own: those that learn, and the solver.
    pub fn learner_options(&self) -> LearnerOptions {
        let mut roles = Vec::new();
        if self.run.learn.has_adapters_per_role() {
            roles.push(Role::SOLVER);
            roles.extend(self.setup.learning_roles().into_iter().filter(|role| *role != Role::SOLVER));
        }
        LearnerOptions { roles, ..self.run.learner_options() }
    }

    /// Which roles have adapters of their own, for people; `None` where all share what trains.
    pub fn describe_roles(&self) -> Option<String> {
        let roles = self.learner_options().roles;
        let names: Vec<String> = roles.iter().map(|role| format!("`{}`", role.name())).collect();
        let of_all = || format!("each of {} has adapters of its own beside one base", names.join(", "));
        (!names.is_empty()).then(of_all)
    }

    /// What is wrong with the values of each part.
    pub fn checks(&self) -> [Result<(), Failure>; 6] {
        let eval = self.setup.eval();
        let counts = [("eval.tasks", eval.tasks() as u64), ("eval.tasks_every", eval.tasks_every().unwrap_or(1))];
        [
            self.check_pairs()
                .and_then(|()| self.check_steps_ahead())
                .and_then(|()| self.run.validate())
                .and_then(|()| self.check_self_imitation())
                .and_then(|()| self.check_sampler_reference())
                .and_then(|()| self.check_credit())
                .and_then(|()| self.check_train_from())
                .and_then(|()| self.check_restore())
                .and_then(|()| self.check_roles_apart()),
            eval.suite_schedule().validate(),
            check_counts(&counts).and_then(|()| check_roles(&self.setup)),
            proposer::check(&self.run, self.setup.shared_settings()),
            self.run.learn.check_sampling(self.setup.shared_settings()),
            self.setup.validate(&self.run.learn).and_then(|()| self.setup.check_model(&self.run.model)),
        ]
    }

    /// Whether the policy is evaluated after `step` steps, between the update of the last one and its end.
    pub fn evaluates_after(&self, step: u64) -> bool {
        let eval = self.setup.eval();
        let validates = eval.tasks_every().is_some_and(|every| step.is_multiple_of(every));
        validates || eval.suite_schedule().is_due(step, self.run.steps)
    }

    /// Whether this step is sampled while the one before it trains. One behind a checkpoint is not, which is written before each evaluation, too: a run
    /// that goes on from there has its weights alone.
    pub fn is_sampled_ahead(&self, step: u64) -> bool {
        let follows_checkpoint = step.is_multiple_of(self.run.checkpoint_every) || self.evaluates_after(step + 1);
        self.run.steps_ahead > 0 && step < self.run.steps && !follows_checkpoint
    }

    /// Whether there is such a step. Of the schedules that leave any, each leaves one of the first seven.
    fn samples_some_ahead(&self) -> bool {
        (0..self.run.steps.min(8)).any(|step| self.is_sampled_ahead(step))
    }

    /// The most that one step trains on. A pair is a prompt with two responses, one of which may be an answer beside those of the group. Every
    /// attempt that is kept may be trained on again.
    pub fn step_tokens(&self, context: usize) -> StepTokens {
        let StepTokens { total, longest, longest_response } = self.setup.step_tokens(context);
        let shared = self.setup.shared_settings();
        if !shared.learn_from.makes_pairs() {
            let kept = shared.self_imitation.map_or(0, |own| own.capacity * longest);
            return StepTokens { total: total + kept, longest, longest_response };
        }
        StepTokens { total: 2 * total, longest: longest.max(context + longest_response), longest_response }
    }

    /// Rejects what only samples are learned by where pairs are learned from, and a loss over pairs where there are none.
    fn check_pairs(&self) -> Result<(), Failure> {
        let (options, passes) = (self.run.learn.learner_options(), self.run.learn.passes());
        let learn_from = self.setup.shared_settings().learn_from;
        if !learn_from.makes_pairs() {
            let makes_pairs = self.setup.needs_reference() || self.setup.takes_sampler_as_reference();
            if makes_pairs || options.preference == Preference::default() {
                return Ok(());
            }
            let want = "left out, because nothing makes pairs: `game.learn_from = \"pairs\"` does, and in `sol_ver` `game.objective`";
            return Err(bad_value("learn.preference.kind", &options.preference.name(), want));
        }
        let of_samples = [
            ("rollout_server", self.run.rollout_server.as_ref().map(|_| "set".to_owned())),
            ("steps_ahead", (self.run.steps_ahead > 0).then(|| self.run.steps_ahead.to_string())),
            ("learn.rollout_precision", self.run.learn.rollout_precision.map(|precision| precision.name().to_owned())),
            ("learn.loss.kind", (options.loss != Loss::default()).then(|| options.loss.name().to_owned())),
            ("learn.kl.coefficient", options.kl.map(|kl| kl.coefficient.to_string())),
            ("learn.correction", options.correction.map(|_| "set".to_owned())),
            ("learn.entropy_bonus", (options.entropy_bonus != 0.0).then(|| options.entropy_bonus.to_string())),
            ("learn.epochs", (passes.epochs != 1).then(|| passes.epochs.to_string())),
            ("learn.minibatches", (passes.minibatches != 1).then(|| passes.minibatches.to_string())),
        ];
        let Some((key, value)) = of_samples.into_iter().find_map(|(key, value)| Some((key, value?))) else {
            return Ok(());
        };
        let name = learn_from.name();
        let want = format!("left out: `game.learn_from = \"{name}\"` learns by a loss over pairs, `learn.preference`");
        Err(bad_value(key, &value, &want))
    }

    /// Rejects attempts that are trained on again by a loss that does not clip their ratios, or whose tokens are another trainer's.
    fn check_self_imitation(&self) -> Result<(), Failure> {
        if self.setup.shared_settings().self_imitation.is_none() {
            return Ok(());
        }
        if model::is_external(&self.run.model) {
            let want = "left out, because `model` is `stdio`: your trainer has the tokens of its rollouts";
            return Err(bad_value("game.self_imitation", &"set", want));
        }
        let loss = self.run.learn.learner_options().loss;
        if matches!(loss, Loss::PpoClip(_)) {
            return Ok(());
        }
        let want = "`ppo_clip`, because `game.self_imitation` trains on attempts of older policies";
        Err(bad_value("learn.loss.kind", &loss.name(), want))
    }

    /// Rejects pairs whose reference would be log-probabilities of another program or precision: their loss has no ratio that corrects for that.
    fn check_sampler_reference(&self) -> Result<(), Failure> {
        let Some(reason) = self.run.other_sampler().filter(|_| self.setup.takes_sampler_as_reference()) else {
            return Ok(());
        };
        let want = format!("`start` or `sft`, {reason}: the sampler's log-probabilities are not the learner's");
        Err(bad_value("game.dpo_reference", &"sampler", &want))
    }

    /// Rejects credit that the loss would take for something else than a part of advantages, or for which nobody scores responses again.
    fn check_credit(&self) -> Result<(), Failure> {
        let (shared, loss) = (self.setup.shared_settings(), self.run.learn.learner_options().loss);
        let keys =
            [("game.privileged_credit", shared.privileged_credit), ("game.waypoint_credit", shared.waypoint_credit)];
        if shared.privileged_credit != 0.0 && model::is_external(&self.run.model) {
            let want = "0, because `model` is `stdio`: your trainer does not score responses behind other prompts";
            return Err(bad_value(keys[0].0, &keys[0].1, want));
        }
        match keys.into_iter().find(|(_, credit)| *credit != 0.0) {
            Some((key, credit)) if !loss.weighs_by_advantage() => {
                let want = format!("0 under the loss `{}`, which does not weigh tokens by advantages", loss.name());
                Err(bad_value(key, &credit, &want))
            }
            _ => Ok(()),
        }
    }

    /// Rejects adapters of each role where one role learns alone, where nobody knows whose a sample is, and where one model is served for all.
    fn check_roles_apart(&self) -> Result<(), Failure> {
        if !self.run.learn.has_adapters_per_role() {
            return Ok(());
        }
        let refuse = |want: &str| Err(bad_value("learn.lora.per_role", &true, want));
        if model::is_external(&self.run.model) {
            return refuse("false, because `model` is `stdio`: your trainer has the weights");
        }
        if !S::ROLES.is_empty() {
            return refuse("false, because this loop has roles of its own, whose prompts are those of other roles");
        }
        if let [] | [_] = self.setup.learning_roles()[..] {
            return refuse(
                "false, because one role learns at most: see `game.proposer`, `game.proposer_weight` and the weights of the others",
            );
        }
        if self.setup.shared_settings().learn_from.makes_pairs() {
            return refuse("false, because of `game.learn_from`: pairs do not say whose responses they are");
        }
        if self.run.rollout_server.as_ref().is_some_and(|server| server.protocol() == ServerProtocol::Sglang) {
            return refuse(
                "false, or `rollout_server.protocol = \"vllm\"`: `sglang` gets whole weights, those of one role alone",
            );
        }
        Ok(())
    }

    /// Rejects alarms that restore a checkpoint where none is evaluated, or where every step begins with the start model anyway.
    fn check_restore(&self) -> Result<(), Failure> {
        let restores = self.run.on_alarm.has(AlarmAction::RestoreBest);
        if restores && (self.setup.eval().tasks_every().is_none() || self.setup.trains_from_start()) {
            let want = "another action, or set `eval.tasks_every`, and `game.train_from` not to `start`: it restores the best evaluated checkpoint";
            return Err(bad_value("on_alarm", &"restore_best", want));
        }
        Ok(())
    }

    /// Rejects steps that are sampled ahead where none could be, where something else than the update changes the policy or the game between two
    /// steps, and where pairs are learned from.
    fn check_steps_ahead(&self) -> Result<(), Failure> {
        let (run, setup) = (&self.run, &self.setup);
        let sleeps = run.rollout_server.as_ref().is_some_and(RolloutServerConfig::sleeps);
        let computes_proposals = run.proposer_model.as_ref().is_some_and(|name| !model::is_frozen(name));
        let scores = setup.shared_settings().privileged_credit != 0.0;
        let shares_card = (run.rollout_server.is_none() || computes_proposals || scores)
            && matches!(run.learn.device, DeviceSpec::Cuda(_));
        let makes_pairs = setup.needs_reference() || setup.takes_sampler_as_reference();
        let refused = [
            (run.steps_ahead > 1, "0 or 1: what is trained on is at most one step old"),
            (model::is_external(&run.model), "0, because `model` is `stdio`: your trainer samples when it is asked"),
            (
                !self.samples_some_ahead(),
                "0 where each step is the first or follows a checkpoint: see `steps`, `checkpoint_every`, `eval.tasks_every` and `eval.every`",
            ),
            (sleeps, "0 where `rollout_server.sleep` is true: the server samples while the model trains"),
            (
                shares_card,
                "0 where one card samples and trains: have a server on another card sample, `[rollout_server]`, without `proposer_model` and \
                 `game.privileged_credit`",
            ),
            (setup.trains_from_start(), "0 where `game.train_from` is `start`: each step begins with the start model"),
            (setup.acts_after_update(), "0 in this loop, which measures tasks with the policy behind each update"),
            (makes_pairs, "0 where pairs are learned from: their loss does not correct for an older policy"),
        ];
        let first = refused.into_iter().find(|(is_refused, _)| run.steps_ahead > 0 && *is_refused);
        first.map_or(Ok(()), |(_, want)| Err(bad_value("steps_ahead", &run.steps_ahead, want)))
    }

    /// Rejects a trainer outside this process, whose weights cannot be set back, and a learning rate that belongs to the whole run: it would be
    /// 0 in some step, whose training would then leave the start model as it is.
    fn check_train_from(&self) -> Result<(), Failure> {
        if !self.setup.trains_from_start() {
            return Ok(());
        }
        let refuse = |want: &str| Err(bad_value("game.train_from", &"start", want));
        let learn = &self.run.learn;
        if model::is_external(&self.run.model) {
            return refuse("`previous`, because `model` is `stdio`");
        }
        if learn.shape != ScheduleShape::Constant || learn.warmup_steps > 0 {
            return refuse(
                "`previous`, or `learn.shape = \"constant\"` with `learn.warmup_steps = 0`, because each step begins again",
            );
        }
        Ok(())
    }
}

/// Whether a file is a recipe of `veriplay warmup`.
pub fn is_recipe(text: &str, origin: &Path) -> Result<bool, Failure> {
    let keys: toml::Table = from_toml(text, origin)?;
    Ok(keys.contains_key("validate_every") || keys.get("model").is_some_and(toml::Value::is_table))
}

fn refuse_recipe(text: &str, origin: &Path) -> Result<(), Failure> {
    if !is_recipe(text, origin)? {
        return Ok(());
    }
    let what = format!("`{}` is a recipe for warming up a model, not a configuration of a game", origin.display());
    let hint = "run it with `veriplay warmup --config FILE`, or check it with `veriplay config validate --config FILE`";
    Err(Failure::message(ExitCode::Input, what).hint(hint))
}

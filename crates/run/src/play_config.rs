//! The configuration of a run: the settings of every run and the tables of its game. It is parsed strictly, resolved once, and written into
//! the run directory.

use std::path::Path;

use serde_json::{Map, Value};
use veriplay_console::exit::{ExitCode, Failure, bad_value, check_counts};
use veriplay_learner::{Loss, Preference, ScheduleShape};

use crate::config::{AlarmAction, RunConfig, from_toml, read_text, refuse_renamed_keys, refuse_unknown_keys};
use crate::game_setup::{EvalKeys, GameSetup, StepTokens, check_roles};
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

    /// What is wrong with the values of each part.
    pub fn checks(&self) -> [Result<(), Failure>; 6] {
        let eval = self.setup.eval();
        let counts = [("eval.tasks", eval.tasks() as u64), ("eval.tasks_every", eval.tasks_every().unwrap_or(1))];
        [
            self.check_pairs()
                .and_then(|()| self.run.validate())
                .and_then(|()| self.check_self_imitation())
                .and_then(|()| self.check_sampler_reference())
                .and_then(|()| self.check_credit())
                .and_then(|()| self.check_train_from())
                .and_then(|()| self.check_restore()),
            eval.suite_schedule().validate(),
            check_counts(&counts).and_then(|()| check_roles(&self.setup)),
            proposer::check(&self.run, self.setup.shared_settings()),
            self.run.learn.check_sampling(self.setup.shared_settings()),
            self.setup.validate(&self.run.learn).and_then(|()| self.setup.check_model(&self.run.model)),
        ]
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

    /// Rejects pairs whose reference would be another program's log-probabilities: their loss has no ratio that corrects for that.
    fn check_sampler_reference(&self) -> Result<(), Failure> {
        if self.run.rollout_server.is_none() || !self.setup.takes_sampler_as_reference() {
            return Ok(());
        }
        let want =
            "`start` or `sft`, where `[rollout_server]` is there: the sampler's log-probabilities are the server's";
        Err(bad_value("game.dpo_reference", &"sampler", want))
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

    /// Rejects alarms that restore a checkpoint where none is evaluated, or where every step begins with the start model anyway.
    fn check_restore(&self) -> Result<(), Failure> {
        let restores = self.run.on_alarm.has(AlarmAction::RestoreBest);
        if restores && (self.setup.eval().tasks_every().is_none() || self.setup.trains_from_start()) {
            let want = "another action, or set `eval.tasks_every`, and `game.train_from` not to `start`: it restores the best evaluated checkpoint";
            return Err(bad_value("on_alarm", &"restore_best", want));
        }
        Ok(())
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

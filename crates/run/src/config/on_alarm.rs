//! What alarms of monitors do: one action for all, or one for each.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use veriplay_console::exit::{Failure, bad_value};
use veriplay_selfplay::monitors;

use super::RunConfig;
use crate::model;

/// The key for the monitors that have no action of their own.
const DEFAULT: &str = "default";

/// What an alarm does, besides that it stands in the log of events and on stderr.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlarmAction {
    /// It does nothing more than that.
    #[default]
    Log,
    /// The run stops behind the step, with a checkpoint.
    Stop,
    /// From the next step on nothing is learned of proposals.
    FreezeProposer,
    /// From the next step on nothing is learned of attempts.
    FreezeSolver,
    /// From the next step on the coefficient of `learn.kl` is twice as high.
    RaiseKl,
    /// The run goes on with the checkpoint of the best evaluation on the validation set, and half the learning rate.
    RestoreBest,
}

/// What the alarms of a run do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum OnAlarm {
    /// The same for all monitors.
    All(AlarmAction),
    /// By the monitor's name, or `default`.
    Each(BTreeMap<String, AlarmAction>),
}

impl Default for OnAlarm {
    fn default() -> Self {
        Self::All(AlarmAction::default())
    }
}

impl OnAlarm {
    /// What an alarm of this monitor does.
    pub fn action(&self, monitor: &str) -> AlarmAction {
        match self {
            Self::All(action) => *action,
            Self::Each(actions) => actions.get(monitor).or_else(|| actions.get(DEFAULT)).copied().unwrap_or_default(),
        }
    }

    /// Whether some alarm does this.
    pub fn has(&self, action: AlarmAction) -> bool {
        match self {
            Self::All(one) => *one == action,
            Self::Each(actions) => actions.values().any(|one| *one == action),
        }
    }

    /// Rejects a name of no monitor, and actions that the run cannot take.
    pub(super) fn check(&self, run: &RunConfig) -> Result<(), Failure> {
        let names = if let Self::Each(actions) = self { actions.keys().collect() } else { Vec::new() };
        if let Some(name) = names.into_iter().find(|name| *name != DEFAULT && monitors::by_name(name).is_none()) {
            let known: Vec<&str> = monitors::MONITORS.iter().map(|monitor| monitor.name()).collect();
            return Err(bad_value("on_alarm", name, &format!("`{DEFAULT}` or a monitor: `{}`", known.join("`, `"))));
        }
        if self.has(AlarmAction::RaiseKl) && !run.learn.needs_reference() {
            return Err(bad_value(
                "on_alarm",
                &"raise_kl",
                "another action, because there is no `[learn.kl]` to raise",
            ));
        }
        let is_of_learner = [AlarmAction::RaiseKl, AlarmAction::RestoreBest].into_iter().any(|action| self.has(action));
        if is_of_learner && model::is_external(&run.model) {
            let want = "an action without the learner's weights and losses, because `model` is `stdio`";
            return Err(bad_value("on_alarm", &"raise_kl or restore_best", want));
        }
        Ok(())
    }
}

/// By hand, so that an error names the actions, as it does for every other key.
impl<'de> Deserialize<'de> for OnAlarm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ActionOrTable;

        impl<'de> Visitor<'de> for ActionOrTable {
            type Value = OnAlarm;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an action, or a table of actions by monitor")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<OnAlarm, E> {
                AlarmAction::deserialize(StrDeserializer::new(name)).map(OnAlarm::All)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OnAlarm, A::Error> {
                BTreeMap::deserialize(MapAccessDeserializer::new(map)).map(OnAlarm::Each)
            }
        }

        deserializer.deserialize_any(ActionOrTable)
    }
}

/// What the alarms of a run have done so far, which its checkpoints keep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlarmEffects {
    /// How often the coefficient of the KL term was doubled.
    #[serde(default)]
    pub raised: i32,
    /// How often the best checkpoint was restored, and the learning rate halved.
    #[serde(default)]
    pub restored: i32,
    /// The checkpoint to restore, where some alarm may do so.
    #[serde(default)]
    pub best: Option<BestCheckpoint>,
}

/// The checkpoint of the best evaluation on the validation set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BestCheckpoint {
    /// The steps that it has done.
    pub step: u64,
    /// Bits of its pass@1, which JSON gives back exactly.
    pass1: u64,
}

impl AlarmEffects {
    /// Whether no alarm has done anything.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Takes the checkpoint of `step` as the best one, where its pass@1 is the highest so far.
    pub fn note(&mut self, step: u64, pass1: f64) {
        if self.best.is_none_or(|best| pass1 > f64::from_bits(best.pass1)) {
            self.best = Some(BestCheckpoint { step, pass1: pass1.to_bits() });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::builtin_configs::QUICKSTART;
    use crate::config::from_toml;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Keys {
        on_alarm: OnAlarm,
        exec_timeout_s: u64,
    }

    #[test]
    fn an_action_is_for_all_monitors_or_for_one() {
        let table = "on_alarm = { default = \"stop\", constant_answer = \"freeze_solver\" }\nexec_timeout_s = 1";
        let cases = [
            ("on_alarm = \"stop\"\nexec_timeout_s = 1", [AlarmAction::Stop, AlarmAction::Stop]),
            (table, [AlarmAction::FreezeSolver, AlarmAction::Stop]),
            ("on_alarm = { kl_jump = \"stop\" }\nexec_timeout_s = 1", [AlarmAction::Log, AlarmAction::Stop]),
        ];
        for (text, actions) in cases {
            let keys: Keys = toml::from_str(text).unwrap();
            assert_eq!(["constant_answer", "kl_jump"].map(|name| keys.on_alarm.action(name)), actions, "{text}");
            assert_eq!(toml::from_str::<Keys>(&toml::to_string(&keys).unwrap()).unwrap(), keys, "{text}");
        }
        for (value, key) in [("\"halt\"", "on_alarm"), ("{ kl_jump = \"halt\" }", "on_alarm.kl_jump")] {
            let error = from_toml::<Keys>(&format!("on_alarm = {value}"), Path::new("a.toml")).unwrap_err().reason();
            let want = format!("configuration key `{key}` is `halt`: it must be one of `log`, `stop`");
            assert!(error.contains(&want), "{error}");
        }
    }

    #[test]
    fn what_alarms_have_done_is_exact_however_it_is_summed() {
        let kl = "[learn.kl]\ncoefficient = 0.1\nestimator = \"k3\"\nplace = \"loss\"";
        let run: RunConfig = toml::from_str(&format!("{QUICKSTART}\n{kl}")).unwrap();
        let (mut by_one, mut at_once) = (run.learn.clone(), run.learn.clone());
        (0..3).for_each(|_| by_one.change_by(&AlarmEffects { raised: 1, restored: 1, best: None }));
        at_once.change_by(&AlarmEffects { raised: 3, restored: 3, best: None });
        assert_eq!(by_one, at_once);
        let coefficient = at_once.learner_options().kl.map(|kl| kl.coefficient);
        assert_eq!((at_once.learning_rate, coefficient), (run.learn.learning_rate / 8.0, Some(0.8)));
    }

    #[test]
    fn the_best_checkpoint_is_the_earliest_of_the_highest_pass1() {
        let mut effects = AlarmEffects::default();
        [(10, 0.2), (20, 0.4), (30, 0.4), (40, f64::NAN)]
            .into_iter()
            .for_each(|(step, pass1)| effects.note(step, pass1));
        assert_eq!(effects.best.map(|best| best.step), Some(20));
        let saved = serde_json::to_string(&effects).unwrap();
        assert_eq!(serde_json::from_str::<AlarmEffects>(&saved).unwrap(), effects);
    }
}

//! The settings of [`crate::temperature_search`].

use serde::{Deserialize, Serialize};

use super::{ConfigError, check_numbers, check_positive, invalid_value};

/// Rounds of steps, at the beginning of which temperatures are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemperatureSearch {
    /// The temperatures that it chooses among.
    pub temperatures: Vec<f64>,
    /// How many steps a round has.
    pub every: u64,
    /// How many of them, the first ones, try all temperatures.
    pub measured_steps: u64,
    /// How many different right answers to a task are enough.
    pub right_answers: u32,
}

impl TemperatureSearch {
    /// Refuses a search that has nothing to choose, or no step in which it chooses or uses its choice.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let Self { temperatures, every, measured_steps, right_answers } = self;
        let is_repeated = |place: usize| temperatures[..place].contains(&temperatures[place]);
        if temperatures.len() < 2 || (1..temperatures.len()).any(is_repeated) {
            let allowed = "name two or more temperatures, each once";
            return Err(invalid_value("temperature_search.temperatures", format!("{temperatures:?}"), allowed));
        }
        for temperature in temperatures {
            check_numbers(&[("temperature_search.temperatures", *temperature, 0.0, 10.0)])?;
        }
        if *measured_steps == 0 || measured_steps >= every {
            let allowed = format!("use at least `1` and less than `every`, which is `{every}`");
            return Err(invalid_value("temperature_search.measured_steps", measured_steps, allowed));
        }
        check_positive(&[("temperature_search.right_answers", u64::from(*right_answers))])
    }
}

//! The settings of the game that no other game has.

use serde::{Deserialize, Serialize};
use veriplay_core::TaskType;
use veriplay_selfplay::settings::{ConfigError, GameConfig, GameSettings, check_counts, check_numbers, invalid_value};

use super::prompts;

/// `[game]` of a configuration.
pub type AbsoluteZeroConfig = GameConfig<AbsoluteZeroSettings>;

/// The game's own keys of `[game]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbsoluteZeroSettings {
    /// The task types that a step proposes and solves. Absent means deduction, abduction and induction, which evaluation has in any case;
    /// error tasks are there only where they are named.
    #[serde(default = "standard_types")]
    pub task_types: Vec<TaskType>,
    /// Proposals a step for each task type; 0 trains the solver on the buffers alone.
    pub proposals_per_type: usize,
    /// Solver tasks a step for each task type.
    pub tasks_per_type: usize,
    /// Reference tasks in a proposer prompt (K); 0 shows none, and then all proposals of a type share one prompt, in which `examples`
    /// stand in for references.
    pub references: usize,
    /// Share of the proposals of a new program that must call functions of earlier tasks, in [0, 1]; `think` alone asks for that.
    #[serde(default)]
    pub composite_share: f64,
    /// Share of the proposals of a new program that continue an earlier one which some solver solved, in [0, 1]; `compact` alone asks for that.
    #[serde(default)]
    pub extend_share: f64,
    /// Share of a type's solver tasks that this step's proposals may fill, in [0, 1]. Valid proposals beyond it enter the
    /// buffer without a solve rate, and are not trained on.
    pub fresh_fraction: f64,
    /// Share of the other solver tasks that come from seeds, in [0, 1]; the rest are proposals accepted in earlier steps.
    pub seed_share: f64,
    /// Input-output pairs an induction solver sees.
    pub induction_visible: usize,
    /// Pairs that it does not see, and its program must meet.
    pub induction_hidden: usize,
    /// Whether an induction solver's program must also meet the pairs that it sees.
    #[serde(default = "yes")]
    pub judge_shown: bool,
    /// Weight of imitating the executed answers of a step's tasks, beside what is rewarded; 0 imitates none.
    #[serde(default)]
    pub answer_weight: f64,
    /// The greatest solve rate of a task whose answer is imitated, in [0, 1].
    #[serde(default = "one")]
    pub answer_max_rate: f64,
    /// Whether a proposer's learnability counts only as far as the solve rate is above what always giving the program's commonest output gets.
    #[serde(default = "yes")]
    pub discount_guesses: bool,
}

const fn one() -> f64 {
    1.0
}

const fn yes() -> bool {
    true
}

fn standard_types() -> Vec<TaskType> {
    TaskType::STANDARD.to_vec()
}

impl AbsoluteZeroSettings {
    /// The types that have seeds, examples and evaluation tasks, whatever a step plays.
    pub fn types_with_tasks(&self) -> Vec<TaskType> {
        let has = |one: &TaskType| TaskType::STANDARD.contains(one) || self.task_types.contains(one);
        TaskType::ALL.into_iter().filter(has).collect()
    }

    /// Inputs an induction proposal must have.
    pub const fn induction_inputs(&self) -> usize {
        self.induction_visible + self.induction_hidden
    }

    /// Maximum number of fresh proposals of one type that become solver tasks.
    pub(super) fn fresh_cap(&self) -> usize {
        (self.fresh_fraction * self.tasks_per_type as f64).round() as usize
    }
}

impl GameSettings for AbsoluteZeroSettings {
    fn check(config: &GameConfig<Self>) -> Result<(), ConfigError> {
        let own = &config.own;
        config.shared.check(&prompts::names(), true)?;
        let repeated = (1..own.task_types.len()).any(|place| own.task_types[..place].contains(&own.task_types[place]));
        if own.task_types.is_empty() || repeated {
            let names: Vec<&str> = own.task_types.iter().map(|task_type| task_type.name()).collect();
            return Err(invalid_value("task_types", names.join(", "), "name one or more task types, each once"));
        }
        if config.shared.waypoint_credit > 0.0 && !own.task_types.contains(&TaskType::Deduction) {
            let allowed = "use `0`, or name `deduction` in `task_types`: only its tasks have traces";
            return Err(invalid_value("waypoint_credit", config.shared.waypoint_credit, allowed));
        }
        check_counts(&[
            ("proposals_per_type", own.proposals_per_type, 0, 65_536),
            ("tasks_per_type", own.tasks_per_type, 1, 65_536),
            ("references", own.references, 0, 64),
            ("induction_visible", own.induction_visible, 1, 64),
            ("induction_hidden", own.induction_hidden, 1, 64),
        ])?;
        if own.composite_share > 0.0 && config.shared.format != "think" {
            return Err(invalid_value(
                "composite_share",
                own.composite_share,
                "only `format = \"think\"` asks for composites",
            ));
        }
        if own.extend_share > 0.0 && config.shared.format != "compact" {
            let allowed = "only `format = \"compact\"` asks for continued programs";
            return Err(invalid_value("extend_share", own.extend_share, allowed));
        }
        if own.answer_weight > 0.0 && config.shared.format == "think" {
            let allowed = "use `0` with `format = \"think\"`: a bare answer would teach not to reason";
            return Err(invalid_value("answer_weight", own.answer_weight, allowed));
        }
        check_numbers(&[
            ("composite_share", own.composite_share, 0.0, 1.0),
            ("extend_share", own.extend_share, 0.0, 1.0),
            ("answer_weight", own.answer_weight, 0.0, 1_000.0),
            ("answer_max_rate", own.answer_max_rate, 0.0, 1.0),
        ])?;
        check_numbers(&[("fresh_fraction", own.fresh_fraction, 0.0, 1.0), ("seed_share", own.seed_share, 0.0, 1.0)])
    }
}

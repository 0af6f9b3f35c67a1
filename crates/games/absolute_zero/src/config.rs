//! The settings of the game that no other game has.

use serde::{Deserialize, Serialize};
use veriplay_core::{JAVASCRIPT, Language, TaskType};
use veriplay_python::Python;
use veriplay_selfplay::proposer_factor;
use veriplay_selfplay::settings::{ConfigError, GameConfig, GameSettings, check_counts, check_numbers, invalid_value};

use veriplay_verifier::languages::is_python;

use super::prompts;

/// The languages that it is played in.
const LANGUAGES: [&dyn Language; 2] = [&Python, &JAVASCRIPT];

/// `[game]` of a configuration.
pub type AbsoluteZeroConfig = GameConfig<AbsoluteZeroSettings>;

/// The game's own keys of `[game]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbsoluteZeroSettings {
    /// The language of programs: `python` or `javascript`. JavaScript has deduction and abduction tasks, and the format `think`.
    #[serde(default = "python")]
    pub language: String,
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

fn python() -> String {
    Python.names()[0].to_owned()
}

fn standard_types() -> Vec<TaskType> {
    TaskType::STANDARD.to_vec()
}

impl AbsoluteZeroSettings {
    /// The language of programs. An unknown one, which [`GameConfig::check`] refuses, is Python.
    pub fn language(&self) -> &'static dyn Language {
        self.find_language().unwrap_or(&Python)
    }

    fn find_language(&self) -> Option<&'static dyn Language> {
        LANGUAGES.into_iter().find(|language| language.names()[0] == self.language)
    }

    /// The types that have seeds, examples and evaluation tasks, whatever a step plays: in JavaScript those that it plays.
    pub fn types_with_tasks(&self) -> Vec<TaskType> {
        let standard: &[TaskType] = if is_python(self.language()) { &TaskType::STANDARD } else { &[] };
        let has = |one: &TaskType| standard.contains(one) || self.task_types.contains(one);
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
        check_language(config)?;
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

/// Refuses a language that there is not, and what has no meaning in JavaScript.
fn check_language(config: &AbsoluteZeroConfig) -> Result<(), ConfigError> {
    let (own, shared) = (&config.own, &config.shared);
    match own.find_language() {
        None => return Err(invalid_value("language", &own.language, "use `python` or `javascript`")),
        Some(language) if is_python(language) => return Ok(()),
        Some(_) => {}
    }
    let other = own.task_types.iter().find(|one| !matches!(one, TaskType::Deduction | TaskType::Abduction));
    if let Some(other) = other {
        let allowed = "name `deduction`, `abduction` or both, as `language = \"javascript\"` has no other types";
        return Err(invalid_value("task_types", other.name(), allowed));
    }
    if shared.format != "think" {
        let allowed = "use `think` with `language = \"javascript\"`, and an instruct model";
        return Err(invalid_value("format", &shared.format, allowed));
    }
    if own.composite_share > 0.0 {
        let allowed = "use `0` with `language = \"javascript\"`: helpers are functions of Python";
        return Err(invalid_value("composite_share", own.composite_share, allowed));
    }
    if shared.waypoint_credit > 0.0 {
        let allowed = "use `0` with `language = \"javascript\"`: only programs in Python are traced";
        return Err(invalid_value("waypoint_credit", shared.waypoint_credit, allowed));
    }
    // Signatures of behaviour are made of inputs by their types in Python.
    if let Some(name) = shared.proposer_factor().iter().find(|name| proposer_factor::by_name(name).is_some()) {
        let allowed =
            "leave it out with `language = \"javascript\"`, or name an `exec:` command: behaviours are those of Python";
        return Err(invalid_value("proposer_factor", name, allowed));
    }
    match shared.intrinsic.keys().next() {
        Some(name) => {
            let allowed = "leave it out with `language = \"javascript\"`: these terms read Python";
            Err(invalid_value("intrinsic", name, allowed))
        }
        None => Ok(()),
    }
}

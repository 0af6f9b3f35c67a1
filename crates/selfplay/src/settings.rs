//! The settings of `[game]`: those that every game has, declared once, and what a value may be.

mod checks;
mod reader;
mod self_imitation;
mod temperature_search;

use std::collections::BTreeMap;

use serde::de::{self, MapAccess};
use serde::{Deserialize, Serialize};
use veriplay_core::Role;

pub use checks::{ConfigError, check_counts, check_name, check_numbers, check_positive, invalid_value};
pub use self_imitation::SelfImitationSettings;
pub use temperature_search::TemperatureSearch;

use crate::advantages::AdvantageEstimator;
use crate::metrics::LEAST_SAMPLES;
use crate::rollout::Part;
use crate::{advantages, curricula, external, intrinsic, proposer_factor, rewards};

/// The keys of `[game]`: those that every game has, and the game's own.
///
/// Every key stands next to the others in one table. `#[serde(flatten)]` would buffer the values and lose the lines of their errors.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GameConfig<G> {
    /// The settings that every game has.
    #[serde(flatten)]
    pub shared: SharedSettings,
    /// The settings of this game.
    #[serde(flatten)]
    pub own: G,
}

/// The keys of `[game]` that are a game's own.
pub trait GameSettings: Sized {
    /// Checks every key, the shared ones too.
    fn check(config: &GameConfig<Self>) -> Result<(), ConfigError>;
}

impl<G: GameSettings> GameConfig<G> {
    /// Checks every key.
    pub fn check(&self) -> Result<(), ConfigError> {
        G::check(self)
    }
}

impl<G> GameConfig<G> {
    /// The settings with a change, as tests and sweeps make one.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// The value of `pairs_per_prompt` where it is absent.
const PAIRS_PER_PROMPT: usize = 4;

/// Declares [`SharedSettings`] and its reader. A key with a value behind `=` may be left out, and has that value then.
macro_rules! shared_settings {
    ($($(#[$attribute:meta])* $key:ident: $type:ty $(= $default:expr)?,)*) => {
        /// The settings that every game has.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        pub struct SharedSettings {
            $($(#[$attribute])* pub $key: $type,)*
        }

        /// The settings that were read so far.
        #[derive(Default)]
        struct ReadSettings {
            $($key: Option<$type>,)*
        }

        impl ReadSettings {
            const KEYS: &'static [&'static str] = &[$(stringify!($key)),*];

            fn read_value<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
                match key {
                    $(stringify!($key) => self.$key = Some(map.next_value()?),)*
                    _ => return Err(de::Error::unknown_field(key, Self::KEYS)),
                }
                Ok(())
            }

            fn finish<E: de::Error>(self) -> Result<SharedSettings, E> {
                Ok(SharedSettings {
                    $($key: self.$key$(.or(Some($default)))?.ok_or_else(|| E::missing_field(stringify!($key)))?,)*
                })
            }
        }
    };
}

shared_settings! {
    /// Name of the prompt format, one of the game's.
    format: String,
    /// Answered examples in a prompt, none of them of its own question. A format that shows none ignores them.
    examples: usize = 0,
    /// Solver episodes of each task (G). They estimate its solve rate and train the solver.
    group_size: usize,
    /// Name of the reward scheme, one of [`rewards::REWARDS`], or `exec:COMMAND` ([`external`]). An objective of preferences needs none.
    reward: Option<String> = None,
    /// Factors of each proposer's reward: one or a list of [`proposer_factor::FACTORS`], and of `exec:COMMAND` ([`external`]). Their product counts;
    /// absent means that nothing is multiplied.
    proposer_factor: Option<Names> = None,
    /// Coefficients of intrinsic rewards, by name, of [`intrinsic::INTRINSIC_REWARDS`].
    intrinsic: BTreeMap<String, f64> = BTreeMap::new(),
    /// Steps in which these coefficients fall in a line to 0. Absent means that they stay.
    intrinsic_steps: Option<usize> = None,
    /// What a proposer loses by a task that nobody or everybody solves, under a reward that has such a penalty (`ssr`). Absent means the
    /// reward's own, which is the paper's.
    alpha: Option<f64> = None,
    /// Name of the advantage estimator, one of [`advantages::ADVANTAGES`]. An objective of preferences needs none.
    advantage: Option<String> = None,
    /// What of the rewarded episodes is learned.
    learn_from: LearnFrom = LearnFrom::default(),
    /// Under `successes`, the share of each group that may be imitated, the best by reward first. 1 means all of positive reward.
    top_share: f64 = 1.0,
    /// Under `pairs` and `answer_pairs`, the most pairs of one prompt.
    pairs_per_prompt: usize = PAIRS_PER_PROMPT,
    /// Privileged re-scoring: how much of what the reference in its prompt adds to the log-probability of a solver's token is added to that token's
    /// advantage. 0 adds nothing.
    privileged_credit: f64 = 0.0,
    /// Waypoint credit: what a wrong answer gets whose text shows every value of the reference's trace. 0 gives nothing.
    waypoint_credit: f64 = 0.0,
    /// How the losses of tokens become one number.
    aggregation: Aggregation = Aggregation::default(),
    /// Whether samples of advantage 0 are trained on.
    zero_advantage: ZeroAdvantage = ZeroAdvantage::default(),
    /// Attempts of earlier steps that are trained on again. Absent means none.
    self_imitation: Option<SelfImitationSettings> = None,
    /// `train`, `frozen` or `none`.
    proposer: ProposerMode = ProposerMode::Train,
    /// Multiplies the proposer's advantages, and the weights of its imitated responses. 0 trains the other roles alone.
    proposer_weight: f64,
    /// Multiplies the solver's advantages, and the weights of its imitated and preferred responses. 0 trains the other roles alone.
    solver_weight: f64 = 1.0,
    /// As `solver_weight`, for the verifier of games that have one.
    verifier_weight: f64 = 1.0,
    /// How roles that are no proposer, solver or verifier are sampled and weighed, by name. What is absent is as for the part that they play.
    roles: BTreeMap<String, RoleSettings> = BTreeMap::new(),
    /// Stretches of steps in which some roles learn and the others only play, one behind the other and then from the first again. Absent
    /// means that all learn always.
    phases: Vec<Phase> = Vec::new(),
    /// Tasks of each kind that the pool holds before step 0, of which the start model proposes what is missing.
    seed_proposals: usize = 0,
    /// Softmax temperature of proposers.
    proposer_temperature: f32,
    /// Maximum tokens of one response of a proposer, the end token included.
    proposer_max_tokens: usize,
    /// Softmax temperature of solvers.
    solver_temperature: f32,
    /// Maximum tokens of one response of a solver, the end token included.
    solver_max_tokens: usize,
    /// Chooses the temperature of solvers again and again ([`crate::temperature_search`]). Absent means that it is `solver_temperature` always.
    temperature_search: Option<TemperatureSearch> = None,
    /// Responses of a step are drawn from this many likeliest tokens; 0 means all. Evaluation draws from all.
    top_k: usize = 0,
    /// Responses of a step are drawn from the fewest likeliest tokens whose probabilities sum to this; 1 means all.
    top_p: f32 = 1.0,
    /// Responses of a step are drawn from tokens at least this many times as likely as the likeliest; 0 means all.
    min_p: f32 = 0.0,
    /// Text that ends a response of any role, besides the model's end tokens and what the prompt format names.
    stop: Vec<String> = Vec::new(),
    /// Supervised examples a step, of the start model's own valid responses.
    sft_samples: usize = 0,
    /// Weight of each.
    sft_weight: f64 = 0.0,
    /// Proposed tasks kept of each kind, newest first. Seeds do not count and are never lost.
    buffer_capacity: usize,
    /// Whether a proposed task that no solver solved leaves the buffer: it may be unsolvable as stated.
    drop_unsolved: bool = false,
    /// Whether a proposed task that every solver solved leaves the buffer: it teaches nothing any more.
    drop_solved: bool = false,
    /// Name of the curriculum, one of [`curricula::CURRICULA`], or `exec:COMMAND` ([`external`]).
    curriculum: String = curricula::CURRICULA[0].name().to_owned(),
    /// Weight under curriculum `learnable` of a task whose last solve rate was 0 < s < 1, where others weigh 1.
    resample_learnable: f64 = 1.0,
    /// Samples of each evaluation task at temperature 1: at least 8, which pass@8 needs.
    eval_samples: usize,
}

impl SharedSettings {
    /// The weight of a role's samples, examples and pairs: 0 where nothing is learned from them. A role that `roles` does not name has that of
    /// its part.
    pub fn role_weight(&self, part: Part, role: Role) -> f64 {
        let own = self.roles.get(role.name()).and_then(|own| own.weight);
        let of_part = match (part, self.proposer) {
            (Part::Proposal | Part::Deferred, ProposerMode::Train) => self.proposer_weight,
            (Part::Proposal | Part::Deferred, ProposerMode::Frozen | ProposerMode::None) => 0.0,
            (Part::Solution, _) => self.solver_weight,
            (Part::Verification, _) => self.verifier_weight,
        };
        own.unwrap_or(of_part)
    }

    /// Whether a role learns in step `step`, as far as phases say.
    pub fn phase_learns(&self, step: u64, role: Role) -> bool {
        let round: u64 = self.phases.iter().map(|phase| phase.steps).sum();
        let mut left = step.checked_rem(round).unwrap_or_default();
        for phase in &self.phases {
            if left < phase.steps {
                return phase.learns.iter().any(|name| name == role.name());
            }
            left -= phase.steps;
        }
        true
    }

    /// Whether something is learned from a role's episodes.
    pub(crate) fn learns(&self, part: Part, role: Role) -> bool {
        self.role_weight(part, role) > 0.0
    }

    /// The search that chooses the temperature of a role's attempts: that of the policy that learns, where the role has none of its own.
    pub(crate) fn search_of(&self, role: Role, other_policy: Option<&String>) -> Option<&TemperatureSearch> {
        let own = self.roles.get(role.name()).and_then(|own| own.temperature);
        self.temperature_search.as_ref().filter(|_| own.is_none() && other_policy.is_none())
    }

    /// Whether solvers are sampled at temperature 1 in every step. A search tries others.
    pub fn solves_at_one(&self) -> bool {
        self.solver_temperature == 1.0 && self.temperature_search.is_none()
    }

    /// Checks every key. `formats` are the names of the game's prompt formats; `rewarded` says whether its objective uses rewards.
    pub fn check(&self, formats: &[&str], rewarded: bool) -> Result<(), ConfigError> {
        check_name("format", &self.format, formats)?;
        let named = [("reward", &self.reward, rewards::names()), ("advantage", &self.advantage, advantages::names())];
        for (key, name, names) in named {
            match name {
                Some(name) if key == "reward" && is_program(name) => {}
                Some(name) => check_name(key, name, &names)?,
                None if rewarded => {
                    let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
                    return Err(invalid_value(key, "", format!("set it to one of {}", names.join(", "))));
                }
                None => {}
            }
        }
        if !is_program(&self.curriculum) {
            check_name("curriculum", &self.curriculum, &curricula::names())?;
        }
        if !rewarded {
            self.check_unrewarded()?;
        }
        self.check_alpha()?;
        self.check_proposer_factor()?;
        self.check_pairs()?;
        self.check_self_imitation()?;
        self.check_credit()?;
        if self.top_share != 1.0 && self.learn_from != LearnFrom::Successes {
            let allowed = "leave it out, or set `learn_from` to `successes`, whose group it selects from";
            return Err(invalid_value("top_share", self.top_share, allowed));
        }
        for (name, coefficient) in &self.intrinsic {
            check_name("intrinsic", name, &intrinsic::names())?;
            check_numbers(&[("intrinsic", *coefficient, 0.0, 1_000.0)])?;
        }
        if let Some(steps) = self.intrinsic_steps.filter(|_| self.intrinsic.is_empty()) {
            return Err(invalid_value("intrinsic_steps", steps, "leave it out, or give `intrinsic` a term that falls"));
        }
        check_counts(&[
            ("examples", self.examples, 0, 64),
            ("group_size", self.group_size, 1, 4_096),
            ("intrinsic_steps", self.intrinsic_steps.unwrap_or(1), 1, 1 << 30),
            ("pairs_per_prompt", self.pairs_per_prompt, 1, 4_096),
            ("seed_proposals", self.seed_proposals, 0, 1 << 20),
            ("sft_samples", self.sft_samples, 0, 65_536),
            ("buffer_capacity", self.buffer_capacity, 0, 1 << 24),
            ("proposer_max_tokens", self.proposer_max_tokens, 1, 1 << 20),
            ("solver_max_tokens", self.solver_max_tokens, 1, 1 << 20),
            ("top_k", self.top_k, 0, 1 << 30),
            ("eval_samples", self.eval_samples, LEAST_SAMPLES as usize, 65_536),
        ])?;
        check_numbers(&[
            ("alpha", self.alpha.unwrap_or(0.0), 0.0, 1.0),
            ("proposer_weight", self.proposer_weight, 0.0, 1_000.0),
            ("solver_weight", self.solver_weight, 0.0, 1_000.0),
            ("verifier_weight", self.verifier_weight, 0.0, 1_000.0),
            ("sft_weight", self.sft_weight, 0.0, 1_000.0),
            ("privileged_credit", self.privileged_credit, 0.0, 1.0),
            // A right answer is worth more.
            ("waypoint_credit", self.waypoint_credit, 0.0, 0.9),
            ("resample_learnable", self.resample_learnable, 0.0, 1_000.0),
            ("proposer_temperature", f64::from(self.proposer_temperature), 0.0, 10.0),
            ("solver_temperature", f64::from(self.solver_temperature), 0.0, 10.0),
            ("top_p", f64::from(self.top_p), f64::from(f32::MIN_POSITIVE), 1.0),
            ("top_share", self.top_share, f64::MIN_POSITIVE, 1.0),
            ("min_p", f64::from(self.min_p), 0.0, 1.0),
        ])?;
        self.temperature_search.as_ref().map_or(Ok(()), TemperatureSearch::check)?;
        for (name, own) in &self.roles {
            if [Role::PROPOSER, Role::SOLVER, Role::VERIFIER].iter().any(|role| role.name() == name) {
                let allowed = format!("set `game.{name}_weight` and the keys beside it: only other roles stand here");
                return Err(invalid_value("roles", name, allowed));
            }
            check_counts(&[("roles", own.max_tokens.unwrap_or(1), 1, 1 << 20)])?;
            let temperature = f64::from(own.temperature.unwrap_or_default());
            check_numbers(&[
                ("roles", own.weight.unwrap_or_default(), 0.0, 1_000.0),
                ("roles", temperature, 0.0, 10.0),
            ])?;
        }
        for phase in &self.phases {
            let every = [Role::PROPOSER, Role::SOLVER, Role::VERIFIER].map(Role::name);
            let mut others = phase.learns.iter().filter(|name| !every.contains(&name.as_str()));
            if let Some(unknown) = others.find(|name| !self.roles.contains_key(*name)) {
                let allowed = "name `proposer`, `solver`, `verifier` or a role of `game.roles`";
                return Err(invalid_value("phases", unknown, allowed));
            }
            if phase.steps == 0 || phase.steps > 1 << 32 {
                return Err(invalid_value("phases", phase.steps, "give each phase from `1` to `4294967296` steps"));
            }
        }
        if self.stop.iter().any(String::is_empty) {
            return Err(invalid_value("stop", "", "a stop string has at least one character"));
        }
        self.check_group()
    }

    fn check_proposer_factor(&self) -> Result<(), ConfigError> {
        let (named, names) = (proposer_factor::names(), self.proposer_factor());
        for (place, name) in names.iter().enumerate() {
            if !(is_program(name) || named.contains(&name.as_str())) || names[..place].contains(name) {
                let named = named.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                let allowed = format!("use `exec:COMMAND`, a program that gives the factors, or {named}, each once");
                return Err(invalid_value("proposer_factor", name, allowed));
            }
        }
        Ok(())
    }

    /// The share of the coefficients of intrinsic rewards that is left in a step.
    pub(crate) fn intrinsic_left(&self, step: u64) -> f64 {
        self.intrinsic_steps.map_or(1.0, |steps| (1.0 - step as f64 / steps as f64).max(0.0))
    }

    /// The names of the proposer factors.
    pub fn proposer_factor(&self) -> &[String] {
        self.proposer_factor.as_ref().map_or(&[], Names::as_slice)
    }

    /// Refuses a penalty for a reward that has none.
    fn check_alpha(&self) -> Result<(), ConfigError> {
        let (Some(alpha), Some(name)) = (self.alpha, self.reward.as_deref()) else { return Ok(()) };
        if rewards::by_name(name).is_some_and(|reward| reward.with_alpha(alpha).is_some()) {
            return Ok(());
        }
        Err(invalid_value("alpha", alpha, format!("leave it out: reward `{name}` has no such penalty")))
    }

    /// Refuses settings under which there are no pairs, and those that pairs, or anything else, would ignore.
    fn check_pairs(&self) -> Result<(), ConfigError> {
        if !self.learn_from.makes_pairs() {
            if self.pairs_per_prompt == PAIRS_PER_PROMPT {
                return Ok(());
            }
            let allowed = "leave it out, or set `learn_from` to `pairs` or `answer_pairs`, which it limits";
            return Err(invalid_value("pairs_per_prompt", self.pairs_per_prompt, allowed));
        }
        if self.zero_advantage == ZeroAdvantage::Keep {
            let allowed = format!("leave it out: `learn_from = \"{}\"` has no samples", self.learn_from.name());
            return Err(invalid_value("zero_advantage", "keep", allowed));
        }
        if self.learn_from == LearnFrom::Pairs && self.group_size < 2 {
            let allowed = "`learn_from = \"pairs\"` needs at least `2`: a right attempt and a wrong one";
            return Err(invalid_value("group_size", self.group_size, allowed));
        }
        Ok(())
    }

    /// Refuses to train again on what is not weighed by advantages, and limits that make no sense.
    fn check_self_imitation(&self) -> Result<(), ConfigError> {
        let Some(own) = &self.self_imitation else { return Ok(()) };
        if self.learn_from != LearnFrom::Advantages {
            let allowed = "use `advantages`, by which attempts are trained on again, or leave `self_imitation` out";
            return Err(invalid_value("learn_from", self.learn_from.name(), allowed));
        }
        if !self.learns(Part::Solution, Role::SOLVER) {
            let allowed =
                "use a weight above `0`, by which attempts are trained on again, or leave `self_imitation` out";
            return Err(invalid_value("solver_weight", self.solver_weight, allowed));
        }
        own.check()
    }

    /// Refuses credit where solvers have no advantages that it adds to: alone, privileged credit makes training collapse, and what else is learned
    /// from takes a positive reward for a right answer.
    fn check_credit(&self) -> Result<(), ConfigError> {
        let keys = [("privileged_credit", self.privileged_credit), ("waypoint_credit", self.waypoint_credit)];
        let Some((key, credit)) = keys.into_iter().find(|(_, credit)| *credit != 0.0) else { return Ok(()) };
        let allowed = match self.learn_from {
            LearnFrom::Advantages if self.solver_weight > 0.0 => return Ok(()),
            LearnFrom::Advantages => "use `0`, or a `solver_weight` above `0`",
            _ => "use `0`, or `learn_from = \"advantages\"`: it adds to the advantages of outcomes, never alone",
        };
        Err(invalid_value(key, credit, allowed))
    }

    /// Whether the learner holds the reference of pairs, which is the policy that a step begins with. Where every role that learns is sampled from
    /// the model's own distribution, the log-probabilities of its responses are that reference; an answer that nobody sampled has none.
    pub fn holds_reference(&self) -> bool {
        let is_own = |part: Part, is_at_one: bool| is_at_one || !self.learns(part, part.role());
        let is_sampled = is_own(Part::Proposal, self.proposer_temperature == 1.0)
            && is_own(Part::Solution, self.solves_at_one())
            && self.roles.values().all(|own| own.temperature.is_none_or(|temperature| temperature == 1.0))
            && (self.top_k, self.top_p, self.min_p) == (0, 1.0, 0.0);
        self.learn_from == LearnFrom::AnswerPairs || self.learn_from == LearnFrom::Pairs && !is_sampled
    }

    /// Refuses keys that an objective without rewards would ignore.
    fn check_unrewarded(&self) -> Result<(), ConfigError> {
        let named = [
            ("reward", self.reward.clone()),
            ("advantage", self.advantage.clone()),
            ("proposer_factor", self.proposer_factor().first().cloned()),
            ("alpha", self.alpha.map(|alpha| alpha.to_string())),
            ("intrinsic", self.intrinsic.keys().next().cloned()),
            ("self_imitation", self.self_imitation.map(|_| "set".to_owned())),
            ("sft_samples", (self.sft_samples > 0).then(|| self.sft_samples.to_string())),
            ("learn_from", (self.learn_from != LearnFrom::default()).then(|| self.learn_from.name().to_owned())),
            ("privileged_credit", (self.privileged_credit != 0.0).then(|| self.privileged_credit.to_string())),
            ("waypoint_credit", (self.waypoint_credit != 0.0).then(|| self.waypoint_credit.to_string())),
        ];
        let ignored = named.into_iter().find_map(|(key, value)| Some((key, value?)));
        ignored.map_or(Ok(()), |(key, value)| {
            Err(invalid_value(key, value, "leave it out: this objective uses no rewards"))
        })
    }

    /// How many examples a game needs: those that a prompt shows and one more, as none stands in the prompt of its own question.
    pub const fn example_count(&self) -> usize {
        if self.examples == 0 { 0 } else { self.examples + 1 }
    }

    /// Refuses fewer examples than [`SharedSettings::example_count`].
    pub fn check_examples(&self, found: usize, what: &str) -> Result<(), ConfigError> {
        if found >= self.example_count() {
            return Ok(());
        }
        let allowed = format!("it must be below the number of {what}, which is `{found}`");
        Err(invalid_value("examples", self.examples, allowed))
    }

    /// A group of one is its own mean, so every solver advantage would be 0.
    fn check_group(&self) -> Result<(), ConfigError> {
        let Some(name) = self.advantage.as_deref().filter(|_| self.learn_from == LearnFrom::Advantages) else {
            return Ok(());
        };
        if self.group_size >= 2 || !advantages::by_name(name).is_some_and(AdvantageEstimator::needs_groups) {
            return Ok(());
        }
        let allowed = format!("advantage `{name}` needs at least `2`; raise it, or use advantage `trr`");
        Err(invalid_value("group_size", self.group_size, allowed))
    }
}

/// The value of a key that takes one name or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a name or a list of names")]
pub enum Names {
    /// A name without a list around it.
    One(String),
    /// A list, which may be empty.
    Several(Vec<String>),
}

impl Names {
    /// The names, in their order.
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

/// Whether a method is a program outside.
fn is_program(name: &str) -> bool {
    external::command(name).is_some_and(|command| !command.is_empty())
}

/// How one role is sampled and weighed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleSettings {
    /// Multiplies the advantages of its episodes.
    pub weight: Option<f64>,
    /// Softmax temperature.
    pub temperature: Option<f32>,
    /// Maximum tokens of a response, the end token included.
    pub max_tokens: Option<usize>,
}

/// A stretch of steps in which some roles learn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Names of the roles that learn.
    pub learns: Vec<String>,
    /// How many steps it lasts.
    pub steps: u64,
}

/// Whether the proposer plays, and learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposerMode {
    /// Its samples are trained on, with a weight.
    Train,
    /// It proposes, and its samples are not trained on. Supervised examples still are: both roles share their weights.
    Frozen,
    /// No step samples it. Tasks are those before step 0, and what the game derives.
    None,
}

/// What of the rewarded episodes is learned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearnFrom {
    /// Every episode, weighed by its advantage.
    #[default]
    Advantages,
    /// Rejection fine-tuning: what got a positive reward is imitated, and nothing else is learned from. It is one step of REINFORCE with
    /// rewards 0 and 1, without a baseline.
    Successes,
    /// Preference pairs: what got a positive reward before what got none, to the same prompt.
    Pairs,
    /// SPIN: the executed answer of a task before an attempt that got no positive reward.
    AnswerPairs,
}

impl LearnFrom {
    /// Whether it learns by a loss over pairs.
    pub const fn makes_pairs(self) -> bool {
        matches!(self, Self::Pairs | Self::AnswerPairs)
    }

    /// The value in configurations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Advantages => "advantages",
            Self::Successes => "successes",
            Self::Pairs => "pairs",
            Self::AnswerPairs => "answer_pairs",
        }
    }
}

/// How the losses of a batch's tokens become one number. Samples of advantage 0 count in every denominator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// The sum over all tokens, divided by the number of the solvers': long episodes weigh more (DAPO, arXiv 2503.14476,
    /// equation 12).
    #[default]
    TokenMean,
    /// The mean over an episode's tokens, then over the solvers' episodes: a token of a long episode weighs less (GRPO, arXiv
    /// 2402.03300, equation 3).
    SequenceMean,
    /// The sum over all tokens, divided by the number of the solvers' episodes times the most tokens a response may have: no episode's
    /// length changes what its tokens weigh (Dr. GRPO, arXiv 2503.20783).
    ConstantLength,
}

/// What becomes of samples of advantage 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ZeroAdvantage {
    /// They are left out: a loss that is a multiple of the advantage does not depend on them.
    #[default]
    Drop,
    /// They stay, for losses with a KL term or an entropy bonus.
    Keep,
}

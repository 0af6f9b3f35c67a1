//! Losses: from the log-probabilities and entropies of a batch's tokens to a value and its slopes.
//!
//! Called by `objective` and `preference`. A loss is a formula on plain numbers in f64 and knows no tensors: its slopes go into
//! the backward pass as factors, so whatever the formula, the graph is the same. One file a loss; [`LOSSES`] lists them all.
//! The field's methods are pairs of an advantage (`veriplay-selfplay`) and a loss:
//!
//! | method | advantage | loss | aggregation |
//! |---|---|---|---|
//! | REINFORCE | `reinforce` | `policy_gradient` | `token_mean` |
//! | REINFORCE++ | `reinforce_plus_plus` | `ppo_clip`, `kl` in the reward | `token_mean` |
//! | TRR++ | `trr` | `ppo_clip` | `token_mean` |
//! | GRPO | `grpo` | `ppo_clip`, `kl` k3 in the loss | `sequence_mean` |
//! | DAPO | `grpo` | `ppo_clip` with `clip_high` 0.28 | `token_mean` |
//! | Dr. GRPO | `dr_grpo` | `ppo_clip` | `constant_length` |
//! | ADPO | `adpo` | `ppo_clip`, wider where a label is trusted less | any |
//! | GSPO | `grpo` | `gspo` | `sequence_mean` |
//! | CISPO | `grpo` | `cispo` | `token_mean` |
//! | decoupled PPO, TIS | any | any, with `correction` | any |
//! | SPIRAL | `rae` | `policy_gradient` | any |
//! | RAFT, RFT | any | `rft` | any |
//! | SPEAR | any, with `self_imitation` | `ppo_clip` | any |
//! | NFT | `dr_grpo` or `grpo` | `nft` | `constant_length` |
//!
//! Losses over pairs take those that a game makes, against a reference:
//!
//! | method | loss | the pair's |
//! |---|---|---|
//! | DPO, SPIN | `dpo`, `spin` | order |
//! | CREAM | `cream` | order, which is trusted in part |
//! | ScPO | `scpo` | order, weighed by the margin of votes |
//! | SPPO | `sppo` | shares of wins |
//! | CoPG, PRDP | `copg`, `prdp` | rewards |

mod cispo;
mod copg;
mod correction;
mod cream;
mod dpo;
mod entropy;
mod gspo;
mod kl;
mod nft;
mod policy_gradient;
mod ppo_clip;
mod prdp;
mod rft;
mod scpo;
mod sft;
mod spin;
mod sppo;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use cispo::Cispo;
pub use copg::Copg;
pub use correction::{Correction, SequenceMask, SequenceRatio};
pub use cream::Cream;
pub use dpo::Dpo;
pub(crate) use entropy::{check as check_entropy, token as entropy_term};
pub use gspo::Gspo;
pub use kl::{Kl, KlEstimator, KlPlace};
pub use nft::Nft;
pub use policy_gradient::PolicyGradient;
pub use ppo_clip::PpoClip;
pub use prdp::Prdp;
pub use rft::Rft;
pub use scpo::Scpo;
pub use sft::Sft;
pub use spin::Spin;
pub use sppo::Sppo;

/// The input of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossInput {
    /// Samples with a weight each: the config's `loss`.
    Samples,
    /// Pairs of a chosen and a rejected response: the config's `preference`.
    Pairs,
    /// It is added to a loss over samples, or weighs it: the config's `kl`, `entropy_bonus` and `correction`.
    Rollouts,
}

/// One line of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossEntry {
    /// Its name in the config, and that of its file.
    pub name: &'static str,
    /// Its input.
    pub input: LossInput,
}

/// Makes a config's enum and the lines of the registry from one list.
macro_rules! losses {
    (
        samples { $($(#[$sample_doc:meta])* $sample:ident = $sample_name:literal,)* }
        pairs { $($(#[$pair_doc:meta])* $pair:ident = $pair_name:literal,)* }
        rollouts { $($term_name:literal,)* }
    ) => {
        /// A loss over samples, with its options. In a config: `kind` and the options.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum Loss { $($(#[$sample_doc])* #[serde(rename = $sample_name)] $sample($sample),)* }

        $(impl From<$sample> for Loss {
            fn from(loss: $sample) -> Self {
                Self::$sample(loss)
            }
        })*

        impl Loss {
            /// Its name.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$sample(_) => $sample_name,)* }
            }

            pub(crate) const fn formula(&self) -> &dyn TokenLoss {
                match self { $(Self::$sample(loss) => loss,)* }
            }
        }

        /// A loss over preference pairs, with its options. In a config: `kind` and the options.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum Preference { $($(#[$pair_doc])* #[serde(rename = $pair_name)] $pair($pair),)* }

        impl Preference {
            /// Its name.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$pair(_) => $pair_name,)* }
            }

            pub(crate) const fn formula(&self) -> &dyn PairLoss {
                match self { $(Self::$pair(loss) => loss,)* }
            }
        }

        /// Every loss, and every term that can be added to one.
        pub const LOSSES: &[LossEntry] = &[
            $(LossEntry { name: $sample_name, input: LossInput::Samples },)*
            $(LossEntry { name: $pair_name, input: LossInput::Pairs },)*
            $(LossEntry { name: $term_name, input: LossInput::Rollouts },)*
        ];
    };
}

losses! {
    samples {
        /// REINFORCE.
        PolicyGradient = "policy_gradient",
        /// The clipped surrogate.
        PpoClip = "ppo_clip",
        /// Importance sampling with a weight that both bounds hold.
        Cispo = "cispo",
        /// The clipped surrogate on ratios of whole responses.
        Gspo = "gspo",
        /// Supervised fine-tuning.
        Sft = "sft",
        /// Rejection-sampling fine-tuning.
        Rft = "rft",
        /// Negative-aware fine-tuning: wrong answers teach too.
        Nft = "nft",
    }
    pairs {
        /// Direct preference optimisation.
        Dpo = "dpo",
        /// Self-play fine-tuning.
        Spin = "spin",
        /// Self-play preference optimisation, from shares of wins.
        Sppo = "sppo",
        /// Self-consistency preference optimisation, from votes.
        Scpo = "scpo",
        /// Consistency-regularised preference optimisation, for orders in doubt.
        Cream = "cream",
        /// Contrastive policy gradient, from two rewards.
        Copg = "copg",
        /// Proximal reward difference prediction, a regression.
        Prdp = "prdp",
    }
    rollouts {
        "kl",
        "entropy",
        "correction",
    }
}

impl Loss {
    /// Whether its terms are weighed by advantages, so that each token can have one of its own.
    pub const fn weighs_by_advantage(&self) -> bool {
        matches!(self, Self::PolicyGradient(_) | Self::PpoClip(_) | Self::Cispo(_) | Self::Gspo(_))
    }
}

impl Default for Loss {
    fn default() -> Self {
        Self::PolicyGradient(PolicyGradient::default())
    }
}

impl Default for Preference {
    fn default() -> Self {
        Self::Dpo(Dpo::default())
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenView {
    /// log π, in nats.
    pub(crate) logprob: f64,
    /// The advantage, times the token's weight in the aggregation.
    pub(crate) weight: f64,
    /// π / π_old of the token, or the geometric mean over its response; 1 for a loss that does not need it. Without a `correction` π_old is
    /// π_behaviour.
    pub(crate) ratio: f64,
    /// The share of the attempts at its task that succeeded, where some did and some did not.
    pub(crate) rate: Option<f64>,
    /// Added to the upper clip of the ratio.
    pub(crate) wider_clip: f64,
}

/// Value and slope of a formula at one token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TokenTerm {
    pub(crate) value: f64,
    /// ∂ value / ∂ log π.
    pub(crate) slope: f64,
    pub(crate) clipped: bool,
}

impl TokenTerm {
    /// −weight · log π.
    pub(crate) fn weighted(weight: f64, logprob: f64) -> Self {
        Self { value: -weight * logprob, slope: -weight, clipped: false }
    }

    /// A value that no longer depends on log π.
    const fn clipped(value: f64) -> Self {
        Self { value, slope: 0.0, clipped: true }
    }
}

/// A loss that is a sum over tokens. Formulas are homogeneous in the weight: aggregation is folded into it.
pub(crate) trait TokenLoss {
    /// Whether rollouts must come with behaviour log-probabilities.
    fn needs_behaviour(&self) -> bool {
        false
    }

    /// Whether the ratio is the geometric mean over the response, and not the token's own.
    fn compares_sequences(&self) -> bool {
        false
    }

    /// Whether rollouts without a solve rate count nothing, as those of weight 0.
    fn needs_rate(&self) -> bool {
        false
    }

    /// Whether the options are in their ranges.
    fn check(&self) -> Result<(), BadOption> {
        Ok(())
    }

    /// Whether the batch's loss depends on a rollout of this weight.
    fn keeps(&self, weight: f32) -> bool {
        weight != 0.0
    }

    /// Whether a rollout of this weight makes the batch a bad one.
    fn refuses(&self, _weight: f32) -> bool {
        false
    }

    /// The weight that a kept rollout counts with.
    fn effective_weight(&self, weight: f32) -> f32 {
        weight
    }

    /// Whether the sum is divided by the tokens kept, and not by the batch's normalizer.
    fn means_over_kept(&self) -> bool {
        false
    }

    /// Value and slope at one token.
    fn token(&self, seen: TokenView) -> TokenTerm;
}

/// What a formula sees of a pair. Of two numbers the first is of the chosen response y⁺, the second of the rejected one y⁻; log-probabilities
/// are sums over all tokens of a response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairView {
    /// (log π(y⁺) − log ref(y⁺)) − (log π(y⁻) − log ref(y⁻)), in nats.
    pub(crate) margin: f64,
    /// log π − log ref of each.
    pub(crate) log_ratios: [f64; 2],
    /// log π(y⁺), without the reference.
    pub(crate) logprob: f64,
    /// Number of tokens of y⁺.
    pub(crate) tokens: f64,
    /// How often each wins against a response to the prompt.
    pub(crate) win: [f64; 2],
    /// The reward of each; 0 for a loss that does not need them.
    pub(crate) rewards: [f64; 2],
}

/// Value and slopes of a formula at one pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairTerm {
    pub(crate) value: f64,
    /// ∂ value / ∂ log π(y⁺), the slope of every token of y⁺, and ∂ value / ∂ log π(y⁻).
    pub(crate) slopes: [f64; 2],
}

impl PairTerm {
    /// Of a formula on the margin, with this slope in it.
    const fn of_margin(value: f64, slope: f64) -> Self {
        Self { value, slopes: [slope, -slope] }
    }
}

/// A loss on one pair. The pair's weight multiplies it.
pub(crate) trait PairLoss {
    /// Whether pairs must come with rewards.
    fn needs_rewards(&self) -> bool {
        false
    }

    /// Whether the options are in their ranges.
    fn check(&self) -> Result<(), BadOption>;

    /// Value and slopes at one pair.
    fn pair(&self, seen: &PairView) -> PairTerm;
}

/// −log σ(strength · margin), without overflow on either side.
fn logistic(strength: f64, margin: f64) -> PairTerm {
    let z = strength * margin;
    let value = (-z).max(0.0) + (-z.abs()).exp().ln_1p();
    PairTerm::of_margin(value, -strength / (1.0 + z.exp()))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadOption {
    pub(crate) key: &'static str,
    pub(crate) value: String,
    pub(crate) want: &'static str,
}

impl BadOption {
    fn check(key: &'static str, value: impl ToString, fine: bool, want: &'static str) -> Result<(), Self> {
        if fine { Ok(()) } else { Err(Self { key, value: value.to_string(), want }) }
    }

    fn check_positive(key: &'static str, value: f64) -> Result<(), Self> {
        Self::check(key, value, value.is_finite() && value > 0.0, "a positive number")
    }
}

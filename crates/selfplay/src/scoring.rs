//! From facts to training batches: rewards, advantages, weights, samples, supervised examples.
//!
//! A turn of an episode is a sample, and all turns of an episode have the episode's advantage. They stand side by side under one number, so that
//! the learner can compute them as one sequence.

use std::collections::BTreeMap;

use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use veriplay_core::{Prompt, Reward, Role, Rollout, RolloutId, Sample, TrainBatch};

use crate::advantages::{AdvantageEstimator, AdvantageMemory, AdvantageRow, EpisodeNotes};
use crate::metrics::SolveCount;
use crate::preferences::Response;
use crate::prompt_groups::PromptGroups;
use crate::randomness::{generator, weighted_sample};
use crate::rewards::{self, RewardScheme};
use crate::rollout::Part;
use crate::settings::{Aggregation, LearnFrom, SharedSettings, ZeroAdvantage};
use crate::statistics::mean;

impl Aggregation {
    /// The weight of a token of an episode of `tokens`.
    fn scale(self, tokens: usize) -> f32 {
        match self {
            Self::SequenceMean => 1.0 / tokens.max(1) as f32,
            Self::TokenMean | Self::ConstantLength => 1.0,
        }
    }

    /// The denominator, of episodes of these lengths.
    fn denominator(self, lengths: &[usize], max_tokens: usize) -> usize {
        match self {
            Self::TokenMean => lengths.iter().sum(),
            Self::SequenceMean => lengths.len(),
            Self::ConstantLength => lengths.len() * max_tokens,
        }
    }
}

/// An episode with its reward.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredEpisode {
    /// The part that it plays.
    pub part: Part,
    /// Index among the step's episodes of that part.
    pub index: usize,
    /// Its role.
    pub role: Role,
    /// Its kind of task.
    pub kind: &'static str,
    /// Episodes of one group answered the same question.
    pub group: usize,
    /// The reward; under the control `random`, another episode's. Of an episode whose turns are rewarded apart, their sum.
    pub reward: Reward,
    /// The advantage; of an episode whose turns are rewarded apart, their mean.
    pub advantage: f64,
    /// The advantage times the weight of the role: what the learner multiplies −log p with. 0 for a role that does not learn.
    pub weight: f64,
    /// Each turn, where a script rewarded them apart; else empty, and all turns have the episode's advantage.
    pub turns: Vec<ScoredTurn>,
    /// What the script says of it.
    pub notes: EpisodeNotes,
    /// The weight of its role in this step.
    pub role_weight: f64,
    /// How much further than the loss says its ratios may rise before they are clipped.
    pub wider_clip: f64,
    /// What is added to the weight at each token of its only turn; empty for nothing.
    pub token_advantages: Vec<f32>,
}

/// A turn with a reward of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoredTurn {
    /// The reward.
    pub reward: f64,
    /// The advantage.
    pub advantage: f64,
    /// The advantage times the weight of the role.
    pub weight: f64,
}

impl ScoredEpisode {
    /// With its reward, before its advantage and the weight of its role are known.
    pub(crate) fn new(response: Response, role: Role, kind: &'static str, group: usize, reward: Reward) -> Self {
        let Response { part, index } = response;
        Self {
            part,
            index,
            role,
            kind,
            group,
            reward,
            advantage: 0.0,
            weight: 0.0,
            turns: Vec::new(),
            notes: EpisodeNotes::default(),
            role_weight: 0.0,
            wider_clip: 0.0,
            token_advantages: Vec::new(),
        }
    }

    /// Where it stands in its step.
    pub const fn response(&self) -> Response {
        Response { part: self.part, index: self.index }
    }

    /// The weight of one of its turns.
    fn turn_weight(&self, turn: usize) -> f64 {
        self.turns.get(turn).map_or(self.weight, |turn| turn.weight)
    }

    /// Whether something of it is learned.
    fn has_weight(&self) -> bool {
        self.weight != 0.0 || self.turns.iter().any(|turn| turn.weight != 0.0)
    }

    /// What an estimator sees of it as the batch's episode of that number: a row, or one for each turn.
    fn rows(&self, episode: usize) -> Vec<AdvantageRow> {
        let Self { role, kind, notes, .. } = *self;
        let group = notes.group.unwrap_or(self.group);
        let row = |turn, reward| AdvantageRow { role, kind, group, turn, episode, reward, notes };
        match self.turns.as_slice() {
            [] => vec![row(0, self.reward.total())],
            turns => turns.iter().enumerate().map(|(turn, one)| row(turn, one.reward)).collect(),
        }
    }

    /// What it has in common with the other attempts at its task; `None` of what is no solver's.
    pub(crate) fn task(&self) -> Option<(Role, &'static str, usize)> {
        let group = self.notes.group.unwrap_or(self.group);
        (self.part == Part::Solution).then_some((self.role, self.kind, group))
    }

    /// Whether its role learns in this step.
    pub(crate) fn learns(&self) -> bool {
        self.role_weight > 0.0
    }

    /// Takes the side of a pair that it is on as its advantage, of all its turns: 1 chosen, −1 rejected.
    pub(crate) fn take_side(&mut self, side: f64) {
        self.take(&vec![side; self.turns.len().max(1)]);
    }

    /// Takes the advantages of its rows, times the weight of its role.
    fn take(&mut self, advantages: &[f64]) {
        let weight = self.role_weight;
        self.advantage = mean(advantages).unwrap_or_default();
        self.weight = self.advantage * weight;
        for (turn, advantage) in self.turns.iter_mut().zip(advantages) {
            (turn.advantage, turn.weight) = (*advantage, advantage * weight);
        }
    }
}

pub(crate) struct Scoring<'a> {
    pub(crate) settings: &'a SharedSettings,
    pub(crate) reward: &'a dyn RewardScheme,
    pub(crate) advantage: &'a dyn AdvantageEstimator,
    pub(crate) kinds: &'a [&'static str],
    pub(crate) seed: u64,
    pub(crate) step: u64,
}

impl Scoring<'_> {
    /// Fills in advantages and weights; shuffles the rewards of each (role, kind) batch first where the scheme is a control.
    pub(crate) fn assign_advantages(&self, scored: &mut [ScoredEpisode], memory: &mut AdvantageMemory) {
        if self.reward.shuffled() {
            self.shuffle_rewards(scored);
        }
        let rows: Vec<Vec<AdvantageRow>> = scored.iter().enumerate().map(|(number, one)| one.rows(number)).collect();
        let all: Vec<AdvantageRow> = rows.iter().flatten().copied().collect();
        let advantages = match self.settings.learn_from {
            LearnFrom::Advantages => self.advantage.advantages(&all, memory),
            LearnFrom::Successes => successes(&all, self.settings.top_share),
            // Until they are paired.
            LearnFrom::Pairs | LearnFrom::AnswerPairs => vec![0.0; all.len()],
        };
        let mut left = advantages.as_slice();
        for (scored, rows) in scored.iter_mut().zip(&rows) {
            let (own, others) = left.split_at(rows.len());
            scored.take(own);
            scored.wider_clip = self.advantage.wider_clip(&scored.notes);
            left = others;
        }
    }

    fn shuffle_rewards(&self, scored: &mut [ScoredEpisode]) {
        let mut generator = generator(self.seed, self.step, "shuffled rewards");
        // Roles in the order of their parts: those that every game has, then others.
        let mut roles: Vec<(Part, Role)> = scored.iter().map(|one| (one.part, one.role)).collect();
        roles.sort_unstable_by_key(|(part, role)| (*part, *role != part.role(), *role));
        roles.dedup();
        for (part, role) in roles {
            for kind in self.kinds {
                let is_of_batch = |one: &&mut ScoredEpisode| (one.part, one.role, one.kind) == (part, role, *kind);
                let batch = scored.iter_mut().filter(|one| is_of_batch(one) && one.turns.is_empty());
                rewards::shuffle(batch.map(|scored| &mut scored.reward).collect(), &mut generator);
                shuffle_turns(scored.iter_mut().filter(is_of_batch).collect(), &mut generator);
            }
        }
    }
}

/// 1 for each row to imitate, else 0: those of positive reward among the best of their question, as many as this share of its rows, and at least
/// one. Of equal rewards the earlier rows come first.
fn successes(rows: &[AdvantageRow], share: f64) -> Vec<f64> {
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    rows.iter().enumerate().for_each(|(index, row)| groups.entry(row.question()).or_default().push(index));
    let mut kept = vec![0.0; rows.len()];
    for mut group in groups.into_values() {
        // What rounding adds to a whole number is no row.
        let most = (share * group.len() as f64 - 1e-9).ceil().max(1.0) as usize;
        group.sort_by(|a, b| rows[*b].reward.total_cmp(&rows[*a].reward));
        group.into_iter().take(most).filter(|index| rows[*index].reward > 0.0).for_each(|index| kept[index] = 1.0);
    }
    kept
}

/// The share of solvers' episodes with a positive reward, of each task that some solved and some did not.
fn solve_rates(scored: &[ScoredEpisode]) -> BTreeMap<(Role, &'static str, usize), f32> {
    let mut counts: BTreeMap<_, SolveCount> = BTreeMap::new();
    for one in scored {
        let Some(task) = one.task() else { continue };
        counts.entry(task).or_default().add(one.reward.total() > 0.0);
    }
    let mixed = counts.into_iter().filter(|(_, count)| count.is_learnable());
    mixed.filter_map(|(task, count)| Some((task, count.rate()? as f32))).collect()
}

/// Gives the rewards of turns anew to episodes with as many turns: the control.
fn shuffle_turns(batch: Vec<&mut ScoredEpisode>, generator: &mut impl Rng) {
    let mut by_length: BTreeMap<usize, Vec<&mut ScoredEpisode>> = BTreeMap::new();
    for one in batch.into_iter().filter(|one| !one.turns.is_empty()) {
        by_length.entry(one.turns.len()).or_default().push(one);
    }
    for mut of_length in by_length.into_values() {
        let mut rewards: Vec<(Reward, Vec<ScoredTurn>)> =
            of_length.iter().map(|one| (one.reward.clone(), one.turns.clone())).collect();
        rewards.shuffle(generator);
        for (one, (reward, turns)) in of_length.iter_mut().zip(rewards) {
            (one.reward, one.turns) = (reward, turns);
        }
    }
}

/// What is imitated beside what is rewarded.
pub(crate) struct Imitation<'a> {
    pub(crate) prompt_tokens: &'a [u32],
    pub(crate) tokens: &'a [u32],
    /// The rollout that it is, where its trainer numbers them.
    pub(crate) rollout: Option<RolloutId>,
    /// The role whose answer it is.
    pub(crate) role: Role,
    pub(crate) weight: f64,
}

/// The turns of an episode.
pub(crate) type Turns = [(Prompt, Rollout)];

/// An attempt of a solver in an earlier step that is trained on again.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierAttempt {
    /// Its turns, with the log-probabilities of the policy that sampled them.
    pub turns: Vec<(Prompt, Rollout)>,
    /// Its weight in the loss, above 0.
    pub weight: f64,
    /// Factor of its tokens' losses, of added terms too: below 1 beside fewer attempts of the step's own.
    pub share: f64,
}

/// The step's batch: the turns of every episode of a role that learns whose weight is not 0, or of all if the settings keep those, then the
/// step's supervised examples, with samples of one prompt side by side, and the turns of an episode too. Denominators count all rewarded episodes of [`denominator_episodes`],
/// those of weight 0 included unless only successes are learned from, and no `earlier` attempts.
/// `None` when there is nothing to learn from.
pub(crate) fn train_batch<'a>(
    scored: &[ScoredEpisode],
    settings: &SharedSettings,
    sft: SftRegulariser<'a>,
    imitated: &[Imitation<'a>],
    earlier: &'a [EarlierAttempt],
    (seed, step): (u64, u64),
    turns: impl Fn(&ScoredEpisode) -> &'a Turns,
) -> Option<TrainBatch> {
    let tokens = |turns: &Turns| turns.iter().map(|(_, rollout)| rollout.tokens.len()).sum::<usize>();
    let (aggregation, keep_zeros) = (settings.aggregation, settings.zero_advantage == ZeroAdvantage::Keep);
    let (mut groups, mut numbers, rates) = (PromptGroups::default(), 0_u32.., solve_rates(scored));
    let learned = scored.iter().filter(|one| one.learns() && (keep_zeros || one.has_weight()));
    for (scored, number) in learned.zip(numbers.by_ref()) {
        let turns = turns(scored);
        let scale = aggregation.scale(tokens(turns));
        // Nothing can be learned from a response without tokens, such as a server's that does not tell them.
        let rollouts = turns.iter().map(|(_, rollout)| rollout).enumerate();
        let rollouts = rollouts.filter(|(turn, rollout)| {
            rollout.is_trainable() && (keep_zeros || scored.turns.is_empty() || scored.turn_weight(*turn) != 0.0)
        });
        let rollouts: Vec<(usize, &Rollout)> = rollouts.collect();
        let Some((_, first)) = rollouts.first() else { continue };
        for (turn, rollout) in &rollouts {
            let sample = |prompt| Sample {
                behaviour: (!rollout.logprobs.is_empty()).then(|| rollout.logprobs.clone()),
                scale,
                wider_clip: scored.wider_clip as f32,
                token_advantages: (!scored.token_advantages.is_empty()).then(|| scored.token_advantages.clone()),
                imitate: settings.learn_from == LearnFrom::Successes,
                role: Some(scored.role),
                rollout: rollout.id,
                episode: (rollouts.len() > 1).then_some(number),
                rate: scored.task().and_then(|task| rates.get(&task).copied()),
                ..Sample::new(prompt, rollout.tokens.clone(), scored.turn_weight(*turn) as f32)
            };
            groups.add_behind(&first.prompt_tokens, &rollout.prompt_tokens, sample);
        }
    }
    for (EarlierAttempt { turns, weight, share }, number) in earlier.iter().zip(numbers.by_ref()) {
        let scale = aggregation.scale(tokens(turns)) * *share as f32;
        for (_, rollout) in turns {
            groups.add_behind(&turns[0].1.prompt_tokens, &rollout.prompt_tokens, |prompt| Sample {
                behaviour: Some(rollout.logprobs.clone()),
                scale,
                role: Some(Role::SOLVER),
                episode: (turns.len() > 1).then_some(number),
                ..Sample::new(prompt, rollout.tokens.clone(), *weight as f32)
            });
        }
    }
    for one in imitated {
        let scale = aggregation.scale(one.tokens.len());
        groups.add(one.prompt_tokens, |prompt| Sample {
            scale,
            rollout: one.rollout,
            example_of: Some(one.role),
            ..Sample::example(prompt, one.tokens.to_vec(), one.weight as f32)
        });
    }
    for (turns, number) in sft.draw(seed, step).into_iter().zip(numbers) {
        let scale = aggregation.scale(turns.iter().map(|turn| turn.tokens.len()).sum());
        for turn in turns.iter().filter(|turn| !turn.tokens.is_empty()) {
            let sample = |prompt| Sample {
                scale,
                episode: (turns.len() > 1).then_some(number),
                example_of: Some(if turn.proposed { Role::PROPOSER } else { Role::SOLVER }),
                ..Sample::example(prompt, turn.tokens.clone(), sft.weight as f32)
            };
            groups.add_behind(&turns[0].prompt_tokens, &turn.prompt_tokens, sample);
        }
    }
    let samples = groups.finish();
    if samples.is_empty() {
        return None;
    }
    let (counted, max_tokens) = denominator_episodes(scored, settings);
    let counts = |scored: &&&ScoredEpisode| settings.learn_from == LearnFrom::Advantages || scored.has_weight();
    let mut lengths: Vec<usize> = counted.iter().filter(counts).map(|scored| tokens(turns(scored))).collect();
    if lengths.iter().sum::<usize>() == 0 {
        // Nothing but supervised examples and proposals: the batch's own responses count.
        let episodes = samples.chunk_by(|a, b| a.episode.is_some() && a.episode == b.episode);
        lengths = episodes.map(|turns| turns.iter().map(|turn| turn.response.len()).sum()).collect();
    }
    let denominator = aggregation.denominator(&lengths, max_tokens);
    Some(TrainBatch { samples, normalizer: denominator.max(1) as f64 })
}

/// The episodes that a loss is a mean over, and how long their responses may be: those of solvers and verifiers that learn, and those of
/// proposers where nobody else learns.
fn denominator_episodes<'a>(scored: &'a [ScoredEpisode], settings: &SharedSettings) -> (Vec<&'a ScoredEpisode>, usize) {
    let answers = |one: &&ScoredEpisode| {
        !matches!(one.part, Part::Proposal | Part::Deferred) && settings.learns(one.part, one.role)
    };
    let answers: Vec<&ScoredEpisode> = scored.iter().filter(answers).collect();
    if !answers.is_empty() || settings.learns(Part::Solution, Role::SOLVER) {
        return (answers, settings.solver_max_tokens);
    }
    let proposals = scored.iter().filter(|one| one.part == Part::Proposal);
    (proposals.collect(), settings.proposer_max_tokens)
}

/// A response to imitate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SftExample {
    /// Tokens of the prompt.
    pub prompt_tokens: Vec<u32>,
    /// Tokens of the response, the end token included.
    pub tokens: Vec<u32>,
    /// Neighbours with the same number are the turns of one episode, in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<u32>,
    /// Whether it is a proposer's. Checkpoints say so only where roles have weights of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proposed: bool,
}

impl From<&Rollout> for SftExample {
    fn from(rollout: &Rollout) -> Self {
        Self {
            prompt_tokens: rollout.prompt_tokens.clone(),
            tokens: rollout.tokens.clone(),
            episode: None,
            proposed: false,
        }
    }
}

/// Supervised examples of the start model that every step imitates a little, so that the policy stays near where it began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SftRegulariser<'a> {
    pub(crate) examples: &'a [SftExample],
    /// Responses of each step; the turns of an episode count as one.
    pub(crate) samples: usize,
    /// Weight of each in the loss.
    pub(crate) weight: f64,
}

impl<'a> SftRegulariser<'a> {
    /// The examples of a step, each with the turns of its episode; none when their weight is 0.
    fn draw(self, seed: u64, step: u64) -> Vec<&'a [SftExample]> {
        if self.weight == 0.0 {
            return Vec::new();
        }
        let episodes = self.examples.chunk_by(|a, b| a.episode.is_some() && a.episode == b.episode);
        let all = episodes.map(|turns| (turns, 1.0)).collect();
        weighted_sample(all, self.samples, &mut generator(seed, step, "anchors"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(part: Part, group: usize, reward: f64) -> ScoredEpisode {
        ScoredEpisode::new(Response { part, index: 0 }, part.role(), "kind", group, Reward::single("accuracy", reward))
    }

    #[test]
    fn successes_are_those_of_positive_reward_among_the_top_share_of_their_group() {
        let rewards = [0.5, 1.0, 0.0, 1.0, -0.5, 0.2, 0.0, 0.0];
        let cases = [
            (1.0, [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]),
            (0.75, [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]),
            (0.5, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]),
            (0.25, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
            (1e-300, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
        ];
        let row = |(index, reward): (usize, &f64)| scored(Part::Solution, index / 4, *reward).rows(index)[0];
        let rows: Vec<AdvantageRow> = rewards.iter().enumerate().map(row).collect();
        for (share, want) in cases {
            assert_eq!(successes(&rows, share), want, "{share}");
        }
        assert_eq!(successes(&[], 0.5), [0.0; 0]);
        let seven = vec![rows[1]; 100];
        assert_eq!(successes(&seven, 0.07).iter().sum::<f64>(), 7.0, "0.07 · 100 is above 7 in f64");
    }

    #[test]
    fn solve_rates_are_of_solvers_groups_that_are_neither_all_right_nor_all_wrong() {
        let solver = |group, rewards: [f64; 4]| rewards.map(|reward| scored(Part::Solution, group, reward));
        let groups = [[1.0, 0.0, -0.5, 0.0], [1.0, 0.2, 0.0, 0.0], [0.0; 4], [1.0; 4]];
        let mut all: Vec<ScoredEpisode> =
            (0..).zip(groups).flat_map(|(group, rewards)| solver(group, rewards)).collect();
        all.extend([1.0, 0.0].map(|reward| scored(Part::Proposal, 2, reward)));
        let rates: Vec<(usize, f32)> = solve_rates(&all).into_iter().map(|((.., group), rate)| (group, rate)).collect();
        assert_eq!(rates, [(0, 0.25), (1, 0.5)]);
        assert_eq!(scored(Part::Proposal, 0, 1.0).task(), None);
        assert!(solve_rates(&[]).is_empty());
    }
}

//! The objective of an update: formulas of `losses` on the samples of a batch, or on the margins of its preference pairs, micro-batch by
//! micro-batch.
//!
//! Called by `backward`, which gives log-probabilities and entropies and takes slopes. A micro-batch holds whole responses, and both responses of
//! a pair: the second is bound to the first.

use std::collections::BTreeMap;

use veriplay_core::{LearnError, PreferenceBatch, PreferencePair, Role, Sample, TrainBatch};

use crate::losses::{Correction, Kl, KlPlace, Loss, PairView, Preference, TokenTerm, TokenView, entropy_term};
use crate::network::{MicroBatch, PromptedResponse, Response};

pub(crate) trait Objective: Sync {
    /// The responses that go through the model, each with its prompt.
    fn responses(&self) -> Vec<PromptedResponse<'_>>;

    /// Value and slopes on one micro-batch, from the log-probability and the entropy of every prediction.
    fn evaluate(&self, batch: &MicroBatch, logprobs: &[f32], entropies: &[f32]) -> ObjectiveValue;
}

/// The value and slopes of an objective on one micro-batch.
#[derive(Debug, Default)]
pub(crate) struct ObjectiveValue {
    pub(crate) loss: f64,
    /// ∂ loss / ∂ log-probability of every prediction, then ∂ loss / ∂ entropy of every prediction.
    pub(crate) slopes: Vec<f32>,
    pub(crate) metrics: Metrics,
}

/// Sums and counts by name, whose quotients reports show, and largest values.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Metrics {
    sums: BTreeMap<&'static str, (f64, f64)>,
    largest: BTreeMap<&'static str, f64>,
}

impl Metrics {
    pub(crate) fn add(&mut self, name: &'static str, value: f64) {
        self.add_many(name, value, 1.0);
    }

    /// Adds as many values as `count` says, of this sum.
    pub(crate) fn add_many(&mut self, name: &'static str, sum: f64, count: f64) {
        let entry = self.sums.entry(name).or_default();
        *entry = (entry.0 + sum, entry.1 + count);
    }

    /// Of the values of this name only the largest is kept.
    fn raise(&mut self, name: &'static str, value: f64) {
        let largest = self.largest.entry(name).or_insert(value);
        *largest = largest.max(value);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        other.sums.iter().for_each(|(name, (sum, count))| self.add_many(name, *sum, *count));
        other.largest.iter().for_each(|(name, value)| self.raise(name, *value));
    }

    pub(crate) fn values(&self) -> BTreeMap<&'static str, f64> {
        let means = self.sums.iter().map(|(&name, (sum, count))| (name, sum / count));
        means.chain(self.largest.iter().map(|(&name, &value)| (name, value))).collect()
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct BatchTotals {
    pub(crate) loss: f64,
    /// Σ entropy, one term a prediction.
    pub(crate) entropy: f64,
    pub(crate) count: u64,
    /// Rows that went through the model.
    pub(crate) tokens: u64,
    /// The largest slope, without its sign.
    pub(crate) steepest: f32,
    pub(crate) metrics: Metrics,
}

impl BatchTotals {
    pub(crate) fn new(batch: &MicroBatch, evaluated: &ObjectiveValue, entropies: &[f32]) -> Self {
        Self {
            loss: evaluated.loss,
            entropy: entropies.iter().map(|&e| f64::from(e)).sum(),
            count: batch.predictions.len() as u64,
            tokens: batch.tokens.len() as u64,
            steepest: evaluated.slopes.iter().fold(0.0, |most: f32, slope| most.max(slope.abs())),
            metrics: evaluated.metrics.clone(),
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.loss += other.loss;
        self.entropy += other.entropy;
        self.count += other.count;
        self.tokens += other.tokens;
        self.steepest = self.steepest.max(other.steepest);
        self.metrics.merge(&other.metrics);
    }
}

/// A loss over samples with the terms that are added to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ObjectiveTerms {
    pub(crate) loss: Loss,
    pub(crate) kl: Option<Kl>,
    pub(crate) entropy_bonus: f64,
    pub(crate) correction: Option<Correction>,
}

impl ObjectiveTerms {
    /// Whether rollouts of every weight count.
    const fn has_terms(&self) -> bool {
        self.kl.is_some() || self.entropy_bonus != 0.0
    }

    /// Whether the batch's loss depends on this sample.
    pub(crate) fn keeps(&self, sample: &Sample) -> bool {
        if sample.imitate {
            return sample.weight != 0.0;
        }
        self.has_terms() || self.counts(sample)
    }

    /// Whether the loss itself, without the added terms, depends on this rollout.
    fn counts(&self, sample: &Sample) -> bool {
        let formula = self.loss.formula();
        formula.keeps(sample.weight) && (sample.rate.is_some() || !formula.needs_rate())
    }

    pub(crate) fn needs_behaviour(&self) -> bool {
        let charges = self.kl.is_some_and(|kl| kl.place == KlPlace::Reward);
        self.loss.formula().needs_behaviour() || self.correction.is_some() || charges
    }

    fn prepare<'a>(&self, index: usize, sample: &'a Sample, scale: f64) -> Result<LossSample<'a>, LearnError> {
        let weight = if sample.imitate { sample.weight } else { self.loss_weight(index, sample)? };
        let factor = |x: f32| f64::from((f64::from(x) * f64::from(sample.scale) * scale) as f32);
        let (weight, unit) = (factor(weight), factor(1.0));
        let mut row = LossSample { sample, weight, unit, behaviour: &[], reference: &[], shift: Vec::new() };
        if !sample.imitate {
            self.attach_logprobs(index, &mut row)?;
        }
        if let Some(own) = &sample.token_advantages {
            if !self.loss.weighs_by_advantage() {
                let what =
                    format!("sample {index} has advantages of tokens, which the loss `{}` ignores", self.loss.name());
                return Err(LearnError::BadBatch(what));
            }
            row.shift.resize(own.len(), 0.0);
            row.shift.iter_mut().zip(own).for_each(|(shift, own)| *shift -= f64::from(*own));
        }
        Ok(row)
    }

    /// Gives a rollout the log-probabilities under other policies that its terms need.
    fn attach_logprobs(&self, index: usize, row: &mut LossSample<'_>) -> Result<(), LearnError> {
        let missing = |what, loss, hint| LearnError::Missing { index, what, loss, hint };
        if self.needs_behaviour() {
            let loss = match self.correction {
                _ if self.loss.formula().needs_behaviour() => self.loss.name(),
                Some(_) => "correction",
                None => "kl",
            };
            const HINT: &str = "keep those that sampling gives, or mark what nobody sampled as `imitate`";
            let found = row.sample.behaviour.as_deref();
            row.behaviour = found.ok_or_else(|| missing("behaviour log-probabilities", loss, HINT))?;
        }
        let Some(kl) = self.kl else { return Ok(()) };
        const HINT: &str = "hold a reference in the learner, or give them with the sample";
        let found = row.sample.reference.as_deref();
        row.reference = found.ok_or_else(|| missing("reference log-probabilities", "kl", HINT))?;
        if kl.place == KlPlace::Reward {
            row.shift = Kl::to_go(row.behaviour, row.reference);
            row.shift.iter_mut().for_each(|shift| *shift *= kl.coefficient);
        }
        Ok(())
    }

    /// The weight of a rollout in the loss: 0 where only the added terms use the sample.
    fn loss_weight(&self, index: usize, sample: &Sample) -> Result<f32, LearnError> {
        let formula = self.loss.formula();
        if formula.refuses(sample.weight) {
            let what =
                format!("sample {index} has weight `{}`, which the loss `{}` refuses", sample.weight, self.loss.name());
            return Err(LearnError::BadBatch(what));
        }
        Ok(if self.counts(sample) { formula.effective_weight(sample.weight) } else { 0.0 })
    }
}

/// A token under the learner, under the policy that its loss compares the learner with, and under the one that sampled it: log-probabilities in
/// nats. The first stands for those that are not known.
#[derive(Debug, Clone, Copy)]
struct TokenLogprobs {
    now: f64,
    old: f64,
    behaviour: f64,
}

/// What the tokens of a response say together.
#[derive(Debug, Clone, Copy, Default)]
struct ResponseView {
    tokens: f64,
    /// Σ log π − log π_old.
    moved: f64,
    /// Σ log π_old − log π_behaviour.
    mismatch: f64,
    /// Whether the mask drops it from the loss.
    dropped: bool,
}

/// A sample with everything its tokens' terms are made of.
#[derive(Debug)]
struct LossSample<'a> {
    sample: &'a Sample,
    /// The weight, and 1, each times the factor of aggregation and normalizer.
    weight: f64,
    unit: f64,
    /// Empty where they are not needed.
    behaviour: &'a [f32],
    reference: &'a [f32],
    /// Subtracted from the advantage of each token; empty for none.
    shift: Vec<f64>,
}

pub(crate) struct SampleObjective<'a> {
    terms: ObjectiveTerms,
    rows: BTreeMap<usize, LossSample<'a>>,
}

impl<'a> SampleObjective<'a> {
    /// Of the samples that count.
    pub(crate) fn new(terms: ObjectiveTerms, batch: &'a TrainBatch) -> Result<Self, LearnError> {
        let kept: Vec<(usize, &Sample)> = batch.samples.iter().enumerate().filter(|(_, s)| terms.keeps(s)).collect();
        let scale = 1.0 / normalizer(&terms, batch, &kept);
        let mut rows = kept
            .into_iter()
            .map(|(i, sample)| Ok((i, terms.prepare(i, sample, scale)?)))
            .collect::<Result<BTreeMap<_, _>, LearnError>>()?;
        if let Some(kl) = terms.kl.filter(|kl| kl.place == KlPlace::Reward) {
            charge_later_turns(kl, &mut rows);
        }
        Ok(Self { terms, rows })
    }

    fn compare(&self, row: &LossSample<'_>, at: usize, logprob: f32) -> TokenLogprobs {
        let now = f64::from(logprob);
        let behaviour = row.behaviour.get(at).map_or(now, |&b| f64::from(b));
        let own = row.sample.old.as_ref().map_or(now, |old| f64::from(old[at]));
        TokenLogprobs { now, old: if self.terms.correction.is_some() { own } else { behaviour }, behaviour }
    }

    /// Every response of the micro-batch that has a behaviour policy; none where nothing looks at whole responses.
    fn view_responses(
        &self,
        batch: &MicroBatch,
        logprobs: &[f32],
        metrics: &mut Metrics,
    ) -> BTreeMap<usize, ResponseView> {
        let mut views: BTreeMap<usize, ResponseView> = BTreeMap::new();
        let mask = self.terms.correction.and_then(|correction| correction.mask);
        if mask.is_none() && !self.terms.loss.formula().compares_sequences() {
            return views;
        }
        for (&(index, at), &logprob) in batch.origins.iter().zip(logprobs) {
            let row = &self.rows[&index];
            if !row.behaviour.is_empty() {
                let TokenLogprobs { now, old, behaviour } = self.compare(row, at, logprob);
                let view = views.entry(index).or_default();
                view.tokens += 1.0;
                view.moved += now - old;
                view.mismatch += old - behaviour;
            }
        }
        if let Some(mask) = mask {
            for view in views.values_mut() {
                view.dropped = mask.drops(view.mismatch, view.tokens);
                metrics.add("rollout_corr/rollout_rs_seq_masked_fraction", f64::from(u8::from(view.dropped)));
            }
        }
        views
    }

    /// The factor of all that a token of a rollout adds to the loss.
    fn correct(&self, seen: TokenLogprobs, of_response: Option<&ResponseView>, metrics: &mut Metrics) -> f64 {
        let Some(correction) = self.terms.correction else { return 1.0 };
        let apart = seen.old - seen.behaviour;
        metrics.add("rollout_corr/logprob_abs_diff_mean", apart.abs());
        metrics.raise("rollout_corr/logprob_abs_diff_max", apart.abs());
        // Beyond every cap, and its square a number.
        let bounded = apart.clamp(-20.0, 20.0);
        metrics.add("rollout_corr/kl", -apart);
        metrics.add("rollout_corr/k3_kl", bounded.exp_m1() - bounded);
        metrics.add("rollout_corr/chi2_token", (2.0 * bounded).exp_m1());
        let ratio = bounded.exp();
        let weight = correction.weight(ratio);
        if correction.cap.is_some() {
            metrics.add("rollout_corr/rollout_is_mean", weight);
            metrics.add("rollout_corr/rollout_is_ratio_fraction_high", f64::from(u8::from(weight < ratio)));
        }
        if of_response.is_some_and(|view| view.dropped) { 0.0 } else { weight }
    }

    /// `of_response` is what a loss that compares whole responses looks at.
    fn token(
        &self,
        row: &LossSample<'_>,
        at: usize,
        seen: TokenLogprobs,
        of_response: Option<&ResponseView>,
        metrics: &mut Metrics,
    ) -> TokenTerm {
        let weight = row.weight - row.unit * row.shift.get(at).copied().unwrap_or(0.0);
        let logprob = seen.now;
        let of_response = of_response.filter(|_| self.terms.loss.formula().compares_sequences());
        let ratio = of_response.map_or(seen.now - seen.old, |view| view.moved / view.tokens).exp();
        let rate = row.sample.rate.map(f64::from);
        let mut term = match row.sample.imitate {
            true => TokenTerm::weighted(weight, logprob),
            false => {
                let wider_clip = f64::from(row.sample.wider_clip);
                self.terms.loss.formula().token(TokenView { logprob, weight, ratio, rate, wider_clip })
            }
        };
        if !row.behaviour.is_empty() {
            metrics.add("actor/pg_clipfrac", f64::from(u8::from(term.clipped)));
            metrics.add("actor/ppo_kl", seen.old - seen.now);
        }
        if let (Some(kl), Some(&reference)) = (self.terms.kl, row.reference.get(at)) {
            let divergence = Kl::token(kl.estimator, logprob, f64::from(reference));
            metrics.add("actor/kl_loss", divergence.value);
            if row.sample.role == Some(Role::PROPOSER) {
                metrics.add("actor/proposer_ref_logprob", f64::from(reference));
            }
            if kl.place == KlPlace::Loss {
                term.value += row.unit * kl.coefficient * divergence.value;
                term.slope += row.unit * kl.coefficient * divergence.slope;
            }
        }
        term
    }
}

/// Charges the divergence of later turns to the earlier ones of their episode, which led to them.
fn charge_later_turns(kl: Kl, rows: &mut BTreeMap<usize, LossSample<'_>>) {
    let (mut episode, mut later) = (None, 0.0);
    for row in rows.values_mut().rev() {
        if row.sample.episode.is_none() || row.sample.episode != episode {
            (episode, later) = (row.sample.episode, 0.0);
        }
        row.shift.iter_mut().for_each(|shift| *shift += later);
        let both = row.behaviour.iter().zip(row.reference).skip(row.sample.masked);
        later += kl.coefficient * both.map(|(&b, &r)| f64::from(b) - f64::from(r)).sum::<f64>();
    }
}

fn normalizer(terms: &ObjectiveTerms, batch: &TrainBatch, kept: &[(usize, &Sample)]) -> f64 {
    if !terms.loss.formula().means_over_kept() {
        return batch.normalizer;
    }
    let share = |s: &Sample| f64::from(s.scale) * (s.response.len() - s.masked) as f64;
    let counts = |s: &Sample| !s.imitate && terms.counts(s);
    let total: f64 = kept.iter().filter(|(_, s)| counts(s)).map(|(_, s)| share(s)).sum();
    if total > 0.0 { total } else { batch.normalizer }
}

impl Objective for SampleObjective<'_> {
    fn responses(&self) -> Vec<PromptedResponse<'_>> {
        let both = self.rows.iter().map(|(&index, LossSample { sample, .. })| {
            let Sample { prompt, response, masked, episode, .. } = sample;
            (&**prompt, Response { masked: *masked, episode: *episode, ..Response::new(index, response) })
        });
        both.collect()
    }

    fn evaluate(&self, batch: &MicroBatch, logprobs: &[f32], entropies: &[f32]) -> ObjectiveValue {
        let mut out = ObjectiveValue { slopes: vec![0.0; 2 * logprobs.len()], ..ObjectiveValue::default() };
        let (slopes, entropy_slopes) = out.slopes.split_at_mut(logprobs.len());
        let views = self.view_responses(batch, logprobs, &mut out.metrics);
        for (i, &(index, at)) in batch.origins.iter().enumerate() {
            let (row, of_response) = (&self.rows[&index], views.get(&index));
            let seen = self.compare(row, at, logprobs[i]);
            let term = self.token(row, at, seen, of_response, &mut out.metrics);
            let factor = if row.sample.imitate { 1.0 } else { self.correct(seen, of_response, &mut out.metrics) };
            out.loss += factor * term.value;
            slopes[i] = (factor * term.slope) as f32;
            if self.terms.entropy_bonus != 0.0 && !row.sample.imitate {
                let (value, slope) = entropy_term(self.terms.entropy_bonus, f64::from(entropies[i]));
                out.loss += factor * row.unit * value;
                entropy_slopes[i] = (factor * row.unit * slope) as f32;
            }
        }
        out
    }
}

/// The objective on preference pairs. Response 2i is the chosen one of pair i, and 2i + 1 the rejected one.
pub(crate) struct PairObjective<'a> {
    loss: Preference,
    pairs: &'a [PreferencePair],
    /// Of every pair, of the chosen and of the rejected response.
    references: Vec<[f64; 2]>,
}

impl<'a> PairObjective<'a> {
    /// `held` gives the log-probabilities under the learner's reference of pairs that come without.
    pub(crate) fn new(
        loss: Preference,
        batch: &'a PreferenceBatch,
        held: &BTreeMap<usize, [f64; 2]>,
    ) -> Result<Self, LearnError> {
        let mut references = Vec::with_capacity(batch.pairs.len());
        for (index, pair) in batch.pairs.iter().enumerate() {
            let missing = |what, hint| LearnError::Missing { index, what, loss: loss.name(), hint };
            if pair.rewards.is_none() && loss.formula().needs_rewards() {
                return Err(missing(
                    "rewards",
                    "give those of both responses with the pair, or use a loss over their order",
                ));
            }
            const HINT: &str = "hold a reference in the learner, or give them with the pair";
            let found = pair.reference.or_else(|| held.get(&index).copied());
            references.push(found.ok_or_else(|| missing("reference log-probabilities", HINT))?);
        }
        Ok(Self { loss, pairs: &batch.pairs, references })
    }

    /// What the loss sees of a pair, before the log-probabilities of its tokens are added.
    fn view(&self, index: usize) -> PairView {
        let ([chosen, rejected], pair) = (self.references[index], &self.pairs[index]);
        PairView {
            margin: -(chosen - rejected),
            log_ratios: [-chosen, -rejected],
            logprob: 0.0,
            tokens: pair.chosen.len() as f64,
            win: pair.win.unwrap_or([1.0, 0.0]),
            rewards: pair.rewards.unwrap_or_default(),
        }
    }
}

impl Objective for PairObjective<'_> {
    fn responses(&self) -> Vec<PromptedResponse<'_>> {
        let mut out: Vec<PromptedResponse<'_>> = Vec::with_capacity(2 * self.pairs.len());
        for (i, pair) in self.pairs.iter().enumerate().filter(|(_, pair)| pair.weight != 0.0) {
            for (index, tokens, bound) in [(2 * i, &pair.chosen, false), (2 * i + 1, &pair.rejected, true)] {
                out.push((&pair.prompt, Response { bound, ..Response::new(index, tokens) }));
            }
        }
        out
    }

    fn evaluate(&self, batch: &MicroBatch, logprobs: &[f32], entropies: &[f32]) -> ObjectiveValue {
        let mut views: BTreeMap<usize, PairView> = BTreeMap::new();
        for (&(index, _), &logprob) in batch.origins.iter().zip(logprobs) {
            let view = views.entry(index / 2).or_insert_with(|| self.view(index / 2));
            // A sum of its own: the difference of the two log-ratios has other last bits.
            view.margin += sign(index) * f64::from(logprob);
            view.log_ratios[index % 2] += f64::from(logprob);
            view.logprob += if index % 2 == 0 { f64::from(logprob) } else { 0.0 };
        }
        let mut out =
            ObjectiveValue { slopes: vec![0.0; logprobs.len() + entropies.len()], ..ObjectiveValue::default() };
        let scale = 1.0 / self.pairs.len() as f64;
        let mut slopes: BTreeMap<usize, [f64; 2]> = BTreeMap::new();
        for (&pair, view) in &views {
            let (term, weight) = (self.loss.formula().pair(view), f64::from(self.pairs[pair].weight) * scale);
            out.loss += weight * term.value;
            slopes.insert(pair, term.slopes.map(|slope| weight * slope));
            out.metrics.add("actor/preference_margin", view.margin);
            out.metrics.add("actor/preference_accuracy", f64::from(u8::from(view.margin > 0.0)));
        }
        for (slope, &(index, _)) in out.slopes.iter_mut().zip(&batch.origins) {
            *slope = slopes[&(index / 2)][index % 2] as f32;
        }
        out
    }
}

/// +1 for a chosen response, −1 for a rejected one.
const fn sign(index: usize) -> f64 {
    if index.is_multiple_of(2) { 1.0 } else { -1.0 }
}

//! What must hold of losses whatever the model.

use veriplay_core::{Learn, Role, TrainBatch};
use veriplay_learner::{
    Cispo, Correction, Dpo, Gspo, Kl, KlEstimator, KlPlace, Learner, LearnerOptions, Loss, NamedTensor, PpoClip,
    Preference, Rft, SequenceMask, SequenceRatio, Spin,
};

use super::common::{batch, kl, learner, pairs, with_loss, with_preference};

fn largest_difference(a: &[NamedTensor], b: &[NamedTensor]) -> f32 {
    let pairs = a.iter().zip(b).flat_map(|((_, a), (_, b))| a.iter().zip(b));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

fn largest(gradients: &[NamedTensor]) -> f32 {
    gradients.iter().flat_map(|(_, g)| g).fold(0.0, |m, g| m.max(g.abs()))
}

/// The gradients of a loss on a batch whose behaviour is the policy itself.
fn on_policy(loss: impl Into<Loss>) -> Vec<NamedTensor> {
    let mut learner = learner(with_loss(loss));
    let batch = batch(&learner, 0.0);
    learner.named_gradients(&batch).expect("gradients").1
}

#[test]
fn on_policy_the_clipped_surrogate_and_importance_sampling_are_the_policy_gradient() {
    let plain = on_policy(Loss::default());
    let clipped = PpoClip { dual_clip: Some(3.0), ..PpoClip::default() };
    let others: [Loss; 3] = [clipped.into(), Cispo::default().into(), Gspo::default().into()];
    for loss in others {
        let difference = largest_difference(&on_policy(loss), &plain);
        // Scores of the batch and of one response differ in the last bits, and with them the ratio.
        assert!(difference < 1e-5 * largest(&plain), "{}: {difference}", loss.name());
    }
}

/// Two samples of four tokens, of another policy.
fn of_four_tokens(learner: &Learner) -> TrainBatch {
    let mut batch = batch(learner, 0.3);
    batch.samples.retain(|sample| sample.response.len() == 4);
    assert_eq!(batch.samples.len(), 2);
    batch
}

#[test]
fn advantages_of_tokens_are_added_to_the_weight_token_by_token() {
    let mut learner = learner(with_loss(Loss::default()));
    let mut batch = of_four_tokens(&learner);
    let (own, mut want) = ([0.3, -0.2, 0.1, 0.0], 0.0);
    batch.samples[0].token_advantages = Some(own.to_vec());
    for (sample, own) in batch.samples.iter().zip([own, [0.0; 4]]) {
        let logprobs = learner.score(&sample.prompt, std::slice::from_ref(&sample.response)).expect("scores").remove(0);
        let terms = logprobs.iter().zip(own).map(|(logprob, own)| f64::from(sample.weight + own) * f64::from(*logprob));
        want -= f64::from(sample.scale) * terms.sum::<f64>() / batch.normalizer;
    }
    let (loss, _) = learner.named_gradients(&batch).expect("gradients");
    assert!((loss - want).abs() < 1e-5, "{loss}, want {want}");
}

#[test]
fn equal_advantages_of_all_tokens_are_that_much_more_weight() {
    let plain: [Loss; 4] =
        [Loss::default(), PpoClip::default().into(), Cispo::default().into(), Gspo::default().into()];
    let charged = LearnerOptions { kl: kl(KlEstimator::K1, KlPlace::Reward), ..with_loss(PpoClip::default()) };
    for options in plain.map(with_loss).into_iter().chain([charged]) {
        let name = options.loss.name();
        let mut learner = learner(options);
        let (mut of_tokens, mut of_samples) = (of_four_tokens(&learner), of_four_tokens(&learner));
        of_tokens.samples.iter_mut().for_each(|sample| sample.token_advantages = Some(vec![0.25; 4]));
        of_samples.samples.iter_mut().for_each(|sample| sample.weight += 0.25);
        let [one, other] = [&of_tokens, &of_samples].map(|batch| learner.named_gradients(batch).expect("gradients").1);
        assert!(largest_difference(&one, &other) < 1e-5 * largest(&other), "{name}");
    }
}

#[test]
fn a_clip_that_bites_takes_the_gradient_away() {
    let mut learner = learner(with_loss(PpoClip { clip_low: 0.0, clip_high: 0.0, dual_clip: None }));
    let mut batch = batch(&learner, 0.0);
    batch.samples.retain(|s| !s.imitate);
    for sample in &mut batch.samples {
        // Every token has moved the way its advantage points.
        let moved = -0.5 * sample.weight.signum();
        sample.behaviour.iter_mut().flatten().for_each(|b| *b += moved);
    }
    let update = learner.named_gradients(&batch).expect("gradients");
    assert_eq!(largest(&update.1), 0.0);
    assert_eq!(learner.update(&batch, 1e-3).expect("learns").metrics["actor/pg_clipfrac"], 1.0);
}

const fn corrected(cap: Option<f64>, mask: Option<SequenceMask>) -> Option<Correction> {
    Some(Correction { cap, mask })
}

/// The rollouts of a batch, each token of which its sampler found `apart` nats likelier than the learner does.
fn apart(learner: &Learner, apart: &[f32]) -> TrainBatch {
    let mut batch = batch(learner, 0.0);
    batch.samples.retain(|sample| !sample.imitate);
    for (sample, apart) in batch.samples.iter_mut().zip(apart) {
        sample.behaviour.iter_mut().flatten().for_each(|logprob| *logprob += apart);
    }
    batch
}

#[test]
fn under_a_correction_a_sampler_that_rounds_otherwise_spends_no_clip_range() {
    let loss = PpoClip { clip_low: 0.1, clip_high: 0.1, dual_clip: None };
    let mut corrected = learner(LearnerOptions { correction: corrected(None, None), ..with_loss(loss) });
    // Away from each other the way that the advantages point.
    let batch = apart(&corrected, &[-0.3, 0.3, -0.3, 0.3, -0.3, -0.3]);
    let found = corrected.named_gradients(&batch).expect("gradients").1;
    let want = learner(LearnerOptions::default()).named_gradients(&batch).expect("gradients").1;
    assert!(largest_difference(&found, &want) < 1e-5 * largest(&want));
    let [uncorrected, corrected] = [learner(with_loss(loss)), corrected]
        .map(|mut learner| learner.update(&batch, 0.0).expect("looks").metrics["actor/pg_clipfrac"]);
    assert_eq!((corrected, uncorrected), (0.0, 1.0));
}

#[test]
fn a_response_outside_of_the_band_counts_nothing_and_the_log_counts_it() {
    for (ratio, dropped) in [(SequenceRatio::Geometric, &[0, 3][..]), (SequenceRatio::Product, &[0, 1, 3])] {
        let mask = Some(SequenceMask { ratio, low: 0.8, high: 1.25 });
        let terms = LearnerOptions { entropy_bonus: 0.1, ..LearnerOptions::default() };
        let mut learner = learner(LearnerOptions { correction: corrected(None, mask), ..terms });
        // The second response has four tokens, whose product alone is too far away; ln 1.25 is 0.223.
        let batch = apart(&learner, &[0.3, 0.1, 0.1, -0.3, 0.0, 0.1]);
        let kept = batch.samples.iter().enumerate().filter(|(at, _)| !dropped.contains(at)).map(|(_, one)| one.clone());
        let rest = TrainBatch { samples: kept.collect(), normalizer: batch.normalizer };
        let [found, want] = [&batch, &rest].map(|batch| learner.named_gradients(batch).expect("gradients"));
        assert!((found.0 - want.0).abs() < 1e-5 * want.0.abs().max(1.0), "{} and {}", found.0, want.0);
        assert!(largest_difference(&found.1, &want.1) < 1e-5 * largest(&want.1), "{ratio:?}");
        let metrics = learner.update(&batch, 0.0).expect("looks").metrics;
        let share = dropped.len() as f64 / batch.samples.len() as f64;
        assert_eq!(metrics["rollout_corr/rollout_rs_seq_masked_fraction"], share, "{ratio:?}");
    }
}

#[test]
fn the_log_says_how_far_sampler_and_learner_are_apart() {
    let mut learner = learner(LearnerOptions { correction: corrected(Some(1.2), None), ..LearnerOptions::default() });
    let mut batch = apart(&learner, &[-0.5, 0.0, 0.1]);
    batch.samples.truncate(3);
    let metrics = learner.update(&batch, 0.0).expect("looks").metrics;
    // One token is 0.5 nats likelier to the learner, four are as likely, and two are 0.1 nats less likely.
    let want = [
        ("rollout_corr/logprob_abs_diff_mean", 0.1),
        ("rollout_corr/logprob_abs_diff_max", 0.5),
        ("rollout_corr/kl", -0.3 / 7.0),
        ("rollout_corr/k3_kl", (0.5_f64.exp() + 2.0 * (-0.1_f64).exp() - 3.0 - 0.3) / 7.0),
        ("rollout_corr/chi2_token", (1.0_f64.exp() + 2.0 * (-0.2_f64).exp() - 3.0) / 7.0),
        ("rollout_corr/rollout_is_mean", (1.2 + 4.0 + 2.0 * (-0.1_f64).exp()) / 7.0),
        ("rollout_corr/rollout_is_ratio_fraction_high", 1.0 / 7.0),
        ("actor/ppo_kl", 0.0),
    ];
    for (name, want) in want {
        assert!((metrics[name] - want).abs() < 1e-5, "{name}: {}, want {want}", metrics[name]);
    }
}

#[test]
fn later_updates_compare_with_the_policy_in_front_of_the_first() {
    let options = LearnerOptions { correction: corrected(Some(2.0), None), ..with_loss(PpoClip::default()) };
    let mut learner = learner(options);
    let bare = batch(&learner, 0.5);
    let scored = learner.add_old_logprobs(&bare).expect("scores").into_owned();
    let example = scored.samples.len() - 1;
    for (at, sample) in scored.samples.iter().enumerate() {
        let own = learner.score(&sample.prompt, std::slice::from_ref(&sample.response)).expect("scores").remove(0);
        let near = |old: &Vec<f32>| old.iter().zip(&own).all(|(old, own)| (old - own).abs() < 1e-5);
        assert_eq!(sample.old.as_ref().map(near), (at != example).then_some(true));
    }
    let before = [&bare, &scored].map(|batch| learner.named_gradients(batch).expect("gradients"));
    let difference = largest_difference(&before[0].1, &before[1].1);
    assert!(difference < 1e-5 * largest(&before[0].1), "the first update needs no scores: {difference}");
    let moved = [0, 1].map(|_| learner.update(&scored, 3e-3).expect("learns").metrics["actor/ppo_kl"]);
    assert!(moved[0].abs() < 1e-5 && moved[1].abs() > 1e-4, "{moved:?}");
    assert!(learner.update(&bare, 0.0).expect("looks").metrics["actor/ppo_kl"].abs() < 1e-5);
}

#[test]
fn a_policy_that_is_its_own_reference_has_a_loss_of_ln_2_and_learns() {
    for preference in [Preference::Dpo(Dpo { beta: 0.3 }), Preference::Spin(Spin { lambda: 2.0 })] {
        let mut learner = learner(with_preference(preference));
        learner.hold_reference().expect("holds");
        let mut batch = pairs(&learner, 0.0);
        batch.pairs.iter_mut().for_each(|pair| (pair.reference, pair.weight) = (None, 1.0));
        let update = learner.prefer(&batch, 3e-3).expect("learns");
        assert!((update.loss - std::f64::consts::LN_2).abs() < 1e-6, "{}", update.loss);
        assert!(update.gradient_norm > 0.0);
        let after = (0..5).map(|_| learner.prefer(&batch, 3e-3).expect("learns")).last().expect("ran");
        assert!(after.loss < 0.9 * update.loss, "{} from {}", after.loss, update.loss);
        assert_eq!(after.metrics["actor/preference_accuracy"], 1.0);
        assert!(after.metrics["actor/preference_margin"] > 0.0);
    }
}

fn held(estimator: KlEstimator, place: KlPlace) -> (Learner, TrainBatch) {
    let kl = Some(Kl { coefficient: 0.5, estimator, place });
    let mut learner = learner(LearnerOptions { kl, ..LearnerOptions::default() });
    learner.hold_reference().expect("holds");
    let mut batch = batch(&learner, 0.0);
    batch.samples.retain(|s| !s.imitate);
    batch.samples.iter_mut().for_each(|s| (s.reference, s.weight) = (None, 0.0));
    (learner, batch)
}

#[test]
fn the_divergence_of_a_policy_from_itself_is_zero_and_has_no_gradient() {
    for (estimator, place) in
        [(KlEstimator::K2, KlPlace::Loss), (KlEstimator::K3, KlPlace::Loss), (KlEstimator::K1, KlPlace::Reward)]
    {
        let (mut learner, batch) = held(estimator, place);
        let (loss, gradients) = learner.named_gradients(&batch).expect("gradients");
        assert!(loss.abs() < 1e-6 && largest(&gradients) < 1e-5, "{estimator:?}: {loss} {}", largest(&gradients));
        // The detector of cut gradients knows a minimum from a cut.
        let update = learner.update(&batch, 0.0).expect("a step of nothing");
        assert!(update.metrics["actor/kl_loss"].abs() < 1e-6);
    }
}

#[test]
fn the_reference_tells_the_log_probability_of_proposals_and_of_nothing_else() {
    let (mut learner, mut batch) = held(KlEstimator::K3, KlPlace::Loss);
    for (role, want) in [(None, None), (Some(Role::SOLVER), None), (Some(Role::PROPOSER), Some(-0.5))] {
        let sample = &mut batch.samples[0];
        (sample.role, sample.reference) = (role, Some(vec![-0.5; sample.response.len()]));
        let update = learner.update(&batch, 0.0).expect("looks");
        assert_eq!(update.metrics.get("actor/proposer_ref_logprob").copied(), want);
    }
}

#[test]
fn a_divergence_in_the_loss_pulls_the_policy_back() {
    let (mut learner, batch) = held(KlEstimator::K3, KlPlace::Loss);
    let mut drifting = batch.clone();
    drifting.samples.iter_mut().for_each(|s| s.weight = 1.0);
    (0..10).for_each(|_| drop(learner.update(&drifting, 3e-3).expect("learns")));
    let first = learner.update(&batch, 3e-3).expect("learns").metrics["actor/kl_loss"];
    let last =
        (0..10).map(|_| learner.update(&batch, 3e-3).expect("learns")).last().expect("ran").metrics["actor/kl_loss"];
    assert!(first > 0.01 && last < 0.5 * first, "{last} from {first}");
}

#[test]
fn an_entropy_bonus_raises_the_entropy_in_one_step_and_its_absence_does_not() {
    let entropy_after = |entropy_bonus: f64| {
        let mut learner = learner(LearnerOptions { entropy_bonus, ..LearnerOptions::default() });
        let mut batch = batch(&learner, 0.0);
        batch.samples.retain(|s| !s.imitate);
        batch.samples.iter_mut().for_each(|s| s.weight = if entropy_bonus > 0.0 { 0.0 } else { 1.0 });
        let before = learner.update(&batch, 1e-3).expect("learns").entropy;
        (before, learner.update(&batch, 0.0).expect("looks").entropy)
    };
    let (before, after) = entropy_after(1.0);
    assert!(after > before + 1e-4, "{after} from {before}");
    let (before, after) = entropy_after(0.0);
    assert!(after < before, "imitation makes it certain: {after} from {before}");
}

#[test]
fn rejection_sampling_weighs_what_it_keeps_alike_and_a_batch_without_success_changes_nothing() {
    let mut learner = learner(with_loss(Rft::default()));
    let mut batch = batch(&learner, 0.0);
    batch.samples.retain(|s| !s.imitate);
    let (loss, gradients) = learner.named_gradients(&batch).expect("gradients");
    batch.samples.iter_mut().filter(|s| s.weight > 0.0).for_each(|s| s.weight *= 17.0);
    batch.normalizer = 1.0;
    let (again, same) = learner.named_gradients(&batch).expect("gradients");
    assert_eq!((loss, largest_difference(&gradients, &same)), (again, 0.0));

    let before = learner.weights_bytes().expect("bytes");
    batch.samples.iter_mut().for_each(|s| s.weight = -s.weight.abs());
    assert_eq!(learner.update(&batch, 0.1).expect("a no-op").tokens, 0);
    assert_eq!(before, learner.weights_bytes().expect("bytes"));
}

#[test]
fn the_default_loss_ignores_other_policies_and_imitation_is_the_same_under_every_loss() {
    let mut plain = learner(LearnerOptions::default());
    let batch = batch(&plain, 0.9);
    let mut bare = batch.clone();
    bare.samples.iter_mut().for_each(|s| (s.behaviour, s.reference, s.imitate) = (None, None, false));
    let (a, b) = (plain.named_gradients(&batch).expect("gradients"), plain.named_gradients(&bare).expect("gradients"));
    assert_eq!((a.0, largest_difference(&a.1, &b.1)), (b.0, 0.0));

    let mut examples = batch;
    examples.samples.iter_mut().for_each(|s| (s.imitate, s.weight, s.behaviour) = (true, s.weight.abs(), None));
    let want = plain.named_gradients(&examples).expect("gradients");
    for loss in [Loss::PpoClip(PpoClip::default()), Loss::Cispo(Cispo::default())] {
        let found = learner(with_loss(loss)).named_gradients(&examples).expect("gradients");
        assert_eq!((found.0, largest_difference(&found.1, &want.1)), (want.0, 0.0), "{}", loss.name());
    }
}

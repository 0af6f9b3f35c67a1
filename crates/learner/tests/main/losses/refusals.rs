//! Batches that lack what a loss needs: refused by name, and nothing has changed.

use veriplay_core::{Learn, LearnError, PreferenceBatch, TrainBatch};
use veriplay_learner::{
    Cispo, Copg, Correction, Gspo, KlEstimator, KlPlace, Learner, LearnerOptions, Loss, Nft, PpoClip, Prdp, Preference,
    Rft, Sft, Sppo,
};

use super::common::{batch, kl, learner, pairs, with_loss, with_preference};

#[track_caller]
fn refused(learner: &mut Learner, batch: &TrainBatch, words: &[&str]) {
    let before = (learner.weights_bytes().expect("bytes"), learner.version());
    let error = learner.update(batch, 0.1).expect_err("it lacks something").to_string();
    words.iter().for_each(|word| assert!(error.contains(word), "`{error}` does not say `{word}`"));
    assert!(before == (learner.weights_bytes().expect("bytes"), learner.version()), "something changed");
}

#[test]
fn a_rollout_without_behaviour_is_named() {
    let ratios: [Loss; 4] =
        [PpoClip::default().into(), Cispo::default().into(), Gspo::default().into(), Nft::default().into()];
    for loss in ratios {
        let mut learner = learner(with_loss(loss));
        let mut batch = batch(&learner, 0.1);
        // Without a solve rate `nft` does not depend on it.
        (batch.samples[3].behaviour, batch.samples[3].rate) = (None, Some(0.5));
        refused(&mut learner, &batch, &["sample 3", "behaviour log-probabilities", loss.name(), "imitate"]);
        assert!(matches!(learner.update(&batch, 0.1), Err(LearnError::Missing { index: 3, .. })));
        // One that the loss does not depend on needs none.
        batch.samples[3].weight = 0.0;
        assert!(learner.update(&batch, 1e-3).is_ok());
    }
}

#[test]
fn a_rollout_without_reference_is_named_unless_the_learner_holds_one() {
    let options = LearnerOptions { kl: kl(KlEstimator::K3, KlPlace::Loss), ..LearnerOptions::default() };
    let mut learner = learner(options);
    let mut batch = batch(&learner, 0.1);
    batch.samples[1].reference = None;
    refused(&mut learner, &batch, &["sample 1", "reference log-probabilities", "`kl`", "hold a reference"]);
    learner.hold_reference().expect("holds");
    assert!(learner.update(&batch, 1e-3).is_ok());
}

#[test]
fn a_penalty_in_the_reward_needs_both() {
    let options = LearnerOptions { kl: kl(KlEstimator::K1, KlPlace::Reward), ..LearnerOptions::default() };
    let mut learner = learner(options);
    let mut batch = batch(&learner, 0.1);
    batch.samples[0].behaviour = None;
    refused(&mut learner, &batch, &["sample 0", "behaviour log-probabilities", "`kl`"]);
}

#[test]
fn a_correction_names_what_lacks_the_samplers_log_probabilities() {
    let mut learner = learner(LearnerOptions { correction: Some(Correction::default()), ..LearnerOptions::default() });
    let mut batch = batch(&learner, 0.1);
    batch.samples[1].behaviour = None;
    refused(&mut learner, &batch, &["sample 1", "behaviour log-probabilities", "`correction`"]);
}

#[test]
fn log_probabilities_that_do_not_fit_their_response_are_refused() {
    let mut learner = learner(LearnerOptions::default());
    let mut short = batch(&learner, 0.1);
    short.samples[1].behaviour.as_mut().expect("given").pop();
    refused(&mut learner, &short, &["sample 1", "3 behaviour log-probabilities for 4 tokens"]);
    let mut infinite = batch(&learner, 0.1);
    infinite.samples[2].reference.as_mut().expect("given")[0] = f32::NEG_INFINITY;
    refused(&mut learner, &infinite, &["sample 2", "reference", "-inf"]);
    let mut scaled = batch(&learner, 0.1);
    scaled.samples[0].scale = -1.0;
    refused(&mut learner, &scaled, &["sample 0", "scale `-1`"]);
    let mut rated = batch(&learner, 0.1);
    rated.samples[1].rate = Some(f32::NAN);
    refused(&mut learner, &rated, &["sample 1", "solve rate `NaN`"]);
    let mut example = batch(&learner, 0.1);
    example.samples[6].weight = -1.0;
    refused(&mut learner, &example, &["sample 6", "weight `-1`"]);
}

#[test]
fn advantages_of_tokens_are_refused_alone_of_another_length_and_under_a_loss_without_advantages() {
    let mut plain = learner(LearnerOptions::default());
    let good = {
        let mut batch = batch(&plain, 0.1);
        batch.samples[1].token_advantages = Some(vec![0.1; 4]);
        batch
    };
    for (weight, own, words) in [(-0.7, 3, "wants 4 finite"), (-0.7, 0, "wants 4 finite"), (0.0, 4, "alone")] {
        let mut batch = good.clone();
        (batch.samples[1].weight, batch.samples[1].token_advantages) = (weight, Some(vec![0.1; own]));
        refused(&mut plain, &batch, &["sample 1", "advantages of tokens", words]);
    }
    let mut imitated = good.clone();
    (imitated.samples[1].weight, imitated.samples[1].imitate) = (0.7, true);
    refused(&mut plain, &imitated, &["sample 1", "alone"]);
    let mut rft = learner(with_loss(Rft::default()));
    let mut positive = good.clone();
    positive.samples[1].weight = 0.7;
    refused(&mut rft, &positive, &["sample 1", "advantages of tokens", "`rft`"]);
    assert!(plain.update(&good, 1e-3).is_ok());
}

#[test]
fn supervised_fine_tuning_refuses_what_it_would_have_to_unlearn() {
    let mut learner = learner(with_loss(Sft::default()));
    let batch = batch(&learner, 0.1);
    refused(&mut learner, &batch, &["sample 1", "-0.7", "`sft`"]);
}

#[test]
fn pairs_without_rewards_are_named_under_a_loss_that_needs_them() {
    for (loss, needs) in [
        (Preference::Copg(Copg::default()), true),
        (Preference::Prdp(Prdp::default()), true),
        (Preference::Sppo(Sppo::default()), false),
    ] {
        let mut learner = learner(with_preference(loss));
        let mut batch = pairs(&learner, 1.0);
        batch.pairs.iter_mut().skip(1).for_each(|pair| (pair.rewards, pair.win) = (None, None));
        let found = learner.prefer(&batch, 1e-3).map(|_| ()).map_err(|error| error.to_string());
        let want = format!("sample 1 has no rewards, and the loss `{}` needs them", loss.name());
        assert!(if needs { found.is_err_and(|error| error.starts_with(&want)) } else { found.is_ok() }, "{want}");
    }
}

#[test]
fn pairs_without_reference_are_named_and_bad_pairs_are_refused() {
    let mut learner = learner(LearnerOptions::default());
    let good = pairs(&learner, 1.0);
    type Spoil = fn(&mut PreferenceBatch);
    let cases: [(Spoil, &str); 8] = [
        (|b| b.pairs[2].reference = None, "sample 2 has no reference log-probabilities"),
        (|b| b.pairs[1].chosen.clear(), "the chosen response of pair 1 has an empty"),
        (|b| b.pairs[1].rejected[0] = 110, "the rejected response of pair 1 holds token 110"),
        (|b| b.pairs[0].weight = -1.0, "pair 0 has weight `-1`"),
        (|b| b.pairs[0].rejected = vec![1; 96], "context"),
        (|b| b.pairs[0].reference = Some([f64::NAN, 0.0]), "pair 0 has the reference"),
        (|b| b.pairs[1].win = Some([0.5, f64::NAN]), "pair 1 has the share of wins or the reward `NaN`"),
        (|b| b.pairs[2].rewards = Some([f64::INFINITY, 0.0]), "pair 2 has the share of wins or the reward `inf`"),
    ];
    let before = learner.weights_bytes().expect("bytes");
    for (spoil, words) in cases {
        let mut batch = good.clone();
        spoil(&mut batch);
        let error = learner.prefer(&batch, 0.1).expect_err(words).to_string();
        assert!(error.contains(words), "`{error}` does not say `{words}`");
    }
    assert_eq!(before, learner.weights_bytes().expect("bytes"));
    assert_eq!(learner.prefer(&PreferenceBatch { pairs: Vec::new() }, 0.1).expect("nothing to learn").tokens, 0);
}

//! The methods, each beside its control.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use veriplay_core::{
    Learn, Policy, PreferenceBatch, PreferencePair, Prompt, Role, Sample, Sampling, Status, TrainBatch,
};
use veriplay_learner::{Dpo, Kl, KlEstimator, KlPlace, Learner, LearnerOptions, Loss, PpoClip, Preference, Sft};
use veriplay_selfplay::advantages::{AdvantageMemory, AdvantageRow, EpisodeNotes, by_name};

use super::task::{CANDIDATES, QUESTIONS, prompt, verdict};
use super::{chance_of_success, response, undecided};

/// Whether rewards and preferences are those of the sandbox, or the same ones dealt out anew.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Judge {
    Sandbox,
    Shuffled,
}

/// What a method makes of the chance of success, with real rewards and with shuffled ones.
#[track_caller]
fn improves(method: impl Fn(Judge) -> (f64, f64)) {
    let (before, after) = method(Judge::Sandbox);
    assert!(before < 0.25, "the model begins undecided: {before}");
    assert!(after > 0.6, "from {before} to {after}");
    let (before, control) = method(Judge::Shuffled);
    assert!(control < 0.35, "the control went from {before} to {control}");
}

/// A step of rollouts: a group behind every question, rewards from the sandbox, advantages by name.
fn rollouts(learner: &Learner, advantage: &str, judge: Judge, step: u64) -> TrainBatch {
    let prompts: Vec<Prompt> = QUESTIONS.iter().map(|q| Prompt::new(Role::SOLVER, *q)).collect();
    let sampling = Sampling { group: 32, seed: step, ..Sampling::new(6) };
    let groups = learner.generate(&prompts, &sampling).expect("samples");
    let reward = |group: usize, text: &str| f64::from(u8::from(verdict(QUESTIONS[group], text) == Status::Accepted));
    let rollouts = || groups.iter().enumerate().flat_map(|(group, rollouts)| rollouts.iter().map(move |r| (group, r)));
    let mut rewards: Vec<f64> = rollouts().map(|(group, rollout)| reward(group, &rollout.text)).collect();
    if judge == Judge::Shuffled {
        rewards.shuffle(&mut ChaCha8Rng::seed_from_u64(1000 + step));
    }
    let row = |(group, reward)| AdvantageRow {
        role: Role::SOLVER,
        kind: "induction",
        group,
        turn: 0,
        reward,
        notes: EpisodeNotes::default(),
    };
    let rows: Vec<AdvantageRow> = rollouts().map(|(group, _)| group).zip(rewards).map(row).collect();
    let advantages = by_name(advantage).expect("registered").advantages(&rows, &mut AdvantageMemory::default());
    let samples: Vec<Sample> = rollouts()
        .zip(advantages)
        .map(|((_, rollout), advantage)| Sample {
            behaviour: Some(rollout.logprobs.clone()),
            scale: 1.0 / rollout.tokens.len() as f32,
            ..Sample::new(rollout.prompt_tokens.as_slice().into(), rollout.tokens.clone(), advantage as f32)
        })
        .collect();
    TrainBatch { normalizer: samples.len() as f64, samples }
}

/// Steps of reinforcement, two updates on each step's rollouts: the second is off-policy.
fn reinforce(options: LearnerOptions, advantage: &str, judge: Judge) -> (f64, f64) {
    let mut learner = undecided(options);
    learner.hold_reference().expect("holds");
    let before = chance_of_success(&learner);
    for step in 0..40 {
        let batch = rollouts(&learner, advantage, judge, step);
        (0..2).for_each(|_| drop(learner.update(&batch, 1e-3).expect("learns")));
    }
    (before, chance_of_success(&learner))
}

fn clipped() -> LearnerOptions {
    LearnerOptions {
        loss: Loss::PpoClip(PpoClip { clip_high: 0.28, ..PpoClip::default() }),
        ..LearnerOptions::default()
    }
}

#[test]
fn grpo_learns_from_the_sandbox_and_not_from_shuffled_rewards() {
    let kl = Some(Kl { coefficient: 0.01, estimator: KlEstimator::K3, place: KlPlace::Loss });
    improves(|judge| reinforce(LearnerOptions { kl, ..clipped() }, "grpo", judge));
}

#[test]
fn trr_plus_plus_learns_from_the_sandbox_and_not_from_shuffled_rewards() {
    improves(|judge| reinforce(clipped(), "trr", judge));
}

#[test]
fn several_updates_on_one_batch_clip_ratios_and_learn() {
    const EPOCHS: usize = 4;
    let clipped_in = std::cell::RefCell::new(vec![0.0; EPOCHS]);
    improves(|judge| {
        let mut learner = undecided(clipped());
        let before = chance_of_success(&learner);
        for step in 0..20 {
            let batch = rollouts(&learner, "grpo", judge, step);
            for epoch in 0..EPOCHS {
                let update = learner.update(&batch, 2e-3).expect("learns");
                // Absent where every group got one reward, and there was nothing to learn.
                clipped_in.borrow_mut()[epoch] += update.metrics.get("actor/pg_clipfrac").unwrap_or(&0.0);
            }
        }
        (before, chance_of_success(&learner))
    });
    // Log-probabilities of the rollout stay those of sampling: the first update is on-policy, the others are not.
    let clipped_in = clipped_in.into_inner();
    assert!(clipped_in[0] < 1e-6, "{clipped_in:?}");
    assert!(clipped_in[1..].iter().all(|&share| share > 0.01), "{clipped_in:?}");
}

#[test]
fn supervised_fine_tuning_on_accepted_programs_learns_and_on_programs_at_random_does_not() {
    improves(|judge| {
        let mut learner = undecided(LearnerOptions { loss: Loss::Sft(Sft::default()), ..LearnerOptions::default() });
        let before = chance_of_success(&learner);
        let mut chooser = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..30 {
            let chosen = |question: &&str| {
                let right =
                    |candidate: &&&str| judge == Judge::Shuffled || verdict(question, candidate) == Status::Accepted;
                let able: Vec<&&str> = CANDIDATES.iter().filter(right).collect();
                let candidate = able[chooser.random_range(0..able.len())];
                Sample::new(prompt(&learner, question).into(), response(&learner, candidate), 1.0)
            };
            let samples: Vec<Sample> = QUESTIONS.iter().map(chosen).collect();
            let normalizer = samples.iter().map(|s| s.response.len() as f64).sum();
            learner.update(&TrainBatch { samples, normalizer }, 3e-3).expect("learns");
        }
        (before, chance_of_success(&learner))
    });
}

#[test]
fn dpo_on_pairs_that_execution_told_apart_learns_them_and_on_coin_flips_does_not() {
    let loss_after = |judge| {
        let mut learner =
            undecided(LearnerOptions { preference: Preference::Dpo(Dpo { beta: 0.2 }), ..LearnerOptions::default() });
        learner.hold_reference().expect("holds");
        let mut coin = ChaCha8Rng::seed_from_u64(4);
        for _ in 0..40 {
            let batch = PreferenceBatch { pairs: pairs(&learner, judge, &mut coin) };
            learner.prefer(&batch, 2e-3).expect("learns");
        }
        // The verdict of execution, independent of the method; a rate of 0 only evaluates.
        let truth = PreferenceBatch { pairs: pairs(&learner, Judge::Sandbox, &mut coin) };
        let found = learner.prefer(&truth, 0.0).expect("looks");
        (found.loss, found.metrics["actor/preference_accuracy"])
    };
    // It begins at ln 2 = 0.69.
    let (loss, accuracy) = loss_after(Judge::Sandbox);
    assert!(loss < 0.25 && accuracy > 0.95, "{loss}, {accuracy}");
    let (loss, accuracy) = loss_after(Judge::Shuffled);
    assert!(loss > 0.5 && accuracy < 0.8, "{loss}, {accuracy}");
}

/// Every accepted program against every other one that is not, for every question; heads or tails decides for the control.
fn pairs(learner: &Learner, judge: Judge, coin: &mut ChaCha8Rng) -> Vec<PreferencePair> {
    let mut pairs = Vec::new();
    for question in QUESTIONS {
        let (right, wrong): (Vec<&str>, Vec<&str>) =
            CANDIDATES.iter().partition(|candidate| verdict(question, candidate) == Status::Accepted);
        for (good, bad) in right.iter().flat_map(|good| wrong.iter().map(move |bad| (good, bad))) {
            let swap = judge == Judge::Shuffled && coin.random::<bool>();
            let (chosen, rejected) = if swap { (bad, good) } else { (good, bad) };
            pairs.push(PreferencePair {
                prompt: prompt(learner, question).into(),
                chosen: response(learner, chosen),
                rejected: response(learner, rejected),
                weight: 1.0,
                reference: None,
                rollouts: None,
            });
        }
    }
    pairs
}

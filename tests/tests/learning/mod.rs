//! Learning on rewards that come from programs which really ran: SFT, DPO, GRPO and TRR++ each improve their own objective on a small
//! task, and the same updates with rewards or preferences dealt out at random do not.
//!
//! The task: behind `a?` to `d?` a tiny model writes an expression, which becomes the body of a program; the verifier runs it in
//! the sandbox on hidden inputs. Before anything is measured the model imitates six expressions without regard to which is right:
//! it then writes each about as often. Everything is seeded; a run of one method takes a second or two.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use veriplay_core::{
    Attempt, IoPair, Learn, Limits, Policy, PreferenceBatch, PreferencePair, Prompt, Provenance, Question, Role,
    Sample, Sampling, Status, Task, TrainBatch, Value,
};
use veriplay_learner::{
    Dpo, Kl, KlEstimator, KlPlace, Learner, LearnerOptions, Loss, ModelConfig, PpoClip, Preference, Sft,
    build_tokenizer,
};
use veriplay_selfplay::advantages::{AdvantageMemory, AdvantageRow, EpisodeNotes, by_name};
use veriplay_tests::python_sandbox;
use veriplay_verifier::{AnswerRequest, judge_answer};

const QUESTIONS: &[&str] = &["a?", "b?", "c?", "d?"];

const CANDIDATES: &[&str] = &["x+1", "x+2", "x*2", "x*x", "x//2", "1-"];

/// What the right program does with the hidden inputs 3, 5 and −4.
fn expected(question: &str) -> [i64; 3] {
    match question {
        "a?" => [5, 7, -2],
        "b?" => [9, 25, 16],
        "c?" => [1, 2, -2],
        _ => [6, 10, -8],
    }
}

/// What became of an expression as the body of a program. The verdict is a pure function of the two, so it is kept.
fn verdict(question: &str, expression: &str) -> Status {
    static KNOWN: Mutex<BTreeMap<(String, String), Status>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (question.to_owned(), expression.to_owned());
    if let Some(status) = known().get(&key) {
        return *status;
    }
    let attempt = Attempt::Program(format!("def f(x):\n    return {expression}"));
    let task = task(question);
    let request = AnswerRequest { task: &task, attempt: &attempt, image: "python", seed: 5, judge_shown: true };
    let status = judge_answer(python_sandbox(), &request).expect("the sandbox works").status;
    known().insert(key, status);
    status
}

fn task(question: &str) -> Task {
    let pair = |(input, output): (i64, i64)| IoPair { input: vec![Value::int(input)], output: Value::int(output) };
    let hidden = [3, 5, -4].into_iter().zip(expected(question)).map(pair).collect();
    let limits = Limits { fuel: 100_000_000, memory_bytes: 128 << 20, ..Limits::small() };
    let (message, reference) = (String::new(), String::new());
    let question = Question::Induction { visible: Vec::new(), hidden, message, reference };
    Task { family: "learning".to_owned(), language: None, question, limits, provenance: Provenance::Seed }
}

fn accepted(question: &str) -> impl Iterator<Item = &'static str> {
    CANDIDATES.iter().copied().filter(move |candidate| verdict(question, candidate) == Status::Accepted)
}

fn prompt(learner: &Learner, question: &str) -> Vec<u32> {
    learner.tokenizer().encode(question).expect("ascii")
}

#[test]
fn the_sandbox_tells_right_expressions_from_wrong_ones_and_from_broken_ones() {
    let right: Vec<Vec<&str>> = QUESTIONS.iter().map(|question| accepted(question).collect()).collect();
    assert_eq!(right, [vec!["x+2"], vec!["x*x"], vec!["x//2"], vec!["x*2"]]);
    assert_eq!(verdict("a?", "x+1"), Status::WrongAnswer);
    assert_eq!(verdict("a?", "1-"), Status::CompileError);
}

/// A model that writes every candidate behind every prompt about equally often.
fn undecided(options: LearnerOptions) -> Learner {
    let tokenizer = build_tokenizer(&[], &[]).expect("the tokens are fine");
    let config = ModelConfig {
        vocab_size: tokenizer.vocab_size(),
        hidden_size: 32,
        num_hidden_layers: 2,
        num_attention_heads: 2,
        num_key_value_heads: 1,
        head_dim: 16,
        intermediate_size: 64,
        max_position_embeddings: 32,
        initializer_range: 0.1,
        ..ModelConfig::default()
    };
    let mut learner = Learner::initialize(config, tokenizer, 5, LearnerOptions::default()).expect("a model");
    let pairs = QUESTIONS.iter().flat_map(|question| CANDIDATES.iter().map(move |candidate| (question, candidate)));
    let batch = answers(&learner, true, pairs);
    (0..60).for_each(|_| drop(learner.update(&batch, 5e-3).expect("learns")));
    // The same weights with other options.
    let config = serde_json::to_string(learner.config()).expect("a config");
    let tokenizer = learner.tokenizer().to_json().expect("a tokenizer");
    Learner::from_bytes(&config, &tokenizer, &learner.weights_bytes().expect("weights"), options).expect("loads")
}

/// Answers to learn: `imitate` does so whatever the loss is.
fn answers<'a>(
    learner: &Learner,
    imitate: bool,
    pairs: impl Iterator<Item = (&'a &'a str, &'a &'a str)>,
) -> TrainBatch {
    let mut batch = TrainBatch { samples: Vec::new(), normalizer: 0.0 };
    for (question, candidate) in pairs {
        let response = response(learner, candidate);
        batch.normalizer += response.len() as f64;
        batch.samples.push(Sample { imitate, ..Sample::new(prompt(learner, question).into(), response, 1.0) });
    }
    batch
}

/// The tokens of an expression and the end token.
fn response(learner: &Learner, text: &str) -> Vec<u32> {
    let mut tokens = learner.tokenizer().encode(text).expect("ascii");
    tokens.push(0);
    tokens
}

/// The chance of writing a right answer, exactly: the sum over the candidates that ran and were accepted, averaged over the
/// questions.
fn chance_of_success(learner: &Learner) -> f64 {
    let chance = |question: &&str| -> f64 {
        let right: Vec<Vec<u32>> = accepted(question).map(|candidate| response(learner, candidate)).collect();
        let scores = learner.score(&prompt(learner, question), &right).expect("scores");
        scores.iter().map(|s| s.iter().map(|&l| f64::from(l)).sum::<f64>().exp()).sum()
    };
    QUESTIONS.iter().map(chance).sum::<f64>() / QUESTIONS.len() as f64
}

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
    let (role, kind, turn, episode) = (Role::SOLVER, "induction", 0, 0);
    let row =
        |(group, reward)| AdvantageRow { role, kind, group, turn, episode, reward, notes: EpisodeNotes::default() };
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
    let loss = Loss::PpoClip(PpoClip { clip_high: 0.28, ..PpoClip::default() });
    LearnerOptions { loss, ..LearnerOptions::default() }
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
            let chosen = QUESTIONS.iter().map(|question| {
                let is_able =
                    |candidate: &&&str| judge == Judge::Shuffled || verdict(question, candidate) == Status::Accepted;
                let able: Vec<&&str> = CANDIDATES.iter().filter(is_able).collect();
                (question, able[chooser.random_range(0..able.len())])
            });
            learner.update(&answers(&learner, false, chosen), 3e-3).expect("learns");
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
            let [chosen, rejected] = [chosen, rejected].map(|text| response(learner, text));
            let (prompt, reference, rollouts) = (prompt(learner, question).into(), None, None);
            let (win, rewards) = (None, None);
            pairs.push(PreferencePair { prompt, chosen, rejected, weight: 1.0, reference, rollouts, win, rewards });
        }
    }
    pairs
}

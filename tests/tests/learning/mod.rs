//! Learning on rewards that come from programs which really ran: SFT, DPO, GRPO and TRR++ each improve their own objective on a small
//! task, and the same updates with rewards or preferences dealt out at random do not.
//!
//! The task: behind `a?` to `d?` a tiny model writes an expression, which becomes the body of a program; the verifier runs it in
//! the sandbox on hidden inputs. Before anything is measured the model imitates six expressions without regard to which is right:
//! it then writes each about as often. Everything is seeded; a run of one method takes a second or two.

mod methods;
mod task;

use veriplay_core::{Learn, Sample, TrainBatch};
use veriplay_learner::{Learner, LearnerOptions, ModelConfig, build_tokenizer};

use task::{CANDIDATES, QUESTIONS, prompt};

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
    let examples: Vec<Sample> = QUESTIONS
        .iter()
        .flat_map(|question| CANDIDATES.iter().map(move |candidate| (question, candidate)))
        .map(|(question, candidate)| {
            Sample::example(prompt(&learner, question).into(), response(&learner, candidate), 1.0)
        })
        .collect();
    let normalizer = examples.iter().map(|s| s.response.len() as f64).sum();
    let batch = TrainBatch { samples: examples, normalizer };
    (0..60).for_each(|_| drop(learner.update(&batch, 5e-3).expect("learns")));
    with_options(&learner, options)
}

/// The same weights with other options.
fn with_options(learner: &Learner, options: LearnerOptions) -> Learner {
    let config = serde_json::to_string(learner.config()).expect("a config");
    let tokenizer = learner.tokenizer().to_json().expect("a tokenizer");
    Learner::from_bytes(&config, &tokenizer, &learner.weights_bytes().expect("weights"), options).expect("loads")
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
        let right: Vec<Vec<u32>> = task::accepted(question).map(|candidate| response(learner, candidate)).collect();
        let scores = learner.score(&prompt(learner, question), &right).expect("scores");
        scores.iter().map(|s| s.iter().map(|&l| f64::from(l)).sum::<f64>().exp()).sum()
    };
    QUESTIONS.iter().map(chance).sum::<f64>() / QUESTIONS.len() as f64
}

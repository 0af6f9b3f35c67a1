//! Rollouts: independence of the batch, errors, and the sampler's distribution.

use veriplay_core::{FinishReason, LengthLimit, Policy, PolicyError, Prompt, Rollout, Sampling};
use veriplay_learner::{Learner, LearnerOptions, ModelConfig, SamplingRequest, TokenSampler, uniform};

use crate::common::{prompt, tiny_config, tokenizer};

fn with(options: LearnerOptions) -> Learner {
    Learner::initialize(tiny_config(), tokenizer(), 7, options).expect("valid")
}

const SAMPLING: Sampling = Sampling {
    temperature: 0.9,
    top_k: 0,
    top_p: 1.0,
    min_p: 0.0,
    max_tokens: 50,
    group: 6,
    seed: 11,
    stop: Vec::new(),
};

fn texts() -> Vec<String> {
    (0..7).map(|i| format!("<D>def f(x):{}", "x+".repeat(i * 2))).collect()
}

fn rollouts(learner: &Learner, sampling: &Sampling) -> Vec<Vec<Rollout>> {
    learner.generate(&texts().iter().map(|t| prompt(t)).collect::<Vec<_>>(), sampling).expect("samples")
}

#[test]
fn a_bound_on_lengths_stands_for_the_context_of_the_model() {
    let answer = |max_length| {
        let learner = with(LearnerOptions { max_length, ..LearnerOptions::default() });
        learner.generate(&[prompt(&"x".repeat(40))], &Sampling::new(20))
    };
    for room in [None, Some(60), Some(1000)] {
        assert!(answer(room).is_ok(), "{room:?}");
    }
    let refused = answer(Some(59)).expect_err("a token too many").to_string();
    let want = "prompt 0 has 40 tokens and its response up to 20, and `learn.options.max_length` allows 59 together, of the 96 that the \
                model's context holds: raise that key, or shorten the prompt or the response";
    assert_eq!(refused, want);
    let asked = prompt(&texts()[0]);
    let tokens = with(LearnerOptions::default()).encode_prompt(&asked).expect("tokens").len();
    let has_room = |max_length| {
        with(LearnerOptions { max_length: Some(max_length), ..LearnerOptions::default() }).has_room(&asked, 20)
    };
    assert!(has_room(tokens + 20) && !has_room(tokens + 19));
}

/// Large enough for threads to share what few rows need: its products, its attention behind long prompts, its draws.
#[test]
fn a_sample_is_the_same_to_the_bit_where_threads_share_a_large_model() {
    let config = ModelConfig {
        vocab_size: 33_000,
        hidden_size: 128,
        head_dim: 64,
        intermediate_size: 512,
        max_position_embeddings: 400,
        ..tiny_config()
    };
    let request = |i: usize| {
        let prompt = (0..250 + 37 * i % 100).map(|t| ((i * 31 + t * 7) % 33_000) as u32).collect();
        SamplingRequest { samples: 3, seed: i as u64, ..SamplingRequest::new(prompt, 4 + i % 3) }
    };
    let requests: Vec<SamplingRequest> = (0..7).map(request).collect();
    let samples = |data_parallel, rollout_rows| {
        let options = LearnerOptions { data_parallel, rollout_rows, ..LearnerOptions::default() };
        let learner = Learner::initialize(config.clone(), tokenizer(), 7, options).expect("valid");
        learner.complete(&requests).expect("samples")
    };
    let alone = samples(1, 1);
    assert_eq!(alone, samples(2, 64));
    assert_eq!(alone, samples(3, 4));
    assert_eq!(alone, samples(4, 1));
}

#[test]
fn a_rollout_holds_to_its_contract() {
    let learner = with(LearnerOptions::default());
    let groups = rollouts(&learner, &Sampling { max_tokens: 60, ..SAMPLING });
    assert_eq!(groups.len(), texts().len());
    for (rollout, text) in groups.iter().zip(texts()).flat_map(|(g, t)| g.iter().map(move |r| (r, t.clone()))) {
        assert_eq!(learner.tokenizer().decode(&rollout.prompt_tokens), text);
        assert_eq!(rollout.tokens.len(), rollout.logprobs.len());
        assert!(rollout.logprobs.iter().all(|l| l.is_finite() && *l <= 0.0));
        let ended = rollout.tokens.last() == Some(&0);
        assert_eq!(rollout.finish, if ended { FinishReason::Stop } else { FinishReason::Length });
        assert!(ended || rollout.tokens.len() == 60);
        assert_eq!(rollout.tokens.iter().filter(|&&t| t == 0).count(), usize::from(ended), "the end token only ends");
        assert_eq!(
            rollout.text,
            learner.tokenizer().decode(&rollout.tokens[..rollout.tokens.len() - usize::from(ended)])
        );
    }
    assert!(groups.iter().flatten().any(|r| r.finish == FinishReason::Stop), "some sample must end by itself");
}

#[test]
fn samples_of_one_prompt_score_the_same_alone_and_together() {
    let learner = with(LearnerOptions::default());
    let group = &rollouts(&learner, &SAMPLING)[3];
    let responses: Vec<Vec<u32>> = group.iter().map(|r| r.tokens.clone()).collect();
    let together = learner.score(&group[0].prompt_tokens, &responses).expect("scores");
    let alone: Vec<Vec<f32>> = responses
        .iter()
        .map(|r| learner.score(&group[0].prompt_tokens, std::slice::from_ref(r)).expect("scores").remove(0))
        .collect();
    assert_eq!(together, alone);
}

#[test]
fn responses_are_scored_behind_the_prompts_of_their_places() {
    let learner = with(LearnerOptions::default());
    let rollout = &rollouts(&learner, &SAMPLING)[3][0];
    let (own, other) = (prompt(&texts()[3]), prompt(&texts()[2]));
    let tokens = rollout.tokens.as_slice();
    let found = learner.score_responses(&[own.clone(), other.clone()], &[tokens, tokens]).expect("scores");
    for (prompt, found) in [&own, &other].into_iter().zip(&found) {
        let encoded = learner.encode_prompt(prompt).expect("tokens");
        let want = learner.score(&encoded, &[tokens.to_vec()]).expect("scores").remove(0);
        assert_eq!(found.len(), want.len());
        assert!(found.iter().zip(&want).all(|(found, want)| (found - want).abs() < 1e-4), "{found:?}, want {want:?}");
    }
    assert_ne!(found[0], found[1]);
    assert!(learner.score_responses(&[own], &[&[1; 1_000]]).is_err(), "it has no room");
}

#[test]
fn a_stop_string_of_the_prompt_or_of_the_call_ends_a_rollout_and_is_no_part_of_its_text() {
    let learner = with(LearnerOptions::default());
    let whole = rollouts(&learner, &SAMPLING)[2].clone();
    let stop = whole.iter().find_map(|rollout| rollout.text.get(5..7)).expect("text").to_owned();
    let of_prompt = prompt(&texts()[2]).with_stop([stop.clone()]);
    let of_call = Sampling { stop: vec![stop.clone()], ..SAMPLING };
    // A sample depends on the place of its prompt.
    let mut prompts: Vec<Prompt> = texts().iter().map(|text| prompt(text)).collect();
    let called = learner.generate(&prompts, &of_call).expect("samples").swap_remove(2);
    prompts[2] = of_prompt;
    let prompted = learner.generate(&prompts, &SAMPLING).expect("samples").swap_remove(2);
    assert_eq!(called, prompted);
    let mut stopped = 0;
    for (rollout, whole) in prompted.iter().zip(&whole) {
        let kept = rollout.tokens.len();
        assert_eq!((&rollout.tokens[..], &rollout.logprobs[..]), (&whole.tokens[..kept], &whole.logprobs[..kept]));
        assert_eq!(rollout.text, whole.text.split(&stop).next().expect("a part"));
        if whole.text.contains(&stop) {
            assert_eq!(rollout.finish, FinishReason::Stop);
            stopped += 1;
        }
    }
    assert!(stopped > 0);
}

#[test]
fn prompts_that_cannot_be_continued_are_named() {
    let learner = with(LearnerOptions::default());
    let generate =
        |text: &str, sampling: &Sampling| learner.generate(&[prompt("fine"), prompt(text)], sampling).map(|_| ());
    match generate(&"x".repeat(90), &SAMPLING) {
        Err(PolicyError::PromptTooLong { index: 1, tokens: 90, response: 50, limit }) => {
            assert_eq!(limit, LengthLimit::of_context(96));
        }
        other => panic!("{other:?}"),
    }
    for (text, word) in [("", "empty"), ("a → b", "`→`"), ("tab\rreturn", "U+000D")] {
        match generate(text, &SAMPLING) {
            Err(PolicyError::Tokenize { index: 1, reason }) => assert!(reason.contains(word), "{reason}"),
            other => panic!("{text:?}: {other:?}"),
        }
    }
    for sampling in [
        Sampling { max_tokens: 0, ..SAMPLING },
        Sampling { temperature: -1.0, ..SAMPLING },
        Sampling { temperature: f32::NAN, ..SAMPLING },
        Sampling { top_p: 0.0, ..SAMPLING },
        Sampling { min_p: 2.0, ..SAMPLING },
        Sampling { stop: vec![String::new()], ..SAMPLING },
    ] {
        assert!(matches!(generate("x", &sampling), Err(PolicyError::Backend(_))));
    }
    assert!(learner.score(&[1], &[vec![]]).is_err());
    assert!(learner.score(&[1], &[vec![500]]).is_err());
    assert!(learner.score(&[1; 90], &[vec![1; 20]]).is_err());
    assert_eq!(learner.generate(&[], &SAMPLING).expect("nothing to do"), Vec::<Vec<Rollout>>::new());
}

#[test]
fn uniform_numbers_are_even_and_never_zero_or_one() {
    let n = 100_000_u64;
    let mut counts = [0_u64; 50];
    for i in 0..n {
        let u = uniform(i % 3, i % 7, i / 7, i % 11);
        assert!(u > 0.0 && u < 1.0);
        counts[(u * 50.0) as usize] += 1;
    }
    // 49 degrees of freedom: 94 is exceeded once in 10,000.
    let expected = n as f64 / 50.0;
    let statistic: f64 = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    assert!(statistic < 94.0, "{counts:?}");
}

#[test]
fn a_token_of_probability_zero_is_never_drawn() {
    let sampler = TokenSampler::default();
    for u in [1e-300, 0.25, 0.5, 1.0 - 1e-16] {
        assert_eq!(sampler.draw(&mut [f32::NEG_INFINITY, 1.0, f32::NEG_INFINITY], u).0, 1);
    }
    let mut wide = vec![f32::NEG_INFINITY; 100];
    wide[37] = 0.0;
    wide[70] = 0.0;
    assert_eq!((sampler.draw(&mut wide.clone(), 0.4).0, sampler.draw(&mut wide, 0.6).0), (37, 70));
}

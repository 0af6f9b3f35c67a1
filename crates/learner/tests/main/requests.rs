//! Requests: nothing but the request and the weights decides what comes, stop strings end it, and its log-probabilities are those of
//! the path that trains.

use proptest::prelude::*;

use veriplay_core::FinishReason;
use veriplay_learner::{
    Continuation, Learner, LearnerOptions, RequestError, SamplingRequest, StopReason, TokenSampler,
};

use crate::common::{tiny_config, tokenizer};

fn with(slots: usize, data_parallel: usize) -> Learner {
    let options = LearnerOptions { rollout_rows: slots, data_parallel, ..LearnerOptions::default() };
    Learner::initialize(tiny_config(), tokenizer(), 7, options).expect("valid")
}

fn samplers() -> impl Strategy<Value = TokenSampler> {
    let plain = TokenSampler::default();
    prop_oneof![
        Just(plain),
        Just(TokenSampler::at(0.0)),
        Just(TokenSampler::at(0.7)),
        Just(TokenSampler { top_k: 9, min_p: 0.1, ..plain }),
        Just(TokenSampler { top_p: 0.8, ..plain }),
    ]
}

fn requests() -> impl Strategy<Value = SamplingRequest> {
    let prompt = prop::collection::vec(0_u32..110, 1..20);
    let stop = prop_oneof![Just(vec![]), Just(vec!["e".to_owned()]), Just(vec!["ret".to_owned(), " x".to_owned()])];
    (prompt, 1_usize..5, 1_usize..40, samplers(), 0_u64..4, stop, any::<bool>()).prop_map(
        |(prompt, samples, max_tokens, sampler, seed, stop, ignore_end)| SamplingRequest {
            prompt,
            samples,
            max_tokens,
            sampler,
            seed,
            stop,
            ignore_end,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_request_gives_the_same_bits_alone_and_in_any_batch_order_and_number_of_slots(
        requests in prop::collection::vec(requests(), 1..9),
        order in any::<u64>(),
        (slots, data_parallel) in (1_usize..9, 1_usize..4),
    ) {
        let plenty = with(64, 1);
        let alone: Vec<Vec<Continuation>> =
            requests.iter().map(|r| plenty.complete(std::slice::from_ref(r)).expect("samples").remove(0)).collect();
        prop_assert_eq!(&alone, &plenty.complete(&requests).expect("samples"));
        let mut at: Vec<usize> = (0..requests.len()).collect();
        at.sort_by_key(|&i| (i as u64 ^ order).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(20));
        let shuffled: Vec<SamplingRequest> = at.iter().map(|&i| requests[i].clone()).collect();
        let together = with(slots, data_parallel).complete(&shuffled).expect("samples");
        for (&i, group) in at.iter().zip(&together) {
            prop_assert_eq!(&alone[i], group, "request {} with {} slots in {} threads", i, slots, data_parallel);
        }
    }

    #[test]
    fn the_first_samples_of_a_larger_group_are_those_of_a_smaller_one(request in requests()) {
        let learner = with(5, 2);
        let more = SamplingRequest { samples: request.samples + 3, ..request.clone() };
        let (few, more) = (learner.complete(&[request]).expect("samples"), learner.complete(&[more]).expect("samples"));
        prop_assert_eq!(&few[0][..], &more[0][..few[0].len()]);
    }
}

#[test]
fn another_seed_and_another_sample_give_other_tokens() {
    let learner = with(8, 1);
    let one = SamplingRequest { samples: 2, ignore_end: true, ..SamplingRequest::new(vec![5, 6, 7], 30) };
    let two = SamplingRequest { seed: 1, ..one.clone() };
    let groups = learner.complete(&[one.clone(), two, one]).expect("samples");
    assert_eq!(groups[0], groups[2]);
    assert_ne!(groups[0][0].tokens, groups[0][1].tokens);
    assert_ne!(groups[0][0].tokens, groups[1][0].tokens);
}

#[test]
fn kept_log_probabilities_are_those_of_the_training_path_however_tokens_were_drawn() {
    let learner = with(3, 1);
    let prompt = vec![3, 1, 4, 1, 5];
    let truncated = TokenSampler { top_k: 12, top_p: 0.9, min_p: 0.01, ..TokenSampler::at(1.3) };
    for sampler in [TokenSampler::default(), TokenSampler::at(0.6), TokenSampler::at(0.0), truncated] {
        let request = SamplingRequest { samples: 4, sampler, ..SamplingRequest::new(prompt.clone(), 25) };
        for sample in learner.complete(&[request]).expect("samples").remove(0) {
            let scored = learner.score(&prompt, std::slice::from_ref(&sample.tokens)).expect("scores").remove(0);
            assert!(scored.iter().zip(&sample.logprobs).all(|(a, b)| (a - b).abs() < 1e-4), "{sampler:?}");
        }
    }
}

/// One long sample without an end, and its text.
fn long(learner: &Learner) -> (SamplingRequest, Continuation, String) {
    let request = SamplingRequest { ignore_end: true, seed: 3, ..SamplingRequest::new(vec![2, 9, 33], 60) };
    let sample = learner.complete(std::slice::from_ref(&request)).expect("samples").remove(0).remove(0);
    let text = learner.text(&sample);
    (request, sample, text)
}

#[test]
fn a_sample_ends_with_the_first_token_after_which_its_text_holds_a_stop_string() {
    let learner = with(4, 1);
    let (request, whole, text) = long(&learner);
    let decode = |n: usize| learner.tokenizer().decode(&whole.tokens[..n]);
    let mut straddling = 0;
    for (from, to) in [(0, 1), (5, 6), (10, 13), (20, 27), (31, 36)] {
        let stop = text.get(from..to).expect("ASCII").to_owned();
        let want = (1..=60).find(|&n| decode(n).contains(&stop)).expect("the text holds it");
        straddling += usize::from(learner.tokenizer().encode(&stop).expect("ASCII").len() > 1);
        let stops = SamplingRequest { stop: vec!["no such text".to_owned(), stop.clone()], ..request.clone() };
        let got = learner.complete(&[stops]).expect("samples").remove(0).remove(0);
        assert_eq!((&got.tokens[..], &got.logprobs[..]), (&whole.tokens[..want], &whole.logprobs[..want]));
        assert_eq!((&got.end, got.finish()), (&StopReason::Stop(stop.clone()), FinishReason::Stop));
        assert_eq!(learner.text(&got), text[..text.find(&stop).expect("there")], "the text is without {stop:?}");
    }
    assert!(straddling >= 2, "some stop string is of several tokens");
}

#[test]
fn an_end_token_ends_a_sample_unless_it_is_ignored_and_the_limit_does_otherwise() {
    let learner = with(4, 1);
    let request = SamplingRequest { samples: 40, ..SamplingRequest::new(vec![2, 9, 33], 60) };
    let ignoring = SamplingRequest { ignore_end: true, ..request.clone() };
    let groups = learner.complete(&[request, ignoring]).expect("samples");
    let (mut ended, mut cut) = (0, 0);
    for (stopping, going) in groups[0].iter().zip(&groups[1]) {
        assert_eq!((going.tokens.len(), &going.end, going.finish()), (60, &StopReason::Length, FinishReason::Length));
        assert_eq!(
            stopping.tokens,
            going.tokens[..stopping.tokens.len()],
            "ignoring the end changes nothing before it"
        );
        match &stopping.end {
            StopReason::Token(token) => {
                ended += 1;
                assert_eq!((stopping.tokens.last(), learner.end_tokens()), (Some(token), &[*token][..]));
                assert!(!learner.text(stopping).contains("<|end|>"));
                assert_eq!(going.tokens.iter().position(|t| t == token), Some(stopping.tokens.len() - 1));
            }
            end => {
                cut += 1;
                assert_eq!((end, stopping.tokens.len()), (&StopReason::Length, 60));
            }
        }
    }
    assert!(ended > 0 && cut > 0, "{ended} ended, {cut} did not");
}

#[test]
fn requests_that_cannot_be_done_are_named_with_their_option() {
    let learner = with(4, 1);
    let fine = SamplingRequest::new(vec![1, 2], 10);
    let sampler = fine.sampler;
    let with_sampler = |sampler: TokenSampler| SamplingRequest { sampler, ..fine.clone() };
    let cases = [
        (SamplingRequest { prompt: vec![], ..fine.clone() }, "prompt"),
        (SamplingRequest { samples: 0, ..fine.clone() }, "samples"),
        (SamplingRequest { max_tokens: 0, ..fine.clone() }, "max_tokens"),
        (SamplingRequest { stop: vec![String::new()], ..fine.clone() }, "stop"),
        (with_sampler(TokenSampler::at(-0.1)), "temperature"),
        (with_sampler(TokenSampler::at(f32::NAN)), "temperature"),
        (with_sampler(TokenSampler::at(f32::INFINITY)), "temperature"),
        (with_sampler(TokenSampler { top_p: 0.0, ..sampler }), "top_p"),
        (with_sampler(TokenSampler { top_p: 1.1, ..sampler }), "top_p"),
        (with_sampler(TokenSampler { top_p: f32::NAN, ..sampler }), "top_p"),
        (with_sampler(TokenSampler { min_p: -0.1, ..sampler }), "min_p"),
        (with_sampler(TokenSampler { min_p: 1.5, ..sampler }), "min_p"),
    ];
    for (request, option) in cases {
        match learner.complete(&[fine.clone(), request]) {
            Err(RequestError::Option { index: 1, key, .. }) => assert_eq!(key, option),
            other => panic!("{option}: {other:?}"),
        }
    }
    let outside = learner.complete(&[SamplingRequest::new(vec![1, 110], 10)]);
    assert!(matches!(outside, Err(RequestError::Vocabulary { index: 0, token: 110, vocabulary: 110 })));
    let long = learner.complete(&[SamplingRequest::new(vec![1; 90], 7)]).map_err(|e| e.to_string());
    assert!(long.expect_err("96 tokens fit").contains("6 tokens at most"));
    assert_eq!(learner.complete(&[SamplingRequest::new(vec![1; 90], 6)]).expect("it just fits").len(), 1);
    assert!(learner.complete(&[]).expect("nothing to do").is_empty());
}

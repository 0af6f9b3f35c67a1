//! What a step trains on: samples, weights, denominators, supervised examples.

use super::*;

#[test]
fn groups_of_equal_rewards_are_left_out_of_the_batch_and_count_in_its_denominator() {
    let script = Script { answer: |_, _| "right", ..Script::of(&["junk"; 4]) };
    let mut state = seeded(0..9);
    state.sft_examples.push(SftExample::from(&rollout("<PD>", "example")));
    let played = play(&table(config()), &mut state, 1, 0, &script);
    let advantages = played.attempts().map(|attempt| attempt.episode.advantage);
    assert!(advantages.chain(played.proposals.iter().map(|one| one.episode.advantage)).all(|one| one == Some(0.0)));
    let batch = played.batch.unwrap();
    assert!(batch.samples.iter().all(|sample| sample.imitate));
    // The solver's loss is a mean over all it wrote.
    assert_eq!(batch.normalizer, 48.0 * 6.0);
}

#[test]
fn a_frozen_proposer_has_advantages_and_is_not_trained() {
    let script = Script::of(&["good 20", "junk", "bad 21", "good 1"]);
    let count = |proposer| {
        let played = play_once(config().with(|c| c.shared.proposer = proposer), &script);
        assert!(played.proposals.iter().all(|one| one.episode.advantage != Some(0.0)));
        let prompts = ["<PD>", "<PA>"].map(|text| rollout(text, "").prompt_tokens);
        played.samples().iter().filter(|sample| prompts.iter().any(|prompt| *sample.prompt == **prompt)).count()
    };
    assert_eq!((count(ProposerMode::Train), count(ProposerMode::Frozen)), (8, 0));
}

#[test]
fn weights_are_advantages_times_the_weight_of_the_role() {
    let played = play_once(config(), &Script::of(&["good 20", "junk", "bad 21", "good 1"]));
    let turns = |role: f64, episode: &veriplay_selfplay::records::EpisodeRecord| {
        let weight = (episode.advantage.unwrap() * role) as f32;
        let tokens = &episode.turns[0].tokens;
        weight == 0.0 || played.samples().iter().any(|sample| sample.response == *tokens && sample.weight == weight)
    };
    assert!(played.proposals.iter().all(|one| turns(0.5, &one.episode)));
    assert!(played.attempts().all(|one| turns(1.0, &one.episode)));
}

#[test]
fn a_role_weighs_nothing_outside_of_its_phases_and_phases_repeat() {
    let script = Script::of(&["good 20", "junk", "bad 21", "good 1"]);
    let phase = |role: &str, steps| Phase { learns: vec![role.to_owned()], steps };
    let game = table(config().with(|c| c.shared.phases = vec![phase("proposer", 2), phase("solver", 1)]));
    for (step, proposers_learn) in [(0, true), (1, true), (2, false), (3, true), (5, false)] {
        let played = play(&game, &mut seeded(0..9), 1, step, &script);
        let wanted = if proposers_learn { Role::PROPOSER } else { Role::SOLVER };
        assert!(!played.samples().is_empty());
        assert!(played.samples().iter().all(|sample| sample.role == Some(wanted)), "step {step}");
    }
}

#[test]
fn supervised_examples_are_imitated_with_their_weight_and_redrawn_each_step() {
    let mut state = seeded(0..9);
    state.sft_examples.extend((0..40).map(|number| SftExample::from(&rollout("<PD>", &format!("example {number}")))));
    let drawn = |config: AbsoluteZeroConfig, step| {
        let played = play(&table(config), &mut state.clone(), 1, step, &Script::of(&["junk"; 4]));
        let examples = played.samples().iter().filter(|sample| sample.imitate);
        examples.map(|sample| (sample.response.clone(), sample.weight)).collect::<Vec<_>>()
    };
    let first = drawn(config(), 0);
    assert_eq!(first.iter().map(|(_, weight)| *weight).collect::<Vec<_>>(), [0.25, 0.25]);
    assert_ne!(first[0], first[1]);
    assert_eq!(first, drawn(config(), 0));
    assert_ne!(first, drawn(config(), 1));
    assert!(drawn(config().with(|c| c.shared.sft_weight = 0.0), 0).is_empty());
    assert_eq!(drawn(config().with(|c| c.shared.sft_samples = 99), 0).len(), 40);
}

#[test]
fn the_turns_of_a_supervised_episode_are_drawn_as_one_example_and_share_its_weight() {
    let mut state = seeded(0..9);
    let turn =
        |prompt, text| SftExample { episode: Some(7), proposed: true, ..SftExample::from(&rollout(prompt, text)) };
    state.sft_examples.extend([turn("<PD>", "one"), turn("<PD>one two", "three")]);
    state.sft_examples.push(SftExample::from(&rollout("<PD>", "alone")));
    let game = table(config().with(|c| (c.shared.aggregation, c.shared.sft_samples) = (Aggregation::SequenceMean, 1)));
    let mut lengths = BTreeSet::new();
    for step in 0..32 {
        let played = play(&game, &mut state.clone(), 1, step, &Script::of(&["junk"; 4]));
        let drawn: Vec<_> = played.samples().iter().filter(|sample| sample.imitate).collect();
        let tokens: usize = drawn.iter().map(|sample| sample.response.len()).sum();
        assert!(drawn.iter().all(|sample| sample.scale == 1.0 / tokens as f32));
        assert!(drawn.iter().all(|sample| sample.episode.is_some() == (drawn.len() == 2)));
        if let [first, later] = &drawn[..] {
            assert_eq!(first.episode, later.episode);
            assert_eq!([first, later].map(|one| one.example_of), [Some(Role::PROPOSER); 2]);
            assert!(later.prompt.len() > first.prompt.len(), "in the order of the episode");
        }
        lengths.insert(drawn.len());
    }
    assert_eq!(lengths, BTreeSet::from([1, 2]));
}

#[test]
fn samples_of_one_prompt_stand_side_by_side() {
    let mut state = seeded(0..9);
    state.sft_examples.push(SftExample::from(&rollout("<PD>", "example")));
    let script = Script::of(&["good 20", "junk", "bad 21", "good 1"]);
    let played = play(&table(config()), &mut state, 1, 0, &script);
    let runs: Vec<Vec<u32>> =
        played.samples().chunk_by(|a, b| a.prompt == b.prompt).map(|run| run[0].prompt.to_vec()).collect();
    assert_eq!(runs.iter().collect::<BTreeSet<_>>().len(), runs.len());
    assert!(played.samples().iter().all(|sample| sample.weight != 0.0 && sample.masked == 0));
}

/// The batch of one step under an aggregation, and the numbers of rewarded solvers' rollouts and of their tokens.
fn aggregated(aggregation: Aggregation, zero_advantage: ZeroAdvantage) -> (TrainBatch, usize, usize) {
    let mut state = seeded(0..9);
    state.sft_examples.push(SftExample::from(&rollout("<PD>", "example")));
    let game =
        table(config().with(|c| (c.shared.aggregation, c.shared.zero_advantage) = (aggregation, zero_advantage)));
    let played = play(&game, &mut state, 1, 0, &Script::fresh(0));
    let lengths: Vec<usize> = played.attempts().map(|one| one.episode.turns[0].tokens.len()).collect();
    (played.batch.unwrap(), lengths.len(), lengths.iter().sum())
}

#[test]
fn aggregations_differ_in_scales_and_denominators_alone() {
    let (token, count, tokens) = aggregated(Aggregation::TokenMean, ZeroAdvantage::Drop);
    assert_eq!(token.normalizer, tokens as f64);
    assert!(token.samples.iter().all(|sample| sample.scale == 1.0));
    let (sequence, ..) = aggregated(Aggregation::SequenceMean, ZeroAdvantage::Drop);
    assert_eq!(sequence.normalizer, count as f64);
    assert!(sequence.samples.iter().all(|sample| sample.scale == 1.0 / sample.response.len() as f32));
    let (constant, ..) = aggregated(Aggregation::ConstantLength, ZeroAdvantage::Drop);
    assert_eq!(constant.normalizer, (count * config().shared.solver_max_tokens) as f64);
    assert_eq!(constant.samples, token.samples);
    let weights = |batch: &TrainBatch| batch.samples.iter().map(|sample| sample.weight).collect::<Vec<_>>();
    assert_eq!(weights(&sequence), weights(&token));
}

#[test]
fn rollouts_bring_their_behaviour_and_supervised_examples_are_imitated() {
    let (batch, ..) = aggregated(Aggregation::TokenMean, ZeroAdvantage::Drop);
    assert!(batch.samples.iter().any(|sample| sample.imitate) && batch.samples.iter().any(|sample| !sample.imitate));
    for sample in &batch.samples {
        let behaviour = sample.behaviour.as_ref().map(Vec::len);
        assert_eq!(behaviour, (!sample.imitate).then_some(sample.response.len()));
        assert!(sample.rate.is_none_or(|rate| !sample.imitate && 0.0 < rate && rate < 1.0));
    }
    assert!(batch.samples.iter().any(|sample| sample.rate.is_some()));
}

#[test]
fn samples_of_advantage_zero_are_kept_where_the_config_says_so() {
    let zeros = |batch: &TrainBatch| batch.samples.iter().filter(|sample| sample.weight == 0.0).count();
    let (dropped, ..) = aggregated(Aggregation::TokenMean, ZeroAdvantage::Drop);
    let (kept, ..) = aggregated(Aggregation::TokenMean, ZeroAdvantage::Keep);
    assert_eq!(zeros(&dropped), 0);
    assert!(zeros(&kept) > 0);
    assert_eq!((kept.samples.len() - zeros(&kept), kept.normalizer), (dropped.samples.len(), dropped.normalizer));
}

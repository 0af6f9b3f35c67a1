//! Whole steps: a scripted policy behind the `Policy` seam, and verdicts read from a table.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use veriplay_core::{Attempt, Digest, Policy, Prompt, Role, Rollout, Scripted, Status, TaskType, TrainBatch, Value};
use veriplay_selfplay::anchors::Anchor;
use veriplay_selfplay::games::absolute_zero::{
    AbsoluteZero, Aggregation, GameConfig, GameState, Origin, ProposalRecord, ProposerMode, ProposerTurn, SampleRef,
    Scored, ScoredSample, SolverRecord, SolverTurn, ZeroAdvantage,
};

use crate::support::{accepted, config, dropped, game, malformed, proposal, refused, rollout, seeds, task, verdict};

/// What the policy writes, and what becomes of it. A proposal is a word and a number, such as `good 7`; an answer is a word.
pub(crate) struct Script {
    /// The proposals of each deduction and abduction batch, and of each induction batch.
    proposals: Vec<String>,
    /// The answer to sample `j` of a prompt.
    answer: fn(&Prompt, usize) -> &'static str,
}

impl Script {
    /// Four good proposals that no other step makes; every second answer is right.
    pub(crate) fn fresh(step: u64) -> Self {
        let proposals = (0..4).map(|index| format!("good {}", 1_000 + 10 * step + index)).collect();
        Self { proposals, answer: |_, sample| ["right", "wrong"][sample % 2] }
    }

    /// No proposals; about half of the prompts are learnable, the others always solved.
    pub(crate) fn half_learnable() -> Self {
        let answer = |prompt: &Prompt, sample| {
            let is_learnable = Digest::of(prompt.text.as_bytes()).as_str() < "8";
            if is_learnable && sample > 0 { "wrong" } else { "right" }
        };
        Self { proposals: Vec::new(), answer }
    }

    fn of(proposals: &[&str]) -> Self {
        Self { proposals: proposals.iter().map(|text| (*text).to_owned()).collect(), ..Self::fresh(0) }
    }
}

impl Script {
    fn policy(&self) -> Scripted {
        let (proposals, answer) = (self.proposals.clone(), self.answer);
        Scripted::new(move |turn| match turn.prompt.role {
            Role::Proposer => proposals[turn.index * turn.sampling.group + turn.sample].clone(),
            Role::Solver | Role::Verifier => answer(turn.prompt, turn.sample).to_owned(),
        })
    }
}

pub(crate) struct Played {
    pub(crate) proposals: Vec<ProposalRecord>,
    pub(crate) turns: Vec<SolverTurn>,
    pub(crate) solutions: Vec<SolverRecord>,
    pub(crate) scored: Scored,
    pub(crate) batch: TrainBatch,
}

/// Generates, extracts and judges the proposals of `turns`, one task type at a time.
pub(crate) fn propose(
    game: &AbsoluteZero,
    state: &GameState,
    turns: &[ProposerTurn],
    script: &Script,
) -> Vec<ProposalRecord> {
    let mut first = 0;
    let mut records = Vec::new();
    for of_type in turns.chunk_by(|a, b| a.task_type == b.task_type) {
        let prompts: Vec<Prompt> = of_type.iter().map(|turn| turn.prompt.clone()).collect();
        let sampling = game.sampling(Role::Proposer, of_type[0].rollouts, 0, 0);
        let rollouts = script.policy().generate(&prompts, &sampling).unwrap();
        let written =
            (first..).zip(rollouts).flat_map(|(turn, group)| group.into_iter().map(move |rollout| (turn, rollout)));
        records.extend(written.map(|(turn, rollout)| proposal_record(turn, of_type[0].task_type, rollout)));
        first += of_type.len();
    }
    let known = game.known(state, records.iter().map(|record| &record.attempt));
    records.iter_mut().zip(known).for_each(|(record, known)| record.known = known);
    records
}

fn proposal_record(turn: usize, task_type: TaskType, rollout: Rollout) -> ProposalRecord {
    let (word, number) = rollout.text.split_once(' ').unwrap_or((&rollout.text, "0"));
    let number: i64 = number.parse().unwrap();
    let (attempt, judged) = match word {
        "good" => (Attempt::Proposal(proposal(task_type, number)), accepted(task(task_type, number))),
        "bad" => (Attempt::Proposal(proposal(task_type, number)), refused(Status::Invalid)),
        "lost" => (Attempt::Proposal(proposal(task_type, number)), Err(dropped())),
        _ => (malformed(), refused(Status::Malformed)),
    };
    ProposalRecord { turn, task_type, rollout, attempt, known: false, judged }
}

fn solver_record(turn: usize, rollout: Rollout) -> SolverRecord {
    let value = Attempt::Value(Value::None);
    let (attempt, judged) = match rollout.text.as_str() {
        "right" => (value, Ok(verdict(Status::Accepted))),
        "wrong" => (value, Ok(verdict(Status::WrongAnswer))),
        "lost" => (value, Err(dropped())),
        _ => (malformed(), Ok(verdict(Status::Malformed))),
    };
    SolverRecord { turn, rollout, attempt, judged }
}

/// One step, as the loop of the cli makes it.
pub(crate) fn play_step(game: &AbsoluteZero, state: &mut GameState, seed: u64, step: u64, script: &Script) -> Played {
    let proposals = propose(game, state, &game.proposer_turns(state, seed, step), script);
    let turns = game.solver_turns(state, seed, step, &proposals);
    let prompts: Vec<Prompt> = turns.iter().map(|turn| turn.prompt.clone()).collect();
    let rollouts =
        script.policy().generate(&prompts, &game.sampling(Role::Solver, game.config().group, seed, step)).unwrap();
    let written =
        rollouts.into_iter().enumerate().flat_map(|(turn, group)| group.into_iter().map(move |one| (turn, one)));
    let solutions: Vec<SolverRecord> = written.map(|(turn, rollout)| solver_record(turn, rollout)).collect();
    let scored = game.score(state, seed, step, &proposals, &turns, &solutions);
    let batch = game.train_batch(state, seed, step, &scored, &proposals, &solutions);
    Played { proposals, turns, solutions, scored, batch }
}

fn seeded(numbers: std::ops::Range<i64>) -> GameState {
    let mut state = GameState::new();
    state.add_seeds(seeds(numbers));
    state
}

/// The reward of each proposal of `task_type`, in order; `None` where it is not paid.
fn paid(played: &Played, task_type: TaskType) -> Vec<Option<f64>> {
    let of_type = played.proposals.iter().enumerate().filter(|(_, record)| record.task_type == task_type);
    let reward = |index| {
        let mut samples = played.scored.samples.iter();
        samples.find(|sample| sample.source == SampleRef::Proposal(index)).map(|sample| sample.reward.total())
    };
    of_type.map(|(index, _)| reward(index)).collect()
}

fn proposer_metrics(played: &Played) -> &veriplay_selfplay::games::absolute_zero::RoleMetrics {
    played.scored.metrics.of(Role::Proposer, TaskType::Deduction).unwrap()
}

#[test]
fn a_whole_step_pays_both_roles_on_all_types() {
    let mut state = seeded(0..9);
    let played = play_step(&game(config()), &mut state, 1, 0, &Script::of(&["good 20", "junk", "bad 21", "good 1"]));
    for task_type in TaskType::ALL {
        // Half of the rollouts solve the first; the last is a seed.
        assert_eq!(paid(&played, task_type), [Some(0.5), Some(-0.5), Some(-0.5), Some(-0.25)], "{task_type:?}");
        assert_eq!(state.buffer(task_type).entries().len(), 10);
    }
    assert_eq!(played.turns.len(), 12);
    assert_eq!(played.solutions.len(), 48);
    let metrics = proposer_metrics(&played);
    assert_eq!((metrics.rollouts, metrics.valid, metrics.malformed, metrics.duplicates), (4, 1, 1, 1));
    assert_eq!((metrics.valid_rate, metrics.solve_rate, metrics.learnable_share), (Some(0.25), Some(0.5), Some(1.0)));
    assert_eq!(metrics.reward_mean, Some(-0.1875));
    assert_eq!(metrics.response_tokens_mean, Some(f64::from(8 + 5 + 7 + 7) / 4.0));
    assert_eq!(played.scored.metrics.valid_proposals(), (3, 12));
    assert_eq!(played.scored.metrics.solve_rate(), Some(0.5));
    let solver = played.scored.metrics.of(Role::Solver, TaskType::Induction).unwrap();
    assert_eq!((solver.rollouts, solver.tasks, solver.reward_mean), (16, 4, Some(0.5)));
}

#[test]
fn rollouts_that_estimate_difficulty_train_the_solver() {
    let mut state = seeded(0..9);
    let played =
        play_step(&game(config()), &mut state, 1, 0, &Script::of(&["good 20", "good 21", "good 22", "good 23"]));
    let fresh = |turn: usize| matches!(played.turns[turn].origin, Origin::Fresh { .. });
    let trained = played.solutions.iter().filter(|record| fresh(record.turn)).filter(|record| {
        let tokens = &record.rollout;
        played
            .batch
            .samples
            .iter()
            .any(|sample| *sample.prompt == *tokens.prompt_tokens && sample.response == tokens.tokens)
    });
    assert_eq!(trained.count(), 48);
}

#[test]
fn a_copy_of_a_refused_proposal_is_paid_as_refused_and_not_as_a_duplicate() {
    let mut state = seeded(0..9);
    let played = play_step(&game(config()), &mut state, 1, 0, &Script::of(&["bad 20", "bad 20", "good 21", "good 21"]));
    assert_eq!(paid(&played, TaskType::Deduction), [Some(-0.5), Some(-0.5), Some(0.5), Some(-0.25)]);
    assert_eq!(proposer_metrics(&played).duplicates, 1);
}

#[test]
fn a_dropped_proposal_and_its_copies_are_not_paid_trained_on_or_counted() {
    let mut state = seeded(0..9);
    let script = Script::of(&["lost 20", "lost 20", "good 21", "junk"]);
    let played = play_step(&game(config()), &mut state, 1, 0, &script);
    assert_eq!(paid(&played, TaskType::Deduction), [None, None, Some(0.5), Some(-0.5)]);
    let metrics = proposer_metrics(&played);
    assert_eq!((metrics.rollouts, metrics.dropped, metrics.valid_rate), (4, 2, Some(0.5)));
    assert_eq!(metrics.reward_mean, Some(0.0));
    let lost: Vec<u32> = rollout("", "lost 20").tokens;
    assert!(played.batch.samples.iter().all(|sample| sample.response != lost));
}

#[test]
fn a_solve_rate_is_over_the_rollouts_that_were_judged() {
    let script =
        Script { answer: |_, sample| ["right", "lost", "wrong", "wrong"][sample], ..Script::of(&["good 20"; 4]) };
    let mut state = seeded(0..9);
    let played = play_step(&game(config()), &mut state, 1, 0, &script);
    assert!((paid(&played, TaskType::Deduction)[0].unwrap() - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(played.scored.metrics.of(Role::Solver, TaskType::Deduction).unwrap().dropped, 4);
    let lost = rollout("", "lost").tokens;
    assert!(played.batch.samples.iter().all(|sample| sample.response != lost));
    assert!(played.solutions.iter().any(|record| record.rollout.tokens == lost));
    let noted = state.buffer(TaskType::Deduction).entries().last().unwrap().last.unwrap();
    assert_eq!((noted.solved, noted.judged), (1, 3));
}

#[test]
fn a_proposal_whose_rollouts_were_all_dropped_is_not_paid() {
    let script = Script { answer: |_, _| "lost", ..Script::of(&["good 20", "junk", "junk", "junk"]) };
    let mut state = seeded(0..9);
    let played = play_step(&game(config()), &mut state, 1, 0, &script);
    assert_eq!(paid(&played, TaskType::Deduction), [None, Some(-0.5), Some(-0.5), Some(-0.5)]);
    assert_eq!(proposer_metrics(&played).unrated, 1);
    assert_eq!(state.buffer(TaskType::Deduction).entries().last().unwrap().last, None);
    assert_eq!(played.scored.metrics.solve_rate(), None);
    // No solver was paid, so the normalizer is the batch's own tokens, and never 0.
    assert!(played.batch.normalizer >= 1.0);
}

#[test]
fn valid_proposals_beyond_the_fresh_share_enter_the_buffer_unpaid() {
    let mut state = seeded(0..9);
    let game = game(GameConfig { fresh_fraction: 0.5, ..config() });
    let played = play_step(&game, &mut state, 1, 0, &Script::of(&["good 20", "good 21", "good 22", "good 22"]));
    // The last copies one that is valid, though unrated.
    assert_eq!(paid(&played, TaskType::Abduction), [Some(0.5), Some(0.5), None, Some(-0.25)]);
    assert_eq!(state.buffer(TaskType::Abduction).entries().len(), 12);
    assert_eq!(proposer_metrics(&played).unrated, 1);
}

#[test]
fn a_right_answer_without_its_frame_is_paid_as_bad_format_under_azr_and_still_counts_as_solved() {
    let paid = |format: &str| {
        let (format, reward) = (format.to_owned(), "azr".to_owned());
        let played =
            play_step(&game(GameConfig { format, reward, ..config() }), &mut seeded(0..9), 1, 0, &Script::fresh(0));
        let right = played.scored.samples.iter().find(|sample| sample.source == SampleRef::Solver(0)).unwrap();
        (right.reward.total(), played.scored.solved[0].solved)
    };
    // `compact` has no frame to miss.
    assert_eq!((paid("compact"), paid("fenced")), ((1.0, 2), (-1.0, 2)));
}

#[test]
fn groups_of_equal_rewards_are_left_out_of_the_batch() {
    let script = Script { answer: |_, _| "right", ..Script::of(&["junk"; 4]) };
    let played = play_step(&game(config()), &mut seeded(0..9), 1, 0, &script);
    assert_eq!(played.scored.samples.len(), 12 + 48);
    assert!(played.scored.samples.iter().all(|sample| sample.advantage == 0.0));
    assert!(played.batch.samples.is_empty());
    // Their tokens still count: the solver's loss is a mean over all it wrote.
    assert_eq!(played.batch.normalizer, 48.0 * 6.0);
}

#[test]
fn a_frozen_proposer_is_scored_and_not_trained() {
    let script = Script::of(&["good 20", "junk", "bad 21", "good 1"]);
    let count = |mode| {
        let game = game(GameConfig { proposer: mode, ..config() });
        let played = play_step(&game, &mut seeded(0..9), 1, 0, &script);
        let proposer: Vec<ScoredSample> =
            played.scored.samples.iter().filter(|sample| sample.role == Role::Proposer).cloned().collect();
        assert!(proposer.iter().all(|sample| sample.advantage != 0.0));
        let prompts = ["<PD>", "<PA>"].map(|text| rollout(text, "").prompt_tokens);
        played.batch.samples.iter().filter(|sample| prompts.iter().any(|prompt| *sample.prompt == **prompt)).count()
    };
    assert_eq!((count(ProposerMode::Train), count(ProposerMode::Frozen)), (8, 0));
}

#[test]
fn weights_are_advantages_times_the_weight_of_the_role() {
    let script = Script::of(&["good 20", "junk", "bad 21", "good 1"]);
    let played = play_step(&game(config()), &mut seeded(0..9), 1, 0, &script);
    for sample in &played.scored.samples {
        let role_weight = if sample.role == Role::Proposer { 0.5 } else { 1.0 };
        assert_eq!(sample.weight, sample.advantage * role_weight);
    }
}

#[test]
fn anchors_are_imitated_with_their_weight_and_redrawn_each_step() {
    let mut state = seeded(0..9);
    state.add_anchors((0..40).map(|number| Anchor::from(&rollout("<PD>", &format!("anchor {number}")))));
    let drawn = |config: GameConfig, step| {
        let played = play_step(&game(config), &mut state.clone(), 1, step, &Script::of(&["junk"; 4]));
        let is_anchor = |response: &[u32]| (0..40).any(|n| response == rollout("", &format!("anchor {n}")).tokens);
        let anchors = played.batch.samples.into_iter().filter(|sample| is_anchor(&sample.response));
        anchors.map(|sample| (sample.response, sample.weight)).collect::<Vec<_>>()
    };
    let first = drawn(config(), 0);
    assert_eq!(first.iter().map(|(_, weight)| *weight).collect::<Vec<_>>(), [0.25, 0.25]);
    assert_ne!(first[0], first[1]);
    assert_eq!(first, drawn(config(), 0));
    assert_ne!(first, drawn(config(), 1));
    assert!(drawn(GameConfig { anchor_weight: 0.0, ..config() }, 0).is_empty());
    assert_eq!(drawn(GameConfig { anchor_samples: 99, ..config() }, 0).len(), 40);
}

#[test]
fn samples_of_one_prompt_stand_side_by_side() {
    let mut state = seeded(0..9);
    state.add_anchors([Anchor::from(&rollout("<PD>", "anchor"))]);
    let played = play_step(&game(config()), &mut state, 1, 0, &Script::of(&["good 20", "junk", "bad 21", "good 1"]));
    let runs: Vec<Vec<u32>> =
        played.batch.samples.chunk_by(|a, b| a.prompt == b.prompt).map(|run| run[0].prompt.to_vec()).collect();
    assert_eq!(runs.iter().collect::<BTreeSet<_>>().len(), runs.len());
    assert!(played.batch.samples.iter().all(|sample| sample.weight != 0.0 && sample.masked == 0));
}

fn totals(samples: &[ScoredSample]) -> BTreeMap<(Role, TaskType), Vec<String>> {
    let mut totals: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for sample in samples {
        totals.entry((sample.role, sample.task_type)).or_default().push(sample.reward.total().to_string());
    }
    totals.values_mut().for_each(|rewards| rewards.sort());
    totals
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn random_keeps_the_rewards_of_each_batch_and_moves_them(seed in any::<u64>(), step in 0..1_000_u64) {
        let script = Script::of(&["good 20", "junk", "bad 21", "good 1"]);
        let play = |reward: &str, seed| {
            let game = game(GameConfig { reward: reward.to_owned(), ..config() });
            play_step(&game, &mut seeded(0..9), seed, step, &script).scored
        };
        let (plain, control) = (play("quickstart", seed), play("random", seed));
        prop_assert_eq!(totals(&plain.samples), totals(&control.samples));
        let sources = |scored: &Scored| scored.samples.iter().map(|sample| sample.source).collect::<Vec<_>>();
        prop_assert_eq!(sources(&plain), sources(&control));
        let rewards = |scored: &Scored| scored.samples.iter().map(|sample| sample.reward.total()).collect::<Vec<_>>();
        prop_assert_ne!(rewards(&plain), rewards(&control));
        prop_assert_eq!(&control, &play("random", seed));
        prop_assert_ne!(rewards(&control), rewards(&play("random", seed.wrapping_add(1))));
        // What is told of the step is true under the control too.
        prop_assert_eq!(plain.solved, control.solved);
    }

    #[test]
    fn whatever_is_proposed_weights_are_finite_and_the_normalizer_positive(
        words in prop::collection::vec(prop::sample::select(vec!["good", "bad", "lost", "junk"]), 4),
        numbers in prop::collection::vec(0..12_i64, 4),
        reward in prop::sample::select(veriplay_selfplay::rewards::names()),
        advantage in prop::sample::select(veriplay_selfplay::advantages::names()),
        fresh_fraction in 0.0..=1.0_f64,
    ) {
        let proposals: Vec<String> = words.iter().zip(&numbers).map(|(word, number)| format!("{word} {number}")).collect();
        let answer = |prompt: &Prompt, sample: usize| ["right", "wrong", "lost", "junk"][(prompt.text.len() + sample * sample) % 4];
        let script = Script { proposals, answer };
        let (reward, advantage) = (reward.to_owned(), advantage.to_owned());
        let game = game(GameConfig { reward, advantage, fresh_fraction, ..config() });
        let played = play_step(&game, &mut seeded(0..5), 1, 0, &script);
        prop_assert!(played.batch.normalizer >= 1.0);
        prop_assert!(played.batch.samples.iter().all(|sample| sample.weight.is_finite() && !sample.response.is_empty()));
        prop_assert!(played.scored.samples.iter().all(|sample| sample.reward.total().abs() <= 1.0));
        let metrics = &played.scored.metrics;
        prop_assert_eq!(metrics.roles.len(), 6);
        for role in &metrics.roles {
            prop_assert!(role.valid_rate.is_none_or(|rate| (0.0..=1.0).contains(&rate)));
            prop_assert!(role.malformed + role.duplicates + role.valid + role.dropped <= role.rollouts);
        }
    }
}

/// The batch of one step under an aggregation, and the numbers of paid solver rollouts and of their tokens.
fn aggregated(aggregation: Aggregation, zero_advantage: ZeroAdvantage) -> (TrainBatch, usize, usize) {
    let mut state = seeded(0..9);
    state.add_anchors([Anchor::from(&rollout("<PD>", "anchor"))]);
    let played =
        play_step(&game(GameConfig { aggregation, zero_advantage, ..config() }), &mut state, 1, 0, &Script::fresh(0));
    let solvers: Vec<&ScoredSample> = played.scored.samples.iter().filter(|s| s.role == Role::Solver).collect();
    let tokens = |sample: &&ScoredSample| match sample.source {
        SampleRef::Solver(index) => played.solutions[index].rollout.tokens.len(),
        SampleRef::Proposal(_) => 0,
    };
    (played.batch, solvers.len(), solvers.iter().map(tokens).sum())
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
    assert_eq!(constant.normalizer, (count * config().solver_max_tokens) as f64);
    assert_eq!(constant.samples, token.samples);
    let weights = |batch: &TrainBatch| batch.samples.iter().map(|sample| sample.weight).collect::<Vec<_>>();
    assert_eq!(weights(&sequence), weights(&token));
}

#[test]
fn rollouts_bring_their_behaviour_and_anchors_are_imitated() {
    let (batch, ..) = aggregated(Aggregation::TokenMean, ZeroAdvantage::Drop);
    assert!(batch.samples.iter().any(|sample| sample.imitate) && batch.samples.iter().any(|sample| !sample.imitate));
    for sample in &batch.samples {
        let behaviour = sample.behaviour.as_ref().map(Vec::len);
        assert_eq!(behaviour, (!sample.imitate).then_some(sample.response.len()));
    }
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

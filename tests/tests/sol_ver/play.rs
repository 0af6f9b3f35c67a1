//! Whole steps of the game with scripted policies: every branch, and the cheats played for real.

mod cheating;
mod refusals;

use std::collections::{BTreeMap, BTreeSet};

use veriplay_core::{CallCase, Job, PreferencePair, Role, ScriptedPolicy, ScriptedRequest, Status, Value};
use veriplay_selfplay::driver::{Output, SelfPlay};
use veriplay_selfplay::eval_table::{EvalNumbers, EvalRow};
use veriplay_selfplay::game_state::GameState;
use veriplay_selfplay::metrics::{FilterCount, FilterYield};
use veriplay_selfplay::play::{Batch, StepContext};
use veriplay_selfplay::preferences::UpdateSchedule;
use veriplay_selfplay::records::{self, LogRecord};
use veriplay_selfplay::settings::{ProposerMode, SharedSettings};
use veriplay_selfplay::splits::{Guard, HELD_OUT};
use veriplay_selfplay::task_pool::Source;
use veriplay_sol_ver::prompts::{SolVerFormat, by_name};
use veriplay_sol_ver::{
    DpoReference, EvalCandidate, LearningObjective, ProblemTask, ReferenceSolution, Selection, SolVer, SolVerConfig,
    SolVerMetrics, TierOrder, TierRewards, TrainFrom,
};
use veriplay_tests::assert_each;
use veriplay_verifier::agreement::{AgreementRules, TestSuite};

use super::cheats::{Cheat, Target, cheats};
use super::{ADDED, DOUBLE, SQUARE, rules, suite};
use crate::environments::remembered as sandbox;
use crate::exercise;
use crate::played::{assert_same_again, preference_batches, proposals, reward, sample_batches, tasks};

/// What is right for the problem that is measured: no code of a step is it.
const TWICE: &str = "def f(x):\n    return 2 * x";
const GOOD: &str = "3 => 6\n5 => 10";
const BAD: &str = "3 => 9\n5 => 10";
const SNIPPETS: [&str; 3] =
    ["def f(a):\n    return a - 1", "def f(b):\n    return b - 2", "def f(c):\n    return c - 3"];

fn config() -> SolVerConfig {
    SolVerConfig {
        shared: SharedSettings {
            reward: None,
            advantage: None,
            proposer_weight: 0.0,
            proposer_max_tokens: 400,
            buffer_capacity: 64,
            ..exercise::settings()
        },
        own: toml::from_str(include_str!("play/settings.toml")).unwrap(),
    }
}

type Game = SelfPlay<SolVer>;
type State = GameState<ProblemTask>;
type Record = records::Record<SolVer>;
type Step = Output<SolVer>;

/// The problem that is evaluated on, with this reference.
fn evaluation(program: &str) -> Vec<ProblemTask> {
    let case = |(input, output): (i64, i64)| CallCase::new(vec![Value::int(input)], Value::int(output));
    let reference = ReferenceSolution { program: program.to_owned(), hidden: [(4, 8), (0, 0)].map(case).to_vec() };
    vec![ProblemTask { statement: "twice x".to_owned(), reference: Some(reference) }]
}

fn game_with(config: SolVerConfig, rules: AgreementRules, snippets: &[&str]) -> Game {
    let snippets = snippets.iter().map(|text| (*text).to_owned()).collect();
    SelfPlay::new(SolVer::new(config, rules, snippets, evaluation(TWICE), Guard::default()).unwrap())
}

fn game(config: SolVerConfig) -> Game {
    game_with(config, rules(), &SNIPPETS)
}

fn played(game: &Game, policy: &ScriptedPolicy, state: &mut State, step: u64) -> Step {
    game.step(&StepContext { policy, execute: sandbox(), seed: 5 }, state, step).unwrap()
}

fn once(config: SolVerConfig, policy: &ScriptedPolicy) -> Step {
    played(&game(config), policy, &mut State::default(), 0)
}

/// States a problem of its own for each snippet, answers by `codes` in turn, and writes `suites` in turn.
fn policy(codes: &'static [&'static str], suites: &'static [&'static str]) -> ScriptedPolicy {
    ScriptedPolicy::new(move |turn| match turn.prompt.role {
        Role::PROPOSER => statement(turn),
        Role::SOLVER => codes[turn.sample % codes.len()].to_owned(),
        _ => written(suites[turn.sample % suites.len()]),
    })
}

fn statement(turn: &ScriptedRequest<'_>) -> String {
    let names = ["first", "second", "third"];
    let place = SNIPPETS.iter().position(|snippet| turn.prompt.text().contains(snippet)).unwrap();
    format!("double x in the {} way", names[place])
}

/// Two codes of four are right, and one suite of two.
fn usual() -> ScriptedPolicy {
    policy(&[DOUBLE, SQUARE, ADDED, SQUARE], &[GOOD, BAD])
}

/// A suite as the compact format has it; other texts as they are.
fn written(lines: &str) -> String {
    if lines.contains("=>") { by_name("compact").unwrap().suite_response(&suite(lines)) } else { lines.to_owned() }
}

fn text(tokens: &[u32]) -> String {
    String::from_utf8(tokens.iter().filter(|token| **token != 0).map(|token| *token as u8).collect()).unwrap()
}

fn pairs(step: &Step) -> impl Iterator<Item = &PreferencePair> {
    preference_batches(step).into_iter().flat_map(|batch| &batch.pairs)
}

/// Texts of what is imitated, and of both sides of the pairs; each sorted.
fn learned(step: &Step) -> (Vec<String>, Vec<(String, String)>) {
    let samples = sample_batches(step).into_iter().flat_map(|batch| &batch.samples);
    let mut examples: Vec<String> = samples.map(|sample| text(&sample.response)).collect();
    let mut texts: Vec<_> = pairs(step).map(|pair| (text(&pair.chosen), text(&pair.rejected))).collect();
    examples.sort();
    texts.sort();
    (examples, texts)
}

/// How many codes, suites, pairs of codes and pairs of suites are learned from.
fn amounts(metrics: &SolVerMetrics) -> [usize; 4] {
    [metrics.sft_codes, metrics.sft_suites, metrics.code_pairs, metrics.test_pairs]
}

/// What a filter of a step did.
fn filter<'a>(step: &'a Step, name: &str) -> &'a FilterYield {
    step.metrics.filters.iter().find(|filter| filter.name == name).unwrap()
}

/// Why the first round that was refused was.
fn rule(step: &Step) -> String {
    let mut refusals = tasks(step).into_iter().filter_map(|task| task.round.as_ref()?.refused.as_ref());
    refusals.next().map(|refusal| refusal.rule.clone()).unwrap_or_default()
}

#[test]
fn what_codes_and_tests_agree_on_is_learned_and_nothing_else() {
    let step = once(config(), &policy(&[DOUBLE, SQUARE, ADDED, "x * 2<I>"], &[GOOD, BAD]));
    let (good, bad) = (written(GOOD), written(BAD));
    let (examples, pairs) = learned(&step);
    let code_pairs = [DOUBLE, ADDED].map(|chosen| (chosen.to_owned(), SQUARE.to_owned()));
    let test_pairs = [(good.clone(), bad.clone()), (good.clone(), bad)];
    assert_eq!(examples, [good.clone(), good, DOUBLE.to_owned(), ADDED.to_owned()]);
    assert_eq!(pairs, [test_pairs.to_vec(), code_pairs.to_vec()].concat());
    let SolVerMetrics { problems, asked, decided, learned, .. } = step.metrics;
    assert_eq!((problems, asked, decided, learned), (1, 1, 1, 1));
    assert_eq!(amounts(&step.metrics), [2, 2, 2, 2]);
    assert_eq!((step.metrics.code_pass_rate, step.metrics.test_accuracy), (Some(0.5), Some(0.5)));
    assert_eq!((step.metrics.false_positive_rate, step.metrics.best_cluster), (Some(0.0), Some(2.0)));
    assert!(step.metrics.mutation_score.unwrap() > 0.5);
    assert_eq!((step.counts.proposals, step.counts.valid_proposals), (1, 1));
    assert_eq!((step.counts.attempts, step.counts.accepted, step.counts.dropped), (8, 4, 0));
    let shares = [(Role::PROPOSER, Some(1.0)), (Role::SOLVER, Some(0.75)), (Role::VERIFIER, Some(1.0))];
    assert_eq!(step.metrics.well_formed_share, BTreeMap::from(shares));
    let malformed = filter(&step, "malformed_code");
    assert_eq!((malformed.seen, malformed.count), (4, FilterCount::Refused(1)));
}

#[test]
fn batches_are_imitation_first_then_preference_with_prompts_side_by_side() {
    let step = once(config(), &usual());
    let is_pairs: Vec<bool> = step.batches.iter().map(|batch| matches!(batch, Batch::Preferences(_))).collect();
    assert_eq!(is_pairs, [false, true]);
    let [batch] = sample_batches(&step)[..] else { panic!("one batch of four") };
    let tokens: usize = batch.samples.iter().map(|sample| sample.response.len()).sum();
    assert!((batch.normalizer - tokens as f64).abs() < 1e-9);
    assert!(batch.samples.iter().all(|sample| sample.imitate && sample.masked == 0 && sample.response.ends_with(&[0])));
    let mut prompts: Vec<&[u32]> = batch.samples.iter().map(|sample| &*sample.prompt).collect();
    prompts.dedup();
    let distinct: BTreeSet<&[u32]> = prompts.iter().copied().collect();
    assert_eq!(prompts.len(), distinct.len(), "samples of one prompt stand side by side");
    for sample in &batch.samples {
        let is_code = text(&sample.response).starts_with("def");
        assert_eq!(sample.weight, if is_code { 1.0 } else { 0.5 });
        assert_eq!(text(&sample.prompt).ends_with("<P>"), is_code);
    }
    // A scripted policy is certain of every token, and is the reference of its own responses.
    let is_pair = |pair: &PreferencePair| pair.reference == Some([0.0, 0.0]) && pair.chosen != pair.rejected;
    assert!(pairs(&step).all(is_pair));
    // At another temperature its log-probabilities are not the policy's own.
    let warm = config().with(|c| c.shared.solver_temperature = 0.9);
    assert!(needs_reference(&warm) && !needs_reference(&config()));
    let step = once(warm, &usual());
    assert!(pairs(&step).all(|pair| pair.reference.is_none()));
}

#[test]
fn the_start_model_is_trained_in_each_step_on_what_all_have_made() {
    let policy = usual();
    let own = |train_from| {
        let dpo_reference = DpoReference::Start;
        game(config().with(|c| (c.own.train_from, c.own.dpo_reference) = (train_from, dpo_reference)))
    };
    let (previous, start) = (own(TrainFrom::Previous), own(TrainFrom::Start));
    let (mut of_previous, mut of_start) = (State::default(), State::default());
    let (mut examples, mut pairs, mut steps_with_any) = (Vec::new(), Vec::new(), 0);
    for step in 0..5 {
        let made = learned(&played(&previous, &policy, &mut of_previous, step));
        let taught = learned(&played(&start, &policy, &mut of_start, step));
        if made.0.is_empty() {
            assert_eq!(taught, made, "a repeated problem leaves the policy as it is");
            continue;
        }
        steps_with_any += 1;
        examples.extend(made.0);
        pairs.extend(made.1);
        examples.sort();
        pairs.sort();
        assert_eq!(taught, (examples.clone(), pairs.clone()));
        let text = serde_json::to_string(&of_start).unwrap();
        assert_eq!(serde_json::from_str::<State>(&text).unwrap(), of_start);
    }
    assert!(steps_with_any > 1 && !serde_json::to_string(&of_previous).unwrap().contains("training_data"));
}

#[test]
fn objectives_and_the_sizes_of_batches_are_options() {
    let policy = usual();
    let sft = once(config().with(|c| c.own.objective = LearningObjective::Sft), &policy);
    assert!(pairs(&sft).next().is_none() && sample_batches(&sft).len() == 1);
    let dpo = once(config().with(|c| c.own.objective = LearningObjective::Dpo), &policy);
    assert!(sample_batches(&dpo).is_empty() && preference_batches(&dpo).len() == 1);
    let sft = UpdateSchedule { batch: 3, epochs: 2, max_updates: 3 };
    let small = once(config().with(|c| c.own.sft = sft), &policy);
    assert_eq!(sample_batches(&small).iter().map(|batch| batch.samples.len()).collect::<Vec<_>>(), [3, 1, 3]);
    let proposer = once(config().with(|c| c.shared.proposer_weight = 0.25), &policy);
    assert!(learned(&proposer).0.iter().any(|text| text.starts_with("double x in the")));
    let few = config().with(|c| {
        (c.own.sft_codes, c.own.sft_suites) = (1, 0);
        (c.own.code_pairs, c.own.test_pairs) = (1, 0);
    });
    let (examples, pairs) = learned(&once(few, &policy));
    assert_eq!((examples.len(), pairs.len()), (1, 1));
}

#[test]
fn examples_and_pairs_of_a_role_weigh_what_the_role_does() {
    let policy = usual();
    let weighed = |solver, verifier| {
        once(config().with(|c| (c.shared.solver_weight, c.shared.verifier_weight) = (solver, verifier)), &policy)
    };
    let weights = |step: &Step| {
        let examples = sample_batches(step).into_iter().flat_map(|batch| &batch.samples);
        let examples = examples.map(|one| (&one.response, one.weight));
        let all = examples.chain(pairs(step).map(|pair| (&pair.chosen, pair.weight)));
        all.map(|(tokens, weight)| (text(tokens).starts_with("def"), weight)).collect::<Vec<_>>()
    };
    let both = weights(&weighed(3.0, 2.0));
    assert!(both.iter().all(|(is_code, weight)| *weight == if *is_code { 3.0 } else { 1.0 }), "{both:?}");
    assert_eq!(both.len(), 8);
    let suites = weights(&weighed(0.0, 1.0));
    assert!(suites.len() == 4 && suites.iter().all(|(is_code, _)| !is_code), "{suites:?}");
    let codes = weighed(1.0, 0.0);
    assert!(weights(&codes).len() == 4 && weights(&codes).iter().all(|(is_code, _)| *is_code));
    assert_eq!((codes.metrics.sft_suites, codes.metrics.test_pairs), (0, 0), "what is learned is what is told");
    let refused = game(config().with(|c| (c.shared.solver_weight, c.shared.verifier_weight) = (0.0, 0.0))).check();
    assert!(refused.unwrap_err().to_string().contains("no other role learns either"));
}

#[test]
fn problems_that_the_start_model_stated_are_enough_without_a_proposer() {
    let alone = config().with(|c| {
        (c.shared.seed_proposals, c.shared.proposer) = (3, ProposerMode::None);
        (c.own.problems, c.own.earlier_problems) = (2, 2);
    });
    let seeded = game(alone.clone());
    let policy = usual();
    let mut state = seeded.init(&StepContext { policy: &policy, execute: sandbox(), seed: 5 }).unwrap();
    assert_eq!(state.pool.entries().len(), 3);
    let step = played(&seeded, &policy, &mut state, 0);
    assert_eq!((step.counts.proposals, tasks(&step).len()), (0, 2));
    assert!(!step.batches.is_empty());
    let refused = game(alone.with(|c| c.own.earlier_problems = 0)).check().unwrap_err().to_string();
    assert!(refused.starts_with("`game.proposer` is `none`"), "{refused}");
}

fn needs_reference(config: &SolVerConfig) -> bool {
    config.own.needs_reference(&config.shared)
}

#[test]
fn the_reference_of_pairs_is_an_option() {
    let with = |reference| config().with(|c| c.own.dpo_reference = reference);
    assert!(!needs_reference(&with(DpoReference::Sampler)));
    for reference in [DpoReference::Start, DpoReference::Sft] {
        assert!(needs_reference(&with(reference)));
        assert!(!needs_reference(&with(reference).with(|c| c.own.objective = LearningObjective::Sft)));
        let step = once(with(reference), &usual());
        assert!(pairs(&step).all(|pair| pair.reference.is_none()), "the learner has it");
    }
}

#[test]
fn a_code_that_falls_short_by_less_than_the_margin_is_no_worse_side() {
    const CLOSE: &str = "def f(x):\n    return 10 if x == 5 else x * 2 + 1";
    let policy = policy(&[DOUBLE, CLOSE, ADDED, CLOSE], &[GOOD, GOOD]);
    assert_eq!(once(config(), &policy).metrics.code_pairs, 2, "it passes half of the tests");
    assert_eq!(once(config().with(|c| c.own.margin = 0.6), &policy).metrics.code_pairs, 0);
}

#[test]
fn the_control_learns_as_much_of_each_kind_from_anything() {
    let codes = &[DOUBLE, SQUARE, ADDED, "no code<I>"];
    let policy = policy(codes, &[GOOD, BAD]);
    let config = config().with(|c| {
        c.own.problems = 3;
        c.shared.proposer_weight = 0.1;
    });
    let honest = once(config.clone(), &policy);
    let game = game(config.with(|c| c.own.selection = Selection::Random));
    let mut wrong = false;
    for step in 0..6 {
        let control = played(&game, &policy, &mut State::default(), step);
        assert_eq!(amounts(&control.metrics), amounts(&honest.metrics));
        assert_eq!(learned(&control).0.len(), learned(&honest).0.len());
        wrong |= learned(&control).0.contains(&SQUARE.to_owned())
            && learned(&control).1.iter().any(|(chosen, _)| chosen == SQUARE);
        assert!(pairs(&control).all(|pair| pair.chosen != pair.rejected));
    }
    assert!(wrong, "what is wrong is imitated and preferred as well");
}

#[test]
fn the_log_is_judged_again_to_the_same_and_a_changed_line_is_found() {
    let game = game(config().with(|c| c.own.problems = 3));
    let policy = policy(&[DOUBLE, SQUARE, ADDED, "nothing<I>"], &[GOOD, BAD]);
    let step = played(&game, &policy, &mut State::default(), 0);
    let records: Vec<Record> = serde_json::from_str(&serde_json::to_string(&step.records).unwrap()).unwrap();
    assert_eq!(records, step.records);
    assert_eq!(assert_same_again(&game, sandbox(), &records), 30);
    let mut forged = records;
    for record in &mut forged {
        match record {
            LogRecord::Proposal(one) if one.index == 1 => {
                one.judged.task = Some(ProblemTask { statement: "another".to_owned(), reference: None });
            }
            LogRecord::Task(one) if one.index == 0 => one.attempts[1].episode.turns[0].text = DOUBLE.to_owned(),
            _ => {}
        }
    }
    let again = game.replay(sandbox(), &forged).unwrap();
    assert!(again.verdicts == 30 && again.same < 29, "{again:?}");
}

#[test]
fn a_policy_gradient_rewards_what_was_decided_and_nothing_else() {
    let gradient = |proposer_weight| {
        config().with(|c| {
            c.own.objective = LearningObjective::PolicyGradient;
            c.shared.reward = Some("failure_rate".to_owned());
            c.shared.advantage = Some("grpo".to_owned());
            c.shared.proposer_weight = proposer_weight;
        })
    };
    let step = once(gradient(0.0), &usual());
    let [batch] = sample_batches(&step)[..] else { panic!("one batch: {:?}", step.batches) };
    assert!(pairs(&step).next().is_none() && batch.samples.iter().all(|sample| !sample.imitate));
    let positive: Vec<String> =
        batch.samples.iter().filter(|sample| sample.weight > 0.0).map(|sample| text(&sample.response)).collect();
    assert_eq!(positive.len(), 4, "two codes and two suites are right: {positive:?}");
    assert!(positive.iter().all(|text| [DOUBLE, ADDED, written(GOOD).as_str()].contains(&text.as_str())));
    let [task] = tasks(&step)[..] else { panic!("one problem") };
    assert_each(task.attempts.iter().map(|one| reward(&one.episode)), [1.0, 0.0, 1.0, 0.0]);
    assert!(task.verifications.iter().all(|one| one.episode.advantage.is_some()));
    assert_eq!(reward(&proposals(&step)[0].episode), 0.5, "half of the codes are right");
    let easy = once(gradient(1.0), &policy(&[DOUBLE, ADDED], &[GOOD]));
    assert_eq!(rule(&easy), "easy");
    assert!(easy.batches.is_empty() && tasks(&easy)[0].attempts.iter().all(|one| one.episode.reward.is_none()));
}

#[test]
fn codes_are_rewarded_by_the_tiers_of_tests_that_they_pass() {
    let tiers = TierRewards { weights: [0.25; 4], order: TierOrder::EasyFirst, steps: 1 };
    let config = config().with(|c| {
        (c.own.objective, c.own.tiers) = (LearningObjective::PolicyGradient, Some(tiers));
        (c.shared.reward, c.shared.advantage) = (Some("failure_rate".to_owned()), Some("grpo".to_owned()));
    });
    let codes = &[DOUBLE, SQUARE, ADDED, "no code<I>"];
    let game = game(config);
    // All tiers are open behind the first step.
    let step = played(&game, &policy(codes, &[GOOD, BAD]), &mut State::default(), 1);
    let [task] = tasks(&step)[..] else { panic!("one problem") };
    let rewards = task.attempts.iter().map(|one| one.episode.reward.as_ref().unwrap().parts[0].clone());
    let [trusted, wrong] = [1.0, 0.0].map(|share| ("tiers".to_owned(), share, 1.0));
    let malformed = ("accuracy".to_owned(), 0.0, 1.0);
    assert_eq!(rewards.collect::<Vec<_>>(), [trusted.clone(), wrong, trusted, malformed]);
    let passed = &task.round.as_ref().unwrap().tiers;
    assert!(passed[0].iter().flatten().all(|passed| *passed) && passed[0].iter().flatten().count() > 0, "{passed:?}");
    assert!(!passed[1].contains(&Some(true)) && passed[3] == [None; 4], "{passed:?}");
    assert_eq!((step.numbers["open_tiers"], step.numbers["tier_share"]), (4.0, 2.0 / 3.0));
    let again = game.replay(sandbox(), &step.records).unwrap();
    assert_eq!(again.verdicts, again.same);
}

#[test]
fn evaluation_problems_are_judged_by_their_references() {
    let game = game(config());
    // Of eight codes two are right, of eight suites four; greedily both are.
    let policy = ScriptedPolicy::new(|turn| {
        let greedy = turn.sampling.temperature == 0.0;
        match turn.prompt.role {
            Role::SOLVER if greedy || turn.sample < 2 => ADDED.to_owned(),
            Role::SOLVER => SQUARE.to_owned(),
            _ if greedy || turn.sample % 2 == 0 => written(GOOD),
            _ => written(["2 => 5", "malformed"][turn.sample / 2 % 2]),
        }
    });
    let context = StepContext { policy: &policy, execute: sandbox(), seed: 5 };
    assert_eq!(game.init(&context).unwrap(), State::default());
    let mut ended = 0;
    let table = game.evaluate_watched(&context, &mut |more| ended += more).unwrap();
    assert_eq!((ended, game.evaluation_episodes()), (18, 18), "eight and a greedy one of each role");
    let row = |row: &str, pass1| EvalRow { row: row.to_owned(), tasks: 1, pass1, greedy: 1.0, pass8: 1.0 };
    assert_eq!(table.rows, [row("code", 0.25), row("tests", 0.5)]);
    assert_eq!(table.mean, EvalNumbers { pass1: 0.375, greedy: 1.0, pass8: 1.0 });
    assert_eq!(table.numbers["false_positive_rate"], Some(0.0));
    assert!(table.numbers["mutation_score"].unwrap() > 0.5, "{table:?}");
    let other = StepContext { seed: 6, ..context };
    assert_eq!(game.evaluate(&other).unwrap(), table, "a scripted policy has no chance");
}

#[test]
fn weak_tests_of_evaluation_problems_accept_what_is_wrong() {
    let policy = ScriptedPolicy::new(|turn| match turn.prompt.role {
        Role::SOLVER => SQUARE.to_owned(),
        _ => written("2 => 4\n0 => 0"),
    });
    let table = game(config()).evaluate(&StepContext { policy: &policy, execute: sandbox(), seed: 5 }).unwrap();
    assert_eq!((table.rows[0].pass1, table.rows[1].pass1), (0.0, 1.0));
    assert_eq!(table.numbers["false_positive_rate"], Some(1.0));
}

#[test]
fn suites_of_an_evaluation_may_be_written_for_the_policys_own_code() {
    let policy = ScriptedPolicy::new(|turn| match turn.prompt.role {
        Role::SOLVER => SQUARE.to_owned(),
        _ => written(if turn.prompt.text().contains(SQUARE) { BAD } else { GOOD }),
    });
    let context = StepContext { policy: &policy, execute: sandbox(), seed: 5 };
    let tests = |eval_candidate| {
        game(config().with(|c| c.own.eval_candidate = eval_candidate)).evaluate(&context).unwrap().rows[1].pass1
    };
    assert_eq!((tests(EvalCandidate::Reference), tests(EvalCandidate::Own)), (1.0, 0.0));
}

#[test]
fn a_reference_that_fails_its_own_cases_is_told_before_anything_is_played() {
    let snippets = vec![SNIPPETS[0].to_owned()];
    let game = SelfPlay::new(SolVer::new(config(), rules(), snippets, evaluation(SQUARE), Guard::default()).unwrap());
    let policy = policy(&[DOUBLE], &[GOOD]);
    let error = game.init(&StepContext { policy: &policy, execute: sandbox(), seed: 5 }).unwrap_err().to_string();
    assert!(error.contains("`twice x` is WrongAnswer"), "{error}");
}

#[test]
fn a_dry_run_shows_a_prompt_of_each_role() {
    let prompts = game(config()).preview(sandbox()).unwrap();
    let roles: Vec<Role> = prompts.iter().map(|(_, prompt)| prompt.role).collect();
    assert_eq!(roles, [Role::PROPOSER, Role::SOLVER, Role::VERIFIER]);
    assert_eq!(prompts[2].1.text(), format!("<PROBLEM>twice x<P>{TWICE}<TESTS>"));
}

#[test]
fn methods_of_ones_own_play_this_game() {
    let config = config().with(|c| {
        c.own.objective = LearningObjective::PolicyGradient;
        (c.shared.reward, c.shared.advantage) = (Some("failure_rate".to_owned()), Some("grpo".to_owned()));
        c.shared.proposer_weight = 1.0;
        (c.own.problems, c.own.earlier_problems) = (3, 1);
    });
    exercise::play(game(config).game, &policy(&[DOUBLE, SQUARE, ADDED], &[GOOD, BAD]), sandbox());
}

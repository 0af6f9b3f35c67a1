//! The game `bug_repair` on the real sandbox, with scripted policies: every way a bug can be made or refused, every way a repair can
//! go, and the reward of each.

mod making;
mod splits;

use std::collections::BTreeMap;

use veriplay_bug_repair::{
    BugOrigin, BugRepair, BugRepairConfig, BugTask, InjectionMode, InjectionRequest, RepairDetail, RepoBudget,
    Repositories, Repository,
};
use veriplay_core::{Digest, Execute, Job, PromptContent, Role, ScriptedPolicy, ScriptedRequest, Status, Trust};
use veriplay_selfplay::driver::{Output, SelfPlay};
use veriplay_selfplay::eval_table::{EvalNumbers, EvalRow};
use veriplay_selfplay::game_state::GameState;
use veriplay_selfplay::play::{PlayError, StepContext};
use veriplay_selfplay::records::{self, AttemptRecord, LogRecord};
use veriplay_selfplay::settings::{Aggregation, SharedSettings};
use veriplay_selfplay::task_pool::{PoolEntry, Source};
use veriplay_tests::assert_each;
use veriplay_verifier::bugs::{BugArtifact, BugProposal, Commit, PastChange, weaken_tests};

use super::{Bed, CODE, LIMITS, TESTS, TOOL_ENV, bed};
use crate::exercise;
use crate::hosts::faulty;
use crate::played::{assert_same_again, proposals, reward, sample_batches, statuses, tasks};

fn config(format: &str) -> BugRepairConfig {
    BugRepairConfig {
        shared: SharedSettings {
            format: format.to_owned(),
            reward: Some("ssr".to_owned()),
            alpha: Some(0.8),
            aggregation: Aggregation::SequenceMean,
            solver_max_tokens: 4000,
            ..exercise::settings()
        },
        own: toml::from_str(include_str!("play/settings.toml")).unwrap(),
    }
}

fn repository(bed: &Bed) -> Repository {
    Repository {
        image: "python".to_owned(),
        tool_env_image: TOOL_ENV.to_owned(),
        pytest: bed.pytest.clone(),
        texts: bed.texts.clone(),
        binaries: bed.binaries.clone(),
        baseline: bed.baseline.clone(),
        map: bed.map.clone(),
        history: vec![past_change(bed)],
        limits: LIMITS,
        max_jobs: 0,
        trust: Trust::Shared,
    }
}

/// The commit after which `mean` refuses an empty list.
fn past_change(bed: &Bed) -> PastChange {
    let check = "    if not numbers:\n        raise ValueError(\"nothing\")\n";
    let after = bed.texts[CODE].as_str();
    let commit = Commit { hash: "c0ffee", subject: "The mean of nothing is an error" };
    PastChange::of_file(&bed.texts, CODE, &after.replace(check, ""), after, &commit).unwrap()
}

type Game = SelfPlay<BugRepair>;
type State = GameState<BugTask>;
type Record = records::Record<BugRepair>;
type Steps = Output<BugRepair>;
/// What a policy writes in the turns of an episode before it submits.
type Plan = Vec<String>;

fn game(bed: &Bed, config: BugRepairConfig, training: &[BugArtifact]) -> Game {
    SelfPlay::new(BugRepair::new(config, training_on(repository(bed)), training, &[]).unwrap())
}

fn training_on(repository: Repository) -> Repositories {
    Repositories { training: vec![repository], ..Repositories::default() }
}

/// The state before step 0 of a game that makes no supervised examples.
fn begun(game: &Game) -> State {
    let policy = ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| panic!("nobody is asked: {}", turn.prompt.text()));
    let nothing = faulty(crate::sol_ver::python(), |_| true);
    game.init(&StepContext { policy: &policy, execute: &nothing, seed: 7 }).unwrap()
}

/// The bugs that were made in play, as the pool has them.
fn made(state: &State) -> Vec<&PoolEntry<BugTask>> {
    state.pool.entries().iter().filter(|entry| !entry.seed).collect()
}

/// The same repository, measured; nothing trains but a repository in which nothing is the same.
fn measuring(bed: &Bed, config: BugRepairConfig, heldout: &[BugArtifact]) -> Game {
    let mut other = repository(bed);
    (other.baseline.package, other.map.package) = (Digest::of(b"other"), Digest::of(b"other"));
    let code = |path: &str| path.starts_with("src/");
    other.texts.iter_mut().filter(|(path, _)| code(path)).for_each(|(_, text)| text.clear());
    let repositories = Repositories { held_out: vec![repository(bed)], ..training_on(other) };
    SelfPlay::new(BugRepair::new(config, repositories, &[], heldout).unwrap())
}

fn step(game: &Game, policy: &ScriptedPolicy, execute: &dyn Execute, state: &mut State, step: u64) -> Steps {
    game.step(&StepContext { policy, execute, seed: 7 }, state, step).unwrap()
}

/// The first step of a game, and the state after it.
fn first_step(bed: &Bed, game: &Game, policy: &ScriptedPolicy) -> (Steps, State) {
    let mut state = begun(game);
    (step(game, policy, &bed.sandbox, &mut state, 0), state)
}

/// Asserts that what was logged is judged again to the same.
#[track_caller]
fn same_again(bed: &Bed, game: &Game, played: &Steps) -> u64 {
    assert_same_again(game, &bed.sandbox, &played.records)
}

/// An edit of whole lines, as the fenced format writes it.
fn edit(path: &str, old: &str, new: &str) -> String {
    format!("```edit {path}\n<<<<<<< OLD\n{old}=======\n{new}>>>>>>> NEW\n```")
}

const SUBMIT: &str = "```submit\n```";

/// Responds with the plan's lines, one a turn, and then submits. The first response identifies a plan, and later prompts contain it.
fn planned(prompt: &str, first: usize, plans: &[Plan]) -> String {
    let of = |plan: &usize| prompt.contains(&format!("My plan is number {plan}."));
    let plan = (0..plans.len()).find(of).unwrap_or(first % plans.len());
    let said = prompt.matches("My plan is number").count();
    let block = plans[plan].get(said).map_or(SUBMIT, String::as_str);
    format!("My plan is number {plan}.\n{block}")
}

/// All by plans, each by its sample.
fn solver(plans: Vec<Plan>) -> ScriptedPolicy {
    ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| planned(&turn.prompt.text(), turn.sample, &plans))
}

/// Solvers by plans, and injectors by what they say to a prompt in their place.
fn solvers_and(solvers: Vec<Plan>, injector: impl Fn(&str, usize) -> String + Send + Sync + 'static) -> ScriptedPolicy {
    ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| match turn.prompt.role {
        Role::SOLVER => planned(&turn.prompt.text(), turn.sample, &solvers),
        _ => injector(&turn.prompt.text(), turn.index),
    })
}

/// Solvers and injectors by plans, a solver's by its sample and an injector's by its place.
fn players(solvers: Vec<Plan>, injectors: Vec<Plan>) -> ScriptedPolicy {
    solvers_and(solvers, move |prompt, place| planned(prompt, place, &injectors))
}

/// Solvers by plans, and injectors that keep to their mode.
fn with_injectors(solvers: Vec<Plan>) -> ScriptedPolicy {
    solvers_and(solvers, |prompt, _| injected(prompt))
}

/// An edit of what `total` begins at.
fn begins(old: &str, new: &str) -> String {
    edit(CODE, &format!("    result = {old}\n"), &format!("    result = {new}\n"))
}

/// The repair of the bed's bug.
fn right() -> Plan {
    vec![begins("1", "0")]
}

/// A bug, and its repair.
fn breaks() -> Plan {
    vec![edit(CODE, "        result += number\n", "        result -= number\n")]
}

fn mends() -> Plan {
    vec![edit(CODE, "        result -= number\n", "        result += number\n")]
}

fn repairs(played: &Steps) -> Vec<&AttemptRecord<RepairDetail>> {
    tasks(played).into_iter().flat_map(|task| &task.attempts).collect()
}

/// The statuses of all repairs.
fn repaired(played: &Steps) -> Vec<Status> {
    tasks(played).into_iter().flat_map(statuses).collect()
}

/// The first proposal of a step.
fn injection(played: &Steps) -> &records::ProposalRecord<InjectionRequest, BugTask, ()> {
    proposals(played)[0]
}

#[test]
fn solvers_work_by_tools_and_are_paid_for_what_their_patch_does() {
    let Some(bed) = bed() else { return };
    let plans = vec![
        vec!["```read src/tally/core.py\n20-26\n```".to_owned(), begins("1", "0"), "```run\n```".to_owned()],
        vec!["I see nothing.".to_owned(), edit(TESTS, "import unittest\n", "import unittest  # mine\n")],
        vec![begins("1", "2")],
        vec!["```search src\ndef total\n```".to_owned(); 9],
    ];
    let config = config("think").with(|c| (c.own.higher_order_per_step, c.own.higher_order_share) = (4, 1.0));
    let game = game(bed, config, &[bed.artifact().clone()]);
    let (played, mut state) = first_step(bed, &game, &solver(plans));
    assert_eq!(repaired(&played), [Status::Accepted, Status::WrongAnswer, Status::WrongAnswer, Status::WrongAnswer]);
    let ends = repairs(&played).into_iter().filter_map(|repair| repair.episode.end.as_deref());
    assert_each(ends, ["submitted", "submitted", "submitted", "out_of_turns"]);
    let rewards = repairs(&played).into_iter().map(|repair| reward(&repair.episode));
    assert_each(rewards, [1.0, -1.0, -1.0, -1.0]);
    assert_eq!(repairs(&played)[1].judged.detail.patch, "", "what it did to a test is no part of its patch");
    let metrics = &played.metrics.solver;
    let tool_use = metrics.tool_use.as_ref().unwrap();
    assert_eq!((metrics.episodes, tool_use.idle_turns, tool_use.tools["search"].calls), (4, 1, 4));
    assert_eq!(metrics.well_formed_share, Some(12.0 / 13.0), "all turns but the one that sees nothing");
    assert_eq!((tool_use.tools["run"].calls, tool_use.tools["edit"].calls, tool_use.tools["read"].refused), (1, 3, 0));
    assert_eq!((played.counts.attempts, played.counts.accepted, played.counts.dropped), (4, 1, 0));
    // One sample for each turn; a token weighs the same in all turns of an episode, and each episode once.
    let [batch] = sample_batches(&played)[..] else { panic!("{:?}", played.batches) };
    assert_eq!((batch.samples.len(), batch.normalizer), (4 + 3 + 2 + 4, 4.0));
    let mut of_weight: BTreeMap<String, f64> = BTreeMap::new();
    for sample in &batch.samples {
        let weight = f64::from(sample.scale) * sample.response.len() as f64;
        *of_weight.entry(format!("{:.4}", sample.weight)).or_default() += weight;
    }
    let sums = of_weight.values().map(|sum| (sum * 1e4).round() / 1e4);
    assert_each(sums, [3.0, 1.0]); // three failed episodes and a right one
    // The failed repair that changed code is a bug of the second order, asked in the next step.
    let yields = &played.metrics.higher_order;
    assert_eq!((yields.tried, yields.valid), (1, 1), "{yields:?}");
    assert_eq!(made(&state)[0].task.bug.order(), 2);
    let mut again = state.clone();
    let repairs_it = solver(vec![vec![begins("2", "0")]]);
    let second = step(&game, &repairs_it, &bed.sandbox, &mut state, 1);
    assert_eq!((second.metrics.tasks[&BugOrigin::HigherOrder], repaired(&second)), (1, vec![Status::Accepted; 4]));
    assert!(second.batches.is_empty(), "a bug that everybody repairs teaches nothing");
    assert_eq!(second.metrics.higher_order.tried, 0);
    // A state that was saved plays on as if it had not been.
    again = serde_json::from_str(&serde_json::to_string(&again).unwrap()).unwrap();
    assert_eq!((step(&game, &repairs_it, &bed.sandbox, &mut again, 1), &again), (second, &state));
    // And no bug of the third order is made of that.
    let fails = solver(vec![vec![begins("2", "3")]]);
    let last = step(&game, &fails, &bed.sandbox, &mut state, 2);
    assert_eq!((repaired(&last), last.metrics.higher_order.tried), (vec![Status::WrongAnswer; 4], 0));
}

#[test]
fn what_was_logged_is_judged_again_and_comes_out_the_same() {
    let Some(bed) = bed() else { return };
    let config = injecting(2, &InjectionMode::ALL).with(|c| {
        c.own.higher_order_per_step = 1;
        c.own.mutants_per_step = 2;
        c.own.injection_share = 0.0;
    });
    let game = game(bed, config, &[bed.artifact().clone()]);
    let policy = with_injectors(vec![right(), vec![begins("1", "2")]]);
    let played = step(&game, &policy, &bed.sandbox, &mut begun(&game), 3);
    let text = serde_json::to_string(&played.records).unwrap();
    let mut records: Vec<Record> = serde_json::from_str(&text).unwrap();
    assert_eq!(records, played.records);
    let verdicts = assert_same_again(&game, &bed.sandbox, &records);
    let (mut altered, mut derived) = (0, 0);
    for record in &mut records {
        match record {
            LogRecord::Task(task) => {
                task.attempts.iter_mut().for_each(|repair| repair.episode.turns[0].text = SUBMIT.to_owned());
                altered += task.attempts.len() as u64;
            }
            LogRecord::Proposal(injection) => {
                injection.episode.turns[0].text = SUBMIT.to_owned();
                altered += 1;
            }
            LogRecord::Derived(_) => derived += 1,
        }
    }
    assert_eq!(verdicts, altered + derived);
    let other = game.replay(&bed.sandbox, &records).unwrap();
    assert_eq!((other.verdicts, other.same), (verdicts, derived));
}

fn injecting(count: usize, modes: &[InjectionMode]) -> BugRepairConfig {
    config("think").with(|c| {
        (c.own.injections_per_step, c.own.injection_share) = (count, 1.0);
        c.own.modes = modes.to_vec();
    })
}

/// The responses of an injector of each mode, wherever it begins.
fn injected(prompt: &str) -> String {
    let done = prompt.contains("My plan");
    let block = if prompt.contains("Write it anew") {
        let path = prompt.split("` in `").nth(1).unwrap().split('`').next().unwrap();
        edit(path, "    raise NotImplementedError\n", "    return None\n")
    } else if prompt.contains("More lines must go than come") {
        edit(CODE, "    for number in numbers:\n        result += number\n", "")
    } else if prompt.contains("undoing a past change of `mean`") {
        edit(CODE, "    if not numbers:\n        raise ValueError(\"nothing\")\n", "")
    } else {
        edit(CODE, "        result += number\n", "        result -= number\n")
    };
    if done { SUBMIT.to_owned() } else { format!("My plan.\n{block}") }
}

#[test]
fn unfinished_work_is_graded_or_not_as_the_config_says() {
    let Some(bed) = bed() else { return };
    let list = "```list\n```".to_owned();
    let policy = solver(vec![[right(), vec!["```run\n```".to_owned(), list.clone(), list]].concat()]);
    let played = |budget: RepoBudget, grade_unfinished: bool| {
        let config = config("think").with(|c| {
            c.own.solver_budget = budget;
            c.own.grade_unfinished = grade_unfinished;
            c.shared.group_size = 2;
        });
        first_step(bed, &game(bed, config, &[bed.artifact().clone()]), &policy).0
    };
    let wide = RepoBudget { turns: 9, ..config("think").own.solver_budget };
    let third = repairs(&played(wide, true))[0].episode.turns[2].prompt.chars().count();
    for (budget, end) in [
        (RepoBudget { turns: 3, ..wide }, "out_of_turns"),
        (RepoBudget { fuel: 10_000, ..wide }, "out_of_fuel"),
        (RepoBudget { prompt_chars: third - 1, ..wide }, "out_of_room"),
    ] {
        for (grade_unfinished, status) in [(true, Status::Accepted), (false, Status::Malformed)] {
            let played = played(budget, grade_unfinished);
            let ended = repairs(&played)[0].episode.end.as_deref();
            assert_eq!((ended, repaired(&played)[0]), (Some(end), status));
        }
    }
}

/// Fails the jobs of an image. Tests with the package in another instance run in the image of tools, too.
fn without_image<'a>(bed: &'a Bed, image: &'static str) -> impl Execute + 'a {
    faulty(&bed.sandbox, move |job: &Job| job.image == image && job.callee.is_none())
}

#[test]
fn a_host_fault_drops_what_it_touched_and_is_nobodys_reward() {
    let Some(bed) = bed() else { return };
    let modes = vec![InjectionMode::Direct];
    let config = config("think").with(|c| (c.own.injections_per_step, c.own.modes) = (1, modes));
    let measured = measuring(bed, config.clone(), &[bed_second(bed)]);
    let game = game(bed, config, &[bed.artifact().clone()]);
    let policy = solver(vec![right(), vec!["```list\n```".to_owned()]]);
    let mut state = begun(&game);
    let played = step(&game, &policy, &without_image(bed, TOOL_ENV), &mut state, 0);
    // An edit needs no job, so the right repairs go on; what looked is gone.
    assert_each(repairs(&played).iter().map(|repair| repair.judged.verdict.is_ok()), [true, false, true, false]);
    assert_eq!((played.counts.attempts, played.counts.accepted), (2, 2));
    assert!(repairs(&played)[1].episode.reward.is_none() && repairs(&played)[1].episode.end.is_none());
    assert_eq!(game.replay(&bed.sandbox, &played.records).unwrap().dropped, played.counts.dropped);
    let lost = step(&game, &policy, &without_image(bed, "python"), &mut state, 1);
    assert_eq!((lost.counts.attempts, lost.batches.len()), (0, 0));
    let context = StepContext { policy: &policy, execute: &without_image(bed, "python"), seed: 1 };
    assert!(matches!(measured.evaluate(&context), Err(PlayError::Host(_))), "a number with holes is no number");
}

/// Another bug of the repository.
fn bed_second(bed: &Bed) -> BugArtifact {
    let buggy = bed.with("src/tally/names.py", "    if count == 1:\n", "    if count == 2:\n");
    let failing = ["tests/test_names.py::test_label".to_owned()].into();
    let weakening = weaken_tests(&bed.sandbox, &bed.repo(), &failing).unwrap().unwrap();
    let tests = ["tests/test_names.py"];
    bed.valid(Trust::Shared, &BugProposal::first_order(bed.patch(&buggy), weakening, tests, "flip_operator", 0))
}

#[test]
fn the_compact_format_plays_whole_functions_and_is_taught_by_what_it_would_say() {
    let Some(bed) = bed() else { return };
    let config = config("compact").with(|c| {
        c.shared.group_size = 2;
        c.own.injections_per_step = 1;
        c.own.injection_share = 0.5;
        c.own.tasks_per_step = 2;
        c.own.modes = vec![InjectionMode::Direct];
        c.own.sft_bugs = 2;
        c.shared.sft_samples = 1;
        c.shared.sft_weight = 0.1;
    });
    let heldout = vec![bed_second(bed)];
    let prompt = |bugs: &[BugArtifact]| {
        let prompts = game(bed, config.clone(), bugs).preview(&bed.sandbox).unwrap();
        prompts.into_iter().find(|(what, _)| what == "solver").unwrap().1.text().into_owned()
    };
    let (prompt, measured_prompt) = (prompt(&[bed.artifact().clone()]), prompt(&heldout));
    let measured = measuring(bed, config.clone().with(|c| c.own.sft_bugs = 0), &heldout);
    let game = game(bed, config, &[bed.artifact().clone()]);
    let total =
        "def total(numbers):\n    result = 0\n    for number in numbers:\n        result += number\n    return result";
    assert!(prompt.starts_with("<BUG>def total(numbers):\n    result = 1\n") && prompt.ends_with("<FIX>"), "{prompt}");
    assert!(prompt.contains("<TEST>assert total(numbers()) == 6<FIX>"), "{prompt}");
    let buggy = measured_prompt.strip_prefix("<BUG>").unwrap().split("<TEST>").next().unwrap();
    let label = buggy.replace("if count == 2:", "if count == 1:");
    let answers = BTreeMap::from([(prompt, total.to_owned()), (measured_prompt, label)]);
    let policy = ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| match (turn.prompt.role, turn.sample) {
        (Role::SOLVER, 1) => "def total(numbers):\n    return 7".to_owned(),
        (Role::SOLVER, _) => answers.get(&*turn.prompt.text()).cloned().unwrap_or_else(|| "<BUG>".to_owned()),
        _ => format!("{}\n    return None", turn.prompt.text()[6..].lines().next().unwrap().replace("<INJECT>", "")),
    });
    let context = StepContext { policy: &policy, execute: &bed.sandbox, seed: 10 };
    let mut state = game.init(&context).unwrap();
    assert_eq!(state.sft_examples.len(), 2, "one of two repaired the training bug, and the injector made a bug");
    let played = game.step(&context, &mut state, 0).unwrap();
    let given = tasks(&played).into_iter().filter(|task| task.source == Source::Seed);
    let by_training: Vec<Status> = given.flat_map(statuses).collect();
    assert_eq!(by_training, [Status::Accepted, Status::WrongAnswer], "{:?}", played.metrics);
    assert!(sample_batches(&played).iter().any(|batch| batch.samples.iter().any(|one| one.imitate)));
    let held = measured.evaluate(&context).unwrap();
    let row = EvalRow { row: "swe_smith".to_owned(), tasks: 1, pass1: 7.0 / 8.0, greedy: 1.0, pass8: 1.0 };
    assert_eq!(held.rows, [row]);
    assert_eq!(held.mean, EvalNumbers { pass1: 7.0 / 8.0, greedy: 1.0, pass8: 1.0 });
    let examples = game.preview(&bed.sandbox).unwrap().into_iter().map(|(what, _)| what);
    assert_each(examples, ["injector, direct", "solver"]);
}

#[test]
fn a_direct_prompt_shows_another_bug_and_its_repair_is_judged_again_the_same() {
    let Some(bed) = bed() else { return };
    let config = config("direct").with(|c| {
        c.shared.examples = 1;
        c.own.tasks_per_step = 2;
        c.own.injections_per_step = 1;
        c.own.modes = vec![InjectionMode::Direct];
        c.own.grade_unfinished = false;
    });
    let training = [bed.artifact().clone(), bed_second(bed)];
    let new = |training: &[BugArtifact]| {
        BugRepair::new(config.clone(), training_on(repository(bed)), training, &[]).unwrap().with_examples(&bed.sandbox)
    };
    let refused = new(&training[..1]).err().unwrap().to_string();
    assert!(refused.contains("`examples` is `1`") && refused.contains("which is `1`"), "{refused}");
    let game = SelfPlay::new(new(&training).unwrap());
    let policy = ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| {
        let PromptContent::Messages(messages) = &turn.prompt.content else { panic!("{:?}", turn.prompt) };
        let [_, _, answer, question] = messages.as_slice() else { panic!("{messages:?}") };
        let total = "def total(numbers):\n";
        assert!(!(answer.content.contains(total) && question.content.contains(total)), "its own repair: {messages:?}");
        match turn.prompt.role {
            Role::SOLVER if question.content.contains(total) => {
                assert!(question.content.ends_with("\nassert total(numbers()) == 6"), "{}", question.content);
                format!("```python\n{total}    return sum(numbers)\n```\nIt began at 1.")
            }
            _ => "The count is wrong.".to_owned(),
        }
    });
    let (played, _) = first_step(bed, &game, &policy);
    let mut found = repaired(&played);
    found.sort_by_key(|status| *status == Status::Malformed);
    assert_eq!(found, [[Status::Accepted; 4], [Status::Malformed; 4]].concat());
    assert_eq!(played.metrics.injections["direct"].refused["unfinished"], 1);
    assert_eq!(same_again(bed, &game, &played), 9);
}

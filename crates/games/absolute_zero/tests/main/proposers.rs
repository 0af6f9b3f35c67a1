//! Which prompts a step asks, and which proposals count as the same.

use std::collections::BTreeSet;

use veriplay_absolute_zero::{AbsoluteZero, AbsoluteZeroConfig, TripletTask, draft_tasks, proposal_key};
use veriplay_core::{JAVASCRIPT, Proposal, Question, ScriptedPolicy, TaskType, Value};
use veriplay_python::Python;
use veriplay_selfplay::environment::{Environment, Proposer, Proposing, SamplingCall, Stage};
use veriplay_selfplay::game::Game;
use veriplay_selfplay::metrics::SolveCount;
use veriplay_selfplay::play::StepContext;
use veriplay_selfplay::rollout::{Episode, Part};
use veriplay_selfplay::splits::Guard;
use veriplay_selfplay::task_pool::{PoolTask, TaskPool};
use veriplay_verifier::ProposalGate;

use crate::support::{Exhausted, Nobody, adds, config, game, pair, proposal, seeds, task};

fn drawn(config: AbsoluteZeroConfig, numbers: std::ops::Range<i64>, stage: Stage, seed: u64, step: u64) -> Vec<Asked> {
    let mut pool = TaskPool::default();
    pool.add_seeds(seeds(numbers));
    let policy = ScriptedPolicy::new(|_| String::new());
    let context = StepContext { policy: &policy, execute: &Nobody, seed };
    let proposers = game(config).unwrap().proposers(&Proposing { context, pool: &pool, stage, step }).unwrap();
    let asked = |one: Proposer<AbsoluteZero>| Asked {
        task_type: one.request.task_type,
        text: one.episode.prompt().unwrap().text().into_owned(),
        given: one.request.given,
        rollouts: one.rollouts,
    };
    proposers.into_iter().map(asked).collect()
}

#[derive(Debug, PartialEq)]
struct Asked {
    task_type: TaskType,
    text: String,
    given: Option<String>,
    rollouts: usize,
}

fn of(asked: &[Asked], task_type: TaskType) -> Vec<&Asked> {
    asked.iter().filter(|one| one.task_type == task_type).collect()
}

#[test]
fn without_references_the_proposals_of_a_type_share_one_prompt() {
    let asked = drawn(config(), 0..9, Stage::Propose, 1, 0);
    for (task_type, text) in [(TaskType::Deduction, "<PD>"), (TaskType::Abduction, "<PA>")] {
        let of_type = of(&asked, task_type);
        assert_eq!((of_type.len(), of_type[0].rollouts, of_type[0].text.as_str()), (1, 4, text));
        assert_eq!(of_type[0].given, None);
    }
}

#[test]
fn programs_that_were_solved_are_continued_by_their_share_of_the_proposals() {
    let mut pool = TaskPool::default();
    pool.add_seeds(seeds(0..9));
    let counts = [(0, 8), (3, 8), (8, 8)];
    for (entry, (solved, judged)) in pool.entries().to_vec().iter().zip(counts) {
        pool.note(&entry.id, SolveCount { solved, judged });
    }
    let policy = ScriptedPolicy::new(|_| String::new());
    let context = StepContext { policy: &policy, execute: &Nobody, seed: 1 };
    let game = game(config().with(|c| c.own.extend_share = 0.75)).unwrap();
    let asked = game.proposers(&Proposing { context, pool: &pool, stage: Stage::Propose, step: 0 }).unwrap();
    let asked: Vec<(String, usize)> = asked
        .into_iter()
        .filter(|one| one.kind == "deduction")
        .map(|one| (one.episode.prompt().unwrap().text().into_owned(), one.rollouts))
        .collect();
    // Three were wanted, and of two programs it is known that they can be solved; what is left shares one prompt.
    let begun = |n: i64| (format!("<PD>def f(x):\n    x = x + {n}"), 1);
    assert_eq!(
        asked.iter().cloned().collect::<BTreeSet<_>>(),
        BTreeSet::from([begun(1), begun(2), ("<PD>".to_owned(), 2)])
    );
}

#[test]
fn error_tasks_are_proposed_where_they_are_named_and_change_no_other_prompt() {
    let with = config().with(|c| c.own.task_types.push(TaskType::Error));
    let asked = drawn(with, 0..9, Stage::Propose, 1, 0);
    let (last, others) = asked.split_last().unwrap();
    assert_eq!((last.task_type, last.text.as_str(), last.rollouts), (TaskType::Error, "<PE>", 4));
    assert_eq!(others, drawn(config(), 0..9, Stage::Propose, 1, 0));
}

#[test]
fn each_induction_proposal_is_given_another_program() {
    let asked = drawn(config(), 0..9, Stage::Propose, 1, 0);
    let of_type = of(&asked, TaskType::Induction);
    let given: BTreeSet<&String> = of_type.iter().map(|one| one.given.as_ref().unwrap()).collect();
    assert_eq!((of_type.len(), given.len()), (4, 4));
    assert!(of_type.iter().all(|one| one.rollouts == 1 && one.text.contains(one.given.as_ref().unwrap())));
}

#[test]
fn few_programs_are_asked_for_several_times_and_none_not_at_all() {
    assert_eq!(of(&drawn(config(), 0..1, Stage::Propose, 1, 0), TaskType::Induction).len(), 4);
    let asked = drawn(config(), 0..0, Stage::Propose, 1, 0);
    assert_eq!(asked.len(), 2);
    assert!(of(&asked, TaskType::Induction).is_empty());
}

#[test]
fn each_proposal_has_its_own_references_while_there_are_any() {
    let with = |numbers| drawn(config().with(|c| c.own.references = 3), numbers, Stage::Propose, 1, 0);
    let asked = with(0..20);
    let of_type = of(&asked, TaskType::Deduction);
    assert_eq!(of_type.iter().map(|one| &one.text).collect::<BTreeSet<_>>().len(), 4);
    assert!(of_type.iter().all(|one| one.rollouts == 1 && one.text.matches("<R>").count() == 3));
    assert!(of(&with(0..2), TaskType::Abduction).iter().all(|one| one.text.matches("<R>").count() == 2));
    assert_eq!(of(&with(0..0), TaskType::Abduction)[0].text, "<PA>");
}

#[test]
fn composites_are_asked_to_call_simple_programs_of_their_own_type() {
    let composites = |share: f64| {
        let config = config().with(|c| (c.shared.format, c.own.composite_share) = ("think".to_owned(), share));
        drawn(config, 0..20, Stage::Propose, 1, 0)
    };
    for asked in of(&composites(1.0), TaskType::Deduction) {
        assert_eq!(asked.rollouts, 1);
        let helpers =
            (0..4).filter(|number| asked.text.contains(&format!("def g_{number}(x):\n    return x + "))).count();
        assert!((1..=3).contains(&helpers) && asked.text.contains("calls every one of them"), "{}", asked.text);
    }
    assert!(of(&composites(1.0), TaskType::Induction).iter().all(|asked| !asked.text.contains("g_0")));
    let none = composites(0.0);
    assert_eq!(of(&none, TaskType::Deduction).len(), 1, "they share one prompt");
    assert!(none.iter().all(|asked| !asked.text.contains("g_0")));
}

#[test]
fn proposers_are_a_function_of_seed_step_and_stage() {
    let asked = |stage, seed, step| drawn(config().with(|c| c.own.references = 3), 0..30, stage, seed, step);
    let first = asked(Stage::Propose, 1, 0);
    assert_eq!(first, asked(Stage::Propose, 1, 0));
    assert!(
        [asked(Stage::Propose, 2, 0), asked(Stage::Propose, 1, 1), asked(Stage::SftPropose, 1, 0)]
            .iter()
            .all(|other| *other != first)
    );
    let none = config().with(|c| c.own.proposals_per_type = 0);
    assert_eq!(drawn(none, 0..9, Stage::Propose, 1, 0), []);
    let game = game(config()).unwrap();
    let seed = |stage, group, run, step| {
        game.sampling_seed(run, step, &SamplingCall { stage, part: Part::Proposal, group, chunk: 0, round: 0 })
    };
    let seeds = [
        seed(Stage::Solve, 4, 1, 0),
        seed(Stage::Propose, 4, 1, 0),
        seed(Stage::SftPropose, 4, 1, 0),
        seed(Stage::Solve, 4, 2, 0),
        seed(Stage::Solve, 4, 1, 1),
        seed(Stage::Solve, 3, 1, 0),
    ];
    assert_eq!(seeds.iter().collect::<BTreeSet<_>>().len(), 6);
}

fn triplet(program: &str, input: i64) -> Proposal {
    let input = vec![Value::int(input)];
    Proposal::Triplet { task_type: TaskType::Deduction, program: program.to_owned(), input }
}

#[test]
fn a_key_tells_type_program_and_inputs_apart_and_nothing_else() {
    let plain = triplet("def f(x):\n    return x + 1", 1);
    let same = triplet("def f(x):  # adds\n\n  return x + 1\n", 1);
    assert_eq!(proposal_key(&Python, &plain), proposal_key(&Python, &same));
    let others = [
        triplet("def f(x):\n    return x + 2", 1),
        triplet("def f(x):\n    return x + 1", 2),
        proposal(TaskType::Abduction, 1),
        proposal(TaskType::Induction, 1),
    ];
    assert!(others.iter().all(|other| proposal_key(&Python, other) != proposal_key(&Python, &plain)));
    let float = vec![Value::Float(1.0)];
    let float = Proposal::Triplet { task_type: TaskType::Deduction, program: adds(1), input: float };
    assert_ne!(proposal_key(&Python, &float), proposal_key(&Python, &plain));
}

#[test]
fn programs_in_javascript_are_named_by_their_tokens() {
    let key = |program: &str| proposal_key(&JAVASCRIPT, &triplet(program, 1));
    let own = "function f(x) { return x + 1; }";
    assert_eq!(key(own), key("function f(x) {\n  // one more\n  return x+1;\n}\n"));
    assert_ne!(key(own), key("function f(x) { return x + 2; }"));
    assert_ne!(key("class A { #a = 1; }"), key("class A { #b = 1; }"));
    let mut made = task(TaskType::Deduction, 1);
    made.0.question = Question::Deduction { program: own.to_owned(), pair: pair(1, 1) };
    assert_ne!(PoolTask::key(&made), key(own));
    made.0.language = Some("javascript".to_owned());
    assert_eq!(PoolTask::key(&made), key(own));
    let record = serde_json::to_string(&made).unwrap();
    assert_eq!(serde_json::from_str::<TripletTask>(&record).unwrap(), made);
}

#[test]
fn a_message_does_not_make_an_induction_proposal_new() {
    let with = |message: &str| Proposal::Inputs {
        program: adds(1),
        inputs: vec![vec![Value::int(1)], vec![Value::int(2)]],
        message: message.to_owned(),
    };
    assert_eq!(proposal_key(&Python, &with("")), proposal_key(&Python, &with("it adds")));
}

#[test]
fn a_task_has_the_key_of_its_proposal_and_the_class_of_its_length() {
    for task_type in TaskType::STANDARD {
        let task = task(task_type, 5);
        assert_eq!(PoolTask::key(&task), proposal_key(&Python, &proposal(task_type, 5)));
        assert_eq!(task.class(), 1);
    }
    let mut long = task(TaskType::Deduction, 5);
    for (lines, class) in [(0, 1), (2, 3), (7, 8), (30, 8)] {
        let program = format!("def f(x):\n{}    return x", "    x += 1\n".repeat(lines));
        long.0.question = Question::Deduction { program, pair: pair(1, 0) };
        assert_eq!(long.class(), class, "{lines}");
    }
}

#[test]
fn a_gate_that_refuses_every_draft_ends_with_the_rule_that_refused_most() {
    let gate: ProposalGate = toml::from_str(include_str!("gate.toml")).unwrap();
    let drafts = Box::new((0..).map(|n| proposal(TaskType::Deduction, n)));
    let error = draft_tasks(&Exhausted, &gate, &Guard::default(), drafts, 3).unwrap_err().to_string();
    for wanted in ["only 0 of 3 tasks", "drafts gave none", "the rule `limits` refused", "`gate.limits`"] {
        assert!(error.contains(wanted), "{error}");
    }
}

//! Problems and rounds that nothing is learned from.

use super::*;
use crate::hosts::faulty;

#[test]
fn proposals_that_cannot_be_read_or_are_refused_are_asked_of_nobody() {
    for (answer, rule) in [
        ("", "malformed"),
        ("x", "statement"),
        ("take c - 3 of c", "quotes_snippet"),
        ("a<TESTS>", "malformed"),
        ("Twice, x!", "held_out"),
    ] {
        let policy = ScriptedPolicy::new(move |turn| match turn.prompt.role {
            Role::PROPOSER => answer.to_owned(),
            _ => panic!("nobody may be asked"),
        });
        let rules = AgreementRules { quote_chars: 3, ..rules() };
        let game = game_with(config(), rules, &SNIPPETS[2..]);
        let step = played(&game, &policy, &mut State::default(), 0);
        let verdict = proposals(&step)[0].judged.verdict.as_ref().unwrap();
        let found = if verdict.status == Status::Malformed { "malformed" } else { &verdict.evidence.rule };
        assert_eq!(found, rule, "`{answer}`");
        assert!(step.batches.is_empty() && tasks(&step).is_empty());
        assert_eq!((step.counts.proposals, step.counts.valid_proposals, step.counts.attempts), (1, 0, 0));
    }
}

#[test]
fn a_problem_is_stated_once_while_it_is_remembered() {
    let policy = ScriptedPolicy::new(|turn| match turn.prompt.role {
        Role::PROPOSER => "double x".to_owned(),
        Role::SOLVER => [DOUBLE, ADDED, SQUARE][turn.sample % 3].to_owned(),
        _ => written(GOOD),
    });
    let asked = |memory, problems| {
        let game = game(config().with(|c| {
            c.shared.buffer_capacity = memory;
            c.own.problems = problems;
        }));
        let mut state = State::default();
        (0..2).map(|step| played(&game, &policy, &mut state, step).metrics.asked).collect::<Vec<_>>()
    };
    assert_eq!(asked(64, 3), [1, 0]);
    assert_eq!(asked(0, 3), [1, 1], "without memory the repeats within a step are told");
}

#[test]
fn earlier_problems_are_asked_again_as_the_curriculum_draws_them() {
    let policy = usual();
    let again = config().with(|c| {
        c.own.earlier_problems = 2;
        c.shared.curriculum = "frontier".to_owned();
    });
    let (game, mut state) = (game(again), State::default());
    let sources = |step: &Step| tasks(step).iter().map(|task| task.source).collect::<Vec<_>>();
    let first = played(&game, &policy, &mut state, 0);
    assert_eq!(sources(&first), [Source::Fresh]);
    let later: Vec<Step> = (1..8).map(|step| played(&game, &policy, &mut state, step)).collect();
    let step = later.iter().find(|step| sources(step).len() > 1).expect("an earlier problem is asked again");
    assert!(sources(step).contains(&Source::Pool) && step.metrics.learned > step.metrics.asked, "{:?}", step.metrics);
    assert_same_again(&game, sandbox(), &step.records);
}

#[test]
fn rounds_that_are_too_easy_too_hard_or_undecided_teach_nothing() {
    let cases: [(&'static [&'static str], &'static [&'static str], &str); 5] = [
        (&[DOUBLE, ADDED], &[GOOD], "easy"),
        (&["def f(x) return", "def f(x):\n    raise ValueError"], &[GOOD], "no_cluster"),
        (&[DOUBLE, SQUARE, ADDED, "def f(x):\n    return x ** 2"], &["3 => 6\n5 => 10", "3 => 9\n5 => 25"], "tie"),
        (&[DOUBLE, SQUARE, "def f(x):\n    return x - 1", "def f(x):\n    return -x"], &[GOOD], "few_codes"),
        (&[DOUBLE, ADDED, SQUARE], &["3 => 1\n5 => 1"], "few_tests"),
    ];
    for (codes, suites, expected) in cases {
        let step = once(config(), &policy(codes, suites));
        assert_eq!(rule(&step), expected);
        assert!(step.batches.is_empty() && step.metrics.decided == 0 && step.counts.accepted == 0, "{expected}");
        assert_eq!(filter(&step, expected).count, FilterCount::Refused(1));
    }
}

#[test]
fn codes_and_tests_that_flicker_are_not_learned() {
    const CHANCE: &str = "import random\n\ndef f(x):\n    return x * 2 + random.randrange(99)";
    let step = once(config(), &policy(&[CHANCE, DOUBLE, ADDED, SQUARE], &[GOOD, BAD]));
    let (examples, pairs) = learned(&step);
    assert!(examples.contains(&DOUBLE.to_owned()) && !examples.contains(&CHANCE.to_owned()));
    assert!(pairs.iter().all(|(chosen, rejected)| chosen != CHANCE && rejected != CHANCE));
}

#[test]
fn a_response_that_was_cut_off_is_malformed() {
    let config = config().with(|c| c.own.verifier_max_tokens = 12);
    let step = once(config, &policy(&[DOUBLE, ADDED, SQUARE], &[GOOD]));
    assert_eq!(rule(&step), "no_cluster", "no suite is left that names an input");
    let malformed = filter(&step, "malformed_suite");
    assert_eq!(malformed.count, FilterCount::Refused(malformed.seen));
}

#[test]
fn a_host_fault_drops_its_problem_and_the_step_goes_on() {
    let policy = ScriptedPolicy::new(|turn| match turn.prompt.role {
        Role::PROPOSER => statement(turn),
        Role::SOLVER if turn.prompt.text().contains("second") => [DOUBLE, TWICE, SQUARE][turn.sample % 3].to_owned(),
        Role::SOLVER => [DOUBLE, ADDED, SQUARE][turn.sample % 3].to_owned(),
        _ => written([GOOD, BAD][turn.sample % 2]),
    });
    let game = game(config().with(|c| c.own.problems = 3));
    let faulty = faulty(sandbox(), |job: &Job| job.program == TWICE);
    let context = StepContext { policy: &policy, execute: &faulty, seed: 5 };
    let step = game.step(&context, &mut State::default(), 0).unwrap();
    assert_eq!((step.metrics.asked, step.metrics.dropped, step.metrics.decided), (3, 1, 2));
    assert_eq!((step.counts.dropped, step.counts.attempts), (8, 16));
    assert!(learned(&step).0.iter().all(|text| text != TWICE));
    let again = game.replay(sandbox(), &step.records).unwrap();
    assert_eq!((again.dropped, again.verdicts, again.same), (8, 3 + 2 * 9, 3 + 2 * 9));
}

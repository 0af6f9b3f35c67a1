//! The attempts to cheat, played for real.

use super::*;

/// The game of a cheat: its problem is stated, its codes are written in order, and each of its suites for its code.
fn cheating(cheat: &Cheat) -> ScriptedPolicy {
    let format = by_name("think").unwrap();
    let written = cheat.written.clone();
    let program = |text: &str| if text == "malformed" { String::new() } else { format.program_response(text) };
    let codes: Vec<String> = written.codes.iter().map(|text| program(text)).collect();
    ScriptedPolicy::new(move |turn| match turn.prompt.role {
        Role::PROPOSER => format.problem_response(&written.statement),
        Role::SOLVER => codes[turn.sample].clone(),
        _ => {
            let is_for = |(candidate, _): &&(usize, String)| {
                turn.prompt.text().contains(&format!("```python\n{}\n```", written.codes[*candidate]))
            };
            let mut suites = written.suites.iter().filter(is_for);
            suites.nth(turn.sample).map_or_else(String::new, |(_, lines)| response(format, lines))
        }
    })
}

fn response(format: &dyn SolVerFormat, lines: &str) -> String {
    let read: TestSuite = if lines == "malformed" { TestSuite::default() } else { suite(lines) };
    format.suite_response(&read)
}

/// What the target's text is in a response.
fn target_text(cheat: &Cheat) -> String {
    let format = by_name("think").unwrap();
    match cheat.target {
        Target::Problem => String::new(),
        Target::Code(code) => format.program_response(&cheat.written.codes[code]),
        Target::Suite(place) => response(format, &cheat.written.suites[place].1),
    }
}

fn play_cheat(cheat: &Cheat) -> Step {
    let codes = cheat.written.codes.len().max(2);
    let config = config().with(|c| {
        (c.shared.format, c.shared.group_size) = ("think".to_owned(), codes);
        (c.own.candidates, c.own.suites, c.own.margin) = (codes, 3, 0.1);
        (c.own.sft_codes, c.own.sft_suites) = (9, 9);
        (c.own.code_pairs, c.own.test_pairs) = (99, 99);
    });
    let game = game_with(config, cheat.rules.clone(), &[&cheat.snippet]);
    let (policy, mut state) = (cheating(cheat), State::default());
    if cheat.known {
        played(&game, &policy, &mut state, 0);
    }
    played(&game, &policy, &mut state, 1)
}

#[test]
fn no_cheat_becomes_an_example_or_the_chosen_side_of_a_pair() {
    let (mut honest, mut faults) = (0, Vec::new());
    for cheat in cheats() {
        let step = play_cheat(&cheat);
        let (examples, pairs) = learned(&step);
        let target = target_text(&cheat);
        let taken = examples.iter().chain(pairs.iter().map(|(chosen, _)| chosen));
        let taken = taken.filter(|text| target.is_empty() || **text == target).count();
        if cheat.rule.is_empty() {
            honest += 1;
            assert!(taken > 0, "{}: an honest one is learned from", cheat.name);
        } else if taken > 0 {
            faults.push(format!("{}: {taken} times", cheat.name));
        }
        assert_eq!(proposals(&step).len(), 1);
    }
    assert!(honest >= 3 && faults.is_empty(), "{faults:?}");
}

#[test]
fn a_round_that_trusts_a_measured_program_is_refused_and_counted_and_another_is_learned_from() {
    const RENAMED: &str = "def f(y):  # twice\n    return 2*y";
    let measured = once(config(), &policy(&[RENAMED, SQUARE, RENAMED, SQUARE], &[GOOD, BAD]));
    assert_eq!(rule(&measured), HELD_OUT, "{:?}", measured.records);
    assert!(measured.batches.is_empty() && measured.metrics.learned == 0);
    assert_eq!((measured.counts.valid_proposals, measured.counts.proposals_in_held_out), (0, 1));
    let filter = filter(&measured, "held_out_code");
    assert_eq!((filter.seen, filter.count), (1, FilterCount::Refused(1)));
    assert_same_again(&game(config()), sandbox(), &measured.records);
    let other = once(config(), &policy(&[DOUBLE, SQUARE, DOUBLE, SQUARE], &[GOOD, BAD]));
    assert!(!other.batches.is_empty());
    assert_eq!((other.counts.valid_proposals, other.counts.proposals_in_held_out), (1, 0));
    let random = config().with(|c| c.own.selection = Selection::Random);
    let control = once(random, &policy(&[RENAMED, SQUARE, RENAMED, SQUARE], &[GOOD, BAD]));
    assert!(control.batches.is_empty(), "the control learns nothing of what is measured either");
}

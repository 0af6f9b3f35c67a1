//! What challengers propose, in both prompts, and what the gate says.

use veriplay_core::Status;
use veriplay_selfplay::metrics::FilterCount;
use veriplay_tests::assert_each;
use veriplay_verifier::environments::ArtifactGate;

use super::*;

/// A proposal of the compact format.
fn sketch(instruction: &str, solution: &str, wrong: &[&str]) -> String {
    let wrong: String = wrong.iter().map(|change| format!("<WRONG>{change}")).collect();
    format!("{instruction}<CODE>{solution}{wrong}")
}

const SHIP: &str = "ship_order('O101')";
const OTHERS: [&str; 3] = ["1 ship_order('O102')", "1 ship_order('O104')", "1 ship_order('O106')"];

#[test]
fn a_compact_proposal_is_completed_and_judged_by_the_whole_gate() {
    // Compact proposals, and all rules that must refuse them.
    let cases = include_str!("compact.jsonl").lines().map(|line| serde_json::from_str(line).unwrap());
    let cases: Vec<(String, Vec<String>)> = cases.collect();
    let texts: Vec<&str> = cases.iter().map(|(text, _)| text.as_str()).collect();
    let game = game(config("compact").with(|c| c.own.challenges_per_step = cases.len()));
    let played = once(&game, &policy(&texts, &[WRONG]));
    for (record, (text, rules)) in proposals(&played).into_iter().zip(&cases) {
        let (judged, verdict) = (&record.judged, record.judged.verdict.as_ref().unwrap());
        assert_eq!(&judged.detail, rules, "{text}\n{verdict:?}");
        let status = match rules.first().map(String::as_str) {
            None => Status::Valid,
            Some("malformed") => Status::Malformed,
            Some(_) => Status::Invalid,
        };
        assert_eq!(verdict.status, status, "{text}");
        assert_eq!(judged.task.is_some(), status != Status::Malformed, "{text}");
    }
    let metrics = &played.metrics;
    let yields = metrics.filters.iter().map(|one| (one.name.as_str(), one.seen, one.count));
    let (all, readable) = (cases.len(), cases.len() - 3);
    let expected = [
        ("readable", all, readable),
        ("disjoint", readable, readable),
        ("new", readable, readable),
        ("executable", readable, readable - 1),
        ("solution", readable - 1, readable - 2),
        ("failures", readable - 2, readable - 6),
        ("all", readable - 6, 1),
    ];
    let expected = expected.map(|(name, seen, passed)| (name, seen, FilterCount::Passed(passed)));
    assert_eq!(yields.collect::<Vec<_>>(), expected);
    assert_eq!(metrics.challenger.well_formed_share, Some(readable as f64 / all as f64));
    assert_eq!((metrics.refused["malformed"], metrics.refused["case_nondeterministic"]), (3, 1));
    assert_eq!((played.counts.proposals, played.counts.valid_proposals), (all as u64, 1));
}

#[test]
fn a_completed_task_accepts_what_its_solution_left_and_nothing_else() {
    let codes = [
        RIGHT,
        WRONG,
        "cancel_order('O101')\nanswer(8.0)",
        "cancel_order('O101')\nanswer(True + 7)",
        "cancel_order('O101')",
        "answer(8)",
        "cancel_order('O101')\nanswer(8)\nraise ValueError(1)",
        "cancel_order('O101')\nx = 1 / 0\nanswer(8)",
    ];
    let game = game(config("compact").with(|c| c.shared.group_size = codes.len()));
    let played = once(&game, &policy(&[VALID], &codes));
    let [record] = tasks(&played)[..] else { panic!("{:?}", played.metrics) };
    let accepted = statuses(record).into_iter().map(|status| status == Status::Accepted);
    assert_each(accepted, [true, false, false, true, false, false, false, false]);
    assert_eq!(record.source, Source::Fresh);
}

fn think(instruction: &str, verify: &str, solution: &str, failures: &[&str]) -> String {
    let block = |label: &str, text: &str| format!("```{label}\n{text}\n```\n");
    let failures: String = failures.iter().map(|code| block("failure", code)).collect();
    [block("instruction", instruction), block("verify", verify), block("solution", solution), failures].concat()
}

const SHIPPED: &str = "def verify(before, after, answer):\n    return after['orders']['O101']['status'] == 'shipped'";
const FAILURES: [&str; 3] = ["ship_order('O102')", "ship_order('O104')", "ship_order('O106')"];

#[test]
fn a_challengers_own_verification_function_is_held_to_the_same_rules() {
    let random = "import random\ndef verify(before, after, answer):\n    return random.random() < 0.5";
    let raises = "def verify(before, after, answer):\n    return answer['x']";
    let never = "def verify(before, after, answer):\n    return False";
    let always = "def verify(before, after, answer):\n    return True";
    let far = "list_products()\nlist_customers()\nship_order('O102')";
    let both = ["failure_accepted", "nothing_accepted"];
    let cases: Vec<(String, &[&str])> = vec![
        (think("Ship O101.", SHIPPED, "ship_order( 'O101')", &FAILURES), &[]),
        (think("Ship O101.", raises, "ship_order('O10' + '1')", &FAILURES), &["verifier_runs"]),
        (think("Ship O101.", never, "ship_order('O101' + '')", &FAILURES), &["solution_refused"]),
        (think("Ship O101.", always, "ship_order(order_id='O101')", &FAILURES), &both),
        (think("Ship O101.", SHIPPED, "ship_order('O' + '101')", &[FAILURES[0], FAILURES[1], far]), &["distant_case"]),
        (think("Ship O101.", random, "ship_order('O1' + '01')", &FAILURES), &["verifier_nondeterministic"]),
    ];
    let texts: Vec<&str> = cases.iter().map(|(text, _)| text.as_str()).collect();
    let gate = ArtifactGate { max_changed_lines: Some(3), ..gate() };
    let game = game_by(config("think").with(|c| c.own.challenges_per_step = cases.len()), gate, vec![given()]);
    let played = once(&game, &policy(&texts, &["```python\nship_order('O101')\nanswer(None)\n```"]));
    for (record, (text, rules)) in proposals(&played).into_iter().zip(&cases) {
        let refused = &record.judged.detail;
        let wanted = |rule: &&str| refused.iter().any(|found| found == rule);
        // What a random function says of the cases is the draw's.
        assert!(rules.iter().all(wanted), "{text}\n{refused:?}");
        assert_eq!(refused.is_empty(), rules.is_empty(), "{text}\n{refused:?}");
    }
    let [record] = tasks(&played)[..] else { panic!("{:?}", played.metrics) };
    assert_eq!((record.source, statuses(record)), (Source::Fresh, vec![Status::Accepted; 4]));
}

#[test]
fn a_challenger_explores_in_turns_and_executors_look_before_they_act() {
    let proposal = think("Ship O101.", SHIPPED, "ship_order('O101')", &FAILURES);
    let explore = "```python\nprint(list_orders('C1'))\n```".to_owned();
    let policy = ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| {
        let seen = turn.prompt.text().contains("['O100', 'O101', 'O106']");
        match (turn.prompt.role, seen) {
            (_, false) => explore.clone(),
            (Role::PROPOSER, true) => proposal.clone(),
            (_, true) => "```python\nship_order('O101')\nanswer(None)\n```".to_owned(),
        }
    });
    let game = game(config("think"));
    let played = once(&game, &policy);
    let (challenge, attempts) = (proposals(&played)[0], tasks(&played)[0]);
    assert_eq!((challenge.episode.turns.len(), challenge.episode.end.as_deref()), (2, Some("proposed")));
    assert_eq!(statuses(attempts), [Status::Accepted; 4]);
    assert_eq!(played.metrics.executor.turns_mean, Some(2.0));
    let metrics = &played.metrics;
    assert_eq!([&metrics.challenger, &metrics.executor].map(|role| role.well_formed_share), [Some(1.0); 2]);
    assert!(played.batches.is_empty(), "all did it, and one challenger alone is its own mean");
}

#[test]
fn what_is_known_is_refused_and_not_asked_again() {
    let game = game(config("compact").with(|c| c.own.challenges_per_step = 2));
    let policy = policy(&[VALID], &[RIGHT, WRONG]);
    let mut state = begun(&game, &policy);
    let played = step(&game, &policy, sandbox(), &mut state, 0);
    assert_each(proposals(&played).iter().map(|record| record.judged.known), [false, true]);
    assert_eq!(proposed(&state).len(), 1);
    assert_eq!(proposals(&played)[1].judged.detail, ["duplicate"]);
    let again = step(&game, &policy, sandbox(), &mut state, 1);
    assert!(proposals(&again).iter().all(|record| record.judged.known) && proposed(&state).len() == 1);
    // What is measured is refused too, by its words.
    let held = task("orders/refund_the_rest");
    let words = sketch(&held.instruction.to_uppercase(), SHIP, &OTHERS);
    let played = once(&game, &super::policy(&[&words], &[RIGHT]));
    assert_eq!(proposals(&played)[0].judged.detail, [HELD_OUT]);
}

#[test]
fn a_response_that_is_cut_off_proposes_nothing() {
    let game = game(config("compact").with(|c| c.shared.proposer_max_tokens = 20));
    let played = once(&game, &policy(&[VALID], &[RIGHT]));
    assert_eq!(proposals(&played)[0].judged.verdict.as_ref().unwrap().status, Status::Malformed);
    assert_eq!(tasks(&played)[0].source, Source::Seed);
}

#[test]
fn a_proposal_that_asks_or_does_what_is_measured_is_refused_and_counted_and_another_is_admitted() {
    let (measured, other) = (task("orders/refund_the_rest").clone(), "ship O101");
    let (instruction, solution) = (measured.instruction.to_uppercase(), format!("{}  # mine", measured.solution));
    let texts = [
        sketch(&instruction, "ship_order('O104')", &OTHERS),
        sketch("give the rest back", &solution, &["1", "1 x", "1 y"]),
        sketch(other, SHIP, &OTHERS),
    ];
    let game = game(config("compact").with(|c| c.own.challenges_per_step = texts.len()));
    let policy = policy(&texts.iter().map(String::as_str).collect::<Vec<_>>(), &[WRONG]);
    let mut state = begun(&game, &policy);
    let played = step(&game, &policy, sandbox(), &mut state, 0);
    let rules = proposals(&played).into_iter().map(|record| record.judged.detail.as_slice());
    let refused = [HELD_OUT.to_owned()];
    assert_each(rules, [&refused[..], &refused, &[]]);
    assert_eq!((played.counts.valid_proposals, played.counts.proposals_in_held_out), (1, 2));
    assert_each(proposed(&state).iter().map(|task| task.instruction.as_str()), [other]);
    assert_same_again(&game, sandbox(), &played.records);
}

//! The search for the solvers' temperature: what is tried where, what it scores, and what a saved state knows of it.

use veriplay_selfplay::settings::{LearnFrom, TemperatureSearch};

use super::*;

/// Rounds of four steps, of which two try three temperatures.
fn searching() -> AbsoluteZeroConfig {
    let search = TemperatureSearch { temperatures: vec![0.5, 1.0, 1.5], every: 4, measured_steps: 2, right_answers: 2 };
    config().with(|c| (c.shared.temperature_search, c.shared.sft_samples) = (Some(search), 0))
}

/// Cold attempts are alike, hot ones wrong.
fn by_temperature() -> ScriptedPolicy {
    ScriptedPolicy::new(|turn| {
        let answers = match (turn.prompt.role, turn.sampling.temperature) {
            (Role::PROPOSER, _) => ["junk"; 4],
            (_, 0.5) => ["right"; 4],
            (_, 1.0) => ["right", "wrong", "right, too", "wrong"],
            _ => ["wrong", "wrong", "wrong", "right"],
        };
        answers[turn.sample].to_owned()
    })
}

/// The first answers to each task of a step, which tell the temperature that [`by_temperature`] was sampled at.
fn answers(output: &Output<Table>) -> Vec<[&str; 2]> {
    let texts = |task: &Solved| [0, 2].map(|sample| task.attempts[sample].episode.turns[0].text.clone());
    let told = tasks(&output.records).map(texts).map(|[first, third]| match (first.as_str(), third.as_str()) {
        ("right", "right") => ["0.5", "alike"],
        ("right", "right, too") => ["1.0", "different"],
        _ => ["1.5", "wrong"],
    });
    told.collect()
}

fn number(output: &Output<Table>, name: &str) -> Option<String> {
    output.numbers.get(name).map(|number| format!("{number:.3}"))
}

#[test]
fn the_temperature_of_the_most_different_right_answers_samples_the_rest_of_a_round() {
    let (game, mut state) = (table(searching()), seeded(0..9));
    for step in 0..9 {
        let output = game.step(&context(&by_temperature()), &mut state, step).unwrap();
        let found = answers(&output);
        assert_eq!(found.len(), 12);
        let told = ["search_temperature", "search_diversity", "search_correct_share"].map(|name| number(&output, name));
        let of_arm = ["0.5", "1.0", "1.5"].map(|arm| number(&output, &format!("search_score/{arm}")));
        if step % 4 < 2 {
            let tried = found.iter().map(|[temperature, _]| *temperature);
            let wanted = ["0.5", "1.0", "1.5"].into_iter().cycle().skip(step as usize % 3);
            assert!(tried.eq(wanted.take(12)), "step {step}: {found:?}");
            // (1/2 + 1 + 1/2) / 3 and (1/4 + 2/4 + 1/4) / 3.
            assert_eq!(told[1..], [Some("0.667".to_owned()), Some("0.333".to_owned())]);
        } else {
            assert!(found.iter().all(|one| *one == ["1.0", "different"]), "step {step}: {found:?}");
            assert_eq!(told, ["1.000", "1.000", "0.500"].map(|number| Some(number.to_owned())));
        }
        // min(1/2, 1) · 1/4, min(2/2, 1) · 2/4 and the first again.
        let scores = ["0.125", "0.500", "0.125"].map(|score| (step % 4 == 1).then(|| score.to_owned()));
        assert_eq!(of_arm, scores, "step {step}");
    }
}

#[test]
fn where_nothing_is_right_solvers_keep_their_temperature() {
    let game = table(searching().with(|c| c.shared.solver_temperature = 0.25));
    let policy = ScriptedPolicy::new(|turn| match turn.prompt.role {
        Role::PROPOSER => "junk".to_owned(),
        _ => format!("wrong at {}", turn.sampling.temperature),
    });
    let mut state = seeded(0..9);
    let outputs = (0..3).map(|step| game.step(&context(&policy), &mut state, step).unwrap());
    let outputs: Vec<Output<Table>> = outputs.collect();
    assert_eq!(number(&outputs[1], "search_score/1.0"), Some("0.000".to_owned()));
    assert_eq!(number(&outputs[2], "search_temperature"), Some("0.250".to_owned()));
    let mut attempts = tasks(&outputs[2].records).flat_map(|task| &task.attempts);
    assert!(attempts.all(|one| one.episode.turns[0].text == "wrong at 0.25"));
}

#[test]
fn a_search_goes_on_from_a_saved_state_at_any_step_and_its_log_is_replayed() {
    let game = table(searching());
    let (mut live, mut saved) = (seeded(0..9), seeded(0..9));
    for step in 0..6 {
        saved = serde_json::from_str(&serde_json::to_string(&saved).unwrap()).unwrap();
        let one = game.step(&context(&by_temperature()), &mut live, step).unwrap();
        let other = game.step(&context(&by_temperature()), &mut saved, step).unwrap();
        assert_eq!((&one.records, &one.numbers, &one.batches), (&other.records, &other.numbers, &other.batches));
        assert_eq!(live, saved, "step {step}");
        let report = game.replay(&Nobody, &one.records).unwrap();
        assert_eq!(report.verdicts, report.same);
    }
    assert!(!live.temperatures.is_empty());
}

#[test]
fn without_a_search_a_step_says_nothing_of_one_and_no_reference_is_held() {
    let mut state = seeded(0..9);
    let output = table(config()).step(&context(&by_temperature()), &mut state, 0).unwrap();
    assert!(output.numbers.is_empty() && state.temperatures.is_empty());
    let pairs = |config: AbsoluteZeroConfig| config.with(|c| c.shared.learn_from = LearnFrom::Pairs).shared;
    assert!(pairs(searching()).holds_reference() && !pairs(config()).holds_reference());
}

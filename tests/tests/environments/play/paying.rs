//! What both roles are paid, what is learned from it, host faults, cheats, and verdicts made again.

use veriplay_core::{Dropped, Job, Sample};
use veriplay_selfplay::eval_table::{EvalNumbers, EvalRow};
use veriplay_selfplay::play::PlayError;

use super::*;
use crate::hosts::faulty;

fn samples(played: &Step) -> Vec<Sample> {
    sample_batches(played).into_iter().flat_map(|batch| batch.samples.clone()).collect()
}

fn weight_of(samples: &[Sample], text: &str) -> Vec<f32> {
    let tokens: Vec<u32> = text.bytes().map(u32::from).chain([0]).collect();
    samples.iter().filter(|sample| sample.response == tokens).map(|sample| sample.weight).collect()
}

#[test]
fn advantages_train_both_roles_and_successes_imitate_what_was_paid() {
    let play = |config: SelfChallengeConfig| {
        let config = config.with(|c| c.own.challenges_per_step = 2);
        samples(&once(&game(config), &policy(&[VALID, "nothing"], &[RIGHT, WRONG])))
    };
    let weighed = play(config("compact"));
    let weights = |samples: &[Sample]| [RIGHT, WRONG, VALID, "nothing"].map(|text| weight_of(samples, text));
    // The challenger weighs half.
    assert_eq!(weights(&weighed), [vec![1.0, 1.0], vec![-1.0, -1.0], vec![0.5], vec![-0.5]]);
    assert!(weighed.iter().all(|sample| !sample.imitate && sample.behaviour.is_some()));
    let imitated = play(config("compact").with(|c| c.shared.learn_from = LearnFrom::Successes));
    assert!(imitated.iter().all(|sample| sample.imitate));
    assert_eq!(weights(&imitated), [vec![1.0, 1.0], vec![], vec![0.5], vec![]]);
}

#[test]
fn what_the_start_model_proposed_validly_is_imitated_ever_after() {
    let anchored = config("compact").with(|c| {
        c.own.sft_challenges = 2;
        c.shared.sft_samples = 4;
        c.shared.sft_weight = 0.25;
    });
    let game = game(anchored);
    let policy = policy(&[VALID, "nothing"], &[WRONG]);
    let mut state = begun(&game, &policy);
    assert_eq!(state.sft_examples.len(), 1);
    let played = step(&game, &policy, sandbox(), &mut state, 0);
    let anchors: Vec<Sample> = samples(&played).into_iter().filter(|sample| sample.imitate).collect();
    assert_eq!(weight_of(&anchors, VALID), [0.25]);
}

/// Fails the jobs whose text holds `mark`, as a broken host would.
fn lacking(mark: &'static str) -> impl Execute {
    faulty(sandbox(), move |job: &Job| serde_json::to_string(job).unwrap().contains(mark))
}

#[test]
fn a_host_fault_is_never_a_reward() {
    let codes = [RIGHT, WRONG, "cancel_order('O101')\nanswer(8) # unlucky", "list_products() # unlucky"];
    let (game, policy) = (game(config("compact")), policy(&[VALID], &codes));
    let mut state = begun(&game, &policy);
    let played = step(&game, &policy, &lacking("unlucky"), &mut state, 0);
    let record = tasks(&played)[0];
    let lost: Vec<bool> = record.attempts.iter().map(|attempt| attempt.judged.verdict.is_err()).collect();
    assert_eq!(lost, [false, false, true, true]);
    assert!(record.attempts[2].episode.reward.is_none() && record.attempts[2].episode.end.is_none());
    assert_eq!((played.counts.attempts, played.counts.accepted, played.counts.dropped), (2, 1, 2));
    assert_eq!(reward(&proposals(&played)[0].episode), 0.5, "a solve rate is over what was judged");
    assert!(weight_of(&samples(&played), codes[2]).is_empty());
    // A challenge that is lost is neither paid nor a refusal.
    let played = step(&game, &policy, &lacking("O102"), &mut begun(&game, &policy), 0);
    let lost = proposals(&played)[0];
    assert!(lost.judged.verdict.is_err() && lost.episode.reward.is_none() && played.counts.proposals == 0);
    // And a measurement with a hole is none.
    let context = StepContext { policy: &policy, execute: &lacking("unlucky"), seed: 7 };
    assert!(matches!(game.evaluate(&context), Err(PlayError::Host(Dropped { .. }))));
}

#[test]
fn cheats_are_not_paid() {
    let codes = [
        "answer(8)\nimport os\nos._exit(0)",
        "raise SystemExit",
        "class Any:\n    def __eq__(self, other):\n        return True\nanswer(Any())",
        "cancel_order = lambda order: None\ncancel_order('O101')\nanswer(8)",
        "print('Accepted')\nanswer(True)",
        "import sys\nframe = sys._getframe()\nwhile frame.f_back:\n    frame = frame.f_back\n    frame.f_globals['calls'] = [('cancel_order', ['O101'], {})]\nanswer(None)",
        "while True:\n    list_products()",
        "<CODE>answer(8)",
    ];
    let game = game(config("compact").with(|c| c.shared.group_size = codes.len()));
    let played = once(&game, &policy(&[VALID], &codes));
    let task = tasks(&played)[0];
    assert!(task.attempts.iter().all(|attempt| reward(&attempt.episode) == 0.0), "{:?}", statuses(task));
}

#[test]
fn a_verdict_comes_out_the_same_again_from_the_texts_alone() {
    for format in ["compact", "direct", "think"] {
        let block = |code: &str| format!("```python\n{code}\n```");
        let (right, look, wrong) = (block("cancel_order('O101')\nanswer(8)"), block("print(1)"), block("answer(8)"));
        let (texts, codes) = match format {
            "compact" => (vec![VALID, "nothing", VALID], vec![RIGHT, WRONG]),
            "direct" => (vec![VALID_DIRECT, "nothing", VALID_DIRECT], vec![right.as_str(), wrong.as_str()]),
            _ => (vec![look.as_str()], vec![right.as_str(), look.as_str(), wrong.as_str()]),
        };
        let config = config(format).with(|c| {
            c.own.challenges_per_step = 3;
            c.own.tasks_per_step = 2;
            c.own.fresh_share = 0.5;
        });
        let game = game(config);
        let played = once(&game, &policy(&texts, &codes));
        let (asked, verdicts) = (tasks(&played).len(), 3 + 4 * tasks(&played).len() as u64);
        assert_eq!(asked, if format == "think" { 1 } else { 2 }, "{format}");
        assert_eq!(assert_same_again(&game, sandbox(), &played.records), verdicts, "{format}");
        let mut forged = played.records.clone();
        for record in &mut forged {
            if let LogRecord::Task(task) = record {
                task.attempts[0].episode.turns[0].text = "answer(None)".to_owned();
            }
        }
        let again = game.replay(sandbox(), &forged).unwrap();
        assert_eq!(again.verdicts - again.same, asked as u64, "{format}");
        assert!(matches!(game.replay(&lacking("O101"), &played.records), Err(PlayError::Host(_))));
    }
}

#[test]
fn a_measurement_counts_samples_and_the_greedy_response() {
    let solution = task("orders/refund_the_rest").solution.clone();
    let policy = ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| {
        let right = turn.sampling.temperature == 0.0 || turn.sample < 2;
        if right { solution.clone() } else { "answer(1)".to_owned() }
    });
    let game = game(config("compact"));
    let (context, mut ended) = (StepContext { policy: &policy, execute: sandbox(), seed: 7 }, 0);
    let table = game.evaluate_watched(&context, &mut |more| ended += more).unwrap();
    assert_eq!((ended, game.evaluation_episodes()), (9, 9));
    let row = EvalRow { row: "orders".to_owned(), tasks: 1, pass1: 0.25, greedy: 1.0, pass8: 1.0 };
    assert_eq!(table.rows, [row]);
    assert_eq!(table.mean, EvalNumbers { pass1: 0.25, greedy: 1.0, pass8: 1.0 });
}

#[test]
fn a_game_that_cannot_be_played_says_what_is_wrong() {
    let made = |config, gate, given, evaluation| {
        let game = SelfChallenge::new(config, gate, worlds(), given, evaluation, Guard::default());
        game.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let new = |config, given| made(config, gate(), given, evaluation());
    let compact = || config("compact");
    assert_eq!(new(compact(), vec![given()]), "");
    let held = || task("orders/refund_the_rest").clone();
    let copied = CodeTask { solution: format!("# mine\n{}", held().solution), ..given() };
    let elsewhere = CodeTask { environment: "moon".to_owned(), ..given() };
    let overlap = "task `orders/refund_the_rest` of the given tasks contains a text of the held_out set: task `orders/refund_the_rest`";
    for (error, why) in [
        (new(compact().with(|c| c.own.fresh_share = 1.5), vec![]), "`fresh_share` is"),
        (new(compact().with(|c| c.shared.format = "terse".to_owned()), vec![]), "`format` is"),
        (
            new(compact().with(|c| c.own.challenges_per_step = 0), vec![]),
            "there are no given tasks, and the config makes none",
        ),
        (new(compact(), vec![held()]), overlap),
        (new(compact(), vec![copied]), "contains a program of the held_out set: "),
        (new(compact(), vec![elsewhere]), "is about environment `moon`, which is not among those given"),
        (made(compact(), gate(), vec![], vec![]), "there is no task to evaluate on"),
        (made(compact(), ArtifactGate { seeds: [1, 1], ..gate() }, vec![], evaluation()), "seeds"),
    ] {
        assert!(error.contains(why), "{why}: {error}");
    }
}

#[test]
fn methods_of_ones_own_play_this_game() {
    exercise::play(game(config("compact")).game, &policy(&[VALID], &[RIGHT, WRONG]), sandbox());
}

//! Bugs of a step: the model's in each mode, mutants, and refused ones; the reward of each.

use veriplay_bug_repair::{BugOrigin, InjectionMode, TestCommandSource};
use veriplay_core::{Role, ScriptedPolicy, ScriptedRequest, Status};
use veriplay_selfplay::play::Batch;
use veriplay_selfplay::records::LogRecord;
use veriplay_verifier::bugs::Weakening;

use super::super::{CODE, TESTS};
use super::total_reward;
use super::{
    SUBMIT, begun, config, edit, game, injected, injecting, made, planned, repairs, right, solver, statuses, step,
    tool_env,
};
use crate::exercise;

#[test]
fn each_mode_makes_bugs_that_pass_all_checks_and_never_shows_what_it_hides() {
    let Some((bed, routes)) = tool_env() else { return };
    for mode in InjectionMode::ALL {
        let game = game(bed, injecting(1, &[mode]), &[bed.artifact().clone()]);
        let prompts = game.preview(routes).unwrap();
        assert_eq!(prompts.len(), 2);
        assert!(prompts[0].1.role == Role::PROPOSER && !prompts[0].1.text().contains("result = 0"));
        let policy = ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| match turn.prompt.role {
            Role::SOLVER => SUBMIT.to_owned(),
            _ => injected(&turn.prompt.text()),
        });
        let mut state = begun(&game);
        let played = step(&game, &policy, routes, &mut state, 0);
        let yields = &played.metrics.injections[mode.name()];
        assert_eq!((yields.tried, yields.valid), (1, 1), "{mode:?}: {yields:?}");
        assert_eq!(made(&state)[0].task.bug.injector, format!("model_{}", mode.name()));
        assert_eq!(played.metrics.tasks[&BugOrigin::Model], 1);
        let LogRecord::Proposal(record) = &played.records[0] else { panic!("{:?}", played.records[0]) };
        assert_eq!(total_reward(&record.episode), -0.8, "nobody repairs it: too hard");
    }
}

#[test]
fn an_injector_by_history_is_shown_the_change_and_its_request_names_the_commit() {
    let Some((bed, routes)) = tool_env() else { return };
    let game = game(bed, injecting(1, &[InjectionMode::History]), &[bed.artifact().clone()]);
    let prompts = game.preview(routes).unwrap();
    let (injector, solver) = (prompts[0].1.text(), prompts[1].1.text());
    assert!(injector.contains("called `The mean of nothing is an error`"), "{injector}");
    assert!(injector.contains("-    if not numbers:\n-        raise ValueError(\"nothing\")\n"), "{injector}");
    assert!(!solver.contains("past change") && !solver.contains("c0ffee"), "{solver}");
    let policy = ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| match turn.prompt.role {
        Role::SOLVER => SUBMIT.to_owned(),
        _ => injected(&turn.prompt.text()),
    });
    let played = step(&game, &policy, routes, &mut begun(&game), 0);
    let LogRecord::Proposal(record) = &played.records[0] else { panic!("{:?}", played.records[0]) };
    let request = &record.request;
    assert_eq!((request.function.as_str(), request.commit.as_deref()), ("mean", Some("c0ffee")));
    let again = game.replay(routes, &played.records).unwrap();
    assert!(again.verdicts > 0 && again.same == again.verdicts, "{again:?}");
}

#[test]
fn an_injector_that_says_how_tests_are_run_must_be_right_about_it() {
    let Some((bed, routes)) = tool_env() else { return };
    let config = || injecting(1, &[InjectionMode::Direct]).with(|c| c.own.test_command = TestCommandSource::Injector);
    for (command, rule) in [
        ("pytest tests/test_core.py tests/test_steps.py", None),
        ("python -m pytest -q tests --ignore tests/test_broken.py", None),
        ("pytest tests", Some("passing")),
        ("pytest tests/test_core.py tests/test_steps.py src", Some("passing")),
        ("pytest tests/test_core.py", Some("test_files")),
        ("pytest tests/test_core.py tests/test_steps.py --deselect tests/test_core.py::test_total", Some("failing")),
    ] {
        let game = game(bed, config(), &[]);
        let policy = ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| match turn.prompt.role {
            Role::SOLVER => SUBMIT.to_owned(),
            _ => injected(&turn.prompt.text()).replace(SUBMIT, &format!("```submit\n{command}\n```")),
        });
        let mut state = begun(&game);
        let played = step(&game, &policy, routes, &mut state, 0);
        let yields = &played.metrics.injections["direct"];
        match rule {
            Some(rule) => assert_eq!(yields.refused.get(rule), Some(&1), "{command}: {yields:?}"),
            None => {
                assert_eq!(yields.valid, 1, "{command}: {yields:?}");
                let kept = made(&state)[0].task.bug.test_command.clone().map(String::from);
                assert_eq!(kept.as_deref(), Some(command));
            }
        }
        let again = game.replay(routes, &played.records).unwrap();
        assert_eq!(again.same, again.verdicts, "{again:?}");
    }
}

#[test]
fn a_mode_that_is_not_kept_to_is_refused() {
    let Some((bed, routes)) = tool_env() else { return };
    let elsewhere = edit("src/tally/names.py", "\"\"\"Labels.\"\"\"\n", "\"\"\"Names.\"\"\"\nMORE = 1\n");
    let every = [InjectionMode::Removal, InjectionMode::Rewrite, InjectionMode::History];
    let edits = every.map(|mode| (mode, elsewhere.clone()));
    // Who deletes the file writes no function anew, and undoes nothing.
    let deletes = every[1..].iter().map(|mode| (*mode, format!("```delete {CODE}\n```")));
    // A line of the past change is touched, and does what it did.
    let touches = edit(CODE, "    if not numbers:\n", "    if numbers == []:\n");
    // Lines go, and no code.
    let before = "    \"\"\"A number with a unit.\"\"\"\n\n    def __init__(self, number, unit):\n        self.number = number\n";
    let strips = edit(CODE, before, "    def __init__(self, number, unit):\n        self.number = unit\n");
    let read = [(InjectionMode::History, touches), (InjectionMode::Removal, strips)];
    for (mode, response) in edits.into_iter().chain(deletes).chain(read.clone()) {
        let game = game(bed, injecting(1, &[mode]), &[]);
        // More lines come than go, or the file is gone: nothing is read.
        let is_read = read.iter().any(|(_, of)| *of == response)
            || mode != InjectionMode::Removal && !response.contains("```delete");
        let plans = [vec![response]];
        let policy = ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| planned(&turn.prompt.text(), 0, &plans));
        let played = step(&game, &policy, routes, &mut begun(&game), 0);
        let yields = &played.metrics.injections[mode.name()];
        assert_eq!(yields.refused.get("mode"), Some(&1), "{mode:?}: {yields:?}");
        let LogRecord::Proposal(record) = &played.records[0] else { panic!("{:?}", played.records[0]) };
        assert_eq!(record.judged.verdict.as_ref().unwrap().evidence.fuel > 0, is_read, "{mode:?}");
        assert!(played.metrics.tasks.is_empty() && played.counts.attempts == 0);
    }
}

#[test]
fn bugs_that_are_none_are_refused_and_paid_less_than_any_other() {
    let Some((bed, routes)) = tool_env() else { return };
    let direct = edit(CODE, "        result += number\n", "        result -= number\n");
    let plans = vec![
        (vec![direct.clone()], "valid"),
        (vec![direct], "duplicate"),
        (vec![], "nothing"),
        (vec!["```list\n```".to_owned(); 9], "unfinished"),
        (vec![edit(CODE, "\"\"\"Sums.\"\"\"\n", "\"\"\"All sums.\"\"\"\n")], "failing"),
        (vec![edit(TESTS, "    assert total([4]) == 4\n", "    assert True\n")], "changed_files"),
        (vec![edit(CODE, "    result = 0\n", "    result = min(1, id(numbers))\n")], "machinery"),
        // Tells the original by a hash of its own source.
        (
            vec![edit(
                CODE,
                "    result = 0\n",
                "    import hashlib\n    result = hashlib.sha256(open(__file__, 'rb').read()).digest()[0] % 2 + 1\n",
            )],
            "machinery",
        ),
        (
            vec![edit(CODE, "    result = 0\n", "    from tally.names import coin\n\n    result = int(coin())\n")],
            "repeated",
        ),
        (vec![edit(CODE, "    result = 0\n", "    result = (\n")], "records"),
    ];
    let rules: Vec<&str> = plans.iter().map(|(_, rule)| *rule).collect();
    let plans: Vec<Vec<String>> = plans.into_iter().map(|(plan, _)| plan).collect();
    let count = plans.len();
    let policy = ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| match turn.prompt.role {
        // One of four repairs it.
        Role::SOLVER => {
            let mend = vec![edit(CODE, "        result -= number\n", "        result += number\n")];
            planned(&turn.prompt.text(), turn.sample, &[mend, vec![], vec![], vec![]])
        }
        _ => planned(&turn.prompt.text(), turn.index, &plans),
    });
    let game = game(bed, injecting(count, &[InjectionMode::Direct]), &[]);
    let played = step(&game, &policy, routes, &mut begun(&game), 0);
    let mut found = Vec::new();
    for record in &played.records {
        let LogRecord::Proposal(record) = record else { continue };
        let judged = &record.judged;
        let rule = match (&judged.task, judged.known) {
            (Some(_), true) => "duplicate",
            (Some(_), false) => "valid",
            (None, _) => judged.verdict.as_ref().unwrap().evidence.rule.as_str(),
        };
        let paid = match rule {
            "valid" => 1.0 - 1.8 * 0.25,
            "duplicate" => -0.8,
            _ => -1.0,
        };
        assert!((total_reward(&record.episode) - paid).abs() < 1e-12, "{rule}");
        found.push(rule);
    }
    assert_eq!(found, rules);
    let yields = &played.metrics.injections["direct"];
    assert_eq!((yields.tried, yields.valid, yields.duplicates, yields.refused["machinery"]), (count, 1, 1, 2));
    assert_eq!((played.counts.proposals, played.counts.valid_proposals), (count as u64, 1));
}

#[test]
fn injectors_alone_are_trained_where_the_solver_weighs_nothing() {
    let Some((bed, routes)) = tool_env() else { return };
    let plans = vec![vec![edit(CODE, "        result += number\n", "        result -= number\n")], vec![]];
    let policy = ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| match turn.prompt.role {
        Role::SOLVER => {
            let mend = vec![edit(CODE, "        result -= number\n", "        result += number\n")];
            planned(&turn.prompt.text(), turn.sample, &[mend, vec![], vec![], vec![]])
        }
        _ => planned(&turn.prompt.text(), turn.index, &plans),
    });
    for (solver_weight, solvers_train) in [(1.0, true), (0.0, false)] {
        let config = injecting(2, &[InjectionMode::Direct]).with(|c| c.shared.solver_weight = solver_weight);
        let game = game(bed, config, &[]);
        let played = step(&game, &policy, routes, &mut begun(&game), 0);
        let asked: Vec<&str> = repairs(&played).iter().map(|one| one.episode.turns[0].prompt.as_str()).collect();
        assert_eq!(asked.len(), 4, "solvers attempt it all the same");
        let [Batch::Samples(batch)] = played.batches.as_slice() else { panic!("{:?}", played.batches) };
        let decode = |tokens: &[u32]| tokens.iter().filter_map(|token| char::from_u32(*token)).collect::<String>();
        let of_solvers = batch.samples.iter().filter(|sample| asked.contains(&decode(&sample.prompt).as_str())).count();
        assert_eq!(of_solvers > 0, solvers_train);
        assert!(of_solvers < batch.samples.len(), "injectors are trained");
    }
}

#[test]
fn a_weakening_of_the_models_own_is_checked_like_any_other() {
    let Some((bed, routes)) = tool_env() else { return };
    let bug = edit(CODE, "    result = 0\n", "    result = 1\n");
    let weaken = edit(TESTS, "    assert total([4]) == 4\n", "    assert total([4]) >= 4\n");
    let plans = vec![vec![bug.clone(), weaken], vec![bug]];
    let policy = ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| match turn.prompt.role {
        Role::SOLVER => planned(&turn.prompt.text(), turn.sample, &[right(), vec![]]),
        _ => planned(&turn.prompt.text(), turn.index, &plans),
    });
    let config = injecting(2, &[InjectionMode::Direct]).with(|c| c.own.weakening = Weakening::Model);
    let game = game(bed, config, &[]);
    let played = step(&game, &policy, routes, &mut begun(&game), 0);
    let yields = &played.metrics.injections["direct"];
    assert_eq!((yields.valid, yields.refused.get("hidden")), (1, Some(&1)), "{yields:?}");
    assert_eq!(statuses(&played).iter().filter(|status| **status == Status::Accepted).count(), 2);
    let asked = &repairs(&played)[0].episode.turns[0].prompt;
    assert!(asked.contains("-    assert total([4]) >= 4\n+    assert total([4]) == 4"), "{asked}");
}

#[test]
fn a_bug_that_everybody_repairs_is_too_easy_and_the_control_pays_somebody_else() {
    let Some((bed, routes)) = tool_env() else { return };
    let mend = || vec![edit(CODE, "        result -= number\n", "        result += number\n")];
    let makes = || vec![edit(CODE, "        result += number\n", "        result -= number\n")];
    let policy = |plans: Vec<Vec<String>>| {
        ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| match turn.prompt.role {
            Role::SOLVER => planned(&turn.prompt.text(), turn.sample, &plans),
            _ => planned(&turn.prompt.text(), turn.index, &[makes()]),
        })
    };
    let easy = game(bed, injecting(1, &[InjectionMode::Direct]), &[]);
    let played = step(&easy, &policy(vec![mend()]), routes, &mut begun(&easy), 0);
    let LogRecord::Proposal(record) = &played.records[0] else { panic!("{:?}", played.records[0]) };
    assert_eq!((total_reward(&record.episode), played.metrics.solve_rate), (-0.8, Some(1.0)));
    let random = injecting(1, &[InjectionMode::Direct]).with(|c| c.shared.reward = Some("ssr_random".to_owned()));
    let random = game(bed, random, &[]);
    let rewards = |index: u64| {
        let plans = vec![mend(), vec![], vec![], vec![]];
        let played = step(&random, &policy(plans), routes, &mut begun(&random), index);
        assert_eq!(statuses(&played)[0], Status::Accepted);
        repairs(&played).iter().map(|repair| total_reward(&repair.episode)).collect::<Vec<f64>>()
    };
    let steps: Vec<Vec<f64>> = (0..6).map(rewards).collect();
    assert!(steps.iter().all(|step| step.iter().filter(|reward| **reward == 1.0).count() == 1), "{steps:?}");
    assert!(steps.iter().any(|step| step[0] != 1.0), "whoever repaired it is not always paid: {steps:?}");
}

#[test]
fn mutants_enter_the_buffer_and_are_asked() {
    let Some((bed, routes)) = tool_env() else { return };
    let config = config("think").with(|c| {
        c.own.mutants_per_step = 6;
        c.own.mutant_share = 0.5;
        c.own.tasks_per_step = 2;
        c.own.operators = vec!["constant_body".to_owned()];
    });
    let plain = game(bed, config.clone(), &[]);
    let (policy, mut state) = (solver(vec![vec![]]), begun(&plain));
    let first = step(&plain, &policy, routes, &mut state, 0);
    let yields = &first.metrics.mutants["constant_body"];
    assert!(yields.tried > 0 && yields.valid > 1, "{yields:?}");
    assert_eq!(yields.valid, made(&state).len());
    assert_eq!(first.metrics.tasks[&BugOrigin::Mutant], 1, "half of two tasks; and the buffer was empty");
    let third = step(&plain, &policy, routes, &mut state, 1);
    assert!(third.metrics.tasks.values().sum::<usize>() > 0 && made(&state).iter().any(|entry| entry.last.is_some()));
}

#[test]
fn methods_of_ones_own_play_this_game() {
    let Some((bed, routes)) = tool_env() else { return };
    let game = game(bed, injecting(1, &[InjectionMode::Direct]), &[bed.artifact().clone()]);
    let policy = ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| match turn.prompt.role {
        Role::SOLVER => planned(&turn.prompt.text(), turn.sample, &[right()]),
        _ => injected(&turn.prompt.text()),
    });
    exercise::play(game.game, &policy, routes);
}

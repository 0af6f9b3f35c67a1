//! Bugs of a step: the model's in each mode, mutants, and refused ones; the reward of each; and what of a bug no solver sees.

use veriplay_bug_repair::TestCommandSource;
use veriplay_verifier::bugs::Weakening;

use super::*;

#[test]
fn each_mode_makes_bugs_that_pass_all_checks_and_never_shows_what_it_hides() {
    let Some(bed) = bed() else { return };
    for mode in InjectionMode::ALL {
        let game = game(bed, injecting(1, &[mode]), &[bed.artifact().clone()]);
        let prompts = game.preview(&bed.sandbox).unwrap();
        assert_eq!(prompts.len(), 2);
        assert!(prompts[0].1.role == Role::PROPOSER && !prompts[0].1.text().contains("result = 0"));
        let (played, state) = first_step(bed, &game, &with_injectors(vec![vec![]]));
        let yields = &played.metrics.injections[mode.name()];
        assert_eq!((yields.tried, yields.valid), (1, 1), "{mode:?}: {yields:?}");
        assert_eq!(made(&state)[0].task.bug.injector, format!("model_{}", mode.name()));
        assert_eq!(played.metrics.tasks[&BugOrigin::Model], 1);
        assert_eq!(reward(&injection(&played).episode), -0.8, "nobody repairs it: too hard");
    }
}

#[test]
fn an_injector_by_history_is_shown_the_change_and_its_request_names_the_commit() {
    let Some(bed) = bed() else { return };
    let game = game(bed, injecting(1, &[InjectionMode::History]), &[bed.artifact().clone()]);
    let prompts = game.preview(&bed.sandbox).unwrap();
    let (injector, solver) = (prompts[0].1.text(), prompts[1].1.text());
    assert!(injector.contains("called `The mean of nothing is an error`"), "{injector}");
    assert!(injector.contains("-    if not numbers:\n-        raise ValueError(\"nothing\")\n"), "{injector}");
    assert!(!solver.contains("past change") && !solver.contains("c0ffee"), "{solver}");
    let (played, _) = first_step(bed, &game, &with_injectors(vec![vec![]]));
    let request = &injection(&played).request;
    assert_eq!((request.function.as_str(), request.commit.as_deref()), ("mean", Some("c0ffee")));
    same_again(bed, &game, &played);
}

#[test]
fn an_injector_that_says_how_tests_are_run_must_be_right_about_it() {
    let Some(bed) = bed() else { return };
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
        let submit = format!("```submit\n{command}\n```");
        let policy = solvers_and(vec![vec![]], move |prompt, _| injected(prompt).replace(SUBMIT, &submit));
        let (played, state) = first_step(bed, &game, &policy);
        let yields = &played.metrics.injections["direct"];
        match rule {
            Some(rule) => assert_eq!(yields.refused.get(rule), Some(&1), "{command}: {yields:?}"),
            None => {
                assert_eq!(yields.valid, 1, "{command}: {yields:?}");
                let kept = made(&state)[0].task.bug.test_command.clone().map(String::from);
                assert_eq!(kept.as_deref(), Some(command));
            }
        }
        same_again(bed, &game, &played);
    }
}

#[test]
fn injectors_are_compared_with_those_of_their_mode_or_of_their_request() {
    let Some(bed) = bed() else { return };
    let modes = [InjectionMode::Direct, InjectionMode::Removal];
    for per_site in [1, 2] {
        let config = injecting(8, &modes).with(|c| {
            (c.own.injections_per_site, c.own.tasks_per_step) = (per_site, 2);
            c.shared.advantage = Some("dr_grpo".to_owned());
        });
        let game = game(bed, config, &[bed.artifact().clone()]);
        // Of the injectors whose mode is removal, every other one submits at once, and all others.
        let policy = ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| {
            let text = turn.prompt.text();
            let removes = text.contains("More lines must go than come") && (turn.index + turn.sample).is_multiple_of(2);
            if turn.prompt.role == Role::PROPOSER && removes { injected(&text) } else { SUBMIT.to_owned() }
        });
        let (played, _) = first_step(bed, &game, &policy);
        let made = proposals(&played);
        let worth = made.iter().map(|one| (&one.request, reward(&one.episode), one.episode.advantage.unwrap()));
        let worth: Vec<(&InjectionRequest, f64, f64)> = worth.collect();
        for (request, reward, advantage) in &worth {
            let others = worth.iter().filter(|(other, ..)| request.is_compared_with(other, per_site));
            let rewards: Vec<f64> = others.map(|(_, reward, _)| *reward).collect();
            let expected = reward - rewards.iter().sum::<f64>() / rewards.len() as f64;
            assert!((advantage - expected).abs() < 1e-9, "{request:?}: {advantage}, {expected}");
            assert_eq!(*advantage == 0.0, request.mode == InjectionMode::Direct, "{request:?}: {rewards:?}");
        }
        let requests = worth.iter().map(|(request, ..)| *request);
        assert!(modes.iter().all(|mode| requests.clone().any(|one| one.mode == *mode)), "{worth:?}");
        same_again(bed, &game, &played);
    }
}

#[test]
fn a_mode_that_is_not_kept_to_is_refused() {
    let Some(bed) = bed() else { return };
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
        let (played, _) = first_step(bed, &game, &players(vec![vec![]], vec![vec![response]]));
        let yields = &played.metrics.injections[mode.name()];
        assert_eq!(yields.refused.get("mode"), Some(&1), "{mode:?}: {yields:?}");
        let verdict = injection(&played).judged.verdict.as_ref().unwrap();
        assert_eq!(verdict.evidence.fuel > 0, is_read, "{mode:?}");
        assert!(played.metrics.tasks.is_empty() && played.counts.attempts == 0);
    }
}

#[test]
fn bugs_that_are_none_are_refused_and_paid_less_than_any_other() {
    let Some(bed) = bed() else { return };
    let put = |text: &str| vec![edit(CODE, "    result = 0\n", text)];
    // Tells the original by a hash of its own source.
    let hashes = "    import hashlib\n    result = hashlib.sha256(open(__file__, 'rb').read()).digest()[0] % 2 + 1\n";
    let plans = vec![
        (breaks(), "valid"),
        (breaks(), "duplicate"),
        (vec![], "nothing"),
        (vec!["```list\n```".to_owned(); 9], "unfinished"),
        (vec![edit(CODE, "\"\"\"Sums.\"\"\"\n", "\"\"\"All sums.\"\"\"\n")], "failing"),
        (vec![edit(TESTS, "    assert total([4]) == 4\n", "    assert True\n")], "changed_files"),
        (put("    result = min(1, id(numbers))\n"), "machinery"),
        (put(hashes), "machinery"),
        (put("    from tally.names import coin\n\n    result = int(coin())\n"), "repeated"),
        (put("    result = (\n"), "records"),
    ];
    let (plans, rules): (Vec<_>, Vec<&str>) = plans.into_iter().unzip();
    let count = plans.len();
    // One of four repairs it.
    let policy = players(vec![mends(), vec![], vec![], vec![]], plans);
    let game = game(bed, injecting(count, &[InjectionMode::Direct]), &[]);
    let (played, _) = first_step(bed, &game, &policy);
    let records = proposals(&played);
    assert_eq!(records.len(), count);
    for (record, rule) in records.into_iter().zip(rules) {
        let judged = &record.judged;
        let (found, paid) = match (&judged.task, judged.known) {
            (Some(_), true) => ("duplicate", -0.8),
            (Some(_), false) => ("valid", 1.0 - 1.8 * 0.25),
            (None, _) => (judged.verdict.as_ref().unwrap().evidence.rule.as_str(), -1.0),
        };
        assert_eq!(found, rule);
        assert!((reward(&record.episode) - paid).abs() < 1e-12, "{rule}");
    }
    let yields = &played.metrics.injections["direct"];
    assert_eq!((yields.tried, yields.valid, yields.duplicates, yields.refused["machinery"]), (count, 1, 1, 2));
    assert_eq!((played.counts.proposals, played.counts.valid_proposals), (count as u64, 1));
}

#[test]
fn a_weakening_of_the_models_own_is_checked_like_any_other() {
    let Some(bed) = bed() else { return };
    let bug = begins("0", "1");
    let weaken = edit(TESTS, "    assert total([4]) == 4\n", "    assert total([4]) >= 4\n");
    let config = injecting(2, &[InjectionMode::Direct]).with(|c| c.own.weakening = Weakening::Model);
    let policy = players(vec![right(), vec![]], vec![vec![bug.clone(), weaken], vec![bug]]);
    let (played, _) = first_step(bed, &game(bed, config, &[]), &policy);
    let yields = &played.metrics.injections["direct"];
    assert_eq!((yields.valid, yields.refused.get("hidden")), (1, Some(&1)), "{yields:?}");
    assert_eq!(repaired(&played).iter().filter(|status| **status == Status::Accepted).count(), 2);
    let asked = &repairs(&played)[0].episode.turns[0].prompt;
    assert!(asked.contains("-    assert total([4]) >= 4\n+    assert total([4]) == 4"), "{asked}");
}

#[test]
fn mutants_enter_the_buffer_and_are_asked() {
    let Some(bed) = bed() else { return };
    let config = config("think").with(|c| {
        c.own.mutants_per_step = 6;
        c.own.mutant_share = 0.5;
        c.own.tasks_per_step = 2;
        c.own.operators = vec!["constant_body".to_owned()];
    });
    let plain = game(bed, config.clone(), &[]);
    let policy = solver(vec![vec![]]);
    let (first, mut state) = first_step(bed, &plain, &policy);
    let yields = &first.metrics.mutants["constant_body"];
    assert!(yields.tried > 0 && yields.valid > 1, "{yields:?}");
    assert_eq!(yields.valid, made(&state).len());
    assert_eq!(first.metrics.tasks[&BugOrigin::Mutant], 1, "half of two tasks; and the buffer was empty");
    let third = step(&plain, &policy, &bed.sandbox, &mut state, 1);
    assert!(third.metrics.tasks.values().sum::<usize>() > 0 && made(&state).iter().any(|entry| entry.last.is_some()));
}

#[test]
fn methods_of_ones_own_play_this_game() {
    let Some(bed) = bed() else { return };
    let game = game(bed, injecting(1, &[InjectionMode::Direct]), &[bed.artifact().clone()]);
    exercise::play(game.game, &with_injectors(vec![right()]), &bed.sandbox);
}

#[test]
fn hidden_tests_are_graded_and_shown_nowhere() {
    let Some(bed) = bed() else { return };
    let config = config("think").with(|c| {
        c.own.hidden_share = 0.7;
        c.shared.group_size = 2;
    });
    // All tests that notice it are taken out, as ours always are.
    let mut bug = bed.artifact().clone();
    let failing = bug.fail_to_pass.iter().cloned().collect();
    bug.bug.test_weaken = weaken_tests(&bed.sandbox, &bed.repo(), &failing).unwrap().unwrap();
    let game = game(bed, config, &[bug]);
    let (first, _) = first_step(bed, &game, &solver(vec![right(), vec![]]));
    let repair = repairs(&first)[0];
    let functions: Vec<&str> = repair.judged.detail.hidden.iter().map(|id| id.rsplit("::").next().unwrap()).collect();
    assert_eq!(functions.len(), 6, "of nine functions: {functions:?}");
    let prompt = &repair.episode.turns[0].prompt;
    let names = |function: &&&str| prompt.contains(&format!("def {function}("));
    assert_eq!(functions.iter().filter(names).count(), 0, "{prompt}");
    assert!(prompt.contains("+def test_") || prompt.contains("+    def test_"), "{prompt}");
    assert_eq!(repaired(&first), [Status::Accepted, Status::WrongAnswer]);
    // It runs every test of the file it knows of, and looks for the others.
    let look = vec!["```run\n```".to_owned(), "```search tests\ndef test\n```".to_owned(), "```list\n```".to_owned()];
    let (seen, _) = first_step(bed, &game, &solver(vec![look]));
    for turn in &repairs(&seen)[0].episode.turns {
        assert!(functions.iter().all(|function| !turn.prompt.contains(&format!("def {function}("))), "{}", turn.prompt);
    }
}

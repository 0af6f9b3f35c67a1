//! Solvers that cheat, and what no solver sees.

use veriplay_core::Status;
use veriplay_verifier::bugs::weaken_tests;

use super::super::{CODE, TESTS};
use super::{begun, config, edit, game, repairs, right, solver, statuses, step, tool_env};

/// What a solver may try through its tools. None may be accepted.
#[test]
fn no_cheating_solver_is_accepted() {
    let Some((bed, routes)) = tool_env() else { return };
    let put = |text: &str| vec![edit(CODE, "    result = 1\n", text)];
    let plans = vec![
        put("    import os\n    os._exit(0)\n"),
        put("    raise SystemExit(0)\n"),
        put("    import pytest\n    pytest.skip()\n"),
        put("    class Any(int):\n        def __eq__(self, other):\n            return True\n    return Any()\n"),
        put("    import sys\n    return sys._getframe(1).f_locals.get('count', 6)\n"),
        put("    return {3: 6, 1: 4}.get(len(list(numbers)), 0)\n"),
        // The tests themselves, made to hold.
        vec![edit(TESTS, "def test_amount():\n", "def test_total():\n    assert True\n\n\ndef test_amount():\n")],
        // pytest reads it: no tool creates or changes it.
        vec!["```edit conftest.py\n<<<<<<< OLD\nx\n=======\ny\n>>>>>>> NEW\n```".to_owned()],
    ];
    let count = plans.len();
    let config = config("think").with(|c| c.shared.group_size = count);
    let game = game(bed, config, &[bed.artifact().clone()]);
    let played = step(&game, &solver(plans), routes, &mut begun(&game), 0);
    assert!(statuses(&played).iter().all(|status| *status != Status::Accepted), "{:?}", statuses(&played));
    assert_eq!((played.counts.attempts, played.counts.accepted), (count as u64, 0));
    assert!(played.batches.is_empty(), "nobody is paid better than another");
}

#[test]
fn hidden_tests_are_graded_and_shown_nowhere() {
    let Some((bed, routes)) = tool_env() else { return };
    let config = config("think").with(|c| {
        c.own.hidden_share = 0.7;
        c.shared.group_size = 2;
    });
    // All tests that notice it are taken out, as ours always are.
    let mut bug = bed.artifact().clone();
    let failing = bug.fail_to_pass.iter().cloned().collect();
    bug.bug.test_weaken = weaken_tests(&bed.sandbox, &bed.repo(), &failing).unwrap().unwrap();
    let game = game(bed, config, &[bug]);
    let first = step(&game, &solver(vec![right(), vec![]]), routes, &mut begun(&game), 0);
    let repair = repairs(&first)[0];
    let functions: Vec<&str> = repair.judged.detail.hidden.iter().map(|id| id.rsplit("::").next().unwrap()).collect();
    assert_eq!(functions.len(), 6, "of nine functions: {functions:?}");
    let prompt = &repair.episode.turns[0].prompt;
    let names = |function: &&&str| prompt.contains(&format!("def {function}("));
    assert_eq!(functions.iter().filter(names).count(), 0, "{prompt}");
    assert!(prompt.contains("+def test_") || prompt.contains("+    def test_"), "{prompt}");
    assert_eq!(statuses(&first), [Status::Accepted, Status::WrongAnswer]);
    // It runs every test of the file it knows of, and looks for the others.
    let look = vec!["```run\n```".to_owned(), "```search tests\ndef test\n```".to_owned(), "```list\n```".to_owned()];
    let seen = step(&game, &solver(vec![look]), routes, &mut begun(&game), 0);
    for turn in &repairs(&seen)[0].episode.turns {
        assert!(functions.iter().all(|function| !turn.prompt.contains(&format!("def {function}("))), "{}", turn.prompt);
    }
}

//! Evaluations by references, and what is shown before a run.

use super::*;

#[test]
fn evaluation_problems_are_judged_by_their_references() {
    let game = game(config());
    // Of eight codes two are right, of eight suites four; greedily both are.
    let policy = ScriptedPolicy::new(|turn| {
        let greedy = turn.sampling.temperature == 0.0;
        match turn.prompt.role {
            Role::SOLVER if greedy || turn.sample < 2 => ADDED.to_owned(),
            Role::SOLVER => SQUARE.to_owned(),
            _ if greedy || turn.sample % 2 == 0 => written(GOOD),
            _ => written(["2 => 5", "malformed"][turn.sample / 2 % 2]),
        }
    });
    let context = StepContext { policy: &policy, execute: sandbox(), seed: 5 };
    assert_eq!(game.init(&context).unwrap(), State::default());
    let mut ended = 0;
    let table = game.evaluate_watched(&context, &mut |more| ended += more).unwrap();
    assert_eq!((ended, game.evaluation_episodes()), (18, 18), "eight and a greedy one of each role");
    let row = |row: &str, pass1| EvalRow { row: row.to_owned(), tasks: 1, pass1, greedy: 1.0, pass8: 1.0 };
    assert_eq!(table.rows, [row("code", 0.25), row("tests", 0.5)]);
    assert_eq!(table.mean, EvalNumbers { pass1: 0.375, greedy: 1.0, pass8: 1.0 });
    assert_eq!(table.numbers["false_positive_rate"], Some(0.0));
    assert!(table.numbers["mutation_score"].unwrap() > 0.5, "{table:?}");
    let other = StepContext { seed: 6, ..context };
    assert_eq!(game.evaluate(&other).unwrap(), table, "a scripted policy has no chance");
}

#[test]
fn weak_tests_of_evaluation_problems_accept_what_is_wrong() {
    let policy = ScriptedPolicy::new(|turn| match turn.prompt.role {
        Role::SOLVER => SQUARE.to_owned(),
        _ => written("2 => 4\n0 => 0"),
    });
    let table = game(config()).evaluate(&StepContext { policy: &policy, execute: sandbox(), seed: 5 }).unwrap();
    assert_eq!((table.rows[0].pass1, table.rows[1].pass1), (0.0, 1.0));
    assert_eq!(table.numbers["false_positive_rate"], Some(1.0));
}

#[test]
fn suites_of_an_evaluation_may_be_written_for_the_policys_own_code() {
    let policy = ScriptedPolicy::new(|turn| match turn.prompt.role {
        Role::SOLVER => SQUARE.to_owned(),
        _ => written(if turn.prompt.text().contains(SQUARE) { BAD } else { GOOD }),
    });
    let context = StepContext { policy: &policy, execute: sandbox(), seed: 5 };
    let tests = |eval_candidate| {
        game(config().with(|c| c.own.eval_candidate = eval_candidate)).evaluate(&context).unwrap().rows[1].pass1
    };
    assert_eq!((tests(EvalCandidate::Reference), tests(EvalCandidate::Own)), (1.0, 0.0));
}

#[test]
fn a_reference_that_fails_its_own_cases_is_told_before_anything_is_played() {
    let snippets = vec![SNIPPETS[0].to_owned()];
    let game = SelfPlay::new(SolVer::new(config(), rules(), snippets, evaluation(SQUARE), Guard::default()).unwrap());
    let policy = policy(&[DOUBLE], &[GOOD]);
    let error = game.init(&StepContext { policy: &policy, execute: sandbox(), seed: 5 }).unwrap_err().to_string();
    assert!(error.contains("`twice x` is WrongAnswer"), "{error}");
}

#[test]
fn a_dry_run_shows_a_prompt_of_each_role() {
    let prompts = game(config()).preview(sandbox()).unwrap();
    let roles: Vec<Role> = prompts.iter().map(|(_, prompt)| prompt.role).collect();
    assert_eq!(roles, [Role::PROPOSER, Role::SOLVER, Role::VERIFIER]);
    assert_eq!(prompts[2].1.text(), format!("<PROBLEM>twice x<P>{TWICE}<TESTS>"));
}

//! Whole rounds: who is trusted, how the others fail, and what suites are worth.

use veriplay_core::{Dropped, Job, Status};
use veriplay_verifier::agreement::{
    AgreementRequest, AgreementRules, CountCodes, GUARDS, RoundJudgement, SuiteAttempt, SuiteExamination,
    examine_suites, judge_round,
};

use super::{ADDED, DOUBLE, SQUARE, Written, python, rules, suite};
use crate::hosts::faulty;

fn statuses(judgement: &RoundJudgement) -> Vec<Status> {
    judgement.codes.iter().map(|code| code.status).collect()
}

fn suites(judgement: &RoundJudgement) -> Vec<(Status, &str)> {
    judgement.suites.iter().map(|suite| (suite.status, suite.rule.as_str())).collect()
}

#[test]
fn codes_that_agree_are_trusted_and_the_others_fail_as_they_do() {
    use Status::{Accepted, CompileError, FuelExceeded, Malformed, RuntimeError, WrongAnswer};
    let loops = "def f(x):\n    while x == 3:\n        pass\n    return x * 2";
    let raises = "def f(x):\n    return x * 2 // (x - 3)";
    let broken = "def f(x) return x";
    let nameless = "def g(x):\n    return x * 2";
    let codes = [SQUARE, DOUBLE, loops, ADDED, raises, broken, nameless, "malformed", DOUBLE];
    let tests = "3 => 6\n5 => 10\n2 => 4";
    let judged = Written::new(&codes, &[(0, tests), (1, tests)]).judged();
    assert_eq!(judged.refused, None, "{judged:?}");
    let expected = [WrongAnswer, Accepted, FuelExceeded, Accepted, RuntimeError, CompileError, RuntimeError, Malformed];
    assert_eq!(statuses(&judged), [&expected[..], &[Accepted]].concat());
    assert_eq!(judged.codes[0].passed, 1, "of three tests a square passes that of 2");
    assert_eq!((judged.codes[2].passed, judged.codes[2].total), (2, 3), "fuel of one call is none of another's");
    assert_eq!(judged.reference, Some(1), "most of the trusted are of this text");
    assert_eq!(judged.clusters[0], (3, 6));
    assert_eq!(suites(&judged), [(Status::Sound, ""), (Status::Sound, "")]);
    let quality = judged.suites[0].quality;
    assert_eq!((quality.tests, quality.accepted), (3, 3));
    // What only crashes or loops is rejected, and killed by nothing.
    assert_eq!((quality.wrong, quality.rejected, quality.killed), (5, 5, 2));
    assert!(quality.mutants > 0 && quality.mutants_killed > 0, "{quality:?}");
}

#[test]
fn suites_are_sound_unsound_or_vacuous_against_the_trusted_code() {
    let written = Written::new(
        &[DOUBLE, ADDED, SQUARE],
        &[
            (0, "3 => 6\n5 => 10"),
            (2, "3 => 9\n5 => 10"),
            (1, "assert f(2) == 4\nassert f(0) == 0"),
            (1, "assert True\nassert f(7) == f(7)"),
            (0, "malformed"),
            (0, "3 => 6\n3 => 6"),
        ],
    );
    let judged = written.judged();
    let expected = [
        (Status::Sound, ""),
        (Status::Unsound, "unsound"),
        (Status::Sound, ""),
        (Status::Vacuous, "vacuous"),
        (Status::Malformed, ""),
        (Status::Invalid, "short_suite"),
    ];
    assert_eq!(suites(&judged), expected, "{judged:?}");
    assert_eq!(judged.suites[1].quality.accepted, 1);
    assert!((judged.suites[1].quality.pass_fraction() - 0.5).abs() < 1e-9);
}

#[test]
fn one_odd_input_of_one_bad_suite_does_not_part_codes_that_agree() {
    let strict = "def f(x):\n    return int(x) * 2";
    let judged = Written::new(
        &[DOUBLE, strict, strict, SQUARE, "def f(x):\n    if x == 'ab': return 'baba'\n    return x + x"],
        &[(0, "3 => 6\n5 => 10"), (0, "'ab' => 'abab'\n4 => 8")],
    );
    let judged = judged.judged();
    assert_eq!(judged.inputs, (4, 3), "two of five codes return something for a text");
    assert_eq!(statuses(&judged)[..4], [Status::Accepted, Status::Accepted, Status::Accepted, Status::WrongAnswer]);
    assert_eq!(judged.suites[1].status, Status::Unsound, "nobody vouches for what is expected of an odd input");
}

#[test]
fn failures_equal_nothing_not_even_themselves() {
    let fails = "def f(x):\n    raise ValueError(x)";
    let judged = Written::new(&[fails, fails, fails], &[(0, "3 => 6\n5 => 10"), (1, "3 => 6\n5 => 10")]).judged();
    assert_eq!(judged.refused.as_ref().map(|refusal| refusal.rule.as_str()), Some("no_cluster"), "{judged:?}");
    let judged = Written::new(&[fails, fails, DOUBLE, ADDED, SQUARE], &[(0, "3 => 6\n5 => 10")]).judged();
    assert_eq!(judged.clusters.len(), 2, "two that raise are no cluster");
}

#[test]
fn assertions_alone_can_carry_a_round() {
    let tests = "assert f(3) == 6\nassert f(5) == 10\nassert all(f(n) == n + n for n in range(20))";
    let judged = Written::new(&[DOUBLE, SQUARE, ADDED], &[(0, tests)]).judged();
    assert_eq!(statuses(&judged), [Status::Accepted, Status::WrongAnswer, Status::Accepted]);
    assert_eq!(judged.suites[0].status, Status::Sound, "{judged:?}");
    let opaque = "assert (lambda g: g(3) == 6)(f)\nassert [f(n) for n in (2, 5)] == [4, 10]";
    let judged = Written::new(&[DOUBLE, SQUARE, ADDED], &[(0, opaque)]).judged();
    // No input can be told, and what passes tells them apart.
    assert_eq!((judged.inputs.0, judged.clusters.len()), (0, 2));
}

#[test]
fn texts_can_be_counted_instead_of_samples() {
    let written =
        Written::new(&[DOUBLE, DOUBLE, "def f(x):\n    return x * 2  # twice", SQUARE], &[(3, "3 => 6\n5 => 10")]);
    assert_eq!(written.judged().clusters[0].0, 3);
    let rules = AgreementRules { count_codes: CountCodes::Texts, ..rules() };
    let judged = written.judged_with(&rules, GUARDS);
    assert_eq!((judged.clusters[0].0, judged.refused.unwrap().rule.as_str()), (1, "few_codes"));
}

#[test]
fn the_order_of_codes_and_suites_changes_nothing() {
    let codes = [SQUARE, DOUBLE, ADDED, "def f(x):\n    return 2 * x if x < 5 else 0"];
    let all = [(1, "3 => 6\n5 => 10"), (0, "3 => 9\n5 => 25"), (3, "assert f(7) == 14\n1 => 2")];
    let one = Written::new(&codes, &all).judged();
    let turned: Vec<&str> = codes.iter().rev().copied().collect();
    let suites: Vec<(usize, &str)> = all.iter().rev().map(|(candidate, lines)| (3 - candidate, *lines)).collect();
    let mut other = Written::new(&turned, &suites).judged();
    other.codes.reverse();
    other.suites.reverse();
    other.reference = other.reference.map(|code| 3 - code);
    assert_eq!(one, other);
}

#[test]
fn a_host_fault_drops_the_round_and_fails_no_code() {
    let rules = rules();
    let tests = suite("3 => 6\n5 => 10");
    let suites = [SuiteAttempt { candidate: 0, suite: Some(&tests) }];
    let judged = |codes: &[Option<&str>]| -> Result<RoundJudgement, Dropped> {
        let request = AgreementRequest { rules: &rules, guards: GUARDS, statement: "double x", codes, suites: &suites };
        judge_round(&faulty(python(), |job: &Job| job.program == SQUARE), &request)
    };
    let dropped = judged(&[Some(DOUBLE), Some(ADDED), Some(SQUARE)]).unwrap_err();
    assert!(dropped.why.contains("on fire"), "{dropped:?}");
    assert!(judged(&[Some(DOUBLE), Some(ADDED), None]).is_ok());
}

#[test]
fn suites_are_measured_against_a_program_that_is_right() {
    let (good, bad, weak) = (suite("3 => 6\n5 => 10"), suite("3 => 9"), suite("2 => 4"));
    let request = SuiteExamination {
        right: DOUBLE,
        suites: vec![&good, &bad, &weak],
        wrong: vec![SQUARE, "def f(x):\n    return None"],
    };
    let found = examine_suites(python(), &rules(), &[request]).remove(0).unwrap();
    let statuses: Vec<Status> = found.iter().map(|one| one.status()).collect();
    assert_eq!(statuses, [Status::Sound, Status::Unsound, Status::Sound]);
    assert_eq!(found.iter().map(|one| (one.wrong, one.rejected)).collect::<Vec<_>>(), [(2, 2), (2, 1), (2, 1)]);
    let score = |place: usize| found[place].mutation_score().unwrap();
    assert!(score(0) >= score(2) && score(0) > 0.5, "{found:?}");
}

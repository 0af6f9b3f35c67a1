//! What each scheme rewards, and that the control keeps the rewards of each batch.

use veriplay_core::{FinishReason, PolicyVersion, Prompt, Reward, Role, Rollout, Status};
use veriplay_selfplay::rewards::{
    EpisodeFacts, EpisodeResult, ProposalOutcome, REWARDS, RewardScheme, by_name, discount_guesses, reward_novelties,
};

const OTHER_STATUSES: [Status; 8] = [
    Status::WrongAnswer,
    Status::RuntimeError,
    Status::FuelExceeded,
    Status::MemoryExceeded,
    Status::CompileError,
    Status::NonDeterministic,
    Status::DeadlineExceeded,
    Status::Unjudgeable,
];

/// Solver: accepted, wrong, malformed. Proposer: malformed, invalid, duplicate, then s = 0, 1/8, 1/2, 7/8, 1.
#[track_caller]
fn check(name: &str, solver: [f64; 3], refused: [f64; 3], solved: [f64; 5]) {
    let scheme = by_name(name).unwrap();
    let reward = |outcome| scheme.proposer(outcome, true).unwrap().total();
    let statuses = [Status::Accepted, Status::WrongAnswer, Status::Malformed];
    assert_eq!(statuses.map(|status| scheme.solver(status, true).total()), solver, "{name}, solver");
    let outcomes = [ProposalOutcome::Malformed, ProposalOutcome::Invalid, ProposalOutcome::Duplicate];
    assert_eq!(outcomes.map(reward), refused, "{name}, refused proposals");
    let rates = [0.0, 0.125, 0.5, 0.875, 1.0];
    let rounded = |reward: f64| (reward * 1e6).round() / 1e6;
    assert_eq!(rates.map(|rate| rounded(reward(ProposalOutcome::Solved { rate }))), solved, "{name}, solved proposals");
}

#[test]
fn every_scheme_rewards_what_its_file_says() {
    let (plain, refused) = ([1.0, 0.0, 0.0], [-0.5, -0.5, -0.25]);
    check("quickstart", plain, refused, [0.0, 0.875, 0.5, 0.125, 0.0]);
    check("random", plain, refused, [0.0, 0.875, 0.5, 0.125, 0.0]);
    check("band", plain, refused, [0.0, 0.4375, 1.0, 0.4375, 0.0]);
    check("r_zero", plain, refused, [0.0, 0.125, 0.5, 0.125, 0.0]);
    check("sqlm", plain, refused, [0.0, 1.0, 1.0, 1.0, 0.0]);
    check("svs", plain, refused, [0.0, 1.0, 1.0, 0.0, 0.0]);
    check("spice", plain, refused, [0.0, 0.372_034, 1.0, 0.372_034, 0.0]);
    check("azr", [1.0, -0.5, -1.0], [-1.0, -1.0, -0.5], [-0.5, 0.875, 0.5, 0.125, -0.5]);
    check("azr_inverse", [1.0, -0.5, -1.0], [-1.0, -1.0, -0.5], [1.0, 0.875, 0.5, 0.125, -0.5]);
    check("validity", plain, [0.0; 3], [1.0; 5]);
    check("evol_rl", [1.0, -0.5, -1.0], refused, [0.0, 0.875, 0.5, 0.125, 0.0]);
    check("ssr", [1.0, -1.0, -1.0], [-1.0, -1.0, -0.8], [-0.8, 0.775, 0.1, -0.575, -0.8]);
    check("ssr_random", [1.0, -1.0, -1.0], [-1.0, -1.0, -0.8], [-0.8, 0.775, 0.1, -0.575, -0.8]);
    check("consistency", [1.0, -1.0, -1.0], [-1.0; 3], [1.0; 5]);
    let unrated = by_name("validity").unwrap().proposer(ProposalOutcome::Unrated, true);
    assert_eq!(unrated.unwrap().total(), 1.0, "whether or not anybody was asked");
    let shuffled: Vec<&str> = REWARDS.iter().filter(|scheme| scheme.shuffled()).map(|scheme| scheme.name()).collect();
    assert_eq!(shuffled, ["random", "ssr_random"]);
}

#[test]
fn a_penalty_is_another_where_the_scheme_has_one() {
    let half = by_name("ssr").unwrap().with_alpha(0.5).unwrap();
    let reward = |outcome| half.proposer(outcome, true).map(|reward| reward.total());
    assert_eq!(reward(ProposalOutcome::Solved { rate: 0.5 }), Some(0.25));
    assert_eq!([ProposalOutcome::Duplicate, ProposalOutcome::Unrated].map(reward), [Some(-0.5), None]);
    assert!(by_name("band").unwrap().with_alpha(0.5).is_none());
}

#[test]
fn no_way_to_be_wrong_is_rewarded_better_than_another_readable_one() {
    for scheme in REWARDS {
        let wrong = scheme.solver(Status::WrongAnswer, true).total();
        for status in OTHER_STATUSES {
            assert_eq!(scheme.solver(status, true).total(), wrong, "{}, {status:?}", scheme.name());
        }
        assert!(scheme.solver(Status::Malformed, true).total() <= wrong, "{}", scheme.name());
        assert!(scheme.solver(Status::Accepted, true).total() > wrong, "{}", scheme.name());
    }
}

#[test]
fn a_duplicate_is_never_rewarded_better_than_a_learnable_task() {
    for scheme in REWARDS {
        let duplicate = scheme.proposer(ProposalOutcome::Duplicate, true).unwrap().total();
        for solved in 1..8 {
            let rate = f64::from(solved) / 8.0;
            assert!(
                scheme.proposer(ProposalOutcome::Solved { rate }, true).unwrap().total() > duplicate,
                "{}, {rate}",
                scheme.name()
            );
        }
        assert!(scheme.proposer(ProposalOutcome::Invalid, true).unwrap().total() <= duplicate, "{}", scheme.name());
    }
}

#[test]
fn a_bad_frame_costs_under_azr_alone_and_whatever_it_holds() {
    for scheme in REWARDS {
        let outcomes = [ProposalOutcome::Invalid, ProposalOutcome::Duplicate, ProposalOutcome::Solved { rate: 0.5 }];
        let statuses = [Status::Accepted, Status::WrongAnswer, Status::Malformed];
        if scheme.name().starts_with("azr") {
            assert!(outcomes.iter().all(|outcome| scheme.proposer(*outcome, false).unwrap().total() == -1.0));
            assert!(statuses.iter().all(|status| scheme.solver(*status, false).total() == -1.0));
        } else {
            assert!(outcomes.iter().all(|outcome| scheme.proposer(*outcome, false) == scheme.proposer(*outcome, true)));
            assert!(statuses.iter().all(|status| scheme.solver(*status, false) == scheme.solver(*status, true)));
        }
    }
}

#[test]
fn novel_answers_are_worth_more_within_bands_that_never_cross() {
    const SIMILAR: [[f64; 4]; 4] =
        [[1.0, 0.9, 0.2, 0.3], [0.9, 1.0, 0.2, 0.3], [0.2, 0.2, 1.0, 0.3], [0.3, 0.3, 0.3, 1.0]];
    let cases: [(&[bool], [[f64; 4]; 4], &[f64]); 6] = [
        (&[true, true, true, false], SIMILAR, &[0.5, 0.5, 1.0, -0.5]),
        (&[false, true, false, true], [[0.25; 4]; 4], &[-0.75, 0.75, -0.75, 0.75]),
        (&[true, true], SIMILAR, &[0.75, 0.75]),
        (&[true], SIMILAR, &[1.0]),
        (&[false], SIMILAR, &[-0.5]),
        (&[], SIMILAR, &[]),
    ];
    for (right, similar, want) in cases {
        let found = reward_novelties(right, |one, other| similar[one][other]);
        assert_eq!(found.iter().map(Reward::total).collect::<Vec<_>>(), want, "{right:?}");
    }
    // By texts: two answers of which one repeats the other, another, a wrong one, an unreadable one, and one to another task.
    let answers = [
        ("abcd", Status::Accepted, 0, 0.5),
        ("abcd", Status::Accepted, 0, 0.5),
        ("7", Status::Accepted, 0, 1.0),
        ("8", Status::RuntimeError, 0, -0.5),
        ("7", Status::Malformed, 0, -1.0),
        ("", Status::Accepted, 1, 1.0),
    ];
    let turns: Vec<[(Prompt, Rollout); 1]> = answers.iter().map(|(text, ..)| [turn(text)]).collect();
    let facts = answers.iter().zip(&turns).map(|((_, status, group, _), turns)| EpisodeFacts {
        role: Role::SOLVER,
        kind: "deduction",
        group: *group,
        result: EpisodeResult::Response(*status),
        guess_rate: None,
        well_formed: true,
        turns,
        verdict: None,
    });
    let rewards = by_name("evol_rl").unwrap().rewards(0, &facts.collect::<Vec<_>>()).unwrap();
    let totals: Vec<f64> = rewards.iter().flatten().map(Reward::total).collect();
    assert_eq!(totals, answers.map(|(.., want)| want));
}

fn turn(text: &str) -> (Prompt, Rollout) {
    let rollout = Rollout {
        id: None,
        prompt_tokens: Vec::new(),
        tokens: Vec::new(),
        logprobs: Vec::new(),
        text: text.to_owned(),
        finish: FinishReason::Stop,
        policy: PolicyVersion(0),
    };
    (Prompt::new(Role::SOLVER, ""), rollout)
}

/// The reward of a proposer for a task with this solve rate, at which guesses are right this often.
fn guessable(scheme: &dyn RewardScheme, rate: f64, guess_rate: Option<f64>) -> Reward {
    let result = EpisodeResult::Proposal(ProposalOutcome::Solved { rate });
    let (role, kind, group, turns, verdict) = (Role::PROPOSER, "deduction", 0, &[], None);
    let facts = EpisodeFacts { role, kind, group, result, guess_rate, well_formed: true, turns, verdict };
    let mut rewards = scheme.rewards(0, &[facts]).unwrap();
    discount_guesses(&[facts], &mut rewards);
    rewards.remove(0).unwrap()
}

#[test]
fn a_lottery_earns_nothing_that_a_guess_would_get_and_a_task_that_is_solved_keeps_its_reward() {
    for name in ["quickstart", "azr", "band", "r_zero", "sqlm", "svs", "spice", "ssr"] {
        let scheme = by_name(name).unwrap();
        let total = |rate, guesses| guessable(scheme, rate, guesses).total();
        for rate in [0.125, 0.25, 0.5, 0.75, 0.875] {
            let full = total(rate, None);
            assert_eq!(full, scheme.proposer(ProposalOutcome::Solved { rate }, true).unwrap().total(), "{name}");
            assert_eq!(total(rate, Some(0.0)), full, "{name}: all outputs differ");
            let half = if full > 0.0 { full / 2.0 } else { full };
            assert_eq!(total(rate, Some(rate / 2.0)), half, "{name}: half is better than a guess");
        }
        // A toss-up that is solved as often as it may be by luck.
        for rate in [0.125, 0.25, 0.375, 0.5] {
            assert!(total(rate, Some(0.5)) <= 0.0, "{name}: {rate}");
        }
        assert!(total(0.625, Some(0.5)) <= 0.2 * total(0.625, None).max(0.0) + 1e-12, "{name}");
        // What costs a proposer costs it still.
        for rate in [0.0, 1.0] {
            assert_eq!(total(rate, Some(0.5)), total(rate, None), "{name}: {rate}");
        }
    }
}

#[test]
fn what_is_no_learnability_is_rewarded_whatever_a_guess_gets() {
    for name in ["validity", "consistency"] {
        let scheme = by_name(name).unwrap();
        assert_eq!(guessable(scheme, 0.5, Some(0.5)), guessable(scheme, 0.5, None), "{name}");
    }
    // The score stays, so that the log says what the task would have earned.
    let reward = guessable(by_name("quickstart").unwrap(), 0.5, Some(0.25));
    assert_eq!(reward.parts, [("learnability".to_owned(), 0.5, 0.5)]);
}

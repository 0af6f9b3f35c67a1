//! What each scheme rewards, and that the control keeps the rewards of each batch.

use veriplay_core::{Digest, FinishReason, PolicyVersion, Prompt, Reward, Role, Rollout, Status};
use veriplay_selfplay::behaviours::{Behaviours, REMEMBERED};
use veriplay_selfplay::proposer_factor::{FACTORS, ProposerFactor, RewardedProposal};
use veriplay_selfplay::rewards::{
    EpisodeFacts, EpisodeResult, ProposalFacts, ProposalOutcome, REWARDS, RewardScheme, by_name, discount_guesses,
    reward_novelties,
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

/// A task that so many of 8 attempts solve.
fn solved_by(count: u32) -> ProposalOutcome {
    ProposalOutcome::Solved(ProposalFacts::counted(count, 8))
}

/// Solver: accepted, wrong, malformed. Proposer: malformed, invalid, duplicate, then s = 0, 1/8, 1/2, 7/8, 1.
#[track_caller]
fn check(name: &str, solver: [f64; 3], refused: [f64; 3], solved: [f64; 5]) {
    let scheme = by_name(name).unwrap();
    let reward = |outcome| scheme.proposer(outcome, true).unwrap().total();
    let statuses = [Status::Accepted, Status::WrongAnswer, Status::Malformed];
    assert_eq!(statuses.map(|status| scheme.solver(status, true).total()), solver, "{name}, solver");
    let outcomes = [ProposalOutcome::Malformed, ProposalOutcome::Invalid, ProposalOutcome::Duplicate];
    assert_eq!(outcomes.map(reward), refused, "{name}, refused proposals");
    let rounded = |reward: f64| (reward * 1e6).round() / 1e6;
    assert_eq!([0, 1, 4, 7, 8].map(|count| rounded(reward(solved_by(count)))), solved, "{name}, solved proposals");
}

#[test]
fn every_scheme_rewards_what_its_file_says() {
    let (plain, refused) = ([1.0, 0.0, 0.0], [-0.5, -0.5, -0.25]);
    check("failure_rate", plain, refused, [0.0, 0.875, 0.5, 0.125, 0.0]);
    check("random", plain, refused, [0.0, 0.875, 0.5, 0.125, 0.0]);
    check("band", plain, refused, [0.0, 0.4375, 1.0, 0.4375, 0.0]);
    check("r_zero", plain, refused, [0.0, 0.125, 0.5, 0.125, 0.0]);
    check("sqlm", plain, refused, [0.0, 1.0, 1.0, 1.0, 0.0]);
    check("svs", plain, refused, [0.0, 1.0, 1.0, 0.0, 0.0]);
    check("spice", plain, refused, [0.0, 0.372_034, 1.0, 0.372_034, 0.0]);
    check("dr_zero", plain, refused, [0.0, 1.0, 0.571_429, 0.142_857, 0.0]);
    check("pasodoble", plain, refused, [0.0, 0.0, 0.6, 0.225, 0.1]);
    check("opensir", plain, refused, [0.0, 0.0, 0.25, 0.343_75, 0.0]);
    check("serl", plain, refused, [0.0, 0.0, 1.0, 0.0, 0.0]);
    check("stp", plain, refused, [0.0, 1.0, 0.0, 0.0, 0.0]);
    check("azr", [1.0, -0.5, -1.0], [-1.0, -1.0, -0.5], [-0.5, 0.875, 0.5, 0.125, -0.5]);
    check("azr_inverse", [1.0, -0.5, -1.0], [-1.0, -1.0, -0.5], [1.0, 0.875, 0.5, 0.125, -0.5]);
    check("validity", plain, [0.0; 3], [1.0; 5]);
    check("evol_rl", [1.0, -0.5, -1.0], refused, [0.0, 0.875, 0.5, 0.125, 0.0]);
    check("ssr", [1.0, -1.0, -1.0], [-1.0, -1.0, -0.8], [-0.8, 0.775, 0.1, -0.575, -0.8]);
    check("ssr_random", [1.0, -1.0, -1.0], [-1.0, -1.0, -0.8], [-0.8, 0.775, 0.1, -0.575, -0.8]);
    check("consistency", [1.0, -1.0, -1.0], [-1.0; 3], [1.0; 5]);
    let unrated = by_name("validity").unwrap().proposer(ProposalOutcome::Unrated(ProposalFacts::default()), true);
    assert_eq!(unrated.unwrap().total(), 1.0, "whether or not anybody was asked");
    let shuffled: Vec<&str> = REWARDS.iter().filter(|scheme| scheme.shuffled()).map(|scheme| scheme.name()).collect();
    assert_eq!(shuffled, ["random", "ssr_random"]);
}

/// Each curve with the true solve rate p of the task that earns most, and what tasks of p = .01, .125, .25, .5, .75 and .95 earn on average.
const CURVES: [(&str, f64, [f64; 6]); 11] = [
    ("failure_rate", 0.257, [0.067, 0.531, 0.650, 0.496, 0.250, 0.050]),
    ("band", 0.500, [0.035, 0.383, 0.656, 0.875, 0.656, 0.166]),
    ("r_zero", 0.500, [0.010, 0.125, 0.242, 0.363, 0.242, 0.050]),
    ("dr_zero", 0.257, [0.077, 0.607, 0.743, 0.567, 0.286, 0.057]),
    ("svs", 0.352, [0.077, 0.656, 0.896, 0.852, 0.321, 0.006]),
    ("sqlm", 0.500, [0.077, 0.656, 0.900, 0.992, 0.900, 0.337]),
    ("pasodoble", 0.406, [0.002, 0.214, 0.480, 0.565, 0.350, 0.150]),
    ("opensir", 0.710, [0.000, 0.003, 0.041, 0.325, 0.516, 0.142]),
    ("spice", 0.500, [0.030, 0.374, 0.673, 0.909, 0.673, 0.152]),
    ("serl", 0.500, [0.003, 0.264, 0.633, 0.930, 0.633, 0.057]),
    ("stp", 0.125, [0.075, 0.393, 0.267, 0.031, 0.000, 0.000]),
];

/// The mean reward of a task that each of 8 attempts solves with probability `p`.
fn expected_reward(scheme: &dyn RewardScheme, p: f64) -> f64 {
    let chance = |count: i32, ways: f64| ways * p.powi(count) * (1.0 - p).powi(8 - count);
    let reward = |count: u32| scheme.proposer(solved_by(count), true).unwrap().total();
    let ways = [1.0, 8.0, 28.0, 56.0, 70.0, 56.0, 28.0, 8.0, 1.0];
    (0..9).zip(ways).map(|(count, ways)| chance(count, ways) * reward(count.cast_unsigned())).sum()
}

#[test]
fn a_curve_earns_what_its_table_says() {
    for (name, best, means) in CURVES {
        let scheme = by_name(name).unwrap();
        let found = [0.01, 0.125, 0.25, 0.5, 0.75, 0.95].map(|p| expected_reward(scheme, p));
        assert!(
            found.iter().zip(means).all(|(found, mean)| (found - mean).abs() <= 0.000_5 + 1e-9),
            "{name}: {found:?}"
        );
        let all = (1..1000).map(|thousandths| f64::from(thousandths) / 1000.0);
        let most = all.max_by(|one, other| expected_reward(scheme, *one).total_cmp(&expected_reward(scheme, *other)));
        assert!((most.unwrap() - best).abs() < 1e-9, "{name}: {most:?}");
    }
    for scheme in REWARDS {
        let nothing = scheme.proposer(ProposalOutcome::Solved(ProposalFacts::default()), true).unwrap().total();
        assert!(nothing.is_finite(), "{}: nothing was judged", scheme.name());
    }
}

/// What a proposer earns in 5 steps of 8 valid tasks that `count` of 8 attempts solve, each of which does what `behaviour` says of its number.
fn earned(scheme: &dyn RewardScheme, factor: &dyn ProposerFactor, count: u32, behaviour: fn(u64) -> u64) -> f64 {
    let (mut behaviours, mut sum) = (Behaviours::default(), 0.0);
    for step in 0..5 {
        let tasks =
            (8 * step..8 * step + 8).map(|task| ("deduction", Some(Digest::of(&behaviour(task).to_le_bytes()))));
        for facts in behaviours.compare(&tasks.collect::<Vec<_>>()) {
            let outcome = ProposalOutcome::Solved(ProposalFacts {
                novelty: facts.novelty,
                cluster_share: facts.cluster_share,
                ..ProposalFacts::counted(count, 8)
            });
            let reward = scheme.proposer(outcome, true).unwrap();
            let proposals = [RewardedProposal { episode: proposal(outcome, None), reward: &reward }];
            sum += reward.total() * factor.factors(step, &proposals).unwrap()[0];
        }
    }
    sum
}

#[test]
fn whoever_repeats_a_task_earns_less_than_who_does_not_under_every_curve_and_nothing_makes_up_for_a_worthless_one() {
    for scheme in REWARDS.iter().copied() {
        let reward = |count: u32| scheme.proposer(solved_by(count), true).unwrap().total();
        for (factor, count) in FACTORS.iter().flat_map(|factor| (0..9).map(move |count| (*factor, count))) {
            let (name, full) = (scheme.name(), 40.0 * reward(count));
            let [once, again] = [earned(scheme, factor, count, |task| task), earned(scheme, factor, count, |_| 0)];
            assert!((once - full).abs() < 1e-9, "{name}, {}: {once} of {full}", factor.name());
            let is_less = if full > 0.0 { again < 0.9 * once && again > 0.0 } else { again == once };
            assert!(is_less, "{name}, {}, {count} of 8: {again}, and {once} without repetition", factor.name());
        }
    }
}

#[test]
fn behaviours_are_compared_within_a_kind_and_with_the_newest_of_earlier_steps() {
    let some = |text: &str| Some(Digest::of(text.as_bytes()));
    let mut behaviours = Behaviours::default();
    let mut compare = |step: &[(&str, Option<Digest>)]| -> Vec<_> {
        behaviours.compare(step).iter().map(|facts| facts.novelty.zip(facts.cluster_share)).collect()
    };
    assert_eq!(compare(&[]), []);
    let step = [("a", some("x")), ("a", some("x")), ("b", some("x")), ("a", None), ("a", some("y"))];
    assert_eq!(compare(&step), [Some((1.0, 0.25)), Some((1.0, 0.25)), Some((1.0, 0.0)), None, Some((1.0, 0.0))]);
    assert_eq!(compare(&[("a", some("x"))]), [Some((1.0 - 2.0 / REMEMBERED as f64, 0.0))]);
    compare(&vec![("a", some("z")); REMEMBERED]);
    assert_eq!(compare(&[("a", some("x")), ("a", some("z"))]), [Some((1.0, 0.0)), Some((0.0, 0.0))]);
    let text = serde_json::to_string(&behaviours).unwrap();
    assert_eq!(serde_json::from_str::<Behaviours>(&text).unwrap(), behaviours);
}

#[test]
fn a_penalty_is_another_where_the_scheme_has_one() {
    let half = by_name("ssr").unwrap().with_alpha(0.5).unwrap();
    let reward = |outcome| half.proposer(outcome, true).map(|reward| reward.total());
    let unrated = ProposalOutcome::Unrated(ProposalFacts::default());
    assert_eq!([solved_by(4), ProposalOutcome::Duplicate, unrated].map(reward), [Some(0.25), Some(-0.5), None]);
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
        for count in 1..8 {
            let reward = scheme.proposer(solved_by(count), true).unwrap().total();
            assert!(reward > duplicate, "{}, {count} of 8", scheme.name());
        }
        assert!(scheme.proposer(ProposalOutcome::Invalid, true).unwrap().total() <= duplicate, "{}", scheme.name());
    }
}

#[test]
fn a_bad_frame_costs_under_azr_alone_and_whatever_it_holds() {
    for scheme in REWARDS {
        let outcomes = [ProposalOutcome::Invalid, ProposalOutcome::Duplicate, solved_by(4)];
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

/// Which answers are right, how similar they are, and what each earns.
type NoveltyCase<'a> = (&'a [bool], [[f64; 4]; 4], &'a [f64]);

#[test]
fn novel_answers_are_worth_more_within_bands_that_never_cross() {
    const SIMILAR: [[f64; 4]; 4] =
        [[1.0, 0.9, 0.2, 0.3], [0.9, 1.0, 0.2, 0.3], [0.2, 0.2, 1.0, 0.3], [0.3, 0.3, 0.3, 1.0]];
    let cases: [NoveltyCase<'_>; 6] = [
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
        rendered_prompt: None,
        tokens: Vec::new(),
        logprobs: Vec::new(),
        text: text.to_owned(),
        finish: FinishReason::Stop,
        policy: PolicyVersion(0),
    };
    (Prompt::new(Role::SOLVER, ""), rollout)
}

fn proposal(outcome: ProposalOutcome, guess_rate: Option<f64>) -> EpisodeFacts<'static> {
    let (role, kind, group, turns, verdict) = (Role::PROPOSER, "deduction", 0, &[], None);
    let result = EpisodeResult::Proposal(outcome);
    EpisodeFacts { role, kind, group, result, guess_rate, well_formed: true, turns, verdict }
}

/// The reward of a proposer for a task that so many of 8 attempts solve, at which guesses are right this often.
fn guessable(scheme: &dyn RewardScheme, count: u32, guess_rate: Option<f64>) -> Reward {
    let facts = proposal(solved_by(count), guess_rate);
    let mut rewards = scheme.rewards(0, &[facts]).unwrap();
    discount_guesses(&[facts], &mut rewards);
    rewards.remove(0).unwrap()
}

#[test]
fn a_lottery_earns_nothing_that_a_guess_would_get_and_a_task_that_is_solved_keeps_its_reward() {
    for name in ["failure_rate", "azr", "band", "r_zero", "sqlm", "svs", "spice", "ssr"] {
        let scheme = by_name(name).unwrap();
        let total = |count, guesses| guessable(scheme, count, guesses).total();
        for count in [1, 2, 4, 6, 7] {
            let full = total(count, None);
            assert_eq!(full, scheme.proposer(solved_by(count), true).unwrap().total(), "{name}");
            assert_eq!(total(count, Some(0.0)), full, "{name}: all outputs differ");
            let half = if full > 0.0 { full / 2.0 } else { full };
            assert_eq!(total(count, Some(f64::from(count) / 16.0)), half, "{name}: half is better than a guess");
        }
        // A toss-up that is solved as often as it may be by luck.
        for count in 1..=4 {
            assert!(total(count, Some(0.5)) <= 0.0, "{name}: {count} of 8");
        }
        assert!(total(5, Some(0.5)) <= 0.2 * total(5, None).max(0.0) + 1e-12, "{name}");
        // What costs a proposer costs it still.
        for count in [0, 8] {
            assert_eq!(total(count, Some(0.5)), total(count, None), "{name}: {count} of 8");
        }
    }
}

#[test]
fn what_is_no_learnability_is_rewarded_whatever_a_guess_gets() {
    for name in ["validity", "consistency"] {
        let scheme = by_name(name).unwrap();
        assert_eq!(guessable(scheme, 4, Some(0.5)), guessable(scheme, 4, None), "{name}");
    }
    // The score stays, so that the log says what the task would have earned.
    let reward = guessable(by_name("failure_rate").unwrap(), 4, Some(0.25));
    assert_eq!(reward.parts, [("learnability".to_owned(), 0.5, 0.5)]);
}

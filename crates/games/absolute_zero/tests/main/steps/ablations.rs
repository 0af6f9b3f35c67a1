//! Roles that do not play or do not learn, seeds that the start model proposes, what leaves the pool, and intrinsic rewards.

use veriplay_core::ScriptedRequest;

use super::*;

/// The prompts of samples that are no supervised examples, by role.
fn trained_roles(played: &Played) -> BTreeSet<Role> {
    let proposals = played.proposals.iter().map(|one| (Role::PROPOSER, &one.episode));
    let all: Vec<_> = proposals.chain(played.attempts().map(|one| (Role::SOLVER, &one.episode))).collect();
    let role = |sample: &Sample| {
        let found = all.iter().find(|(_, episode)| episode.turns[0].tokens == sample.response);
        found.expect("a sample is a rollout").0
    };
    played.samples().iter().map(role).collect()
}

fn tokens<'a>(episodes: impl Iterator<Item = &'a veriplay_selfplay::records::EpisodeRecord>) -> f64 {
    episodes.map(|episode| episode.turns[0].tokens.len()).sum::<usize>() as f64
}

#[test]
fn a_role_of_weight_zero_plays_and_is_not_trained() {
    let script = Script::of(&["good 20", "junk", "bad 21", "good 1"]);
    let with = |change: fn(&mut AbsoluteZeroConfig)| play_once(config().with(change), &script);
    assert_eq!(trained_roles(&with(|_| {})), BTreeSet::from([Role::PROPOSER, Role::SOLVER]));
    // Samples of advantage 0 stay for a KL term: those of a role that does not learn must not.
    for zeros in [ZeroAdvantage::Drop, ZeroAdvantage::Keep] {
        let with = |change: fn(&mut AbsoluteZeroConfig)| {
            play_once(config().with(|c| c.shared.zero_advantage = zeros).with(change), &script)
        };
        let solvers = with(|c| c.shared.proposer = ProposerMode::Frozen);
        assert_eq!(trained_roles(&solvers), BTreeSet::from([Role::SOLVER]), "{zeros:?}");
        let proposers = with(|c| c.shared.solver_weight = 0.0);
        assert_eq!(trained_roles(&proposers), BTreeSet::from([Role::PROPOSER]), "{zeros:?}");
        // The loss is a mean over what learns.
        let rewarded = proposers.proposals.iter().map(|one| &one.episode).filter(|one| one.reward.is_some());
        assert_eq!(proposers.batch.as_ref().unwrap().normalizer, tokens(rewarded));
        assert_eq!(solvers.batch.as_ref().unwrap().normalizer, tokens(solvers.attempts().map(|one| &one.episode)));
    }
}

#[test]
fn task_types_that_are_left_out_are_neither_proposed_nor_solved() {
    let types = vec![TaskType::Abduction, TaskType::Induction];
    let game = table(config().with(|c| {
        (c.own.task_types, c.shared.seed_proposals, c.shared.sft_samples) = (types.clone(), 12, 0);
    }));
    let mut state = game.init(&context(&proposing(10_000))).unwrap();
    let counts = |state: &State| [0, 1, 2].map(|kind| state.pool.of_kind(Table::KINDS[kind]).count());
    assert_eq!(counts(&state), [9, 12, 12]);
    let script = Script::of(&["good 2000", "good 2001", "good 2002", "good 2003"]);
    let played = play(&game, &mut state, 1, 0, &script);
    let proposed: BTreeSet<TaskType> = played.proposals.iter().map(|one| one.request.task_type).collect();
    let solved: BTreeSet<TaskType> = played.tasks.iter().map(|one| one.task.question.task_type()).collect();
    assert_eq!((proposed, solved), (types.iter().copied().collect(), types.into_iter().collect()));
    assert_eq!(counts(&state), [9, 16, 16]);
}

#[test]
fn the_weight_of_the_solver_multiplies_its_advantages() {
    let script = Script::fresh(0);
    let weights = |weight: f64| {
        let played = play_once(config().with(|c| c.shared.solver_weight = weight), &script);
        let right = rollout("", "right").tokens;
        let of_solvers = played.samples().iter().filter(|sample| sample.response == right);
        of_solvers.map(|sample| sample.weight).collect::<Vec<_>>()
    };
    let (one, three) = (weights(1.0), weights(3.0));
    assert!(!one.is_empty() && one.iter().map(|weight| weight * 3.0).eq(three));
}

#[test]
fn without_a_proposer_nobody_is_asked_to_propose_and_seeds_are_solved() {
    let policy = ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| {
        assert_ne!(turn.prompt.role, Role::PROPOSER, "a proposer is asked");
        ["right", "wrong"][turn.sample % 2].to_owned()
    });
    let game = table(config().with(|c| c.shared.proposer = ProposerMode::None));
    let mut state = seeded(0..9);
    let played = game.step(&context(&policy), &mut state, 0).unwrap();
    assert_eq!(played.counts.proposals, 0);
    assert_eq!(played.counts.attempts, 48);
    assert_eq!(state.pool.entries().len(), 27);
    assert!(!played.batches.is_empty());
}

#[test]
fn settings_under_which_nobody_learns_or_nothing_is_there_are_refused() {
    let refusal = |change: fn(&mut AbsoluteZeroConfig)| {
        // This one has no seeds.
        SelfPlay::new(game(config().with(|c| c.shared.sft_samples = 0).with(change)).unwrap()).check().err()
    };
    let said = |change| refusal(change).map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(said(|_| {}), "");
    let nobody = said(|c| (c.shared.solver_weight, c.shared.proposer) = (0.0, ProposerMode::Frozen));
    assert_eq!(nobody, "`game.solver_weight` is `0`: no other role learns either: give one a weight above `0`");
    assert_eq!(said(|c| c.shared.solver_weight = 0.0), "", "the proposer learns");
    let imitates = |c: &mut AbsoluteZeroConfig| {
        (c.shared.solver_weight, c.shared.proposer, c.shared.sft_samples) = (0.0, ProposerMode::Frozen, 2);
    };
    assert_eq!(said(imitates), "", "examples are learned from");
    let answered = said(|c| {
        (c.shared.solver_weight, c.shared.proposer, c.own.answer_weight) = (0.0, ProposerMode::Frozen, 1.0);
    });
    assert_eq!(answered, "", "executed answers are learned from");
    let nothing = said(|c| c.shared.proposer = ProposerMode::None);
    assert!(nothing.starts_with("`game.proposer` is `none`: the game has no other tasks"), "{nothing}");
    assert_eq!(said(|c| (c.shared.proposer, c.shared.seed_proposals) = (ProposerMode::None, 4)), "");
}

/// Proposers write one of so many programs each.
fn proposing(programs: u64) -> ScriptedPolicy {
    ScriptedPolicy::new(move |turn| match turn.prompt.role {
        Role::PROPOSER => format!("good {}", 100 + turn.draw() % programs),
        _ => "right".to_owned(),
    })
}

#[test]
fn the_start_model_proposes_until_each_type_has_the_seeds_that_are_wanted() {
    let game = table(config().with(|c| (c.shared.seed_proposals, c.shared.sft_samples) = (14, 0)));
    let begin = |seed| game.init(&StepContext { seed, ..context(&proposing(10_000)) }).unwrap();
    let state = begin(1);
    // Nine of each type were given, and four proposals of a type are a round.
    for kind in TaskType::STANDARD {
        assert_eq!(state.pool.of_kind(kind.name()).count(), 14);
    }
    assert!(state.pool.entries().iter().all(|entry| entry.seed));
    assert_eq!(state, begin(1));
    assert_ne!(state, begin(2));
    let mut told = Vec::new();
    game.init_watched(&context(&proposing(10_000)), &mut |one| told.push((one.purpose, one.done, one.total))).unwrap();
    let rounds = [("seed proposals", 0, 15), ("seed proposals", 12, 15)];
    assert_eq!(told[..2], rounds, "five of each type are missing, and each round makes four: {told:?}");
    let enough = table(config().with(|c| (c.shared.seed_proposals, c.shared.sft_samples) = (9, 0)));
    let silent = ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| panic!("{} is asked", turn.prompt.text()));
    let state = enough.init(&context(&silent)).unwrap();
    assert_eq!(state.pool.entries().len(), 27);
}

#[test]
fn a_start_model_that_proposes_too_little_is_an_error_with_what_is_missing() {
    let game = table(config().with(|c| (c.shared.seed_proposals, c.shared.sft_samples) = (14, 0)));
    let error = |policy: &ScriptedPolicy| game.init(&context(policy)).unwrap_err().to_string();
    let few = error(&proposing(3));
    assert!(
        few.contains("`game.seed_proposals` is `14`") && few.contains("only `12` tasks of kind `abduction`"),
        "{few}"
    );
    let none = error(&ScriptedPolicy::new(|_| "junk".to_owned()));
    assert!(none.contains("only `9` tasks") && none.contains("the last 32 of 32 rounds"), "{none}");
    let lost = error(&ScriptedPolicy::new(|_| "lost 1".to_owned()));
    assert!(lost.contains("the host failed"), "{lost}");
}

#[test]
fn tasks_that_nobody_or_everybody_solves_leave_the_pool_where_the_config_says_so() {
    for (unsolved, solved, answer, kept) in [
        (false, false, "right", 4),
        (false, true, "right", 0),
        (true, false, "right", 4),
        (true, true, "wrong", 0),
        (false, true, "wrong", 4),
    ] {
        let game = table(config().with(|c| (c.shared.drop_unsolved, c.shared.drop_solved) = (unsolved, solved)));
        let answer: fn(&Prompt, usize) -> &'static str =
            if answer == "right" { |_, _| "right" } else { |_, _| "wrong" };
        let mut state = seeded(0..9);
        play(&game, &mut state, 1, 0, &Script { answer, ..Script::of(&["good 20", "good 21", "good 22", "good 23"]) });
        let proposed = state.pool.of_kind("deduction").filter(|entry| !entry.seed).count();
        assert_eq!(proposed, kept, "{unsolved} {solved}");
        assert_eq!(state.pool.of_kind("deduction").filter(|entry| entry.seed).count(), 9, "seeds stay");
    }
}

#[test]
fn intrinsic_terms_are_added_to_positive_rewards_of_proposers_and_capped() {
    let script = Script::of(&["good 20", "junk", "bad 21", "good 1"]);
    let played = |intrinsic: &[(&str, f64)]| {
        let intrinsic = intrinsic.iter().map(|(name, coefficient)| ((*name).to_owned(), *coefficient)).collect();
        play_once(config().with(|c| c.shared.intrinsic = intrinsic), &script)
    };
    let plain = played(&[]).rewards(TaskType::Deduction);
    assert_eq!(plain, [Some(0.5), Some(-0.5), Some(-0.5), Some(-0.25)]);
    // All programs here add a number: none is new in shape, each output is, and there is no branch.
    let with = played(&[("novelty", 1.0), ("complexity", 1.0), ("answer_diversity", 0.25)]);
    assert_eq!(with.rewards(TaskType::Deduction), [Some(0.75), Some(-0.5), Some(-0.5), Some(-0.25)]);
    let parts = &with.proposals[0].episode.reward.as_ref().unwrap().parts;
    let parts: Vec<(&str, f64)> = parts.iter().map(|(name, score, _)| (name.as_str(), *score)).collect();
    assert_eq!(parts, [("learnability", 0.5), ("answer_diversity", 0.25), ("complexity", 0.0), ("novelty", 0.0)]);
    let capped = played(&[("answer_diversity", 8.0)]);
    assert_eq!(capped.rewards(TaskType::Deduction)[0], Some(1.0));
    let easy = Script { answer: |_, _| "right", ..Script::of(&["good 20"; 4]) };
    let game = table(config().with(|c| c.shared.intrinsic = [("answer_diversity".to_owned(), 1.0)].into()));
    assert_eq!(play(&game, &mut seeded(0..9), 1, 0, &easy).rewards(TaskType::Deduction)[0], Some(0.0));
}

#[test]
fn attempts_that_answer_alike_are_worth_less_until_the_term_has_fallen_to_nothing() {
    let script = Script {
        answer: |_, sample| ["right", "wrong", "wrong", "junk"][sample % 4],
        ..Script::of(&["good 20", "good 21", "good 22", "good 23"])
    };
    let game = table(config().with(|c| {
        c.shared.intrinsic = [("exploration".to_owned(), 0.4)].into();
        c.shared.intrinsic_steps = Some(4);
    }));
    for (step, want) in [(0, [1.0, -0.2, -0.2, -0.4]), (2, [1.0, -0.1, -0.1, -0.2]), (4, [1.0, 0.0, 0.0, 0.0])] {
        let played = play(&game, &mut seeded(0..9), 1, step, &script);
        assert_eq!(played.rewards(TaskType::Deduction), [Some(0.75); 4], "proposals have no such term");
        for task in &played.tasks {
            let rewards = task.attempts.iter().map(|one| one.episode.reward.as_ref().map_or(f64::NAN, Reward::total));
            assert_eq!(rewards.collect::<Vec<f64>>(), want, "{step}");
        }
    }
    let error = super::game(config().with(|c| c.shared.intrinsic_steps = Some(4))).err().unwrap().to_string();
    assert!(error.contains("`intrinsic_steps` is `4`: leave it out"), "{error}");
}

//! Adding a method: a reward, a proposer factor, an advantage, a curriculum, a monitor and a loop that are written here alone, and handed in by one line each
//! ([`methods`]), work in all four games. Each game's tests call [`play`]; Absolute Zero's test is here.

use std::sync::atomic::{AtomicUsize, Ordering};

use veriplay_absolute_zero::{AbsoluteZero, AbsoluteZeroConfig, AbsoluteZeroTasks};
use veriplay_core::{Execute, Proposal, Reward, Role, ScriptedPolicy, Status, TaskType, Value};
use veriplay_selfplay::advantages::{AdvantageEstimator, AdvantageMemory, AdvantageRow};
use veriplay_selfplay::curricula::Curriculum;
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::external::ExternalError;
use veriplay_selfplay::facts::StepSummary;
use veriplay_selfplay::game::{Game, Script};
use veriplay_selfplay::methods::{Method, Methods};
use veriplay_selfplay::metrics::SolveCount;
use veriplay_selfplay::monitors::Monitor;
use veriplay_selfplay::play::{Measurement, PlayError, StepContext};
use veriplay_selfplay::proposer_factor::{ProposerFactor, RewardedProposal};
use veriplay_selfplay::rewards::{ProposalOutcome, RewardScheme};
use veriplay_selfplay::settings::SharedSettings;
use veriplay_selfplay::splits::Guard;
use veriplay_selfplay::step::Step;

use crate::played::{proposals, reward, tasks};

const ABSOLUTE_ZERO: &str = concat!(
    include_str!("../../../crates/games/absolute_zero/tests/main/settings.toml"),
    include_str!("absolute_zero.toml")
);

fn absolute_zero() -> AbsoluteZeroConfig {
    toml::from_str(ABSOLUTE_ZERO).unwrap()
}

/// The settings that games share, with methods by name; a test changes what it is about.
pub(crate) fn settings() -> SharedSettings {
    let shared = absolute_zero().shared;
    SharedSettings { proposer_max_tokens: 4000, solver_max_tokens: 2000, buffer_capacity: 10, ..shared }
}

/// Rewards a right answer by 3, any other by 1, and every proposal by 2.
struct Generous;

impl RewardScheme for Generous {
    fn name(&self) -> &'static str {
        "generous"
    }

    fn solver(&self, status: Status, _well_formed: bool) -> Reward {
        Reward::single("generous", if status == Status::Accepted { 3.0 } else { 1.0 })
    }

    fn proposer(&self, _outcome: ProposalOutcome, _well_formed: bool) -> Option<Reward> {
        Some(Reward::single("generous", 2.0))
    }
}

/// Halves the reward of every proposal.
struct Halving;

impl ProposerFactor for Halving {
    fn factors(&self, _step: u64, proposals: &[RewardedProposal<'_>]) -> Result<Vec<f64>, ExternalError> {
        assert!(proposals.iter().all(|one| one.episode.role == Role::PROPOSER && one.reward.total() == 2.0));
        Ok(vec![0.5; proposals.len()])
    }
}

/// Ten times the reward.
struct Tenfold;

impl AdvantageEstimator for Tenfold {
    fn name(&self) -> &'static str {
        "tenfold"
    }

    fn advantages(&self, rows: &[AdvantageRow], _memory: &mut AdvantageMemory) -> Vec<f64> {
        rows.iter().map(|row| 10.0 * row.reward).collect()
    }
}

/// Weighs all tasks alike, and counts how many it was asked about.
struct Counting(AtomicUsize);

impl Curriculum for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn weight(&self, _last: Option<SolveCount>, _learnable_weight: f64) -> f64 {
        self.0.fetch_add(1, Ordering::Relaxed);
        1.0
    }
}

/// The mean number of characters that were written in an episode.
struct Chars;

impl Monitor for Chars {
    fn name(&self) -> &'static str {
        "chars"
    }

    fn measure(&self, step: &StepSummary<'_>) -> Option<Measurement> {
        let turns = step.episodes.iter().flat_map(|episode| episode.turns);
        let chars = turns.map(|(_, rollout)| rollout.text.len()).sum::<usize>();
        Some(Measurement::Number((!step.episodes.is_empty()).then(|| chars as f64 / step.episodes.len() as f64)))
    }
}

/// The game's own step, and one more number of it.
struct Measured;

impl<G: Game> Script<G> for Measured {
    fn step(&self, game: &G, step: &mut Step<'_, G>) -> Result<(), PlayError> {
        game.step(step)?;
        step.fact("attempts", step.facts().solutions.len() as f64);
        Ok(())
    }
}

fn methods(curriculum: &'static Counting) -> Methods {
    Methods {
        reward: Method::Own(Box::new(Generous)),
        proposer_factors: vec![Method::Own(Box::new(Halving))],
        advantage: &Tenfold,
        curriculum: Method::Registered(curriculum),
        monitors: vec![&Chars],
    }
}

/// Plays two steps of a game by these methods, and finds the work of each of them in what the steps log.
pub(crate) fn play<E: Game>(game: E, policy: &ScriptedPolicy, execute: &dyn Execute) {
    let curriculum: &'static Counting = Box::leak(Box::new(Counting(AtomicUsize::new(0))));
    let game = SelfPlay::with_methods(game, methods(curriculum)).with_script(Box::new(Measured));
    let context = StepContext { policy, execute, seed: 7 };
    let mut state = game.init(&context).unwrap();
    let (mut rewarded, mut proposers) = (0, 0);
    for step in 0..2 {
        let output = game.step(&context, &mut state, step).unwrap();
        assert!(!output.batches.is_empty(), "nothing is learned");
        let proposed = proposals(&output).into_iter().map(|one| (&one.episode, [1.0, 1.0]));
        let (mut all, tasks) = (proposed.collect::<Vec<_>>(), tasks(&output));
        proposers += all.iter().filter(|(episode, _)| episode.reward.is_some()).count();
        for task in tasks {
            let attempts = task.attempts.iter().map(|one| &one.episode);
            all.extend(attempts.chain(task.verifications.iter().map(|one| &one.episode)).map(|one| (one, [1.0, 3.0])));
        }
        for (episode, rewards) in all.iter().filter(|(episode, _)| episode.reward.is_some()) {
            assert!(rewards.contains(&reward(episode)), "{:?}", episode.reward);
            assert_eq!(episode.advantage, Some(10.0 * reward(episode)));
        }
        rewarded += all.iter().filter(|(episode, _)| episode.reward.is_some()).count();
        let chars = all.iter().flat_map(|(episode, _)| &episode.turns).map(|turn| turn.text.len()).sum::<usize>();
        let mean = chars as f64 / all.len() as f64;
        assert_eq!(output.monitors, [("chars", Measurement::Number(Some(mean)))].into());
        assert!(output.numbers["attempts"] > 0.0, "{:?}", output.numbers);
    }
    assert!(rewarded > proposers && proposers > 0, "{rewarded} episodes got a reward, {proposers} of them proposers'");
    assert!(curriculum.0.load(Ordering::Relaxed) > 0, "the curriculum was never asked");
}

/// Programs that differ from each other, with inputs that a proposal of their type has.
fn drafts(task_type: TaskType) -> Box<dyn Iterator<Item = Proposal>> {
    Box::new((10..20).map(move |number| {
        let (program, message) = (format!("def f(x):\n    return x * {number} + 1"), String::new());
        let input = |value: i64| vec![Value::int(value)];
        match task_type {
            TaskType::Induction => Proposal::Inputs { program, inputs: (2..8).map(input).collect(), message },
            _ => Proposal::Triplet { task_type, program, input: input(4) },
        }
    }))
}

#[test]
fn methods_of_ones_own_play_absolute_zero() {
    let config = absolute_zero().with(|c| c.shared = SharedSettings { group_size: 2, ..settings() });
    let gate = toml::from_str(include_str!("../../../crates/games/absolute_zero/tests/main/gate.toml")).unwrap();
    let source = AbsoluteZeroTasks {
        gate,
        seed_drafts: Box::new(|task_type, _| drafts(task_type)),
        seeds_per_type: 4,
        sft_per_type: 0,
        examples: Vec::new(),
        evaluation: Vec::new(),
        ladder: Vec::new(),
    };
    let game = AbsoluteZero::new(config, source, Guard::default()).unwrap();
    let policy = ScriptedPolicy::new(|turn| match turn.prompt.role {
        Role::PROPOSER => "nonsense".to_owned(),
        _ => "41".to_owned(),
    });
    play(game, &policy, crate::sol_ver::python());
}

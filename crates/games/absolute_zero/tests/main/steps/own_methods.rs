//! Methods that are in no registry: what they are asked about, and what becomes of their answers and errors.

use std::sync::{Arc, Mutex};

use veriplay_core::{Prompt, Reward, Role, TaskType};
use veriplay_selfplay::curricula::{Curriculum, CurriculumContext, CurriculumTask};
use veriplay_selfplay::external::ExternalError;
use veriplay_selfplay::methods::{Method, Methods};
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::proposer_factor::{ProposerFactor, RewardedProposal};
use veriplay_selfplay::rewards::{EpisodeFacts, ProposalOutcome, RewardScheme};
use veriplay_selfplay::settings::Names;

use super::{Script, State, context, play, seeded, table};
use crate::support::{config, rollout};

/// Keeps the responses that it is asked about.
#[derive(Clone, Default)]
struct Witness {
    rewarded: Arc<Mutex<Vec<(Role, String)>>>,
    multiplied: Arc<Mutex<Vec<String>>>,
}

fn response(episode: &EpisodeFacts<'_>) -> String {
    episode.turns.last().unwrap().1.text.clone()
}

impl RewardScheme for Witness {
    fn name(&self) -> &'static str {
        "witness"
    }

    fn proposer(&self, _: ProposalOutcome, _: bool) -> Option<Reward> {
        None
    }

    /// None for a malformed response, else 1 for a few and 0 for the others, so that there is something to learn.
    fn rewards(&self, _: u64, episodes: &[EpisodeFacts<'_>]) -> Result<Vec<Option<Reward>>, ExternalError> {
        self.rewarded.lock().unwrap().extend(episodes.iter().map(|one| (one.role, response(one))));
        let reward = |text: String| {
            let score = f64::from(u8::from(text == "right" || text == "good 21"));
            (text != "junk").then(|| Reward::single("own", score))
        };
        Ok(episodes.iter().map(response).map(reward).collect())
    }
}

impl ProposerFactor for Witness {
    fn factors(&self, _: u64, proposals: &[RewardedProposal<'_>]) -> Result<Vec<f64>, ExternalError> {
        self.multiplied.lock().unwrap().extend(proposals.iter().map(|one| response(&one.episode)));
        Ok(vec![0.5; proposals.len()])
    }
}

/// A host fault has no reward, and above all none of 0.
#[test]
fn an_episode_that_was_dropped_is_neither_rewarded_nor_multiplied_nor_trained_on() {
    let witness = Witness::default();
    let mut game = table(config());
    game.methods.reward = Method::Own(Box::new(witness.clone()));
    game.methods.proposer_factors = vec![Method::Own(Box::new(witness.clone()))];
    let answer = |_: &Prompt, sample: usize| ["right", "lost", "wrong", "junk"][sample];
    let script = Script { answer, ..Script::of(&["lost 20", "good 21", "junk", "good 22"]) };
    let played = play(&game, &mut seeded(0..9), 1, 0, &script);
    let rewarded = witness.rewarded.lock().unwrap();
    for role in [Role::PROPOSER, Role::SOLVER] {
        let of_role = || rewarded.iter().filter(|(one, _)| *one == role);
        assert!(of_role().count() > 0 && of_role().all(|(_, text)| !text.starts_with("lost")), "{rewarded:?}");
    }
    let multiplied = witness.multiplied.lock().unwrap();
    assert!(!multiplied.is_empty() && multiplied.iter().all(|text| text.starts_with("good")), "{multiplied:?}");
    let is_trained_on = |text: &str| {
        let tokens = rollout("", text).tokens;
        played.samples().iter().any(|sample| sample.response == tokens)
    };
    assert!(["good 21", "right", "wrong"].into_iter().all(is_trained_on));
    assert!(!["lost 20", "lost", "junk"].into_iter().any(is_trained_on));
}

/// Fails as a program outside does.
struct Failing;

impl RewardScheme for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn proposer(&self, _: ProposalOutcome, _: bool) -> Option<Reward> {
        None
    }

    fn rewards(&self, step: u64, _: &[EpisodeFacts<'_>]) -> Result<Vec<Option<Reward>>, ExternalError> {
        Err(ExternalError(format!("no reward at step {step}")))
    }
}

impl ProposerFactor for Failing {
    fn factors(&self, step: u64, _: &[RewardedProposal<'_>]) -> Result<Vec<f64>, ExternalError> {
        Err(ExternalError(format!("no factor at step {step}")))
    }
}

impl Curriculum for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn weights(&self, context: &CurriculumContext<'_>, _: &[CurriculumTask<'_>]) -> Result<Vec<f64>, ExternalError> {
        Err(ExternalError(format!("no weights at step {}", context.step)))
    }
}

#[test]
fn a_method_that_fails_is_the_error_of_its_step() {
    type Replace = fn(&mut Methods);
    let cases: [(&str, Replace); 3] = [
        ("no reward at step 7", |methods| methods.reward = Method::Own(Box::new(Failing))),
        ("no factor at step 7", |methods| methods.proposer_factors = vec![Method::Own(Box::new(Failing))]),
        ("no weights at step 7", |methods| methods.curriculum = Method::Own(Box::new(Failing))),
    ];
    for (said, replace) in cases {
        let mut game = table(config());
        replace(&mut game.methods);
        let error = game.step(&context(&Script::fresh(7).policy()), &mut seeded(0..9), 7).err().unwrap();
        assert!(matches!(error, PlayError::External(_)), "{error}");
        assert_eq!(error.to_string(), said);
    }
}

/// The tasks on numbers with the same last digit do the same. Half of the attempts solve each of them.
#[test]
fn a_proposer_earns_less_by_what_it_has_done_in_this_step_and_in_earlier_ones() {
    let steps = [
        (["good 20", "good 30", "good 21", "good 40"], [0.25, 0.25, 0.5, 0.25]),
        (["good 50", "good 61", "good 71", "good 82"], [0.97 * 0.5, 0.99 * 0.375, 0.99 * 0.375, 0.5]),
    ];
    let names = ["novelty", "repetition"].map(str::to_owned).to_vec();
    let game = table(config().with(|c| c.shared.proposer_factor = Some(Names::Several(names))));
    let mut state = seeded(0..9);
    for (step, (proposals, rewards)) in (0..).zip(steps) {
        let played = play(&game, &mut state, 1, step, &Script::of(&proposals));
        for (found, reward) in played.rewards(TaskType::Deduction).into_iter().zip(rewards) {
            assert!((found.unwrap() - reward).abs() < 1e-12, "step {step}: {found:?}, not {reward}");
        }
        // As a run that was killed goes on.
        let saved = serde_json::to_string(&state).unwrap();
        state = serde_json::from_str::<State>(&saved).unwrap();
        assert_eq!(serde_json::to_string(&state).unwrap(), saved);
    }
    assert!(!state.behaviours.is_empty());
    let mut state = seeded(0..9);
    play(&table(config()), &mut state, 1, 0, &Script::of(&steps[0].0));
    assert!(state.behaviours.is_empty() && !serde_json::to_string(&state).unwrap().contains("behaviours"));
}

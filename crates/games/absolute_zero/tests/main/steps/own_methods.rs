//! Methods that are in no registry: what they are asked about, and what becomes of their answers and errors.

use std::sync::{Arc, Mutex};

use veriplay_core::{Prompt, Reward, Role};
use veriplay_selfplay::curricula::{Curriculum, CurriculumContext, CurriculumTask};
use veriplay_selfplay::external::ExternalError;
use veriplay_selfplay::methods::{Method, Methods};
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::proposer_factor::{ProposerFactor, RewardedProposal};
use veriplay_selfplay::rewards::{EpisodeFacts, ProposalOutcome, RewardScheme};

use super::{Script, context, play, seeded, table};
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
    game.methods.proposer_factor = Some(Box::new(witness.clone()));
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
        ("no factor at step 7", |methods| methods.proposer_factor = Some(Box::new(Failing))),
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

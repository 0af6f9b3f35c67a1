//! Many episodes at once, turn by turn: all that are to be asked are asked in one batch, all their calls served in another.

use std::sync::Arc;

use veriplay_core::{Dropped, Execute, Policy, PolicyError, Prompt, Rollout, Sampling};
use veriplay_verifier::bugs::Ground;
use veriplay_verifier::bugs::desk::{DeskRequest, serve_all};

use super::dialects::Dialect;
use super::episode::{Assignment, Budget, Episode, Move};
use super::place::Place;
use crate::play::PlayError;
use crate::randomness::derive_seed;

/// An episode that is over, with what was generated in it.
#[derive(Debug, Clone)]
pub(super) struct Done {
    /// Index of its assignment.
    pub(super) assignment: usize,
    /// Which of the group.
    pub(super) sample: usize,
    /// As it ended, or as it was when the host failed.
    pub(super) episode: Episode,
    /// Prompt and rollout of each turn.
    pub(super) said: Vec<(String, Rollout)>,
    /// The host fault that ended it.
    pub(super) dropped: Option<Dropped>,
}

/// Who answers.
pub(super) trait Speaker {
    /// One answer for each prompt in each of `group` samples, in round `round`; `ids` are the places of the episodes asked, the first
    /// of a group where there are several.
    fn answer(
        &mut self,
        round: usize,
        ids: &[usize],
        prompts: &[Prompt],
        group: usize,
    ) -> Result<Vec<Vec<Rollout>>, PlayError>;
}

/// A policy, sampled anew in each round.
pub(super) struct Sampled<'a> {
    pub(super) policy: &'a dyn Policy,
    pub(super) temperature: f32,
    pub(super) max_tokens: usize,
    /// Run seed, step and purpose.
    pub(super) seed: (u64, u64, &'static str),
}

impl Speaker for Sampled<'_> {
    fn answer(
        &mut self,
        round: usize,
        _ids: &[usize],
        prompts: &[Prompt],
        group: usize,
    ) -> Result<Vec<Vec<Rollout>>, PlayError> {
        let (run, step, purpose) = self.seed;
        let seed = derive_seed(run, step, &format!("{purpose}/round {round}"));
        let Self { temperature, max_tokens, .. } = *self;
        Ok(self.policy.generate(prompts, &Sampling { temperature, max_tokens, group, seed })?)
    }
}

/// What all episodes have in common.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) execute: &'a dyn Execute,
    pub(super) places: &'a [Place],
    pub(super) dialect: &'static dyn Dialect,
    pub(super) budget: Budget,
    /// Seeds runs of tests.
    pub(super) seed: u64,
}

/// Plays `group` episodes of each assignment to their ends, in the order of the assignments. One that cannot be asked for has none.
pub(super) fn play(
    table: &Table<'_>,
    assignments: &[Arc<Assignment>],
    group: usize,
    speaker: &mut dyn Speaker,
) -> Result<Vec<Done>, PlayError> {
    let mut episodes = Vec::new();
    for (index, assignment) in assignments.iter().enumerate() {
        if let Some(episode) = Episode::new(Arc::clone(assignment), table.dialect, table.budget) {
            episodes.extend((0..group).map(|sample| Done {
                assignment: index,
                sample,
                episode: episode.clone(),
                said: Vec::new(),
                dropped: None,
            }));
        }
    }
    let mut round = 0;
    loop {
        let asked: Vec<usize> = (0..episodes.len()).filter(|index| is_asking(&episodes[*index])).collect();
        if asked.is_empty() {
            return Ok(episodes);
        }
        // In the first round a group has one prompt, whose computation it shares.
        let together = if round == 0 { group } else { 1 };
        let firsts: Vec<usize> = asked.iter().copied().step_by(together).collect();
        let prompts: Vec<Prompt> = firsts.iter().map(|index| prompt(&episodes[*index])).collect();
        let answers = match speaker.answer(round, &firsts, &prompts, together) {
            // A transcript that the model has no room for ends its episode. A first prompt that does not fit is a config's fault.
            Err(PlayError::Policy(PolicyError::PromptTooLong { index, .. })) if round > 0 && index < asked.len() => {
                episodes[asked[index]].episode.out_of_room();
                continue;
            }
            answers => answers?,
        };
        let rollouts: Vec<Rollout> = answers.into_iter().flatten().collect();
        if rollouts.len() != asked.len() {
            let why =
                format!("the policy gave `{}` rollouts for `{}` that were asked for", rollouts.len(), asked.len());
            return Err(PlayError::Setup(why));
        }
        for (index, rollout) in asked.iter().zip(rollouts) {
            heard(&mut episodes[*index], rollout);
        }
        serve(table, &mut episodes);
        round += 1;
    }
}

fn is_asking(done: &Done) -> bool {
    done.dropped.is_none() && matches!(done.episode.next_move(), Move::Ask(_))
}

fn prompt(done: &Done) -> Prompt {
    let text = match done.episode.next_move() {
        Move::Ask(text) => text.to_owned(),
        Move::Call(_) | Move::Over(_) => String::new(),
    };
    Prompt { role: done.episode.assignment().role(), task_type: None, text }
}

fn heard(done: &mut Done, rollout: Rollout) {
    let text = prompt(done).text;
    done.episode.hear(&rollout.text, rollout.finish);
    done.said.push((text, rollout));
}

/// Serves every call that is waited for.
fn serve(table: &Table<'_>, episodes: &mut [Done]) {
    let grounds: Vec<Ground<'_>> = table.places.iter().map(Place::ground).collect();
    let waiting = |done: &&Done| done.dropped.is_none() && matches!(done.episode.next_move(), Move::Call(_));
    let requests: Vec<DeskRequest<'_>> =
        episodes.iter().filter(waiting).filter_map(|done| request(table, &grounds, &done.episode)).collect();
    let served = serve_all(table.execute, &requests);
    drop(requests);
    for (done, outcome) in episodes.iter_mut().filter(|done| waiting(&&**done)).zip(served) {
        match outcome {
            Ok(outcome) => done.episode.see(&outcome),
            Err(dropped) => done.dropped = Some(dropped),
        }
    }
}

fn request<'a>(table: &Table<'a>, grounds: &'a [Ground<'a>], episode: &'a Episode) -> Option<DeskRequest<'a>> {
    let Move::Call(call) = episode.next_move() else { return None };
    let assignment = episode.assignment();
    Some(DeskRequest {
        ground: &grounds[assignment.place],
        image: &table.places[assignment.place].desk_image,
        tree: episode.tree(),
        suite: &assignment.suite,
        call,
        fuel: episode.fuel_left(),
        shown_chars: episode.shown_chars(),
        seed: table.seed,
    })
}

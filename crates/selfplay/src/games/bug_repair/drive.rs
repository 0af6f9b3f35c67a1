//! Many episodes at once: [`crate::dialogue`] has them asked, and here their calls are served.

use std::sync::Arc;

use veriplay_core::{Dropped, Execute, Prompt, Rollout};
use veriplay_verifier::bugs::Ground;
use veriplay_verifier::bugs::desk::{DeskRequest, serve_all};

use super::dialects::Dialect;
use super::episode::{Assignment, Budget, Episode, Move};
use super::place::Place;
use crate::dialogue::{Dialogue, Speaker, converse};
use crate::episodes::Said;
use crate::play::PlayError;

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
    pub(super) said: Said,
    /// The host fault that ended it.
    pub(super) dropped: Option<Dropped>,
}

impl Dialogue for Done {
    fn asks(&self) -> Option<Prompt> {
        match self.episode.next_move() {
            Move::Ask(text) if self.dropped.is_none() => {
                let role = self.episode.assignment().role();
                Some(Prompt { role, task_type: None, text: text.to_owned() })
            }
            _ => None,
        }
    }

    fn hears(&mut self, prompt: Prompt, rollout: Rollout) {
        self.episode.hear(&rollout.text, rollout.finish);
        self.said.push((prompt, rollout));
    }

    fn out_of_room(&mut self) {
        self.episode.out_of_room();
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
    let begun = |(assignment, what): (usize, &Arc<Assignment>)| {
        let episode = Episode::new(Arc::clone(what), table.dialect, table.budget)?;
        Some(Done { assignment, sample: 0, episode, said: Vec::new(), dropped: None })
    };
    let first = assignments.iter().enumerate().filter_map(begun).collect();
    let mut done = converse(first, group, speaker, |all| serve(table, all))?;
    done.iter_mut().enumerate().for_each(|(place, done)| done.sample = place % group);
    Ok(done)
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

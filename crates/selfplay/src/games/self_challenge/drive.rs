//! Many episodes at once: [`crate::dialogue`] has them asked, and here their code is run.

use std::collections::BTreeMap;
use std::sync::Arc;

use veriplay_core::{Digest, Dropped, Environment, Execute, Limits, Prompt, Rollout, content_hash};
use veriplay_verifier::environments::{About, CodeRequest, run_codes};

use super::dialects::{Dialect, Goal};
use super::episode::{Budget, Episode, Move};
use crate::dialogue::{Dialogue, Speaker, converse};
use crate::episodes::Said;
use crate::play::PlayError;

/// An environment, and what it says of itself.
#[derive(Debug, Clone)]
pub struct World {
    /// The environment.
    pub environment: Environment,
    /// As [`veriplay_verifier::environments::describe`] gives it.
    pub about: Arc<About>,
}

/// An episode that is over, with what was generated in it.
#[derive(Clone)]
pub(super) struct Done {
    /// Index of its goal.
    pub(super) goal: usize,
    /// Index of its world.
    pub(super) world: usize,
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
                Some(Prompt { role: self.episode.goal().role(), task_type: None, text })
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
    pub(super) worlds: &'a [World],
    pub(super) dialect: &'static dyn Dialect,
    pub(super) budget: Budget,
    pub(super) image: &'a str,
    pub(super) limits: Limits,
    /// Seeds code.
    pub(super) seed: u64,
}

/// Plays `group` episodes of each goal to their ends, in the order of the goals. A goal has the index of its world.
pub(super) fn play(
    table: &Table<'_>,
    goals: Vec<(usize, Goal)>,
    group: usize,
    speaker: &mut dyn Speaker,
) -> Result<Vec<Done>, PlayError> {
    let begun = |(goal, (world, what)): (usize, (usize, Goal))| {
        let about = Arc::clone(&table.worlds[world].about);
        let episode = Episode::new(what, about, table.dialect, table.budget);
        Done { goal, world, episode, said: Vec::new(), dropped: None }
    };
    let first = goals.into_iter().enumerate().map(begun).collect();
    converse(first, group, speaker, |all| serve(table, all))
}

/// Runs all code that is waited for: what is written the same after the same is run once.
fn serve(table: &Table<'_>, all: &mut [Done]) {
    let waiting = |done: &Done| done.dropped.is_none() && matches!(done.episode.next_move(), Move::Run(_));
    let places: Vec<usize> = (0..all.len()).filter(|place| waiting(&all[*place])).collect();
    let requests: Vec<CodeRequest<'_>> = places.iter().filter_map(|place| request(table, &all[*place])).collect();
    let key = |request: &CodeRequest<'_>| {
        content_hash(&(&request.environment.name, request.code, request.history, request.limits.fuel))
    };
    let outcomes = shared(&requests, key, |distinct| run_codes(table.execute, distinct));
    drop(requests);
    for (place, outcome) in places.into_iter().zip(outcomes) {
        match outcome {
            Ok(outcome) => all[place].episode.see(&outcome),
            Err(dropped) => all[place].dropped = Some(dropped),
        }
    }
}

/// What `run` gives for the first request of each key, for all requests that have it.
pub(super) fn shared<Q: Copy, R: Clone>(
    requests: &[Q],
    key: impl Fn(&Q) -> Digest,
    run: impl FnOnce(&[Q]) -> Vec<R>,
) -> Vec<R> {
    let (mut distinct, mut known) = (Vec::new(), BTreeMap::new());
    let mut place = |request: &Q| {
        *known.entry(key(request)).or_insert_with(|| {
            distinct.push(*request);
            distinct.len() - 1
        })
    };
    let places: Vec<usize> = requests.iter().map(&mut place).collect();
    let results = run(&distinct);
    places.into_iter().map(|place| results[place].clone()).collect()
}

fn request<'a>(table: &Table<'a>, done: &'a Done) -> Option<CodeRequest<'a>> {
    let Move::Run(code) = done.episode.next_move() else { return None };
    let limits = Limits { fuel: table.limits.fuel.min(done.episode.fuel_left()), ..table.limits };
    Some(CodeRequest {
        environment: &table.worlds[done.world].environment,
        history: done.episode.calls(),
        code,
        image: table.image,
        limits,
        seed: table.seed,
    })
}

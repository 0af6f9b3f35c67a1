//! Which bugs solvers are asked to repair in a step, and what each is handed.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand::seq::SliceRandom;
use veriplay_core::{Dropped, Execute};
use veriplay_verifier::bugs::desk::{Suite, View, ViewRequest, test_function, view_all};
use veriplay_verifier::bugs::{BugArtifact, Ground};

use super::BugRepair;
use super::dialects::Goal;
use super::episode::{Assignment, Episode};
use super::place::Place;
use super::state::{GameState, Kept, Source};
use crate::randomness::{generator, ordered};

/// A bug that solvers are asked to repair.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) bug: Kept,
    pub(super) artifact: BugArtifact,
    pub(super) source: Source,
    /// Index of the step's injection that made it.
    pub(super) injection: Option<usize>,
    pub(super) hidden: BTreeSet<String>,
    pub(super) assignment: Arc<Assignment>,
}

/// A bug that may become one.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    pub(super) bug: Kept,
    pub(super) source: Source,
    pub(super) injection: Option<usize>,
}

/// A bug's repository, and the bug in it.
type Placed = (usize, BugArtifact);

/// Tasks, and how many bugs could not become one.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub(super) tasks: Vec<Task>,
    /// Ids of those that the dialect cannot ask for, or whose prompt would be too long.
    pub(super) unaskable: BTreeSet<String>,
    /// The host failed.
    pub(super) dropped: usize,
}

impl BugRepair {
    /// The tasks of a step: this step's bugs and earlier ones of the second order, each kind up to its share; then the training set
    /// and the buffer, drawn without replacement, those at the edge of what is solved weighing more.
    pub(super) fn tasks(
        &self,
        execute: &dyn Execute,
        state: &GameState,
        fresh: Vec<Wish>,
        seed: u64,
        step: u64,
    ) -> Chosen {
        let mut chosen = Chosen::default();
        let mut rng = generator(seed, step, "tasks");
        let higher = state.entries().iter().filter(|entry| entry.source == Source::HigherOrder);
        let higher: Vec<Wish> = ordered(higher.map(|entry| (entry, 1.0)).collect(), &mut rng)
            .into_iter()
            .map(|entry| Wish { bug: entry.bug.clone(), source: entry.source, injection: None })
            .collect();
        let (model, mutants): (Vec<Wish>, Vec<Wish>) = fresh.into_iter().partition(|wish| wish.source == Source::Model);
        let config = &self.config;
        let kinds =
            [(model, config.injection_share), (mutants, config.mutant_share), (higher, config.higher_order_share)];
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for (wishes, share) in kinds {
            taken.extend(wishes.iter().map(|wish| wish.bug.task_id.clone()));
            let count = config.tasks_of(share).min(config.tasks_per_step - chosen.tasks.len());
            self.take(execute, wishes, count, seed, &mut chosen);
        }
        let pool = ordered(self.pool(state, &taken), &mut rng);
        let left = config.tasks_per_step - chosen.tasks.len();
        self.take(execute, pool, left, seed, &mut chosen);
        chosen
    }

    /// The training set and the buffer but for `taken` and the second order, with weights.
    fn pool(&self, state: &GameState, taken: &BTreeSet<String>) -> Vec<(Wish, f64)> {
        let weigh = |wish: Wish| {
            let learnable = state.last(&wish.bug.task_id).is_some_and(|count| count.is_learnable());
            let weight = if learnable { self.config.resample_learnable } else { 1.0 };
            (wish, weight)
        };
        let training =
            self.training.iter().map(|bug| Wish { bug: bug.clone(), source: Source::Training, injection: None });
        let made = state.entries().iter().filter(|entry| entry.source != Source::HigherOrder);
        let made = made.map(|entry| Wish { bug: entry.bug.clone(), source: entry.source, injection: None });
        training.chain(made).filter(|wish| !taken.contains(&wish.bug.task_id)).map(weigh).collect()
    }

    /// The first `count` of the wishes that can be asked for.
    fn take(&self, execute: &dyn Execute, wishes: Vec<Wish>, count: usize, seed: u64, chosen: &mut Chosen) {
        let wanted = chosen.tasks.len() + count;
        let mut wishes = wishes.into_iter();
        while chosen.tasks.len() < wanted {
            let next: Vec<Wish> = wishes.by_ref().take(wanted - chosen.tasks.len()).collect();
            if next.is_empty() {
                break;
            }
            let ids: Vec<String> = next.iter().map(|wish| wish.bug.task_id.clone()).collect();
            for (task, id) in self.prepared(execute, next, seed).into_iter().zip(ids) {
                match task {
                    Ok(Some(task)) => chosen.tasks.push(task),
                    Ok(None) => drop(chosen.unaskable.insert(id)),
                    Err(_) => chosen.dropped += 1,
                }
            }
        }
    }

    /// Each bug with what a solver is handed; `None` where it cannot be asked for.
    pub(super) fn prepared(
        &self,
        execute: &dyn Execute,
        wishes: Vec<Wish>,
        seed: u64,
    ) -> Vec<Result<Option<Task>, Dropped>> {
        let hidden: Vec<BTreeSet<String>> = wishes.iter().map(|wish| self.hidden(&wish.bug, seed)).collect();
        self.handed_out(execute, wishes, &hidden)
    }

    /// The same, with the test functions that are hidden given.
    pub(super) fn handed_out(
        &self,
        execute: &dyn Execute,
        wishes: Vec<Wish>,
        hidden: &[BTreeSet<String>],
    ) -> Vec<Result<Option<Task>, Dropped>> {
        let (placed, views) = self.views(execute, &wishes, hidden);
        let task = |((wish, (place, artifact)), view): ((Wish, Placed), Result<View, Dropped>)| {
            let view = view?;
            let hidden = view.hidden.clone();
            let assignment = Arc::new(repair(place, view));
            let askable = Episode::new(Arc::clone(&assignment), self.dialect, self.config.solver_budget).is_some();
            let Wish { bug, source, injection } = wish;
            Ok(askable.then_some(Task { bug, artifact, source, injection, hidden, assignment }))
        };
        wishes.into_iter().zip(placed).zip(views).map(task).collect()
    }

    /// The artifacts of bugs with their places, and the views of them.
    fn views(
        &self,
        execute: &dyn Execute,
        wishes: &[Wish],
        hidden: &[BTreeSet<String>],
    ) -> (Vec<Placed>, Vec<Result<View, Dropped>>) {
        let grounds: Vec<Ground<'_>> = self.places.iter().map(Place::ground).collect();
        let placed = |wish: &Wish| {
            // Every bug was made in one of the places, or was checked against them when the game was set up.
            let place = self.place_of(&wish.bug.package).unwrap_or_default();
            (place, wish.bug.artifact(&self.places[place]))
        };
        let placed: Vec<Placed> = wishes.iter().map(placed).collect();
        let with_function = self.dialect.is_single_turn();
        let requests: Vec<ViewRequest<'_>> = placed
            .iter()
            .zip(hidden)
            .map(|((place, artifact), hidden)| ViewRequest {
                ground: &grounds[*place],
                artifact,
                hidden,
                with_function,
            })
            .collect();
        let views = view_all(execute, &requests);
        drop(requests);
        (placed, views)
    }

    /// Test functions of a bug that its solver is shown nothing of: a draw by the seed and the bug alone.
    pub(super) fn hidden(&self, bug: &Kept, seed: u64) -> BTreeSet<String> {
        let functions: BTreeSet<&str> = bug.fail_to_pass.iter().map(|id| test_function(id)).collect();
        let mut functions: Vec<&str> = functions.into_iter().collect();
        let count = (self.config.hidden_share * functions.len() as f64).floor() as usize;
        functions.shuffle(&mut generator(seed, 0, &format!("hidden tests of {}", bug.task_id)));
        functions.truncate(count.min(functions.len().saturating_sub(1)));
        functions.into_iter().map(str::to_owned).collect()
    }
}

/// What a solver is asked.
fn repair(place: usize, view: View) -> Assignment {
    let function = view.function.map(|(_, now)| now);
    let goal = Goal::Repair { spec: view.spec.to_string(), function };
    Assignment { goal, place, tree: Arc::new(view.tree), suite: Suite::Files(view.test_files) }
}

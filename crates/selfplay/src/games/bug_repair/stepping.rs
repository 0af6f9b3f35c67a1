//! The game as the loop plays it.

use veriplay_core::{Dropped, Execute, Prompt, Role, Status};
use veriplay_verifier::bugs::desk::{ViewRequest, view_all};

use super::dialects::{Goal, Left};
use super::episode::{Episode, Move};
use super::making::{Candidate, Injection, Site};
use super::metrics::{Step, StepMetrics, rates, step_metrics};
use super::place::Place;
use super::records::{
    CandidateRecord, EpisodeRecord, InjectionRecord, JudgedBug, Record, RepairRecord, Tried, VERSION,
};
use super::solving::{Draw, Repair, seeds};
use super::state::{GameState, Kept, Source};
use super::tasks::{Task, Wish};
use super::{BugRepair, Demonstration, Mode};
use crate::episodes::{self, Paid};
use crate::eval_table::EvalTable;
use crate::metrics::solve_counts;
use crate::play::{Again, Arena, Counts, Example, Lesson, Play, PlayError, Played};
use crate::randomness::derive_seed;
use crate::splits::{self, Guard};

impl Play for BugRepair {
    type State = GameState;
    type Record = Record;
    type Metrics = StepMetrics;
    type Held = EvalTable;

    fn guard(&self) -> &Guard {
        &self.guard
    }

    fn begin(&self, arena: &Arena<'_>) -> Result<GameState, PlayError> {
        let mut state = GameState::default();
        let bugs = self.training.iter().take(self.config.anchor_bugs);
        let wishes = bugs.map(|bug| Wish { bug: bug.clone(), source: Source::Training, injection: None }).collect();
        let tasks = self.prepared(arena.execute, wishes, arena.seed).into_iter();
        let tasks: Vec<Task> = tasks.collect::<Result<Vec<_>, Dropped>>()?.into_iter().flatten().collect();
        let draw = self.solver_draw((arena.seed, 0, "anchors"));
        for repair in self.repairs(arena.policy, arena.execute, &tasks, draw)? {
            if repair.judged?.status == Status::Accepted {
                state.add_anchors(episodes::anchors(&repair.done.said));
            }
        }
        if self.config.anchor_bugs > 0 {
            // Another seed than step 0's, whose injections would be these otherwise.
            let seed = derive_seed(arena.seed, 0, "anchors of injectors");
            for injection in self.injections(&Arena { seed, ..*arena }, 0)? {
                if injection.judged?.bug.is_some() {
                    state.add_anchors(episodes::anchors(&injection.done.said));
                }
            }
        }
        Ok(state)
    }

    fn step(
        &self,
        arena: &Arena<'_>,
        state: &mut GameState,
        step: u64,
    ) -> Result<Played<StepMetrics, Record>, PlayError> {
        let now = (arena.seed, step);
        let mut injections = self.injections(arena, step)?;
        let mut candidates = self.mutants(arena.execute, arena.seed, step);
        let mut known = self.known(state);
        self.mark_known(&mut known, injections.iter_mut().map(|injection| &mut injection.judged));
        self.mark_known(&mut known, candidates.iter_mut().map(|candidate| &mut candidate.judged));
        let fresh = fresh(&injections, &candidates);
        let chosen = self.tasks(arena.execute, state, fresh.clone(), arena.seed, step);
        let tasks = &chosen.tasks;
        let draw = self.solver_draw((arena.seed, step, "solver"));
        let repairs = self.repairs(arena.policy, arena.execute, tasks, draw)?;
        let counts = solve_counts(tasks.len(), repairs.iter().filter_map(Repair::status));
        let mut higher = self.higher_order(arena.execute, &failed(tasks, &repairs), arena.seed, step);
        self.mark_known(&mut known, higher.iter_mut().map(|candidate| &mut candidate.judged));
        candidates.extend(higher);
        self.admit(state, step, fresh, &candidates);
        // What cannot be asked for would be drawn again and again.
        state.retain(|task_id| !chosen.unaskable.contains(task_id));
        for (task, count) in tasks.iter().zip(&counts).filter(|(_, count)| count.judged > 0) {
            state.note(task.source, &task.bug.task_id, *count);
        }
        let paid = self.paid(state, now, &injections, &rates(tasks, &counts), &repairs);
        let lesson = self.lesson(state, now, &injections, &repairs, &paid);
        let metrics = step_metrics(&Step {
            injections: &injections,
            candidates: &candidates,
            tasks,
            unaskable: chosen.unaskable.len(),
            undelivered: chosen.dropped,
            repairs: &repairs,
            counts: &counts,
            paid: &paid,
            bugs: state.entries().len(),
        });
        Ok(Played {
            lessons: lesson.map(Lesson::Samples).into_iter().collect(),
            metrics,
            counts: counted(&injections, &candidates, &repairs),
            records: self.records(now, &injections, &candidates, tasks, &repairs, &paid),
        })
    }

    fn measure(&self, arena: &Arena<'_>) -> Result<EvalTable, PlayError> {
        self.measured(arena)
    }

    fn judge_again(&self, execute: &dyn Execute, records: &[Record]) -> Result<Again, PlayError> {
        self.judged_again(execute, records)
    }

    fn examples(&self, execute: &dyn Execute) -> Result<Vec<Example>, PlayError> {
        let mut examples = Vec::new();
        for mode in &self.config.modes {
            let sites = self.sites(execute, 0, 0).into_iter().map(|site| Site { mode: *mode, ..site });
            let asked = sites.filter_map(|site| self.injection(&site).ok()).next();
            let budget = self.config.injector_budget;
            if let Some(episode) = asked.and_then(|asked| Episode::new(asked.into(), self.dialect, budget)) {
                examples.extend(example(&format!("injector, {}", mode.name()), &episode));
            }
        }
        let wishes =
            self.training.iter().map(|bug| Wish { bug: bug.clone(), source: Source::Training, injection: None });
        // The first that can be asked for.
        for wish in wishes {
            if let Some(task) = self.prepared(execute, vec![wish], 0).remove(0)? {
                let episode = Episode::new(task.assignment, self.dialect, self.config.solver_budget);
                examples.extend(episode.and_then(|episode| example("solver", &episode)));
                break;
            }
        }
        Ok(examples)
    }
}

fn example(what: &str, episode: &Episode) -> Option<Example> {
    let Move::Ask(text) = episode.next_move() else { return None };
    let prompt = Prompt { role: episode.assignment().role(), task_type: None, text: text.to_owned() };
    Some(Example { what: what.to_owned(), prompt })
}

/// Valid, new bugs of the step, in the order they were made.
fn fresh(injections: &[Injection], candidates: &[Candidate]) -> Vec<Wish> {
    let new = |judged: &Result<JudgedBug, Dropped>| -> Option<Kept> {
        judged.as_ref().ok().filter(|judged| !judged.known).and_then(|judged| judged.bug.clone())
    };
    let model = injections.iter().enumerate().filter_map(|(index, injection)| {
        Some(Wish { bug: new(&injection.judged)?, source: Source::Model, injection: Some(index) })
    });
    let mutants = candidates
        .iter()
        .filter_map(|candidate| Some(Wish { bug: new(&candidate.judged)?, source: Source::Mutant, injection: None }));
    model.chain(mutants).collect()
}

/// First-order bugs with patches that were graded and failed.
fn failed<'a>(tasks: &'a [Task], repairs: &'a [Repair]) -> Vec<(&'a Kept, &'a str)> {
    let failed = repairs.iter().filter(|repair| {
        let status = repair.judged.as_ref().map(|verdict| verdict.status);
        matches!(status, Ok(Status::WrongAnswer | Status::RuntimeError)) && !repair.patch.is_empty()
    });
    let of_first_order = failed.filter(|repair| tasks[repair.done.assignment].bug.bug.order() == 1);
    of_first_order.map(|repair| (&tasks[repair.done.assignment].bug, repair.patch.as_str())).collect()
}

fn counted(injections: &[Injection], candidates: &[Candidate], repairs: &[Repair]) -> Counts {
    let proposals = || {
        let model = injections.iter().map(|injection| &injection.judged);
        model.chain(candidates.iter().map(|candidate| &candidate.judged))
    };
    let count = |number: usize| number as u64;
    let accepted = |repair: &&Repair| repair.judged.as_ref().is_ok_and(|verdict| verdict.status == Status::Accepted);
    let lost = proposals().filter(|judged| judged.is_err()).count();
    let dropped = lost + repairs.iter().filter(|repair| repair.judged.is_err()).count();
    Counts {
        proposals: count(proposals().filter(|judged| judged.is_ok()).count()),
        valid_proposals: count(
            proposals()
                .filter(|judged| judged.as_ref().is_ok_and(|judged| judged.bug.is_some() && !judged.known))
                .count(),
        ),
        proposals_in_held_out: count(
            proposals()
                .filter(|judged| judged.as_ref().is_ok_and(|judged| splits::is_refusal(&judged.verdict)))
                .count(),
        ),
        attempts: count(repairs.iter().filter(|repair| repair.judged.is_ok()).count()),
        accepted: count(repairs.iter().filter(accepted).count()),
        dropped: count(dropped),
    }
}

impl BugRepair {
    fn solver_draw(&self, seed: (u64, u64, &'static str)) -> Draw {
        Draw { group: self.config.group, temperature: self.config.solver_temperature, seed }
    }

    /// Lets the step's bugs into the buffer.
    fn admit(&self, state: &mut GameState, step: u64, fresh: Vec<Wish>, candidates: &[Candidate]) {
        let capacity = self.config.buffer_capacity;
        for wish in fresh {
            state.admit(wish.bug, wish.source, step, capacity);
        }
        let higher = candidates.iter().filter(|candidate| matches!(candidate.tried, Tried::HigherOrder(_)));
        for judged in higher.filter_map(|candidate| candidate.judged.as_ref().ok()).filter(|judged| !judged.known) {
            if let Some(bug) = &judged.bug {
                state.admit(bug.clone(), Source::HigherOrder, step, capacity);
            }
        }
    }

    fn records(
        &self,
        (seed, step): (u64, u64),
        injections: &[Injection],
        candidates: &[Candidate],
        tasks: &[Task],
        repairs: &[Repair],
        paid: &[Paid],
    ) -> Vec<Record> {
        let of = |role: Role, index: usize| paid.iter().find(|paid| (paid.role, paid.index) == (role, index));
        let episode = |episode: EpisodeRecord, paid: Option<&Paid>| EpisodeRecord {
            reward: paid.map(|paid| paid.reward.clone()),
            advantage: paid.map(|paid| paid.advantage),
            ..episode
        };
        let tests = derive_seed(seed, step, "tests of injectors");
        let mut records = Vec::with_capacity(injections.len() + candidates.len() + repairs.len());
        records.extend(injections.iter().enumerate().map(|(index, injection)| {
            Record::Injection(Box::new(InjectionRecord {
                schema_version: VERSION,
                step,
                index,
                package: self.places[injection.site.place].package().clone(),
                mode: injection.site.mode,
                path: injection.site.function.path.clone(),
                function: injection.site.function.name.clone(),
                episode: episode(EpisodeRecord::of(&injection.done, tests), of(Role::Proposer, index)),
                judged: injection.judged.clone(),
            }))
        }));
        records.extend(candidates.iter().map(|candidate| {
            Record::Candidate(Box::new(CandidateRecord {
                schema_version: VERSION,
                step,
                package: self.places[candidate.place].package().clone(),
                injector: candidate.injector.clone(),
                tried: candidate.tried.clone(),
                judged: candidate.judged.clone(),
            }))
        }));
        let (tests, grade_seed) = seeds((seed, step, "solver"));
        records.extend(repairs.iter().enumerate().map(|(index, repair)| {
            let task = &tasks[repair.done.assignment];
            Record::Repair(Box::new(RepairRecord {
                schema_version: VERSION,
                step,
                task: repair.done.assignment,
                sample: repair.done.sample,
                bug: task.bug.clone(),
                source: task.source,
                hidden: task.hidden.clone(),
                episode: episode(EpisodeRecord::of(&repair.done, tests), of(Role::Solver, index)),
                patch: repair.patch.clone(),
                grade_seed,
                judged: repair.judged.clone(),
            }))
        }));
        records
    }

    /// What can be taught of the training bugs before play, where the dialect can say it in one response: each function with its
    /// bug and the original's, and the other way round.
    ///
    /// # Errors
    /// A host fault.
    pub fn demonstrations(&self, execute: &dyn Execute) -> Result<Vec<Demonstration>, PlayError> {
        let nothing = std::collections::BTreeSet::new();
        let grounds: Vec<_> = self.places.iter().map(Place::ground).collect();
        let places: Vec<usize> = self.training.iter().filter_map(|bug| self.place_of(&bug.package)).collect();
        let artifacts: Vec<_> =
            self.training.iter().zip(&places).map(|(bug, place)| bug.artifact(&self.places[*place])).collect();
        let request = |(artifact, place): (_, &usize)| ViewRequest {
            ground: &grounds[*place],
            artifact,
            hidden: &nothing,
            with_function: true,
        };
        let requests: Vec<ViewRequest<'_>> = artifacts.iter().zip(&places).map(request).collect();
        let mut found = Vec::new();
        for view in view_all(execute, &requests) {
            let view = view?;
            let Some((original, buggy)) = view.function else { continue };
            let repair = Goal::Repair { spec: view.spec.to_string(), function: Some(buggy.clone()) };
            let inject = Goal::Inject { mode: Mode::Direct, function: original.clone() };
            found.extend(self.demonstration(Role::Solver, &repair, &original));
            found.extend(self.demonstration(Role::Proposer, &inject, &buggy));
        }
        Ok(found)
    }

    fn demonstration(
        &self,
        role: Role,
        goal: &Goal,
        now: &veriplay_verifier::bugs::desk::FunctionSource,
    ) -> Option<Demonstration> {
        let response = self.dialect.replacement(now).filter(|_| self.dialect.can_ask(goal))?;
        let text = self.dialect.text(goal, &[], Left { turns: 1, test_runs: 0, shown_chars: 0 });
        Some(Demonstration { prompt: Prompt { role, task_type: None, text }, response })
    }
}

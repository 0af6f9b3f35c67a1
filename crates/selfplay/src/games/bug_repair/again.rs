//! Verdicts made again from the log: every episode is played with its logged responses, its tools in the sandbox, and judged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use veriplay_core::{Dropped, Execute, Verdict};
use veriplay_verifier::bugs::desk::{Weakening, functions_all};

use super::BugRepair;
use super::drive::{Done, Table, play};
use super::episode::{Assignment, Budget, Episode};
use super::making::{Site, Tree};
use super::records::{CandidateRecord, EpisodeRecord, InjectionRecord, JudgedBug, Record, RepairRecord, Tried};
use super::tasks::{Task, Wish};
use crate::episodes::{Logged, met_deadline};
use crate::play::{Again, PlayError};

impl BugRepair {
    /// Judges `records` again, those of a kind and a step beside each other.
    pub(super) fn judged_again(&self, execute: &dyn Execute, records: &[Record]) -> Result<Again, PlayError> {
        let mut again = Again::default();
        let mut steps: BTreeMap<u64, OfStep<'_>> = BTreeMap::new();
        for record in records {
            let lost = match record {
                Record::Injection(record) => {
                    steps.entry(record.step).or_default().injections.push(record);
                    record.judged.is_err()
                }
                Record::Candidate(record) => {
                    steps.entry(record.step).or_default().candidates.push(record);
                    record.judged.is_err()
                }
                Record::Repair(record) => {
                    steps.entry(record.step).or_default().repairs.push(record);
                    record.judged.is_err()
                }
            };
            again.dropped += u64::from(lost);
        }
        for step in steps.values() {
            self.injections_again(execute, &mut again, &step.injections)?;
            self.candidates_again(execute, &mut again, &step.candidates)?;
            self.repairs_again(execute, &mut again, &step.repairs)?;
        }
        Ok(again)
    }

    fn injections_again(
        &self,
        execute: &dyn Execute,
        again: &mut Again,
        records: &[&InjectionRecord],
    ) -> Result<(), PlayError> {
        let records = records.iter().copied().filter(|record| record.judged.is_ok());
        let (mut sites, mut kept) = (Vec::new(), Vec::new());
        for record in records {
            match self.site_again(execute, record)? {
                Some(site) => {
                    sites.push(site);
                    kept.push(record);
                }
                None => again.verdicts += 1,
            }
        }
        let assignments: Vec<Arc<Assignment>> =
            sites.iter().map(|site| self.injection(site).map(Arc::new)).collect::<Result<_, _>>()?;
        let episodes: Vec<&EpisodeRecord> = kept.iter().map(|record| &record.episode).collect();
        let done = self.episodes_again(execute, assignments, self.config.injector_budget, episodes)?;
        let judged = self.judge_injections(execute, &sites, &done);
        for (record, judged) in kept.iter().zip(judged) {
            compare_bug(again, &record.judged, &judged?);
        }
        Ok(())
    }

    /// Where an injection began; `None` where the log does not fit the game.
    fn site_again(&self, execute: &dyn Execute, record: &InjectionRecord) -> Result<Option<Site>, PlayError> {
        let Some(place) = self.place_of(&record.package) else { return Ok(None) };
        let ground = self.places[place].ground();
        let found = functions_all(execute, &[(&ground, &record.path)]).remove(0)?;
        let function = found.into_iter().find(|function| function.name == record.function);
        let site = function.map(|function| Site { place, mode: record.mode, function });
        Ok(site.filter(|site| {
            let asked = self.injection(site).ok();
            asked.is_some_and(|asked| Episode::new(asked.into(), self.dialect, self.config.injector_budget).is_some())
        }))
    }

    fn candidates_again(
        &self,
        execute: &dyn Execute,
        again: &mut Again,
        records: &[&CandidateRecord],
    ) -> Result<(), PlayError> {
        for record in records.iter().filter(|record| record.judged.is_ok()) {
            let made = match (self.place_of(&record.package), &record.tried) {
                (None, _) => None,
                (Some(place), Tried::HigherOrder(bug)) => self.judge_proposals(execute, &[(place, bug)]).pop(),
                (Some(place), Tried::Mutant(patch)) => patch.apply(&self.originals[place]).ok().and_then(|now| {
                    let tree = Tree { place, now: &now, injector: &record.injector };
                    self.judge_trees(execute, &[tree], Weakening::Derived).pop()
                }),
            };
            match made {
                Some(judged) => compare_bug(again, &record.judged, &judged?),
                None => again.verdicts += 1,
            }
        }
        Ok(())
    }

    fn repairs_again(
        &self,
        execute: &dyn Execute,
        again: &mut Again,
        records: &[&RepairRecord],
    ) -> Result<(), PlayError> {
        let known = |record: &&&RepairRecord| record.judged.is_ok() && self.place_of(&record.bug.package).is_some();
        let kept: Vec<&RepairRecord> = records.iter().filter(known).copied().collect();
        let judged = records.iter().filter(|record| record.judged.is_ok()).count();
        again.verdicts += (judged - kept.len()) as u64;
        let wish = |record: &&RepairRecord| Wish { bug: record.bug.clone(), source: record.source, injection: None };
        let hidden: Vec<BTreeSet<String>> = kept.iter().map(|record| record.hidden.clone()).collect();
        let handed = self.handed_out(execute, kept.iter().map(wish).collect(), &hidden);
        let (mut tasks, mut asked) = (Vec::new(), Vec::new());
        for (record, task) in kept.into_iter().zip(handed) {
            match task? {
                Some(task) => {
                    tasks.push(task);
                    asked.push(record);
                }
                None => again.verdicts += 1,
            }
        }
        let assignments: Vec<Arc<Assignment>> = tasks.iter().map(|task| Arc::clone(&task.assignment)).collect();
        let episodes: Vec<&EpisodeRecord> = asked.iter().map(|record| &record.episode).collect();
        let done = self.episodes_again(execute, assignments, self.config.solver_budget, episodes)?;
        let of_task: Vec<(&Task, u64)> =
            tasks.iter().zip(&asked).map(|(task, record)| (task, record.grade_seed)).collect();
        for (record, repair) in asked.iter().zip(self.judge_repairs(execute, &of_task, done)) {
            let now = repair.judged?;
            if let Ok(logged) = &record.judged {
                compare(again, logged, &now, repair.patch == record.patch);
            }
        }
        Ok(())
    }

    /// Plays episodes of one step, each of which can be asked for, with the responses of the log.
    fn episodes_again(
        &self,
        execute: &dyn Execute,
        assignments: Vec<Arc<Assignment>>,
        budget: Budget,
        records: Vec<&EpisodeRecord>,
    ) -> Result<Vec<Done>, PlayError> {
        let Some(first) = records.first() else { return Ok(Vec::new()) };
        let table = Table { budget, ..self.table(execute, first.seed) };
        let mut speaker = Logged(records.iter().map(|record| record.turns.as_slice()).collect());
        let done = play(&table, &assignments, 1, &mut speaker)?;
        match done.iter().find_map(|done| done.dropped.clone()) {
            Some(dropped) => Err(PlayError::Host(dropped)),
            None => Ok(done),
        }
    }
}

/// Records of one step.
#[derive(Default)]
struct OfStep<'a> {
    injections: Vec<&'a InjectionRecord>,
    candidates: Vec<&'a CandidateRecord>,
    repairs: Vec<&'a RepairRecord>,
}

fn compare_bug(again: &mut Again, logged: &Result<JudgedBug, Dropped>, now: &JudgedBug) {
    if let Ok(logged) = logged {
        compare(again, &logged.verdict, &now.verdict, logged.bug == now.bug);
    }
}

fn compare(again: &mut Again, logged: &Verdict, now: &Verdict, same_rest: bool) {
    again.count(logged == now && same_rest, met_deadline(logged) || met_deadline(now));
}

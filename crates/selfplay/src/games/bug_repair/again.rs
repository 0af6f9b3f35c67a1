//! Verdicts made again from the log: every episode is played with its logged responses, its tools in the sandbox, and judged.

use std::sync::Arc;

use veriplay_core::{Digest, Execute, Patch, PolicyVersion, Prompt, Rollout, TextFiles, Verdict};
use veriplay_verifier::bugs::desk::{FunctionSource, Weakening, functions_all};

use super::BugRepair;
use super::drive::{Done, Speaker, Table, play};
use super::episode::{Assignment, Budget};
use super::making::{Site, Tree};
use super::records::{
    CandidateRecord, EpisodeRecord, InjectionRecord, JudgedBug, Record, RepairRecord, Tried, TurnRecord,
};
use super::tasks::{Task, Wish};
use crate::play::{Again, PlayError};

/// Says what was logged.
struct Logged<'a>(Vec<&'a EpisodeRecord>);

impl Speaker for Logged<'_> {
    fn answer(
        &mut self,
        round: usize,
        ids: &[usize],
        _prompts: &[Prompt],
        _group: usize,
    ) -> Result<Vec<Vec<Rollout>>, PlayError> {
        let said = |id: &usize| {
            let turn = self.0[*id].turns.get(round);
            let missing =
                || PlayError::Setup(format!("the log has no turn `{}` of an episode that needs one", round + 1));
            turn.map(|turn| vec![rollout(turn)]).ok_or_else(missing)
        };
        ids.iter().map(said).collect()
    }
}

fn rollout(turn: &TurnRecord) -> Rollout {
    Rollout {
        prompt_tokens: Vec::new(),
        tokens: turn.tokens.clone(),
        logprobs: turn.logprobs.clone(),
        text: turn.text.clone(),
        finish: turn.finish,
        policy: PolicyVersion(0),
    }
}

impl BugRepair {
    /// Judges `records` again.
    pub(super) fn judged_again(&self, execute: &dyn Execute, records: &[Record]) -> Result<Again, PlayError> {
        let mut again = Again::default();
        for record in records {
            match self.one_again(execute, &mut again, record) {
                // The log does not fit the game: a verdict that did not come out the same.
                Err(PlayError::Setup(_)) => again.verdicts += 1,
                made => made?,
            }
        }
        Ok(again)
    }

    fn one_again(&self, execute: &dyn Execute, again: &mut Again, record: &Record) -> Result<(), PlayError> {
        match record {
            Record::Injection(record) => match &record.judged {
                Err(_) => again.dropped += 1,
                Ok(logged) => compare_bug(again, logged, &self.injection_again(execute, record)?),
            },
            Record::Candidate(record) => match &record.judged {
                Err(_) => again.dropped += 1,
                Ok(logged) => compare_bug(again, logged, &self.candidate_again(execute, record)?),
            },
            Record::Repair(record) => match &record.judged {
                Err(_) => again.dropped += 1,
                Ok(logged) => {
                    let (patch, verdict) = self.repair_again(execute, record)?;
                    compare(again, logged, &verdict, patch == record.patch);
                }
            },
        }
        Ok(())
    }

    fn injection_again(&self, execute: &dyn Execute, record: &InjectionRecord) -> Result<JudgedBug, PlayError> {
        let place = self.known_place(&record.package)?;
        let ground = self.places[place].ground();
        let found = functions_all(execute, &[(&ground, &record.path)]).remove(0)?;
        let function: Option<FunctionSource> = found.into_iter().find(|function| function.name == record.function);
        let missing = || PlayError::Setup(format!("`{}` has no function `{}`", record.path, record.function));
        let site = Site { place, mode: record.mode, function: function.ok_or_else(missing)? };
        let assignment = Arc::new(self.injection(&site)?);
        let done = self.episode_again(execute, assignment, self.config.injector_budget, &record.episode)?;
        Ok(self.judge_injections(execute, &[site], &[done]).remove(0)?)
    }

    fn candidate_again(&self, execute: &dyn Execute, record: &CandidateRecord) -> Result<JudgedBug, PlayError> {
        let place = self.known_place(&record.package)?;
        Ok(match &record.tried {
            Tried::HigherOrder(bug) => self.judge_proposals(execute, &[(place, bug)]).remove(0)?,
            Tried::Mutant(patch) => {
                let now = mutated(patch, &self.originals[place])?;
                let tree = Tree { place, now: &now, injector: &record.injector };
                self.judge_trees(execute, &[tree], Weakening::Derived).remove(0)?
            }
        })
    }

    fn repair_again(&self, execute: &dyn Execute, record: &RepairRecord) -> Result<(String, Verdict), PlayError> {
        self.known_place(&record.bug.package)?;
        let wish = Wish { bug: record.bug.clone(), source: record.source, injection: None };
        let prepared = self.handed_out(execute, vec![wish], &[record.hidden.clone()]).remove(0)?;
        let missing = || PlayError::Setup(format!("bug `{}` cannot be asked for", record.bug.task_id));
        let task: Task = prepared.ok_or_else(missing)?;
        let assignment = Arc::clone(&task.assignment);
        let done = self.episode_again(execute, assignment, self.config.solver_budget, &record.episode)?;
        let repair = self.judge_repairs(execute, &[(&task, record.grade_seed)], vec![done]).remove(0);
        Ok((repair.patch, repair.judged?))
    }

    /// Plays an episode with the responses of the log.
    fn episode_again(
        &self,
        execute: &dyn Execute,
        assignment: Arc<Assignment>,
        budget: Budget,
        record: &EpisodeRecord,
    ) -> Result<Done, PlayError> {
        let table = Table { budget, ..self.table(execute, record.seed) };
        let mut done = play(&table, &[assignment], 1, &mut Logged(vec![record]))?;
        let done = done.pop().ok_or_else(|| PlayError::Setup("an episode that cannot be asked for".to_owned()))?;
        match done.dropped {
            Some(dropped) => Err(PlayError::Host(dropped)),
            None => Ok(done),
        }
    }

    fn known_place(&self, package: &Digest) -> Result<usize, PlayError> {
        let missing = || PlayError::Setup(format!("no repository of digest `{package}`"));
        self.place_of(package).ok_or_else(missing)
    }
}

fn mutated(patch: &Patch, original: &TextFiles) -> Result<TextFiles, PlayError> {
    patch.apply(original).map_err(|error| PlayError::Setup(error.to_string()))
}

fn compare_bug(again: &mut Again, logged: &JudgedBug, now: &JudgedBug) {
    compare(again, &logged.verdict, &now.verdict, logged.bug == now.bug);
}

fn compare(again: &mut Again, logged: &Verdict, now: &Verdict, same_rest: bool) {
    let met_deadline = |verdict: &Verdict| verdict.evidence.detail.contains("DeadlineNs");
    let same = logged == now && same_rest;
    if !same && (met_deadline(logged) || met_deadline(now)) {
        again.deadline += 1;
        return;
    }
    again.verdicts += 1;
    again.same += u64::from(same);
}

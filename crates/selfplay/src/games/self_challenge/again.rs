//! Verdicts made again from the log: every episode is played with its logged responses, its code in the sandbox, and judged.

use veriplay_core::{CodeTask, Execute, Verdict};

use super::SelfChallenge;
use super::challenging::{Proposed, proposed};
use super::dialects::Goal;
use super::records::{ChallengeRecord, EpisodeRecord, Record, TaskRecord};
use crate::episodes::{Logged, met_deadline};
use crate::play::{Again, PlayError};

impl SelfChallenge {
    /// Judges `records` again.
    pub(super) fn judged_again(&self, execute: &dyn Execute, records: &[Record]) -> Result<Again, PlayError> {
        let mut again = Again::default();
        let mut challenges: Vec<&ChallengeRecord> = Vec::new();
        for record in records {
            match record {
                Record::Challenge(record) if record.judged.is_err() => again.dropped += 1,
                Record::Challenge(record) => challenges.push(record),
                Record::Task(record) => self.task_again(execute, &mut again, record)?,
            }
        }
        // Code of one step has one seed.
        for of_step in challenges.chunk_by(|one, other| one.seed == other.seed) {
            self.challenges_again(execute, &mut again, of_step)?;
        }
        Ok(again)
    }

    fn challenges_again(
        &self,
        execute: &dyn Execute,
        again: &mut Again,
        records: &[&ChallengeRecord],
    ) -> Result<(), PlayError> {
        let world =
            |record: &ChallengeRecord| self.worlds.iter().position(|one| one.environment.name == record.environment);
        let here: Vec<(usize, &ChallengeRecord)> =
            records.iter().filter_map(|record| Some((world(record)?, *record))).collect();
        // An environment that is not here any more: the verdict cannot come out the same.
        again.verdicts += (records.len() - here.len()) as u64;
        let Some((_, first)) = here.first() else { return Ok(()) };
        let goal = |(world, record): &(usize, &ChallengeRecord)| -> (usize, Goal) {
            (*world, self.challenge_goal(*world, record.step, record.index, record.tool.clone()))
        };
        let mut speaker = Logged(here.iter().map(|(_, record)| record.episode.turns.as_slice()).collect());
        let done = self.played(execute, here.iter().map(goal).collect(), first.seed, &mut speaker)?;
        let made: Vec<Proposed> =
            done.iter().zip(&here).map(|(done, (_, record))| proposed(done, |_| record.known)).collect();
        for ((_, record), now) in here.iter().zip(self.judge_proposals(execute, &done, &made)) {
            let now = now?;
            if let Ok(logged) = &record.judged {
                let same_rest = logged.rules == now.rules && logged.task == now.task;
                compare(again, &logged.verdict, &now.verdict, same_rest);
            }
        }
        Ok(())
    }

    fn task_again(&self, execute: &dyn Execute, again: &mut Again, record: &TaskRecord) -> Result<(), PlayError> {
        let judged: Vec<(&EpisodeRecord, &Verdict)> = record
            .attempts
            .iter()
            .filter_map(|attempt| Some((&attempt.episode, attempt.judged.as_ref().ok()?)))
            .collect();
        again.dropped += (record.attempts.len() - judged.len()) as u64;
        if self.execute_goal(&record.task).is_err() {
            again.verdicts += judged.len() as u64;
            return Ok(());
        }
        let mut speaker = Logged(judged.iter().map(|(episode, _)| episode.turns.as_slice()).collect());
        let tasks: [&CodeTask; 1] = [&record.task];
        let now = self.attempts_by(&mut speaker, execute, &tasks, judged.len(), record.seed)?;
        for (now, (episode, logged)) in now.into_iter().zip(&judged) {
            let end = now.done.episode.end().map(super::episode::End::name);
            compare(again, logged, &now.judged?, end == episode.end.as_deref());
        }
        Ok(())
    }
}

fn compare(again: &mut Again, logged: &Verdict, now: &Verdict, same_rest: bool) {
    again.count(logged == now && same_rest, met_deadline(logged) || met_deadline(now));
}

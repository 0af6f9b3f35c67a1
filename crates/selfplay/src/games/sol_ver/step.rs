//! One iteration: problems, codes, suites, judgement.

use rand::seq::SliceRandom;
use veriplay_core::{Digest, Dropped, Execute, Finish, Prompt, Role, Rollout, Status};
use veriplay_verifier::agreement::{
    GUARDS, Judgement, Proposed, Refusal, RoundRequest, Suite, SuiteAttempt, check_statement, judge_rounds,
};

use super::metrics::metrics;
use super::records::{SolVerRecord, SuiteRollout};
use super::select::select;
use super::{SolVer, SolVerMetrics, SolVerState};
use crate::play::{Arena, Counts, PlayError, Played};
use crate::randomness::generator;
use crate::splits::{HELD_OUT, Measured, text_fingerprint, told};

/// The rule of proposals that could not be read.
pub(super) const MALFORMED: &str = "malformed";

/// What the responses of one round hold, read from their texts.
pub(super) struct Readings {
    pub(super) codes: Vec<Option<String>>,
    pub(super) suites: Vec<(usize, Option<Suite>)>,
}

impl SolVer {
    pub(super) fn play_step(
        &self,
        arena: &Arena<'_>,
        state: &mut SolVerState,
        step: u64,
    ) -> Result<Played<SolVerMetrics, SolVerRecord>, PlayError> {
        let mut records = self.propose(arena, state, step)?;
        self.solve(arena, step, &mut records)?;
        self.write_tests(arena, step, &mut records)?;
        self.judge(arena, &mut records);
        let chosen = select(self, arena.seed, step, &records);
        let metrics = metrics(&records, &chosen);
        let lessons = self.lessons(arena.seed, step, &records, &chosen);
        Ok(Played { lessons, counts: counts(&records), metrics, records })
    }

    /// A record for each proposed problem; the state remembers those that will be asked.
    fn propose(&self, arena: &Arena<'_>, state: &mut SolVerState, step: u64) -> Result<Vec<SolVerRecord>, PlayError> {
        let snippets = self.draw_snippets(arena.seed, step);
        let prompts: Vec<Prompt> = snippets.iter().map(|snippet| self.proposer_prompt(snippet)).collect();
        let sampling = self.sampling(Role::Proposer, 1, arena.seed, step);
        let rollouts = arena.policy.generate(&prompts, &sampling)?.into_iter().flatten();
        let read: Vec<(Rollout, Result<String, String>)> = rollouts
            .map(|rollout| (self.read_statement(&rollout), rollout))
            .map(|(read, rollout)| (rollout, read))
            .collect();
        let digests: Vec<Option<Digest>> =
            read.iter().map(|(_, read)| read.as_ref().ok().map(|text| text_fingerprint(text))).collect();
        let known = state.known(&digests);
        let mut records = Vec::new();
        for (index, ((proposal, read), known)) in read.into_iter().zip(known).enumerate() {
            let snippet = snippets[index].to_owned();
            let refused = self.statement_refusal(&read, &snippet, known);
            let (codes, suites, judged) = (Vec::new(), Vec::new(), None);
            let statement = read.ok();
            records.push(SolVerRecord {
                step,
                index,
                snippet,
                proposal,
                statement,
                known,
                refused,
                codes,
                suites,
                judged,
            });
        }
        let asked = records.iter().zip(digests).filter(|(record, _)| record.refused.is_none());
        state.remember(asked.filter_map(|(_, digest)| digest), self.config.memory);
        Ok(records)
    }

    /// Every snippet once before any is drawn again.
    fn draw_snippets(&self, seed: u64, step: u64) -> Vec<&str> {
        let mut snippets: Vec<&str> = self.snippets.iter().map(String::as_str).collect();
        snippets.shuffle(&mut generator(seed, step, "sol_ver/snippets"));
        snippets.into_iter().cycle().take(self.config.problems).collect()
    }

    pub(super) fn read_statement(&self, rollout: &Rollout) -> Result<String, String> {
        whole(rollout).and_then(|text| self.dialect.read_problem(text))
    }

    pub(super) fn statement_refusal(
        &self,
        read: &Result<String, String>,
        snippet: &str,
        known: bool,
    ) -> Option<Refusal> {
        match read {
            Ok(statement) => {
                let proposed = Proposed { rules: &self.rules, statement, snippet, known };
                let measured = self.guard.find_text(statement).map(measured_refusal);
                measured.or_else(|| check_statement(GUARDS, &proposed).err())
            }
            Err(detail) => Some(Refusal { rule: MALFORMED.to_owned(), detail: detail.clone() }),
        }
    }

    fn solve(&self, arena: &Arena<'_>, step: u64, records: &mut [SolVerRecord]) -> Result<(), PlayError> {
        let mut asked: Vec<&mut SolVerRecord> = records.iter_mut().filter(|record| record.refused.is_none()).collect();
        let statements = asked.iter().filter_map(|record| record.statement.as_deref());
        let prompts: Vec<Prompt> = statements.map(|statement| self.solver_prompt(statement)).collect();
        if prompts.is_empty() {
            return Ok(());
        }
        let sampling = self.sampling(Role::Solver, self.config.codes, arena.seed, step);
        let rollouts = arena.policy.generate(&prompts, &sampling)?;
        asked.iter_mut().zip(rollouts).for_each(|(record, rollouts)| record.codes = rollouts);
        Ok(())
    }

    fn write_tests(&self, arena: &Arena<'_>, step: u64, records: &mut [SolVerRecord]) -> Result<(), PlayError> {
        let mut generator = generator(arena.seed, step, "sol_ver/candidates");
        let (mut prompts, mut places) = (Vec::new(), Vec::new());
        for (place, record) in records.iter().enumerate().filter(|(_, record)| record.refused.is_none()) {
            let statement = record.statement.as_deref().unwrap_or_default();
            for (candidate, program) in self.candidates(record, &mut generator) {
                prompts.push(self.verifier_prompt(statement, &program));
                places.push((place, candidate));
            }
        }
        if prompts.is_empty() {
            return Ok(());
        }
        let sampling = self.sampling(Role::Verifier, self.config.suites, arena.seed, step);
        let groups = arena.policy.generate(&prompts, &sampling)?;
        for ((place, candidate), rollouts) in places.into_iter().zip(groups) {
            let suites = rollouts.into_iter().map(|rollout| SuiteRollout { candidate, rollout });
            records[place].suites.extend(suites);
        }
        Ok(())
    }

    /// The codes that suites are written for: different texts in random order, again from the first where they are few.
    fn candidates(&self, record: &SolVerRecord, generator: &mut impl rand::Rng) -> Vec<(usize, String)> {
        let mut programs: Vec<(usize, String)> = Vec::new();
        for (index, rollout) in record.codes.iter().enumerate() {
            let Ok(program) = self.read_program(rollout) else { continue };
            if programs.iter().all(|(_, known)| *known != program) {
                programs.push((index, program));
            }
        }
        programs.shuffle(generator);
        programs.into_iter().cycle().take(self.config.candidates).collect()
    }

    pub(super) fn read_program(&self, rollout: &Rollout) -> Result<String, String> {
        whole(rollout).and_then(|text| self.dialect.read_program(text))
    }

    pub(super) fn read_suite(&self, rollout: &Rollout) -> Result<Suite, String> {
        let suite = whole(rollout).and_then(|text| self.dialect.read_suite(text))?;
        let (found, most) = (suite.tests.len(), self.rules.max_suite_tests);
        if found > most { Err(format!("{found} tests, `{most}` allowed")) } else { Ok(suite) }
    }

    fn judge(&self, arena: &Arena<'_>, records: &mut [SolVerRecord]) {
        let mut asked: Vec<&mut SolVerRecord> = records.iter_mut().filter(|record| record.refused.is_none()).collect();
        let judged = self.judgements(arena.execute, &asked.iter().map(|record| &**record).collect::<Vec<_>>());
        asked.iter_mut().zip(judged).for_each(|(record, judged)| record.judged = Some(judged));
    }

    /// What comes of the rounds of `records`, all of which were asked, from their texts alone.
    pub(super) fn judgements(
        &self,
        execute: &dyn Execute,
        records: &[&SolVerRecord],
    ) -> Vec<Result<Judgement, Dropped>> {
        let readings: Vec<Readings> = records.iter().map(|record| self.readings(record)).collect();
        let codes: Vec<Vec<Option<&str>>> =
            readings.iter().map(|read| read.codes.iter().map(Option::as_deref).collect()).collect();
        let suites: Vec<Vec<SuiteAttempt<'_>>> = readings.iter().map(attempts).collect();
        let requests = records.iter().zip(&codes).zip(&suites).map(|((record, codes), suites)| RoundRequest {
            rules: &self.rules,
            guards: GUARDS,
            statement: record.statement.as_deref().unwrap_or_default(),
            codes,
            suites,
        });
        let judged = judge_rounds(execute, &requests.collect::<Vec<_>>());
        let rounds = judged.into_iter().zip(&readings);
        rounds.map(|(judged, read)| judged.map(|judgement| self.guarded(judgement, read))).collect()
    }

    /// Refuses a round whose trusted code is a program that is measured: its problem is one that is measured, in other words.
    fn guarded(&self, judgement: Judgement, read: &Readings) -> Judgement {
        let codes = judgement.codes.iter().zip(&read.codes);
        let trusted =
            codes.filter(|(decision, _)| decision.status == Status::Accepted).filter_map(|(_, code)| code.as_deref());
        let mut measured = trusted.filter_map(|code| self.guard.find_program(code));
        match measured.next() {
            Some(measured) if judgement.refused.is_none() => {
                Judgement { refused: Some(measured_refusal(measured)), ..judgement }
            }
            _ => judgement,
        }
    }

    fn readings(&self, record: &SolVerRecord) -> Readings {
        Readings {
            codes: record.codes.iter().map(|rollout| self.read_program(rollout).ok()).collect(),
            suites: record.suites.iter().map(|suite| (suite.candidate, self.read_suite(&suite.rollout).ok())).collect(),
        }
    }
}

fn attempts(readings: &Readings) -> Vec<SuiteAttempt<'_>> {
    readings
        .suites
        .iter()
        .map(|(candidate, suite)| SuiteAttempt { candidate: *candidate, suite: suite.as_ref() })
        .collect()
}

fn measured_refusal(measured: &Measured) -> Refusal {
    Refusal { rule: HELD_OUT.to_owned(), detail: told(measured) }
}

/// The text of a response that came to its end.
fn whole(rollout: &Rollout) -> Result<&str, String> {
    match rollout.finish {
        Finish::Stop => Ok(&rollout.text),
        Finish::Length => Err("the response was cut off".to_owned()),
    }
}

fn counts(records: &[SolVerRecord]) -> Counts {
    let mut counts = Counts::default();
    for record in records {
        counts.proposals += 1;
        counts.valid_proposals += u64::from(record.refused.is_none() && !record.is_measured());
        counts.proposals_in_held_out += u64::from(record.is_measured());
        let written = (record.codes.len() + record.suites.len()) as u64;
        match &record.judged {
            Some(Err(_)) => counts.dropped += written,
            Some(Ok(judgement)) => {
                let right = judgement.codes.iter().filter(|code| code.status == Status::Accepted).count()
                    + judgement.suites.iter().filter(|suite| suite.status == Status::Sound).count();
                counts.attempts += written;
                counts.accepted += right as u64;
            }
            None => {}
        }
    }
    counts
}

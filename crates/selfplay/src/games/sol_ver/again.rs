//! Judging again what the log holds, from its texts.

use veriplay_core::{Dropped, Execute};
use veriplay_verifier::agreement::Judgement;

use super::records::SolVerRecord;
use super::{Again, PlayError, SolVer};

impl SolVer {
    pub(super) fn compare_again(&self, execute: &dyn Execute, records: &[SolVerRecord]) -> Result<Again, PlayError> {
        let mut again = Again::default();
        for record in records {
            let read = self.read_statement(&record.proposal);
            let refused = self.statement_refusal(&read, &record.snippet, record.known);
            again.verdicts += 1;
            again.same += u64::from(refused == record.refused && read.ok() == record.statement);
        }
        let asked: Vec<(&SolVerRecord, &Result<Judgement, Dropped>)> =
            records.iter().filter_map(|record| Some((record, record.judged.as_ref()?))).collect();
        let (dropped, logged): (Vec<_>, Vec<_>) = asked.into_iter().partition(|(_, judged)| judged.is_err());
        again.dropped += dropped.iter().map(|(record, _)| decisions(record)).sum::<u64>();
        let rounds: Vec<&SolVerRecord> = logged.iter().map(|(record, _)| *record).collect();
        for (now, (_, then)) in self.judgements(execute, &rounds).into_iter().zip(logged) {
            if let Ok(then) = then {
                compare(&now?, then, &mut again);
            }
        }
        Ok(again)
    }
}

/// The round itself, its codes and its suites.
fn decisions(record: &SolVerRecord) -> u64 {
    1 + (record.codes.len() + record.suites.len()) as u64
}

fn compare(now: &Judgement, then: &Judgement, again: &mut Again) {
    let whole = |one: &Judgement| Judgement { codes: Vec::new(), suites: Vec::new(), ..one.clone() };
    let codes = then.codes.iter().enumerate().filter(|(place, code)| now.codes.get(*place) == Some(code)).count();
    let suites = then.suites.iter().enumerate().filter(|(place, suite)| now.suites.get(*place) == Some(suite)).count();
    let same = (codes + suites + usize::from(whole(now) == whole(then))) as u64;
    let all = (then.codes.len() + then.suites.len() + 1) as u64;
    let met = now.deadline || then.deadline;
    again.same += same;
    again.deadline += if met { all - same } else { 0 };
    again.verdicts += if met { same } else { all };
}

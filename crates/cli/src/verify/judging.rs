//! One attempt's verdict: from the cache where it is there, else made, and kept where a repetition would give it again.
//!
//! Called on every thread by the stream.

use veriplay_core::{Dropped, Execute, Verdict};
use veriplay_verifier::{ProblemRequest, judge_program};

use super::output::VerdictRow;
use super::reference::{Bench, NoProblem};
use super::source::Work;
use super::tasks::TaskSet;
use crate::verdict_cache::VerdictCache;

/// What all attempts of a run share.
pub(crate) struct Judging<'a> {
    pub(crate) tasks: &'a TaskSet,
    pub(crate) bench: Bench<'a>,
    pub(crate) cache: &'a VerdictCache,
}

/// A row, and where its verdict is from.
pub(crate) struct Judged {
    pub(crate) row: VerdictRow,
    /// Whether an earlier judgement was found in the cache. No part of the row: that is the same either way.
    pub(crate) cached: bool,
}

impl Judging<'_> {
    /// Judges one attempt.
    pub(crate) fn judge(&self, work: Work) -> Judged {
        match self.cache.get(&work.judged) {
            Some(verdict) => Judged { row: VerdictRow::new(work, Ok(verdict)), cached: true },
            None => Judged { row: self.judged_now(work), cached: false },
        }
    }

    fn judged_now(&self, work: Work) -> VerdictRow {
        let verdict = self.verdict(self.bench.execute, &work);
        // What met the deadline might come out otherwise another time. The status does not tell: it is that of the first case that was
        // not passed, and the deadline may have cut a later one.
        if let Ok(verdict) = &verdict
            && !verdict.evidence.met_deadline
        {
            self.cache.put(&work.judged, verdict);
        }
        VerdictRow::new(work, verdict)
    }

    fn verdict(&self, execute: &dyn Execute, work: &Work) -> Result<Verdict, Dropped> {
        // A reference that met the deadline is a fault of the host: all its attempts are dropped, and nothing is kept.
        let problem = match self.tasks.task(work.task).problem(&self.bench) {
            Ok(problem) => problem,
            Err(NoProblem::Task(verdict)) => return Ok(*verdict),
            Err(NoProblem::Host(dropped)) => return Err(dropped),
        };
        let Bench { image, limits, seed, early_stop, .. } = self.bench;
        judge_program(execute, &ProblemRequest { problem, program: &work.program, image, limits, seed, early_stop })
    }
}
